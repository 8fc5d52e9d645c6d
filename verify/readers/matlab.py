"""MATLAB files of versions 4 to 7, ``.mat``, by scipy, which reads data and runs nothing.

Only the variable that is meant is read, and only if the directory says that it holds numbers,
text, a cell array or a sparse matrix. Version 7.3 is another format (HDF5) and is refused.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verify.files import check_size, choose, dense, reading, refuse, shown
from verify.readers.npy import USUAL_FEATURES, USUAL_LABELS

_NEVER = {"struct", "object", "function", "opaque", "unknown"}


def features(file: Path, member: str | None, label_column: str | None) -> NDArray[Any]:
    """The variable called ``member``, or the one with a usual name."""
    array = _read(file, member, USUAL_FEATURES)
    if isinstance(array, list):
        refuse(file, "holds a cell array", "a matrix of numbers", "save cell2mat(X)")
    return array


def labels(file: Path, member: str | None, label_column: str | None) -> NDArray[Any] | list[str]:
    """A vector of numbers, the rows of a char matrix, or the texts of a cell array."""
    return _read(file, member if label_column is None else label_column, USUAL_LABELS)


def _read(file: Path, asked: str | None, usual: tuple[str, ...]) -> NDArray[Any] | list[str]:
    from scipy.io import loadmat, whosmat
    from scipy.sparse import issparse

    with reading(file, "an intact MATLAB file"):
        try:
            held = {name: (shape, kind) for name, shape, kind in whosmat(file)}
        except NotImplementedError:
            found, hint = "is of MATLAB version 7.3 (HDF5)", "save('x.mat', 'X', 'y', '-v7')"
            refuse(file, found, "version 4 to 7", hint)
        name = choose(file, held, asked, usual)
        shape, kind = held[name]
        if kind in _NEVER:
            found = f"holds a {kind} in {shown(name)}, which is never interpreted"
            hint = "save the numbers in it as a variable of their own"
            refuse(file, found, "numbers, text or a cell array of texts", hint)
        if kind != "sparse":
            check_size(file, shape)
        value = loadmat(file, variable_names=[name])[name]
        if issparse(value):
            return dense(file, value)
        if value.dtype == object:
            return [_text(file, name, cell) for cell in value.reshape(-1)]
        return np.asarray(value)


def _text(file: Path, name: str, cell: Any) -> str:
    empty = isinstance(cell, np.ndarray) and cell.size == 0
    if not (empty or (isinstance(cell, np.ndarray) and cell.dtype.kind == "U" and cell.size == 1)):
        hint = "save cellstr(labels), or numbers as a matrix"
        refuse(file, f"has a cell that is no text in {shown(name)}", "a cell array of texts", hint)
    return "" if empty else str(cell.item())
