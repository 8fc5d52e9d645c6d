"""Theorem 2 of Lai et al. (COLT 2026): the implicit bias of one ReLU neuron."""

from __future__ import annotations

from typing import Any

import numpy as np

from properties.lai2026 import setting
from properties.lai2026.setting import (
    BOTH_SIGNS,
    FROZEN,
    NEAR_IDENTITY,
    NONZERO_LABELS,
    POSITIVE_START,
    REGULAR,
    START_IN_SPAN,
    trace,
)
from verify.arrays import array_namespace, device, to_numpy
from verify.claims import Assumption, Control, Probable, Rate, Status, Sweep, Universal
from verify.margin import Margin
from verify.relu.descent import descend
from verify.relu.effective_dimensions import dimensions_of, relative_step
from verify.relu.gap import (
    deductive_bounds,
    implicit_bias_gap,
    leading_order,
    schur_gap,
)
from verify.relu.minimum_norm import MinimumNorm, optimality_residuals
from verify.space import Point, geometric
from verify.theorem import Theorem, Trial
from verify.tolerances import IDENTITY, KKT

Host = np.ndarray[Any, Any]

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

SMALL_START = {"n": 20, "start_low": 1e-5, "start_high": 1e-4}
EQUAL_LABELS = {"start_low": 1e-5, "start_high": 1e-4, "y_min": 1.0}
"""Labels ±1, so that a sweep of n varies nothing else: the mean of y² does not fluctuate."""


def gap(trial: Trial) -> Host:
    """Return the implicit-bias gap ‖w_∞ − w⋆‖₂, (B,)."""
    return np.asarray(to_numpy(implicit_bias_gap(trial.run, trial.reference("minimum_norm"))))


def comparator_is_optimal(trial: Trial) -> Margin:
    """The comparator w⋆ satisfies the optimality conditions of the minimum-norm global minimum:
    all four relative KKT residuals, recomputed from the problem, are at most 1e-10."""
    best: MinimumNorm = trial.reference("minimum_norm")
    residuals = to_numpy(optimality_residuals(trial.problem, best.duals))
    return Margin(residuals.max(axis=-1), KKT, KKT)


def gap_schur_identity(trial: Trial) -> Margin:
    """The gap satisfies gap² = ‖w_0^⊥‖² + ΔᵀSΔ with Δ = α¹₋ − α⋆₋ and S the Schur complement."""
    found = gap(trial)
    expected = to_numpy(schur_gap(trial.problem, trial.reference("minimum_norm")))
    return Margin.equal(found, expected, expected, IDENTITY)


def gap_deductive_bounds(trial: Trial) -> Margin:
    """The gap lies within √(1−δ)(P−e)₊/√τ and √(1+δ)(P+e)/√τ: no hidden constant."""
    low, high = (to_numpy(b) for b in deductive_bounds(trial.problem, _tau(trial)))
    found = gap(trial)
    scale = np.where(found > 0, found, 1.0)
    return Margin.worst(
        Margin(low, found, scale, rounding=1e-12), Margin(found, high, scale, rounding=1e-12)
    )


def upper_band(trial: Trial) -> Host:
    """Return (1+ε)·c·y_max·√(n₋/‖λ‖₁), (B,) [D]."""
    labels = np.abs(to_numpy(trial.problem.labels))
    c = relative_step(trial.problem)
    return np.asarray((1 + _epsilon(trial)) * c * labels.max(axis=-1) * _unit(trial))


def lower_band(trial: Trial) -> Host:
    """Return (1−ε)·(c·y_min − (1−c)·β⁰_max)₊·√(n₋/‖λ‖₁), (B,) [D]."""
    labels = np.abs(to_numpy(trial.problem.labels))
    c = relative_step(trial.problem)
    start = to_numpy(trial.problem.starting_predictions).max(axis=(1, 2))
    least = np.maximum(c * labels.min(axis=-1) - np.maximum(1 - c, 0.0) * start, 0.0)
    return np.asarray((1 - _epsilon(trial)) * least * _unit(trial))


def gap_upper_band(trial: Trial) -> Margin:
    """The gap is at most (1+ε)·c·y_max·√(n₋/‖λ‖₁), with ε = (√(n/d_2) + n/d_∞)/c."""
    return Margin(gap(trial), upper_band(trial), _unit(trial))


def gap_lower_band(trial: Trial) -> Margin:
    """The gap is at least (1−ε)·(c·y_min − (1−c)·β⁰_max)₊·√(n₋/‖λ‖₁), ε = (√(n/d_2) + n/d_∞)/c."""
    return Margin(lower_band(trial), gap(trial), _unit(trial))


def band_is_narrow(trial: Trial) -> Margin:
    """The bands say something: ε = (√(n/d_2) + n/d_∞)/c is below 1."""
    return Margin(_epsilon(trial), 1.0)


NARROW_BAND = Assumption(band_is_narrow, Status.DERIVED, axes=("aspect", "c"))


def gap_leading_constant(trial: Trial) -> Margin:
    """The gap times √‖λ‖₁ is ‖c|y₋| − (1−c)β⁰₋‖₂ to relative error ε = (√(n/d_2) + n/d_∞)/c."""
    leading = to_numpy(leading_order(trial.problem, _tau(trial)))
    epsilon, known = _epsilon(trial), leading > 0
    ratio = np.where(known, gap(trial) / np.where(known, leading, 1.0), np.inf)
    return Margin(np.abs(ratio - 1), epsilon, scale=epsilon)


