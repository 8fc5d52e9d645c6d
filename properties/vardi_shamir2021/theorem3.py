"""Theorem 3 of Vardi and Shamir (COLT 2021): the data on which the limit is not the minimum norm.

Coordinates of a point: gamma, the entry of the third row of X_γ; at γ = 0 that row is zero, and is
left out, which changes neither the weights nor the loss; slope_at_zero, φ'(0), "1" or "0". The
labels are c·(16, 18, 0), c drawn log-uniformly from [1/10, 10]: the limit scales with c.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from properties.vardi_shamir2021 import setting
from verify.arrays import to_numpy
from verify.claims import Assumption, Control, Status, Universal
from verify.explicit import Explicit, Field
from verify.margin import Margin
from verify.relu.dynamics.flow import flow
from verify.relu.dynamics.stepping import descend_in_small_steps
from verify.relu.linear import minimum_norm_interpolant
from verify.relu.problem import Problem
from verify.space import Axis, Point
from verify.theorem import Theorem
from verify.tolerances import IDENTITY
from verify.trial import Trial

Host = np.ndarray[Any, Any]

STEP = 1e-5
"""η of the descent that approaches the flow."""

PUBLISHED: Mapping[float, tuple[float, float]] = {
    0.0: (0.0, 0.0),
    1.0: (-0.045, -0.035),
    2.0: (-0.12, -0.10),
    5.0: (-0.22, -0.20),
}
"""The interval of s = (w_∞)_3/c by γ, as published [V]."""

MEASURED: Mapping[float, float] = {0.0: 0.0, 1.0: -0.0408, 2.0: -0.1107, 5.0: -0.2091}
"""What descent at η = 1e-5 came to, to four digits, in an implementation of its own [D]."""

_APART = 2e-4
"""How far from `MEASURED` descent and flow may end."""

_NONE = (np.nan, np.nan)
"""Of another γ nothing is published, and nothing is decided."""

GAMMAS = tuple(PUBLISHED)

_LEARNT = (5.0, -1.0)
"""The first two weights of every zero-loss point, over c."""


@dataclass(frozen=True, eq=False)
class Ended:
    """Where B neurons ended: weights, (B, 3), over c; certified, (B,); error, (B,), a bound on how
    far from that the exact limit lies, over c."""

    weights: Host
    certified: Host
    error: Host


def features(gamma: float) -> Host:
    """Return X_γ, (3, 3); (2, 3) at γ = 0, without its row of zeros."""
    rows = np.asarray([[3.0, -1.0, 0.0], [4.0, 2.0, 0.0], [0.0, gamma, gamma]])
    return rows if gamma else rows[:2]


def problem_of(gamma: float, scales: Host, slope_at_zero: int = 1) -> Problem:
    """Return the problems with labels c·(16, 18, 0) for the c in scales (B,), from w_0 = 0."""
    rows = features(gamma)
    labels = np.asarray([16.0, 18.0, 0.0])[: len(rows)]
    return Problem.from_features(
        np.tile(rows, (len(scales), 1, 1)),
        np.asarray(scales)[:, None] * labels,
        starting_predictions=np.zeros((1, len(rows))),
        step_size=STEP,
        slope_at_zero=slope_at_zero,
    )


def draw(point: Point, generator: np.random.Generator, trials: int) -> Problem:
    """Draw scales of the labels, log-uniform from [1/10, 10]."""
    slope = int(setting.one_of("slope_at_zero", str(point.get("slope_at_zero", 1)), ("1", "0")))
    return problem_of(float(point["gamma"]), 10.0 ** generator.uniform(-1, 1, trials), slope)


def _build_small(values: Mapping[str, Any]) -> Problem:
    return problem_of(float(values["gamma"]), np.ones(1), int(values["slope_at_zero"]))


SMALL = Explicit(
    sizes={},
    fields={
        "gamma": Field(0, 5, symbol="γ"),
        "slope_at_zero": Field(0, 1, symbol="φ'(0)", zero_last=True),
    },
    build=_build_small,
)
"""The data themselves, c = 1, for whole γ."""


def scale_of(problem: Problem) -> Host:
    """Return c, (B,)."""
    return np.asarray(to_numpy(problem.labels)[:, 0] / 16)


def gamma_of(problem: Problem) -> float:
    """Return γ, the same for all problems of a batch."""
    rows = to_numpy(problem.features)[0]
    return float(rows[2, 1]) if len(rows) == 3 else 0.0


def follow(problem: Problem) -> Ended:
    """Follow gradient flow to its limit."""
    return _ended(flow(problem))


def descend(problem: Problem, _run: Any) -> Ended:
    """Return where gradient descent with η = 1e-5 ends."""
    return _ended(descend_in_small_steps(problem))


def _ended(run: Any) -> Ended:
    problem: Problem = run.problem
    moved = np.asarray(run.duals - problem.starting_duals)[:, 0]
    weights = np.einsum("bi,bij->bj", moved, to_numpy(problem.features))
    scale = scale_of(problem)
    return Ended(weights / scale[:, None], run.certified, run.error / scale)


def copies(_point: Mapping[str, Any]) -> str:
    """Return what problems with one γ are: all that is looked at is divided by c, with which the
    flow, homogeneous of degree one in the labels, scales."""
    return "rescalings"


def describe(problem: Problem, index: int) -> dict[str, Any]:
    """Return what a person needs to recognise one problem."""
    one = problem.select(np.asarray([index]))
    ended = follow(one)
    return {
        "gamma": gamma_of(one),
        "scale": float(scale_of(one)[0]),
        "features": to_numpy(one.features)[0],
        "labels": to_numpy(one.labels)[0],
        "limit_over_scale": ended.weights[0],
    }


# Assumptions and claims.


def gamma_is_published(trial: Trial) -> Margin:
    """γ is 0, 1, 2 or 5: for these the source names an interval."""
    known = gamma_of(trial.problem) in PUBLISHED
    return Margin(1, np.full(trial.trials, int(known)))


def activation_has_slope_one_at_zero(trial: Trial) -> Margin:
    """φ'(0) = 1, so that the neuron leaves w_0 = 0."""
    return Margin(1, np.full(trial.trials, trial.problem.slope_at_zero))


