"""Selection: a ReLU neuron interpolates a part of the data that labels choose, a linear one all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from properties.lai2026 import setting
from properties.lai2026.setting import (
    BOTH_SIGNS,
    NONZERO_LABELS,
    POSITIVE_START,
    REGULAR,
    START_IN_SPAN,
    STEP_ONE_CERTIFICATE,
    label_scale,
    step_one_certificate,
)
from properties.lai2026.theorem1 import positives_interpolated
from verify.arrays import to_numpy
from verify.claims import Assumption, Control, Status, Universal
from verify.margin import Margin
from verify.relu.descent import Run, descend
from verify.relu.gap import norm_in_span
from verify.relu.linear import LinearRun, descend_linearly, minimum_norm_interpolant
from verify.relu.problem import Problem
from verify.space import Point
from verify.theorem import Theorem
from verify.trial import Trial

_APART = 1e-9
"""What counts as equal after plain steps down to residuals of 1e-13, dimensionless."""

CELLS = (
    Point(n=10, d=2_000, c=0.5),
    Point(n=20, d=10_000, c=0.9),
    Point(n=20, d=20_000, c=0.5, spectrum="levels:4x0.5,1x0.5"),
    Point(n=20, d=10_000, c=0.9, features="rademacher"),
)


def linear(problem: Problem, _run: Run) -> LinearRun:
    """Return what gradient descent on the linear model does from the same start."""
    return descend_linearly(problem)


def opposite(problem: Problem, _run: Run) -> Run:
    """Return what gradient descent does where every label is negated."""
    return descend(_negated(problem))


def _negated(problem: Problem) -> Problem:
    return replace(problem, labels=-problem.labels)


def interpolant(problem: Problem, _run: Run) -> Any:
    """Return the duals of the linear interpolant of least norm."""
    return minimum_norm_interpolant(problem)


# Assumptions.


def step_is_stable_on_all(trial: Trial) -> Margin:
    """The step is stable for the linear model: η·λ_max(G) < 2."""
    largest = to_numpy(trial.problem.eigenvalues)[:, -1]
    return Margin(to_numpy(trial.problem.step_size) * largest, 2.0, rounding=1e-12)


def certified_with_negated_labels(trial: Trial) -> Margin:
    """The step-one certificate holds also with every label negated."""
    return step_one_certificate(_negated(trial.problem))


CERTIFIED_NEGATED = Assumption(certified_with_negated_labels, Status.DERIVED, axes=("aspect", "c"))
STABLE = Assumption(step_is_stable_on_all, Status.FOLKLORE, axes=("c",))


# Claims.


def _fitted(run: Run) -> np.ndarray:
    """Return which examples the ReLU model interpolates in the limit, (B, n)."""
    output = np.maximum(to_numpy(run.predictions), 0.0)[:, 0, :]
    labels = to_numpy(run.problem.labels)
    return np.asarray(np.abs(output - labels) <= _APART * label_scale(run.problem)[:, None])


def relu_interpolates_the_positives_only(trial: Trial) -> Margin:
    """The ReLU model interpolates exactly the examples of positive label."""
    wrong = (_fitted(trial.run) != to_numpy(trial.problem.positives)).mean(axis=-1)
    return Margin(wrong, 0.0).undecided_where(~trial.run.certified)


def negated_labels_select_the_others(trial: Trial) -> Margin:
    """With every label negated the ReLU model interpolates exactly the other examples."""
    other: Run = trial.reference("opposite")
    wrong = (_fitted(trial.run) == _fitted(other)).mean(axis=-1)
    return Margin(wrong, 0.0).undecided_where(~(trial.run.certified & other.certified))


def linear_model_interpolates_all(trial: Trial) -> Margin:
    """The linear model interpolates every example."""
    run: LinearRun = trial.reference("linear")
    allowed = _APART * label_scale(trial.problem)
    missed = np.abs(to_numpy(run.predictions) - to_numpy(trial.problem.labels)).max(axis=-1)
    return Margin(missed, allowed, allowed).undecided_where(~run.settled)


def linear_limit_is_the_minimum_norm_interpolant(trial: Trial) -> Margin:
    """The linear model's limit is exactly the interpolant of least norm, Xᵀ(XXᵀ)⁻¹y."""
    problem: Problem = trial.problem
    run: LinearRun = trial.reference("linear")
    least = trial.reference("interpolant")
    apart, size = (
        to_numpy(norm_in_span(problem.gram, duals[:, None, :]))[:, 0]
        for duals in (run.duals - least, least)
    )
    return Margin(apart, _APART * size, _APART * size).undecided_where(~run.settled)


