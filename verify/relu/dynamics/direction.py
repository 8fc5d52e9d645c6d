"""A certificate that training on the logistic loss converges in direction, and where to [D].

Let W⋆ be a KKT point of the margin problem on given sides (`margin_points`), S the examples with
λ_i > 0, and V(c) = cW⋆ + ω with y_i f(x_i; ω) = −log λ_i for i ∈ S on these sides and 0 on the held
pairs: along that ray the softmax weights p⋆ = λ/Σλ of S stay as they are, and the descent direction
of F(W) = log Σ_S exp(−y_i f(x_i; W)) is W⋆/Σλ for ever. A kink with v_k y_i < 0 bends F convexly.
If no other kink is met between W and V, F is convex there, and along dW/dt = −∇F, with ρ = W − V,

    d/dt ½‖ρ‖² = −⟨∇F(W) − ∇F(V), ρ⟩ ≤ 0.

For steps of length η, all kinks out of reach, ⟨∇F(W) − ∇F(V), ρ⟩ = KL(p‖p⋆) + KL(p⋆‖p) ≥ ‖p − p⋆‖₁²
(Pinsker), so ‖ρ‖ does not grow if η ≤ 2/max_i‖∇f(x_i)‖². Since c grows and ‖ρ‖ stays, W/‖W‖ tends
to W⋆/‖W⋆‖. Two things move W otherwise, and what each adds to ‖ρ‖ is a geometric series. The
logistic weights differ from the softmax by e = exp(−min_S y_i f) relatively, so that the sum of
their differences is at most e if e ≤ ½. An example off S, of margin μ_i > 1 at W⋆, takes the share
2exp(−y_i f)/Σ_S exp(−y_j f) at most, which falls as exp(−(μ_i − 1)c); its kinks must be out of
reach. In floating point: the bound on ‖ρ‖ is taken 0.1% and 1e-6 too large, above what solves lose
where the constraints are as independent as `margin_points` asks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from verify.relu.dynamics.kinks import ABOVE, HELD, ON_KINK
from verify.relu.dynamics.margin_points import MarginPoint, margin_point, slopes_on
from verify.relu.dynamics.network import Network
from verify.tolerances import KKT, summation

Host = np.ndarray[Any, Any]

_BEYOND = 1e-6
"""How far beyond 1 the margin of an example without a multiplier has to be."""


@dataclass(frozen=True, eq=False)
class Direction:
    """Where one network is going.

    point: the KKT point W⋆, or what the sides make of it.   certified: whether the direction tends
    to that of W⋆, from the state looked at on.   distance: ‖W/‖W‖ − W⋆/‖W⋆‖‖ now, dimensionless;
    ∞ where W⋆ is no KKT point, or W is 0.
    """

    point: MarginPoint
    certified: bool
    distance: float


def direction(network: Network, change: Host, sides: Host, step: float | None = None) -> Direction:
    """Judge one network (B = 1) whose coefficients gained `change`, (m, n), on `sides`, (m, n).

    step: η of descent in rescaled steps; None for the flow.
    """
    point = margin_point(network, sides)
    if not point.residual <= KKT:
        return Direction(point, False, np.inf)
    distance = _distance(network, change, point)
    return Direction(point, _tends_to(network, change, point, step), distance)


def _distance(network: Network, change: Host, point: MarginPoint) -> float:
    duals = network.starting_duals[0] + change
    gram = network.gram[0]
    norm = np.sqrt(float(network.squared_norms(change[None]).sum()))
    if not norm:
        return np.inf
    best = np.sqrt(float(np.sum(point.duals * point.predictions)))
    apart = duals / norm - point.duals / best
    outside = float(np.trace(network.perpendicular_gram[0])) / norm**2
    return float(np.sqrt(max(float(np.sum(apart * (apart @ gram))) + outside, 0.0)))


def _tends_to(network: Network, change: Host, point: MarginPoint, step: float | None) -> bool:
    """Say whether the certificate holds from here on."""
    n, v, y = network.examples, network.output_weights[0], network.labels[0]
    gram, sides, lengths = network.gram[0], point.sides, network.lengths[0]
    beta = network.predictions(change[None])[0]
    slopes, held = slopes_on(sides, network.activation.slope_below), sides == HELD
    support = point.multipliers > 0
    holding = np.concatenate([support, np.ones(point.held_multipliers.size, dtype=bool)])
    weights = point.multipliers[support]
    total = float(weights.sum())

    def margins(predictions: Host) -> Host:
        return np.asarray(y * np.sum(v[:, None] * slopes * predictions, axis=0))

    apart = np.concatenate([margins(beta)[support] + np.log(weights), beta[held]])
    toward = np.concatenate([weights, point.held_multipliers])
    progress = float(toward @ apart) / total
    apart[: weights.size] -= progress
    nu = np.zeros(holding.size)
    nu[holding] = np.linalg.solve(point.constraints[np.ix_(holding, holding)], apart)
    size = float(np.sqrt(max(float(nu[holding] @ apart), 0.0)))
    shift = v[:, None] * slopes * (y * nu[:n])
    shift[held] += nu[n:]
    ray = beta - shift @ gram  # predictions of V

    beyond = margins(point.predictions)[~support] - 1
    if not (beyond > _BEYOND).all():
        return False
    lipschitz = float(np.linalg.norm(v) * lengths.max())
    bound = size * 1.001 + 1e-6
    error = _exp(np.log(weights.max()) + lipschitz * bound - progress)
    shares = 2 / total * _exp(2 * lipschitz * bound + progress - margins(ray)[~support])

    def all_along(rates: Any) -> Any:
        """Return the sum over the time to come of what falls at these rates over Σλ, from 1 on."""
        return total / rates if step is None else step / -np.expm1(-step * rates / total)

    added = lipschitz * (error * all_along(1.0) + 2 * np.sum(shares * all_along(beyond)))
    if not (error <= 0.5 and size + added <= bound):
        return False
    if step is not None:
        steepest = float(np.max(np.diagonal(gram) * np.sum((v[:, None] * slopes) ** 2, axis=0)))
        if held.any() or step * steepest > 2:
            return False
    side = np.where(sides == ABOVE, 1.0, -1.0)
    blur = summation(n, gram) * (np.abs(beta) + np.abs(shift) @ np.abs(gram))
    stays = side * point.predictions >= 0
    bends_up = (v[:, None] * y < 0) & support & (step is None)
    # A flow takes predictions this far beyond their kink for being on it.
    on_kink = 10 * ON_KINK * np.sqrt(network.squared_norms(change[None])[0])[:, None]
    weakly = stays & bends_up & ~held & (side * ray >= -blur - on_kink * lengths)
    reach = bound * _reach(network, point, slopes)
    if (weakly & (side * ray <= reach + blur)).any():  # W may leave the span that _reach is about
        reach = np.broadcast_to(bound * lengths, reach.shape)
    clear = stays & (side * ray > reach + blur)
    return bool(np.all((held & bends_up) | clear | weakly))


def _exp(exponents: Any) -> Any:
    """Return the exponentials, those that are too large for any bound as if of 50."""
    return np.exp(np.minimum(exponents, 50.0))


def _reach(network: Network, point: MarginPoint, slopes: Host) -> Host:
    """Return how far w_k·x_i can move per unit of ‖ρ‖, (m, n), for ρ in the span of the constraints
    of all examples and held pairs: ‖x_i‖ at most."""
    n, gram = network.examples, network.gram[0]
    neuron, example = np.nonzero(point.sides == HELD)
    weighted = network.output_weights[0][:, None] * slopes * network.labels[0]
    rows = weighted[:, None, :] * gram[None, :, :]
    same = neuron[None, None, :] == np.arange(network.neurons)[:, None, None]
    rows = np.concatenate([rows, np.where(same, gram[None][:, :, example], 0.0)], axis=-1)
    flat = rows.reshape(-1, n + neuron.size)
    squares = np.sum(flat.T * np.linalg.solve(point.constraints, flat.T), axis=0)
    reach = np.sqrt(np.maximum(squares, 0.0)).reshape(network.neurons, n) * (1 + 1e-6)
    return np.asarray(np.minimum(reach, network.lengths[0]))
