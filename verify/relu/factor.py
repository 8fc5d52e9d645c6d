"""Triangular factors of Gram matrices: products, solves and bounds in O(n²), on the host.

Gaussian examples are exchangeable, so a Gram matrix may be drawn in any order of theirs; with
the label class first, the leading block of L is the Cholesky factor of the class's own Gram
matrix, and the rows below say how far the other predictions move with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from verify.linear_algebra import blas, conjugate_gradients_of_one, lapack
from verify.tolerances import summation

Floats = NDArray[np.float64]

_SMALL = 0.9
"""Frobenius norm of D⁻¹L − I up to which it bounds the eigenvalues of LLᵀ."""


@dataclass(frozen=True, eq=False, repr=False)
class Factor:
    """G = LLᵀ of B problems, in an order of their examples with some of them leading.

    lower: (B, n, n), L, zero above the diagonal.   order: (B, n), the example of each row of L.
    leading: (B,), how many examples lead.
    """

    lower: Floats
    order: NDArray[np.int64]
    leading: NDArray[np.int64]

    @cached_property
    def place(self) -> NDArray[np.int64]:
        """The row of L of each example, (B, n)."""
        return np.argsort(self.order, axis=-1)

    @property
    def in_order(self) -> Floats:
        """The rows of L in the order of the examples, (B, n, n): R with RRᵀ = G."""
        return np.asarray(np.take_along_axis(self.lower, self.place[:, :, None], axis=1))

    @property
    def product(self) -> Floats:
        """G, (B, n, n)."""
        rows = self.in_order
        return np.asarray(rows @ rows.swapaxes(-2, -1))

    @cached_property
    def squared_norms(self) -> Floats:
        """G_ii, (B, n)."""
        return self._back(self._squares)

    @cached_property
    def _squares(self) -> Floats:
        """Squared norms of the rows of L, (B, n)."""
        return np.asarray(np.vecdot(self.lower, self.lower))

    @cached_property
    def leads(self) -> NDArray[np.bool_]:
        """Mask of the leading examples, (B, n)."""
        return np.asarray(self.place < self.leading[:, None])

    def root(self, rows: Floats) -> Floats:
        """Return Rz, RRᵀ = G, for each of the rows z of (B, m, n)."""

        def image(b: int, row: Floats) -> Floats:
            return _placed(_times_lower(self._upper(b), row), self.place[b])

        return self._each(rows, image)

    def times(self, rows: Floats) -> Floats:
        """Return Ga for each of the rows a of (B, m, n)."""

        def image(b: int, row: Floats) -> Floats:
            return _placed(_image(self._upper(b), row[self.order[b]]), self.place[b])

        return self._each(rows, image)

    def norms(self, rows: Floats) -> Floats:
        """Return √(aᵀGa) = ‖Lᵀa‖₂ for each of the rows a of (B, m, n), (B, m)."""

        def halved(b: int, row: Floats) -> Floats:
            return _times_upper(self._upper(b), row[self.order[b]])

        return np.asarray(np.linalg.vector_norm(self._each(rows, halved), axis=-1))

    def solve(self, rows: Floats) -> Floats:
        """Return G⁻¹b for each of the rows b of (B, m, n)."""

        def solved_one(b: int, row: Floats) -> Floats:
            upper = self._upper(b)
            solution = _solve_upper(upper, _solve_lower(upper, row[self.order[b]]))
            return _placed(solution, self.place[b])

        return self._each(rows, solved_one)

    def solve_on(
        self, mask: NDArray[np.bool_], rows: Floats, start: Floats | None, tolerance: float | None
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Return x with (Gx)_S = b_S and x = 0 off S for each of the rows b of (B, m, n).

        On the leading examples by two triangular solves, on other sets by conjugate gradients.
        mask: (B, n), the sets S.   start: (B, m, n), a guess.   tolerance: see
        `conjugate_gradients_of_one`. Returns the problems, (B,), that are solved beside x.
        """
        leading = np.all(mask == self.leads, axis=-1)
        solved, found = np.ones_like(leading), np.zeros_like(rows)
        for b, k in product(range(rows.shape[0]), range(rows.shape[1])):
            if leading[b]:
                found[b, k] = self.restored(b, self.forward(b, rows[b, k]))
                continue
            upper, order = self._upper(b), self.order[b]
            solution, ended = conjugate_gradients_of_one(
                partial(_image, upper),
                mask[b, order],
                rows[b, k, order],
                self.range[1][b],
                None if start is None else start[b, k, order],
                tolerance,
            )
            found[b, k] = solution[self.place[b]]
            solved[b] &= ended
        return found, solved

    def forward(self, b: int, row: Floats) -> Floats:
        """Return L⁻¹b on the leading examples of problem b and 0 after them, in the order of L.

        row: (n,), in the order of the examples. The trailing rows of L do not enter.
        """
        leading, forward = int(self.leading[b]), np.zeros_like(row)
        forward[:leading] = _solve_leading(
            self._upper(b), row[self.order[b, :leading]], transposed=True
        )
        return forward

    def complement(self, b: int, row: Floats, forward: Floats) -> Floats:
        """Return the right-hand side, (n − leading,), that eliminating the leading examples leaves.

        The matrix is then their Schur complement, see `trailing`.
        row: (n,), b in the order of the examples.   forward: L⁻¹b, see there.
        """
        leading = int(self.leading[b])
        explained = self.lower[b, leading:, :leading] @ forward[:leading]
        return np.asarray(row[self.order[b, leading:]] - explained)

    def restored(self, b: int, forward: Floats, rest: Floats | None = None) -> Floats:
        """Return the solution, (n,), of problem b in the order of the examples.

        forward: L⁻¹b on the leading examples.   rest: (n − leading,), the solution on the others,
        0 by default.
        """
        leading, solution = int(self.leading[b]), np.zeros_like(forward)
        right = forward[:leading]
        if rest is not None:
            right = right - rest @ self.lower[b, leading:, :leading]
            solution[leading:] = rest
        solution[:leading] = _solve_leading(self._upper(b), right, transposed=False)
        return np.asarray(solution[self.place[b]])

    def trailing(self, b: int) -> Factor:
        """The trailing block of L of problem b, a factor of the leading examples' Schur complement,
        with no examples leading. Its eigenvalues lie between the extreme ones of LLᵀ."""
        leading = int(self.leading[b])
        block = np.ascontiguousarray(self.lower[b, leading:, leading:])
        order = np.arange(block.shape[0])[None]
        trailing = Factor(block[None], order, np.zeros(1, dtype=np.int64))
        low, high = self.range
        trailing.__dict__.update(place=order, range=(low[b : b + 1], high[b : b + 1]))
        return trailing

    def others(self, b: int) -> NDArray[np.int64]:
        """The examples of problem b that do not lead, in the order of L, (n − leading,)."""
        return np.asarray(self.order[b, int(self.leading[b]) :])

    def reach(self, mask: NDArray[np.bool_]) -> Floats:
        """Return the norm of G_{i,C} in the norm of G_CC⁻¹, (B, n), an upper bound on it.

        Off the leading examples, where C lies among them, that is the norm of row i of L over
        the leading columns; else ∞, for nothing is known.
        """
        known = np.full(self.order.shape, np.inf)
        for b in np.flatnonzero(np.all(~mask | self.leads, axis=-1)):
            size = int(self.leading[b])
            rows = self.lower[b, size:, :size]
            known[b, size:] = np.sqrt(np.vecdot(rows, rows))
        return self._back(known)

    @cached_property
    def range(self) -> tuple[Floats, Floats]:
        """A lower bound on λ_min(G) and an upper bound on λ_max(G), (B,) each."""
        return self._bounded(np.full_like(self.leading, self.order.shape[-1]))

    @cached_property
    def leading_range(self) -> tuple[Floats, Floats]:
        """Bounds as `range`, of the leading examples alone."""
        return self._bounded(self.leading)

    def sharper(self, mask: NDArray[np.bool_], low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Return `low` and `high`, or the leading examples' where the mask holds no others."""
        among = np.all(~mask | self.leads, axis=-1)
        if not among.any():
            return low, high
        least, most = self.leading_range
        return np.where(among, np.maximum(low, least), low), np.where(
            among, np.minimum(high, most), high
        )

    def _bounded(self, sizes: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Bound the eigenvalues of LLᵀ for the leading block L of `sizes`, (B,), of each problem.

        With L = D(I + N), D diagonal: |‖(I+N)v‖ − ‖v‖| ≤ ‖N‖_F‖v‖. Where ‖N‖_F is not small,
        from the row and column sums of |L| and of the inverse of its comparison matrix, which
        bounds |L⁻¹| (Higham 2002, §8.3): ‖·‖₂² ≤ ‖·‖₁‖·‖_∞.
        """
        bounds = np.ones((len(sizes), 2))
        for b, size in enumerate(sizes.tolist()):
            if not size:
                continue
            diagonal = np.diagonal(self.lower[b])[:size]
            least, most = float(diagonal.min()), float(diagonal.max())
            whole, square = float(np.sum(self._squares[b, :size])), float(diagonal @ diagonal)
            error = summation(size * size, diagonal)
            off = np.sqrt(max(whole - square, 0.0) + error * whole) / least
            bounds[b] = (
                _comparison_range(self.lower[b, :size, :size])
                if off > _SMALL
                else ((least * (1 - off)) ** 2, (most * (1 + off)) ** 2)
            )
            bounds[b] *= 1.0 - error, 1.0 + error
        return bounds[:, 0], bounds[:, 1]

    def take(self, index: NDArray[np.int64]) -> Factor:
        """Return the factors at the integer positions `index`, (K,)."""
        return Factor(self.lower[index], self.order[index], self.leading[index])

    def _upper(self, b: int) -> Floats:
        """Lᵀ of problem b, (n, n), in the order of memory that BLAS takes."""
        return np.asarray(self.lower[b].T)

    def _back(self, values: Floats) -> Floats:
        """Return (B, n) in the order of the examples."""
        return np.asarray(np.take_along_axis(values, self.place, axis=-1))

    def _each(self, rows: Floats, function: Callable[[int, Floats], Floats]) -> Floats:
        """Apply a function of (problem, row) to every row, (B, m, n)."""
        found = np.empty_like(rows)
        for b in range(rows.shape[0]):
            for k in range(rows.shape[1]):
                found[b, k] = function(b, rows[b, k])
        return found


def _placed(values: Floats, place: NDArray[np.int64]) -> Floats:
    return np.asarray(values[place])


def _times_lower(upper: Floats, row: Floats) -> Floats:
    return np.asarray(blas().dtrmv(upper, row, lower=0, trans=1))


def _times_upper(upper: Floats, row: Floats) -> Floats:
    return np.asarray(blas().dtrmv(upper, row, lower=0, trans=0))


def _image(upper: Floats, row: Floats) -> Floats:
    """Return LLᵀ times a row, all in the order of L."""
    return _times_lower(upper, _times_upper(upper, row))


def _solve_lower(upper: Floats, row: Floats) -> Floats:
    return np.asarray(blas().dtrsv(upper, row, lower=0, trans=1))


def _solve_upper(upper: Floats, row: Floats) -> Floats:
    return np.asarray(blas().dtrsv(upper, row, lower=0, trans=0))


def _solve_leading(upper: Floats, right: Floats, transposed: bool) -> Floats:
    """Return the solution with the leading block of Lᵀ, or with its transpose, (leading,).

    Whole columns of Lᵀ are handed on, without a copy: LAPACK reads what it needs of them.
    """
    if not len(right):
        return right
    solution, _ = lapack().dtrtrs(upper[:, : len(right)], right, lower=0, trans=int(transposed))
    return np.asarray(solution)


def _comparison_range(lower: Floats) -> tuple[float, float]:
    """Bound the extreme eigenvalues of LLᵀ by sums of |L| and of a bound on |L⁻¹|."""
    size = np.abs(lower)
    largest = float(np.max(np.sum(size, axis=0)) * np.max(np.sum(size, axis=1)))
    np.negative(size, out=size)
    diagonal = np.arange(size.shape[0])
    size[diagonal, diagonal] = np.abs(lower[diagonal, diagonal])
    one = np.ones(size.shape[0])
    inverse = np.max(_solve_lower(size.T, one)) * np.max(_solve_upper(size.T, one))
    return 1.0 / float(inverse) if np.isfinite(inverse) else 0.0, largest
