"""Arrays that numpy wrote: ``.npy`` and ``.npz``, headers checked before anything is allocated."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from verify.files import check_size, choose, column_index, reading, refuse

USUAL_FEATURES = ("X", "features", "data")
USUAL_LABELS = ("y", "labels", "target")
"""Which array is meant where a file holds several; ``.mat`` files follow the same names."""


def features(file: Path, member: str | None, label_column: str | None) -> NDArray[Any]:
    """The matrix, in ``.npy`` without the label column."""
    array = _read(file, member, USUAL_FEATURES)
    if label_column is None or file.suffix.lower() == ".npz":
        return array
    return np.delete(array, _column(file, array, label_column), axis=1)


def labels(file: Path, member: str | None, label_column: str | None) -> NDArray[Any]:
    """The vector: in ``.npy`` the whole array or a column of it, in ``.npz`` one of its arrays."""
    if file.suffix.lower() == ".npz":
        return _read(file, member if label_column is None else label_column, USUAL_LABELS)
    array = _read(file, member, USUAL_LABELS)
    return array if label_column is None else array[:, _column(file, array, label_column)]


def _column(file: Path, array: NDArray[Any], label_column: str) -> int:
    if array.ndim != 2:
        refuse(file, f"has shape {array.shape}", "a matrix with a label column", "save (n, d)")
    return column_index(file, (), array.shape[1], label_column)


def _read(file: Path, member: str | None, usual: tuple[str, ...]) -> NDArray[Any]:
    """The array of an ``.npy`` file, or the one meant of an ``.npz`` file."""
    # numpy warns of headers by Python 2, Python of odd literals in a corrupt header
    with reading(file, "an intact .npy or .npz"):
        if file.suffix.lower() == ".npy":
            with file.open("rb") as stream:
                return _read_npy(file, stream, file.stat().st_size)
        with zipfile.ZipFile(file) as archive:
            entries = [info for info in archive.infolist() if info.filename.endswith(".npy")]
            sizes = {info.filename.removesuffix(".npy"): info.file_size for info in entries}
            name = choose(file, sizes, member, usual)
            with archive.open(f"{name}.npy") as stream:
                return _read_npy(file, stream, sizes[name], compressed=True)


def _read_npy(file: Path, stream: IO[bytes], size: int, compressed: bool = False) -> NDArray[Any]:
    """The array in a stream of ``size`` bytes, its header checked before memory is allocated."""
    npy = np.lib.format
    pickled = stream.read(1) == b"\x80"
    stream.seek(0)
    if not pickled:
        version = npy.read_magic(stream)
        header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = header(stream)
        pickled = dtype.hasobject
    if pickled:
        found = "holds pickled objects, which are never loaded because loading can run code"
        hint = "save np.asarray(array, dtype=float) or, for labels, dtype=str"
        refuse(file, found, "an array of numbers or strings", hint)
    claimed, available = math.prod(shape) * dtype.itemsize, size - stream.tell()
    if min(shape, default=0) < 0 or dtype.itemsize == 0 or claimed > available:
        found = f"claims shape {shape} of {dtype}, {claimed} bytes, but {available} bytes follow"
        refuse(file, found, "an intact array", "save it again")
    if compressed:
        check_size(file, shape)
    stream.seek(0)
    array: NDArray[Any] = npy.read_array(stream, allow_pickle=False)
    if array.dtype.kind == "U":
        array.tolist()  # raises on what is no code point; numpy does not look before
    return array
