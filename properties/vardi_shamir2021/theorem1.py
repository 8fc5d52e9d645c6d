"""Theorem 1 of Vardi and Shamir (COLT 2021): where strictly monotone neurons end."""

from __future__ import annotations

from typing import Any

import numpy as np

from properties.lai2026.setting import gram_is_regular
from properties.vardi_shamir2021 import neurons, setting
from properties.vardi_shamir2021.neurons import Ended, Integrated, Neuron
from verify.claims import Assumption, Control, Status, Universal
from verify.margin import Margin
from verify.relu.effective_dimensions import solve_error
from verify.space import Axis, Point
from verify.theorem import Theorem
from verify.tolerances import IDENTITY
from verify.trial import Trial

Host = np.ndarray[Any, Any]

STRICT_ONES = tuple(name for name in neurons.ACTIVATIONS if name != "relu")

_CLOSE = 1e-6
"""Distance over ‖w̃ − w_0‖ up to which the integration, whose residuals are 1e-9, is at w̃."""


def _nearest(neuron: Neuron, _run: Ended) -> Host:
    return neurons.nearest(neuron)


def _integrated(neuron: Neuron, _run: Ended) -> Integrated:
    return neurons.integrate(neuron)


# Assumptions.


def activation_is_strictly_monotone(trial: Trial) -> Margin:
    """The activation is strictly monotone."""
    strict = trial.problem.activation in STRICT_ONES
    return Margin(1, np.full(trial.trials, int(strict)))


def flow_converges_to_zero_loss(trial: Trial) -> Margin:
    """Gradient flow converges, and the loss is 0 in the limit: residuals recomputed from the
    weights are at most 1e-9 of ‖y‖."""
    run: Ended = trial.run
    neuron: Neuron = trial.problem
    size = _size(neuron)
    misfit = np.linalg.norm(neuron.residual(run.limit), axis=-1)
    return Margin(misfit, 1e-9 * size, size, solve_error(neuron.problem)).undecided_where(
        ~run.certified
    )


STRICT = Assumption(activation_is_strictly_monotone, Status.READ, axes=("activation",))
REGULAR = Assumption(gram_is_regular, Status.DERIVED, axes=("d_over_n",))
ZERO_LOSS = Assumption(flow_converges_to_zero_loss, Status.READ, axes=("activation",))

GIVEN = (STRICT, REGULAR, ZERO_LOSS)


# Claims.


def flow_ends_at_the_nearest_zero_loss_point(trial: Trial) -> Margin:
    """The limit w_∞ is the zero-loss point w̃ nearest to w_0, to 1e-9 of ‖w̃ − w_0‖; and the weights
    up to which the flow was followed are as near to w̃ as its certificate says."""
    run: Ended = trial.run
    best, unit = trial.reference("nearest"), _unit(trial)
    error = _rounding(trial) / unit
    at_the_limit = Margin(_distance(run.limit, best), 1e-9 * unit, unit, error)
    allowed = run.left + _CLOSE * unit
    on_the_way = Margin(_distance(run.reached, best), allowed, unit, error)
    return Margin.worst(at_the_limit, on_the_way).undecided_where(~run.certified)


def integrated_weights_end_there_too(trial: Trial) -> Margin:
    """The weights of the flow, integrated as they are, gain nothing outside the span of the data
    (1e-10 of ‖w̃ − w_0‖), and end at w̃ too (1e-6)."""
    walk: Integrated = trial.reference("integrated")
    unit, error = _unit(trial), _rounding(trial)
    outside = neurons.outside_span(trial.problem, walk.weights)
    left = _distance(walk.weights, trial.reference("nearest"))
    return Margin.worst(
        Margin(outside, IDENTITY * unit, unit, (error + walk.rounding) / unit),
        Margin(left, _CLOSE * unit, unit, error / unit).undecided_where(~walk.settled),
    )


def nearest_point_is_optimal(trial: Trial) -> Margin:
    """w̃ has zero loss, and w̃ − w_0 lies in the span of the data: with w·x_i = φ⁻¹(y_i) what is
    asked, no other zero-loss point is as near to w_0. To 1e-10."""
    neuron: Neuron = trial.problem
    best, unit, size = trial.reference("nearest"), _unit(trial), _size(trial.problem)
    misfit = np.linalg.norm(neuron.residual(best), axis=-1)
    fits = Margin(misfit, IDENTITY * size, size, solve_error(neuron.problem))
    outside = neurons.outside_span(neuron, best)
    return Margin.worst(fits, Margin(outside, IDENTITY * unit, unit, _rounding(trial) / unit))


def _distance(weights: Host, other: Host | float) -> Host:
    return np.asarray(np.linalg.norm(weights - other, axis=-1))


def _unit(trial: Trial) -> Host:
    """Return ‖w̃ − w_0‖, 1 where that is zero, (B,)."""
    far = _distance(trial.reference("nearest"), trial.problem.start)
    return np.where(far > 0, far, 1.0)


def _rounding(trial: Trial) -> Host:
    """Return a bound on the rounding error of weights that come from a solution of Gα = b, (B,): it
    is relative to the weights, however near to one another w̃ and w_0 are."""
    size = _distance(trial.reference("nearest"), 0) + _distance(trial.problem.start, 0)
    return np.asarray(solve_error(trial.problem.problem) * size)


