"""What theorems 1 and 3 assert of the dynamics, for neurons that each keep to a label class.

The label class of a neuron of output sign s is the examples with s·y > 0: of positive label for a
single neuron. Every function here is one side's work of claims in `theorem1` and `theorem3`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from properties.lai2026.setting import (
    classes_from_step_one,
    equal_up_to_solving,
    label_scale,
)
from verify.arrays import to_numpy
from verify.linear_algebra import solve_positive_definite
from verify.margin import Margin
from verify.relu.descent import gradient_step, start
from verify.relu.gap import nearest_interpolant, norm_in_span
from verify.relu.plain import PlainRun
from verify.relu.problem import Problem
from verify.relu.slopes import Slopes
from verify.trial import Trial

Host = np.ndarray[Any, Any]

_RATIO_ERROR = 1e-6
"""Rounding error of a ratio of residuals, the smaller at least 1e-9 of the labels."""


def frozen_at_the_classes(trial: Trial) -> Margin:
    """Return the margin of: from step one on the patterns are the label classes, by certificate
    and by plain descent."""
    plain: PlainRun = trial.reference("plain")
    classes = to_numpy(trial.problem.label_classes)
    disagrees = ((to_numpy(plain.predictions) > 0) != classes).any(axis=(1, 2))
    margin = classes_from_step_one(trial)
    return margin.contradicted_where(plain.settled & (disagrees | (plain.last_flip > 1)))


def signs_after_step_one(trial: Trial) -> Margin:
    """Return the margin of: after one step every neuron is active exactly on its label class."""
    problem: Problem = trial.problem
    predictions = to_numpy(gradient_step(problem, start(problem)).predictions)
    side = np.where(to_numpy(problem.label_classes), predictions, -predictions)
    return Margin(0.0, side.min(axis=(1, 2)), label_scale(problem), rounding=1e-12)


def duals_off_the_classes_frozen(trial: Trial) -> Margin:
    """Return the margin of: after step one no dual coefficient off a neuron's label class moves.

    Recomputed from the predictions of plain descent, which are all that the Gram matrix tells.
    """
    problem: Problem = trial.problem
    plain: PlainRun = trial.reference("plain")
    moved = plain.predictions - problem.starting_predictions
    moved = to_numpy(moved - plain.change_after_first_step @ problem.gram)
    recomputed = solve_positive_definite(to_numpy(problem.gram), moved.swapaxes(1, 2))
    outside = ~to_numpy(problem.label_classes)
    change = np.where(outside, np.abs(recomputed.swapaxes(1, 2)), 0.0)
    size = np.abs(to_numpy(trial.run.duals)).max(axis=(1, 2))
    return equal_up_to_solving(problem, change.max(axis=(1, 2)), size).undecided_where(
        ~plain.settled
    )


def limit_is_nearest(trial: Trial) -> Margin:
    """Return the margin of: every neuron's limit is the interpolant of its label class nearest to
    its weights after step one, by the jump and by plain descent."""
    problem: Problem = trial.problem
    expected = nearest_interpolant(problem)
    plain: PlainRun = trial.reference("plain")

    by_jump = same_weights(problem, trial.run.duals, expected)
    by_plain = same_weights(problem, problem.starting_duals + plain.change, expected)
    return Margin.worst(
        by_jump.undecided_where(~trial.run.certified), by_plain.undecided_where(~plain.settled)
    )


def same_weights(problem: Problem, duals: Any, expected: Any) -> Margin:
    """Return the margin of: the neurons have the weights expected; duals (B, m, n), both."""
    apart, size = (
        np.sqrt((to_numpy(norm_in_span(problem.gram, each)) ** 2).sum(axis=-1))
        for each in (duals - expected, expected)
    )
    return equal_up_to_solving(problem, apart, size)


def contracts_on_the_classes(trial: Trial) -> Margin:
    """Return the margin of: from step one on each step shrinks the residual on the label classes
    at least by ρ = max|1 − ηλ(M)| < 1, M the Gram matrix within each class."""
    problem: Problem = trial.problem
    values = _eigenvalues_on_the_classes(problem)
    step = to_numpy(problem.step_size)[:, None]
    rate = np.where(np.isnan(values), -np.inf, np.abs(1 - step * values)).max(axis=-1)
    plain: PlainRun = trial.reference("plain")
    within = Margin(plain.contraction, rate + _RATIO_ERROR).undecided_where(~plain.settled)
    return Margin.worst(within, Margin(rate, 1.0, rounding=1e-12))


def _eigenvalues_on_the_classes(problem: Problem) -> Host:
    """Return the eigenvalues of M on the classes, NaN beyond their number, (B, n)."""
    covered = to_numpy(problem.label_classes).any(axis=1)
    values = np.linalg.eigvalsh(to_numpy(Slopes(problem.label_classes).interaction(problem.gram)))
    spare = covered.shape[-1] - covered.sum(axis=-1, keepdims=True)
    return np.where(np.arange(covered.shape[-1]) < spare, np.nan, values)
