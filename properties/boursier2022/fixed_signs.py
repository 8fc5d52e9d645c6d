"""Orthogonal inputs, output signs fixed: the gap of gradient descent in closed form, linear in η.

Further coordinates of a point: step = η, where ‖x_i‖² ≤ 1; start: "fixed", β⁰ uniform in
(start_scale/10, start_scale], or "with_step", β⁰_i = κ_i η|y_i|, κ_i uniform in (0, G_ii/2);
outside_span, ‖w_0^⊥‖.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from properties import broken_solvers
from properties.boursier2022 import setting
from properties.boursier2022.setting import ORTHOGONAL
from properties.lai2026.bias import GAP, gap
from properties.lai2026.setting import (
    BOTH_SIGNS,
    NONZERO_LABELS,
    POSITIVE_START,
    START_IN_SPAN,
    place,
)
from properties.lai2026.setting import (
    best as least_norm,
)
from verify.arrays import to_numpy
from verify.claims import Assumption, Control, Rate, Status, Sweep, Universal
from verify.explicit import Explicit, Field
from verify.margin import Margin
from verify.relu.descent import Run, descend
from verify.relu.dynamics.flow import FlowRun, flow
from verify.relu.gap import implicit_bias_gap, norm_in_span, outside_span
from verify.relu.minimum_norm import MinimumNorm
from verify.relu.problem import Problem
from verify.space import Axis, Point, geometric
from verify.theorem import Theorem
from verify.tolerances import IDENTITY, epsilon
from verify.trial import Trial

Host = np.ndarray[Any, Any]

DEFAULTS: Mapping[str, Any] = {
    **setting.DEFAULTS,
    "step": 0.3,
    "start": "fixed",
    "start_scale": 0.01,
    "outside_span": 0.0,
}

CELLS = (
    Point(n=6, step=0.3),
    Point(n=20, step=0.1, spread=16.0),
    Point(n=20, step=0.5, start="with_step", outside_span=0.1),
    Point(n=50, step=0.9, positives=0.2, start_scale=0.5),
)

SHORT = Point(n=20, step=0.01, positives=0.05, start="with_step")
"""One label is positive: the residual of one example is below its label at once, so that runs are
certified after a few steps, however short these are."""

FLOW = Point(n=4)

_CLOSED_FORM = 1e-12
"""Relative error up to which the gap is its closed form."""

_GIVEN_UP = 2_000
"""Steps after which a run is left undecided: certified runs of the cells take 600 at most."""

_SHORTENED = (1.0, 0.1, 0.01)
"""Steps, as multiples of a problem's own, between which the slope of its gap is taken."""

_SLOPE = 0.01
"""How far from 1 the slope may be."""


_BROKEN = tuple(each for each in broken_solvers.ALL if each[0] != "drops_off_diagonals")
"""There are no off-diagonals to drop."""


def draw(point: Point, generator: np.random.Generator, trials: int) -> Problem:
    """Draw i.i.d. problems of one neuron at a point."""
    at = {**DEFAULTS, **point}
    gram, labels = setting.draw_data(at, generator, trials)
    share = 1.0 - generator.spawn(1)[0].random(labels.shape)
    if at["start"] == "with_step":
        squares = np.diagonal(gram, axis1=1, axis2=2)
        start = share * squares / 2 * at["step"] * np.abs(labels)
    else:
        start = at["start_scale"] * (0.1 + 0.9 * share)
    problem = Problem.from_gram(
        gram, labels, starting_predictions=start[:, None, :], step_size=at["step"]
    )
    outside = np.full((trials, 1, 1), float(at["outside_span"]) ** 2)
    return replace(problem, perpendicular_gram=outside)


def run_to_the_limit(problem: Problem) -> Run:
    """Run gradient descent to its limit, for `_GIVEN_UP` steps at most."""
    return descend(problem, _GIVEN_UP)


def follow(problem: Problem, _run: Run) -> FlowRun:
    """Return gradient flow from the same start."""
    return flow(problem)


