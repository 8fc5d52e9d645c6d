"""A frontier as CSV: its boundaries, and the cells that were sampled."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from reports.typography import Part

ROW_COLUMNS = (
    "what", "id", "x_axis", "y_axis", "y", "level", "boundary", "low", "high", "trials",
    "direction", "note",
)  # fmt: skip
CELL_COLUMNS = (
    "x_axis", "y_axis", "y", "x", "trials", "in_scope", "holds", "violated", "undecided",
    "frequency", "low", "high", "prediction",
)  # fmt: skip


def boundaries(found: Part) -> str:
    """Return the boundaries as CSV (RFC 4180 with line feeds): a row for each y and level.

    what: "claim", or the kind of the line, "certificate", "assumption" or "prediction", that the
    boundary is of.   y, boundary, low, high: in the units of the axes; empty where unknown.
    """
    return _csv(ROW_COLUMNS, _rows(found))


def cells(found: Part) -> str:
    """Return the cells as CSV: one for each y and x that was sampled, with the counts of its
    trials, the share in which the claim holds, its bounds, and what is predicted of it."""
    return _csv(CELL_COLUMNS, ({**_axes(found), **cell} for cell in found["cells"]))


def _rows(found: Part) -> Iterator[dict[str, Any]]:
    own = {"what": "claim", "id": found["claim"], "rows": found["rows"]}
    for line in (own, *found["lines"]):
        for row in line["rows"]:
            yield {"what": line["what"], "id": line["id"], **_axes(found), **row}


def _axes(found: Part) -> dict[str, str]:
    return {"x_axis": found["x"]["name"], "y_axis": found["y"]["name"] if found["y"] else ""}


def _csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
