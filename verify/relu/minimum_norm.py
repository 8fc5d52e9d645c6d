"""The global minimum of least ℓ2 norm for one neuron, by block pivoting on the dual (theory §5).

With S+ the examples of positive label and S− all others, the global minima of one neuron
interpolate S+ and predict at most 0 on S−:

    w⋆ = argmin ‖w‖²   subject to   X₊w = y₊,  X₋w ≤ 0.

In dual form w⋆ = Xᵀα⋆ with (Gα⋆)₊ = y₊, (Gα⋆)₋ ≤ 0, α⋆₋ ≤ 0, complementary. A *tight* set
F ⊂ S− of examples with (Gα⋆)_F = 0 determines α⋆ by one positive definite solve on S+ ∪ F.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from verify.arrays import Array, array_namespace, to_numpy
from verify.errors import InputError
from verify.linear_algebra import solve_on
from verify.relu.problem import Problem
from verify.tolerances import KKT, REGULAR_ABOVE

_PATIENCE = 3
"""Block exchanges allowed without progress before exchanges go one at a time."""

_EXCHANGES, _EXCHANGES_PER_EXAMPLE = 1_000, 10
"""Exchanges after which pivoting gives up, because one at a time can take exponentially many
(seen only at condition numbers above 1e7): `certified` then says no."""


@dataclass(frozen=True, eq=False, repr=False)
class MinimumNorm:
    """Minimum-norm global minima of B problems with one neuron.

    problem: what it solves.   duals: (B, 1, n), α⋆.   norm: (B,), ‖w⋆‖₂.
    tight: (B, n), the set F.
    kkt: (B, 4), relative residuals recomputed from the duals: primal equality
        max|(Gα)₊ − y₊|, primal inequality max((Gα)₋)₊, both over max|y|; dual sign max(α₋)₊
        over max|α|; complementarity max|α₋ (Gα)₋| over the product of the two scales.
    certified: (B,), all four at most `tolerances.KKT`: by convexity the optimum.
    """

    problem: Problem
    duals: Array
    norm: Array
    tight: Array
    kkt: Array

    def __repr__(self) -> str:
        certified = self.certified
        return f"MinimumNorm({certified.sum()} of {certified.size} certified)"

    @property
    def certified(self) -> np.ndarray[Any, Any]:
        """Mask of the solutions whose optimality conditions hold, (B,)."""
        return np.asarray(to_numpy(array_namespace(self.kkt).max(self.kkt, axis=-1)) <= KKT)


def minimum_norm(problem: Problem) -> MinimumNorm:
    """Return the minimum-norm global minima of `problem`, which must have one neuron of sign +1.

    Raises InputError where the Gram matrix is not positive definite, for m > 1 (no comparator
    is known for m > 2; the pair of m = 2 is not built yet), and for the sign −1.
    """
    _check(problem)
    positives = problem.positives
    tight = _pivot(problem.gram, problem.labels, positives)
    duals = _solve_on(problem.gram, problem.labels, positives, tight)
    predictions = (problem.gram @ duals[:, :, None])[:, :, 0]
    xp = array_namespace(duals)
    return MinimumNorm(
        problem=problem,
        duals=duals[:, None, :],
        norm=xp.sqrt(xp.sum(duals * predictions, axis=-1)),
        tight=tight,
        kkt=optimality_residuals(problem, duals),
    )


def optimality_residuals(problem: Problem, duals: Array) -> Array:
    """Return the four relative KKT residuals, (B, 4), of any proposed duals (B, n).

    Recomputed from the problem alone, whatever produced the duals; see `MinimumNorm.kkt`.
    """
    xp = array_namespace(duals)
    predictions = (problem.gram @ duals[:, :, None])[:, :, 0]
    positives, zero = problem.positives, xp.zeros_like(duals)

    def worst(values: Array) -> Array:
        return xp.max(values, axis=-1)

    def scale(values: Array) -> Array:
        size = worst(xp.abs(values))
        return xp.where(size > 0, size, xp.ones_like(size))

    labels, size = scale(problem.labels), scale(duals)
    above = xp.where(positives, zero, predictions)
    wrong_sign = xp.where(positives, zero, duals)
    return xp.stack(
        [
            worst(xp.where(positives, xp.abs(predictions - problem.labels), zero)) / labels,
            worst(xp.where(above > 0, above, zero)) / labels,
            worst(xp.where(wrong_sign > 0, wrong_sign, zero)) / size,
            worst(xp.abs(above * wrong_sign)) / (labels * size),
        ],
        axis=-1,
    )


def _check(problem: Problem) -> None:
    if problem.neurons != 1:
        raise InputError(
            f"problem has m={problem.neurons} neurons, expected 1: minimum_norm compares single "
            "neurons so far (neurons of one sign share the norm, theory §5)"
        )
    if bool(array_namespace(problem.signs).any(problem.signs != 1)):
        raise InputError("signs has -1, expected +1 for one neuron: negate the labels instead")
    lowest, highest = problem.eigenvalues[:, 0], problem.eigenvalues[:, -1]
    singular = to_numpy(lowest <= REGULAR_ABOVE * highest)
    if singular.any():
        position = int(np.flatnonzero(singular)[0])
        raise InputError(
            f"the Gram matrix of problem {position} is singular (smallest/largest eigenvalue "
            f"{float(lowest[position]):.2g}/{float(highest[position]):.2g}), expected positive "
            "definite: n > d, duplicated rows, or centred columns (the rows then sum to zero) "
            "make it so; drop duplicates, do not centre, or use fewer examples"
        )


def _solve_on(gram: Array, labels: Array, positives: Array, tight: Array) -> Array:
    """Return α, zero off S+ ∪ F, with (Gα)₊ = y₊ and (Gα)_F = 0, (B, n)."""
    xp = array_namespace(gram)
    right = xp.where(positives, labels, xp.zeros_like(labels))
    return solve_on(gram, positives | tight, right[:, :, None])[:, :, 0]


def _pivot(gram: Array, labels: Array, positives: Array) -> Array:
    """Return the tight sets F, (B, n), of the linear complementarity problem on S−.

    Block principal pivoting (Júdice and Pires 1994): exchange every infeasible index at
    once; if that has not lowered their number for a while, only the last one (Murty's rule),
    which terminates because the Schur complement on S− is a P-matrix.
    """
    xp = array_namespace(gram)
    n, batch = int(gram.shape[-1]), int(gram.shape[0])
    host_positives = to_numpy(positives)
    tight = np.zeros((batch, n), dtype=bool)
    fewest = np.full(batch, n + 1)
    patience = np.full(batch, _PATIENCE)
    open_ = np.flatnonzero((~host_positives).any(axis=-1) & host_positives.any(axis=-1))
    for _ in range(_EXCHANGES + _EXCHANGES_PER_EXAMPLE * n):
        if not open_.size:
            break
        index = xp.asarray(open_, device=gram.device)
        sub_gram, sub_labels = xp.take(gram, index, axis=0), xp.take(labels, index, axis=0)
        current = xp.asarray(tight[open_], device=gram.device)
        sub_positives = xp.take(positives, index, axis=0)
        duals = _solve_on(sub_gram, sub_labels, sub_positives, current)
        predictions = (sub_gram @ duals[:, :, None])[:, :, 0]
        infeasible = to_numpy(_infeasible(duals, predictions, sub_labels, current, sub_positives))
        count = infeasible.sum(axis=-1)
        better = count < fewest[open_]
        fewest[open_] = np.where(better, count, fewest[open_])
        patience[open_] = np.where(better, _PATIENCE, patience[open_] - 1)
        single = patience[open_] < 0
        last = n - 1 - np.argmax(infeasible[:, ::-1], axis=-1)
        only_last = infeasible & (np.arange(n) == last[:, None])
        tight[open_] ^= np.where(single[:, None], only_last, infeasible)
        open_ = open_[count > 0]
    return xp.asarray(tight, device=gram.device)


def _infeasible(
    duals: Array, predictions: Array, labels: Array, tight: Array, positives: Array
) -> Array:
    """Return the mask of examples of S− that violate their sign, beyond rounding, (B, n)."""
    xp = array_namespace(duals)
    rounding = 16 * duals.shape[-1] * float(xp.finfo(duals.dtype).eps)
    dual_scale = xp.max(xp.abs(duals), axis=-1, keepdims=True)
    label_scale = xp.max(xp.abs(labels), axis=-1, keepdims=True)
    wrong_dual = tight & (duals > rounding * dual_scale)
    wrong_prediction = ~tight & (predictions > rounding * label_scale)
    return ~positives & (wrong_dual | wrong_prediction)
