"""The global minimum of least ℓ2 norm, for one neuron and for two of opposite sign (theory §5).

The global minima of one neuron of output sign s interpolate the examples of its label class,
s·y_i > 0, and predict at most 0 on all others:

    w⋆ = argmin ‖w‖²   subject to   w·x_i = |y_i| on the class,  w·x_i ≤ 0 elsewhere.

In dual form w⋆ = Xᵀα⋆, where α⋆ ≤ 0 off the class. Two neurons of opposite sign *decouple* where
each may be solved alone: the pair is then the global minimum of least ‖w⊕‖² + ‖w⊖‖². That is so
if α⊕⋆ + α⊖⋆ ≥ 0 in every component, and only if the convex relaxation of `verify.relu.pair` is
tight [D]; else there is a bracket.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from verify.arrays import Array, array_namespace, to_numpy
from verify.errors import InputError
from verify.linear_algebra import root
from verify.relu.least_norm import LeastNorm
from verify.relu.pair import MOST_ENUMERATED, enumerate_modes, relaxation
from verify.relu.problem import Problem, require_problem
from verify.tolerances import IDENTITY, KKT, REGULAR_ABOVE


@dataclass(frozen=True, eq=False, repr=False)
class MinimumNorm:
    """Minimum-norm global minima of B problems with one neuron, or with two of opposite sign.

    problem: what it solves.   duals: (B, m, n), α⋆ of each neuron: of the best global minimum
        found, whose norm is the upper end of the bracket.
    norm: (B,), √Σ_k ‖w_k⋆‖².
    kkt: (B, 4), relative residuals of the optimality conditions, recomputed from the duals:
        primal equality and inequality, dual sign, complementarity; see `LeastNorm.residuals`.
    bracket: (B, 2), a lower and an upper bound on the least norm of a global minimum, widened by
        the rounding error of the solutions.
    settled: (B,), whether the duals are the optimum: of one neuron always, of two where they
        agree, or where trying all choices of active neurons leaves no other.
    decoupled_norm: (B,), the norm of the neurons solved alone: larger than `norm` where trying
        all choices of active neurons found less.
    agreement: (B,), min_i (α⊕⋆ + α⊖⋆)_i over max|α⋆| of two neurons solved alone: they are the
        optimum exactly where it is ≥ 0 [D]; ∞ for one neuron.
    """

    problem: Problem
    duals: Array
    norm: Array
    kkt: Array
    bracket: Array
    settled: np.ndarray[Any, Any]
    decoupled_norm: Array
    agreement: Array

    def __repr__(self) -> str:
        certified = self.certified
        return f"MinimumNorm({certified.sum()} of {certified.size} certified)"

    @property
    def decoupled(self) -> np.ndarray[Any, Any]:
        """Mask of the problems where no global minimum has less norm than the neurons solved alone,
        as far as is known, (B,)."""
        return np.asarray(to_numpy(self.norm) >= (1 - IDENTITY) * to_numpy(self.decoupled_norm))

    @property
    def certified(self) -> np.ndarray[Any, Any]:
        """Mask of the solutions that are the optimum, (B,): settled, and the optimality conditions
        hold to `tolerances.KKT`. How exactly the norm is known is for the bracket to say."""
        holds = to_numpy(array_namespace(self.kkt).max(self.kkt, axis=-1)) <= KKT
        return np.asarray(holds & self.settled)


def minimum_norm(problem: Problem) -> MinimumNorm:
    """Return the minimum-norm global minima of one neuron, or of two of opposite sign.

    Two neurons: each is solved alone, and where that is not seen to be the optimum, the convex
    relaxation gives the bracket's lower end; with n ≤ 10 trying all 2ⁿ choices of which neurons
    are active closes it.

    Raises InputError for what is no Problem, where the Gram matrix is not positive definite, and
    for other neurons: no comparator is known for them (those of one sign share the norm, theory
    §5).
    """
    require_problem(problem)
    problem.require_one_neuron_a_class(
        "neurons of one sign share the norm, and no comparator is known for them"
    )
    require_regular(problem)
    best = _solved_alone(problem)
    if problem.neurons == 1:
        return _widened(best)
    agreement = to_numpy(best.agreement)
    coupled = np.flatnonzero(
        (agreement < to_numpy(problem.inner_products.solve_error)) & (agreement != 0)
    )
    return _widened(_bracketed(best, coupled) if coupled.size else best)


def optimality_residuals(problem: Problem, duals: Array) -> Array:
    """Return the relative KKT residuals, (B, 4), of proposed duals (B, m, n), solved alone.

    The worst of all neurons, recomputed from the problem alone, whatever produced the duals.
    """
    xp = array_namespace(duals)
    worst = [
        alone(problem, k).residuals(mirror(problem, k) * duals[:, k, :])
        for k in range(problem.neurons)
    ]
    return xp.max(xp.stack(worst, axis=0), axis=0)


def require_regular(problem: Problem) -> None:
    """Raise InputError where the Gram matrix is not positive definite."""
    if not problem.inner_products.regular:
        lowest, highest = problem.inner_products.range
        singular = to_numpy(lowest <= REGULAR_ABOVE * highest)
        position = int(np.flatnonzero(singular)[0])
        raise InputError(
            f"the Gram matrix of problem {position} is singular (smallest/largest eigenvalue "
            f"{float(lowest[position]):.2g}/{float(highest[position]):.2g}), expected positive "
            "definite: n > d, duplicated rows, or centred columns (the rows then sum to zero) "
            "make it so; drop duplicates, do not centre, or use fewer examples"
        )


def mirror(problem: Problem, neuron: int) -> Array:
    """Return +1 on the neuron's label class and −1 elsewhere, (B, n)."""
    xp = array_namespace(problem.labels)
    own, one = problem.label_classes[:, neuron, :], xp.ones_like(problem.labels)
    return xp.where(own, one, -one)


