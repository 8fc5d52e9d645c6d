"""Parquet files by pyarrow (the extra ``parquet``): columns with names, one example a row.

Since pyarrow 14.0.1 no file can make it unpickle anything (CVE-2023-47248): an extension type that
Python would have to define is read as what it is stored as.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verify.files import check_exact, check_size, column_index, library, reading, refuse, shown


def features(file: Path, member: str | None, label_column: str | None) -> NDArray[Any]:
    """All columns of numbers, without the label column and the index that pandas writes.

    A leading column of text holds row names and is dropped; other columns of text are refused.
    """
    with reading(file, "an intact Parquet file"), _open(file) as held:
        types, names = _types(file), _names(file, held)
        index, taken = set(_index_of(held)), None
        if label_column is not None:
            taken = column_index(file, names, len(names), label_column)
        kept = [j for j, name in enumerate(names) if j != taken and name not in index]
        if len(kept) > 1 and _is_text(types, held.schema_arrow.types[kept[0]]):
            kept = kept[1:]
        check_size(file, (held.metadata.num_rows, len(kept)))
        matrix = np.empty((held.metadata.num_rows, len(kept)))
        for place, j in enumerate(kept):
            kind = held.schema_arrow.types[j]
            if not _is_number(types, kind):
                found = f"has type {kind} in column {shown(names[j])}"
                hint = "drop it, or take it as labels: --label-column NAME"
                refuse(file, found, "numbers", hint)
            matrix[:, place] = _numbers(file, held, names[j])
        return matrix


def labels(file: Path, member: str | None, label_column: str | None) -> NDArray[Any] | list[str]:
    """The label column, or the only one beside the index."""
    with reading(file, "an intact Parquet file"), _open(file) as held:
        types, names = _types(file), _names(file, held)
        if label_column is None:
            index = set(_index_of(held))
            candidates = [j for j, name in enumerate(names) if name not in index]
            if len(candidates) != 1:
                listed = ", ".join(map(shown, names[:20]))
                hint = "name one: --label-column NAME"
                refuse(file, f"has {len(candidates)} columns ({listed})", "one", hint)
            (place,) = candidates
        else:
            place = column_index(file, names, len(names), label_column)
        check_size(file, (held.metadata.num_rows,))
        kind = held.schema_arrow.types[place]
        if not (_is_text(types, kind) or _is_number(types, kind)):
            found = f"has type {kind} in column {shown(names[place])}"
            refuse(file, found, "labels that are numbers or text", "convert the column")
        if not _is_text(types, kind):
            return _numbers(file, held, names[place])
        texts = held.read(columns=[names[place]]).column(0).to_pylist()
        return ["" if value is None else str(value) for value in texts]


def _open(file: Path) -> Any:
    return library("pyarrow.parquet", "parquet", file).ParquetFile(file)


def _types(file: Path) -> Any:
    return library("pyarrow.types", "parquet", file)


def _names(file: Path, held: Any) -> list[str]:
    names = list(held.schema_arrow.names)
    if len(set(names)) < len(names):
        refuse(file, "has several columns of one name", "distinct names", "rename them")
    return names


def _numbers(file: Path, held: Any, name: str) -> NDArray[Any]:
    column: NDArray[Any] = held.read(columns=[name]).column(0).to_numpy()
    check_exact(file, column)
    return column


def _index_of(held: Any) -> list[str]:
    """The columns in which pandas keeps row names; none where what it says makes no sense."""
    try:
        said = json.loads((held.schema_arrow.metadata or {}).get(b"pandas", b"{}"))
    except (ValueError, RecursionError):
        return []
    written = said.get("index_columns") if isinstance(said, dict) else None
    entries = written if isinstance(written, list) else []
    return [entry for entry in entries if isinstance(entry, str)]


def _is_number(types: Any, kind: Any) -> bool:
    return any((types.is_integer(kind), types.is_floating(kind), types.is_boolean(kind)))


def _is_text(types: Any, kind: Any) -> bool:
    if types.is_dictionary(kind):
        kind = kind.value_type
    return any((types.is_string(kind), types.is_large_string(kind)))
