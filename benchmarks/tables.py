"""Tables of what was measured: rows of plain values, formatted as text, Markdown and JSON."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.timing import Spread
from reports.typography import number

Row = Mapping[str, Any]
"""Values by column: text, truth values, numbers, `Spread`; None where nothing was measured."""

Progress = Callable[[str], None]
"""Called with what is measured next."""


@dataclass(frozen=True)
class Table:
    """One thing that was measured.

    name: its key in JSON.   title, note: what it shows, and how to read it.
    columns: heading, with the unit, by the key of the rows' values.
    """

    name: str
    title: str
    note: str
    columns: Mapping[str, str]
    rows: Sequence[Row]

    def row(self, **wanted: Any) -> Row | None:
        """Return the first row that has all of these values, None if there is none."""
        matching = (row for row in self.rows if all(row.get(k) == v for k, v in wanted.items()))
        return next(matching, None)


def shown(value: Any) -> str:
    """Return a value as people read it; of a spread the median, with its ends in parentheses."""
    if isinstance(value, Spread):
        low, median, high = (_figure(v) for v in (value.low, value.median, value.high))
        return median if low == high else f"{median} ({low}–{high})"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else _figure(value)


def _figure(value: float | None) -> str:
    """Return a number to three significant digits, or a whole one in full; "—" for none."""
    if value is None or isinstance(value, int):
        return number(value, 7)
    if abs(value) >= 1000 and math.isfinite(value) and abs(value) < 1e6:
        return number(round(value, 2 - math.floor(math.log10(abs(value)))), 6)
    return number(value, 3)


def as_text(table: Table) -> str:
    """Return the table for a terminal."""
    cells = [list(table.columns.values())]
    cells += [[shown(row.get(key)) for key in table.columns] for row in table.rows]
    widths = [max(_width(row[i]) for row in cells) for i in range(len(table.columns))]
    lines = ["  ".join(_right(c, w) for c, w in zip(row, widths, strict=True)) for row in cells]
    return "\n".join([table.title, table.note, "", *lines])


def as_markdown(table: Table) -> str:
    """Return the table as a section of a page."""
    keys = list(table.columns)
    lines = ["| " + " | ".join(table.columns.values()) + " |", "|" + "---:|" * len(keys)]
    lines += ["| " + " | ".join(shown(row.get(key)) for key in keys) + " |" for row in table.rows]
    return "\n".join([f"### {table.title}", "", table.note, "", *lines])


def as_json(table: Table) -> dict[str, Any]:
    """Return the table as JSON-able values; spreads as {low, median, high}."""

    def plain(value: Any) -> Any:
        return vars(value) if isinstance(value, Spread) else value

    rows = [{key: plain(value) for key, value in row.items()} for row in table.rows]
    return {
        "name": table.name,
        "title": table.title,
        "columns": dict(table.columns),
        "rows": rows,
    }


def _width(text: str) -> int:
    return sum(not unicodedata.combining(character) for character in text)


def _right(text: str, width: int) -> str:
    return " " * (width - _width(text)) + text