def alone(problem: Problem, neuron: int, anchor: Array | None = None) -> LeastNorm:
    """Return the program of one neuron: w·x = |y| on its label class, −w·x ≥ 0 elsewhere.

    anchor: (B, n), predictions of the weights w_a that w should be nearest to, by default the
    origin's; the program is then that of w − w_a.
    """
    xp = array_namespace(problem.labels)
    own, side = problem.label_classes[:, neuron, :], mirror(problem, neuron)
    bound = xp.where(own, xp.abs(problem.labels), xp.zeros_like(problem.labels))
    bound = bound if anchor is None else bound - side * anchor
    return LeastNorm(problem.inner_products, side, bound, own, ~own)


def _solved_alone(problem: Problem) -> MinimumNorm:
    """Return each neuron's own least-norm global minimum, as if that were the optimum."""
    xp = array_namespace(problem.labels)
    duals, squares, residuals = [], [], []
    for k in range(problem.neurons):
        program = alone(problem, k)
        multipliers = program.solve()
        image = program.image(multipliers)
        duals.append(program.side * multipliers)
        squares.append(xp.vecdot(multipliers, image))
        residuals.append(program.residuals(multipliers, image))
    stacked = xp.stack(duals, axis=1)
    square = xp.sum(xp.stack(squares, axis=0), axis=0)
    norm = root(square)
    return MinimumNorm(
        problem=problem,
        duals=stacked,
        norm=norm,
        kkt=xp.max(xp.stack(residuals, axis=0), axis=0),
        bracket=xp.stack([norm, norm], axis=-1),
        settled=np.ones(problem.batch, dtype=bool),
        decoupled_norm=norm,
        agreement=_agreement(stacked),
    )


def _norm(problem: Problem, duals: Array) -> Array:
    """Return √Σ_k α_kᵀGα_k, (B,)."""
    xp = array_namespace(duals)
    square = xp.sum(duals * problem.inner_products.times(duals), axis=(1, 2))
    return root(square)


def _agreement(duals: Array) -> Array:
    """Return min_i (α⊕⋆ + α⊖⋆)_i over max|α⋆|, (B,); ∞ for one neuron."""
    xp = array_namespace(duals)
    size = xp.max(xp.abs(duals), axis=(1, 2))
    if duals.shape[1] == 1:
        return xp.full_like(size, xp.inf)
    return xp.min(xp.sum(duals, axis=1), axis=-1) / xp.where(size > 0, size, 0 * size + 1)


def _bracketed(best: MinimumNorm, coupled: np.ndarray[Any, Any]) -> MinimumNorm:
    """Return the pairs with a lower bound, or the true optimum, at the positions `coupled`."""
    xp = array_namespace(best.duals)
    index = xp.asarray(coupled, device=best.duals.device)
    problem = best.problem.select(index)
    alone, duals = xp.take(best.norm, index, axis=0), xp.take(best.duals, index, axis=0)
    kkt = xp.take(best.kkt, index, axis=0)
    square = relaxation(problem)
    smaller = alone < 0
    if problem.examples <= MOST_ENUMERATED:
        found, residuals, least = enumerate_modes(problem)
        square = xp.where(least > square, least, square)
        smaller = _norm(problem, found) < alone * (1 - IDENTITY)
        duals = xp.where(smaller[:, None, None], found, duals)
        kkt = xp.where(smaller[:, None], residuals, kkt)
    norm = _norm(problem, duals)
    low = root(square)
    bracket = xp.stack([xp.where(low < norm, low, norm), norm], axis=-1)
    settled = best.settled.copy()
    apart = to_numpy(xp.abs(low - norm) / xp.where(norm > 0, norm, 0 * norm + 1))
    settled[coupled] = apart <= IDENTITY + to_numpy(problem.inner_products.solve_error)

    def placed(everywhere: Array, there: Array) -> Array:
        host = to_numpy(everywhere).copy()
        host[coupled] = to_numpy(there)
        return xp.asarray(host, device=best.duals.device)

    return replace(
        best,
        duals=placed(best.duals, duals),
        norm=placed(best.norm, norm),
        kkt=placed(best.kkt, kkt),
        bracket=placed(best.bracket, bracket),
        settled=settled,
    )


def _widened(best: MinimumNorm) -> MinimumNorm:
    """Return the same with the ends of the bracket moved apart by their rounding error."""
    xp = array_namespace(best.bracket)
    error = best.problem.inner_products.solve_error
    low = best.bracket[:, 0] * xp.where(error < 1, 1 - error, 0 * error)
    return replace(best, bracket=xp.stack([low, best.bracket[:, 1] * (1 + error)], axis=-1))
