"""The assumptions of the theorems of Lai et al., decided over the rationals.

Each says what the assumption of the same name in `setting`, `hypotheses` or `bias` says, with no
rounding; roots and eigenvalues are avoided: lengths are compared by their squares, and bounds on
eigenvalues are the definiteness of a matrix, by the last pivot of `verify.relu.exact.definite`.
"""

from __future__ import annotations

from fractions import Fraction

from flint import fmpq

from properties.lai2026.hypotheses import (
    DIMENSION_OVER_EXAMPLES,
    LABEL_RATIO,
    LARGEST_STEP,
    SMALLEST_STEP,
    SPREAD,
    START_OVER_LABELS,
)
from verify.exact import ExactMargin, NotDecided
from verify.relu.exact.certificate import contraction, covered, slacks_by_rows
from verify.relu.exact.definite import smallest_pivot
from verify.relu.exact.descent import state_at
from verify.relu.exact.minimum import minimum_norm
from verify.relu.exact.problem import ExactProblem
from verify.relu.exact.rational import block, identity, rational, trace

ZERO = fmpq(0)

_SPAN = fmpq(1, 10**16)
"""The square of 1e-8, up to which ‖w_0^⊥‖√τ counts as zero."""


def decimal(number: float) -> fmpq:
    """Return the number that a constant is written as: .05 is 1/20."""
    return rational(Fraction(repr(number)))


def labels_are_nonzero(problem: ExactProblem) -> ExactMargin:
    """0 < min|y|."""
    return ExactMargin(ZERO, _least_label(problem), strict=True, reads="0 < min|y|")


def both_signs_occur(problem: ExactProblem) -> ExactMargin:
    """1 ≤ min(n₊, n₋)."""
    positive = sum(label > 0 for label in problem.labels)
    negative = sum(label < 0 for label in problem.labels)
    return ExactMargin(fmpq(1), fmpq(min(positive, negative)), reads="1 ≤ min(n₊, n₋)")


def gram_is_regular(problem: ExactProblem) -> ExactMargin:
    """0 < last pivot of G. (λ_min > 1e-9 λ_max is what floating point needs to see it.)"""
    pivot = smallest_pivot(problem.gram)
    return ExactMargin(ZERO, pivot, strict=True, reads="0 < last pivot of G")


def start_is_positive(problem: ExactProblem) -> ExactMargin:
    """0 < min β⁰."""
    return ExactMargin(ZERO, min(problem.start.entries()), strict=True, reads="0 < min β⁰")


def start_is_in_the_span(problem: ExactProblem) -> ExactMargin:
    """Σ_k ‖w_k^⊥‖² τ ≤ 10⁻¹⁶."""
    size = trace(problem.outside) * problem.trace
    return ExactMargin(size, _SPAN, reads="‖w_0^⊥‖² τ ≤ 10⁻¹⁶")


def step_is_stable(problem: ExactProblem) -> ExactMargin:
    """0 < last pivot of 2I − ηG_CC, the least over the neurons' label classes C; 2 without any
    example in them.

    M couples no two classes where the neurons have opposite signs.
    """
    least = [fmpq(2)]
    for own in problem.label_classes:
        places = [i for i, member in enumerate(own) if member]
        if places:
            within = problem.step_size * block(problem.gram, places, places)
            least.append(smallest_pivot(2 * identity(len(places)) - within))
    return ExactMargin(ZERO, min(least), strict=True, reads="0 < last pivot of 2I − ηG_CC")


def labels_are_bounded(problem: ExactProblem) -> ExactMargin:
    """½ max|y| ≤ min|y|, with 1 for max|y| where every label is zero."""
    bound = decimal(LABEL_RATIO) * problem.label_scale
    return ExactMargin(bound, _least_label(problem), reads="½ max|y| ≤ min|y|")


def start_is_small(problem: ExactProblem) -> ExactMargin:
    """max|β⁰| ≤ min|y|/20."""
    largest = max(abs(entry) for entry in problem.start.entries())
    bound = decimal(START_OVER_LABELS) * _least_label(problem)
    return ExactMargin(largest, bound, reads="max|β⁰| ≤ min|y|/20")


def step_is_bounded_below(problem: ExactProblem) -> ExactMargin:
    """¼ ≤ ητ."""
    return ExactMargin(decimal(SMALLEST_STEP), relative_step(problem), reads="¼ ≤ ητ")


