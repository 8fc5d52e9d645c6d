"""Which way examples leave the kink, or that they are held there (`filippov`; theory §2) [D].

An example that reaches the kink of neuron k with s_k r_i ≤ 0 crosses it: its velocity only grows.
With s_k r_i > 0 it crosses where the flow on the other side leads away too, and is held where it
leads back. From a start exactly on the kink, what φ'(0) is decides: the modes are those that
gradient descent settles in as its step vanishes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from verify.relu.dynamics.regime import (
    Modes,
    Point,
    Setting,
    directions,
    residual_spread,
    rounding,
)
from verify.tolerances import summation

Host = np.ndarray[Any, Any]

CROSSES, LEAVES = 1, 2
"""Order of the first derivative that leads away from the kink: after a crossing, after a hold."""

_ATTEMPTS = 50
"""Changes of mode after which examples that meet the kink together are given up, per example."""

_SETTLING = 300
"""Vanishing steps of gradient descent that a start on the kink is given to settle; what has gone no
further than ten of its steps by then is taken to be held, which is then verified."""


@dataclass(frozen=True, eq=False)
class Resolved:
    """The modes after the examples on the kink have left it.

    order: (m, n), `CROSSES` or `LEAVES` for those that leave, 0 for all others.
    resting: (m, n), examples on the kink that nothing moves.
    lost: why there is no answer; empty where there is one.
    """

    modes: Modes
    order: Host
    resting: Host
    lost: str = ""


def velocities(setting: Setting, modes: Modes, here: Point) -> tuple[Host, Host]:
    """Return β', (m, n), and a bound on its error, at a point."""
    steer = directions(setting, modes)
    pull = -setting.signs[:, None] * (steer @ here.residual)
    n = setting.labels.size
    size = np.sqrt(setting.largest) * np.linalg.norm(pull, axis=-1, keepdims=True)
    blur = rounding(setting, here.change).sum() + summation(n, pull) * abs(here.residual).sum()
    blur += np.sqrt(setting.largest * len(pull)) * here.error
    stiff = setting.lengths * np.sqrt(setting.largest)
    error = summation(n, pull) * setting.lengths * size + stiff * blur
    if len(here.spread):
        left = residual_spread(setting, modes, here)
        error += abs((left @ steer.transpose(0, 2, 1)) @ setting.gram).sum(axis=1)
    return np.where(modes.held, 0.0, pull @ setting.gram), error


def resolve(setting: Setting, modes: Modes, here: Point, meeting: Host, resting: Host) -> Resolved:
    """Return the modes after an event.

    meeting: (m, n), 0 off the kink; `CROSSES` for examples that reach it; for held ones −`LEAVES`
    where they leave below it, `LEAVES` above.   resting: (m, n), examples that were at rest on it.
    """
    crossing, leaving = meeting == CROSSES, np.abs(meeting) == LEAVES
    active = np.where(crossing, ~modes.active, np.where(leaving, meeting > 0, modes.active))
    held = modes.held & ~leaving
    concerned = crossing | leaving | resting | modes.held
    for _ in range(_ATTEMPTS * int(concerned.sum())):
        now = Modes(active.copy(), held.copy())
        speed, error = velocities(setting, now, here)
        slack = _hold(setting, now, here) if held.any() else None
        wrong = np.zeros_like(concerned)
        for k, i in np.argwhere(concerned):
            if slack is not None and held[k, i]:
                below, above, doubt = slack[k, i]
                if not setting.slope_below and _immobile(setting, now, k, i):
                    wrong[k, i], held[k, i], active[k, i] = True, False, False
                    continue
                if min(abs(below), abs(above)) <= doubt:
                    return _lost(now, "an example is held at the kink within rounding of leaving")
                if below < 0 or above < 0:
                    wrong[k, i], held[k, i], active[k, i] = True, False, above < 0
                continue
            away = speed[k, i] if active[k, i] else -speed[k, i]
            if away < -error[k, i] and not _immobile(setting, now, k, i):
                wrong[k, i] = True
                if setting.signs[k] * here.residual[i] > 0:
                    held[k, i] = True
                else:
                    active[k, i] = not active[k, i]
        if not wrong.any():
            return _settled(setting, now, here, concerned, leaving)
    return _lost(modes, "examples that meet the kink together do not settle")


