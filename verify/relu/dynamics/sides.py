"""Which side of its kink every neuron is on for every example, and when it goes to the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from verify.relu.dynamics.kinks import ABOVE, BELOW, HELD, ON_KINK, Field, Look

Host = np.ndarray[Any, Any]

_OUTSIDE = 1e-9
"""How far a held slope is outside [γ, 1] when the neuron leaves the kink: above rounding."""

LATE = 1e-6
"""How far beyond that it may be found: the field has no jump there, the error is of its square."""


_BLURRED = 10 * ON_KINK
"""Share of its terms up to which a pull may be what `ON_KINK` makes of nothing."""


def pulled(field: Field, look: Look, share: float = _BLURRED) -> Host:
    """Return where the pull is above a share of what it is the difference of, (B, n)."""
    terms = (np.abs(look.outputs)[:, None, :] @ np.abs(look.predictions))[:, 0, :]
    return np.asarray(np.abs(look.pull) > share * (terms + np.abs(field.motion.network.labels)))


def crossed_by(field: Field, look: Look, sizes: Host) -> Host:
    """Return how far each prediction is beyond its kink, (B, m, n), ≤ 0 if not: in units of
    ‖w_k‖‖x_i‖, less `ON_KINK`.   sizes: (B, m, 1), the ‖w_k‖."""
    relative = look.predictions / (sizes * field.motion.network.units[:, None, :])
    return np.asarray(-field.inward * relative - ON_KINK)


def slope_held(field: Field, look: Look) -> Host:
    """Return the slopes s = z/g, (B, m, n), meaningful where a pair is held; the middle one where g
    is not known so well, and nothing hinges on it."""
    known = pulled(field, look)[:, None, :]
    pull = np.where(known, look.pull[:, None, :], 1.0)
    return np.where(known, look.sloped / pull, (1 + field.motion.leak) / 2)


def released_by(field: Field, look: Look, since: Look) -> Host:
    """Return by how much z is outside [γg, g], in units of g, (B, m, n), less what is allowed; g is
    that of the look `since`. At most 0 where it is not known there, and off the held pairs.

    Since then g may have changed sign: no slope holds a neuron meanwhile.
    """
    known = pulled(field, since)[:, None, :]
    unit = np.where(known, since.pull[:, None, :], 1.0)
    slope, whole = look.sloped / unit, look.pull[:, None, :] / unit
    outside = np.maximum(field.motion.leak * whole - slope, slope - whole) - _OUTSIDE
    return np.asarray(np.where(known & (field.sides == HELD), outside, 0.0))


def settled(field: Field, state: Host, look: Look, most: int) -> tuple[Field, Look, Host]:
    """Return field and look where every pair that is due has gone to its other side, or is held on
    its kink, and how many went there, (B,): one after the other, `most` of a network.

    Due: a prediction on its kink that moves beyond it, or a held slope outside [γ, 1].
    """
    moved = np.zeros(len(state), dtype=np.int64)
    which, due, leaving = _due(field, look)
    if not which.size or not most:
        return field, look, moved
    there, seen = _switched(field, state, look, which, due, leaving)
    there, seen, more = settled(there, state[which], seen, most - 1)
    moved[which] = 1 + more
    if which.size == len(state):
        return there, seen, moved
    return field.replaced(which, there), look.replaced(which, seen), moved


def _due(field: Field, look: Look) -> tuple[Host, Host, Host]:
    """Return the networks where a pair is due, (K,), and masks of these pairs, (K, m, n), and of
    those that are held."""
    near = ON_KINK * look.sizes * field.motion.network.units[:, None, :]
    due = (field.inward * look.predictions <= near) & (field.inward * look.velocities < 0)
    leaving = np.zeros_like(due)
    if field.holds:
        leaving = released_by(field, look, look) > 0
        due |= leaving
    which = np.flatnonzero(due.any(axis=(1, 2)))
    return which, due[which], leaving[which]


def _switched(
    field: Field, state: Host, look: Look, which: Host, due: Host, leaving: Host
) -> tuple[Field, Look]:
    """Return field and look of the networks `which`, (K,), with the first pair that is due on
    another side."""
    crossed = field.sides[which]
    first = np.argmax(due.reshape(which.size, -1), axis=-1)
    place = (np.arange(which.size), *np.unravel_index(first, crossed.shape[1:]))
    other = np.where(crossed[place] == ABOVE, BELOW, ABOVE)
    if leaving[place].any():
        slope = slope_held(field, look)[(which, *place[1:])]
        upward = np.where(slope > (1 + field.motion.leak) / 2, ABOVE, BELOW)
        other = np.where(leaving[place], upward, other)
    crossed[place] = other
    motion, state = field.motion.select(which), state[which]
    there = motion.field(crossed)
    seen = there.look(state)
    back = ((there.inward * seen.velocities)[place] < 0) & ~leaving[place]
    if back.any():
        crossed[place] = np.where(back, HELD, other)
        there = motion.field(crossed)
        seen = there.look(state)
    return there, seen
