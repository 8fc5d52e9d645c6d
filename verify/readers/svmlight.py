"""Text of svmlight and libsvm, ``label index:value ...``, one example a line.

Parsed here and not by scikit-learn: the format is three rules, a dependency of that size is not
worth them, and this way a mistake is refused by its line like those of the other texts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from verify.files import check_size, refuse, shown
from verify.readers.table import number, text_of

Example = tuple[str, list[int], list[float]]


def features(file: Path, member: str | None, label_column: str | None) -> NDArray[Any]:
    """The matrix ``(n, d)``, zero where a line names no value; d is the largest index.

    Indices count from 1 (or from 0 if 0 occurs; a first column of zeros would change nothing).
    """
    _no_column(file, label_column)
    examples = _examples(file)
    every = [i for _, indices, _ in examples for i in indices]
    first = 0 if 0 in every else 1
    shape = (len(examples), max(every, default=0) + 1 - first)
    check_size(file, shape)
    matrix = np.zeros(shape)
    for row, (_, indices, values) in zip(matrix, examples, strict=True):
        row[np.array(indices, dtype=int) - first] = values
    return matrix


def labels(file: Path, member: str | None, label_column: str | None) -> list[str]:
    """The first entry of every line."""
    _no_column(file, label_column)
    return [label for label, _, _ in _examples(file)]


def _no_column(file: Path, label_column: str | None) -> None:
    if label_column is not None:
        found = f"has no columns (label_column={shown(label_column)})"
        refuse(file, found, "labels in front of each line", "leave out --label-column")


def _examples(file: Path) -> list[Example]:
    found = []
    for place, line in enumerate(text_of(file).splitlines(), 1):
        label, *pairs = line.partition("#")[0].split() or [""]
        if label:
            found.append((label, *_entries(file, place, label, pairs)))
    if not found:
        refuse(file, "has no examples", "lines `label index:value ...`", "write one a line")
    return found


def _entries(file: Path, place: int, label: str, pairs: list[str]) -> tuple[list[int], list[float]]:
    def wrong(entry: str, expected: str, hint: str) -> NoReturn:
        refuse(file, f"has {shown(entry)} in line {place}", expected, hint)

    if ":" in label:
        wrong(label, "a label in front", "write `label index:value ...`")
    indices: list[int] = []
    values: list[float] = []
    for pair in pairs:
        index, colon, text = pair.partition(":")
        value = number(text)
        if not (colon and index.isascii() and index.isdigit() and len(index) < 10):
            wrong(pair, "index:value with a whole index", "drop qid and names, write 3:0.5")
        if value is None:
            wrong(pair, "a number after the colon", "write a decimal point")
        if indices and int(index) <= indices[-1]:
            wrong(pair, "rising indices", "sort each line by index, and give each index once")
        indices.append(int(index))
        values.append(value)
    return indices, values
