"""What a caller hands over, as double-precision arrays of one batch; refused by name otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np

from verify.arrays import Array, as_array, is_numpy
from verify.errors import InputError


def as_double(array: Array, xp: Any) -> Array:
    """Return `array` in double precision, which every tolerance and certificate is made for."""
    return array if array.dtype == xp.float64 else xp.astype(array, xp.float64)


def beside(name: str, values: Any, gram: Array, xp: Any) -> Array:
    """Return `values` with the type and on the device of `gram`."""
    found = as_array(name, values)
    if is_numpy(found):
        return xp.asarray(np.asarray(found, dtype=np.float64), dtype=gram.dtype, device=gram.device)
    return xp.asarray(found, dtype=gram.dtype, device=gram.device)


def batch_of(name: str, values: Any, gram: Array, core: int, expected: str, xp: Any) -> Array:
    """Return `values` as an array beside `gram` with a batch axis in front of `core` axes."""
    return batched(beside(name, values, gram, xp), core, name, expected, xp)


def batched(array: Array, core: int, name: str, expected: str, xp: Any) -> Array:
    """Give `array` a batch axis in front of its `core` axes."""
    if array.ndim == core:
        return xp.expand_dims(array, axis=0)
    if array.ndim != core + 1:
        raise InputError(
            f"{name} has shape {tuple(array.shape)}, expected {expected} or a batch of such"
        )
    return array


def spread(array: Array, batch: int, name: str, xp: Any) -> Array:
    """Repeat a batch of one up to `batch` problems."""
    if array.shape[0] == batch:
        return array
    if array.shape[0] != 1:
        raise InputError(
            f"{name} has a batch of {array.shape[0]}, expected 1 or {batch} as the other arrays"
        )
    return xp.broadcast_to(array, (batch, *array.shape[1:]))


def check_finite(name: str, array: Array, xp: Any) -> None:
    if not bool(xp.all(xp.isfinite(array))):
        raise InputError(f"{name} has values that are NaN or infinite; remove or impute them")


def check_symmetric(gram: Array, xp: Any) -> None:
    scale = xp.max(xp.abs(gram), axis=(-2, -1))
    skew = xp.max(xp.abs(gram - xp.matrix_transpose(gram)), axis=(-2, -1))
    if bool(xp.any(skew > 1e-12 * scale)):
        raise InputError("gram is not symmetric; pass X @ X.T, or (G + G.T) / 2")