def step_is_bounded_above(problem: ExactProblem) -> ExactMargin:
    """ητ ≤ 6/5."""
    return ExactMargin(relative_step(problem), decimal(LARGEST_STEP), reads="ητ ≤ 6/5")


def dimension_is_high(problem: ExactProblem) -> ExactMargin:
    """5000 n ≤ d. Raises NotDecided where the dimension is not known."""
    required = fmpq(DIMENSION_OVER_EXAMPLES * problem.examples)
    return ExactMargin(required, _dimension(problem), reads="5000 n ≤ d")


def spectrum_is_spread(problem: ExactProblem) -> ExactMargin:
    """d/4 ≤ d_∞ of the law; without one, where d_∞ is tr(G)/λ_max(G), 0 ≤ last pivot of
    (4 tr(G)/d) I − G. Raises NotDecided where the dimension is not known."""
    dimension, share = _dimension(problem), decimal(SPREAD)
    if problem.law is not None:
        if problem.law.d_inf is None:
            raise NotDecided("d_∞ of the law is not known")
        return ExactMargin(share * dimension, problem.law.d_inf, reads="d/4 ≤ d_∞")
    most = trace(problem.gram) / (share * dimension)
    pivot = smallest_pivot(most * identity(problem.examples) - problem.gram)
    return ExactMargin(ZERO, pivot, reads="0 ≤ last pivot of (4 tr(G)/d) I − G")


def gram_is_near_identity(problem: ExactProblem) -> ExactMargin:
    """0 < last pivots of G and of 2τI − G: ‖G/τ − I‖₂ < 1."""
    above = smallest_pivot(2 * problem.trace * identity(problem.examples) - problem.gram)
    least = min(smallest_pivot(problem.gram), above)
    return ExactMargin(ZERO, least, strict=True, reads="0 < least last pivot of G and of 2τI − G")


def certified_from_step_one(problem: ExactProblem) -> ExactMargin:
    """0 ≤ the slack of the row-sum certificate at step one, with v = |y|, over max|y|; −1 at
    least, and where a pattern is not the label class or the certificate does not apply."""
    reads = "0 ≤ slack of the row-sum certificate at step 1, over max|y|"
    return ExactMargin(ZERO, _step_one_slack(problem), reads=reads)


def _step_one_slack(problem: ExactProblem) -> fmpq:
    state, nothing = state_at(problem, 1), fmpq(-1)
    weights = tuple(abs(label) for label in problem.labels)
    if state.pattern != problem.label_classes or not all(
        weights[i] for i in covered(state.pattern)
    ):
        return nothing
    kappa = contraction(problem, state.pattern, weights)
    if kappa >= 1:
        return nothing
    least = min(min(line) for line in slacks_by_rows(problem, state, weights, kappa))
    return max(least / problem.label_scale, nothing)


def comparator_duals_agree(problem: ExactProblem) -> ExactMargin:
    """0 ≤ min_i (α⊕⋆ + α⊖⋆)_i. Raises NotDecided where the Gram matrix is singular."""
    least = minimum_norm(problem).agreement
    return ExactMargin(ZERO, least, reads="0 ≤ min_i (α⊕⋆ + α⊖⋆)_i")


def relative_step(problem: ExactProblem) -> fmpq:
    """Return c = ητ."""
    return problem.step_size * problem.trace


def _least_label(problem: ExactProblem) -> fmpq:
    return min(abs(label) for label in problem.labels)


def _dimension(problem: ExactProblem) -> fmpq:
    if problem.dimension is None:
        raise NotDecided("the dimension d is not known of a problem given by its Gram matrix")
    return problem.dimension


OF_EVERY_THEOREM = {
    statement.__name__: statement
    for statement in (
        labels_are_nonzero,
        both_signs_occur,
        gram_is_regular,
        start_is_positive,
        start_is_in_the_span,
        step_is_stable,
        labels_are_bounded,
        start_is_small,
        step_is_bounded_below,
        step_is_bounded_above,
        dimension_is_high,
        spectrum_is_spread,
        gram_is_near_identity,
        certified_from_step_one,
        comparator_duals_agree,
    )
}
"""By the names of the assumptions."""
