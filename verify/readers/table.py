"""Tables of text in UTF-8: ``.csv``, ``.tsv``, and for labels ``.txt``, one a line.

A first row with a name above a column of numbers is a header. A leading column without numbers
holds row names, and so does one under an empty header cell (the index that R and pandas write);
both are dropped. A first row of numbers that count columns is refused, since it may be either.
Messages count rows and columns from 1, as they stand in the file.
"""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from verify.files import column_index, refuse, shown

DELIMITERS = {".csv": ",", ".tsv": "\t"}
MISSING = {"", "?", "na", "n/a", "nan", "null"}
_LABEL_HEADERS = {"label", "labels", "y", "class", "target", "type"}
_FEWEST_NUMBERED, _FEWEST_SPACED = 3, 5
"""Columns from which a first row of numbers that count, or are evenly spaced, is a header's."""

Rows = list[list[str]]
Numbers = list[list[float | None]]


def features(file: Path, member: str | None, label_column: str | None) -> NDArray[Any]:
    """The numbers ``(n, d)`` without header, row names and label column."""
    rows = _rectangle(file, _read(file))
    taken, named = _position(file, rows, label_column)
    numbers = [[number(cell) for cell in row] for row in rows]
    top = int(named or _has_header(rows, numbers))
    kept = [j for j in range(len(rows[0]) if rows else 0) if j != taken]
    if _has_row_names(rows, numbers, top, kept):
        kept = kept[1:]
    for i in range(top, len(rows)):
        for j in kept:
            if numbers[i][j] is None:
                place = f"row {i + 1}, column {j + 1}" + (f" ({shown(rows[0][j])})" if top else "")
                expected = f"a number, and cells separated by {DELIMITERS[file.suffix.lower()]!r}"
                hint = "impute or drop missing values, write a decimal point"
                refuse(file, f"has {shown(rows[i][j])} in {place}", expected, hint)
    shape = (len(rows) - top, len(kept))
    values = [[row[j] for j in kept] for row in numbers[top:]]
    return np.array(values, dtype=np.float64).reshape(shape)


def labels(file: Path, member: str | None, label_column: str | None) -> list[str]:
    """One cell a label, without its header; `verify.datasets.read_labels` says what is one."""
    rows = _read(file)
    if label_column is None:
        widest = max(map(len, rows), default=0)
        if widest > 1 and len(rows) > 1:
            hint = "name the label column: --label-column NAME"
            refuse(file, f"has {widest} columns", "one label a row", hint)
        cells = rows[0] if len(rows) == 1 else [row[0] if row else "" for row in rows]
    else:
        rows = _rectangle(file, rows)
        place, named = _position(file, rows, label_column)
        cells = [row[place or 0] for row in rows]
        if named or _has_header(rows, [[*map(number, row)] for row in rows]):
            return _some(file, cells[1:])
    if cells and _is_name(cells[0]):
        first, *rest = cells
        usual = first.lower() in _LABEL_HEADERS and first not in rest
        if usual or (rest and all(number(cell) is not None for cell in rest)):
            cells = rest
    return _some(file, cells)


def number(cell: str) -> float | None:
    """The number a cell spells in ASCII, without Python's underscores; else None."""
    try:
        return float(cell) if cell.isascii() and "_" not in cell else None
    except ValueError:
        return None


def _read(file: Path) -> Rows:
    """The stripped cells of each row, without the blank lines at the end."""
    text = text_of(file)
    suffix = file.suffix.lower()
    lines: Iterable[list[str]]
    if suffix in DELIMITERS:
        source, delimiter = io.StringIO(text, newline=""), DELIMITERS[suffix]
        lines = csv.reader(source, delimiter=delimiter, skipinitialspace=True, strict=True)
    else:
        lines = ([line] for line in io.StringIO(text, newline=None))
    try:
        rows = [[cell.strip() for cell in line] for line in lines]
    except csv.Error as error:
        refuse(file, f"is not a table ({error})", "cells with balanced quotes", "save it again")
    while rows and rows[-1] in ([], [""]):
        rows.pop()
    return rows