PUBLISHED_GAMMA = Assumption(gamma_is_published, Status.READ, axes=("gamma",))
SLOPE_ONE = Assumption(activation_has_slope_one_at_zero, Status.READ, axes=("slope_at_zero",))

GIVEN = (PUBLISHED_GAMMA, SLOPE_ONE)


def positive_labels_are_learnt(trial: Trial) -> Margin:
    """The first two weights end at 5c and −c: the positive labels are learnt."""
    ended: Ended = trial.run
    off = np.abs(ended.weights[:, :2] - _LEARNT).max(axis=-1)
    return Margin(off, IDENTITY, rounding=ended.error).undecided_where(~ended.certified)


def third_weight_lies_in_the_published_interval(trial: Trial) -> Margin:
    """The third weight over c lies in (−.045, −.035) for γ = 1, (−.12, −.10) for γ = 2 and
    (−.22, −.20) for γ = 5; at γ = 0 it is 0."""
    ended: Ended = trial.run
    low, high = PUBLISHED.get(gamma_of(trial.problem), _NONE)
    middle, width = (low + high) / 2, max((high - low) / 2, IDENTITY)
    off = np.abs(ended.weights[:, 2] - middle)
    return Margin(off, width, width, ended.error / width).undecided_where(~ended.certified)


def loss_ends_at_zero(trial: Trial) -> Margin:
    """The loss ends at zero: every output, recomputed from the weights, is its label to 1e-10 of
    the largest; so the limit is a zero-loss point, and (5c, −c, 0) another."""
    ended: Ended = trial.run
    problem: Problem = trial.problem
    rows, labels = to_numpy(problem.features), to_numpy(problem.labels)
    largest = labels.max(axis=-1) / scale_of(problem)
    reached = np.maximum(np.einsum("bij,bj->bi", rows, ended.weights), 0.0)
    misfit = np.abs(reached - labels / scale_of(problem)[:, None]).max(axis=-1)
    lengths = np.sqrt((rows**2).sum(axis=-1)).max(axis=-1)
    error = ended.error * lengths / largest
    return Margin(misfit, IDENTITY * largest, largest, error).undecided_where(~ended.certified)


def descent_ends_where_it_was_computed(trial: Trial) -> Margin:
    """Gradient descent with η = 1e-5 ends with the third weight at −.0408c, −.1107c and −.2091c
    for γ = 1, 2, 5, to 2e-4·c, and at 0 for γ = 0 (our figures); so does the flow."""
    steps: Ended = trial.reference("descent")
    expected = MEASURED.get(gamma_of(trial.problem), np.nan)

    def near(ended: Ended) -> Margin:
        off = np.abs(ended.weights[:, 2] - expected)
        margin = Margin(off, _APART, _APART, ended.error / _APART)
        return margin.undecided_where(~ended.certified)

    return Margin.worst(near(steps), near(trial.run))


