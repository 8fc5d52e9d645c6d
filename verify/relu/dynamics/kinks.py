"""The vector field of networks on given sides of the kinks, and on them (`filippov`).

It is smooth there. Which side comes next is told by `sides`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from verify.relu.dynamics.filippov import keeping_at_zero
from verify.relu.dynamics.network import Network

Host = np.ndarray[Any, Any]

Force = Callable[[Host, Host], Host]
"""(outputs, labels), both (B, n), to the pull g on the outputs, (B, n): dL/df, up to time scale."""

BELOW, ABOVE, HELD = 0, 1, 2

ON_KINK = 1e-13
"""Predictions up to this multiple of ‖w_k‖‖x_i‖ are at their kink."""


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

    def start(self) -> tuple[Host, Field]:
        """Return state, (B, m, n + 1), and field at the start.

        The state's first n entries are what the coefficients gained, the last is v_k.
        """
        network = self.network
        outputs = network.output_weights[:, :, None]
        state = np.concatenate([np.zeros_like(network.starting_predictions), outputs], axis=-1)
        return state, self.field(np.where(network.starting_predictions > 0, ABOVE, BELOW))

    def field(self, sides: Host) -> Field:
        """Return the vector field on given sides of the kinks, (B, m, n)."""
        held, above = sides == HELD, sides == ABOVE
        slopes = np.where(held, 0.0, np.where(above, 1.0, self.leak))
        inward = np.where(held, 0.0, np.where(above, 1.0, -1.0))
        holders = np.nonzero(held.any(axis=-1))
        holding = _holding(self.network.gram, held, holders)
        return Field(self, sides, slopes, inward, holders, holding)


@dataclass(frozen=True, eq=False)
class Look:
    """Networks at one state.

    rate: (B, m, n + 1), of the state.   outputs: (B, m), the v_k.
    predictions, velocities: (B, m, n), β and dβ/dt.
    pull: (B, n), g.   sloped: (B, m, n), slope times pull.
    sizes: (B, m, 1), a lower estimate of ‖w_k‖: the longest part along an example, or |v_k| where
    both layers move and that is longer.
    """

    rate: Host
    outputs: Host
    predictions: Host
    velocities: Host
    pull: Host
    sloped: Host
    sizes: Host

    def select(self, index: Host) -> Look:
        """Return the looks at the integer positions `index`, (K,)."""
        return Look(*(getattr(self, name)[index] for name in Look.__dataclass_fields__))

    def replaced(self, index: Host, other: Look) -> Look:
        """Return these looks, at the positions `index`, (K,), the `other` K ones."""
        return Look(
            *(_with_rows(one, index, getattr(other, name)) for name, one in vars(self).items())
        )

    def where(self, mask: Host, other: Look) -> Look:
        """Return these looks where `mask`, (B,), and the `other` elsewhere."""
        if mask.all():
            return self
        return Look(
            *(
                np.where(mask.reshape(-1, *([1] * (one.ndim - 1))), one, getattr(other, name))
                for name, one in vars(self).items()
            )
        )


@dataclass(frozen=True, eq=False)
class Field:
    """The vector field of B networks on given sides of the kinks: smooth.

    sides: (B, m, n).   slopes: (B, m, n), 1 or γ, 0 for held pairs.
    inward: (B, m, n), 1 above a kink, −1 below it: the way off it; 0 for held pairs.
    holders: the K neurons that hold an example, as (network, neuron), (K,) each.
    holding: (K, n, n), from h to z: h·holding is zero but on the held examples.
    """

    motion: Motion
    sides: Host
    slopes: Host
    inward: Host
    holders: tuple[Host, ...]
    holding: Host

    @property
    def holds(self) -> bool:
        """Whether any neuron stays on a kink."""
        return bool(self.holding.size)

    def select(self, index: Host) -> Field:
        """Return the fields at the integer positions `index`, (K,), in ascending order."""
        network, neuron = self.holders
        place = np.searchsorted(index, network)
        kept = np.flatnonzero(index[np.minimum(place, len(index) - 1)] == network)
        return Field(
            self.motion.select(index),
            self.sides[index],
            self.slopes[index],
            self.inward[index],
            (place[kept], neuron[kept]),
            self.holding[kept],
        )

    def replaced(self, index: Host, other: Field) -> Field:
        """Return these fields, at the positions `index`, (K,), in ascending order, the `other` K
        ones of the same motions."""
        kept = ~np.isin(self.holders[0], index)
        network = np.concatenate([self.holders[0][kept], index[other.holders[0]]])
        neuron = np.concatenate([self.holders[1][kept], other.holders[1]])
        order = np.argsort(network, kind="stable")
        return Field(
            self.motion,
            _with_rows(self.sides, index, other.sides),
            _with_rows(self.slopes, index, other.slopes),
            _with_rows(self.inward, index, other.inward),
            (network[order], neuron[order]),
            np.concatenate([self.holding[kept], other.holding])[order],
        )

    def rate(self, state: Host) -> Host:
        """Return the rate of change of a state, (B, m, n + 1)."""
        return self._evaluated(state)[0]

    def look(self, state: Host) -> Look:
        """Return predictions, rates and sizes at a state."""
        network = self.motion.network
        rate, predictions, pull, sloped = self._evaluated(state)
        outputs, velocities = state[:, :, -1], rate[:, :, :-1] @ network.gram
        sizes = np.max(np.abs(predictions) / network.units[:, None, :], axis=-1)
        if self.motion.trains_outputs:
            sizes = np.maximum(sizes, np.abs(outputs))
        sizes = (sizes + 1e-300)[:, :, None]
        return Look(rate, outputs, predictions, velocities, pull, sloped, sizes)

    def _evaluated(self, state: Host) -> tuple[Host, Host, Host, Host]:
        """Return rate, predictions, pull, and slope times pull."""
        network, outputs = self.motion.network, state[:, :, -1]
        predictions = state[:, :, :-1] @ network.gram
        predictions += network.starting_predictions
        active = self.slopes * predictions
        pull = self.motion.force((outputs[:, None, :] @ active)[:, 0, :], network.labels)
        sloped = self.slopes * pull[:, None, :]
        if self.holding.size:
            sloped[self.holders] += (sloped[self.holders][:, None, :] @ self.holding)[:, 0, :]
        rate = np.zeros(state.shape)
        np.multiply(sloped, -outputs[:, :, None], out=rate[:, :, :-1])
        if self.motion.trains_outputs:
            rate[:, :, -1] = -(active @ pull[:, :, None])[:, :, 0]
        return rate, predictions, pull, sloped


def _with_rows(array: Host, index: Host, rows: Host) -> Host:
    """Return an array with other rows at the positions `index`."""
    changed = array.copy()
    changed[index] = rows
    return changed


def _holding(gram: Host, held: Host, holders: tuple[Host, ...]) -> Host:
    """Return H, (K, n, n), such that z = h·H is zero off the held pairs and (G(h + z))_S = 0."""
    if not holders[0].size:
        return np.zeros((0, *gram.shape[1:]))
    mask, matrix = held[holders], gram[holders[0]]
    try:
        kept = keeping_at_zero(matrix, mask)
    except np.linalg.LinAlgError:  # examples that depend on each other: of all z, the shortest
        inside = np.where(mask[:, :, None] & mask[:, None, :], matrix, 0.0)
        kept = -np.linalg.pinv(inside, hermitian=True) @ np.where(mask[:, :, None], matrix, 0.0)
    return np.asarray(kept.swapaxes(1, 2))
