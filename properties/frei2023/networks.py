"""Networks on nearly orthogonal data, before they are trained.

Coordinates of a point besides those of `setting` (defaults in `DEFAULTS`): m neurons; leak, the
slope γ of the activation below zero; outputs, how the output weights v are chosen: "balanced",
±1/√m in turn; "random", fair signs and sizes uniform in [½, 1], scaled to ‖v‖ = 1; "one_sign",
1/√m; start_scale, the size of the starting predictions, of Gaussian weights. All dimensionless;
data are scaled so that the longest example has length 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from properties.frei2023 import setting
from verify.arrays import to_numpy
from verify.errors import InputError
from verify.margin import Margin
from verify.relu.dynamics.activation import Activation
from verify.relu.dynamics.network import Network
from verify.space import Axis, Point

Host = np.ndarray[Any, Any]

DEFAULTS: Mapping[str, Any] = {
    **setting.DEFAULTS,
    "m": 6,
    "leak": 0.5,
    "outputs": "balanced",
    "start_scale": 1e-3,
}

SYMBOLS: Mapping[str, str] = {
    **setting.SYMBOLS,
    "f": "the model f(x) = Σ_k v_k φ(w_k·x) of m neurons; the output weights v are not trained",
    "φ, γ": "the activation φ(z) = z for z ≥ 0 and γz for z ≤ 0",
    "W, ‖W‖": "all the weights w_k as rows, and their Frobenius norm",
}

STEP = 1.9
"""η of descent in rescaled steps; ‖v‖ = 1 and ‖x_i‖ ≤ 1, so that it is below 2/max‖∇f(x_i)‖²."""

OUTPUTS = Axis(
    "outputs",
    scale="choice",
    choices=("balanced", "random", "one_sign"),
    meaning="signs and sizes of the output weights",
)
START_SCALE = Axis("start_scale", 1e-4, 1e-1, "log", meaning="size of the starting predictions")


def draw_networks(point: Point, generator: np.random.Generator, trials: int) -> Network:
    """Draw i.i.d. data and networks at a point."""
    at = {**DEFAULTS, **point}
    data = setting.draw_data(point, generator, trials)
    gram, m = to_numpy(data.gram), int(at["m"])
    gram = gram / np.diagonal(gram, axis1=1, axis2=2).max(axis=-1)[:, None, None]
    normal = generator.standard_normal((trials, m, gram.shape[-1]))
    start = at["start_scale"] * normal @ np.linalg.cholesky(gram).swapaxes(1, 2)
    return Network.from_gram(
        gram,
        to_numpy(data.labels),
        starting_predictions=start,
        output_weights=output_weights(str(at["outputs"]), m, generator, trials),
        activation=Activation(float(at["leak"])),
    )


def output_weights(kind: str, neurons: int, generator: np.random.Generator, trials: int) -> Host:
    """Draw output weights of length 1, (trials, neurons)."""
    signs, sizes = np.ones((trials, neurons)), np.ones((trials, neurons))
    if kind not in OUTPUTS.choices:
        raise InputError(f"outputs={kind!r}, expected one of {OUTPUTS.choices}")
    if kind == "balanced":
        signs[:, 1::2] = -1.0
    elif kind == "random":
        signs = np.where(generator.random((trials, neurons)) < 0.5, 1.0, -1.0)
        sizes = generator.uniform(0.5, 1.0, (trials, neurons))
    return np.asarray(signs * sizes / np.linalg.norm(sizes, axis=-1, keepdims=True))


def own_sides(network: Network) -> Host:
    """Return the mask of the examples whose label has the neuron's output sign, (B, m, n)."""
    return np.asarray(network.output_weights[:, :, None] * network.labels[:, None, :] > 0)


def p_orthogonal_enough(network: Network) -> Margin:
    """Return the margin of p ≥ 3/γ³ and γ > 0, (B,), under which theory §9 finds one KKT point."""
    leak = network.activation.slope_below
    if not leak:
        return Margin(1, np.zeros(network.batch))
    return setting.at_least(setting.p_of(network.gram), 3 / leak**3)


def norms(network: Network, duals: Host) -> Host:
    """Return ‖W‖, (B,), of weights w_k = Σ_i α_ki x_i for coefficients (B, m, n)."""
    squares = np.sum(duals * (duals @ network.gram), axis=(1, 2))
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def apart(network: Network, duals: Host, others: Host) -> Host:
    """Return ‖W/‖W‖ − V/‖V‖‖, (B,), of two sets of weights: how far apart their directions are."""
    first = duals / norms(network, duals)[:, None, None]
    return norms(network, first - others / norms(network, others)[:, None, None])


def facts(network: Network) -> dict[str, Any]:
    """Return what a person needs to recognise one network, B = 1."""
    return {
        "examples": network.examples,
        "neurons": network.neurons,
        "p": float(setting.p_of(network.gram)[0]),
        "leak": network.activation.slope_below,
        "labels": network.labels[0],
        "output_weights": network.output_weights[0],
        "starting_predictions": network.starting_predictions[0],
        "gram": network.gram[0],
    }
