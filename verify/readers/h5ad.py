"""AnnData files, ``.h5ad``, by h5py (the extra ``h5ad``): X or a layer, and columns of obs.

HDF5 can point into other files, claim any size and carry opaque bytes: links that are not hard,
external and virtual data, and everything but numbers and text are refused. Nothing is unpickled.
Bytes that are corrupt are another matter: the HDF5 library itself may not survive them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verify.errors import UnknownName
from verify.files import (
    check_exact,
    check_size,
    library,
    nearest_first,
    reading,
    refuse,
    shown,
    written_out,
)

_SPARSE = {"csr_matrix": "rows", "csr": "rows", "csc_matrix": "columns", "csc": "columns"}


def features(file: Path, member: str | None, label_column: str | None) -> NDArray[Any]:
    """X, or ``layers/NAME`` or ``obsm/NAME`` where ``member`` says so; sparse is written out."""
    with reading(file, "an intact .h5ad"), _open(file) as root:
        name = member or "X"
        group, _, last = name.rpartition("/")
        if group not in ("", "layers", "obsm") or (not group and last != "X"):
            found, hint = f"has no {shown(name)} for features", "write file.h5ad::layers/counts"
            refuse(file, found, "X, layers/NAME or obsm/NAME", hint)
        parent = _member(file, root, group) if group else root
        node = _member(file, parent, last)
        return _matrix(file, node) if hasattr(node, "keys") else np.asarray(_values(file, node))


def labels(file: Path, member: str | None, label_column: str | None) -> NDArray[Any] | list[str]:
    """A column of obs: numbers, text or a categorical."""
    with reading(file, "an intact .h5ad"), _open(file) as root:
        obs = _member(file, root, "obs")
        if not hasattr(obs, "keys"):
            found, hint = "keeps obs as one table (anndata before 0.7)", "write it with a newer one"
            refuse(file, found, "a group obs", hint)
        name = member if label_column is None else label_column
        columns = [key for key in obs if key not in ("__categories", "_index")]
        if name is None:
            listed = ", ".join(map(shown, columns[:20])) or "none"
            hint = "name one: --label-column NAME"
            refuse(file, f"has {len(columns)} columns in obs ({listed})", "one to be named", hint)
        name = name.removeprefix("obs/")
        if name not in columns:
            near = ", ".join(map(shown, nearest_first(name, columns)[:20])) or "none"
            raise UnknownName(
                f"label_column={shown(name)} is not in obs of path={str(file)!r}: expected one of "
                f"its {len(columns)} columns ({near}); try the nearest."
            )
        return _column(file, obs, name)


def _open(file: Path) -> Any:
    return library("h5py", "h5ad", file).File(file, "r")


def _member(file: Path, group: Any, name: str) -> Any:
    """An entry of a group; raises `UnknownName`, and InputError for what is stored elsewhere."""
    if not (hasattr(group, "keys") and name in group):
        present = list(group)[:20] if hasattr(group, "keys") else []
        listed = ", ".join(map(shown, present)) or "nothing"
        raise UnknownName(
            f"name={shown(name)} is not in path={str(file)!r}: expected one of {listed}; "
            "write the file with anndata."
        )
    if type(group.get(name, getlink=True)).__name__ != "HardLink":
        hint = "copy the data into the file"
        refuse(file, f"links to {shown(name)} elsewhere", "data in the file itself", hint)
    return group[name]


def _values(file: Path, data: Any) -> NDArray[Any] | list[str]:
    """The numbers or texts of a dataset of the file itself."""
    if hasattr(data, "keys"):
        refuse(file, f"has a group at {data.name}", "an array", "write the file with anndata")
    if data.is_virtual or data.external:
        hint = "copy the data into the file"
        refuse(file, f"keeps {data.name} in other files", "data in the file itself", hint)
    if data.shape is None:
        refuse(file, f"has nothing at {data.name}", "an array", "write it again")
    check_size(file, data.shape)
    kind = data.dtype.kind
    if kind in "OS" and library("h5py", "h5ad", file).check_string_dtype(data.dtype):
        return [str(text) for text in np.ravel(data.asstr()[()]).tolist()]
    if kind not in "biufc":
        found = f"has type {data.dtype} at {data.name}, which is never interpreted"
        refuse(file, found, "numbers or text", "write the file with anndata")
    return np.asarray(data[()])


def _matrix(file: Path, group: Any) -> NDArray[Any]:
    """A sparse matrix as anndata writes one, written out."""
    form = group.attrs.get("encoding-type", group.attrs.get("h5sparse_format", ""))
    shape = np.asarray(group.attrs.get("shape", group.attrs.get("h5sparse_shape", ())))
    if form not in _SPARSE:
        found = f"has {shown(str(form))} at {group.name}"
        refuse(file, found, "a dense matrix, csr_matrix or csc_matrix", "write adata.X as one")
    if shape.shape != (2,) or shape.dtype.kind not in "iu":
        found = f"has the shape {shown(str(shape.tolist()))} at {group.name}"
        refuse(file, found, "two whole numbers", "write the file again")
    rows, columns = (int(size) for size in shape)
    check_size(file, (rows, columns))
    values, places, starts = (
        np.asarray(_values(file, _member(file, group, part)))
        for part in ("data", "indices", "indptr")
    )
    by_rows = _SPARSE[form] == "rows"
    return written_out(file, (rows, columns), values, places, starts, by_rows)


def _column(file: Path, obs: Any, name: str) -> NDArray[Any] | list[str]:
    """A column: an array, a categorical of today or of anndata 0.7, or one with a mask."""
    node = _member(file, obs, name)
    if not hasattr(node, "keys"):
        values = _values(file, node)
        old = obs.get("__categories")
        if old is not None and name in old:
            return _levels(file, values, _values(file, _member(file, old, name)))
        return values
    if "codes" in node:
        codes, levels = (_values(file, _member(file, node, k)) for k in ("codes", "categories"))
        return _levels(file, codes, levels)
    values = _exact(file, _values(file, _member(file, node, "values")))
    mask = np.asarray(_values(file, _member(file, node, "mask")), dtype=bool)
    return ["" if hidden else str(value) for value, hidden in zip(values, mask, strict=True)]


def _levels(file: Path, codes: Any, levels: Any) -> list[str]:
    """The text of each code; "" for -1, the code of a missing value."""
    names = [str(level) for level in _exact(file, levels)]
    codes = np.asarray(codes)
    places = codes.tolist()
    if codes.dtype.kind not in "iu" or any(not -1 <= place < len(names) for place in places):
        hint = "write it again"
        refuse(file, "has a code without a category", "whole numbers from -1 on", hint)
    return [names[place] if place >= 0 else "" for place in places]


def _exact(file: Path, values: NDArray[Any] | list[str]) -> NDArray[Any] | list[str]:
    """Texts as they are, and numbers that can be read from their texts again."""
    if not isinstance(values, list):
        check_exact(file, values)
    return values
