"""A user's own features and labels, read from files.

Features are a matrix ``(n, d)``, one example a row; labels are a vector ``(n,)``. Formats:
``.npy``, ``.npz`` (``file.npz::name`` picks one array), ``.csv`` and ``.tsv`` in UTF-8, and for
labels also ``.txt``, one a line. Pickles are never loaded, because loading one can run code.

Nothing is repaired: missing values, ragged rows and blank lines are refused, each with the place.
Messages count rows and columns from 1.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verify.errors import InputError, UnknownName
from verify.files import (
    BINARY,
    DELIMITERS,
    locate,
    nearest_first,
    read_binary,
    read_rows,
    refuse,
    shown,
)

__all__ = ["Labels", "pair", "read_labels", "read_matrix"]

_Path = str | os.PathLike[str]
_Floats = NDArray[np.float64]

_MISSING = {"", "?", "na", "n/a", "nan", "null"}
_LABEL_HEADERS = {"label", "labels", "y", "class", "target", "type"}


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels as numbers, and where the numbers come from."""

    values: _Floats
    """``(n,)``, finite; ±1 where a positive level was named."""
    classes: Mapping[str, int] | None
    """How many examples each original level has; None where numbers were used as they are."""
    positive: str | None
    """The level that became +1."""


def read_matrix(path: _Path) -> _Floats:
    """The features ``(n, d)``, n, d ≥ 1, finite.

    In a table, a first row with a name above a column of numbers is a header. A leading column
    without numbers holds row names, and so does one under an empty header cell (the index that
    R and pandas write); both are dropped. Of several arrays in an ``.npz`` file, the one called
    X, features or data is meant.

    Raises `InputError` for everything that is not such a matrix.
    """
    file, member = locate(path, (*BINARY, *DELIMITERS))
    if file.suffix.lower() in BINARY:
        array = read_binary(file, member, ("X", "features", "data"))
    else:
        array = _table(file, read_rows(file))
    if array.ndim != 2 or 0 in array.shape:
        found, hint = f"has shape {array.shape}", "save one example a row, one feature a column"
        refuse(file, found, "a matrix (n, d) with n, d >= 1", hint)
    return _as_float64(file, array)


def read_labels(path: _Path, positive: str | float | None = None) -> Labels:
    """The labels ``(n,)``: numbers as they are, or ±1 where a ``positive`` level is named.

    The file holds a vector ``(n,)``, ``(n, 1)`` or ``(1, n)`` of numbers or strings. Text on top
    is a header if it is a usual name for labels that does not occur again, or if only numbers
    follow. Of several arrays in an ``.npz`` file, the one called y, labels or target is meant.
    Numeric levels compare as numbers (``"1"`` is 1.0), all others as stripped strings.

    Raises `UnknownName` where no label is ``positive``; `InputError` where all are, for strings
    without ``positive``, and for everything that is not such a vector.
    """
    file, member = locate(path, (*BINARY, *DELIMITERS, ".txt"))
    if file.suffix.lower() in BINARY:
        array = _flat(file, read_binary(file, member, ("y", "labels", "target")))
        is_text = array.dtype.kind == "U"
        raw = _numbers_or_levels(file, array.tolist()) if is_text else _as_float64(file, array)
    else:
        raw = _numbers_or_levels(file, _label_cells(file, read_rows(file)))
    if positive is not None:
        return _one_against_the_rest(file, raw, str(positive).strip())
    if isinstance(raw, list):
        found = f"holds the levels {_listing(Counter(raw))}"
        refuse(file, found, "numbers", "use --positive LEVEL to name the level that becomes +1")
    return Labels(raw, None, None)


def pair(features: _Floats, labels: Labels) -> tuple[_Floats, _Floats]:
    """``(X, y)`` with X ``(n, d)`` and y ``(n,)``; raises `InputError` where the n differ."""
    n, d = features.shape
    if n != labels.values.size:
        transposed = d == labels.values.size
        raise InputError(
            f"features.shape={features.shape} does not match labels.shape={labels.values.shape}: "
            f"expected one label a row; "
            f"{'the matrix looks transposed, save X.T' if transposed else 'remove what is extra'}."
        )
    return features, labels.values


def _listing(levels: Mapping[str, int], limit: int = 20) -> str:
    """The first ``limit`` levels with their counts."""
    listed = [f"{shown(level)} ({count})" for level, count in list(levels.items())[:limit]]
    return ", ".join(listed) + (f" and {len(levels) - limit} more" if len(levels) > limit else "")


def _number(cell: str) -> float | None:
    """The number a cell spells in ASCII, without Python's underscores; else None."""
    try:
        return float(cell) if cell.isascii() and "_" not in cell else None
    except ValueError:
        return None


def _is_name(cell: str) -> bool:
    """Whether a cell may head a column: not missing, no number and not a mistyped number."""
    missing = cell.lower() in _MISSING
    return not missing and cell[0] not in "+-.0123456789" and _number(cell) is None


