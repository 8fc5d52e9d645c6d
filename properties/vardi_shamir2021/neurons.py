"""One neuron of any activation in weight space: problems, the zero-loss point nearest to the start,
and an integration of its weights that shares no code with `verify.relu`.

Coordinates of a point: n examples of d standard Gaussian features (d_over_n in place of d);
activation, as `ACTIVATIONS` names it; y_min, of labels whose sizes are uniform in [y_min, 1], times
.8 for tanh, whose range they must be in; labels of both signs, of positive sign for softplus, and
none negative, about half of them 0, for the ReLU; a Gaussian start of length about start_scale,
most of it outside the data span. All dimensionless.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from properties.vardi_shamir2021.setting import one_of
from verify.arrays import to_numpy
from verify.relu.dynamics.activation import (
    BENT_LINE,
    SOFTPLUS,
    TANH,
    Activation,
    SmoothActivation,
)
from verify.relu.dynamics.flow import flow
from verify.relu.dynamics.smooth import smooth_flow
from verify.relu.minimum_norm import require_regular
from verify.relu.nearest_minimum import nearest_minimum
from verify.relu.problem import Problem
from verify.space import Point

Host = np.ndarray[Any, Any]

ACTIVATIONS: Mapping[str, SmoothActivation | Activation] = {
    "softplus": SOFTPLUS,
    "tanh": TANH,
    "bent_line": BENT_LINE,
    "leaky_half": Activation(0.5),
    "leaky_tenth": Activation(0.1),
    "relu": Activation(0.0),
}

STEEPEST: Mapping[str, float] = {"bent_line": 2.0}
"""The largest slope, where it is not 1."""

SETTLED, MAX_STEPS = 1e-9, 4_000
"""Residual over ‖y‖, or over that of the start if it is less, at which the integration of the
weights ends, and the steps it may take."""

DEFAULTS: Mapping[str, Any] = {"d_over_n": 3.0, "y_min": 0.5, "start_scale": 1.0}


@dataclass(frozen=True, eq=False, repr=False)
class Neuron:
    """B problems of one neuron, with features and weights, and its activation's name."""

    problem: Problem
    activation: str

    @property
    def eigenvalues(self) -> Any:
        """Eigenvalues of the Gram matrices, ascending, (B, n)."""
        return self.problem.eigenvalues

    @property
    def features(self) -> Host:
        """X, (B, n, d)."""
        return np.asarray(to_numpy(self.problem.features))

    @property
    def labels(self) -> Host:
        """y, (B, n)."""
        return np.asarray(to_numpy(self.problem.labels))

    @property
    def start(self) -> Host:
        """w_0, (B, d)."""
        return np.asarray(to_numpy(self.problem.starting_weights))[:, 0]

    def value(self, predictions: Host) -> Host:
        """Return φ(β)."""
        return np.asarray(ACTIVATIONS[self.activation].value(predictions))

    def slope(self, predictions: Host) -> Host:
        """Return φ'(β), with φ'(0) = 1 where there is a kink."""
        known = ACTIVATIONS[self.activation]
        if isinstance(known, Activation):
            return np.asarray(known.slope(predictions, 1))
        return known.derivative(predictions)

    def inverse(self, labels: Host) -> Host:
        """Return φ⁻¹(y). Raises KeyError for the ReLU, which has none."""
        known = ACTIVATIONS[self.activation]
        if isinstance(known, SmoothActivation):
            return known.inverse(labels)
        if not known.slope_below:
            raise KeyError(f"{self.activation} is not strictly monotone")
        return np.where(labels > 0, labels, labels / known.slope_below)

    def predictions(self, weights: Host) -> Host:
        """Return Xw for weights (B, d), (B, n)."""
        return np.asarray(np.einsum("bij,bj->bi", self.features, weights))

    def residual(self, weights: Host) -> Host:
        """Return φ(Xw) − y for weights (B, d), (B, n)."""
        return self.value(self.predictions(weights)) - self.labels


def draw(point: Point, generator: np.random.Generator, trials: int) -> Neuron:
    """Draw i.i.d. problems at a point."""
    at = {**DEFAULTS, **point}
    n, name = int(point["n"]), one_of("activation", point["activation"], ACTIVATIONS)
    d = int(at["d"]) if "d" in at else max(n + 1, round(at["d_over_n"] * n))
    features = generator.normal(size=(trials, n, d))
    labels = generator.uniform(at["y_min"], 1.0, size=(trials, n))
    signs = generator.choice([-1.0, 1.0], size=(trials, n))
    if name == "relu":
        labels = np.where(signs > 0, labels, 0.0)
    elif name != "softplus":
        labels = signs * labels * (0.8 if name == "tanh" else 1.0)
    weights = generator.normal(size=(trials, 1, d)) * at["start_scale"] / d**0.5
    problem = Problem.from_features(
        features, labels, starting_weights=weights, step_size=1.0, slope_at_zero=1
    )
    return Neuron(problem, name)


