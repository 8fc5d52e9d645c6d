"""Networks that train both layers from a small start on orthogonal inputs, and assumptions.

Further coordinates of a point: m neurons; start_scale, the standard deviation of the entries of
the starting weights in the span of the inputs, where labels are at most 1 and ‖x_i‖² ≤ 1;
covering, "both": the first neuron has v > 0 and is active on all of S₊, the second v < 0 and on all
of S₋, or "chance": what Gaussian weights and random output signs come to; imbalance, |v_k|/‖w_k‖.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from properties.boursier2022 import setting
from properties.boursier2022.growth import (
    covering,
    estimated_excess,
    least_half_squared_norm,
    relative_start,
)
from properties.boursier2022.setting import ORTHOGONAL
from properties.lai2026.setting import NONZERO_LABELS
from verify.claims import Assumption, Status
from verify.margin import Margin
from verify.relu.dynamics.activation import Activation
from verify.relu.dynamics.network import Network
from verify.relu.dynamics.two_layers import TwoLayerRun, flow_both_layers, imbalance
from verify.space import Axis, Point
from verify.trial import Trial

Host = np.ndarray[Any, Any]

DEFAULTS: Mapping[str, Any] = {
    **setting.DEFAULTS,
    "start_scale": 1e-6,
    "covering": "both",
    "imbalance": 1.0,
}

WITHIN = 0.01
"""How near ½‖θ_∞‖² is to its limit for small starts, relative to it."""

KNOWN = 1e-6
"""Relative error up to which ½‖θ_∞‖² and the labels are known: the flow is followed until the
residuals are 1e-8 of the labels."""

_OF_A_STEP = 1e-8
"""Error allowed in a step of the flow, as a share of each neuron's length: ½‖θ_∞‖² comes out as
with 1e-13, to within 1e-8 in 300 flows with inputs orthogonal or not."""

_SHRUNK = 1e-3
"""The smaller start, as a multiple of a problem's own."""


def draw(point: Point, generator: np.random.Generator, trials: int) -> Network:
    """Draw i.i.d. networks at their start at a point."""
    at = {**DEFAULTS, **point}
    gram, labels = setting.draw_data(at, generator, trials)
    m, (for_weights, for_signs) = int(at["m"]), generator.spawn(2)
    root = np.linalg.cholesky(gram)
    weights = for_weights.standard_normal((trials, m, int(at["n"])))
    start = at["start_scale"] * weights @ root.swapaxes(1, 2)
    signs = for_signs.choice([-1.0, 1.0], (trials, m))
    if at["covering"] == "both":
        signs[:, :2] = 1.0, -1.0
        own = labels[:, None, :] * signs[:, :2, None] > 0
        start[:, :2] = np.where(own, np.abs(start[:, :2]), start[:, :2])
    network = Network.from_gram(gram, labels, starting_predictions=start, output_weights=signs)
    balanced = network.balanced(signs)
    return replace(balanced, output_weights=at["imbalance"] * balanced.output_weights)


def train(network: Network) -> TwoLayerRun:
    """Follow gradient flow of both layers to its limit."""
    return flow_both_layers(network, tolerance=_OF_A_STEP)


def from_a_smaller_start(network: Network, _run: TwoLayerRun) -> TwoLayerRun:
    """Return the flow from the same start, `_SHRUNK` times as large."""
    smaller = Network.from_gram(
        network.gram,
        network.labels,
        starting_predictions=_SHRUNK * network.starting_predictions,
        output_weights=_SHRUNK * network.output_weights,
        perpendicular_gram=_SHRUNK**2 * network.perpendicular_gram,
        activation=network.activation,
    )
    return train(smaller)


def describe(network: Network, index: int) -> dict[str, Any]:
    """Return what a person needs to recognise one network at its start, and its data."""
    one = network.select(np.asarray([index]))
    estimate = float(estimated_excess(one)[0])
    return {
        "examples": one.examples,
        "neurons": one.neurons,
        "gram": one.gram[0],
        "labels": one.labels[0],
        "starting_predictions": one.starting_predictions[0],
        "output_weights": one.output_weights[0],
        "covering": covering(one)[0],
        "least_half_squared_norm": float(least_half_squared_norm(one)[0]),
        "estimated_excess": estimate if np.isfinite(estimate) else None,
    }


# Assumptions.


def classes_are_covered(trial: Trial) -> Margin:
    """Each label that occurs, positive or negative, has at least one covering neuron: of that
    output sign, and active on all its examples at the start."""
    network: Network = trial.problem
    covers = covering(network)
    missing = np.zeros(network.batch, dtype=np.int64)
    for sign in (1, -1):
        found = (covers & (sign * network.output_weights > 0)).any(axis=-1)
        missing += (sign * network.labels > 0).any(axis=-1) & ~found
    return Margin(missing, 0)