def _table(file: Path, rows: list[list[str]]) -> _Floats:
    """The numbers ``(n, d)`` of a table, without header and row names; `read_matrix` says which."""
    for i, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            found = f"has {len(row)} cells in row {i}, {len(rows[0])} in row 1"
            refuse(file, found, "rows of one length", "fill or remove that row")
    numbers = [[_number(cell) for cell in row] for row in rows]
    top = int(_has_header(rows, numbers))
    left = int(_has_row_names(rows, numbers, top))
    for i in range(top, len(rows)):
        if None in numbers[i][left:]:
            j = numbers[i].index(None, left)
            place = f"row {i + 1}, column {j + 1}" + (f" ({shown(rows[0][j])})" if top else "")
            expected = f"a number, and cells separated by {DELIMITERS[file.suffix.lower()]!r}"
            hint = "impute or drop missing values, write a decimal point"
            refuse(file, f"has {shown(rows[i][j])} in {place}", expected, hint)
    shape = (len(rows) - top, len(rows[0]) - left if rows else 0)
    return np.array([row[left:] for row in numbers[top:]], dtype=np.float64).reshape(shape)


def _has_header(rows: list[list[str]], numbers: list[list[float | None]]) -> bool:
    if len(rows) < 2:
        return bool(rows) and all(map(_is_name, rows[0]))
    columns = zip(rows[0], *numbers[1:], strict=True)
    return any(_is_name(first) and None not in below for first, *below in columns)


def _has_row_names(rows: list[list[str]], numbers: list[list[float | None]], top: int) -> bool:
    if len(rows) == top or len(rows[0]) == 1:
        return False
    present = all(row[0].lower() not in _MISSING for row in rows[top:])
    return present and (
        (top == 1 and rows[0][0] == "") or all(row[0] is None for row in numbers[top:])
    )


def _as_float64(file: Path, array: NDArray[Any]) -> _Floats:
    """The same numbers as finite float64, C-contiguous, in the same shape."""
    if array.dtype.kind not in "biuf":
        hint = "save array.real" if array.dtype.kind == "c" else "save array.astype(float)"
        refuse(file, f"has dtype={array.dtype}", "real numbers", hint)
    if array.dtype.kind in "iu" and not -(2**53) <= array.min() <= array.max() <= 2**53:
        found = f"has integers from {array.min()} to {array.max()}"
        refuse(file, found, "magnitudes up to 2**53, exact in float64", "rescale them")
    with np.errstate(all="ignore"):
        values = np.ascontiguousarray(array, dtype=np.float64)
    wrong = ~np.isfinite(values)
    if wrong.any():
        index = np.unravel_index(wrong.argmax(), values.shape)
        axes = ("row", "column") if values.ndim == 2 else ("label",)
        place = ", ".join(f"{axis} {i + 1}" for axis, i in zip(axes, index, strict=True))
        found = f"has {wrong.sum()} NaN or infinite values, the first at {place} of the array"
        refuse(file, found, "finite float64", "impute, drop or rescale them")
    return values


def _flat(file: Path, array: NDArray[Any]) -> NDArray[Any]:
    """A non-empty vector ``(n,)`` from one of shape ``(n,)``, ``(n, 1)`` or ``(1, n)``."""
    if array.size == 0 or not (array.ndim == 1 or (array.ndim == 2 and 1 in array.shape)):
        refuse(file, f"has shape {array.shape}", "labels (n,) with n >= 1", "save one a row")
    return array.reshape(-1)


def _label_cells(file: Path, rows: list[list[str]]) -> list[str]:
    """One cell a label, the header dropped; `read_labels` says what is a header."""
    widest = max(map(len, rows), default=0)
    if widest > 1 and len(rows) > 1:
        refuse(file, f"has {widest} columns", "one label a row", "keep only the label column")
    cells = rows[0] if len(rows) == 1 else [row[0] if row else "" for row in rows]
    if cells and _is_name(cells[0]):
        first, *rest = cells
        usual = first.lower() in _LABEL_HEADERS and first not in rest
        if usual or (rest and all(_number(cell) is not None for cell in rest)):
            cells = rest
    if not cells:
        refuse(file, "has no labels", "one label a row", "write them below the header")
    return cells


def _numbers_or_levels(file: Path, cells: list[str]) -> _Floats | list[str]:
    """Numbers ``(n,)`` if every cell is one, else the stripped strings; none may be missing."""
    levels = [cell.strip() for cell in cells]
    missing = [i for i, level in enumerate(levels, 1) if level.lower() in _MISSING]
    if missing:
        first = missing[0]
        found = f"lacks {len(missing)} labels, the first at label {first} ({levels[first - 1]!r})"
        refuse(file, found, f"{len(levels)} labels", "drop these examples or rename the level")
    numbers = [_number(level) for level in levels]
    return levels if None in numbers else _as_float64(file, np.array(numbers, dtype=np.float64))


def _one_against_the_rest(file: Path, raw: _Floats | list[str], positive: str) -> Labels:
    """+1 where a label is ``positive``, −1 elsewhere."""
    levels = raw if isinstance(raw, list) else [_spelled(value) for value in raw.tolist()]
    number = None if isinstance(raw, list) else _number(positive)
    level = positive if number is None else _spelled(number)
    counts = Counter(levels)
    if level not in counts:
        nearest = {name: counts[name] for name in nearest_first(level, counts)}
        raise UnknownName(
            f"positive={shown(positive)} is not a level of path={str(file)!r}: expected one of "
            f"{_listing(nearest)}; try the nearest."
        )
    if len(counts) == 1:
        found = f"has only the level {_listing(counts)}"
        refuse(file, found, "another level, to become -1", "add examples of another class")
    values = np.array([1.0 if name == level else -1.0 for name in levels])
    return Labels(values, dict(counts), level)


def _spelled(value: float) -> str:
    """One spelling a number: ``"1"`` for 1.0, ``"0"`` for −0.0."""
    return repr(value + 0.0).removesuffix(".0")
