"""What walks and runs say of limits and steps, and of what it is certain (theorem 8)."""

from __future__ import annotations

from typing import Any

import numpy as np

from properties.vardi_shamir2021 import setting
from verify.arrays import array_namespace, device, to_numpy
from verify.margin import Margin
from verify.relu.approach import SETTLED, Approach
from verify.relu.descent import Run, descend
from verify.relu.gap import norm_in_span
from verify.relu.nearest_minimum import NearestMinimum
from verify.relu.problem import Problem
from verify.tolerances import epsilon, summation
from verify.trial import Trial

Host = np.ndarray[Any, Any]


def unit_of(best: NearestMinimum) -> Host:
    """Return ‖w̃ − w_0‖, 1 where that is zero, (B,)."""
    far = to_numpy(best.distance)
    return np.where(far > 0, far, 1.0)


def moved(trial: Trial) -> Any:
    """Return what the coefficients gained up to the limit of the run, (B, 1, n)."""
    return trial.run.duals - trial.problem.starting_duals


def in_span(trial: Trial, duals: Any) -> Host:
    """Return ‖Xᵀα‖ of one neuron's duals (B, 1, n), (B,)."""
    return np.asarray(to_numpy(norm_in_span(trial.problem.gram, duals))[:, 0])


def error_of_limit(trial: Trial) -> Host:
    """Return a bound on what subtracting the starting coefficients loses, in weights, (B,)."""
    problem: Problem = trial.problem
    size = np.abs(to_numpy(trial.run.duals)) + np.abs(to_numpy(problem.starting_duals))
    highest = np.sqrt(to_numpy(problem.eigenvalues)[:, -1])
    return np.asarray(2 * epsilon(problem.gram) * highest * np.linalg.norm(size[:, 0], axis=-1))


def left_of_walk(problem: Problem) -> Host:
    """Return a bound on how far steps that have settled are from their limit, in weights, (B,):
    what residuals are left, and the rounding of predictions, over the root of λ_min(G)."""
    size = np.abs(to_numpy(problem.labels)) + np.abs(to_numpy(problem.starting_predictions))[:, 0]
    rounding = summation(problem.examples, problem.labels) * np.linalg.norm(size, axis=-1)
    lowest = np.maximum(to_numpy(problem.inner_products.smallest), 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray((SETTLED * size.max(axis=-1) + 2 * rounding) / np.sqrt(lowest))


def known_limit(judge: Any, distance: Host) -> Margin:
    """Return the margin of a limit's distance, without a say where that is −∞: not certified."""
    known = distance > -np.inf
    margin = judge(np.where(known, distance, 0.0))
    return Margin(0.0, np.where(known, margin.value, np.inf), 1.0, margin.uncertainty * known)


def unless_cut_short(trial: Trial, margin: Margin) -> Margin:
    """Return the margin of every step taken: undecided where more would follow, unless violated."""
    plain: Approach = trial.reference("walk")
    return margin.undecided_where(~plain.settled & ~margin.violated)


def certain(trial: Trial, margin: Margin, step: Host | None = None) -> Margin:
    """Return the margin, undecided where w̃ is not certified, or where a violation is not certain.

    It is where no prediction was met within rounding of zero by a run that is certified, or went
    as far as the step, (B,), that violates.
    """
    best: NearestMinimum = trial.reference("nearest")
    unsure, violated = ~best.certified, margin.violated
    if not violated.any():
        return margin.undecided_where(unsure)
    run: Run = trial.run
    needed = np.full(trial.trials, setting.GIVEN_UP) if step is None else step
    followed, ties = _followed(run, step), run.near_ties > 0
    further = np.flatnonzero(violated & ~followed)
    if further.size:
        rest = trial.problem.select(_index(trial.problem, further))
        longer = descend(rest, int(needed[further].max()))
        followed[further] = _followed(longer, None if step is None else step[further])
        ties[further] = longer.near_ties > 0
    return margin.undecided_where(unsure | (violated & (ties | ~followed)))


def _index(problem: Problem, positions: Host) -> Any:
    """Return positions beside the problem's arrays."""
    gram = problem.gram
    return array_namespace(gram).asarray(positions, device=device(gram))


def _followed(run: Run, step: Host | None) -> Host:
    """Return where a run tells of the path up to a step, (B,); of all of it, by default."""
    return run.certified.copy() if step is None else run.certified | (step <= run.steps)
