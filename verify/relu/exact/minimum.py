"""Global minima over the rationals: of least norm, and nearest to the start (theory §5).

A global minimum of one neuron of output sign s interpolates its label class, w·x_i = |y_i| where
s·y_i > 0, and predicts at most 0 elsewhere. The one nearest to an anchor a is a + Xᵀα with
α ≤ 0 off the class, α_i = 0 wherever the prediction is below 0: optimality conditions with one
solution where the Gram matrix is positive definite, found by pivoting and then checked.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq, fmpq_mat

from verify.exact import NotDecided
from verify.relu.exact.problem import ExactProblem
from verify.relu.exact.rational import block, column, row, square

_AT_ONCE = 8
"""Rounds in which every example at fault changes sides; after them only the first one does."""


@dataclass(frozen=True, eq=False)
class ExactMinimum:
    """The global minimum nearest to an anchor, each neuron by itself.

    duals: (m, n), data-span coefficients of what is added to the anchor.
    predictions: (m, n).   square: Σ_k of the squared distances from the anchor.
    """

    duals: fmpq_mat
    predictions: fmpq_mat
    square: fmpq

    @property
    def agreement(self) -> fmpq:
        """min_i Σ_k α_{k,i}: two neurons of opposite sign, of least norm each by itself, are the
        global minimum of least norm where it is ≥ 0, if no label is zero (theory §5) [D]."""
        neurons, examples = self.duals.nrows(), self.duals.ncols()
        return min(
            sum((self.duals[k, i] for k in range(neurons)), start=fmpq(0)) for i in range(examples)
        )


def minimum_norm(problem: ExactProblem) -> ExactMinimum:
    """Return the global minimum of least norm: α⋆, and ‖w⋆‖² as `square`.

    Two neurons of opposite sign are solved each by itself; see `ExactMinimum.agreement`.
    Raises NotDecided where the Gram matrix is singular, and for neurons that share a sign.
    """
    return _once(problem, "minimum_norm", fmpq_mat(problem.neurons, problem.examples))


def nearest_minimum(problem: ExactProblem) -> ExactMinimum:
    """Return the global minimum w̃ nearest to the starting weights: the coefficients of w̃ − w_0,
    and ‖w̃ − w_0‖² as `square`. It keeps the start's part outside the span of the data.

    Two neurons of opposite sign are solved each by itself. Raises NotDecided as `minimum_norm`.
    """
    return _once(problem, "nearest_minimum", problem.start)


def is_optimal(
    gram: fmpq_mat, anchor: list[fmpq], target: list[fmpq], own: list[bool], duals: list[fmpq]
) -> bool:
    """Say whether `duals` satisfy the optimality conditions of the point nearest to the anchor.

    anchor: its predictions, n.   target: |y|, n, on the class `own`.
    """
    beta = _predictions(gram, anchor, duals)
    return all(
        beta[i] == target[i] if own[i] else beta[i] <= 0 >= duals[i] and beta[i] * duals[i] == 0
        for i in range(len(own))
    )


def _once(problem: ExactProblem, name: str, anchor: fmpq_mat) -> ExactMinimum:
    """Return the global minimum nearest to weights with these predictions, computed once."""
    if name not in problem.known:
        if not problem.regular:
            raise NotDecided(
                "the Gram matrix is singular, so the nearest global minimum has no single dual form"
            )
        if problem.neurons > 2 or len(set(problem.signs)) != problem.neurons:
            raise NotDecided(
                f"signs={problem.signs}: neurons of one sign share the norm, and no comparator is "
                "known for them"
            )
        problem.known[name] = _nearest(problem, anchor)
    found: ExactMinimum = problem.known[name]
    return found


def _nearest(problem: ExactProblem, anchor: fmpq_mat) -> ExactMinimum:
    target = [abs(label) for label in problem.labels]
    duals = fmpq_mat(
        [
            _solve(problem.gram, row(anchor, k), target, list(problem.label_classes[k]))
            for k in range(problem.neurons)
        ]
    )
    return ExactMinimum(duals, anchor + duals * problem.gram, square(problem.gram, duals))


def _solve(gram: fmpq_mat, anchor: list[fmpq], target: list[fmpq], own: list[bool]) -> list[fmpq]:
    """Return the duals, by pivoting: block pivots first, then single ones of least index.

    Single principal pivots of the first index at fault end for a positive definite matrix, from
    whatever choice they start (Murty, Linear Complementarity, 1988, §4.1) [F].
    """
    n = len(own)
    tight = list(own)
    rounds = 0
    while True:
        duals = _on_the_tight(gram, anchor, target, own, tight)
        beta = _predictions(gram, anchor, duals)
        fault = [i for i in range(n) if not own[i] and (duals[i] > 0 if tight[i] else beta[i] > 0)]
        if not fault:
            break
        for i in fault if rounds < _AT_ONCE else fault[:1]:
            tight[i] = not tight[i]
        rounds += 1
    if not is_optimal(gram, anchor, target, own, duals):
        raise ArithmeticError("pivoting ended at coefficients that are not optimal")
    return duals


def _on_the_tight(
    gram: fmpq_mat, anchor: list[fmpq], target: list[fmpq], own: list[bool], tight: list[bool]
) -> list[fmpq]:
    """Return duals that are zero off `tight` and predict the target, or 0 off the class, on it."""
    places = [i for i, chosen in enumerate(tight) if chosen]
    duals = [fmpq(0)] * len(own)
    if places:
        wanted = column([(target[i] if own[i] else fmpq(0)) - anchor[i] for i in places])
        solution = block(gram, places, places).solve(wanted)
        for position, i in enumerate(places):
            duals[i] = solution[position, 0]
    return duals


def _predictions(gram: fmpq_mat, anchor: list[fmpq], duals: list[fmpq]) -> list[fmpq]:
    image = fmpq_mat([duals]) * gram
    return [a + image[0, i] for i, a in enumerate(anchor)]
