"""The point of least norm of a polyhedron, by block pivoting on the dual (theory §5) [D].

    minimise ‖z‖²   subject to   (Az − b)_E = 0,  (Az − b)_I ≥ 0.

In dual form z = Aᵀμ with K = AAᵀ: (Kμ − b)_E = 0, (Kμ − b)_I ≥ 0, μ_I ≥ 0, complementary. An
*active* set F ⊂ I of inequalities met with equality determines μ by one positive definite solve
on E ∪ F. The rows of A are ± rows of a matrix X whose Gram matrix is known, K = S XXᵀ S.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from verify.arrays import Array, array_namespace, flatnonzero, placed
from verify.relu.factor import Factor
from verify.relu.gram import ROUGH, Gram
from verify.tolerances import epsilon

_PATIENCE = 3
"""Block exchanges allowed without progress before exchanges go one at a time."""

_ROUGH_EXCHANGES = 6
"""Block exchanges on rough solutions, before the exact ones."""

_EXCHANGES, _EXCHANGES_PER_CONSTRAINT = 1_000, 10
"""Exchanges after which pivoting gives up, because one at a time can take exponentially many
(ill-conditioned matrices only): the residuals then say so."""


@dataclass(frozen=True, eq=False)
class LeastNorm:
    """B least-norm programs of N constraints each, some of which may be left out.

    gram: XXᵀ, (B, N, N), positive definite.   side: (B, N), ±1, the diagonal of S.
    bound: (B, N), b.
    equality, inequality: (B, N), the disjoint masks E and I; the other constraints are not there.
    """

    gram: Gram
    side: Array
    bound: Array
    equality: Array
    inequality: Array

    def solve(self) -> Array:
        """Return the multipliers μ, (B, N), zero where a constraint is slack or not there.

        Block principal pivoting (Júdice and Pires 1994), first on rough solutions where those
        are cheaper: they may choose another way to the active set, not another active set.
        """
        factor = self.gram.factor_with(self.equality)
        if factor is not None:
            return np.stack([self._eliminated(factor, b) for b in range(len(self.bound))])
        xp = array_namespace(self.bound)
        free = ~xp.any(self.equality, axis=-1)
        active = self.inequality & free[:, None] & (self.bound > 0)  # violated where μ = 0
        multipliers = None
        if bool(xp.any(self.gram.iterative)):
            active, multipliers = self._pivoted(active, None, _ROUGH_EXCHANGES, rough=True)
        most = _EXCHANGES + _EXCHANGES_PER_CONSTRAINT * int(self.bound.shape[-1])
        return self._pivoted(active, multipliers, most)[1]

    def _eliminated(self, factor: Factor, b: int) -> Array:
        """Return the multipliers of program b, (N,), whose equalities lead in the factor.

        They are eliminated: what is left is a program of inequalities alone, with the Schur
        complement of the equalities, which is that of the factor's trailing block.
        """
        right = self.side[b] * self.bound[b]
        forward = factor.forward(b, right)
        others = factor.others(b)
        side, there = self.side[b : b + 1, others], self.inequality[b : b + 1, others]
        bound = side * factor.complement(b, right, forward)
        rest = LeastNorm(Gram(factor=factor.trailing(b)), side, bound, there & ~there, there)
        multipliers = (side * rest.solve())[0] if len(others) else None
        return self.side[b] * factor.restored(b, forward, multipliers)

    def _pivoted(
        self, active: Array, start: Array | None, most: int, rough: bool = False
    ) -> tuple[Array, Array]:
        """Exchange infeasible indices until there are none, or `most` times; return F and μ.

        All of them at once; if that has not lowered their number for a while, only the last one
        (Murty's rule), which terminates because the Schur complement on I is a P-matrix.

        active: (B, N), the F to begin with.   start: a guess of μ.   rough: see `Gram.solve_on`;
        what is returned is then a place to begin from.
        """
        xp = array_namespace(self.bound)
        size, where = int(self.bound.shape[-1]), self.bound.device
        places = xp.arange(size, device=where)
        program, multipliers = self, start
        open_ = None
        fewest = xp.full((self.bound.shape[0],), size + 1, dtype=xp.int64, device=where)
        patience = xp.full_like(fewest, _PATIENCE)
        left = fewest > 0
        ended = None
        for _ in range(most):
            found = program._multipliers(active, multipliers, rough)
            multipliers = found if open_ is None else xp.where(open_[:, None], found, multipliers)
            wrong = program._infeasible(active, multipliers, rough)
            count = xp.sum(xp.astype(wrong, xp.int64), axis=-1)
            open_ = count > 0
            still = int(xp.sum(xp.astype(open_, xp.int64)))
            if not still:
                break
            if 2 * still <= int(open_.shape[0]):
                ended = _settled(left, active, multipliers, ended)
                left, index = placed(left, open_, left), flatnonzero(open_)
                program, active, multipliers, wrong, count, open_, fewest, patience = (
                    _taken(each, index)
                    for each in (
                        program,
                        active,
                        multipliers,
                        wrong,
                        count,
                        open_,
                        fewest,
                        patience,
                    )
                )
            better = count < fewest
            fewest = xp.where(better, count, fewest)
            patience = xp.where(better, xp.full_like(patience, _PATIENCE), patience - 1)
            last = xp.max(xp.where(wrong, places, xp.zeros_like(places)), axis=-1)
            active = active ^ (wrong & ((patience >= 0)[:, None] | (places == last[:, None])))
        return _settled(left, active, multipliers, ended)

    def value(self, multipliers: Array) -> Array:
        """Return the dual value 2bᵀμ − μᵀKμ, (B,): at most the least ‖z‖², for any multipliers.

        Negative ones of inequalities are taken for zero.
        """
        xp = array_namespace(multipliers)
        wrong = ~self.equality & (multipliers < 0)
        signed = xp.where(wrong, xp.zeros_like(multipliers), multipliers)
        return xp.sum(signed * (2 * self.bound - self.image(signed)), axis=-1)

    def residuals(self, multipliers: Array, image: Array | None = None) -> Array:
        """Return the four relative Karush–Kuhn–Tucker residuals, (B, 4), of any multipliers.

        image: Kμ, (B, N), where it is known.

        Equality max|(Kμ − b)_E| and inequality max((b − Kμ)_I)₊, over max|b|; sign max(−μ_I)₊
        over max|μ|; complementarity max|μ_I (Kμ − b)_I| over the product of the two scales.
        """
        xp = array_namespace(multipliers)
        zero = xp.zeros_like(multipliers)
        slack = (self.image(multipliers) if image is None else image) - self.bound
        loose = xp.where(self.inequality, slack, zero)
        signed = xp.where(self.inequality, multipliers, zero)
        bound, size = _scale(self.bound), _scale(multipliers)
        worst = [
            xp.max(xp.where(self.equality, xp.abs(slack), zero), axis=-1) / bound,
            xp.maximum(-xp.min(loose, axis=-1), 0 * bound) / bound,
            xp.maximum(-xp.min(signed, axis=-1), 0 * size) / size,
            xp.max(xp.abs(loose * signed), axis=-1) / (bound * size),
        ]
        return xp.stack(worst, axis=-1)

    def image(self, multipliers: Array) -> Array:
        """Return Kμ, (B, N)."""
        return self.side * self.gram.times((self.side * multipliers)[:, None, :])[:, 0, :]

    def _multipliers(self, active: Array, start: Array | None = None, rough: bool = False) -> Array:
        """Return μ, zero off E ∪ F, with (Kμ)_E∪F = b_E∪F, (B, N).

        start: a guess.   rough: see `Gram.solve_on`.
        """
        guess = None if start is None else (self.side * start)[:, None, :]
        rows = (self.side * self.bound)[:, None, :]
        found = self.gram.solve_on(self.equality | active, rows, guess, rough)
        return self.side * found[:, 0, :]

    def _infeasible(self, active: Array, multipliers: Array, rough: bool) -> Array:
        """Return the mask of inequalities that violate their sign, beyond their error, (B, N).

        The error of Kμ is relative to its terms, or, where μ is rough, to the residual left.
        """
        xp = array_namespace(active)
        slack = self.image(multipliers) - self.bound
        highest, norm = self.gram.size, xp.linalg.vector_norm
        if rough:
            error = 2 * ROUGH * norm(self.bound, axis=-1)
        else:
            reach = highest * norm(multipliers, axis=-1) + _scale(self.bound)
            error = 16 * sqrt(int(slack.shape[-1])) * epsilon(slack) * reach
        size = error / xp.where(highest > 0, highest, xp.ones_like(highest))
        wrong_sign = active & (multipliers < -size[:, None])
        violated = ~active & (slack < -error[:, None])
        return self.inequality & (wrong_sign | violated)

    def take(self, index: Array) -> LeastNorm:
        """Return the programs at the integer positions `index`, (K,)."""
        arrays = (self.side, self.bound, self.equality, self.inequality)
        return LeastNorm(self.gram.take(index), *(_taken(array, index) for array in arrays))


def _settled(
    left: Array, active: Array, multipliers: Array, ended: tuple[Array, Array] | None
) -> tuple[Array, Array]:
    """Return F and μ of all programs: those of the programs `left`, (B,), and of the others."""
    if ended is None:
        return active, multipliers
    return placed(left, active, ended[0]), placed(left, multipliers, ended[1])


def _taken(what: Any, index: Array) -> Any:
    if isinstance(what, LeastNorm):
        return what.take(index)
    return array_namespace(what).take(what, index, axis=0)


def _scale(values: Array) -> Array:
    """Return the largest absolute value of each row, 1 where it is zero, (B,)."""
    xp = array_namespace(values)
    size = xp.max(xp.abs(values), axis=-1)
    return xp.where(size > 0, size, xp.ones_like(size))
