"""Gradient flow of networks: Dormand and Prince's method of order 8 between pattern changes.

Within one activation pattern the field is smooth; every change of a side is located, so that no
step straddles a kink: of predictions that are beyond it at the end of a step, and of those that
turn back within it, by the cubic that has the values and rates of both ends. The tableau is scipy's
(DOP853); the steps are taken here, for a batch at once, each network at its own step size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from verify.relu.dynamics.kinks import HELD, ON_KINK, Field, Look, Motion
from verify.relu.dynamics.sides import LATE, crossed_by, pulled, released_by, settled

Host = np.ndarray[Any, Any]

_SAFETY, _SHRINK, _GROW = 0.9, 0.2, 6.0
"""How the step size follows the error estimate (Hairer, Nørsett, Wanner 1993, II.4)."""

_ENDLESS = 1e30
"""Step size, in the flow's own time, from which a network does not move any more."""

_MAX_SWITCHES_AT_ONCE = 200
"""Pairs that may change sides at one moment: beyond, the flow is not decided there."""

_OF_THE_WAY = 0.1
"""Error allowed in a step, as a share of its length in the space of all weights."""

_CLEAR = 1e4
"""Multiple of the tolerance from which on a pull, as a share of what it is the difference of, is
no error of steps: what holds a neuron half-way of a step is looked at there."""

_PARTS, _ROUNDS = np.arange(1, 65) / 64, 8
"""How a step is cut to find a crossing, and how often: to 2⁻⁴⁸ of the step."""