def _hold(setting: Setting, modes: Modes, here: Point) -> Host:
    """Return (θ − γ)s_k r_i, (1 − θ)s_k r_i and a bound on their error, (m, n, 3)."""
    signs, n = setting.signs[:, None], setting.labels.size
    pulled = signs * (directions(setting, modes) @ here.residual)
    left = signs * here.residual
    size = summation(n, pulled) * (np.abs(pulled).sum() + np.abs(left).sum())
    swing = residual_spread(setting, modes, here)
    doubt = abs(swing @ directions(setting, modes).transpose(0, 2, 1)).sum(axis=1)
    doubt = doubt + abs(swing).sum(axis=0) + size + np.sqrt(setting.largest) * here.error
    return np.stack([pulled - setting.slope_below * left, left - pulled, doubt], axis=-1)


def _immobile(setting: Setting, modes: Modes, neuron: int, example: int) -> bool:
    """Say whether nothing moves a prediction: no example with a slope is correlated with it."""
    slopes = directions(setting, modes)[neuron]
    return not (np.abs(setting.gram[example]) @ np.abs(slopes)).any()


def _settled(setting: Setting, now: Modes, here: Point, concerned: Host, leaving: Host) -> Resolved:
    """Close the event: of what order examples leave the kink, and what rests on it."""
    speed, error = velocities(setting, now, here)
    order = np.zeros(concerned.shape, dtype=np.int64)
    rest = np.zeros_like(concerned)
    for k, i in np.argwhere(concerned & ~now.held):
        away = speed[k, i] if now.active[k, i] else -speed[k, i]
        if _immobile(setting, now, k, i):
            rest[k, i] = True
        elif away > error[k, i]:
            order[k, i] = CROSSES
        elif leaving[k, i] and away >= -error[k, i]:
            order[k, i] = LEAVES
        else:
            return _lost(now, "a prediction leaves zero at a velocity within rounding of zero")
    return Resolved(now, order, rest)


def depart(setting: Setting, here: Point, slope_at_zero: int) -> Resolved:
    """Return the modes right after the start: of predictions that are zero, as descent settles."""
    start, gram = setting.start, setting.gram
    on = start == 0
    active = np.where(on, bool(slope_at_zero), start > 0)
    none = np.zeros_like(on)
    if not on.any():
        return Resolved(Modes(active, none), none.astype(np.int64), none)
    travelled, stride = np.zeros_like(start), np.zeros_like(start)
    for _ in range(_SETTLING):
        step, _ = velocities(setting, Modes(active, none), here)
        travelled, stride = travelled + step, np.maximum(stride, abs(step))
        at_zero = np.where(travelled == 0, bool(slope_at_zero), travelled > 0)
        active = np.where(on, at_zero, active)
        speed, error = velocities(setting, Modes(active, none), here)
        clear = (np.where(active, speed, -speed) > error) | _all_immobile(gram, active, setting)
        if clear[on].all():
            return _settled(setting, Modes(active, none), here, on, none)
        if not (step[on].any() or speed[on].any()):
            break  # nothing moves, so nothing will
    pulled = setting.signs[:, None] * here.residual > 0
    held = on & pulled & (abs(travelled) <= 10 * stride)
    try:
        settled = resolve(setting, Modes(active, held), here, none.astype(np.int64), on)
    except np.linalg.LinAlgError:
        return _lost(Modes(active, none), "examples held at the start are linearly dependent")
    if not settled.lost and ((settled.modes.active != active) & on & ~pulled).any():
        return _lost(Modes(active, none), "a start on the kink leaves it in no certain direction")
    return settled


def _all_immobile(gram: Host, active: Host, setting: Setting) -> Host:
    slopes = Modes(active, np.zeros_like(active)).slopes(setting.slope_below)
    return np.asarray(~((slopes != 0).astype(float) @ (gram != 0) > 0))


def _lost(modes: Modes, why: str) -> Resolved:
    nothing = np.zeros_like(modes.held)
    return Resolved(modes, nothing.astype(np.int64), nothing, lost=why)
