"""A certificate of where the loss of gradient flow goes when both layers train [D].

While the flow moves, the residual follows dr/dt = −K r, K = Σ_k (v_k² D_k G D_k + φ(β_k)φ(β_k)ᵀ),
and all weights together move at the speed √(rᵀKr). Within distance R of the present weights

    K ⪰ μ = λ_min(G) · min_{i∈C} Σ_k (|v_k| − R)₊² s_ki²,

where s_ki is the least slope that neuron k can have on example i: 1 where w_k·x_i > R‖x_i‖, else γ.
(D_kGD_k ⪰ λ_min(G) D_k²; nothing is asked of neurons near their kinks, where the slope may be
anything in [γ, 1] and may change for ever.) Hence ‖r_C‖ falls at the rate μ, and what is left of
the path is at most ‖r_C‖/√μ. If that is R at most, the flow never leaves the ball.

The loss then falls to that of the examples off C alone, which no neuron is active on, nor ever
will be: its prediction there is further below zero than it can move, or its kink holds it.
It moves by R‖x_i‖ at most, and by (|v_k| + R)‖G_{i,·≠i}‖ (1 + √(λ_max/λ_min)) ‖r_C‖/μ, z below
included: x_i itself does not pull while the neuron is inactive there. A kink holds where
v_k r_i > 0 and |r_i| > ‖r_C‖ √(λ_max/λ_min): the movement that C asks for, √λ_max‖r_C‖ at most
(times |v_k|), is projected on β ≤ 0 by multipliers z with λ_min‖z‖² ≤ ‖Xᵀz‖², which stay below the
|r_i| that the kink can give. μ is not lowered by that: ‖X_CᵀD_kr + Xᵀz‖² ≥ λ_min(‖D_kr‖² + ‖z‖²).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from verify.relu.dynamics.kinks import ABOVE
from verify.relu.dynamics.network import Network
from verify.tolerances import REGULAR_ABOVE, summation

Host = np.ndarray[Any, Any]

_RADII = 2.0 ** np.arange(0.25, 12)
"""Radii tried, as multiples of ‖r_C‖/√μ at R = 0."""


@dataclass(frozen=True, eq=False)
class Arrival:
    """Where the loss of B flows goes.

    certified: (B,).   distance: (B,), a bound on the length of the rest of the path of all weights,
    ∞ where nothing is certified.   limit_loss: (B,), ½Σ r_i² over the examples that no neuron will
    ever be active on.   moving_residual: (B,), ‖r_C‖ over the others, with its rounding error.
    regular: (B,), whether the Gram matrix is positive definite: else nothing is certified.
    """

    certified: Host
    distance: Host
    limit_loss: Host
    moving_residual: Host
    regular: Host


def arrival(
    network: Network, predictions: Host, sides: Host, outputs: Host, residual: Host
) -> Arrival:
    """Certify from predictions and the sides of the kinks, (B, m, n), output weights, (B, m), and
    residuals, (B, n)."""
    highest = network.eigenvalues[:, -1]
    lowest = network.eigenvalues[:, 0] - summation(network.examples, highest) * highest
    regular = lowest > REGULAR_ABOVE * highest
    floor = np.where(regular, lowest, 1.0)
    terms = np.abs(outputs)[:, :, None] * np.abs(predictions)
    error = summation(network.neurons, residual) * (terms.sum(axis=1) + np.abs(network.labels))
    reach = predictions / network.units[:, None, :]

    still = (sides != ABOVE).all(axis=1) & (network.activation.slope_below == 0)
    pulling = np.where(still, 0.0, np.abs(residual) + error)
    size = np.linalg.norm(pulling, axis=-1)
    spread = np.sqrt(highest / floor)
    others = network.gram * (1 - np.eye(network.examples)) / network.units[:, :, None]
    others = np.linalg.norm(others, axis=-1)
    firm = np.abs(residual) - error > (size * spread)[:, None]
    kept = firm[:, None, :] & (outputs[:, :, None] * residual[:, None, :] > 0)

    def least_rate(radius: Host) -> Host:
        """Return √μ within the radius, (B,), ∞ where every example is still."""
        sure = (sides == ABOVE) & (reach > radius[:, None, None])
        slope = np.where(sure, 1.0, network.activation.slope_below)
        strength = np.maximum(np.abs(outputs) - radius[:, None], 0.0)
        pulled = np.sum((strength[:, :, None] * slope) ** 2, axis=1)
        return np.asarray(np.sqrt(floor * np.min(np.where(still, np.inf, pulled), axis=-1)))

    start = least_rate(np.zeros(network.batch))
    guess = size / np.where(start > 0, start, 1.0)
    certified = np.zeros(network.batch, dtype=bool)
    distance = np.full(network.batch, np.inf)
    for multiple in _RADII:
        radius = multiple * guess
        rate = least_rate(radius)
        left = size / np.where(rate > 0, rate, 1.0)
        pulled = size * (1 + spread) / np.where(rate > 0, rate, 1.0) ** 2
        aside = (np.abs(outputs) + radius[:, None])[:, :, None] * (pulled[:, None] * others)[
            :, None, :
        ]
        stays = kept | (reach < -np.minimum(radius[:, None, None], aside))
        holds = (~still | stays.all(axis=1)).all(axis=-1) & (rate > 0) & (left <= radius)
        holds &= regular
        distance = np.where(holds & ~certified, left, distance)
        certified |= holds
    loss = np.sum(np.where(still, residual, 0.0) ** 2, axis=-1) / 2
    return Arrival(certified, distance, loss, size, regular)
