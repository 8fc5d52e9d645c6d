"""One neuron of fixed output sign on orthogonal inputs: problems, sizes and assumptions.

Further coordinates of a point: step = η, where ‖x_i‖² ≤ 1; start: "fixed", β⁰ uniform in
(start_scale/10, start_scale], or "with_step", β⁰_i = κ_i η|y_i|, κ_i uniform in (0, G_ii/2],
or "random_sign", the first with signs that are fair coins; outside_span, ‖w_0^⊥‖.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from properties.boursier2022 import setting
from properties.boursier2022.setting import ORTHOGONAL
from properties.lai2026.setting import BOTH_SIGNS, NONZERO_LABELS, POSITIVE_START
from verify.arrays import to_numpy
from verify.claims import Assumption, Status
from verify.explicit import Explicit, Field
from verify.margin import Margin
from verify.relu.descent import Run, descend
from verify.relu.dynamics.flow import FlowRun, flow
from verify.relu.gap import outside_span
from verify.relu.problem import Problem
from verify.space import Axis, Point
from verify.trial import Trial

Host = np.ndarray[Any, Any]

DEFAULTS: Mapping[str, Any] = {
    **setting.DEFAULTS,
    "step": 0.3,
    "start": "fixed",
    "start_scale": 0.01,
    "outside_span": 0.0,
}

_GIVEN_UP = 2_000
"""Steps after which a run is left undecided: certified runs of the cells take 600 at most."""

SHORTENED = (1.0, 0.1, 0.01)
"""Steps, as multiples of a problem's own, between which the slope of its gap is taken."""


def draw(point: Point, generator: np.random.Generator, trials: int) -> Problem:
    """Draw i.i.d. problems of one neuron at a point."""
    at = {**DEFAULTS, **point}
    gram, labels = setting.draw_data(at, generator, trials)
    share = 1.0 - generator.spawn(1)[0].random(labels.shape)
    if at["start"] == "with_step":
        lengths_squared = np.diagonal(gram, axis1=1, axis2=2)
        start = share * lengths_squared / 2 * at["step"] * np.abs(labels)
    else:
        start = at["start_scale"] * (0.1 + 0.9 * share)
    if at["start"] == "random_sign":
        start = generator.spawn(1)[0].choice([-1.0, 1.0], labels.shape) * start
    problem = Problem.from_gram(
        gram, labels, starting_predictions=start[:, None, :], step_size=at["step"]
    )
    perpendicular = np.full((trials, 1, 1), float(at["outside_span"]) ** 2)
    return replace(problem, perpendicular_gram=perpendicular)


def run_to_the_limit(problem: Problem) -> Run:
    """Run gradient descent to its limit, for `_GIVEN_UP` steps at most."""
    return descend(problem, _GIVEN_UP)


def follow(problem: Problem, _run: Run) -> FlowRun:
    """Return gradient flow from the same start."""
    return flow(problem)


def shorten(problem: Problem, run: Run) -> tuple[Run, ...]:
    """Return descent at `SHORTENED` multiples of the step and, with it, of the start."""
    return run, *(
        run_to_the_limit(
            replace(
                problem,
                step_size=factor * problem.step_size,
                starting_predictions=factor * problem.starting_predictions,
            )
        )
        for factor in SHORTENED[1:]
    )


def describe(problem: Problem, index: int) -> dict[str, Any]:
    """Return what a person needs to recognise one problem."""
    one = problem.select(np.asarray([index]))
    facts: dict[str, Any] = {
        "examples": one.examples,
        "step_size": float(one.step_size[0]),
        "labels": to_numpy(one.labels)[0],
        "starting_predictions": to_numpy(one.starting_predictions)[0],
        "outside_span": float(outside(one)[0]),
    }
    gram, gap = to_numpy(one.gram)[0], float(closed_form(one)[0])
    if (gram != np.diag(np.diagonal(gram))).any():
        return {**facts, "gram": gram} if one.examples <= 64 else facts
    facts["squared_lengths"] = np.diagonal(gram)
    return facts if np.isnan(gap) else {**facts, "gap": gap}


def closed_form(problem: Problem) -> Host:
    """Return the gap of one neuron on orthogonal inputs, (B,), in units of weights [D].

    With a = ηG_ii < 1 an active example has β_t − y = (1−a)^t (β⁰ − y). Positive labels are met in
    the limit. A negative one has β_t = |y|((1−a)^t (1 + β⁰/|y|) − 1), and rests at the first t with
    β_t ≤ 0, the least t ≥ log(1 + β⁰/|y|)/|log(1−a)|; w⋆ predicts 0 there (theory §8). NaN where
    some a is not in (0, 1), or a negative label has β⁰ ≤ 0.
    """
    found = squares(problem)
    labels, start = to_numpy(problem.labels), to_numpy(problem.starting_predictions)[:, 0]
    negative, speed = labels < 0, to_numpy(problem.step_size)[:, None] * found
    covered = (speed > 0) & (speed < 1) & ~(negative & (start <= 0))
    used = negative & covered
    size, found = np.where(used, -labels, 1.0), np.where(covered, found, 1.0)
    shrinking = np.log1p(-np.where(used, speed, 0.5))
    above = np.log1p(np.where(used, start, 0.0) / size)
    steps = np.ceil(above / -shrinking)
    rests = np.where(used, size * np.expm1(steps * shrinking + above), 0.0)
    gap = np.sqrt(outside(problem) ** 2 + np.sum(rests**2 / found, axis=-1))
    return np.where(covered.all(axis=-1), gap, np.nan)