def start_is_balanced(trial: Trial) -> Margin:
    """The start is balanced, v_k² = ‖w_k‖² for every neuron (to relative error 1e-12)."""
    network: Network = trial.problem
    apart = np.abs(imbalance(network)) / np.maximum(network.output_weights**2, 1e-300)
    return Margin(apart.max(axis=-1), 1e-12)


def start_is_small(trial: Trial) -> Margin:
    """The start is small: ‖θ_0‖ is at most a tenth (ours) of the least ‖θ‖ that fits."""
    return Margin(relative_start(trial.problem), 0.1)


def rivals_stay_small(trial: Trial) -> Margin:
    """Neurons that cover no class are slow enough, for this start, to stay small: the estimated
    excess of ½‖θ_∞‖² is at most 1%."""
    return Margin(np.minimum(estimated_excess(trial.problem), 1e300), WITHIN)


def all_labels_are_fitted(trial: Trial) -> Margin:
    """The loss is 0 in the limit."""
    return fits(trial)


BALANCED = Assumption(start_is_balanced, Status.SUMMARY, axes=("imbalance",))
COVERED = Assumption(classes_are_covered, Status.SUMMARY, axes=("covering",))
SMALL_START = Assumption(start_is_small, Status.HEURISTIC, axes=("start_scale",))
SLOW_RIVALS = Assumption(rivals_stay_small, Status.HEURISTIC, axes=("start_scale", "m"))
FITTED = Assumption(all_labels_are_fitted, Status.DERIVED, axes=("covering",))

START = (ORTHOGONAL, NONZERO_LABELS, BALANCED, COVERED)
GIVEN = (*START, SMALL_START)


def excess_and_error(run: TwoLayerRun) -> tuple[Host, Host]:
    """Return ½‖θ_∞‖² over the least, less 1, and a bound on its error, (B,) each."""
    least = least_half_squared_norm(run.network)
    return run.half_squared_norm / least - 1, run.half_squared_norm_error / least


def fits(trial: Trial) -> Margin:
    """Return the margin of zero loss, in multiples of what is allowed."""
    run: TwoLayerRun = trial.run
    allowed = KNOWN * np.linalg.norm(run.network.labels, axis=-1)
    limit = np.sqrt(2 * np.where(run.certified, run.limit_loss, 0.0))
    return decided(
        run,
        Margin.worst(
            Margin(limit, allowed, allowed),
            Margin(np.linalg.norm(run.residual, axis=-1), allowed, allowed),
        ),
    )


def decided(run: TwoLayerRun, margin: Margin) -> Margin:
    """Return the margin, undecided where the limit is not certified."""
    return margin.undecided_where(~run.certified)


# Broken dynamics, for the controls.

_LEAK = 0.1


def leaks_through_inactive_examples(network: Network) -> TwoLayerRun:
    """Train neurons of slope `_LEAK` where they should be inactive."""
    return train(replace(network, activation=Activation(_LEAK)))


def moves_output_weights_twice_as_fast(network: Network) -> TwoLayerRun:
    """Train with twice the gradient of the output weights: the flow of u_k = v_k/√2 with labels
    y/√2, which has u_k' = −√2 (r·φ)_k/2 of the loss in v, told in v again."""
    half = np.sqrt(0.5)
    scaled = replace(
        network, labels=half * network.labels, output_weights=half * network.output_weights
    )
    run = train(scaled)
    return replace(
        run,
        network=network,
        output_weights=run.output_weights / half,
        residual=run.residual / half,
        limit_loss=run.limit_loss / half**2,
        distance_to_limit=run.distance_to_limit / half,
    )


AXES = (
    Axis("n", 2, 6, "integer", meaning="examples"),
    Axis("m", 2, 10, "integer", meaning="neurons"),
    *setting.AXES,
    Axis("start_scale", 1e-8, 1.0, "log", simplest=1e-6, inside=(1e-8, 1e-2), meaning="of weights"),
    Axis(
        "covering",
        scale="choice",
        choices=("both", "chance"),
        inside=("both",),
        meaning="whether each class has a covering neuron",
    ),
    Axis("imbalance", 0.5, 2.0, "log", simplest=1.0, inside=(1.0, 1.0), meaning="|v_k|/‖w_k‖"),
    replace(setting.CORRELATION, high=0.5),  # flows take the more steps the stiffer they are
)