def shorten(problem: Problem, run: Run) -> tuple[Run, ...]:
    """Return descent at `_SHORTENED` multiples of the step and, with it, of the start."""
    return run, *(
        run_to_the_limit(
            replace(
                problem,
                step_size=factor * problem.step_size,
                starting_predictions=factor * problem.starting_predictions,
            )
        )
        for factor in _SHORTENED[1:]
    )


def describe(problem: Problem, index: int) -> dict[str, Any]:
    """Return what a person needs to recognise one problem."""
    one = problem.select(np.asarray([index]))
    facts: dict[str, Any] = {
        "examples": one.examples,
        "step_size": float(one.step_size[0]),
        "labels": to_numpy(one.labels)[0],
        "starting_predictions": to_numpy(one.starting_predictions)[0],
        "outside_span": float(to_numpy(outside_span(one))[0]),
    }
    gram = to_numpy(one.gram)[0]
    if (gram == np.diag(np.diagonal(gram))).all():
        return {**facts, "squared_lengths": np.diagonal(gram), "gap": float(closed_form(one)[0])}
    return {**facts, "gram": gram} if one.examples <= 64 else facts


def closed_form(problem: Problem) -> Host:
    """Return the gap of one neuron on orthogonal inputs, (B,), in units of weights [D].

    With a = ηG_ii < 1 an active example has β_t − y = (1−a)^t (β⁰ − y). Positive labels are met in
    the limit. A negative one has β_t = |y|((1−a)^t (1 + β⁰/|y|) − 1), and rests at the first t with
    β_t ≤ 0, the least t ≥ log(1 + β⁰/|y|)/|log(1−a)|; w⋆ predicts 0 there (theory §8).
    """
    squares = np.diagonal(to_numpy(problem.gram), axis1=1, axis2=2)
    labels, start = to_numpy(problem.labels), to_numpy(problem.starting_predictions)[:, 0]
    negative = labels < 0
    size = np.where(negative, -labels, 1.0)
    shrinking = np.log1p(-to_numpy(problem.step_size)[:, None] * squares)
    above = np.log1p(np.where(negative, start, 0.0) / size)
    steps = np.ceil(above / -shrinking)
    rests = np.where(negative, size * np.expm1(steps * shrinking + above), 0.0)
    return np.asarray(np.sqrt(_outside(problem) ** 2 + np.sum(rests**2 / squares, axis=-1)))


# Assumptions.


def step_is_below_one_over_the_largest_square(trial: Trial) -> Margin:
    """The step is short: η‖x_i‖² < 1 for every example."""
    problem: Problem = trial.problem
    return Margin(to_numpy(problem.step_size) * _squares(problem).max(axis=-1), 1.0, rounding=1e-12)


def step_is_far_below_that(trial: Trial) -> Margin:
    """The step is far shorter: η‖x_i‖² ≤ 1/100 for every example."""
    problem: Problem = trial.problem
    speed = to_numpy(problem.step_size) * _squares(problem).max(axis=-1)
    return Margin(speed, 0.01, rounding=1e-12)


def start_shrinks_with_the_step(trial: Trial) -> Margin:
    """The start is β⁰_i = κ_i η|y_i| with 0 < κ_i < ‖x_i‖²/2 on the negative labels: less than half
    of what the first step takes."""
    problem: Problem = trial.problem
    labels = to_numpy(problem.labels)
    first = to_numpy(problem.step_size)[:, None] * _squares(problem) * np.abs(labels)
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


# Claims.


def gap_is_the_closed_form(trial: Trial) -> Margin:
    """The gap satisfies gap² = ‖w_0^⊥‖² + Σ_{S₋} (β_i^∞)²/‖x_i‖² to relative error 1e-12, with
    β_i^∞ = |y_i|((1−a)^t (1 + β⁰_i/|y_i|) − 1), a = η‖x_i‖², at the first step t where this is
    ≤ 0."""
    return _decided(trial, _equal(trial, gap(trial)))


def gap_is_at_most_linear_in_the_step(trial: Trial) -> Margin:
    """The gap satisfies gap² ≤ ‖w_0^⊥‖² + η² Σ_{S₋} ‖x_i‖² y_i²."""
    found, bound = gap(trial), _bound(trial.problem)
    rounding = _rounding(trial) / np.where(bound > 0, bound, 1.0)
    return _decided(trial, Margin(found, bound, np.where(bound > 0, bound, 1.0), rounding))