def text_of(file: Path) -> str:
    """The text of a file in UTF-8, without a byte-order mark."""
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        refuse(file, f"cannot be read ({error})", "UTF-8 text", "save it as UTF-8")
    if "\0" in text:
        refuse(file, "contains a NUL character", "UTF-8 text", "save it as UTF-8, not UTF-16")
    return text


def _rectangle(file: Path, rows: Rows) -> Rows:
    for i, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            found = f"has {len(row)} cells in row {i}, {len(rows[0])} in row 1"
            refuse(file, found, "rows of one length", "fill or remove that row")
    if len(rows) > 1 and _counts(rows[0]):
        found = f"has {shown(','.join(rows[0]))} in row 1, which looks like a header of numbers"
        _refuse_header(file, found)
    return rows


def _counts(row: list[str]) -> bool:
    """Whether a row is 0, 1, … or 1, 2, …, as pandas numbers columns that have no names (the first
    cell is empty where it writes an index), or at least five whole numbers evenly spaced."""
    cells = row[1:] if row[:1] == [""] else row
    if len(row) < _FEWEST_NUMBERED or not all(map(_is_whole, cells)):
        return False
    places = [int(cell) for cell in cells]
    steps = {after - before for before, after in itertools.pairwise(places)}
    if places[0] in (0, 1) and steps == {1}:
        return True
    return len(places) >= _FEWEST_SPACED and len(steps) == 1 and steps.pop() > 0


def _is_whole(cell: str) -> bool:
    return cell.isascii() and cell.isdigit() and len(cell) < 16


def _refuse_header(file: Path, found: str) -> NoReturn:
    refuse(
        file,
        found,
        "a header of names, or none",
        "write names in row 1 or leave it out (pandas: header=False, index=False); if row 1 is an "
        "example, write its numbers with a decimal point (1.0)",
    )


def _position(file: Path, rows: Rows, label_column: str | None) -> tuple[int | None, bool]:
    """The place of the label column, and whether it was found by its name in the first row."""
    if label_column is None:
        return None, False
    first = rows[0] if rows else []
    names = first if any(map(_is_name, first)) else []
    if not names:
        _refuse_ambiguous(file, rows, label_column.strip())
    return column_index(file, names, len(first), label_column), label_column.strip() in names


def _refuse_ambiguous(file: Path, rows: Rows, label_column: str) -> None:
    """Refuse a number that may be the name of another column: row 1 has it there, and consists of
    distinct whole numbers above some that are not whole, so it may be a header."""
    first = rows[0] if rows else []
    if label_column not in first or len(first) < _FEWEST_NUMBERED:
        return
    place = first.index(label_column) + 1
    distinct = all(map(_is_whole, first)) and len(set(first)) == len(first)
    below = [cell for row in rows[1:] for cell in row]
    if str(place) != label_column and distinct and not all(map(_is_whole, below)):
        found = f"has {shown(label_column)} in row 1, column {place}, which may be a header's name"
        _refuse_header(file, f"{found} or not")


def _is_name(cell: str) -> bool:
    """Whether a cell may head a column: not missing, no number and not a mistyped number."""
    missing = cell.lower() in MISSING
    return not missing and cell[0] not in "+-.0123456789" and number(cell) is None


def _has_header(rows: Rows, numbers: Numbers) -> bool:
    if len(rows) < 2:
        return bool(rows) and all(map(_is_name, rows[0]))
    columns = zip(rows[0], *numbers[1:], strict=True)
    return any(_is_name(first) and None not in below for first, *below in columns)


def _has_row_names(rows: Rows, numbers: Numbers, top: int, kept: list[int]) -> bool:
    if len(rows) == top or len(kept) <= 1:
        return False
    first = kept[0]
    present = all(row[first].lower() not in MISSING for row in rows[top:])
    return present and (
        (top == 1 and rows[0][first] == "") or all(row[first] is None for row in numbers[top:])
    )


def _some(file: Path, cells: list[str]) -> list[str]:
    if not cells:
        refuse(file, "has no labels", "one label a row", "write them below the header")
    return cells
