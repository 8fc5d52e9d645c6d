"""Matrix Market files, ``.mtx``, by scipy; sparse ones are written out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verify.files import check_size, column_index, dense, reading, refuse


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
    from scipy.io import mminfo, mmread

    with reading(file, "an intact Matrix Market file"):
        rows, columns, entries, form, *_ = mminfo(file)
        check_size(file, (rows, columns))
        if entries > file.stat().st_size:
            found = f"claims {entries} entries in {file.stat().st_size} bytes"
            refuse(file, found, "an entry a line", "write the file again")
        matrix = mmread(file)
        if form == "array":
            return np.asarray(matrix)
        summed = matrix.tocsr().nnz  # sums what is given twice
        if summed != matrix.nnz:
            found = f"gives {matrix.nnz - summed} entries twice"
            refuse(file, found, "each entry at most once", "add or drop the duplicates")
        return dense(file, matrix)
