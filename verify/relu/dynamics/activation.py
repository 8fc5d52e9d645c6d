"""Activations: piecewise linear with a kink at zero, and smooth strictly monotone ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from verify.arrays import Array, array_namespace
from verify.errors import InputError

Host = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Activation:
    """φ(z) = z for z ≥ 0 and γz for z ≤ 0: the ReLU at γ = 0, a leaky ReLU at 0 < γ < 1.

    The derivative at zero is an agreement that a problem makes: `slope_at_zero` is 1 for the
    slope from above, 1, and 0 for that from below, γ.

    slope_below: γ in [0, 1), dimensionless.   Raises InputError for another.
    """

    slope_below: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.slope_below, Real) or not 0 <= self.slope_below < 1:
            raise InputError(
                f"slope_below={self.slope_below!r}, expected a number in [0, 1): 0 is the ReLU"
            )

    def value(self, predictions: Array) -> Array:
        """Return φ(β), of the shape of β."""
        xp = array_namespace(predictions)
        return xp.where(predictions > 0, predictions, self.slope_below * predictions)

    def active(self, predictions: Array, slope_at_zero: int) -> Array:
        """Return the mask of the predictions where the slope is 1, of the shape of β."""
        return predictions >= 0 if slope_at_zero else predictions > 0

    def slope(self, predictions: Array, slope_at_zero: int) -> Array:
        """Return φ'(β), 1 or γ, of the shape of β."""
        return self.slope_on(self.active(predictions, slope_at_zero), predictions)

    def slope_on(self, active: Array, like: Array) -> Array:
        """Return 1 where `active`, γ elsewhere, in the floating-point type of `like`."""
        xp = array_namespace(like)
        return xp.where(active, xp.ones_like(like), xp.full_like(like, self.slope_below))


RELU = Activation(0.0)


@dataclass(frozen=True)
class SmoothActivation:
    """A strictly monotone φ with a continuous derivative φ' > 0, on numpy arrays.

    name: the formula.   value, derivative: φ and φ', elementwise.
    inverse: φ⁻¹, elementwise; NaN outside the range of φ.
    least_slope: (low, high) → the least φ' on [low, high], elementwise.
    """

    name: str
    value: Callable[[Host], Host]
    derivative: Callable[[Host], Host]
    inverse: Callable[[Host], Host]
    least_slope: Callable[[Host, Host], Host]


def _softplus(z: Host) -> Host:
    return np.logaddexp(0.0, z)


def _sigmoid(z: Host) -> Host:
    return np.exp(-np.logaddexp(0.0, -z))


def _inverse_softplus(y: Host) -> Host:
    inside = y > 0
    positive = np.where(inside, y, 1.0)
    return np.where(inside, positive + np.log(-np.expm1(-positive)), np.nan)


def _least_sigmoid(low: Host, _high: Host) -> Host:
    return _sigmoid(low)


SOFTPLUS = SmoothActivation("log(1 + e^z)", _softplus, _sigmoid, _inverse_softplus, _least_sigmoid)
"""A smooth ReLU, of range (0, ∞)."""


def _inverse_tanh(y: Host) -> Host:
    inside = np.abs(y) < 1
    return np.where(inside, np.arctanh(np.where(inside, y, 0.0)), np.nan)


def _slope_of_tanh(z: Host) -> Host:
    steep = np.cosh(np.minimum(np.abs(z), 300.0))
    return np.asarray(1 / (steep * steep))


def _least_slope_of_tanh(low: Host, high: Host) -> Host:
    return _slope_of_tanh(np.maximum(np.abs(low), np.abs(high)))


TANH = SmoothActivation("tanh z", np.tanh, _slope_of_tanh, _inverse_tanh, _least_slope_of_tanh)
"""Of range (−1, 1), and ever flatter away from zero."""


def _bent_line(z: Host) -> Host:
    return z + np.tanh(z)


def _slope_of_bent_line(z: Host) -> Host:
    return 1 + _slope_of_tanh(z)


def _inverse_bent_line(y: Host) -> Host:
    """Solve z + tanh z = y by Newton's method from z = y: after one step the iterates lie on the
    root's side of zero and approach it monotonically, since φ is concave above zero, and odd."""
    z = np.asarray(y, dtype=np.float64)
    for _ in range(30):
        z = z - (_bent_line(z) - y) / _slope_of_bent_line(z)
    return z


def _least_slope_of_bent_line(low: Host, high: Host) -> Host:
    return 1 + _least_slope_of_tanh(low, high)


BENT_LINE = SmoothActivation(
    "z + tanh z", _bent_line, _slope_of_bent_line, _inverse_bent_line, _least_slope_of_bent_line
)
"""Of all the reals as range, with slopes between 1 and 2."""
