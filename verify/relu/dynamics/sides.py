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


def switched(field: Field, state: Host, look: Look) -> tuple[Field, Host]:
    """Return the field with the first pair of each network that is due on another side, and the
    mask of networks where one was, (B,).

    Due: a prediction on its kink that moves beyond it, or a held slope outside [γ, 1].
    """
    sides = field.sides
    moved = np.zeros(len(sides), dtype=bool)
    near = ON_KINK * look.sizes * field.motion.network.units[:, None, :]
    due = (field.inward * look.predictions <= near) & (field.inward * look.velocities < 0)
    leaving = np.zeros_like(due)
    if field.holds:
        leaving = released_by(field, look, look) > 0
        due |= leaving
    which = np.flatnonzero(due.any(axis=(1, 2)))
    if not which.size:
        return field, moved
    moved[which] = True
    first = np.argmax(due[which].reshape(which.size, -1), axis=-1)
    place = (which, *np.unravel_index(first, sides.shape[1:]))
    other = np.where(sides[place] == ABOVE, BELOW, ABOVE)
    if leaving[place].any():
        upward = slope_held(field, look)[place] > (1 + field.motion.leak) / 2
        other = np.where(leaving[place], np.where(upward, ABOVE, BELOW), other)
    crossed = sides.copy()
    crossed[place] = other
    there = field.motion.select(which).field(crossed[which]).look(state[which]).velocities
    velocity = there[(np.arange(which.size), *place[1:])]
    back = np.where(other == ABOVE, velocity < 0, velocity > 0) & ~leaving[place]
    crossed[place] = np.where(back, HELD, other)
    return field.motion.field(crossed), moved
