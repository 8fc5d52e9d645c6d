"""The seam for what the array standard lacks: batched positive definite solves, by namespace."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import sqrt
from typing import Any

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from verify.arrays import Array, array_namespace, is_numpy
from verify.errors import InputError
from verify.tolerances import epsilon

Floats = NDArray[np.float64]


@cache
def blas() -> Any:
    """Return SciPy's BLAS, imported when it is first needed: that takes a sixth of a second."""
    from scipy.linalg import blas

    return blas


@cache
def lapack() -> Any:
    """Return SciPy's LAPACK, imported when it is first needed."""
    from scipy.linalg import lapack

    return lapack


def root(square: Array) -> Array:
    """Return √square, and 0 where rounding has made a square negative."""
    xp = array_namespace(square)
    return xp.sqrt(xp.where(square > 0, square, xp.zeros_like(square)))


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
            raise _not_positive_definite(position, info)
    return solution


def solve_on(matrix: Array, mask: Array, right: Array) -> Array:
    """Solve A_SS x_S = b_S, with x = 0 off S, on the principal submatrices that masks pick.

    matrix: (B, n, n), positive definite on S.   mask: (B, n), the sets S.   right: (B, n, k).
    By Cholesky with one step of iterative refinement. Raises InputError as
    `solve_positive_definite`.
    """
    if is_numpy(matrix):
        return _solve_submatrices_on_host(matrix, mask, right)
    xp = array_namespace(matrix)
    inside, full = mask[:, :, None], masked(matrix, mask)
    zero = xp.zeros_like(right)
    solution = solve_positive_definite(full, xp.where(inside, right, zero))
    residual = xp.where(inside, right - matrix @ solution, zero)
    return xp.where(inside, solution + solve_positive_definite(full, residual), zero)


def _solve_submatrices_on_host(
    matrix: np.ndarray[Any, Any], mask: np.ndarray[Any, Any], right: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    """Cut each submatrix out: a set of half the examples costs an eighth of the whole."""
    from scipy.linalg.lapack import get_lapack_funcs

    posv, potrs = get_lapack_funcs(("posv", "potrs"), (matrix, right))
    solution = np.zeros(right.shape, right.dtype)
    for position, on in enumerate(mask):
        index = np.flatnonzero(on)
        if not index.size:
            continue
        submatrix, side = matrix[position][np.ix_(index, index)], right[position][index]
        factor, first, info = posv(submatrix.T, side, lower=1)
        if info != 0:
            raise _not_positive_definite(position, info)
        correction, _ = potrs(factor, side - submatrix @ first, lower=1)
        solution[position, index] = first + correction
    return solution


def conjugate_gradients(
    times: Callable[[Array], Array],
    mask: Array,
    rows: Array,
    largest: Array,
    start: Array | None = None,
    tolerance: float | None = None,
) -> tuple[Array, Array]:
    """Solve (Ax)_S = b_S with x = 0 off S for the rows b of (B, m, n), without a matrix.

    times: returns Aa for rows a (B, m, n), A positive definite on S.   mask: (B, n), the sets S.
    largest: (B,), an upper bound on the eigenvalues of A.   start: a guess.   tolerance: relative
    size of the residual to stop at, by default what rounding allows.

    Returns x, and (B,) whether the residual, computed anew, is as small as that: convergence is
    quick for small condition numbers only, and is given up after 48 steps. Each problem goes
    through the same arithmetic whatever the others of its batch are.
    """
    xp = array_namespace(rows)
    dot, inside = xp.vecdot, xp.astype(mask, rows.dtype)[:, None, :]
    eps = epsilon(rows)
    right = rows * inside
    goal = (2 * eps if tolerance is None else tolerance) ** 2 * dot(right, right)
    if start is None:
        solution, residual = xp.zeros_like(right), right
    else:
        solution = start * inside
        residual = right - times(solution) * inside
    direction, square = residual, dot(residual, residual)
    zero, one = xp.zeros_like(square), xp.ones_like(square)
    for _ in range(_MOST_GRADIENTS):
        open_ = square > goal
        if not bool(xp.any(open_)):
            break
        image = times(direction) * inside
        curvature = dot(direction, image)
        usable = open_ & (curvature > 0)
        before = xp.where(usable, square, zero)
        rate = (before / xp.where(usable, curvature, one))[..., None]
        solution = solution + rate * direction
        residual = residual - rate * image
        after = xp.where(usable, dot(residual, residual), zero)
        direction = residual + (after / xp.where(usable, square, one))[..., None] * direction
        square = xp.where(usable, after, square)
    if tolerance is not None:
        return solution, xp.all(square <= goal, axis=-1)
    residual = right - times(solution) * inside
    scale = xp.sqrt(dot(right, right)) + largest[:, None] * xp.sqrt(dot(solution, solution))
    allowed = 4 * eps * sqrt(int(rows.shape[-1])) * scale
    return solution, xp.all(xp.sqrt(dot(residual, residual)) <= allowed, axis=-1)


def conjugate_gradients_of_one(
    times: Callable[[Floats], Floats],
    mask: NDArray[np.bool_],
    right: Floats,
    largest: float,
    start: Floats | None = None,
    tolerance: float | None = None,
) -> tuple[Floats, bool]:
    """Solve as `conjugate_gradients` for one right-hand side (n,) on the host, with less to do a
    step.   times: returns Aa for a (n,).   mask: (n,).   largest: see there."""
    inside = mask.astype(right.dtype)
    eps = epsilon(right)
    right = right * inside
    square_right = float(right @ right)
    goal = (2 * eps if tolerance is None else tolerance) ** 2 * square_right
    if start is None:
        solution, residual = np.zeros_like(right), right
    else:
        solution = start * inside
        residual = right - times(solution) * inside
    direction, square = residual, float(residual @ residual)
    for _ in range(_MOST_GRADIENTS):
        if not square > goal:
            break
        image = times(direction) * inside
        curvature = float(direction @ image)
        if not curvature > 0:
            break
        rate = square / curvature
        solution = solution + rate * direction
        residual = residual - rate * image
        before, square = square, float(residual @ residual)
        direction = residual + (square / before) * direction
    if tolerance is not None:
        return solution, square <= goal
    residual = right - times(solution) * inside
    scale = sqrt(square_right) + largest * sqrt(float(solution @ solution))
    allowed = 4 * eps * sqrt(right.shape[0]) * scale
    return solution, sqrt(float(residual @ residual)) <= allowed


_MOST_GRADIENTS = 48


def _not_positive_definite(position: int, minor: int) -> InputError:
    return InputError(
        f"matrix number {position} of the batch is not positive definite (leading minor "
        f"{minor}); check its eigenvalues before solving"
    )


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
