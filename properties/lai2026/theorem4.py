"""Theorem 4 of Lai et al. (COLT 2026): the implicit bias of two ReLU neurons of opposite sign."""

from __future__ import annotations

from typing import Any

import numpy as np

from properties.lai2026 import bias, constants, exact, hypotheses, lemmas, setting
from properties.lai2026.bias import (
    GAP,
    NARROW_BAND,
    SWEEPS,
    comparator_is_optimal,
    gap_deductive_bounds,
    gap_schur_identity,
)
from properties.lai2026.setting import (
    DECOUPLED,
    NEAR_IDENTITY,
    NONZERO_LABELS,
    POSITIVE_START,
    REGULAR,
    START_IN_SPAN,
    equal_up_to_solving,
)
from verify.arrays import to_numpy
from verify.claims import Assumption, Control, Probable, Rate, Status, Universal
from verify.margin import Margin
from verify.relu.descent import Run
from verify.relu.minimum_norm import MinimumNorm
from verify.relu.pair import relaxation
from verify.relu.problem import Problem
from verify.space import Point
from verify.theorem import Theorem
from verify.trial import Trial

CELLS = (
    Point(n=10, d=2_000, c=0.5),
    Point(n=20, d=10_000, c=1.0),
    Point(n=50, d=5_000, c=0.5),
    Point(n=20, d=20_000, c=0.5, spectrum="levels:4x0.5,1x0.5"),
    Point(n=20, d=6_000, c=0.9, features="rademacher"),
)

BANDS = (
    Point(n=50, d=20_000, c=0.5),
    Point(n=20, d=20_000, c=0.5, spectrum="levels:4x0.5,1x0.5"),
    Point(n=20, d=20_000, c=1.0, spectrum="spiked:5x1"),
    Point(n=20, d=8_000, c=1.0, features="rademacher"),
    Point(n=20, d=1e12, c=0.5, y_min=1.0),
)

TIGHT = (
    Point(n=20, d=400),
    Point(n=20, d=2_000),
    Point(n=50, d=5_000),
    Point(n=20, d=4_000, spectrum="levels:4x0.5,1x0.5"),
)


def relaxed(problem: Problem, _run: Run) -> Any:
    """Return the convex relaxation's lower bound on ‖w⊕‖² + ‖w⊖‖², (B,)."""
    return relaxation(problem)


def comparator_duals_agree(trial: Trial) -> Margin:
    """The comparator decouples: α⊕⋆ + α⊖⋆ ≥ 0 in every component, relative to max|α⋆|."""
    best: MinimumNorm = trial.reference("minimum_norm")
    return Margin(0.0, to_numpy(best.agreement), rounding=_ROUNDING)


_ROUNDING = 1e-13

AGREES = Assumption(comparator_duals_agree, Status.DERIVED, axes=("aspect",))

COMPARABLE = (NONZERO_LABELS, REGULAR)
GIVEN = (*COMPARABLE, POSITIVE_START, START_IN_SPAN, DECOUPLED, AGREES)


def agreement_certifies_the_comparator(trial: Trial) -> Margin:
    """Where α⊕⋆ + α⊖⋆ ≥ 0 the convex relaxation has the decoupled comparator's value, so nothing
    has less norm: an O(n) test of a non-convex optimum."""
    return _relaxation_reaches_it(trial)


def comparator_bracket_is_tight(trial: Trial) -> Margin:
    """The decoupled comparator is the global minimum of least norm: the convex relaxation, a lower
    bound on ‖w⊕‖² + ‖w⊖‖², has its value (the probability .95 and the cells are ours)."""
    return _relaxation_reaches_it(trial)


def _relaxation_reaches_it(trial: Trial) -> Margin:
    alone = to_numpy(trial.reference("minimum_norm").decoupled_norm) ** 2
    apart = np.abs(alone - to_numpy(trial.reference("relaxation")))
    return equal_up_to_solving(trial.problem, apart, alone)


def gap_upper_band(trial: Trial) -> Margin:
    """The gap is at most (1+ε)·(c·y_max + (c−1)₊·β⁰_max)·√(n/‖λ‖₁), ε = (√(n/d_2) + n/d_∞)/c."""
    return bias.below_upper_band(trial)


def gap_lower_band(trial: Trial) -> Margin:
    """The gap is at least (1−ε)·(c·y_min − max(1,c)·β⁰_max)₊·√(n/‖λ‖₁), with
    ε = (√(n/d_2) + n/d_∞)/c."""
    return bias.above_lower_band(trial)


def gap_leading_constant(trial: Trial) -> Margin:
    """The gap times √‖λ‖₁ is √(Σ_S₋(c(|y|+f) − β⁰⊕)² + Σ_S₊(c(|y|−f) − β⁰⊖)²), f = β⁰⊕ − β⁰⊖, to
    relative error ε = (√(n/d_2) + n/d_∞)/c."""
    return bias.near_leading_order(trial)


def gap_scales_as_root_n_over_trace(trial: Trial) -> np.ndarray:
    """The gap of the pair scales as √(n/‖λ‖₁): in d at fixed n, in n at fixed d, in the trace at
    fixed d; and it does not move with n at fixed n/‖λ‖₁ (the tolerance ±.01 is ours)."""
    return bias.gap(trial)


# False statements, for the controls.