def _size(neuron: Neuron) -> Host:
    """Return ‖y‖, 1 where that is zero, (B,)."""
    size = np.linalg.norm(neuron.labels, axis=-1)
    return np.where(size > 0, size, 1.0)


# False statements, and a broken dynamic, for the controls.


def a_relu_ends_there_too(trial: Trial) -> Margin:
    """A ReLU neuron that ends at zero loss ends at the zero-loss point nearest to w_0 too."""
    run: Ended = trial.run
    unit = _unit(trial)
    left = _distance(run.limit, trial.reference("nearest"))
    return Margin(left, _CLOSE * unit, unit, run.left / unit).undecided_where(~run.certified)


def it_ends_at_the_least_norm(trial: Trial) -> Margin:
    """The limit is the zero-loss point of least norm, wherever the flow starts."""
    run: Ended = trial.run
    neuron: Neuron = trial.problem
    # The nearest to the origin is the one nearest to w_0, less the part of w_0 outside the span.
    basis, _ = np.linalg.qr(neuron.features.swapaxes(1, 2))
    best = trial.reference("nearest")[:, :, None]
    least = (basis @ (basis.swapaxes(1, 2) @ best))[:, :, 0]
    unit = _unit(trial)
    return Margin(_distance(run.limit, least), _CLOSE * unit, unit).undecided_where(~run.certified)


def each_coordinate_at_its_own_rate(neuron: Neuron) -> Ended:
    """Follow w' = −P∂L/∂w, P diagonal with entries from 1 to 3: a preconditioned flow, as adaptive
    methods make it. It ends at zero loss, and reports itself certified."""
    rates = np.linspace(1.0, 3.0, neuron.start.shape[-1])
    found = neurons.integrate(neuron, rates)
    return Ended(found.weights, found.settled, found.weights, np.zeros(found.settled.size))


CELLS = tuple(
    Point(n=3, d_over_n=4.0, activation=name)
    for name in ("softplus", "tanh", "bent_line", "leaky_half")
)

AXES = (
    Axis("n", 1, 4, "integer", simplest=2, meaning="examples"),
    Axis("d_over_n", 2.0, 30.0, "log", simplest=3.0, meaning="d/n"),
    Axis("activation", scale="choice", choices=("bent_line", "leaky_half", "softplus", "tanh"),
         meaning="activation φ"),
    Axis("start_scale", 0.0, 2.0, simplest=1.0, meaning="length of the start, about"),
)  # fmt: skip

theorem = Theorem(
    id="vardi_shamir2021.theorem1",
    title="One strictly monotone neuron: the flow ends at the nearest zero-loss point",
    citation=f"{setting.CITATION}; Theorem 1.",
    status=Status.READ,
    statement=(
        "f(x) = φ(w·x) with φ strictly monotone: if gradient flow on the square loss converges to "
        "w_∞ of zero loss, w_∞ is the zero-loss point nearest to w_0."
    ),
    method=(
        "The limit comes from a flow in the span of the data with a certificate of where it ends, "
        "w̃ from a QR factorisation of the features and φ⁻¹. As a flow in that span can end at one "
        "point of zero loss only, the weights themselves are integrated besides, by code that "
        "shares nothing with it."
    ),
    symbols={
        "φ": "the activation: log(1 + e^z), tanh z, z + tanh z, or max(z, γz) with 0 < γ < 1",
        "w_0, w_∞": "the starting weights, and the limit of the flow",
        "w̃": "the zero-loss point nearest to w_0",
        "y": "the labels, in the range of φ",
    },
    defaults=neurons.DEFAULTS,
    axes=AXES,
    wide_axes=(
        *(axis for axis in AXES if axis.name != "activation"),
        Axis("activation", scale="choice",
             choices=("bent_line", "leaky_half", "leaky_tenth", "softplus", "tanh", "relu"),
             inside=("bent_line", "leaky_half", "leaky_tenth", "softplus", "tanh"),
             meaning="activation φ"),
    ),
    hypotheses=GIVEN,
    cells=CELLS,
    draw=neurons.draw,
    simulate=neurons.follow,
    references={"nearest": _nearest, "integrated": _integrated},
    describe=neurons.describe,
    claims=(
        Universal(flow_ends_at_the_nearest_zero_loss_point, given=GIVEN),
        Universal(integrated_weights_end_there_too, given=GIVEN, status=Status.DERIVED),
        Universal(nearest_point_is_optimal, given=(STRICT, REGULAR), status=Status.DERIVED),
    ),
    controls=(
        Control(
            Universal(
                a_relu_ends_there_too,
                given=(REGULAR, ZERO_LOSS),
                at=(Point(n=4, d_over_n=4.0, activation="relu"),),
                status=Status.FALSE,
            ),
            because="the ReLU is constant below 0: what it gains on an example of label 0 while "
            "that is active stays",
        ),
        Control(
            Universal(
                it_ends_at_the_least_norm, given=GIVEN, at=(CELLS[2],), status=Status.FALSE
            ),
            because="the part of w_0 outside the span of the data never moves",
        ),
        Control(
            Universal(
                flow_ends_at_the_nearest_zero_loss_point,
                given=GIVEN,
                at=(CELLS[2],),
                status=Status.FALSE,
                name="broken_dynamics_own_rates",
            ),
            because="with a rate of its own for each coordinate the weights leave the span of the "
            "data, and end at another zero-loss point",
            simulate=each_coordinate_at_its_own_rate,
        ),
    ),
)  # fmt: skip
