"""Theorem 1 of Lai et al. (COLT 2026): the dynamics of one ReLU neuron."""

from __future__ import annotations

import numpy as np

from properties import broken_solvers
from properties.lai2026 import constants, dynamics, exact, hypotheses, lemmas, setting
from properties.lai2026.setting import (
    NONZERO_LABELS,
    POSITIVE_START,
    REGULAR,
    STEP_ONE_CERTIFICATE,
    equal_up_to_solving,
    label_scale,
    pattern_is_the_positives_from_step_one,
)
from verify.arrays import to_numpy
from verify.claims import Control, Inequality, Probable, Status, Universal
from verify.margin import Margin
from verify.relu.plain import PlainRun
from verify.relu.problem import Problem
from verify.relu.state import rounding
from verify.space import Point
from verify.theorem import Theorem
from verify.trial import Trial

GIVEN = (NONZERO_LABELS, POSITIVE_START, REGULAR, STEP_ONE_CERTIFICATE)

WIDE = (
    Point(n=10, d=2_000, c=0.5),
    Point(n=20, d=10_000, c=0.5),
    Point(n=20, d=20_000, c=1.1, spectrum="levels:4x0.5,1x0.5"),
    Point(n=20, d=10_000, c=0.9, features="rademacher"),
    Point(n=40, d=1e9, c=0.3),
)
"""Cells where the step-one certificate holds in most draws (d ≳ 4n²)."""

HIGH = (
    Point(n=20, d=4_000, c=0.5, start_low=1e-4, start_high=1e-3),
    Point(n=50, d=20_000, c=0.5, start_low=1e-4, start_high=1e-3),
    Point(n=20, d=8_000, c=0.5, spectrum="levels:4x0.5,1x0.5", start_high=1e-3),
    Point(n=20, d=8_000, c=0.5, spectrum="spiked:5x1", start_high=1e-3),
    Point(n=20, d=6_000, c=0.9, features="rademacher", start_high=1e-3),
    Point(n=20, d=6_000, c=0.9, features="student_t:8", start_high=1e-3),
)
"""Cells with regime index H ≥ 4, isotropic and not, Gaussian and not."""


def pattern_freezes_after_step_one(trial: Trial) -> Margin:
    """From step one on the active examples are exactly those of positive label, for ever."""
    return dynamics.frozen_at_the_classes(trial)


def positives_interpolated(trial: Trial) -> Margin:
    """The limit interpolates every example of positive label."""
    problem: Problem = trial.problem
    positives, labels = to_numpy(problem.positives), to_numpy(problem.labels)

    def misfit(predictions: np.ndarray) -> np.ndarray:
        return np.asarray(np.where(positives, np.abs(predictions - labels), 0.0).max(axis=-1))

    limit = _predictions(problem, trial.run.duals)
    plain: PlainRun = trial.reference("plain")
    size = label_scale(problem)
    by_jump = equal_up_to_solving(problem, misfit(limit), size)
    by_plain = equal_up_to_solving(problem, misfit(to_numpy(plain.predictions)[:, 0, :]), size)
    return Margin.worst(
        by_jump.undecided_where(~trial.run.certified), by_plain.undecided_where(~plain.settled)
    )


def negatives_predicted_zero(trial: Trial) -> Margin:
    """The limit predicts zero, by inactivity, on every example of negative label."""
    problem: Problem = trial.problem
    positives, scale = to_numpy(problem.positives), label_scale(problem)
    error = to_numpy(rounding(problem, trial.run.duals)).max(axis=(1, 2)) / scale

    def largest(predictions: np.ndarray) -> np.ndarray:
        return np.asarray(np.where(positives, -np.inf, predictions).max(axis=-1))

    limit = _predictions(problem, trial.run.duals)
    plain: PlainRun = trial.reference("plain")
    return Margin.worst(
        Margin(largest(limit), 0.0, scale, error).undecided_where(~trial.run.certified),
        Margin(largest(to_numpy(plain.predictions)[:, 0, :]), 0.0, scale, error).undecided_where(
            ~plain.settled
        ),
    )


def inactive_duals_frozen(trial: Trial) -> Margin:
    """After step one the dual coefficients of the examples of negative label never change."""
    return dynamics.duals_off_the_classes_frozen(trial)


def limit_is_nearest_interpolant(trial: Trial) -> Margin:
    """The limit is the interpolant of the positive examples that is nearest to the weights after
    step one: w_∞ = w_1 + X₊⁺(y₊ − X₊w_1)."""
    return dynamics.limit_is_nearest(trial)


def converges_linearly(trial: Trial) -> Margin:
    """From step one on, each step shrinks the positive examples' residual at least by the factor
    ρ = max|1−ηλ(G₊₊)| < 1."""
    return dynamics.contracts_on_the_classes(trial)


