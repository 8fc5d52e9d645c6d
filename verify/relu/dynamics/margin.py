"""Classification in Gram space: nearly orthogonal data, the linear maximum margin, stable rank.

The linear maximum-margin direction is that of the w of least norm with y_i w·x_i ≥ 1; in dual form
w = Σ_i s_i y_i x_i, s ≥ 0 (`least_norm`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from verify.arrays import Array, array_namespace
from verify.errors import InputError
from verify.relu.gram import Gram
from verify.relu.least_norm import LeastNorm

Host = np.ndarray[Any, Any]

_NARROWEST = 1e-100
"""Ratio of squared lengths from which R² is a number to reckon with."""


@dataclass(frozen=True, eq=False)
class NearOrthogonality:
    """How nearly orthogonal B data sets are (Frei, Vardi, Bartlett, Srebro 2023 [V]).

    spread: (B,), R² = max‖x_i‖²/min‖x_i‖².   p: (B,), the largest p with
    min‖x_i‖² ≥ p R² n max_{i≠j}|x_i·x_j|; ∞ for orthogonal data or one example. Dimensionless.
    """

    spread: Array
    p: Array

    @property
    def ratio_bound(self) -> Array:
        """R²(1 + 2/(pR² − 2)), (B,): bounds max s/min s where p ≥ 3 (their proposition 3 [V]);
        ∞ where pR² ≤ 2."""
        xp = array_namespace(self.p)
        bounded = self.p * self.spread > 2
        room = xp.where(bounded, self.p * self.spread - 2, xp.ones_like(self.p))
        return xp.where(bounded, self.spread * (1 + 2 / room), xp.full_like(self.p, xp.inf))

    def uniformity_bound(self, slope_below: float) -> Array:
        """τ = (R²/γ²)(1 + 2/(γpR² − 2)), (B,), of their proposition 4 [V] for a leaky ReLU of
        slope γ; ∞ where γpR² ≤ 2, or at γ = 0."""
        xp = array_namespace(self.p)
        if not slope_below:
            return xp.full_like(self.p, xp.inf)
        product = slope_below * self.p * self.spread
        bounded = product > 2
        room = xp.where(bounded, product - 2, xp.ones_like(self.p))
        bound = self.spread / slope_below**2 * (1 + 2 / room)
        return xp.where(bounded, bound, xp.full_like(self.p, xp.inf))


def near_orthogonality(gram: Array) -> NearOrthogonality:
    """Measure it for Gram matrices (B, n, n).

    Raises InputError for an array without a batch axis, and where an example is zero, a value is
    not finite, or R² is above 1e100.
    """
    _require_batch("gram", gram, 3, "(B, n, n)")
    xp = array_namespace(gram)
    if not bool(xp.all(xp.isfinite(gram))):
        raise InputError("gram has values that are NaN or infinite; remove or impute them")
    squares = xp.linalg.diagonal(gram)
    least, longest = xp.min(squares, axis=-1), xp.max(squares, axis=-1)
    if not bool(xp.all(least > 0)):
        raise InputError(
            f"an example has ‖x‖²={float(xp.min(least)):g}, expected lengths above zero; drop it"
        )
    if not bool(xp.all(least > _NARROWEST * longest)):
        raise InputError(
            f"an example has ‖x‖²={float(xp.min(least)):g} where another has a ‖x‖² more than "
            f"{1 / _NARROWEST:g} times as large; drop it"
        )
    spread = longest / least
    count = int(gram.shape[-1])
    off = xp.abs(gram) * (1 - xp.eye(count, dtype=gram.dtype, device=gram.device))
    most = xp.max(off, axis=(-2, -1))
    some = most > 0
    p = least / (spread * count * xp.where(some, most, xp.ones_like(most)))
    return NearOrthogonality(spread, xp.where(some, p, xp.full_like(p, xp.inf)))


@dataclass(frozen=True, eq=False)
class LinearMargin:
    """The linear classifiers of least norm with margin 1 on B data sets, and so of most margin.

    coefficients: (B, n), s ≥ 0 with w = Σ_i s_i y_i x_i.
    kkt: (B, 4), relative residuals as `LeastNorm.residuals`.   margin: (B,), 1/‖w‖.
    """

    coefficients: Array
    kkt: Array
    margin: Array

    @property
    def ratio(self) -> Array:
        """max s/min s, (B,); ∞ where some s is not positive."""
        xp = array_namespace(self.coefficients)
        least, most = xp.min(self.coefficients, axis=-1), xp.max(self.coefficients, axis=-1)
        positive = least > 0
        safe = xp.where(positive, least, xp.ones_like(least))
        return xp.where(positive, most / safe, xp.full_like(most, xp.inf))


def linear_margin(gram: Array, labels: Array) -> LinearMargin:
    """Solve for Gram matrices (B, n, n), positive definite, and labels ±1, (B, n).

    Raises InputError for arrays without a batch axis or of other shapes, and other labels.
    """
    _require_batch("gram", gram, 3, "(B, n, n)")
    _require_batch("labels", labels, 2, "(B, n)")
    if gram.shape != (*labels.shape, labels.shape[-1]):
        raise InputError(
            f"gram has shape {tuple(gram.shape)} and labels {tuple(labels.shape)}, expected "
            "(B, n, n) and (B, n)"
        )
    require_signs(labels)
    xp = array_namespace(gram)
    signed = labels[:, :, None] * gram * labels[:, None, :]
    every = xp.ones_like(labels) > 0
    program = LeastNorm(Gram(gram), labels, xp.ones_like(labels), ~every, every)
    found = program.solve()
    square = xp.sum(found * (signed @ found[:, :, None])[:, :, 0], axis=-1)
    return LinearMargin(found, program.residuals(found), 1 / xp.sqrt(square))


def _require_batch(name: str, array: Array, axes: int, expected: str) -> None:
    """Raise InputError for an array of another number of axes."""
    if array.ndim != axes:
        raise InputError(
            f"{name} has shape {tuple(array.shape)}, expected {expected}; of a single one, pass "
            f"{name}[None]"
        )


def require_signs(labels: Array) -> None:
    """Raise InputError where labels are not ±1."""
    xp = array_namespace(labels)
    if not bool(xp.all(xp.abs(labels) == 1)):
        raise InputError("labels has a value other than -1 and +1; pass their signs")


def stable_rank(weight_gram: Array) -> Array:
    """Return ‖W‖_F²/‖W‖₂² from WWᵀ, (B, m, m), (B,): dimensionless, from 1 to m; NaN for W = 0.

    Raises InputError for an array without a batch axis.
    """
    _require_batch("weight_gram", weight_gram, 3, "(B, m, m)")
    xp = array_namespace(weight_gram)
    largest = xp.linalg.eigvalsh(weight_gram)[:, -1]
    some = largest > 0
    trace = xp.sum(xp.linalg.diagonal(weight_gram), axis=-1)
    return xp.where(
        some, trace / xp.where(some, largest, xp.ones_like(largest)), xp.full_like(largest, xp.nan)
    )