@dataclass(frozen=True, eq=False)
class Flowing:
    """B networks on their way.

    state: (B, m, n + 1), coefficients gained and output weights.   field, look: there.
    time: (B,).   step: (B,), the next step size.   stride: (B,), what it is where no crossing is
    near.   steps: (B,), those taken.
    stuck: (B,), where changes of sides at one moment did not come to an end.
    """

    state: Host
    field: Field
    look: Look
    time: Host
    step: Host
    stride: Host
    steps: Host
    stuck: Host

    @property
    def motion(self) -> Motion:
        """What is trained, and how."""
        return self.field.motion

    @property
    def sides(self) -> Host:
        """The sides of the kinks, (B, m, n), see `kinks`."""
        return self.field.sides

    def select(self, index: Host) -> Flowing:
        """Return the networks at the integer positions `index`, (K,), in ascending order."""
        return Flowing(
            self.state[index],
            self.field.select(index),
            self.look.select(index),
            *(getattr(self, name)[index] for name in ("time", "step", "stride", "steps", "stuck")),
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
        if not going.size:
            return ended
        if going.size < position.size:
            moving, position = moving.select(going), position[going]
        with np.errstate(over="ignore", invalid="ignore"):  # in steps that are refused for that
            moving = _advance(moving, tolerance)
    return [*ended, (position, moving, False)]


def _start(motion: Motion) -> Flowing:
    state, field = motion.start()
    look = field.look(state)
    speed = np.max(np.abs(_in_lengths(motion, look.rate)) / look.sizes, axis=(1, 2))
    step, batch = 1e-2 / np.where(speed > 0, speed, 1.0), motion.network.batch
    return Flowing(
        state=state,
        field=field,
        look=look,
        time=np.zeros(batch),
        step=step,
        stride=step,
        steps=np.zeros(batch, dtype=np.int64),
        stuck=np.zeros(batch, dtype=bool),
    )


def _settle_sides(moving: Flowing) -> Flowing:
    """Move every pair that is due to its other side, or hold it on its kink."""
    most = _MAX_SWITCHES_AT_ONCE
    field, look, switches = settled(moving.field, moving.state, moving.look, most)
    if not switches.any():
        return moving
    return replace(
        moving,
        field=field,
        look=look,
        step=np.where(switches > 0, moving.stride, moving.step),
        stuck=moving.stuck | (switches == most),
    )


def _advance(moving: Flowing, tolerance: float) -> Flowing:
    """Try one step for every network; take it where its error allows and no side is left."""
    state, look, error = _try_step(moving)
    sizes = np.maximum(moving.look.sizes, look.sizes)
    size = _relative(moving, error, tolerance * sizes)
    small = size <= 1
    left, until = _left(moving, state, look, tolerance)
    crossed = small & left.any(axis=(1, 2))
    taken = small & ~crossed
    factor = np.clip(_SAFETY * np.maximum(size, 1e-30) ** (-1 / 8), _SHRINK, _GROW)
    step = moving.step * factor
    shortened = small & (moving.step < moving.stride)
    stride = np.where(shortened, np.maximum(step, moving.stride), step)
    if crossed.any():
        share = _first_crossing(moving, state, look, left, until)
        step = np.where(crossed, moving.step * share, step)
    return replace(
        moving,
        state=state if taken.all() else np.where(taken[:, None, None], state, moving.state),
        look=look.where(taken, moving.look),
        time=moving.time + np.where(taken, moving.step, 0.0),
        step=step,
        stride=stride,
        steps=moving.steps + taken,
    )


def _relative(moving: Flowing, error: Host, allowed: Host) -> Host:
    """Return the error of a step, (B,), in multiples of what is `allowed`, (B, m, 1), for a neuron,
    or of `_OF_THE_WAY` of the length of the step: near the limit, where steps are as long as is
    stable, what is left to go is short of any share of a neuron's length."""
    error = _in_lengths(moving.motion, error)
    of_size = error / allowed
    of_size = np.sqrt(_squared(of_size) / of_size[0].size)
    way = np.sqrt(_squared(_in_lengths(moving.motion, moving.look.rate)))
    of_way = np.sqrt(_squared(error)) / (_OF_THE_WAY * moving.step * way)
    found = np.maximum(of_size, of_way)
    return np.where(np.isfinite(found), found, 1e12)


def _squared(entries: Host) -> Host:
    """Return the sum of squares of each network's entries, (B,)."""
    return np.asarray(np.einsum("bkj,bkj->b", entries, entries))


def _try_step(moving: Flowing) -> tuple[Host, Look, Host]:
    """Return state, look and error estimate, (B, m, n + 1), after one step of order 8(5,3)."""
    from scipy.integrate import DOP853 as METHOD

    field, state, step = moving.field, moving.state, moving.step[:, None, None]
    stages = np.empty((METHOD.n_stages + 1, state.size))
    stages[0] = moving.look.rate.ravel()

    def combined(weights: Host) -> Host:
        """Return the sum of the stages so far, weighted, as rates of the state."""
        return np.asarray((weights @ stages[: weights.size]).reshape(state.shape))

    for stage in range(1, METHOD.n_stages):
        slope = combined(METHOD.A[stage, :stage])
        stages[stage] = field.rate(state + step * slope).ravel()
    new = state + step * combined(METHOD.B)
    look = field.look(new)
    stages[-1] = look.rate.ravel()
    fifth, third = step * combined(METHOD.E5), step * combined(METHOD.E3)
    size = np.hypot(fifth, 0.1 * third)
    return new, look, fifth * np.abs(fifth) / np.where(size > 0, size, 1.0)


def _in_lengths(motion: Motion, state: Host) -> Host:
    """Return a state's entries in units of weights: coefficients times ‖x_i‖, and v_k."""
    scaled = state.copy()
    scaled[:, :, :-1] *= motion.network.lengths[:, None, :]
    return scaled


def _left(moving: Flowing, state: Host, look: Look, tolerance: float) -> tuple[Host, Host]:
    """Return the pairs, (B, m, n), whose side a step to `state` leaves, and a share of the step,
    (B, m, n), at which they have left: 1, or less if they come back."""
    field, before = moving.field, moving.look
    sizes = np.maximum(before.sizes, look.sizes)
    left, until = np.zeros(field.sides.shape, dtype=bool), np.ones(field.sides.shape)
    over = crossed_by(field, look, sizes)
    if (over > ON_KINK).any():
        already = np.maximum(crossed_by(field, before, sizes), 0.0)
        left = over > already + ON_KINK
    inward = field.inward
    place = np.nonzero((inward * before.velocities < 0) & (inward * look.velocities > 0))
    if place[0].size:
        turn, depth = _turn(*_cubic(moving, look, place))
        network, neuron, example = place
        lengths = field.motion.network.lengths[network, example]
        left[place] |= depth < -2 * ON_KINK * sizes[network, neuron, 0] * lengths
        until[place] = turn
    if field.holds:
        between = field.look(_half_way(moving, state, look))
        already = np.maximum(released_by(field, before, before), 0.0) + LATE
        early = released_by(field, between, before) > already
        early &= pulled(field, before, _CLEAR * tolerance)[:, None, :]
        left |= early | (released_by(field, look, before) > already)
        until = np.where(early, 0.5, until)
    return left, until


def _half_way(moving: Flowing, state: Host, look: Look) -> Host:
    """Return the state half-way of a step, by the cubic with the values and rates of both ends."""
    rates = moving.step[:, None, None] * (moving.look.rate - look.rate)
    return np.asarray((moving.state + state) / 2 + rates / 8)


def _first_crossing(moving: Flowing, state: Host, look: Look, left: Host, until: Host) -> Host:
    """Return the share of the step, (B,), after which the first of the sides `left`, (B, m, n), is
    left; held slopes by a straight line. The rest is as in `_left`."""
    field = moving.field
    held = field.sides == HELD
    share = np.ones(len(left))
    place = np.nonzero(left & ~held)
    if place[0].size:
        np.minimum.at(share, place[0], _root(*_cubic(moving, look, place), until[place]))
    place = np.nonzero(left & held)
    if place[0].size:
        between = field.look(_half_way(moving, state, look))
        start, half, end = (
            released_by(field, at, moving.look)[place] for at in (moving.look, between, look)
        )
        over = np.where(until[place] < 1, half, end)
        line = (LATE / 2 - start) / np.where(over > start, over - start, 1.0)
        np.minimum.at(share, place[0], until[place] * np.clip(line, 0.01, 0.99))
    return share


def _cubic(moving: Flowing, look: Look, place: tuple[Host, ...]) -> tuple[Host, Host, Host, Host]:
    """Return coefficients, (K,) each from the constant on, of the cubics in the share of a step
    with the values and rates of both ends: how far inside their sides the pairs at `place` are."""
    inward = moving.field.inward[place]
    b0, b1 = (inward * at.predictions[place] for at in (moving.look, look))
    d0, d1 = (inward * moving.step[place[0]] * at.velocities[place] for at in (moving.look, look))
    return b0, d0, 3 * (b1 - b0) - 2 * d0 - d1, 2 * (b0 - b1) + d0 + d1


def _turn(a0: Host, a1: Host, a2: Host, a3: Host) -> tuple[Host, Host]:
    """Return where in (0, 1) cubics that fall at 0 and rise at 1 have their minimum, and its value,
    (K,) each."""
    root = np.sqrt(np.maximum(a2**2 - 3 * a1 * a3, 0.0))
    rising = a2 > 0
    one = -a1 / np.where(rising, a2 + root, 1.0)
    other = (root - a2) / np.where(rising, 1.0, 3 * a3)
    x = np.where(rising, one, other)
    return x, a0 + x * (a1 + x * (a2 + x * a3))


def _root(a0: Host, a1: Host, a2: Host, a3: Host, until: Host) -> Host:
    """Return the first x in (0, until], (K,), from which on cubics are not positive any more; at
    `until` they are not."""
    low, width, rows = np.zeros_like(until), until, np.arange(until.size)
    a0, a1, a2, a3 = (one[:, None] for one in (a0, a1, a2, a3))
    for _ in range(_ROUNDS):
        x = low[:, None] + width[:, None] * _PARTS
        outside = ~(a0 + x * (a1 + x * (a2 + x * a3)) > 0)
        outside[:, -1] = True
        width = width / _PARTS.size
        low = x[rows, np.argmax(outside, axis=-1)] - width
    return np.asarray(low + width)