def freezes_with_high_probability(trial: Trial) -> Margin:
    """From step one on the active examples are exactly those of positive label, for ever: with
    probability at least .95 over data and start where H ≥ 4 (probability and index are ours)."""
    return pattern_is_the_positives_from_step_one(trial)


def _predictions(problem: Problem, duals: np.ndarray) -> np.ndarray:
    """Return predictions recomputed from Gram matrix and duals, (B, n)."""
    return np.asarray(to_numpy(duals @ problem.gram)[:, 0, :])


def frozen_at_a_small_step(trial: Trial) -> Margin:
    """The pattern freezes after step one also at c = .02 with n = 40, d = 8000."""
    return pattern_is_the_positives_from_step_one(trial)


def frozen_from_random_signs(trial: Trial) -> Margin:
    """The pattern freezes after step one also from starts of random sign."""
    return pattern_is_the_positives_from_step_one(trial)


def frozen_with_harmonic_spectrum(trial: Trial) -> Margin:
    """The pattern freezes after step one also with the spectrum λ_j = 1/j, where d_∞ ≈ 10."""
    return pattern_is_the_positives_from_step_one(trial)


def _once_frozen(inequality: Inequality, status: Status) -> Universal:
    """Return a claim in the scope of the theorem whose proof uses that the pattern freezes."""
    rests_on = (pattern_freezes_after_step_one.__name__,)
    return Universal(inequality, given=GIVEN, status=status, rests_on=rests_on)


theorem = Theorem(
    id="lai2026.theorem1",
    title="One ReLU neuron: the activation pattern freezes after step one",
    citation=f"{setting.CITATION}; Theorem 1.",
    status=Status.SUMMARY,
    statement=(
        "High-dimensional features, bounded labels, a small positive start and a step of order "
        "1/‖λ‖₁: with high probability, (i) after step one the active examples are those of "
        "positive label and never change; (ii) gradient descent converges, interpolates them "
        "exactly and predicts 0 on the others; (iii) inactive duals are frozen."
    ),
    method=(
        "Runs go to their limit by a certificate that the pattern can never change again [D], and "
        "one solve. No claim rests on that jump alone: on every trial the universal claims are "
        "also judged on plain gradient descent, which shares no code with it, and residuals are "
        "recomputed from Gram matrix, labels and duals."
    ),
    symbols=setting.SYMBOLS,
    defaults=setting.DEFAULTS,
    axes=setting.AXES,
    wide_axes=setting.WIDE_AXES,
    hypotheses=hypotheses.DYNAMICS,
    cells=WIDE,
    draw=setting.draw,
    simulate=setting.descend_to_a_pattern,
    references={"plain": setting.plain},
    explicit=setting.EXPLICIT,
    small=setting.SMALL,
    exact=exact.THEOREM1,
    first_departure=setting.first_departure,
    place=setting.place,
    describe=setting.describe,
    measures=constants.freezing((NONZERO_LABELS, POSITIVE_START)),
    chain=lemmas.DYNAMICS,
    claims=(
        Universal(
            pattern_freezes_after_step_one,
            given=GIVEN,
            status=Status.SUMMARY,
            prediction=constants.predicted_frequency,
        ),
        Probable(
            freezes_with_high_probability,
            given=(NONZERO_LABELS, POSITIVE_START),
            probability=0.95,
            at=HIGH,
            status=Status.HEURISTIC,
        ),
        _once_frozen(positives_interpolated, Status.SUMMARY),
        _once_frozen(negatives_predicted_zero, Status.SUMMARY),
        _once_frozen(inactive_duals_frozen, Status.SUMMARY),
        _once_frozen(limit_is_nearest_interpolant, Status.DERIVED),
        _once_frozen(converges_linearly, Status.DERIVED),
    ),
    controls=(
        Control(
            Universal(
                frozen_at_a_small_step,
                given=(NONZERO_LABELS, POSITIVE_START),
                at=(Point(n=40, d=8_000, c=0.02),),
                status=Status.FALSE,
            ),
            because="the step must be bounded below: here the pattern goes on changing for about "
            "170 steps (docs/theory.md §7, failure regime 2)",
        ),
        Control(
            Universal(
                frozen_from_random_signs,
                given=(NONZERO_LABELS,),
                at=(Point(n=40, d=8_000, start="random_sign"),),
                status=Status.FALSE,
            ),
            because="positive examples that start inactive stay dead or wake up later "
            "(docs/theory.md §7, failure regime 3)",
        ),
        Control(
            Universal(
                frozen_with_harmonic_spectrum,
                given=(NONZERO_LABELS, POSITIVE_START),
                at=(Point(n=40, d=8_000, spectrum="power:1"),),
                status=Status.FALSE,
            ),
            because="a few directions carry the trace, so examples interact "
            "(docs/theory.md §7, failure regime 4)",
        ),
        *broken_solvers.controls(
            limit_is_nearest_interpolant,
            GIVEN,
            (Point(n=20, d=10_000, c=0.5),),
            broken_solvers.ALL,
        ),
    ),
)