@dataclass(frozen=True, eq=False)
class Ended:
    """Where B neurons end.

    limit: (B, d), the weights w_∞.   certified: (B,), whether that is known.
    reached: (B, d), the weights up to which the path was followed.   left: (B,), a bound on the
    distance from there to the exact limit.
    """

    limit: Host
    certified: Host
    reached: Host
    left: Host


def follow(neuron: Neuron) -> Ended:
    """Follow gradient flow to its limit, in Gram space."""
    known = ACTIVATIONS[neuron.activation]
    if isinstance(known, SmoothActivation):
        run = smooth_flow(neuron.problem, known)
        limit = _weights(neuron, run.duals - neuron.problem.starting_duals)
        return Ended(limit, run.certified, _weights(neuron, run.integrated), run.left)
    exact = flow(neuron.problem, known)
    limit = _weights(neuron, exact.duals - neuron.problem.starting_duals)
    return Ended(limit, exact.certified, limit, exact.error)


def _weights(neuron: Neuron, change: Any) -> Host:
    """Return w_0 + Xᵀc for coefficients c (B, 1, n), (B, d)."""
    return np.asarray(
        neuron.start + np.einsum("bi,bij->bj", np.asarray(change)[:, 0], neuron.features)
    )


def nearest(neuron: Neuron) -> Host:
    """Return the zero-loss point nearest to the start, (B, d): for a φ that has an inverse, by a QR
    factorisation of Xᵀ; for the ReLU, the nearest global minimum.

    Raises InputError for a Gram matrix that is not positive definite.
    """
    require_regular(neuron.problem)
    if neuron.activation == "relu":
        return _weights(neuron, nearest_minimum(neuron.problem).change[:, None, :])
    gap = neuron.inverse(neuron.labels) - neuron.predictions(neuron.start)
    basis, factor = np.linalg.qr(neuron.features.swapaxes(1, 2))
    inside = np.linalg.solve(factor.swapaxes(1, 2), gap[:, :, None])
    return np.asarray(neuron.start + (basis @ inside)[:, :, 0])


def outside_span(neuron: Neuron, weights: Host) -> Host:
    """Return the length of the part of w − w_0 outside the span of the data, (B,)."""
    basis, _ = np.linalg.qr(neuron.features.swapaxes(1, 2))
    change = (weights - neuron.start)[:, :, None]
    outside = (change - basis @ (basis.swapaxes(1, 2) @ change))[:, :, 0]
    return np.asarray(np.linalg.norm(outside, axis=-1))


@dataclass(frozen=True, eq=False)
class Integrated:
    """Where an integration of w' = −P∂L/∂w came.

    weights: (B, d).   settled: (B,), whether residuals are at most 1e-9 of ‖y‖, and of what they
    were at the start.   rounding: (B,), a bound on what adding up the steps may have lost.
    """

    weights: Host
    settled: Host
    rounding: Host


def integrate(neuron: Neuron, rates: Host | None = None) -> Integrated:
    """Integrate the weights of the flow by the classical Runge–Kutta method of order four.

    rates: (d,), the diagonal of P, of each coordinate its own rate; by default all 1, the flow.
    """
    at = np.ones(neuron.start.shape[-1]) if rates is None else rates
    steepest = STEEPEST.get(neuron.activation, 1.0)
    top = neuron.eigenvalues[:, -1:] * steepest**2 * at.max()
    step = 1.5 / top
    first = np.linalg.norm(neuron.residual(neuron.start), axis=-1)
    allowed = SETTLED * np.minimum(np.linalg.norm(neuron.labels, axis=-1), first)

    def velocity(weights: Host) -> Host:
        predictions = neuron.predictions(weights)
        pull = neuron.slope(predictions) * (neuron.value(predictions) - neuron.labels)
        return np.asarray(-at * np.einsum("bi,bij->bj", pull, neuron.features))

    weights, rounding = neuron.start, np.zeros(len(allowed))
    for _ in range(MAX_STEPS):
        settled = np.linalg.norm(neuron.residual(weights), axis=-1) <= allowed
        if settled.all():
            break
        weights = weights + _increment(velocity, weights, step)
        rounding = rounding + np.finfo(float).eps * np.linalg.norm(weights, axis=-1)
    settled = np.linalg.norm(neuron.residual(weights), axis=-1) <= allowed
    return Integrated(weights, settled, rounding)


def _increment(velocity: Callable[[Host], Host], weights: Host, step: Host) -> Host:
    first = velocity(weights)
    second = velocity(weights + step / 2 * first)
    third = velocity(weights + step / 2 * second)
    fourth = velocity(weights + step * third)
    return np.asarray(step / 6 * (first + 2 * second + 2 * third + fourth))


def describe(neuron: Neuron, index: int) -> dict[str, Any]:
    """Return what a person needs to recognise one problem."""
    return {
        "activation": neuron.activation,
        "examples": neuron.labels.shape[-1],
        "labels": neuron.labels[index],
        "starting_weights": neuron.start[index],
        "features": neuron.features[index],
        "starting_predictions": neuron.predictions(neuron.start)[index],
    }