# False statements, for the controls.


def relu_interpolates_all(trial: Trial) -> Margin:
    """The ReLU model interpolates every example."""
    missed = (~_fitted(trial.run)).mean(axis=-1)
    return Margin(missed, 0.0).undecided_where(~trial.run.certified)


def relu_limit_is_the_minimum_norm_interpolant(trial: Trial) -> Margin:
    """The ReLU model's limit is the linear interpolant of least norm."""
    problem: Problem = trial.problem
    least = trial.reference("interpolant")
    apart, size = (
        to_numpy(norm_in_span(problem.gram, duals))[:, 0]
        for duals in (trial.run.duals - least[:, None, :], least[:, None, :])
    )
    return Margin(apart, _APART * size, size).undecided_where(~trial.run.certified)


RELU = (NONZERO_LABELS, BOTH_SIGNS, POSITIVE_START, REGULAR, STEP_ONE_CERTIFICATE)
LINEAR = (NONZERO_LABELS, REGULAR, START_IN_SPAN, STABLE)

theorem = Theorem(
    id="lai2026.selection",
    title="Selection: the ReLU model interpolates the positive labels, the linear model all",
    citation=f"{setting.CITATION}; the contrast with the linear model.",
    status=Status.SUMMARY,
    statement=(
        "In high dimension gradient descent on one ReLU neuron interpolates a subset of the data "
        "that the labels choose. On the linear model, φ = identity, it interpolates all of them, "
        "and from a start in the span of the data its limit is the minimum-norm interpolant."
    ),
    method=(
        "Both models are run on the same data, start and step. The linear one takes plain steps "
        "until its residual is 1e-13 of the labels; its limit is compared with one solve."
    ),
    symbols=setting.SYMBOLS,
    defaults=setting.DEFAULTS,
    axes=setting.AXES,
    cells=CELLS,
    draw=setting.draw,
    simulate=descend,
    references={
        "plain": setting.plain,
        "linear": linear,
        "opposite": opposite,
        "interpolant": interpolant,
    },
    explicit=setting.EXPLICIT,
    place=setting.place,
    describe=setting.describe,
    claims=(
        Universal(relu_interpolates_the_positives_only, given=RELU, status=Status.SUMMARY),
        Universal(positives_interpolated, given=RELU, status=Status.SUMMARY),
        Universal(
            negated_labels_select_the_others,
            given=(*RELU, CERTIFIED_NEGATED),
            status=Status.SUMMARY,
        ),
        Universal(linear_model_interpolates_all, given=LINEAR, status=Status.FOLKLORE),
        Universal(
            linear_limit_is_the_minimum_norm_interpolant, given=LINEAR, status=Status.FOLKLORE
        ),
    ),
    controls=(
        Control(
            Universal(relu_interpolates_all, given=RELU, at=CELLS[:1], status=Status.FALSE),
            because="a negative label is out of reach of one neuron of sign +1",
        ),
        Control(
            Universal(
                relu_limit_is_the_minimum_norm_interpolant,
                given=RELU,
                at=CELLS[:1],
                status=Status.FALSE,
            ),
            because="the ReLU model does not interpolate the negative labels",
        ),
    ),
)
