"""What is written: values as JSON, and files that are whole or not there."""

from __future__ import annotations

import json
import math
import os
import re
import threading
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from verify.arrays import to_numpy
from verify.errors import InputError


def write_text(target: Path, text: str) -> None:
    """Write a file in UTF-8, whole or not at all. Raises InputError if it cannot be written.

    Half surrogates, of a file name that is no UTF-8 say, become JSON's escapes of them. What is no
    file (/dev/stdout, a named pipe) is written to, not replaced; nor is a link.
    """
    content = text.encode("utf-8", "backslashreplace")
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(content)
            return
        target = target.resolve() if target.is_symlink() else target
        partial = target.with_name(f".{os.getpid()}-{threading.get_ident()}.partial")
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            partial.write_bytes(content)
            partial.replace(target)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
    except OSError as reason:
        raise InputError(
            f"{target} cannot be written ({reason.strerror or reason}); choose another folder, "
            "or make room there"
        ) from reason


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
