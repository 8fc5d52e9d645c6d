"""Opening a user's files without trusting them: arrays and tables, never pickles.

Headers are checked against the bytes that are there before anything is allocated, and whatever
is wrong becomes an InputError that names the file, what was expected and what to try.
"""

from __future__ import annotations

import csv
import io
import math
import os
import stat
import warnings
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from verify.errors import InputError, UnknownName

Path_ = str | os.PathLike[str]

BINARY = (".npy", ".npz")
DELIMITERS = {".csv": ",", ".tsv": "\t"}
_CONVERT = {
    ".mat": "scipy.io.loadmat(path)['X']",
    ".mtx": "scipy.io.mmread(path).toarray()",
    ".parquet": "pandas.read_parquet(path).to_numpy()",
    ".h5ad": "anndata.read_h5ad(path).to_df().to_numpy()",
}


def refuse(file: Path, found: str, expected: str, hint: str) -> NoReturn:
    """Raise the one sentence that every unusable file gets."""
    raise InputError(f"path={str(file)!r} {found}: expected {expected}; {hint}.")


def shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")


def nearest_first(name: str, options: Iterable[str]) -> list[str]:
    from difflib import SequenceMatcher

    # Beyond 40 characters the matcher is slow and its answer is not shown.
    matcher = SequenceMatcher(b=name[:40].casefold())

    def similarity(option: str) -> float:
        matcher.set_seq1(option[:40].casefold())
        return matcher.ratio()

    return sorted(options, key=similarity, reverse=True)


def locate(path: Path_, known: Sequence[str]) -> tuple[Path, str | None]:
    """The non-empty regular file of a ``known`` suffix, and the name after ``file.npz::``."""
    base, _, member = os.fspath(path).rpartition("::")
    in_archive = base.lower().endswith(".npz")
    file = Path(base if in_archive else path)
    suffix, expected = file.suffix.lower(), f"a file ({', '.join(known)})"
    try:
        status = file.stat()
    except (OSError, ValueError) as error:  # ValueError: a NUL character in the path
        reason = getattr(error, "strerror", None) or error
        refuse(file, f"cannot be opened ({reason})", expected, "check the path")
    if not stat.S_ISREG(status.st_mode):
        kind = "a directory" if stat.S_ISDIR(status.st_mode) else "not a regular file"
        refuse(file, f"is {kind}", expected, "name one file")
    if suffix not in known:
        source = _CONVERT.get(suffix, "array")
        refuse(file, f"has suffix={suffix!r}", expected, f"convert: np.save('new.npy', {source})")
    if status.st_size == 0:
        refuse(file, "is empty", expected, "write it again")
    return file, member if in_archive else None


def read_binary(file: Path, member: str | None, preferred: Sequence[str]) -> NDArray[Any]:
    """The array of an ``.npy`` file, or the one meant of an ``.npz`` file."""
    try:
        # numpy warns of headers by Python 2, Python of odd literals in a corrupt header
        with warnings.catch_warnings(action="ignore"):
            if file.suffix.lower() == ".npy":
                with file.open("rb") as stream:
                    return _read_npy(file, stream, file.stat().st_size)
            with zipfile.ZipFile(file) as archive:
                entries = [info for info in archive.infolist() if info.filename.endswith(".npy")]
                sizes = {info.filename.removesuffix(".npy"): info.file_size for info in entries}
                name = _choose(file, sizes, member, preferred)
                with archive.open(f"{name}.npy") as stream:
                    return _read_npy(file, stream, sizes[name])
    except InputError:
        raise
    # On corrupt bytes zipfile, its codecs, numpy and the parser behind numpy's header raise a
    # dozen unrelated types, MemoryError and SystemError among them.
    except Exception as error:
        reason = f"{type(error).__name__}: {str(error)[:100].rstrip('.')}"
        refuse(file, f"cannot be read ({reason})", "an intact .npy or .npz", "save it again")


def _choose(file: Path, sizes: Mapping[str, int], asked: str | None, usual: Sequence[str]) -> str:
    """The array meant: the one asked for, or the only one, or the first with a usual name."""
    if asked is not None and asked not in sizes:
        names = ", ".join(map(shown, nearest_first(asked, sizes)[:20])) or "none"
        raise UnknownName(
            f"name={shown(asked)} is not an array of path={str(file)!r}: expected one of its "
            f"{len(sizes)} arrays ({names}); put one of them after '::'."
        )
    wanted = [asked] if asked else list(sizes) if len(sizes) == 1 else usual
    for name in wanted:
        if name in sizes:
            return name
    found = f"holds {len(sizes)} arrays ({', '.join(map(shown, list(sizes)[:20])) or 'none'})"
    refuse(file, found, f"one, or one called {', '.join(usual)}", "name one: file.npz::name")


def _read_npy(file: Path, stream: IO[bytes], size: int) -> NDArray[Any]:
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
    stream.seek(0)
    array: NDArray[Any] = npy.read_array(stream, allow_pickle=False)
    if array.dtype.kind == "U":
        array.tolist()  # raises on what is no code point; numpy does not look before
    return array


def read_rows(file: Path) -> list[list[str]]:
    """The stripped cells of each row, without the blank lines at the end."""
    suffix = file.suffix.lower()
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        refuse(file, f"cannot be read ({error})", "UTF-8 text", "save it as UTF-8")
    if "\0" in text:
        refuse(file, "contains a NUL character", "UTF-8 text", "save it as UTF-8, not UTF-16")
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