def decoupled_comparator_is_optimal_at_n_5_and_d_6(trial: Trial) -> Margin:
    """The decoupled comparator is the global minimum of least norm also at n = 5, d = 6, where all
    choices of active neurons are tried."""
    best: MinimumNorm = trial.reference("minimum_norm")
    low, alone = to_numpy(best.bracket)[:, 0], to_numpy(best.decoupled_norm)
    return equal_up_to_solving(trial.problem, alone - low, alone)


def limit_is_the_minimum_norm(trial: Trial) -> Margin:
    """The pair's limit is the minimum-norm global minimum."""
    return bias.off_the_minimum_norm(trial)


def relative_gap_vanishes(trial: Trial) -> np.ndarray:
    """The relative gap ‖w_∞ − w⋆‖/‖w⋆‖ falls as √(n/‖λ‖₁)."""
    return bias.relative_gap(trial)


theorem = Theorem(
    id="lai2026.theorem4",
    title="Two ReLU neurons: the gap to the minimum-norm global minimum is of order √(n/‖λ‖₁)",
    citation=f"{setting.CITATION}; Theorem 4.",
    status=Status.SUMMARY,
    statement=(
        "In the setting of Theorem 3, the limit of gradient descent and the global minimum of "
        "least ‖w⊕‖² + ‖w⊖‖² satisfy ‖w_∞ − w⋆‖₂ = Θ(√(n/‖λ‖₁)) with high probability: an upper "
        "and a lower bound. The constants below are ours."
    ),
    method=(
        "The comparator is two single-neuron problems by block pivoting; that it is the optimum of "
        "the non-convex problem is certified by its duals, α⊕⋆ + α⊖⋆ ≥ 0 [D]. Where that fails the "
        "convex relaxation bounds the least norm from below, and for n ≤ 10 all choices of active "
        "neurons are tried."
    ),
    symbols={
        **setting.PAIR_SYMBOLS,
        "δ": "‖G/τ − I‖₂, the deviation of the Gram matrix from its mean",
        "P, e": "P is √τ times the leading order of the gap; e² = Σ_k e_k², with "
        "e_k = δ/(1−δ)·‖β_k⁰‖ + δ/(1−δ)²·‖y_C‖ on the label class C of neuron k",
    },
    defaults=setting.DEFAULTS,
    axes=setting.AXES,
    wide_axes=setting.BIAS_WIDE_AXES,
    hypotheses=hypotheses.BIAS,
    cells=CELLS,
    draw=setting.draw_pair,
    simulate=setting.descend_to_a_limit,
    references={"minimum_norm": setting.best, "relaxation": relaxed},
    explicit=setting.PAIR_EXPLICIT,
    small=setting.PAIR_SMALL,
    exact=exact.THEOREM4,
    first_departure=setting.first_departure,
    place=setting.place,
    describe=setting.describe,
    measures=constants.gaps(bias.gap_over_root_examples, "gap over √(n/‖λ‖₁)", GIVEN, BANDS),
    chain=lemmas.BIAS,
    claims=(
        Universal(comparator_is_optimal, given=(*COMPARABLE, AGREES), status=Status.DERIVED),
        Universal(
            agreement_certifies_the_comparator, given=(*COMPARABLE, AGREES), status=Status.DERIVED
        ),
        Probable(
            comparator_bracket_is_tight,
            given=COMPARABLE,
            probability=0.95,
            at=TIGHT,
            status=Status.DERIVED,
        ),
        Universal(gap_schur_identity, given=GIVEN, status=Status.DERIVED),
        Probable(gap_upper_band, given=GIVEN, probability=0.95, at=BANDS, status=Status.DERIVED),
        Probable(
            gap_lower_band,
            given=(*GIVEN, NARROW_BAND),
            probability=0.95,
            at=BANDS,
            status=Status.DERIVED,
        ),
        Universal(gap_deductive_bounds, given=(*GIVEN, NEAR_IDENTITY), status=Status.DERIVED),
        Probable(
            gap_leading_constant,
            given=(*GIVEN, NARROW_BAND),
            probability=0.95,
            at=BANDS,
            status=Status.DERIVED,
        ),
        Rate(
            gap_scales_as_root_n_over_trace,
            given=GIVEN,
            sweeps=SWEEPS,
            tolerance=0.01,
            band=(bias.lower_band, bias.upper_band),
            quantity=GAP,
            status=Status.SUMMARY,
        ),
    ),
    controls=(
        Control(
            Universal(
                decoupled_comparator_is_optimal_at_n_5_and_d_6,
                given=COMPARABLE,
                at=(Point(n=5, d=6),),
                status=Status.FALSE,
            ),
            because="with so few dimensions sharing examples between the neurons costs less norm "
            "(docs/theory.md §5)",
        ),
        Control(
            Universal(
                limit_is_the_minimum_norm,
                given=GIVEN,
                at=(Point(n=20, d=10_000, c=0.5),),
                status=Status.FALSE,
            ),
            because="step one leaves dual coefficients on the other class that never move again",
        ),
        Control(
            Rate(
                relative_gap_vanishes,
                quantity="relative gap ‖w_∞ − w⋆‖₂/‖w⋆‖₂",
                given=GIVEN,
                sweeps=(SWEEPS[0],),
                tolerance=0.1,
                status=Status.FALSE,
            ),
            because="‖w⋆‖ is itself of order √(n/‖λ‖₁): the relative gap tends to c",
        ),
    ),
)
