"""A user's own features and labels, read from files.

Features are a matrix ``(n, d)``, one example a row; labels are a vector ``(n,)``. Formats:
``.npy``, ``.npz``, ``.csv`` and ``.tsv`` in UTF-8, ``.mat`` (up to version 7), ``.mtx``, svmlight
(``.svm``, ``.svmlight``, ``.libsvm``), ``.parquet`` and ``.h5ad`` (extras of those names), and for
labels also ``.txt``, one a line. Of a file of several arrays ``file::name`` picks one. Labels stand
in a file of their own, or in a column of the features' file. Pickles are never loaded, because
loading one can run code.

Nothing is repaired: missing values, ragged rows and blank lines are refused, each with the place.
Messages count rows and columns from 1.
"""

from __future__ import annotations

import importlib
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verify.errors import InputError, UnknownName
from verify.files import check_exact, locate, nearest_first, refuse, shown
from verify.readers.table import MISSING, number

__all__ = ["Labels", "pair", "read_labels", "read_matrix", "read_pair"]

_Path = str | os.PathLike[str]
_Floats = NDArray[np.float64]

_READERS = {
    ".npy": "npy",
    ".npz": "npy",
    ".csv": "table",
    ".tsv": "table",
    ".mat": "matlab",
    ".mtx": "market",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".parquet": "parquet",
    ".h5ad": "h5ad",
}
_HOLD_BOTH = {".npz", ".mat", ".svm", ".svmlight", ".libsvm", ".h5ad"}
"""Files that can have labels beside the features, not among their columns."""


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels as numbers, and where the numbers come from."""

    values: _Floats
    """``(n,)``, finite; ±1 where a positive level was named."""
    classes: Mapping[str, int] | None
    """How many examples each original level has; None where numbers were used as they are."""
    positive: str | None
    """The level that became +1."""


def read_matrix(path: _Path, without: str | None = None) -> _Floats:
    """The features ``(n, d)``, n, d ≥ 1, finite.

    without: the label column of a table, by name or number from 1, which is left out.
    In a table, a first row with a name above a column of numbers is a header. A leading column
    without numbers holds row names, and so does one under an empty header cell (the index that
    R and pandas write); both are dropped. Of several arrays in an ``.npz`` or ``.mat`` file, the
    one called X, features or data is meant; of an ``.h5ad`` file X.

    Raises `BackendUnavailable` where the library of an extra is missing, `InputError` for
    everything that is not such a matrix.
    """
    file, member = locate(path, tuple(_READERS))
    array = _reader(file).features(file, member, without)
    if isinstance(array, np.ndarray) and (array.ndim != 2 or 0 in array.shape):
        found, hint = f"has shape {array.shape}", "save one example a row, one feature a column"
        refuse(file, found, "a matrix (n, d) with n, d >= 1", hint)
    return _as_float64(file, array)


def read_labels(
    path: _Path, positive: str | float | None = None, column: str | None = None
) -> Labels:
    """The labels ``(n,)``: numbers as they are, or ±1 where a ``positive`` level is named.

    The file holds a vector ``(n,)``, ``(n, 1)`` or ``(1, n)`` of numbers or strings; ``column``
    picks one of a table by name or number from 1, an array of an ``.npz`` or ``.mat`` file, or a
    column of obs in ``.h5ad``. Text on top is a header if it is a usual name for labels that does
    not occur again, or if only numbers follow. Of several arrays the one called y, labels or
    target is meant. Numeric levels compare as numbers (``"1"`` is 1.0), all others as stripped
    strings.

    Raises `UnknownName` where no label is ``positive``; `InputError` where all are, for strings
    without ``positive``, and for everything that is not such a vector; `BackendUnavailable` where
    the library of an extra is missing.
    """
    file, member = locate(path, (*_READERS, ".txt"))
    if member is not None and column is not None:
        found = f"is asked for {shown(member)} and label_column={shown(column)}"
        refuse(file, found, "one of them", "leave out --label-column or '::'")
    raw = _raw_labels(file, _reader(file).labels(file, member, column))
    if positive is not None:
        return _one_against_the_rest(file, raw, str(positive).strip())
    if isinstance(raw, list):
        found = f"holds the levels {_listing(Counter(raw))}"
        refuse(file, found, "numbers", "use --positive LEVEL to name the level that becomes +1")
    return Labels(raw, None, None)


def read_pair(
    features: _Path,
    labels: _Path | None = None,
    positive: str | float | None = None,
    column: str | None = None,
) -> tuple[_Floats, Labels]:
    """The features ``(n, d)`` and their labels ``(n,)``, from two files or from one.

    Without a file of labels they are a ``column`` of the features' file (by name or number), which
    is then no feature; svmlight, ``.npz`` and ``.mat`` may hold labels beside the features.

    Raises what `read_matrix`, `read_labels` and `pair` raise.
    """
    inside = labels is None
    if inside and column is None:
        file, _ = locate(features, tuple(_READERS))
        if file.suffix.lower() not in _HOLD_BOTH:
            hint = "add a file of labels, or --label-column NAME for a column of this file"
            refuse(file, "comes without labels", "LABELS beside FEATURES", hint)
    matrix = read_matrix(features, column if inside else None)
    source = _without_member(features) if labels is None else labels
    known = read_labels(source, positive, column)
    pair(matrix, known)
    return matrix, known


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


def _reader(file: Path) -> Any:
    """The module that reads a file of this suffix."""
    return importlib.import_module(f"verify.readers.{_READERS.get(file.suffix.lower(), 'table')}")


def _without_member(path: _Path) -> str:
    """The path of a file, without the name of an array in it."""
    file, member = locate(path, tuple(_READERS))
    return os.fspath(file) if member is not None else os.fspath(path)


def _raw_labels(file: Path, found: NDArray[Any] | list[str]) -> _Floats | list[str]:
    """Numbers ``(n,)``, or strings where not all of them are numbers."""
    if isinstance(found, list):
        if not found:
            refuse(file, "has no labels", "labels (n,) with n >= 1", "save one a row")
        return _numbers_or_levels(file, found)
    array = _flat(file, found)
    if array.dtype.kind == "U":
        return _numbers_or_levels(file, array.tolist())
    return _as_float64(file, array)


def _listing(levels: Mapping[str, int], limit: int = 20) -> str:
    """The first ``limit`` levels with their counts."""
    listed = [f"{shown(level)} ({count})" for level, count in list(levels.items())[:limit]]
    return ", ".join(listed) + (f" and {len(levels) - limit} more" if len(levels) > limit else "")


def _as_float64(file: Path, array: NDArray[Any]) -> _Floats:
    """The same numbers as finite float64, C-contiguous, in the same shape."""
    check_exact(file, array)
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


def _numbers_or_levels(file: Path, cells: list[str]) -> _Floats | list[str]:
    """Numbers ``(n,)`` if every cell is one, else the stripped strings; none may be missing."""
    levels = [cell.strip() for cell in cells]
    missing = [i for i, level in enumerate(levels, 1) if level.lower() in MISSING]
    if missing:
        first = missing[0]
        found = f"lacks {len(missing)} labels, the first at label {first} ({levels[first - 1]!r})"
        refuse(file, found, f"{len(levels)} labels", "drop these examples or rename the level")
    numbers = [number(level) for level in levels]
    return levels if None in numbers else _as_float64(file, np.array(numbers, dtype=np.float64))


def _one_against_the_rest(file: Path, raw: _Floats | list[str], positive: str) -> Labels:
    """+1 where a label is ``positive``, −1 elsewhere."""
    levels = raw if isinstance(raw, list) else [_spelled(value) for value in raw.tolist()]
    asked = None if isinstance(raw, list) else number(positive)
    level = positive if asked is None else _spelled(asked)
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
