"""Theorem 2 of Lai et al. (COLT 2026): the implicit bias of one ReLU neuron."""

from __future__ import annotations

import numpy as np

from properties.lai2026 import bias, constants, exact, hypotheses, lemmas, setting
from properties.lai2026.bias import (
    GAP,
    NARROW_BAND,
    SWEEPS,
    comparator_is_optimal,
    gap_deductive_bounds,
    gap_schur_identity,
    n_over_trace,
)
from properties.lai2026.setting import (
    BOTH_SIGNS,
    FROZEN,
    NEAR_IDENTITY,
    NONZERO_LABELS,
    POSITIVE_START,
    REGULAR,
    START_IN_SPAN,
)
from verify.arrays import to_numpy
from verify.claims import Control, Probable, Rate, Status, Sweep, Universal
from verify.margin import Margin
from verify.relu.effective_dimensions import relative_step
from verify.space import Point
from verify.theorem import Theorem
from verify.trial import Trial

COMPARABLE = (NONZERO_LABELS, BOTH_SIGNS, REGULAR)
GIVEN = (*COMPARABLE, POSITIVE_START, START_IN_SPAN, FROZEN)

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
    Point(n=20, d=8_000, c=1.0, features="student_t:8"),
    Point(n=20, d=1e12, c=0.5, y_min=1.0),
)


def gap_upper_band(trial: Trial) -> Margin:
    """The gap is at most (1+ε)·(c·y_max + (c−1)₊·β⁰_max)·√(n₋/‖λ‖₁), ε = (√(n/d_2) + n/d_∞)/c."""
    return bias.below_upper_band(trial)


def gap_lower_band(trial: Trial) -> Margin:
    """The gap is at least (1−ε)·(c·y_min − (1−c)₊·β⁰_max)₊·√(n₋/‖λ‖₁), ε = (√(n/d_2) + n/d_∞)/c."""
    return bias.above_lower_band(trial)


def gap_leading_constant(trial: Trial) -> Margin:
    """The gap times √‖λ‖₁ is ‖c|y₋| − (1−c)β⁰₋‖₂ to relative error ε = (√(n/d_2) + n/d_∞)/c."""
    return bias.near_leading_order(trial)


def gap_scales_as_root_n_over_trace(trial: Trial) -> np.ndarray:
    """The gap scales as √(n/‖λ‖₁): in d at fixed n, in n at fixed d, in the trace at fixed d; and
    it does not move with n at fixed n/‖λ‖₁ (the tolerance on the slopes, ±.01, is ours)."""
    return bias.gap(trial)


# False statements, for the controls.


def relative_gap_vanishes(trial: Trial) -> np.ndarray:
    """The relative gap ‖w_∞ − w⋆‖/‖w⋆‖ falls as √(n/‖λ‖₁)."""
    return bias.relative_gap(trial)


def gap_scales_as_n_over_d(trial: Trial) -> np.ndarray:
    """The gap scales as n/d."""
    return bias.gap(trial)


def gap_lower_band_in_root_n_over_d(trial: Trial) -> Margin:
    """The gap is at least (1−ε)·c·y_min·√(n₋/d) for any spectrum: v1's √(n/d), our constants."""
    labels = to_numpy(trial.problem.labels)
    unit = np.sqrt((labels < 0).sum(axis=-1) / bias.dimension(trial, "dimension"))
    c = relative_step(trial.problem)
    bound = (1 - bias.relative_error(trial)) * c * np.abs(labels).min(axis=-1) * unit
    return Margin(bound, bias.gap(trial), unit)


def limit_is_the_minimum_norm(trial: Trial) -> Margin:
    """The limit w_∞ is the minimum-norm global minimum w⋆."""
    return bias.off_the_minimum_norm(trial)


def gap_lower_band_without_step(trial: Trial) -> Margin:
    """The gap is at least ¼·y_min·√(n₋/‖λ‖₁) however small the step is."""
    labels = np.abs(to_numpy(trial.problem.labels))
    unit = bias.unit(trial)
    return Margin(0.25 * labels.min(axis=-1) * unit, bias.gap(trial), unit)


