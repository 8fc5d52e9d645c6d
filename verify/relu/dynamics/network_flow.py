"""Gradient flow of networks: Dormand and Prince's method of order 8 between pattern changes.

Within one activation pattern the field is smooth; every change of a side is located, so that no
step straddles a kink. The tableau is scipy's (DOP853); the steps are taken here, for a batch at
once, each network at its own step size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from verify.relu.dynamics.kinks import ABOVE, HELD, LATE, ON_KINK, Look, Motion

Host = np.ndarray[Any, Any]

_SAFETY, _SHRINK, _GROW = 0.9, 0.2, 6.0
"""How the step size follows the error estimate (Hairer, Nørsett, Wanner 1993, II.4)."""

_ENDLESS = 1e30
"""Step size, in the flow's own time, from which a network does not move any more."""

_MAX_SWITCHES_AT_ONCE = 200
"""Pairs that may change sides at one moment: beyond, the flow is not decided there."""


@dataclass(frozen=True, eq=False)
class Flowing:
    """B networks on their way.

    state: (B, m, n + 1), coefficients gained and output weights.   sides: (B, m, n), see `kinks`.
    time: (B,).   step: (B,), the next step size.   steps, switches: (B,), steps taken, and pairs
    that changed sides.   stuck: (B,), where changes of sides at one moment did not come to an end.
    """

    motion: Motion
    state: Host
    sides: Host
    look: Look
    time: Host
    step: Host
    steps: Host
    switches: Host
    stuck: Host

    def select(self, index: Host) -> Flowing:
        """Return the networks at the integer positions `index`, (K,)."""
        return Flowing(
            self.motion.select(index),
            self.state[index],
            self.sides[index],
            _look_at(self.look, index),
            *(
                getattr(self, name)[index]
                for name in ("time", "step", "steps", "switches", "stuck")
            ),
        )


Watch = Callable[[Flowing], Host]
"""Looks at networks after each step and says which have arrived, (B,)."""


def flow(
    motion: Motion, watch: Watch, max_steps: int, tolerance: float
) -> list[tuple[Host, Flowing, bool]]:
    """Follow gradient flow until `watch` says so, for `max_steps` tried steps at most.

    tolerance: error allowed in a step, as a share of each neuron's length.
    Returns (positions in the batch, networks, whether they arrived), each network once.
    """
    ended: list[tuple[Host, Flowing, bool]] = []
    moving, position = _start(motion), np.arange(motion.network.batch)
    for _ in range(max_steps):
        moving = _settle_sides(moving)
        still = (moving.look.rate == 0).all(axis=(1, 2)) | (moving.step > _ENDLESS)
        arrived, lost = watch(moving), moving.stuck | still
        lost &= ~arrived
        for mask, fine in ((arrived, True), (lost, False)):
            if mask.any():
                ended.append((position[mask], moving.select(np.flatnonzero(mask)), fine))
        going = np.flatnonzero(~(arrived | lost))
        if going.size < position.size:
            moving, position = moving.select(going), position[going]
        if not position.size:
            return ended
        moving = _advance(moving, tolerance)
    return [*ended, (position, moving, False)]


def _start(motion: Motion) -> Flowing:
    state, sides = motion.start()
    look = motion.look(state, sides)
    sizes = motion.sizes(state, look.predictions)
    speed = np.max(np.abs(_in_lengths(motion, look.rate)) / sizes, axis=(1, 2))
    batch = motion.network.batch
    return Flowing(
        motion=motion,
        state=state,
        sides=sides,
        look=look,
        time=np.zeros(batch),
        step=1e-2 / np.where(speed > 0, speed, 1.0),
        steps=np.zeros(batch, dtype=np.int64),
        switches=np.zeros(batch, dtype=np.int64),
        stuck=np.zeros(batch, dtype=bool),
    )


def _settle_sides(moving: Flowing) -> Flowing:
    """Move every pair that is due to its other side, or hold it on its kink."""
    for _ in range(_MAX_SWITCHES_AT_ONCE):
        sides, moved = moving.motion.switch(moving.state, moving.sides, moving.look)
        if not moved.any():
            return moving
        look = moving.motion.look(moving.state, sides)
        moving = replace(moving, sides=sides, look=look, switches=moving.switches + moved)
    return replace(moving, stuck=moving.stuck | moved)


