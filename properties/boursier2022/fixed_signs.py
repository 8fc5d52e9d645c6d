"""Orthogonal inputs, output signs fixed: the gap of descent in closed form, linear in η."""

from __future__ import annotations

from typing import Any

import numpy as np

from properties import broken_solvers
from properties.boursier2022 import setting, single_neuron
from properties.boursier2022.single_neuron import (
    DATA,
    FAR_SHORTER,
    GIVEN,
    SHORTENED,
    SHRINKING_START,
    closed_form,
    interpolant_norm,
    linear_bound,
    outside,
    squares,
)
from properties.lai2026.bias import GAP, gap
from properties.lai2026.setting import NONZERO_LABELS, POSITIVE_START, START_IN_SPAN, place
from properties.lai2026.setting import best as least_norm
from verify.arrays import to_numpy
from verify.claims import Control, Rate, Status, Sweep, Universal
from verify.margin import Margin
from verify.relu.descent import Run
from verify.relu.dynamics.flow import FlowRun
from verify.relu.gap import implicit_bias_gap, norm_in_span
from verify.relu.minimum_norm import MinimumNorm
from verify.relu.problem import Problem
from verify.space import Point, geometric
from verify.theorem import Theorem
from verify.tolerances import IDENTITY, epsilon
from verify.trial import Trial

Host = np.ndarray[Any, Any]

CELLS = (
    Point(n=6, step=0.3),
    Point(n=20, step=0.1, spread=16.0),
    Point(n=20, step=0.5, start="with_step", outside_span=0.1),
    Point(n=50, step=0.9, positives=0.2, start_scale=0.5),
)

SHORT = Point(n=20, step=0.04, positives=0.05, start="with_step")
"""One label is positive: the residual of one example is below its label at once, so that runs are
certified after a few steps, however short these are."""

FLOW = Point(n=3)

_CLOSED_FORM = 1e-12
"""Relative error up to which the gap is its closed form."""

_SLOPE = 0.01
"""How far from 1 the slope may be. As gap/η grows by a factor 1 + a at most while η grows a
hundredfold, a = max η‖x_i‖², it is between 1 and 1 + log(1 + a)/log 100: 1.0085 at a = 1/25 [D]."""


_BROKEN = tuple(each for each in broken_solvers.ALL if each[0] != "drops_off_diagonals")
"""There are no off-diagonals to drop."""


# Claims.


def gap_is_the_closed_form(trial: Trial) -> Margin:
    """The gap satisfies gap² = ‖w_0^⊥‖² + Σ_{S₋} (β_i^∞)²/‖x_i‖² to relative error 1e-12, with
    β_i^∞ = |y_i|((1−a)^t (1 + β⁰_i/|y_i|) − 1), a = η‖x_i‖², at the first step t where this is
    ≤ 0."""
    return _decided(trial, _equal(trial, gap(trial)))


def gap_is_at_most_linear_in_the_step(trial: Trial) -> Margin:
    """The gap satisfies gap² ≤ ‖w_0^⊥‖² + η² Σ_{S₋} ‖x_i‖² y_i²."""
    found, bound = gap(trial), linear_bound(trial.problem)
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
    apart = np.hypot(apart, outside(problem))
    size = interpolant_norm(problem)
    rounding = np.where(followed.certified, followed.error, np.inf) / (IDENTITY * size)
    return Margin(apart, IDENTITY * size, IDENTITY * size, rounding).undecided_where(
        ~best.certified
    )


# False statements, for the controls.


def limit_is_the_minimum_norm(trial: Trial) -> Margin:
    """Gradient descent of a finite step, too, ends at the minimum-norm global minimum: its gap is
    at most 1e-6 of the norm of the interpolant."""
    size = interpolant_norm(trial.problem)
    return _decided(trial, Margin(gap(trial), 1e-6 * size, size))


def gap_scales_as_the_step_from_a_fixed_start(trial: Trial) -> Host:
    """The gap scales as η also where the start stays the same."""
    return gap(trial)


def flow_is_minimum_norm_on_correlated_inputs(trial: Trial) -> Margin:
    """Gradient flow ends at the minimum-norm global minimum also where inputs are correlated."""
    return flow_limit_is_the_minimum_norm(trial)


def _rounding(trial: Trial) -> Host:
    """Return a bound on the rounding error of the gap, (B,), in units of weights.

    The duals of S₊ cancel up to rounding of y_i/‖x_i‖²; those of S₋ have the error of their steps,
    of which each adds its own rounding.
    """
    problem: Problem = trial.problem
    eps = epsilon(problem.gram)
    start = np.abs(to_numpy(problem.starting_predictions)[:, 0])
    found = squares(problem)
    cancelled = np.where(to_numpy(problem.labels) > 0, to_numpy(problem.labels), 0.0) ** 2 / found
    stepped = np.where(to_numpy(problem.labels) < 0, start, 0.0) ** 2 / found
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
    """Return the slope of log gap against log η over `SHORTENED`, (B,), and where it is known."""
    best: MinimumNorm = trial.reference("minimum_norm")
    runs: tuple[Run, ...] = trial.reference("shortened")
    gaps = np.stack([to_numpy(implicit_bias_gap(run, best)) for run in runs])
    known = best.certified & (gaps > 0).all(axis=0)
    for run in runs:
        known = known & run.certified & (run.near_ties == 0)
    log_x = np.log(SHORTENED) - np.mean(np.log(SHORTENED))
    logs = np.log(np.where(known, gaps, 1.0))
    return np.tensordot(log_x, logs, axes=1) / np.sum(log_x**2), known


def step_size(trial: Trial) -> Host:
    """The step size η."""
    return np.asarray(to_numpy(trial.problem.step_size))


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
    defaults=single_neuron.DEFAULTS,
    axes=single_neuron.AXES,
    wide_axes=single_neuron.WIDE_AXES,
    cells=CELLS,
    draw=single_neuron.draw,
    simulate=single_neuron.run_to_the_limit,
    references={
        "minimum_norm": least_norm,
        "flow": single_neuron.follow,
        "shortened": single_neuron.shorten,
    },
    explicit=single_neuron.EXPLICIT,
    place=place,
    describe=single_neuron.describe,
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
                at=(FLOW.moved(correlation=-0.4),),
                status=Status.FALSE,
            ),
            because="learning one input moves the predictions on the others: a negative label can "
            "be left below zero with a coefficient that w⋆ does not have",
        ),
        *broken_solvers.controls(gap_is_the_closed_form, GIVEN, (CELLS[0],), _BROKEN),
    ),
)