def gap_scales_as_root_n_over_trace(trial: Trial) -> Host:
    """The gap scales as √(n/‖λ‖₁): in d at fixed n, in n at fixed d, in the trace at fixed d; and
    it does not move with n at fixed n/‖λ‖₁ (the tolerance on the slopes, ±.01, is ours)."""
    return gap(trial)


GAP = "gap ‖w_∞ − w⋆‖₂"


def n_over_trace(trial: Trial) -> Host:
    """n/‖λ‖₁."""
    return trial.problem.examples / trace(trial.problem)


def number_of_examples(trial: Trial) -> Host:
    """n."""
    return np.full(trial.trials, float(trial.problem.examples))


SWEEPS = (
    Sweep(
        "d at n=20",
        tuple(Point(**SMALL_START, d=10.0**k) for k in range(3, 13)),
        n_over_trace,
        0.5,
    ),
    Sweep(
        "n at d=1e9",
        tuple(Point(n=n, d=1e9, **EQUAL_LABELS) for n in (10, 20, 40, 80, 160, 320)),
        n_over_trace,
        0.5,
    ),
    Sweep(
        "trace at d=1e6",
        tuple(
            Point(**SMALL_START, d=1e6, spectrum=f"isotropic:{scale:g}")
            for scale in geometric(1e-2, 1e2, 5)
        ),
        n_over_trace,
        0.5,
    ),
    Sweep(
        "n at fixed n/trace=1e-4",
        tuple(Point(n=n, d=1e4 * n, **EQUAL_LABELS) for n in (10, 20, 40, 80, 160)),
        number_of_examples,
        0.0,
    ),
)


# False statements, for the controls.


def relative_gap_vanishes(trial: Trial) -> Host:
    """The relative gap ‖w_∞ − w⋆‖/‖w⋆‖ falls as √(n/‖λ‖₁)."""
    return gap(trial) / to_numpy(trial.reference("minimum_norm").norm)


def gap_scales_as_n_over_d(trial: Trial) -> Host:
    """The gap scales as n/d."""
    return gap(trial)


def gap_lower_band_in_root_n_over_d(trial: Trial) -> Margin:
    """The gap is at least (1−ε)·c·y_min·√(n₋/d) for any spectrum: v1's √(n/d), our constants."""
    labels = to_numpy(trial.problem.labels)
    unit = np.sqrt((labels < 0).sum(axis=-1) / _dimensions(trial, "dimension"))
    c = relative_step(trial.problem)
    bound = (1 - _epsilon(trial)) * c * np.abs(labels).min(axis=-1) * unit
    return Margin(bound, gap(trial), unit)


def limit_is_the_minimum_norm(trial: Trial) -> Margin:
    """The limit w_∞ is the minimum-norm global minimum w⋆."""
    norm = to_numpy(trial.reference("minimum_norm").norm)
    return Margin(gap(trial), 1e-6 * norm, norm)


def gap_lower_band_without_step(trial: Trial) -> Margin:
    """The gap is at least ¼·y_min·√(n₋/‖λ‖₁) however small the step is."""
    labels = np.abs(to_numpy(trial.problem.labels))
    unit = _unit(trial)
    return Margin(0.25 * labels.min(axis=-1) * unit, gap(trial), unit)


def _tau(trial: Trial) -> Any:
    """Return ‖λ‖₁ on the namespace of the problem, (B,)."""
    gram = trial.problem.gram
    tau = np.array(trace(trial.problem))
    return array_namespace(gram).asarray(tau, dtype=gram.dtype, device=device(gram))


def _dimensions(trial: Trial, name: str) -> Host:
    return np.broadcast_to(
        np.asarray(getattr(dimensions_of(trial.problem), name), dtype=float), (trial.trials,)
    )


def _unit(trial: Trial) -> Host:
    """Return √(n₋/‖λ‖₁), (B,)."""
    negatives = (to_numpy(trial.problem.labels) < 0).sum(axis=-1)
    return np.asarray(np.sqrt(negatives / trace(trial.problem)))


def _epsilon(trial: Trial) -> Host:
    """Return ε = (√(n/d_2) + n/d_∞)/c, (B,) [D]."""
    n, c = trial.problem.examples, relative_step(trial.problem)
    d_2, d_inf = _dimensions(trial, "d_2"), _dimensions(trial, "d_inf")
    return np.asarray((np.sqrt(n / d_2) + n / d_inf) / c)


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
        "S, Δ": "S = G₋₋ − G₋₊G₊₊⁻¹G₊₋ and Δ = α¹₋ − α⋆₋, α¹ the duals after step one",
    },
    defaults=setting.DEFAULTS,
    axes=setting.AXES,
    cells=CELLS,
    draw=setting.draw,
    simulate=descend,
    references={"minimum_norm": setting.best},
    explicit=setting.EXPLICIT,
    place=setting.place,
    describe=setting.describe,
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
            band=(lower_band, upper_band),
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
                at=(Point(n=20, d=1e10, c=0.001, start_low=1e-6, start_high=1e-5),),
                status=Status.FALSE,
            ),
            because="the gap shrinks with the step (docs/theory.md §7, failure regime 2)",
        ),
    ),
)
