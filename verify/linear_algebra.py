"""The seam for what the array standard lacks: batched positive definite solves, by namespace."""

from __future__ import annotations

from typing import Any

import array_api_compat
import numpy as np

from verify.arrays import Array, array_namespace, is_numpy
from verify.errors import InputError


def solve_positive_definite(matrix: Array, right: Array) -> Array:
    """Solve A x = b for symmetric positive definite A (B, n, n) and b (B, n, k) by Cholesky.

    The caller makes sure, from eigenvalues, that the matrices are positive definite: a
    failed factorisation is a defect there, raised as InputError on numpy.
    """
    if is_numpy(matrix):
        return _solve_on_host(matrix, right)
    xp = array_namespace(matrix)
    if array_api_compat.is_torch_array(matrix):
        import torch

        return torch.cholesky_solve(right, torch.linalg.cholesky(matrix))
    return xp.linalg.solve(matrix, right)


def _solve_on_host(
    matrix: np.ndarray[Any, Any], right: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    """Factor and solve one matrix at a time: LAPACK's posv, without numpy's LU."""
    from scipy.linalg.lapack import get_lapack_funcs

    posv = get_lapack_funcs("posv", (matrix, right))
    solution = np.empty(
        np.broadcast_shapes(matrix.shape[:-1], right.shape[:-1]) + right.shape[-1:], right.dtype
    )
    for position in range(solution.shape[0]):
        # A symmetric matrix equals its transpose, so the C-ordered copy needs no reordering.
        _, solution[position], info = posv(matrix[position].T, right[position], lower=1)
        if info != 0:
            raise InputError(
                f"matrix number {position} of the batch is not positive definite "
                f"(leading minor {info}); check its eigenvalues before solving"
            )
    return solution


def masked(matrix: Array, mask: Array) -> Array:
    """Return D A D + (I − D)·scale for masks D (B, n): A on the mask, a diagonal elsewhere.

    A ragged batch of principal submatrices becomes one regular batch of full size: solving
    with a right-hand side that vanishes off the mask solves each submatrix. The scale is the
    mean diagonal of A (1 where that is zero), so that both blocks are of one size.
    """
    xp = array_namespace(matrix)
    inside = mask[:, :, None] & mask[:, None, :]
    identity = xp.eye(matrix.shape[-1], dtype=matrix.dtype, device=matrix.device)
    scale = xp.mean(xp.linalg.diagonal(matrix), axis=-1)[:, None, None]
    scale = xp.where(scale > 0, scale, xp.ones_like(scale))
    return xp.where(inside, matrix, identity * scale)