def gap_is_linear_in_the_step(trial: Trial) -> Margin:
    """On one and the same problem, with the κ_i kept, steps of η, η/10 and η/100 have gaps whose
    slope of log gap against log η is 1.00 ± .01."""
    slope, known = _slope(trial)
    return Margin.equal(slope, 1.0, 1.0, _SLOPE).undecided_where(~known)


def gap_scales_as_the_step(trial: Trial) -> Host:
    """The gap scales as η where the start is β⁰_i = κ_i η|y_i|, the law of the κ_i < ‖x_i‖²/2 the
    same along the sweep."""
    return gap(trial)


def flow_limit_is_the_minimum_norm(trial: Trial) -> Margin:
    """Gradient flow, the limit of small steps, ends at the minimum-norm global minimum exactly: its
    gap is at most 1e-10 of the norm of the interpolant."""
    best: MinimumNorm = trial.reference("minimum_norm")
    followed: FlowRun = trial.reference("flow")
    problem: Problem = trial.problem
    apart = to_numpy(norm_in_span(problem.gram, followed.duals - best.duals))[:, 0]
    apart = np.hypot(apart, _outside(problem))
    size = _interpolant(problem)
    rounding = np.where(followed.certified, followed.error, np.inf) / (IDENTITY * size)
    return Margin(apart, IDENTITY * size, IDENTITY * size, rounding).undecided_where(
        ~best.certified
    )


# False statements, for the controls.


def limit_is_the_minimum_norm(trial: Trial) -> Margin:
    """Gradient descent of a finite step, too, ends at the minimum-norm global minimum: its gap is
    at most 1e-6 of the norm of the interpolant."""
    size = _interpolant(trial.problem)
    return _decided(trial, Margin(gap(trial), 1e-6 * size, size))


def gap_scales_as_the_step_from_a_fixed_start(trial: Trial) -> Host:
    """The gap scales as η also where the start stays the same."""
    return gap(trial)


def flow_is_minimum_norm_on_correlated_inputs(trial: Trial) -> Margin:
    """Gradient flow ends at the minimum-norm global minimum also where inputs are correlated."""
    return flow_limit_is_the_minimum_norm(trial)


def _squares(problem: Problem) -> Host:
    """Return ‖x_i‖², (B, n)."""
    return np.asarray(np.diagonal(to_numpy(problem.gram), axis1=1, axis2=2))


def _outside(problem: Problem) -> Host:
    """Return ‖w_0^⊥‖, (B,)."""
    return np.asarray(to_numpy(outside_span(problem)))


def _interpolant(problem: Problem) -> Host:
    """Return √Σ_i y_i²/‖x_i‖², (B,): the norm of the interpolant of least norm on orthogonal
    inputs, and the size in weights that the labels give to a problem on others."""
    squares = _squares(problem)
    return np.asarray(
        np.sqrt(np.sum(to_numpy(problem.labels) ** 2 / np.where(squares > 0, squares, 1), axis=-1))
    )


def _bound(problem: Problem) -> Host:
    """Return √(‖w_0^⊥‖² + η² Σ_{S₋} ‖x_i‖² y_i²), (B,)."""
    labels, step = to_numpy(problem.labels), to_numpy(problem.step_size)
    terms = np.where(labels < 0, _squares(problem) * labels**2, 0.0)
    return np.asarray(np.sqrt(_outside(problem) ** 2 + step**2 * np.sum(terms, axis=-1)))


def _rounding(trial: Trial) -> Host:
    """Return a bound on the rounding error of the gap, (B,), in units of weights.

    The duals of S₊ cancel up to rounding of y_i/‖x_i‖²; those of S₋ have the error of their steps,
    of which each adds its own rounding.
    """
    problem: Problem = trial.problem
    eps = epsilon(problem.gram)
    start = np.abs(to_numpy(problem.starting_predictions)[:, 0])
    squares = _squares(problem)
    cancelled = np.where(to_numpy(problem.labels) > 0, to_numpy(problem.labels), 0.0) ** 2 / squares
    stepped = np.where(to_numpy(problem.labels) < 0, start, 0.0) ** 2 / squares
    size = np.sqrt(np.sum(cancelled, axis=-1)) + np.sqrt(np.sum(stepped, axis=-1))
    return np.asarray(8 * eps * size)