def _advance(moving: Flowing, tolerance: float) -> Flowing:
    """Try one step for every network; take it where its error allows and no side is left."""
    motion = moving.motion
    state, look, error = _try_step(moving)
    sizes = motion.sizes(moving.state, moving.look.predictions)
    sizes = np.maximum(sizes, motion.sizes(state, look.predictions))
    error = np.sqrt(np.mean((_in_lengths(motion, error) / (tolerance * sizes)) ** 2, axis=(1, 2)))
    error = np.where(np.isfinite(error), error, 1e12)
    small = error <= 1
    left = motion.beyond(look, moving.sides, sizes)
    allowed = np.where(moving.sides == HELD, LATE, ON_KINK)
    left = left > np.maximum(motion.beyond(moving.look, moving.sides, sizes), 0.0) + allowed
    left &= (moving.sides != HELD) | moving.look.pulls[:, None, :]
    crossed = small & left.any(axis=(1, 2))
    taken = small & ~crossed
    factor = np.clip(_SAFETY * np.maximum(error, 1e-30) ** (-1 / 8), _SHRINK, _GROW)
    step = moving.step * factor
    if crossed.any():
        index = np.flatnonzero(crossed)
        there = _look_at(look, index)
        share = _first_crossing(moving.select(index), state[index], there, left[index])
        step[index] = moving.step[index] * share
    wide = taken[:, None, None]
    return replace(
        moving,
        state=np.where(wide, state, moving.state),
        look=_choose(taken, look, moving.look),
        time=moving.time + np.where(taken, moving.step, 0.0),
        step=step,
        steps=moving.steps + taken,
    )


def _try_step(moving: Flowing) -> tuple[Host, Look, Host]:
    """Return state, look and error estimate, (B, m, n + 1), after one step of order 8(5,3)."""
    from scipy.integrate import DOP853 as METHOD

    motion, state, sides = moving.motion, moving.state, moving.sides
    step = moving.step[:, None, None]
    stages = np.empty((METHOD.n_stages + 1, *state.shape))
    stages[0] = moving.look.rate
    for stage in range(1, METHOD.n_stages):
        slope = np.tensordot(METHOD.A[stage, :stage], stages[:stage], axes=1)
        stages[stage] = motion.look(state + step * slope, sides).rate
    new = state + step * np.tensordot(METHOD.B, stages[:-1], axes=1)
    look = motion.look(new, sides)
    stages[-1] = look.rate
    fifth = step * np.tensordot(METHOD.E5, stages, axes=1)
    third = step * np.tensordot(METHOD.E3, stages, axes=1)
    size = np.hypot(np.abs(fifth), 0.1 * np.abs(third))
    return new, look, fifth * np.abs(fifth) / np.where(size > 0, size, 1.0)


def _in_lengths(motion: Motion, state: Host) -> Host:
    """Return a state's entries in units of weights: coefficients times ‖x_i‖, and v_k."""
    scaled = state.copy()
    scaled[:, :, :-1] *= motion.network.lengths[:, None, :]
    return scaled


def _first_crossing(moving: Flowing, state: Host, look: Look, left: Host) -> Host:
    """Return the share of the step, (B,), after which the first of the sides `left`, (B, m, n), is
    left, by the cubic that has the values and rates of both ends; held slopes by a straight line.
    """
    motion, before = moving.motion, moving.look
    step = moving.step[:, None, None]
    b0, b1 = before.predictions, look.predictions
    d0, d1 = step * before.velocities, step * look.velocities
    sizes = motion.sizes(state, look.predictions)
    over = motion.beyond(look, moving.sides, sizes)
    low, high = np.zeros_like(b0), np.ones_like(b0)
    sign = np.where(moving.sides == ABOVE, 1.0, -1.0)
    for _ in range(45):
        x = (low + high) / 2
        cubic = (
            (1 + 2 * x) * (1 - x) ** 2 * b0
            + x * (1 - x) ** 2 * d0
            + x**2 * (3 - 2 * x) * b1
            + x**2 * (x - 1) * d1
        )
        inside = sign * cubic > 0
        low, high = np.where(inside, x, low), np.where(inside, high, x)
    start = motion.beyond(before, moving.sides, sizes)
    line = (LATE / 2 - start) / np.where(over > start, over - start, 1.0)
    share = np.where(moving.sides == HELD, np.clip(line, 0.01, 0.99), high)
    return np.asarray(np.min(np.where(left, share, 1.0), axis=(1, 2)))


def _look_at(look: Look, index: Host) -> Look:
    return Look(*(getattr(look, name)[index] for name in Look.__dataclass_fields__))


def _choose(mask: Host, one: Look, other: Look) -> Look:
    """Return the looks `one` where `mask`, (B,), and `other` elsewhere."""

    def chosen(name: str) -> Host:
        first, second = getattr(one, name), getattr(other, name)
        return np.asarray(np.where(mask.reshape(-1, *([1] * (first.ndim - 1))), first, second))

    return Look(*(chosen(name) for name in Look.__dataclass_fields__))