def squares(problem: Problem) -> Host:
    """Return ‖x_i‖², (B, n)."""
    return np.asarray(np.diagonal(to_numpy(problem.gram), axis1=1, axis2=2))


def outside(problem: Problem) -> Host:
    """Return ‖w_0^⊥‖, (B,)."""
    return np.asarray(to_numpy(outside_span(problem)))


def interpolant_norm(problem: Problem) -> Host:
    """Return √Σ_i y_i²/‖x_i‖², (B,): on orthogonal inputs the norm of the interpolant of least
    norm, on others a size in weights."""
    found = squares(problem)
    terms = to_numpy(problem.labels) ** 2 / np.where(found > 0, found, 1.0)
    return np.asarray(np.sqrt(np.sum(terms, axis=-1)))


def linear_bound(problem: Problem) -> Host:
    """Return √(‖w_0^⊥‖² + η² Σ_{S₋} ‖x_i‖² y_i²), (B,)."""
    labels, step = to_numpy(problem.labels), to_numpy(problem.step_size)
    terms = np.where(labels < 0, squares(problem) * labels**2, 0.0)
    return np.asarray(np.sqrt(outside(problem) ** 2 + step**2 * np.sum(terms, axis=-1)))


# Assumptions.


def step_is_below_one_over_the_largest_square(trial: Trial) -> Margin:
    """The step is short: η‖x_i‖² < 1 for every example."""
    problem: Problem = trial.problem
    return Margin(to_numpy(problem.step_size) * squares(problem).max(axis=-1), 1.0, rounding=1e-12)


def step_is_far_below_that(trial: Trial) -> Margin:
    """The step is far shorter: η‖x_i‖² ≤ 1/25 for every example."""
    problem: Problem = trial.problem
    speed = to_numpy(problem.step_size) * squares(problem).max(axis=-1)
    return Margin(speed, 0.04, rounding=1e-12)


def start_shrinks_with_the_step(trial: Trial) -> Margin:
    """The start is β⁰_i = κ_i η|y_i| with 0 < κ_i < ‖x_i‖²/2 on the negative labels: less than half
    of what the first step takes."""
    problem: Problem = trial.problem
    labels = to_numpy(problem.labels)
    first = to_numpy(problem.step_size)[:, None] * squares(problem) * np.abs(labels)
    start = to_numpy(problem.starting_predictions)[:, 0]
    share = np.where(labels < 0, start / np.where(first > 0, first, 1.0), 0.0)
    return Margin(share.max(axis=-1), 0.5, rounding=1e-12)


SHORT_STEP = Assumption(
    step_is_below_one_over_the_largest_square, Status.DERIVED, axes=("step", "spread")
)
FAR_SHORTER = Assumption(step_is_far_below_that, Status.DERIVED, axes=("step",))
SHRINKING_START = Assumption(
    start_shrinks_with_the_step, Status.DERIVED, axes=("start", "start_scale")
)

DATA = (ORTHOGONAL, NONZERO_LABELS, POSITIVE_START)
GIVEN = (*DATA, BOTH_SIGNS, SHORT_STEP)


def _build_explicit(values: Mapping[str, Any]) -> Problem:
    lengths = values["lengths"]
    return Problem.from_features(
        np.diag(lengths),
        values["labels"],
        starting_predictions=values["start"][None, :],
        step_size=values["c"] / np.max(lengths) ** 2,
    )


EXPLICIT = Explicit(
    sizes={"n": (2, 6)},
    fields={
        "lengths": Field(1, 4, shape=("n",), symbol="‖x‖"),
        "labels": Field(-4, 4, shape=("n",), nonzero=True, symbol="y"),
        "start": Field(1, 1000, shape=("n",), denominator=1000, symbol="β⁰"),
        "c": Field(1, 95, denominator=100),
    },
    build=_build_explicit,
)
"""Multiples of unit vectors, integer labels, and η = c/max‖x‖² with c < 1 in hundredths."""

AXES = (
    Axis("n", 2, 6, "integer", meaning="examples"),
    *setting.AXES,
    Axis("step", 1e-3, 0.95, "log", simplest=0.5, meaning="step size η, where ‖x‖² ≤ 1"),
    Axis("start", scale="choice", choices=("fixed", "with_step"), meaning="kind of start"),
    Axis("start_scale", 1e-3, 1.0, "log", simplest=0.01, meaning="largest fixed prediction"),
    Axis("outside_span", 0.0, 1.0, meaning="‖w_0^⊥‖, outside the data span"),
)

WIDE_AXES = (
    *(axis for axis in AXES if axis.name not in ("step", "start")),
    Axis("step", 1e-3, 4.0, "log", simplest=0.5, inside=(1e-3, 0.95), meaning="step size η"),
    Axis(
        "start",
        scale="choice",
        choices=("fixed", "with_step", "random_sign"),
        inside=("fixed", "with_step"),
        meaning="kind of start",
    ),
    setting.CORRELATION,
)