# False statements, for the controls.


def limit_is_the_minimum_norm(trial: Trial) -> Margin:
    """The limit is the zero-loss point of least norm, (5c, −c, 0)."""
    ended: Ended = trial.run
    off = np.linalg.norm(ended.weights - (*_LEARNT, 0.0), axis=-1)
    return Margin(off, 1e-6, rounding=ended.error).undecided_where(~ended.certified)


def intervals_hold_with_slope_zero_at_zero(trial: Trial) -> Margin:
    """The third weight lies in the published interval also with φ'(0) = 0."""
    return third_weight_lies_in_the_published_interval(trial)


def without_slope_at_zero(problem: Problem) -> Ended:
    """Follow the flow with φ'(0) = 0."""
    return follow(problem_of(gamma_of(problem), scale_of(problem), slope_at_zero=0))


def never_inactive(problem: Problem) -> Ended:
    """Fit all labels as a linear neuron would, from w_0 = 0: no example ever turns inactive."""
    duals = to_numpy(minimum_norm_interpolant(problem))
    weights = np.einsum("bi,bij->bj", duals, to_numpy(problem.features))
    sure = np.ones(problem.batch, dtype=bool)
    return Ended(weights / scale_of(problem)[:, None], sure, np.zeros(problem.batch))


CELLS = tuple(Point(gamma=gamma) for gamma in GAMMAS)
TWO = (Point(gamma=2.0),)
GAMMA = Axis("gamma", scale="choice", choices=GAMMAS, meaning="γ")

theorem = Theorem(
    id="vardi_shamir2021.theorem3",
    title="One ReLU neuron: data on which gradient flow misses the minimum norm",
    citation=f"{setting.CITATION}; Theorem 3.",
    status=Status.READ,
    statement=(
        "X_γ = [[3, −1, 0], [4, 2, 0], [0, γ, γ]], y = c(16, 18, 0), φ'(0) = 1 and w_0 = 0: "
        "gradient flow ends at c(5, −1, s) with s = 0 for γ = 0 and s in (−.045, −.035), (−.12, "
        "−.10) and (−.22, −.20) for γ = 1, 2, 5; (5c, −c, 0) has zero loss for every γ, and a "
        "smaller norm unless γ = 0."
    ),
    method=(
        "The flow is exact from event to event. Gradient descent with η = 1e-5, whose last "
        "change of the pattern comes after about 10⁴ steps, is followed exactly from change to "
        "change too. Loss and third weight are recomputed from the weights."
    ),
    symbols={
        "γ": "the entry of the third row of the features",
        "c": "the scale of the labels, drawn from [1/10, 10]",
        "w_0, w_∞": "the starting weights, 0, and the limit",
        "s": "the third weight of the limit over c",
        "φ": setting.SYMBOLS["φ"],
        "η": setting.SYMBOLS["η"],
    },
    defaults={"slope_at_zero": "1"},
    axes=(GAMMA,),
    wide_axes=(
        GAMMA,
        Axis("slope_at_zero", scale="choice", choices=("1", "0"), inside=("1",), meaning="φ'(0)"),
    ),
    hypotheses=GIVEN,
    cells=CELLS,
    draw=draw,
    simulate=follow,
    references={"descent": descend},
    copies=copies,
    describe=describe,
    small=SMALL,
    claims=(
        Universal(third_weight_lies_in_the_published_interval, given=GIVEN),
        Universal(positive_labels_are_learnt, given=GIVEN),
        Universal(loss_ends_at_zero, given=GIVEN),
        Universal(descent_ends_where_it_was_computed, given=GIVEN, status=Status.DERIVED),
    ),
    controls=(
        Control(
            Universal(limit_is_the_minimum_norm, given=GIVEN, at=TWO, status=Status.FALSE),
            because="what the third example gains before it turns inactive stays",
        ),
        Control(
            Universal(
                intervals_hold_with_slope_zero_at_zero, given=GIVEN, at=TWO, status=Status.FALSE
            ),
            because="with φ'(0) = 0 no example is active at w_0 = 0, and nothing ever moves",
            simulate=without_slope_at_zero,
        ),
        Control(
            Universal(
                third_weight_lies_in_the_published_interval,
                given=GIVEN,
                at=TWO,
                status=Status.FALSE,
                name="broken_dynamics_never_inactive",
            ),
            because="a neuron that is active on the third example for ever learns its label too, "
            "and ends elsewhere",
            simulate=never_inactive,
        ),
    ),
)