theorem = Theorem(
    id="lai2026.theorem2",
    title="One ReLU neuron: the gap to the minimum-norm global minimum is of order √(n/‖λ‖₁)",
    citation=f"{setting.CITATION}; Theorem 2 (v2; v1 of March 2026 has √(n/d)).",
    status=Status.SUMMARY,
    statement=(
        "In the setting of Theorem 1, the limit w_∞ of gradient descent and the minimum-ℓ2-norm "
        "global minimum w⋆ satisfy ‖w_∞ − w⋆‖₂ = Θ(√(n/‖λ‖₁)) with high probability: an upper and "
        "a lower bound. The constants below are ours."
    ),
    method=(
        "The limit comes from a certified run, the comparator from block pivoting; the gap is the "
        "norm of their difference, ‖w_0^⊥‖² included, and the identities and bounds are computed "
        "from the problem by other formulas."
    ),
    symbols={
        **setting.SYMBOLS,
        "δ": "‖G/τ − I‖₂, the deviation of the Gram matrix from its mean",
        "P, e": "P = ‖c|y₋| − (1−c)β⁰₋‖₂ and e = δ/(1−δ)·‖β⁰‖ + δ/(1−δ)²·‖y₊‖",
        "S, Δ": "S = G₋₋ − G₋₊G₊₊⁻¹G₊₋ and Δ = α¹₋ − α⋆₋, α¹ the duals after step one (the neuron "
        "is the only one, its label class is S₊)",
    },
    defaults=setting.DEFAULTS,
    axes=setting.AXES,
    wide_axes=setting.BIAS_WIDE_AXES,
    hypotheses=hypotheses.BIAS,
    cells=CELLS,
    draw=setting.draw,
    simulate=setting.descend_to_a_limit,
    references={"minimum_norm": setting.best},
    explicit=setting.EXPLICIT,
    small=setting.SMALL,
    exact=exact.THEOREM2,
    first_departure=setting.first_departure,
    place=setting.place,
    describe=setting.describe,
    measures=constants.gaps(bias.gap_over_root_negatives, "gap over √(n₋/‖λ‖₁)", GIVEN, BANDS),
    chain=lemmas.BIAS,
    claims=(
        Universal(comparator_is_optimal, given=COMPARABLE, status=Status.DERIVED),
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
            Rate(
                relative_gap_vanishes,
                quantity="relative gap ‖w_∞ − w⋆‖₂/‖w⋆‖₂",
                given=GIVEN,
                sweeps=(SWEEPS[0],),
                tolerance=0.1,
                status=Status.FALSE,
            ),
            because="‖w⋆‖ is itself of order √(n/‖λ‖₁): the relative gap tends to c‖y₋‖/‖y₊‖ "
            "(docs/theory.md §7, failure regime 1)",
        ),
        Control(
            Rate(
                gap_scales_as_n_over_d,
                quantity=GAP,
                given=GIVEN,
                sweeps=(Sweep(SWEEPS[0].name, SWEEPS[0].points, n_over_trace, 1.0),),
                tolerance=0.1,
                status=Status.FALSE,
            ),
            because="the slope is ½ in n/d, not 1",
        ),
        Control(
            Universal(
                gap_lower_band_in_root_n_over_d,
                given=GIVEN,
                at=(Point(n=20, d=8_000, c=0.5, y_min=1.0, spectrum="isotropic:4"),),
                status=Status.FALSE,
            ),
            because="with λ_j = 4 the gap is half of what √(n/d) promises: the trace counts, not d",
        ),
        Control(
            Universal(
                limit_is_the_minimum_norm,
                given=GIVEN,
                at=(Point(n=20, d=10_000, c=0.5),),
                status=Status.FALSE,
            ),
            because="step one leaves dual coefficients on the negatives that never move again",
        ),
        Control(
            Universal(
                gap_lower_band_without_step,
                given=COMPARABLE,
                at=(Point(n=20, d=1e10, c=0.005, start_low=1e-6, start_high=1e-5),),
                status=Status.FALSE,
            ),
            because="the gap shrinks with the step (docs/theory.md §7, failure regime 2)",
        ),
    ),
)
