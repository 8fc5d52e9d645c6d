"""What is written: values as JSON, and files that are whole or not there."""

from __future__ import annotations

import errno
import json
import math
import os
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import Any, TextIO

from verify.arrays import to_numpy
from verify.errors import InputError


def write_text(target: Path, text: str) -> None:
    """Write a file in UTF-8, whole or not at all; see `writing`."""
    with writing(target) as stream:
        stream.write(text)


@contextmanager
def writing(target: Path) -> Iterator[TextIO]:
    """Open a file to write text in UTF-8 that is there when all is written, or not at all.

    Half surrogates, of a file name that is no UTF-8 say, become JSON's escapes of them. What is no
    file (/dev/stdout, a named pipe) is written to, not replaced; nor is a link. Raises InputError
    if it cannot be written.
    """
    with _told(target):
        if target.exists() and not target.is_file():
            with _opened(target) as stream:
                yield stream
            return
        target = target.resolve() if target.is_symlink() else target
        partial = _partial(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with _opened(partial) as stream:
                yield stream
            partial.replace(target)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise


def require_writable(*targets: Path) -> None:
    """Raise InputError where `writing` could not write a file; all stays as it is."""
    for target in targets:
        with _told(target):
            if _is_there(target) and not target.is_file():
                _require_access(target)
                continue
            partial = _partial(target.resolve() if target.is_symlink() else target)
            with _folder_lent(partial):
                partial.touch(exist_ok=False)
                partial.unlink()


def require_appendable(target: Path) -> None:
    """Raise InputError where nothing could be appended to a file; all stays as it is."""
    with _told(target):
        if _is_there(target):
            if not target.is_file():
                _require_access(target)
                return
            target.open("ab").close()
            return
        missing = target.resolve() if target.is_symlink() else target
        with _folder_lent(missing):
            missing.touch(exist_ok=False)
            missing.unlink()


@contextmanager
def _told(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as reason:
        raise InputError(
            f"{target} cannot be written ({reason.strerror or reason}); choose another folder, "
            "or make room there"
        ) from reason


def _opened(path: Path) -> TextIO:
    return path.open("w", encoding="utf-8", errors="backslashreplace", newline="")


def _partial(target: Path) -> Path:
    """Return the place of a file that is not finished."""
    return target.with_name(f".{os.getpid()}-{threading.get_ident()}.partial")


def _is_there(target: Path) -> bool:
    """Whether there is something. Raises OSError where there cannot be: below a file, say."""
    try:
        os.stat(target)
    except FileNotFoundError:
        return False
    return True


def _require_access(target: Path) -> None:
    """Raise OSError for what is no file and cannot be written to, without opening it."""
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


@contextmanager
def _folder_lent(file: Path) -> Iterator[None]:
    """Make the folder of a file if it is missing, and remove it again."""
    missing = [folder for folder in file.parents if not folder.exists()]
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        yield
    finally:
        for folder in missing:
            with suppress(OSError):  # not made, or somebody else has put something there
                folder.rmdir()


def json_text(value: Any) -> str:
    """Return the content of a JSON file. Raises ValueError for NaN and infinities."""
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def jsonable(value: Any) -> Any:
    """Return `value` with arrays as lists, NaN and infinities as null, and what JSON has no word
    for as its repr."""
    return _jsonable(value, ())


def _jsonable(value: Any, around: tuple[int, ...]) -> Any:
    """Return `value` as JSON-able; around: the ids of what it lies in."""
    if id(value) in around or len(around) > _DEEPEST:
        return "…"
    inside = (*around, id(value))
    if isinstance(value, Mapping):
        return {_text(key): _jsonable(entry, inside) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(entry, inside) for entry in value]
    if isinstance(value, _PLAIN):
        return _plain(value)
    try:
        plain = to_numpy(value).tolist()
    except Exception:  # of whatever library
        plain = value
    return _jsonable(plain, inside) if isinstance(plain, (*_PLAIN, list)) else _text(value)


def _plain(value: Any) -> Any:
    """Return a scalar as JSON has it, an integer that Python would not read again as text."""
    if isinstance(value, StrEnum):
        return str(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return hex(value) if isinstance(value, int) and value.bit_length() > 10_000 else value


_DEEPEST = 50
"""Levels of nesting below which `jsonable` leaves out."""

_PLAIN = (str, bool, int, float, type(None))


def _text(value: Any) -> str:
    """Return a string as it is and the repr of anything else, the same in every run."""
    if isinstance(value, str | int):
        return str(value)
    try:
        return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))[:1_000]
    except Exception:  # of whatever class
        return f"<{type(value).__name__}>"