def _equal(trial: Trial, found: Host) -> Margin:
    """Return the margin of gap = closed form, in multiples of the tolerance."""
    expected = closed_form(trial.problem)
    allowed = _CLOSED_FORM * expected
    unit = np.where(allowed > 0, allowed, 1.0)
    return Margin(np.abs(found - expected), allowed, unit, _rounding(trial) / unit)


def _decided(trial: Trial, margin: Margin) -> Margin:
    """Return the margin, undecided where the limit, w⋆ or a sign on the way is not certain."""
    certain = trial.run.certified & trial.reference("minimum_norm").certified
    return margin.undecided_where(~certain | (trial.run.near_ties > 0))


def _slope(trial: Trial) -> tuple[Host, Host]:
    """Return the slope of log gap against log η over `_SHORTENED`, (B,), and where it is known."""
    best: MinimumNorm = trial.reference("minimum_norm")
    runs: tuple[Run, ...] = trial.reference("shortened")
    gaps = np.stack([to_numpy(implicit_bias_gap(run, best)) for run in runs])
    known = best.certified & (gaps > 0).all(axis=0)
    for run in runs:
        known = known & run.certified & (run.near_ties == 0)
    log_x = np.log(_SHORTENED) - np.mean(np.log(_SHORTENED))
    logs = np.log(np.where(known, gaps, 1.0))
    return np.tensordot(log_x, logs, axes=1) / np.sum(log_x**2), known


def step_size(trial: Trial) -> Host:
    """The step size η."""
    return np.asarray(to_numpy(trial.problem.step_size))


def _build_explicit(values: Mapping[str, Any]) -> Problem:
    lengths = values["lengths"]
    return Problem.from_features(
        np.diag(lengths),
        values["labels"],
        starting_predictions=values["start"][None, :],
        step_size=values["c"] / np.max(lengths) ** 2,
    )


EXPLICIT = Explicit(
    sizes={"n": (2, 5)},
    fields={
        "lengths": Field(1, 4, shape=("n",), symbol="‖x‖"),
        "labels": Field(-4, 4, shape=("n",), nonzero=True, symbol="y"),
        "start": Field(1, 16, shape=("n",), denominator=16, symbol="β⁰"),
        "c": Field(1, 15, denominator=16),
    },
    build=_build_explicit,
)
"""Multiples of unit vectors, integer labels, and η = c/max‖x‖² with c < 1 in sixteenths."""

AXES = (
    Axis("n", 2, 10, "integer", meaning="examples"),
    *setting.AXES,
    Axis("step", 1e-3, 0.95, "log", simplest=0.5, meaning="step size η, where ‖x‖² ≤ 1"),
    Axis("start", scale="choice", choices=("fixed", "with_step"), meaning="kind of start"),
    Axis("start_scale", 1e-3, 1.0, "log", simplest=0.01, meaning="largest fixed prediction"),
    Axis("outside_span", 0.0, 1.0, meaning="‖w_0^⊥‖, outside the data span"),
)

WIDE_AXES = (
    *(
        replace(axis, high=4.0, inside=(1e-3, 0.95)) if axis.name == "step" else axis
        for axis in AXES
    ),
    setting.CORRELATION,
)


def _sweep(name: str, low: float, count: int, **at: Any) -> Sweep:
    """Return a sweep of the step, up to 1/100 or, from a fixed start, 1/10."""
    high = 0.01 if at["start"] == "with_step" else 0.1
    points = tuple(Point(**at, step=step) for step in geometric(low, high, count))
    return Sweep(name, points, step_size, 1.0)


SWEEP = _sweep("η, β⁰ = κη|y|", 1e-8, 7, n=100, positives=0.01, start="with_step")
FROM_A_FIXED_START = _sweep("η, β⁰ fixed", 1e-4, 4, n=20, positives=0.05, start="fixed")

