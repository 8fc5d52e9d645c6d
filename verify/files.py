"""Opening a user's files without trusting them: what the readers of all formats share.

Whatever is wrong becomes an InputError that names the file, what was expected and what to try.
"""

from __future__ import annotations

import importlib
import math
import os
import stat
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from verify.errors import BackendUnavailable, InputError, ReluVerifyError, UnknownName

Path_ = str | os.PathLike[str]

ARCHIVES = (".npz", ".mat", ".h5ad")
"""Files of several arrays, of which ``file::name`` picks one."""

LARGEST = 2**28
"""Entries of the largest matrix that is read: 2 GiB in float64. A compressed or sparse file of a
few kilobytes can claim more than any memory holds."""

_CONVERT = {
    ".xlsx": "pandas.read_excel(path).to_numpy()",
    ".feather": "pandas.read_feather(path).to_numpy()",
    ".h5": "h5py.File(path)['X'][:]",
    ".hdf5": "h5py.File(path)['X'][:]",
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
    """The non-empty regular file of a ``known`` suffix, and the name after ``archive::``."""
    base, _, member = os.fspath(path).rpartition("::")
    in_archive = base.lower().endswith(ARCHIVES)
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


class reading:  # noqa: N801 (used as a context manager: `with reading(file, what):`)
    """Turn whatever a parser raises on corrupt bytes into an InputError: expected ``what``.

    Parsers raise a dozen unrelated types, MemoryError and SystemError among them, and warn.
    """

    def __init__(self, file: Path, what: str) -> None:
        self._file, self._what = file, what
        self._silence = warnings.catch_warnings(action="ignore")

    def __enter__(self) -> None:
        self._silence.__enter__()

    def __exit__(self, _: Any, error: BaseException | None, trace: Any) -> None:
        self._silence.__exit__(_, error, trace)
        if isinstance(error, Exception) and not isinstance(error, ReluVerifyError):
            said = " ".join(str(error).split())[:100].rstrip(".")
            found = f"cannot be read ({type(error).__name__}: {said})"
            refuse(self._file, found, self._what, "write the file again")


def library(module: str, extra: str, file: Path) -> Any:
    """The optional library that reads a file; raises `BackendUnavailable` without it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise BackendUnavailable(
            f"path={str(file)!r} needs {module.partition('.')[0]}, which cannot be imported "
            f"({error}): expected the extra {extra!r}; pip install 'relu-verify[{extra}]'."
        ) from error


def choose(file: Path, names: Iterable[str], asked: str | None, usual: Sequence[str]) -> str:
    """The array meant: the one asked for, or the only one, or the first with a usual name."""
    present = list(names)
    if asked is not None and asked not in present:
        near = ", ".join(map(shown, nearest_first(asked, present)[:20])) or "none"
        raise UnknownName(
            f"name={shown(asked)} is not an array of path={str(file)!r}: expected one of its "
            f"{len(present)} arrays ({near}); put one of them after '::'."
        )
    wanted = [asked] if asked is not None else present if len(present) == 1 else usual
    for name in wanted:
        if name in present:
            return name
    found = f"holds {len(present)} arrays ({', '.join(map(shown, present[:20])) or 'none'})"
    hint = f"name one: file{file.suffix}::name"
    refuse(file, found, f"one, or one called {', '.join(usual)}", hint)


def column_index(file: Path, names: Sequence[str], count: int, column: str) -> int:
    """The position of a column given by its name, or by its number from 1.

    names: of all ``count`` columns, or empty where the file does not name them.
    """
    column = column.strip()
    places = [i for i, name in enumerate(names) if name == column]
    if len(places) == 1:
        return places[0]
    if places:
        found = f"has {len(places)} columns called {shown(column)}"
        refuse(file, found, "one", f"give its number: --label-column {places[0] + 1}")
    if column.isascii() and column.isdigit() and 1 <= int(column[:18]) <= count:
        return int(column) - 1
    near = ", ".join(map(shown, nearest_first(column, names)[:20])) or "without names"
    raise UnknownName(
        f"label_column={shown(column)} is not a column of path={str(file)!r}: expected a number "
        f"from 1 to {count} or the name of one of its {count} columns ({near}); try the nearest."
    )


def check_size(file: Path, shape: Sequence[int]) -> None:
    """Refuse an array of a shape that is impossible, or larger than `LARGEST`."""
    if min(shape, default=0) < 0 or math.prod(shape) > LARGEST:
        found = f"claims the shape {tuple(int(size) for size in shape)}"
        hint = "keep fewer rows or columns (all-zero columns change nothing but d)"
        refuse(file, found, f"at most 2**28 entries when written out ({LARGEST})", hint)


def check_exact(file: Path, array: NDArray[Any]) -> None:
    """Refuse what is no real number, and integers that float64 would round."""
    if array.dtype.kind not in "biuf":
        hint = "save array.real" if array.dtype.kind == "c" else "save array.astype(float)"
        refuse(file, f"has dtype={array.dtype}", "real numbers", hint)
    if array.dtype.kind in "iu" and array.size:
        low, high = array.min(), array.max()
        if not -(2**53) <= low <= high <= 2**53:
            found = f"has integers from {low} to {high}"
            refuse(file, found, "magnitudes up to 2**53, exact in float64", "rescale them")


def written_out(
    file: Path,
    shape: tuple[int, int],
    values: NDArray[Any],
    places: NDArray[Any],
    starts: NDArray[Any],
    by_rows: bool,
) -> NDArray[np.float64]:
    """The dense matrix of a compressed sparse one, (rows, columns).

    Row i (or column i) has values[starts[i]:starts[i+1]] at those places. All of it is checked:
    scipy writes wherever the indices of a file point if the last of ``starts`` is 0.
    """
    check_size(file, shape)
    check_exact(file, values)
    lines, width = shape if by_rows else shape[::-1]
    count = int(starts[-1]) if starts.size else -1
    whole = places.dtype.kind in "iu" and starts.dtype.kind in "iu"
    starts = starts.astype(np.int64)
    sound = (
        whole
        and starts.shape == (lines + 1,)
        and places.ndim == values.ndim == 1
        and starts[0] == 0 <= count <= min(len(places), len(values))
        and (np.diff(starts) >= 0).all()
        and ((places[:count] >= 0) & (places[:count] < width)).all()
    )
    if not sound:
        found = "has a sparse matrix whose indices do not fit its shape"
        refuse(file, found, "an intact one", "write the file again")
    matrix = np.zeros(shape)
    line, place = np.repeat(np.arange(lines), np.diff(starts)), places[:count]
    np.add.at(matrix, (line, place) if by_rows else (place, line), values[:count])
    return matrix
