"""MATLAB files of versions 5 to 7, ``.mat``: matrices, sparse ones, texts and cell arrays of texts.

Parsed here and not by scipy, whose `loadmat` (1.17) ends the process with a segmentation fault on
some corrupt files. Structures, objects and function handles are refused, never interpreted.

The format ("MAT-File Level 5 File Format", MathWorks): a header of 128 bytes, then data elements
of a tag (type, number of bytes) and data, padded to 8 bytes; a tag of a few bytes holds its data
in itself. A variable is a matrix element, perhaps compressed: flags, shape, name, then its parts.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from verify.files import LARGEST, check_size, choose, reading, refuse, shown, written_out
from verify.readers.npy import USUAL_FEATURES, USUAL_LABELS

_HEADER = 128
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8"}
_NUMBERS[13] = "u8"
_MATRIX, _COMPRESSED = 14, 15
_TEXTS = {1: "latin-1", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}
_CELL, _CHAR, _SPARSE = 1, 4, 5
_NUMERIC = range(6, 16)
_OPAQUE = 17
_NEVER = {2: "struct", 3: "object", 16: "function handle", _OPAQUE: "object"}
_COMPLEX = 0x0800
_HEAD = 2**16
"""Bytes that flags, shape and name of a variable may take."""


def features(file: Path, member: str | None, label_column: str | None) -> NDArray[Any]:
    """The variable called ``member``, or the one with a usual name."""
    found = _read(file, member, USUAL_FEATURES)
    if isinstance(found, list):
        refuse(file, "holds text", "a matrix of numbers", "save the numbers as a matrix")
    return found


def labels(file: Path, member: str | None, label_column: str | None) -> NDArray[Any] | list[str]:
    """A vector of numbers, the rows of a char matrix, or the texts of a cell array."""
    return _read(file, member if label_column is None else label_column, USUAL_LABELS)


@dataclass(frozen=True, eq=False)
class _Variable:
    """A matrix element: its class, whether it is complex, its shape and name, and what follows."""

    kind: int
    complex: bool
    shape: tuple[int, ...]
    name: str
    parts: memoryview


def _read(file: Path, asked: str | None, usual: tuple[str, ...]) -> NDArray[Any] | list[str]:
    with reading(file, "an intact MATLAB file"):
        content = memoryview(file.read_bytes())
        order = _byte_order(file, content)
        held: dict[str, tuple[int, memoryview]] = {}
        for kind, data in _elements(file, content[_HEADER:], order):
            head = _inflated(file, data, _HEAD, cut=True) if kind == _COMPRESSED else data
            name = _variable(file, _inner(file, head, order, kind, cut=True), order).name
            if name:  # MATLAB keeps what belongs to objects in a variable without a name
                held[name] = (kind, data)
        kind, data = held[choose(file, held, asked, usual)]
        if kind == _COMPRESSED:
            data = _inflated(file, data, 8 * LARGEST + _HEAD)
        return _value(file, _variable(file, _inner(file, data, order, kind), order), order)


def _byte_order(file: Path, content: memoryview) -> str:
    order = {b"IM": "<", b"MI": ">"}.get(bytes(content[126:128]))
    if order is None:
        found, hint = "has no header of MATLAB 5 to 7", "write it with save('x.mat', 'X', '-v7')"
        refuse(file, found, "an intact .mat of version 5 to 7", hint)
    if int(np.frombuffer(content[124:126], f"{order}u2")[0]) >> 8 != 1:
        found, hint = "is of MATLAB version 7.3 (HDF5)", "save('x.mat', 'X', 'y', '-v7')"
        refuse(file, found, "version 5 to 7", hint)
    return order


def _elements(file: Path, data: memoryview, order: str) -> Iterator[tuple[int, memoryview]]:
    """Give the type and the data of the elements one after the other."""
    while len(data):
        kind, part, data = _next(file, data, order)
        yield kind, part


def _next(file: Path, data: memoryview, order: str) -> tuple[int, memoryview, memoryview]:
    """The type and the data of the first element, and all that follows it."""
    if len(data) < 8:
        _corrupt(file)
    first, size = _words(data[:8], order)
    if first >> 16:  # a small element: size and type share the first word
        kind, size, start, end = first & 0xFFFF, first >> 16, 4, 8
    else:
        kind, start, end = first, 8, 8 + size + (0 if first == _COMPRESSED else -size % 8)
    if start + size > min(len(data), end):
        _corrupt(file)
    return kind, data[start : start + size], data[end:]


def _words(data: memoryview, order: str) -> list[int]:
    return [int(word) for word in np.frombuffer(data, f"{order}u4")]


def _inflated(file: Path, data: memoryview, most: int, cut: bool = False) -> memoryview:
    """The first ``most`` bytes of compressed data; more are refused, or left away where ``cut``."""
    engine = zlib.decompressobj()
    found = engine.decompress(data, most)
    if not cut and not engine.eof:
        _corrupt(file)
    return memoryview(found)


def _inner(file: Path, data: memoryview, order: str, kind: int, cut: bool = False) -> memoryview:
    """What is in the matrix element that a variable is, or that its compressed data hold."""
    if kind == _MATRIX:
        return data
    if kind != _COMPRESSED or len(data) < 8:
        _corrupt(file)
    first, size = _words(data[:8], order)
    if first != _MATRIX or (not cut and len(data) < 8 + size):
        _corrupt(file)
    return data[8 : 8 + size]


def _variable(file: Path, data: memoryview, order: str) -> _Variable:
    kind, flags, data = _next(file, data, order)
    if kind != 6 or len(flags) != 8:
        _corrupt(file)
    word = _words(flags, order)[0]
    shape: tuple[int, ...] = ()
    if word & 0xFF != _OPAQUE:
        kind, sizes, data = _next(file, data, order)
        if kind != 5:
            _corrupt(file)
        shape = tuple(int(size) for size in np.frombuffer(sizes, f"{order}i4"))
    kind, name, data = _next(file, data, order)
    if kind not in _TEXTS:
        _corrupt(file)
    return _Variable(word & 0xFF, bool(word & _COMPLEX), shape, bytes(name).decode("latin-1"), data)


def _value(file: Path, held: _Variable, order: str) -> NDArray[Any] | list[str]:
    """The numbers of a variable, (rows, columns) if it has two dimensions, or its texts."""
    if held.kind in _NEVER:
        found = f"holds a {_NEVER[held.kind]} in {shown(held.name)}, which is never interpreted"
        hint = "save the numbers in it as a variable of their own"
        refuse(file, found, "numbers, text or a cell array of texts", hint)
    if held.complex:
        refuse(file, f"has complex {shown(held.name)}", "real numbers", "save real(X)")
    if held.kind == _SPARSE:
        return _sparse(file, held, order)
    check_size(file, held.shape)
    if held.kind == _CELL:
        cells = [part for _, part in _elements(file, held.parts, order)]
        if len(cells) != math.prod(held.shape):
            _corrupt(file)
        return [_cell(file, held.name, cell, order) for cell in cells]
    if held.kind == _CHAR:
        return _texts(file, held, order)
    if held.kind not in _NUMERIC:
        _corrupt(file)
    values, _ = _numbers(file, held.parts, order)
    if len(values) != math.prod(held.shape):
        _corrupt(file)
    return values.reshape(held.shape, order="F")


def _numbers(file: Path, data: memoryview, order: str) -> tuple[NDArray[Any], memoryview]:
    """The numbers of the first element, and what follows it."""
    kind, part, rest = _next(file, data, order)
    if kind not in _NUMBERS:
        _corrupt(file)
    return np.frombuffer(part, order + _NUMBERS[kind]), rest


def _sparse(file: Path, held: _Variable, order: str) -> NDArray[Any]:
    if len(held.shape) != 2:
        _corrupt(file)
    rows, columns = held.shape
    places, rest = _numbers(file, held.parts, order)
    starts, rest = _numbers(file, rest, order)
    values, _ = _numbers(file, rest, order)
    return written_out(file, (rows, columns), values, places, starts, by_rows=False)


def _texts(file: Path, held: _Variable, order: str) -> list[str]:
    """The rows of a char matrix."""
    if len(held.shape) != 2:
        _corrupt(file)
    if math.prod(held.shape) == 0:
        return [""] * held.shape[0]
    kind, part, _ = _next(file, held.parts, order)
    if kind not in _TEXTS:
        _corrupt(file)
    codec = _TEXTS[kind]
    if codec in ("utf-16", "utf-32"):
        codec += "-le" if order == "<" else "-be"
    text = bytes(part).decode(codec)
    if len(text) != math.prod(held.shape):
        found = f"has characters beyond 16 bits in {shown(held.name)}"
        refuse(file, found, "one number a character", "save the labels as cellstr, or numbers")
    rows, columns = held.shape
    return ["".join(text[i + rows * j] for j in range(columns)) for i in range(rows)]


def _cell(file: Path, name: str, data: memoryview, order: str) -> str:
    """The text in a cell; "" for an empty one."""
    held = _variable(file, data, order) if len(data) else None
    if held is None or (held.shape and math.prod(held.shape) == 0):
        return ""
    if held.kind != _CHAR or held.shape[0] != 1:
        hint = "save cellstr(labels), or numbers as a matrix"
        refuse(file, f"has a cell that is no text in {shown(name)}", "a cell array of texts", hint)
    return _texts(file, held, order)[0]


def _corrupt(file: Path) -> NoReturn:
    refuse(file, "is cut off or corrupt", "an intact MATLAB file", "write the file again")
