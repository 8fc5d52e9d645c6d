"""The point of least norm of a polyhedron, by block pivoting on the dual (theory §5) [D].

    minimise ‖z‖²   subject to   (Az − b)_E = 0,  (Az − b)_I ≥ 0.

In dual form z = Aᵀμ with K = AAᵀ: (Kμ − b)_E = 0, (Kμ − b)_I ≥ 0, μ_I ≥ 0, complementary. An
*active* set F ⊂ I of inequalities met with equality determines μ by one positive definite solve
on E ∪ F.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from verify.arrays import Array, array_namespace, to_numpy
from verify.linear_algebra import solve_on

_PATIENCE = 3
"""Block exchanges allowed without progress before exchanges go one at a time."""

_EXCHANGES, _EXCHANGES_PER_CONSTRAINT = 1_000, 10
"""Exchanges after which pivoting gives up, because one at a time can take exponentially many
(ill-conditioned matrices only): the residuals then say so."""


@dataclass(frozen=True, eq=False)
class LeastNorm:
    """B least-norm programs of N constraints each, some of which may be left out.

    matrix: (B, N, N), K = AAᵀ, positive definite.   bound: (B, N), b.
    equality, inequality: (B, N), the disjoint masks E and I; the other constraints are not there.
    """

    matrix: Array
    bound: Array
    equality: Array
    inequality: Array

    def solve(self) -> Array:
        """Return the multipliers μ, (B, N), zero where a constraint is slack or not there."""
        return self._multipliers(self._active_set())

    def value(self, multipliers: Array) -> Array:
        """Return the dual value 2bᵀμ − μᵀKμ, (B,): at most the least ‖z‖², for any multipliers.

        Negative ones of inequalities are taken for zero.
        """
        xp = array_namespace(multipliers)
        wrong = ~self.equality & (multipliers < 0)
        signed = xp.where(wrong, xp.zeros_like(multipliers), multipliers)
        return xp.sum(signed * (2 * self.bound - self._image(signed)), axis=-1)

    def residuals(self, multipliers: Array) -> Array:
        """Return the four relative Karush–Kuhn–Tucker residuals, (B, 4), of any multipliers.

        Equality max|(Kμ − b)_E| and inequality max((b − Kμ)_I)₊, over max|b|; sign max(−μ_I)₊
        over max|μ|; complementarity max|μ_I (Kμ − b)_I| over the product of the two scales.
        """
        xp = array_namespace(multipliers)
        zero = xp.zeros_like(multipliers)
        slack = self._image(multipliers) - self.bound
        loose = xp.where(self.inequality, slack, zero)
        signed = xp.where(self.inequality, multipliers, zero)
        bound, size = _scale(self.bound), _scale(multipliers)
        worst = [
            xp.max(xp.where(self.equality, xp.abs(slack), zero), axis=-1) / bound,
            xp.max(xp.where(loose < 0, -loose, zero), axis=-1) / bound,
            xp.max(xp.where(signed < 0, -signed, zero), axis=-1) / size,
            xp.max(xp.abs(loose * signed), axis=-1) / (bound * size),
        ]
        return xp.stack(worst, axis=-1)

    def _image(self, multipliers: Array) -> Array:
        """Return Kμ, (B, N)."""
        return (self.matrix @ multipliers[:, :, None])[:, :, 0]

    def _multipliers(self, active: Array) -> Array:
        """Return μ, zero off E ∪ F, with (Kμ)_E∪F = b_E∪F, (B, N)."""
        return solve_on(self.matrix, self.equality | active, self.bound[:, :, None])[:, :, 0]

    def _active_set(self) -> Array:
        """Return the active sets F, (B, N), of the linear complementarity problem on I.

        Block principal pivoting (Júdice and Pires 1994): exchange every infeasible index at
        once; if that has not lowered their number for a while, only the last one (Murty's rule),
        which terminates because the Schur complement on I is a P-matrix.
        """
        xp = array_namespace(self.matrix)
        batch, size = (int(length) for length in self.bound.shape)
        active = np.zeros((batch, size), dtype=bool)
        fewest = np.full(batch, size + 1)
        patience = np.full(batch, _PATIENCE)
        open_ = np.flatnonzero(to_numpy(xp.any(self.bound != 0, axis=-1)))
        for _ in range(_EXCHANGES + _EXCHANGES_PER_CONSTRAINT * size):
            if not open_.size:
                break
            part = self._take(open_)
            current = xp.asarray(active[open_], device=self.matrix.device)
            infeasible = to_numpy(part._infeasible(current))
            count = infeasible.sum(axis=-1)
            better = count < fewest[open_]
            fewest[open_] = np.where(better, count, fewest[open_])
            patience[open_] = np.where(better, _PATIENCE, patience[open_] - 1)
            single = patience[open_] < 0
            last = size - 1 - np.argmax(infeasible[:, ::-1], axis=-1)
            only_last = infeasible & (np.arange(size) == last[:, None])
            active[open_] ^= np.where(single[:, None], only_last, infeasible)
            open_ = open_[count > 0]
        return xp.asarray(active, device=self.matrix.device)

    def _infeasible(self, active: Array) -> Array:
        """Return the mask of inequalities that violate their sign, beyond rounding, (B, N)."""
        xp = array_namespace(active)
        multipliers = self._multipliers(active)
        rounding = 16 * self.bound.shape[-1] * float(xp.finfo(multipliers.dtype).eps)
        slack = self._image(multipliers) - self.bound
        # Errors of Kμ are of the size of its terms, which may be far above that of b.
        terms = xp.abs(self.matrix) @ xp.abs(multipliers)[:, :, None]
        reach = xp.max(terms[:, :, 0], axis=-1) + _scale(self.bound)
        size = reach / xp.max(xp.linalg.diagonal(self.matrix), axis=-1)
        wrong_sign = active & (multipliers < -rounding * size[:, None])
        violated = ~active & (slack < -rounding * reach[:, None])
        return self.inequality & (wrong_sign | violated)

    def _take(self, positions: np.ndarray) -> LeastNorm:
        """Return the programs at the integer `positions`, (K,)."""
        xp = array_namespace(self.matrix)
        index = xp.asarray(positions, device=self.matrix.device)
        arrays = (self.matrix, self.bound, self.equality, self.inequality)
        return LeastNorm(*(xp.take(array, index, axis=0) for array in arrays))


def _scale(values: Array) -> Array:
    """Return the largest absolute value of each row, 1 where it is zero, (B,)."""
    xp = array_namespace(values)
    size = xp.max(xp.abs(values), axis=-1)
    return xp.where(size > 0, size, xp.ones_like(size))
