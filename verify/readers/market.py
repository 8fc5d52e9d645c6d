"""Matrix Market text, ``.mtx``; sparse matrices are written out.

Parsed here and not by scipy: at a NUL character scipy 1.17's `mmread` ends the process with a
segmentation fault, and it reads "1 2" on a line of one number as 1.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from verify.files import check_size, column_index, refuse, shown
from verify.readers.table import number, text_of

_FIELDS = {"real", "integer", "unsigned-integer", "pattern"}
_SYMMETRIES = {"general": 0.0, "symmetric": 1.0, "skew-symmetric": -1.0}
"""The sign with which an entry is repeated across the diagonal; 0 where it is not."""

Lines = list[tuple[int, list[str]]]


def features(file: Path, member: str | None, label_column: str | None) -> NDArray[Any]:
    """The matrix, without the label column."""
    matrix = _read(file)
    if label_column is None:
        return matrix
    return np.delete(matrix, column_index(file, (), matrix.shape[1], label_column), axis=1)


def labels(file: Path, member: str | None, label_column: str | None) -> NDArray[Any]:
    """The whole matrix, or the label column of it."""
    matrix = _read(file)
    if label_column is None:
        return matrix
    return np.asarray(matrix[:, column_index(file, (), matrix.shape[1], label_column)])


def _read(file: Path) -> NDArray[Any]:
    banner, *rest = text_of(file).splitlines() or [""]
    words = banner.lower().split()
    form, field, symmetry = words[2:] if len(words) == 5 else ("", "", "")
    known = field in _FIELDS and symmetry in _SYMMETRIES
    known = known and (form == "coordinate" or (form == "array" and field != "pattern"))
    if words[:2] != ["%%matrixmarket", "matrix"] or not known:
        expected = "'%%MatrixMarket matrix array|coordinate real|integer|pattern general|symmetric'"
        refuse(file, f"begins with {shown(banner)}", expected, "write real numbers")
    lines = [
        (place, line.split())
        for place, line in enumerate(rest, 2)
        if line.strip() and not line.startswith("%")
    ]
    if not lines:
        refuse(file, "ends after its comments", "a line of sizes", "write the file again")
    sizes = [_whole(file, lines[0][0], word) for word in lines[0][1]]
    if len(sizes) != (2 if form == "array" else 3):
        _wrong(file, lines[0][0], " ".join(lines[0][1]), "rows, columns and, if sparse, entries")
    check_size(file, sizes[:2])
    if symmetry != "general" and sizes[0] != sizes[1]:
        _wrong(file, lines[0][0], " ".join(lines[0][1]), f"a square shape, being {symmetry}")
    read = _array if form == "array" else _coordinates
    return read(file, sizes, lines[1:], field, _SYMMETRIES[symmetry])


def _array(file: Path, sizes: list[int], lines: Lines, field: str, sign: float) -> NDArray[Any]:
    """A dense matrix, column by column; of a symmetric one the part on and below the diagonal."""
    rows, columns = sizes
    above = 1 if sign < 0 else 0
    count = rows * columns if sign == 0 else rows * (rows + 1 - 2 * above) // 2
    _check_count(file, count, lines)  # first: places of a claimed shape take memory
    if sign == 0:
        i, j = (part.ravel(order="F") for part in np.indices((rows, columns)))
    else:
        j, i = np.triu_indices(rows, above)
    values = [_value(file, place, words) for place, words in lines]
    return _filled((rows, columns), i, j, np.array(values, dtype=float), sign)


def _coordinates(
    file: Path, sizes: list[int], lines: Lines, field: str, sign: float
) -> NDArray[Any]:
    """A sparse matrix, an entry a line: row, column and, unless it is a pattern of ones, value."""
    rows, columns, entries = sizes
    _check_count(file, entries, lines)
    seen: dict[tuple[int, int], float] = {}
    for place, words in lines:
        if len(words) != (2 if field == "pattern" else 3):
            _wrong(file, place, " ".join(words), "row, column and value")
        i, j = (_whole(file, place, word) - 1 for word in words[:2])
        if not (0 <= i < rows and 0 <= j < columns):
            _wrong(file, place, " ".join(words), f"a place within {rows} rows, {columns} columns")
        if (i, j) in seen or (sign != 0 and i < j) or (sign < 0 and i == j):
            _wrong(file, place, " ".join(words), "each entry once, and its mirror image not at all")
        seen[i, j] = 1.0 if field == "pattern" else _value(file, place, words[2:])
    places = np.array(list(seen), dtype=int).reshape(-1, 2)
    values = np.array(list(seen.values()), dtype=float)
    return _filled((rows, columns), places[:, 0], places[:, 1], values, sign)


def _filled(
    shape: tuple[int, int], i: NDArray[Any], j: NDArray[Any], values: NDArray[Any], sign: float
) -> NDArray[Any]:
    matrix = np.zeros(shape)
    matrix[i, j] = values
    if sign != 0:
        off = i != j
        matrix[j[off], i[off]] = sign * values[off]
    return matrix


def _check_count(file: Path, expected: int, lines: Lines) -> None:
    if len(lines) != expected:
        found = f"has {len(lines)} lines of entries"
        refuse(file, found, f"{expected}, as its line of sizes says", "write the file again")


def _value(file: Path, place: int, words: list[str]) -> float:
    value = number(words[0]) if len(words) == 1 else None
    if value is None:
        _wrong(file, place, " ".join(words), "one real number")
    return value


def _whole(file: Path, place: int, word: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) < 16):
        _wrong(file, place, word, "a whole number")
    return int(word)


def _wrong(file: Path, place: int, text: str, expected: str) -> NoReturn:
    refuse(file, f"has {shown(text)} in line {place}", expected, "correct that line")
