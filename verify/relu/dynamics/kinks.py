"""Which side of its kink every neuron is on for every example, and what it does on the kink.

On one side of every kink the vector field of a network is smooth. Where the fields of both sides
lead towards a kink, the solution stays on it (Filippov 1988, §4) [D]: the slope there takes the
value s between γ and 1 that keeps the prediction at zero. With z = s·g for the held examples S of a
neuron and h = φ'·g for the others, G_SS z = −G_S· h. Gradient descent with a small step chatters
there instead, with the same average.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from verify.relu.dynamics.network import Network

Host = np.ndarray[Any, Any]

Force = Callable[[Host, Host], Host]
"""(outputs, labels), both (B, n), to the pull g on the outputs, (B, n): dL/df, up to time scale."""

BELOW, ABOVE, HELD = 0, 1, 2

ON_KINK = 1e-13
"""Predictions up to this multiple of ‖w_k‖‖x_i‖ are at their kink."""

_OUTSIDE = 1e-9
"""How far a held slope is outside [γ, 1] when the neuron leaves the kink: above rounding."""

LATE = 1e-6
"""How far beyond that it may be found: the field has no jump there, the error is of its square."""


@dataclass(frozen=True, eq=False)
class Motion:
    """B networks under training.

    network: what is trained.   force: the pull on the outputs.
    trains_outputs: whether the output weights move too.
    """

    network: Network
    force: Force
    trains_outputs: bool

    @property
    def leak(self) -> float:
        """γ, the slope below a kink."""
        return self.network.activation.slope_below

    def select(self, index: Host) -> Motion:
        """Return the motions at the integer positions `index`, (K,)."""
        return replace(self, network=self.network.select(index))

    def start(self) -> tuple[Host, Host]:
        """Return state, (B, m, n + 1), and sides, (B, m, n), at the start.

        The state's first n entries are what the coefficients gained, the last is v_k.
        """
        network = self.network
        outputs = network.output_weights[:, :, None]
        state = np.concatenate([np.zeros_like(network.starting_predictions), outputs], axis=-1)
        return state, np.where(network.starting_predictions > 0, ABOVE, BELOW)

    def look(self, state: Host, sides: Host) -> Look:
        """Return predictions and rates at a state, for given sides of the kinks."""
        network, outputs = self.network, state[:, :, -1]
        predictions = network.predictions(state[:, :, :-1])
        slopes = np.where(sides == ABOVE, 1.0, self.leak)
        activations = np.where(sides == HELD, 0.0, slopes * predictions)
        pull = self.force(np.sum(outputs[:, :, None] * activations, axis=1), network.labels)
        sloped = np.where(sides == HELD, 0.0, slopes * pull[:, None, :])
        if (sides == HELD).any():
            sloped = sloped + _holding(network.gram, sloped, sides == HELD)
        rate = np.empty_like(state)
        rate[:, :, :-1] = -outputs[:, :, None] * sloped
        rate[:, :, -1] = 0.0
        if self.trains_outputs:
            rate[:, :, -1] = -np.sum(activations * pull[:, None, :], axis=-1)
        terms = np.sum(np.abs(outputs)[:, :, None] * np.abs(predictions), axis=1)
        pulls = np.abs(pull) > 10 * ON_KINK * (terms + np.abs(network.labels))
        return Look(rate, predictions, rate[:, :, :-1] @ network.gram, pull, pulls, sloped)

    def sizes(self, state: Host, predictions: Host) -> Host:
        """Return a lower estimate of ‖w_k‖, (B, m, 1): the longest part along an example, or |v_k|
        where both layers move and that is longer."""
        along = np.max(np.abs(predictions) / self.network.lengths[:, None, :], axis=-1)
        if self.trains_outputs:
            along = np.maximum(along, np.abs(state[:, :, -1]))
        return np.asarray(along[:, :, None] + 1e-300)

    def beyond(self, look: Look, sides: Host, sizes: Host) -> Host:
        """Return how far each prediction or held slope is beyond its side, (B, m, n), ≤ 0 if not.

        Predictions in units of ‖w_k‖‖x_i‖, less `ON_KINK`; slopes less their tolerance.
        """
        relative = look.predictions / (sizes * self.network.lengths[:, None, :])
        return np.where(
            sides == HELD,
            np.abs(self.slope_held(look) - (1 + self.leak) / 2) - (1 - self.leak) / 2 - _OUTSIDE,
            np.where(sides == ABOVE, -relative, relative) - ON_KINK,
        )

    def slope_held(self, look: Look) -> Host:
        """Return the slopes s = z/g, (B, m, n), meaningful where a pair is held; the middle one
        where g is not known so well, and nothing hinges on it."""
        known = look.pulls[:, None, :]
        pull = np.where(known, look.pull[:, None, :], 1.0)
        return np.where(known, look.sloped / pull, (1 + self.leak) / 2)

    def switch(self, state: Host, sides: Host, look: Look) -> tuple[Host, Host]:
        """Return new sides, with the first pair of each network that is due on another side, and
        the mask of networks where one was, (B,).

        Due: a prediction on its kink that moves beyond it, or a held slope outside [γ, 1].
        """
        sizes = self.sizes(state, look.predictions)
        depth = np.where(sides == ABOVE, look.predictions, -look.predictions)
        near = depth <= ON_KINK * sizes * self.network.lengths[:, None, :]
        outward = np.where(sides == ABOVE, look.velocities < 0, look.velocities > 0)
        leaving = (sides == HELD) & (self.beyond(look, sides, sizes) > 0)
        due = leaving | ((sides != HELD) & near & outward)
        which = np.flatnonzero(due.any(axis=(1, 2)))
        if not which.size:
            return sides, np.zeros(self.network.batch, dtype=bool)
        first = np.argmax(due[which].reshape(which.size, -1), axis=-1)
        place = (which, *np.unravel_index(first, sides.shape[1:]))
        other = np.where(sides[place] == ABOVE, BELOW, ABOVE)
        upward = self.slope_held(look)[place] > (1 + self.leak) / 2
        other = np.where(leaving[place], np.where(upward, ABOVE, BELOW), other)
        crossed = sides.copy()
        crossed[place] = other
        there = self.select(which).look(state[which], crossed[which]).velocities
        velocity = there[(np.arange(which.size), *place[1:])]
        back = np.where(other == ABOVE, velocity < 0, velocity > 0) & ~leaving[place]
        crossed[place] = np.where(back, HELD, other)
        moved = np.zeros(self.network.batch, dtype=bool)
        moved[which] = True
        return crossed, moved


@dataclass(frozen=True, eq=False)
class Look:
    """Networks at one state.

    rate: (B, m, n + 1), of the state.   predictions, velocities: (B, m, n), β and dβ/dt.
    pull: (B, n), g.   pulls: (B, n), where g is above what `ON_KINK` blurs.
    sloped: (B, m, n), slope times pull.
    """

    rate: Host
    predictions: Host
    velocities: Host
    pull: Host
    pulls: Host
    sloped: Host


def _holding(gram: Host, sloped: Host, held: Host) -> Host:
    """Return z, (B, m, n), zero off the held pairs, with (G(h + z))_S = 0 for every neuron."""
    found = np.zeros_like(sloped)
    batch, neuron = np.nonzero(held.any(axis=-1))
    mask, matrix = held[batch, neuron], gram[batch]
    scale = np.mean(np.diagonal(matrix, axis1=1, axis2=2), axis=-1)[:, None, None]
    both = mask[:, :, None] & mask[:, None, :]
    matrix = np.where(both, matrix, scale * np.eye(gram.shape[-1]))
    right = -(sloped[batch, neuron][:, None, :] @ gram[batch])[:, 0, :]
    solved = np.linalg.solve(matrix, np.where(mask, right, 0.0)[:, :, None])[:, :, 0]
    found[batch, neuron] = np.where(mask, solved, 0.0)
    return found