theorem = Theorem(
    id="boursier2022.fixed_signs",
    title="Orthogonal inputs, fixed output signs: the gap is linear in the step, 0 for the flow",
    citation=f"{setting.CITATION}; the single neuron of fixed output sign is ours.",
    status=Status.DERIVED,
    statement=(
        "One neuron of fixed output sign on orthogonal inputs, from a start where every example is "
        "active and with η‖x_i‖² < 1: what gradient descent leaves on the negative labels when it "
        "stops there has a closed form, so the distance ‖w_∞ − w⋆‖ to the minimum-norm global "
        "minimum is at most η√(Σ_{S₋}‖x_i‖²y_i²) from a start in the span, and gradient flow ends "
        "at w⋆ exactly. In the source both layers are trained; fixed signs are derived here."
    ),
    method=(
        "The limit comes from a certified run of gradient descent or flow, w⋆ from block pivoting "
        "on the Gram matrix; the closed form is evaluated from lengths, labels, start and step "
        "alone. In the sweep only one label in 100 is positive, so that every run is certified "
        "after a few steps, however short these are."
    ),
    symbols={
        **setting.SYMBOLS,
        "η": "step size of full-batch gradient descent on the loss ½ Σ_i (φ(w·x_i) − y_i)²",
        "β⁰_i": "starting prediction w_0·x_i > 0",
        "w_0^⊥": "the part of the start outside the span of the inputs, which never moves",
        "w_∞, w⋆": "the limit, and the global minimum of least norm",
    },
    defaults=DEFAULTS,
    axes=AXES,
    wide_axes=WIDE_AXES,
    hypotheses=GIVEN,
    cells=CELLS,
    draw=draw,
    simulate=run_to_the_limit,
    references={"minimum_norm": least_norm, "flow": follow, "shortened": shorten},
    explicit=EXPLICIT,
    place=place,
    describe=describe,
    claims=(
        Universal(gap_is_the_closed_form, given=GIVEN),
        Universal(gap_is_at_most_linear_in_the_step, given=GIVEN),
        Universal(
            gap_is_linear_in_the_step,
            given=(*GIVEN, FAR_SHORTER, SHRINKING_START, START_IN_SPAN),
            at=(SHORT,),
            rests_on=("gap_is_the_closed_form",),
        ),
        Rate(
            gap_scales_as_the_step,
            given=(*GIVEN, SHRINKING_START, START_IN_SPAN),
            sweeps=(SWEEP,),
            tolerance=_SLOPE,
            quantity=GAP,
            rests_on=("gap_is_the_closed_form",),
        ),
        Universal(flow_limit_is_the_minimum_norm, given=(*DATA, START_IN_SPAN), at=(FLOW,)),
    ),
    controls=(
        Control(
            Universal(limit_is_the_minimum_norm, given=GIVEN, at=(CELLS[0],), status=Status.FALSE),
            because="a step of finite length goes beyond zero on the negative labels, and nothing "
            "brings their predictions back",
        ),
        Control(
            Rate(
                gap_scales_as_the_step_from_a_fixed_start,
                given=(*GIVEN, START_IN_SPAN),
                sweeps=(FROM_A_FIXED_START,),
                tolerance=_SLOPE,
                quantity=GAP,
                status=Status.FALSE,
            ),
            because="the gap is a sawtooth in β⁰/η: where the first step ends the fall it goes all "
            "its length beyond zero, where many do, the last one a random share of it",
        ),
        Control(
            Universal(
                flow_is_minimum_norm_on_correlated_inputs,
                given=(NONZERO_LABELS, POSITIVE_START, START_IN_SPAN),
                at=(FLOW.moved(correlation=-0.25),),
                status=Status.FALSE,
            ),
            because="learning one input moves the predictions on the others: a negative label can "
            "be left below zero with a coefficient that w⋆ does not have",
        ),
        *broken_solvers.controls(gap_is_the_closed_form, GIVEN, (CELLS[0],), _BROKEN),
    ),
)
