"""Lemma 10 of Vardi and Shamir (COLT 2021): v·φ(w·x) trained jointly stays balanced.

Coordinates of a point: n examples of d standard Gaussian features (d_over_n in place of d); labels
uniform in [1/2, 1], of both signs where `labels` is "both"; slope_below, γ of φ(z) = max(z, γz); a
Gaussian start with ‖w_0‖ about 1, in the data span and out of it, and |v_0| uniform in [1/2, 3/2],
of both signs where the labels are. No prediction is 0 there, so that φ'(0), 1 here, is not met. For
descent: speed = ηλ_max(G), and time, over 1/λ_max(G), until which it goes on. All dimensionless.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from properties.vardi_shamir2021 import setting
from properties.vardi_shamir2021.setting import one_of, positive
from verify.claims import Assumption, Control, Rate, Status, Sweep, Universal
from verify.margin import Margin
from verify.relu.descent import DIVERGED
from verify.relu.dynamics.activation import Activation
from verify.relu.dynamics.network import Network
from verify.relu.dynamics.two_layers import (
    TwoLayerRun,
    descend_both_layers,
    flow_both_layers,
    imbalance,
)
from verify.space import Axis, Point
from verify.theorem import Theorem
from verify.tolerances import IDENTITY
from verify.trial import Trial

Host = np.ndarray[Any, Any]

DEFAULTS: Mapping[str, Any] = {
    "d_over_n": 3.0,
    "slope_below": 0.0,
    "labels": "positive",
    "speed": 0.05,
    "time": 10.0,
}

LABELS = ("positive", "both")

TOLERANCE, CONSERVED = 1e-9, 1e-8
"""Error of the integration, of a neuron's length in a step, and the drift of v² − ‖w‖² that counts
as none, over v² + ‖w‖²: a hundred times and more what is measured, and far below what descent does.
"""

STEPS_SEEN, SETTLED = 8, 1e-2
"""Steps of the integration after which the flow is looked at, besides its end, and the residual
over ‖y‖ at which it ends: by then it is certain where the loss goes."""


@dataclass(frozen=True, eq=False, repr=False)
class Jointly:
    """B neurons with output weights, and how descent trains them: step_size, steps, (B,) each."""

    network: Network
    step_size: Host
    steps: int


@dataclass(frozen=True, eq=False)
class Trained:
    """What joint training does to B neurons.

    drift: (T, B), |(v² − ‖w‖²)(t) − (v² − ‖w‖²)(0)| at T times, the end the last.
    size: (B,), v² + ‖w‖² at the end.   arrived: (B,), whether training was followed to the end
        that was asked for, not only until it was given up.
    finite: (B,), whether training did not diverge.
    """

    drift: Host
    size: Host
    arrived: Host
    finite: Host


def draw(point: Point, generator: np.random.Generator, trials: int) -> Jointly:
    """Draw i.i.d. problems at a point."""
    at = {**DEFAULTS, **point}
    n, labels_of = int(point["n"]), one_of("labels", at["labels"], LABELS)
    speed, time = positive("speed", at["speed"]), positive("time", at["time"])
    d = int(at["d"]) if "d" in at else max(n + 1, round(at["d_over_n"] * n))
    features = generator.normal(size=(trials, n, d))
    labels = generator.uniform(0.5, 1.0, size=(trials, n))
    signs = generator.choice([-1.0, 1.0], size=(trials, n))
    weights = generator.normal(size=(trials, 1, d)) / d**0.5
    outputs = generator.uniform(0.5, 1.5, size=(trials, 1))
    output_signs = generator.choice([-1.0, 1.0], size=(trials, 1))
    network = Network.from_features(
        features,
        labels * signs if labels_of == "both" else labels,
        starting_weights=weights,
        output_weights=outputs * output_signs if labels_of == "both" else outputs,
        activation=Activation(float(at["slope_below"])),
    )
    step = speed / network.eigenvalues[:, -1]
    return Jointly(network, step, max(1, round(time / speed)))


def follow(problem: Jointly) -> Trained:
    """Follow gradient flow of both layers to its end, looking at it on the way."""
    network = problem.network
    early = flow_both_layers(network, STEPS_SEEN, settled=SETTLED, tolerance=TOLERANCE)
    whole = flow_both_layers(network, settled=SETTLED, tolerance=TOLERANCE)
    return _trained([early, whole], _learnt(whole))


def _learnt(run: TwoLayerRun) -> Host:
    """Return where residuals are at most `SETTLED`·‖y‖, (B,), recomputed from the weights, on the
    examples that have a slope: on a kink, up to rounding, they have none."""
    network = run.network
    predictions = network.predictions(run.change)
    residual = network.output(predictions, run.output_weights) - network.labels
    norms = np.sqrt(network.squared_norms(run.change))[:, :, None]
    above = predictions > IDENTITY * norms * network.lengths[:, None, :]
    sloped = above.any(axis=1) | (network.activation.slope_below > 0)
    left = np.linalg.norm(np.where(sloped, residual, 0.0), axis=-1)
    allowed = SETTLED * np.linalg.norm(network.labels, axis=-1)
    return np.asarray(left <= (1 + IDENTITY) * allowed)


def descend(problem: Jointly, _run: Any) -> Trained:
    """Take the steps of gradient descent on both layers."""
    return _descended(problem, problem.step_size, problem.steps)


def descend_at_the_reference_step(problem: Jointly, _run: Any) -> Trained:
    """Take steps of ηλ_max = .1 up to the same time."""
    factor = _REFERENCE / (problem.step_size * problem.network.eigenvalues[:, -1])
    steps = round(problem.steps / float(factor.mean()))
    return _descended(problem, factor * problem.step_size, steps)


_REFERENCE = 0.1


def _descended(problem: Jointly, step: Host, steps: int) -> Trained:
    run = descend_both_layers(problem.network, step, steps, settled=0.0, slope_at_zero=1)
    return _trained([run], run.status != DIVERGED)


def _trained(runs: list[TwoLayerRun], arrived: Host) -> Trained:
    last = runs[-1]
    return Trained(
        drift=np.stack([run.imbalance_gained[:, 0] for run in runs]),
        size=2 * last.half_squared_norm,
        arrived=arrived,
        finite=last.status != DIVERGED,
    )


def describe(problem: Jointly, index: int) -> dict[str, Any]:
    """Return what a person needs to recognise one problem."""
    one = problem.network.select(np.asarray([index]))
    return {
        "examples": one.examples,
        "slope_below": one.activation.slope_below,
        "step_size": float(problem.step_size[index]),
        "labels": one.labels[0],
        "starting_predictions": one.starting_predictions[0, 0],
        "output_weight": float(one.output_weights[0, 0]),
        "imbalance_at_the_start": float(imbalance(one)[0, 0]),
        "gram": one.gram[0],
    }


# Assumptions and claims.


def something_is_learnt(trial: Trial) -> Margin:
    """Some example has a slope at the start, so that the neuron moves."""
    network: Network = trial.problem.network
    slopes = network.activation.slope(network.starting_predictions, 1)
    return Margin(1, (slopes != 0).any(axis=(1, 2)).astype(int))


def descent_does_not_diverge(trial: Trial) -> Margin:
    """Gradient descent does not diverge."""
    steps: Trained = trial.reference("descent")
    return Margin(1, steps.finite.astype(int))


MOVES = Assumption(something_is_learnt, Status.DERIVED, axes=("slope_below",))
FINITE = Assumption(descent_does_not_diverge, Status.DERIVED, axes=("speed",))


def balance_is_conserved(trial: Trial) -> Margin:
    """‖w‖² − v² never changes along gradient flow of both layers: on the way, and where 1% of the
    residual is left, it is what it was at the start, to 1e-8 of v² + ‖w‖²."""
    run: Trained = trial.run
    margin = Margin(run.drift.max(axis=0), CONSERVED * run.size, run.size)
    return margin.undecided_where(~run.arrived & ~margin.violated)


def a_step_changes_it_by_eta_squared(trial: Trial) -> Margin:
    """A step of gradient descent changes v² − ‖w‖² by η²((r·φ(β))² − v²(Dr)ᵀG(Dr)), to 1e-10 of
    v² + ‖w‖²: nothing of first order is left."""
    problem: Jointly = trial.problem
    network, eta = problem.network, problem.step_size
    step = descend_both_layers(network, eta, 1, settled=0.0, slope_at_zero=1)
    predictions = network.starting_predictions
    residual = network.output(predictions) - network.labels
    pulled = network.activation.slope(predictions, 1)[:, 0] * residual
    outer = np.sum(residual * network.activate(predictions)[:, 0], axis=-1) ** 2
    inner = np.einsum("bi,bij,bj->b", pulled, network.gram, pulled)
    expected = eta**2 * (outer - network.output_weights[:, 0] ** 2 * inner)
    found = (step.imbalance - imbalance(network))[:, 0]
    size = np.maximum(2 * step.half_squared_norm, network.output_weights[:, 0] ** 2)
    return Margin(np.abs(found - expected), IDENTITY * size, size)


def drift_of_descent_is_linear_in_the_step(trial: Trial) -> Host:
    """Under gradient descent up to a fixed time the drift of v² − ‖w‖² is proportional to η."""
    return relative_drift(trial)


def relative_drift(trial: Trial) -> Host:
    """Return the drift of descent over that at ηλ_max = .1, (B,); NaN where that is zero."""
    steps: Trained = trial.reference("descent")
    reference: Trained = trial.reference("descent_at_the_reference_step")
    known = reference.drift[-1] > 0
    return np.where(known, steps.drift[-1] / np.where(known, reference.drift[-1], 1.0), np.nan)


def step_over_the_reference(trial: Trial) -> Host:
    """ηλ_max(G)."""
    problem: Jointly = trial.problem
    return np.asarray(problem.step_size * problem.network.eigenvalues[:, -1])


# False statements, and a broken dynamic, for the controls.


def descent_conserves_it_too(trial: Trial) -> Margin:
    """‖w‖² − v² is conserved by steps of gradient descent too, at ηλ_max = .05."""
    steps: Trained = trial.reference("descent")
    return Margin(steps.drift.max(axis=0), CONSERVED * steps.size, steps.size)


def drift_falls_as_the_square_of_the_step(trial: Trial) -> Host:
    """Under gradient descent up to a fixed time the drift of v² − ‖w‖² falls as η²."""
    return relative_drift(trial)


def outer_layer_at_twice_the_rate(problem: Jointly) -> Trained:
    """Follow the flow with the output weight moving at twice its rate, in steps of ηλ_max = .01
    up to the time 10/λ_max: a learning rate of its own, forgotten. It reports itself arrived."""
    network = problem.network
    start, eta = network.output_weights, 1e-2 / network.eigenvalues[:, -1:]
    change, outputs = np.zeros_like(network.starting_predictions), start.copy()
    for _ in range(1_000):
        predictions = network.predictions(change)
        slopes = network.activation.slope(predictions, 1)[:, 0]
        residual = network.output(predictions, outputs) - network.labels
        active = network.activate(predictions)[:, 0]
        gained = 2 * eta * np.sum(active * residual, axis=-1, keepdims=True)
        change = change - (eta * outputs * slopes * residual)[:, None, :]
        outputs = outputs - gained
    squares = network.squared_norms(change)
    drift = np.abs(outputs**2 - squares - imbalance(network))[:, 0]
    sure = np.ones(network.batch, dtype=bool)
    return Trained(drift[None], (outputs**2 + squares)[:, 0], sure, sure)


AXES = (
    Axis("n", 1, 4, "integer", meaning="examples"),
    Axis("slope_below", 0.0, 0.9, simplest=0.5, meaning="γ, the slope below the kink"),
    Axis("labels", scale="choice", choices=LABELS, meaning="signs of the labels"),
)

CELLS = (
    Point(n=4, d_over_n=3.0, slope_below=0.0, labels="both"),
    Point(n=4, d_over_n=3.0, slope_below=0.5, labels="both"),
)

SPEEDS = (0.01, 0.02, 0.04, 0.08)


def _sweep(name: str, exponent: float) -> Sweep:
    points = tuple(
        Point(n=4, d_over_n=3.0, slope_below=0.5, speed=speed, time=4.0) for speed in SPEEDS
    )
    return Sweep(name, points, step_over_the_reference, exponent)


theorem = Theorem(
    id="vardi_shamir2021.lemma10",
    title="One neuron with an output weight: both layers stay balanced along the flow",
    citation=f"{setting.CITATION}; Lemma 10.",
    status=Status.READ,
    statement=(
        "f(x) = v·φ(w·x) with φ(z) = max(z, γz), the ReLU at γ = 0, v and w trained jointly by "
        "gradient flow: ‖w‖² − v² never changes. Under gradient descent it drifts by O(η) up to a "
        "fixed time."
    ),
    method=(
        "Gradient flow of both layers is integrated by an adaptive solver that knows nothing of "
        "the balance; gradient descent takes its own steps. "
        "How the drift grows with η is measured network by network, over that at ηλ_max = .1."
    ),
    symbols={
        "φ": "φ(z) = max(z, γz), γ in [0, 1), with φ'(0) = 1",
        "v, w": "output weight and weights of the neuron",
        "β, r, D": "predictions w·x_i, residuals f(x_i) − y_i, and the slopes φ'(β_i)",
        "η": setting.SYMBOLS["η"],
        "G": setting.SYMBOLS["G"],
    },
    defaults=DEFAULTS,
    axes=AXES,
    wide_axes=(
        *AXES,
        Axis("d_over_n", 2.0, 50.0, "log", simplest=3.0, meaning="d/n"),
        Axis(
            "time", 1.0, 20.0, "log", simplest=10.0, meaning="how long descent goes on, λ_max(G)t"
        ),
        Axis("speed", 1e-3, 0.5, "log", simplest=0.05, meaning="step size ηλ_max(G)"),
    ),
    hypotheses=(MOVES, FINITE),
    cells=CELLS,
    draw=draw,
    simulate=follow,
    references={
        "descent": descend,
        "descent_at_the_reference_step": descend_at_the_reference_step,
    },
    describe=describe,
    claims=(
        Universal(balance_is_conserved),
        Universal(a_step_changes_it_by_eta_squared, status=Status.DERIVED),
        Rate(
            drift_of_descent_is_linear_in_the_step,
            given=(MOVES, FINITE),
            sweeps=(_sweep("η at γ=.5", 1.0),),
            tolerance=0.05,
            quantity="drift of v² − ‖w‖², over that at ηλ_max = .1",
            status=Status.DERIVED,
        ),
    ),
    controls=(
        Control(
            Universal(
                descent_conserves_it_too, given=(MOVES, FINITE), at=(CELLS[0],), status=Status.FALSE
            ),
            because="each step adds η² times the difference of the squared gradients",
        ),
        Control(
            Rate(
                drift_falls_as_the_square_of_the_step,
                given=(MOVES, FINITE),
                sweeps=(_sweep("η", 2.0),),
                tolerance=0.05,
                quantity="drift of v² − ‖w‖², over that at ηλ_max = .1",
                status=Status.FALSE,
            ),
            because="a step adds of the order η², but it takes 1/η steps",
        ),
        Control(
            Universal(
                balance_is_conserved,
                at=(CELLS[0],),
                status=Status.FALSE,
                name="broken_dynamics_outer_layer_faster",
            ),
            because="the outer layer gains twice as much as the inner one",
            simulate=outer_layer_at_twice_the_rate,
        ),
    ),
)
