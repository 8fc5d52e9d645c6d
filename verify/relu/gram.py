"""Gram matrices of the features: all that gradient descent sees of them, and what is fast to do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from verify.arrays import Array, Backend, array_namespace, flatnonzero, is_numpy, placed, to_numpy
from verify.linear_algebra import conjugate_gradients, conjugate_gradients_of_one, root, solve_on
from verify.relu.factor import Factor
from verify.relu.slopes import Slopes
from verify.tolerances import REGULAR_ABOVE, SINGULAR_BELOW, summation

_CLEAR = 0.16
"""Smallest ratio of the cheap bounds on the eigenvalues at which they are good enough."""

_CONDITION = 8.0
"""Largest condition number at which conjugate gradients are faster than a factorisation."""

ROUGH = 1e-7
"""Relative residual of a rough solution: good enough to see most signs."""


@dataclass(frozen=True, eq=False, repr=False)
class Gram:
    """Gram matrices G = XXᵀ, (B, n, n), as such or through a triangular factor of each.

    given: (B, n, n), or None.   factor: a `Factor`, or None; exactly one of the two is there.
    A product with a factor costs as much as one with the matrix, which is then never formed
    unless somebody asks for `dense`.
    """

    given: Array | None = None
    factor: Factor | None = None

    @cached_property
    def dense(self) -> Array:
        """The matrices themselves, (B, n, n)."""
        return self.given if self.factor is None else self.factor.product

    @property
    def _through(self) -> Factor | None:
        """The factor, while the matrices have not been formed."""
        return None if "dense" in self.__dict__ else self.factor

    @property
    def _shape(self) -> tuple[int, ...]:
        known: Array = self.given if self.factor is None else self.factor.order
        return tuple(known.shape)

    @property
    def batch(self) -> int:
        """Number B of problems."""
        return int(self._shape[0])

    @property
    def examples(self) -> int:
        """Number n of examples."""
        return int(self._shape[-1])

    @cached_property
    def diagonal(self) -> Array:
        """Squared norms of the examples, (B, n)."""
        if self._through is not None:
            return self._through.squared_norms
        return array_namespace(self.dense).linalg.diagonal(self.dense)

    @cached_property
    def lengths(self) -> Array:
        """Norms of the examples, (B, n)."""
        return array_namespace(self.diagonal).sqrt(self.diagonal)

    @cached_property
    def eigenvalues(self) -> Array:
        """Eigenvalues in ascending order, (B, n)."""
        return array_namespace(self.dense).linalg.eigvalsh(self.dense)

    @cached_property
    def range(self) -> tuple[Array, Array]:
        """A lower bound on the smallest and an upper bound on the largest eigenvalue, (B,) each.

        From all eigenvalues where they are known, or where cheap bounds are too far apart: with
        E = G − tI, t = tr(G)/n, all eigenvalues lie within ‖E‖_F of t, and within ‖E⁴‖_F^¼.
        """
        if "eigenvalues" in self.__dict__:
            return self._computed_range(self.eigenvalues)
        low, high = self._cheap_range
        xp = array_namespace(low)
        if self.factor is not None:
            if bool(xp.all(low > REGULAR_ABOVE * high)):
                return low, high  # loose, but all eigenvalues would cost more than all the rest
            return self._computed_range(self.eigenvalues)
        for sharper in (_range_by_squares, self._range_by_eigenvalues):
            unclear = ~(low > _CLEAR * high)
            if not bool(xp.any(unclear)):
                break
            index = flatnonzero(unclear)
            sharp = sharper(xp.take(self.dense, index, axis=0))
            low, high = placed(unclear, sharp[0], low), placed(unclear, sharp[1], high)
        return low, high

    def _range_by_eigenvalues(self, matrices: Array) -> tuple[Array, Array]:
        return self._computed_range(array_namespace(matrices).linalg.eigvalsh(matrices))

    def range_on(self, mask: Array) -> tuple[Array, Array]:
        """Bounds as `range`, of the principal submatrices on the sets of the mask (B, n)."""
        if self._through is None:
            return self.range
        return self._through.sharper(mask, *self.range)

    def _computed_range(self, values: Array) -> tuple[Array, Array]:
        error = summation(self.examples, values) * values[:, -1]
        return values[:, 0] - error, values[:, -1] + error

    @cached_property
    def _cheap_range(self) -> tuple[Array, Array]:
        if self.factor is not None:
            return self.factor.range
        middle, apart = _around_the_middle(self.dense)
        radius = _frobenius(apart)
        error = summation(self.examples**2, radius) * (radius + middle)
        return middle - radius - error, middle + radius + error

    @property
    def _known_range(self) -> tuple[Array, Array]:
        return self.range if "range" in self.__dict__ else self._cheap_range

    @property
    def size(self) -> Array:
        """An upper bound on λ_max(G), (B,), without an eigenvalue computed for it."""
        return self._known_range[1]

    @property
    def solve_error(self) -> Array:
        """Bound on the relative rounding error of a solution of Gα = b, (B,): γ·λ_max/λ_min.

        To first order in γ, the error of a sum of n terms (Higham 2002, §7.1 and §10.1), with
        bounds on the eigenvalues; infinite where G may be singular. G itself is taken as given.
        """
        low, high = self.range
        xp = array_namespace(low)
        regular = low > SINGULAR_BELOW * self.examples * high
        error = summation(self.examples, low) * high / xp.where(regular, low, xp.ones_like(low))
        return xp.where(regular, error, xp.full_like(error, xp.inf))

    @property
    def largest(self) -> Array:
        """An upper bound on λ_max(G), (B,)."""
        return self.range[1]

    @property
    def smallest(self) -> Array:
        """A lower bound on λ_min(G), (B,)."""
        return self.range[0]

    @cached_property
    def regular(self) -> bool:
        """Whether all the matrices are far from singular, by `tolerances.REGULAR_ABOVE`."""
        low, high = self.range
        return bool(array_namespace(low).all(low > REGULAR_ABOVE * high))

    @cached_property
    def iterative(self) -> Array:
        """Mask of the problems, (B,), that conjugate gradients solve more quickly."""
        low, high = self._known_range
        return high < _CONDITION * low if self.factor is None else low <= high

    def factor_with(self, leading: Array) -> Factor | None:
        """Return the factor if the mask (B, n), nowhere empty, is that of its leading examples."""
        factor = self._through
        if factor is None or not bool(
            (factor.leading > 0).all() and (factor.leads == leading).all()
        ):
            return None
        return factor

    def times(self, rows: Array) -> Array:
        """Return Ga for each of the rows a of (B, m, n)."""
        if self._through is not None:
            return self._through.times(rows)
        transpose = array_namespace(rows).matrix_transpose
        return transpose(self.dense @ transpose(rows))

    def norms(self, rows: Array) -> Array:
        """Return ‖Xᵀa‖₂ = √(aᵀGa) for each of the rows a of (B, m, n), (B, m)."""
        if self._through is not None:
            return self._through.norms(rows)
        xp = array_namespace(rows)
        square = xp.sum(rows * self.times(rows), axis=-1)
        return root(square)

    def reach(self, slopes: Slopes, mask: Array) -> Array:
        """Return bounds R on how far a prediction moves for a unit of movement, (B, m, n).

        If the weights move by at most e in the norm of M⁻¹, M = Σ_k D_k G D_k, through residuals
        on the examples C, prediction (k, i) moves by at most e·‖(D_k G)_{C,i}‖ in that norm,
        which is at most √G_ii, and at most ‖(D_k G)_{C,i}‖₂/√(λ_min(G)·min_C S_ii).

        slopes: the D_k.   mask: (B, n), C.
        """
        by_length = self.lengths[:, None, :]
        xp = array_namespace(by_length)
        if self._through is not None:
            known = self._through.reach(mask)[:, None, :]
        else:
            inside = slopes.numbers(by_length) ** 2 if slopes.below else slopes.numbers(by_length)
            inside = inside * xp.astype(mask, by_length.dtype)[:, None, :]
            square = inside @ (self.dense * self.dense)
            floor = (self.smallest * slopes.least_crowd(by_length))[:, None, None]
            known = xp.sqrt(square / xp.where(floor > 0, floor, xp.ones_like(floor)))
            known = xp.where(floor > 0, known, xp.full_like(known, xp.inf))
        known = known * (1 + summation(self.examples, by_length))
        return xp.where(known < by_length, known, by_length)

    def solve(self, rows: Array) -> Array:
        """Return G⁻¹b for each of the rows b of (B, m, n); G must be positive definite."""
        if self._through is not None:
            return self._through.solve(rows)
        xp = array_namespace(rows)
        return self.solve_on(xp.ones_like(rows[:, 0, :]) > 0, rows)

    def solve_on(
        self, mask: Array, rows: Array, start: Array | None = None, rough: bool = False
    ) -> Array:
        """Return x with (Gx)_S = b_S and x = 0 off S, for each of the rows b of (B, m, n).

        By conjugate gradients where they are quick to come to an end, else by Cholesky with one
        step of refinement.   mask: (B, n), the sets S, on which G must be positive definite.
        start: (B, m, n), a guess.   rough: whether an error of relative size 1e-7 is welcome if
        that is cheaper.
        """
        tolerance = ROUGH if rough else None
        if self._through is not None:
            solution, solved = self._through.solve_on(mask, rows, start, tolerance)
            return solution if rough else self._mended(solution, solved, mask, rows)
        xp = array_namespace(rows)
        quick = self.iterative
        if not bool(xp.any(quick)):
            return self._factorised(mask, rows)
        if not bool(xp.all(quick)):
            solution = xp.zeros_like(rows)
            for some in (quick, ~quick):
                index = flatnonzero(some)
                guess = None if start is None else _taken(start, index)
                part = self.take(index).solve_on(
                    _taken(mask, index), _taken(rows, index), guess, rough
                )
                solution = placed(some, part, solution)
            return solution
        solution, solved = self._by_conjugate_gradients(mask, rows, start, tolerance)
        return solution if rough else self._mended(solution, solved, mask, rows)

    def _by_conjugate_gradients(
        self, mask: Array, rows: Array, start: Array | None, tolerance: float | None
    ) -> tuple[Array, Array]:
        if not is_numpy(rows) or rows.shape[:2] != (1, 1):
            return conjugate_gradients(self.times, mask, rows, self.size, start, tolerance)
        matrix, guess = self.dense[0], None if start is None else start[0, 0]
        solution, solved = conjugate_gradients_of_one(
            matrix.__matmul__, mask[0], rows[0, 0], float(self.size[0]), guess, tolerance
        )
        return solution[None, None], np.asarray([solved])

    def _mended(self, solution: Array, solved: Array, mask: Array, rows: Array) -> Array:
        """Return the solutions, those that are not `solved`, (B,), by Cholesky."""
        if bool(array_namespace(solved).all(solved)):
            return solution
        index = flatnonzero(~solved)
        part = self.take(index)._factorised(_taken(mask, index), _taken(rows, index))
        return placed(~solved, part, solution)

    def _factorised(self, mask: Array, rows: Array) -> Array:
        xp = array_namespace(rows)
        columns = solve_on(self.dense, mask, xp.matrix_transpose(rows))
        return xp.matrix_transpose(columns)

    def take(self, index: Array) -> Gram:
        """Return the matrices at the integer positions `index`, (K,), with what is known."""
        if self.factor is not None:
            chosen = Gram(factor=self.factor.take(to_numpy(index)))
        else:
            chosen = Gram(array_namespace(self.given).take(self.given, index, axis=0))
        for name in ("diagonal", "lengths", "eigenvalues", "range", "_cheap_range", "iterative"):
            if name in self.__dict__:
                chosen.__dict__[name] = _taken(self.__dict__[name], index)
        return chosen

    def to(self, backend: Backend) -> Gram:
        """Return the same matrices on `backend`; of a factor its product, formed there."""
        if self.factor is None:
            return Gram(backend.asarray(to_numpy(self.given)))
        if backend.name == "numpy":
            return self
        rows = backend.asarray(self.factor.in_order)
        return Gram(rows @ backend.namespace.matrix_transpose(rows))


def _around_the_middle(matrices: Array) -> tuple[Array, Array]:
    """Return t = tr(G)/n, (K,), and G − tI, (K, n, n)."""
    xp = array_namespace(matrices)
    middle = xp.mean(xp.linalg.diagonal(matrices), axis=-1)
    identity = xp.eye(matrices.shape[-1], dtype=matrices.dtype, device=matrices.device)
    return middle, matrices - middle[:, None, None] * identity


def _frobenius(matrices: Array) -> Array:
    """Return ‖·‖_F of matrices (K, n, n), (K,)."""
    xp = array_namespace(matrices)
    entries = xp.reshape(matrices, (matrices.shape[0], -1))
    return xp.sqrt(xp.vecdot(entries, entries))


def _range_by_squares(matrices: Array) -> tuple[Array, Array]:
    """Return bounds on the eigenvalues of G, (K, n, n), (K,) each: those of E⁴ are ≤ ‖E⁴‖_F."""
    middle, apart = _around_the_middle(matrices)
    error = summation(int(matrices.shape[-1]) ** 2, middle)
    square = apart @ apart
    size, size_of_square = _frobenius(apart), _frobenius(square)
    fourth = _frobenius(square @ square) * (1 + error) + error * size_of_square**2
    radius = root(root(fourth) + error * size**2) + error * (size + middle)
    return middle - radius, middle + radius


def _taken(known: Any, index: Array) -> Any:
    if isinstance(known, tuple):
        return tuple(_taken(each, index) for each in known)
    return array_namespace(known).take(known, index, axis=0)
