"""Networks of many neurons that start at random, and what their runs come to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from properties.lai2026 import setting
from properties.lai2026.setting import label_scale
from verify.arrays import to_numpy
from verify.margin import Margin
from verify.relu.descent import Run
from verify.relu.effective_dimensions import dimensions_of
from verify.relu.problem import Problem
from verify.space import Point

Host = np.ndarray[Any, Any]

DEFAULTS: Mapping[str, Any] = {
    **{name: value for name, value in setting.DEFAULTS.items() if name != "outside_span"},
    "positives": "random",
    "start": "random_sign",
    "start_high": 1e-3,
    "m": 16,
}

FITTED = 1e-8
"""Largest misfit, over the largest label, at a global minimum."""


def draw(point: Point, generator: np.random.Generator, trials: int) -> Problem:
    """Draw m neurons of alternating output sign; c is that of one neuron, over ⌈m/2⌉.

    Neurons of one sign add up: m/2 of them that see an example move its prediction m/2 times as
    far as one.
    """
    at = {**DEFAULTS, **point}
    m = int(at["m"])
    signs = tuple(1 if k % 2 == 0 else -1 for k in range(m))
    coordinates = {name: value for name, value in at.items() if name != "m"}
    law = setting.ensemble_at(Point(**{**coordinates, "c": at["c"] / _of_one_sign(m)}), signs)
    return law.draw(generator, trials)


def _of_one_sign(neurons: int) -> int:
    """Return how many of so many neurons of alternating sign have the sign +1."""
    return (neurons + 1) // 2


def first(problem: Problem, neurons: int) -> Problem:
    """Return the same data and the first neurons alone, with the step that is theirs."""
    share = _of_one_sign(problem.neurons) / _of_one_sign(neurons)
    return replace(
        problem,
        starting_predictions=problem.starting_predictions[:, :neurons, :],
        signs=problem.signs[:, :neurons],
        step_size=problem.step_size * share,
        perpendicular_gram=problem.perpendicular_gram[:, :neurons, :neurons],
        features=None,
        starting_weights=None,
    )


def half(problem: Problem, _run: Run) -> Run:
    """Return what the first half of the neurons does alone."""
    return setting.descend_to_a_pattern(first(problem, max(problem.neurons // 2, 1)))


def two(problem: Problem, _run: Run) -> Run:
    """Return what the first two neurons do alone."""
    return setting.descend_to_a_pattern(first(problem, min(problem.neurons, 2)))


def describe(problem: Problem, index: int) -> dict[str, Any]:
    """Return what a person needs to recognise one problem."""
    one = problem.select(np.asarray([index]))
    return {
        "examples": one.examples,
        "neurons": one.neurons,
        "dimension": float(np.ravel(dimensions_of(one).dimension)[0]),
        "step_size": float(to_numpy(one.step_size)[0]),
        "covered_at_the_start": int(covered_at_the_start(one).sum()),
        "labels": to_numpy(one.labels)[0],
    }


# What a run comes to.


def misfit(run: Run) -> Host:
    """Return max_i |f(x_i) − t_i| over the largest label, (B,): 0 at a global minimum.

    t is the label, or 0 where no neuron has its sign.
    """
    problem = run.problem
    output = to_numpy(problem.output(run.predictions))
    reachable = to_numpy(problem.label_classes).any(axis=1)
    target = np.where(reachable, to_numpy(problem.labels), 0.0)
    return np.asarray(np.abs(output - target).max(axis=-1) / label_scale(problem))


def reaches(run: Run) -> Margin:
    """Return the margin of: the run ends at a global minimum. Chattering runs decide nothing."""
    return Margin(misfit(run), FITTED).undecided_where(~run.certified)


def covered_at_the_start(problem: Problem) -> Host:
    """Return where a neuron of an example's own sign is active on it at the start, (B, n)."""
    active = to_numpy(problem.starting_predictions) > 0
    return np.asarray((active & to_numpy(problem.label_classes)).any(axis=1))
