"""What the theorems of Lai et al. assume, in checkable form: one statement each, to be dropped.

The paper asks for bounded labels, high-dimensional features, a small positive start and a step of
order 1/‖λ‖₁ [A]; "small", "≫" and "of order" get numbers here that are ours, and generous: within
all of them no violation is known. `relu-verify ablate` drops them one after the other, and
`relu-verify frontier` says where each of them really stops.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from properties.lai2026.setting import (
    BOTH_SIGNS,
    POSITIVE_START,
    REGULAR,
    START_IN_SPAN,
    label_scale,
)
from verify.arrays import to_numpy
from verify.claims import Assumption, Status
from verify.margin import Margin
from verify.relu.effective_dimensions import dimensions_of, relative_step
from verify.relu.problem import Problem
from verify.trial import Trial

DIMENSION_OVER_EXAMPLES = 5_000
"""d/n from which the features count as high-dimensional."""

SMALLEST_STEP, LARGEST_STEP = 0.25, 1.2
"""Bounds on c = η‖λ‖₁."""

LABEL_RATIO = 0.5
"""Least min|y|/max|y|."""

START_OVER_LABELS = 0.05
"""Largest |β⁰|/min|y|."""

SPREAD = 0.25
"""Least d_∞/d."""

LIGHTEST_STUDENT = 8.0
"""Degrees of freedom from which Student's t counts as of light tails."""

_ROUNDING = 1e-12


def dimension_is_high(trial: Trial) -> Margin:
    """The features are high-dimensional, d ≫ n: d ≥ 5000·n."""
    dimension = np.asarray(dimensions_of(trial.problem).dimension, dtype=float)
    required = float(DIMENSION_OVER_EXAMPLES * trial.problem.examples)
    return Margin(required, np.broadcast_to(dimension, (trial.trials,)), required)


def step_is_bounded_below(trial: Trial) -> Margin:
    """The step is of order 1/‖λ‖₁ at least: η‖λ‖₁ ≥ ¼."""
    return Margin(SMALLEST_STEP, relative_step(trial.problem), rounding=_ROUNDING)


def step_is_bounded_above(trial: Trial) -> Margin:
    """The step is of order 1/‖λ‖₁ at most: η‖λ‖₁ ≤ 1.2."""
    return Margin(relative_step(trial.problem), LARGEST_STEP, rounding=_ROUNDING)


def labels_are_bounded(trial: Trial) -> Margin:
    """The labels are bounded, and away from zero: min|y| ≥ ½ max|y|, and no label is zero."""
    smallest = np.abs(to_numpy(trial.problem.labels)).min(axis=-1) / label_scale(trial.problem)
    return Margin(LABEL_RATIO, smallest, rounding=_ROUNDING)


def start_is_small(trial: Trial) -> Margin:
    """The start is small against the labels: max|β⁰| ≤ min|y|/20."""
    problem: Problem = trial.problem
    largest = np.abs(to_numpy(problem.starting_predictions)).max(axis=(1, 2))
    smallest = np.abs(to_numpy(problem.labels)).min(axis=-1)
    return Margin(largest, START_OVER_LABELS * smallest, label_scale(problem), _ROUNDING)


def spectrum_is_spread(trial: Trial) -> Margin:
    """The spectrum is spread, no direction having more than four times its share: d_∞ ≥ d/4."""
    known = dimensions_of(trial.problem)
    ratio = np.asarray(known.d_inf, dtype=float) / np.asarray(known.dimension, dtype=float)
    return Margin(SPREAD, np.broadcast_to(ratio, (trial.trials,)), rounding=_ROUNDING)


def tails_are_light(trial: Trial) -> Margin:
    """The features' entries are sub-Gaussian, or Student's t with at least 8 degrees of freedom.

    It is a statement about the law: features that were not drawn have no tails, and meet it.
    """
    return Margin(LIGHTEST_STUDENT, min(_degrees_of_freedom(trial.point), 1e3), LIGHTEST_STUDENT)


def _degrees_of_freedom(point: Any) -> float:
    """Return those of the law of the features' entries, infinite where it is no Student's t."""
    if point is None:
        return np.inf
    if "degrees_of_freedom" in point:
        return float(point["degrees_of_freedom"])
    kind, _, freedom = str(point.get("features", "")).partition(":")
    return float(freedom) if kind == "student_t" else np.inf


HIGH_DIMENSION = Assumption(dimension_is_high, Status.SUMMARY, axes=("d_over_n",))
STEP_FROM_BELOW = Assumption(step_is_bounded_below, Status.SUMMARY, axes=("c",))
STEP_FROM_ABOVE = Assumption(step_is_bounded_above, Status.SUMMARY, axes=("c",))
BOUNDED_LABELS = Assumption(labels_are_bounded, Status.SUMMARY, axes=("y_min",))
SMALL_START = Assumption(start_is_small, Status.SUMMARY, axes=("start_scale",))
SPREAD_SPECTRUM = Assumption(spectrum_is_spread, Status.SUMMARY, axes=("spectrum",))
LIGHT_TAILS = Assumption(tails_are_light, Status.SUMMARY, axes=("features",))
DYNAMICS = (
    POSITIVE_START,
    SMALL_START,
    STEP_FROM_BELOW,
    STEP_FROM_ABOVE,
    BOUNDED_LABELS,
    SPREAD_SPECTRUM,
    LIGHT_TAILS,
    START_IN_SPAN,
    HIGH_DIMENSION,
    REGULAR,
)
"""Of theorems 1 and 3."""

BIAS = (*DYNAMICS, BOTH_SIGNS)
"""Of theorems 2 and 4."""
