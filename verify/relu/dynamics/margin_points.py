"""Critical points of the margin problem of networks, solved exactly for given sides of the kinks.

    minimise ½‖W‖²   subject to   y_i f(x_i; W) ≥ 1,   f(x) = Σ_k v_k φ(w_k·x), v fixed.

On given sides of the kinks f is linear in W, and this is a least-norm program with a multiplier
λ_i ≥ 0 for each example; held pairs add w_k·x_i = 0, and theirs are λ_i v_k y_i s_ki with the slope
s_ki. What it finds is a Karush–Kuhn–Tucker point of the margin problem if its own predictions are
on the sides that were given and the held slopes are in [γ, 1] (Frei et al. 2023, eq. of KKT [V]).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from verify.errors import InputError
from verify.relu.dynamics.kinks import ABOVE, BELOW, HELD
from verify.relu.dynamics.network import Network, require_network
from verify.relu.gram import Gram
from verify.relu.least_norm import LeastNorm
from verify.tolerances import REGULAR_ABOVE

Host = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class MarginPoint:
    """What one network's sides make of the margin problem.

    multipliers: (n,), λ.   duals: (m, n), coefficients α with w_k = Xᵀα_k.
    predictions: (m, n), the w_k·x_i.   sides: (m, n), see `kinks`.
    residual: the largest of the relative KKT residuals: margins, signs and complementarity of the
        multipliers, predictions on a wrong side (over ‖W‖‖x_i‖), slopes outside [γ, 1]; ∞ where
        the constraints are not independent (an example that no neuron sees, say), and nothing is
        solved.
    constraints: (n + h, n + h), the Gram matrix of the constraints, the h held pairs last.
    held_multipliers: (h,).
    """

    multipliers: Host
    duals: Host
    predictions: Host
    sides: Host
    residual: float
    constraints: Host
    held_multipliers: Host


def margin_point(network: Network, sides: Host) -> MarginPoint:
    """Solve for one network and the sides (m, n) of its kinks.

    Raises InputError for what is no Network, a batch of several, or sides of another shape
    or other than those of `kinks`.
    """
    require_network(network)
    if network.batch != 1:
        raise InputError(f"network has batch={network.batch}, expected 1: each has its own program")
    shape = (network.neurons, network.examples)
    if sides.shape != shape or not np.isin(sides, (BELOW, ABOVE, HELD)).all():
        raise InputError(
            f"sides has shape={sides.shape}, expected {shape}, of {BELOW} (below), {ABOVE} (above) "
            f"and {HELD} (held)"
        )
    gram, y, v = network.gram[0], network.labels[0], network.output_weights[0]
    leak, n = network.activation.slope_below, network.examples
    slopes = slopes_on(sides, leak)
    neuron, example = np.nonzero(sides == HELD)
    matrix = _constraints(gram, y, v, slopes, neuron, example)
    held = np.arange(n + neuron.size) >= n
    if _dependent(matrix):
        nothing = np.zeros(sides.shape)
        rest = np.zeros(neuron.size)
        return MarginPoint(np.zeros(n), nothing, nothing, sides, np.inf, matrix, rest)
    bound = np.where(held, 0.0, 1.0)[None]
    program = LeastNorm(Gram(matrix[None]), np.ones_like(bound), bound, held[None], ~held[None])
    # Where no example is beyond the margin, as is common, one solve is the whole program.
    solved = np.linalg.solve(matrix, bound[0])[None]
    if not (solved[0, :n] > 0).all():
        solved = program.solve()
    found = solved[0]
    multipliers, rest = found[:n], found[n:]
    duals = v[:, None] * slopes * (y * multipliers)
    duals[neuron, example] += rest
    predictions = duals @ gram
    norm = np.sqrt(max(float(np.sum(duals * predictions)), 0.0))
    relative = predictions / ((norm or 1.0) * network.lengths[0])
    wrong = np.where(sides == ABOVE, -relative, relative)
    wrong = np.where(sides == HELD, np.abs(relative), wrong)
    needed = v[neuron] * y[example] * multipliers[example]
    pulls = np.where(needed != 0, needed, 1.0)
    slope = np.where(needed != 0, rest / pulls, np.where(rest == 0, leak, np.inf))
    outside = np.maximum(np.maximum(leak - slope, slope - 1), 0.0)
    residual = max(
        float(program.residuals(solved).max()), float(wrong.max()), float(outside.max(initial=0.0))
    )
    return MarginPoint(multipliers, duals, predictions, sides, residual, matrix, rest)


def settle_kinks(network: Network, predictions: Host, loose: Host) -> Host:
    """Return sides, (m, n), for one network near a KKT point: by the signs of its predictions,
    (m, n), but for the `loose` pairs by a program that asks for w_k·x_i ≤ 0 there: held where that
    binds, below where not.   Loose pairs need v_k y_i < 0, where kinks bend the margins down.
    """
    gram, y, v = network.gram[0], network.labels[0], network.output_weights[0]
    sides = np.where(loose | (predictions <= 0), BELOW, ABOVE)
    slopes = slopes_on(sides, network.activation.slope_below)
    neuron, example = np.nonzero(loose)
    matrix = _constraints(gram, y, v, slopes, neuron, example)
    if _dependent(matrix):
        return sides
    kink = np.arange(matrix.shape[0]) >= network.examples
    side, bound = np.where(kink, -1.0, 1.0)[None], np.where(kink, 0.0, 1.0)[None]
    every = np.ones_like(bound, dtype=bool)
    found = LeastNorm(Gram(matrix[None]), side, bound, ~every, every).solve()[0]
    sides[neuron, example] = np.where(found[kink] != 0, HELD, BELOW)
    return sides


def slopes_on(sides: Host, leak: float) -> Host:
    """Return the slopes on given sides, (m, n); 0 for held pairs, with multipliers of their own."""
    return np.where(sides == ABOVE, 1.0, np.where(sides == HELD, 0.0, leak))


def _dependent(matrix: Host) -> bool:
    """Say whether constraints of Gram matrix (N, N) are dependent, numerically."""
    return bool(np.linalg.eigvalsh(matrix)[0] <= REGULAR_ABOVE * np.max(np.diagonal(matrix)))


def _constraints(gram: Host, y: Host, v: Host, slopes: Host, neuron: Host, example: Host) -> Host:
    """Return the inner products of the constraints: (y_i v_k s_ki x_i)_k, and x_i in block k."""
    weighted = v[:, None] * slopes
    margins = y[:, None] * gram * (weighted.T @ weighted) * y[None, :]
    across = y[:, None] * weighted[neuron].T * gram[:, example]
    held = gram[np.ix_(example, example)] * (neuron[:, None] == neuron[None, :])
    return np.block([[margins, across], [across.T, held]])
