"""What a flow watches between events, as sums of exponentials with their envelopes [D].

Distances of predictions from their kinks, and how far the slopes that hold examples at a kink are
from the ends of [γ, 1]. The envelopes bound rounding, and how far the exact path may be, to first
order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from verify.relu.dynamics.exponentials import Sums
from verify.relu.dynamics.regime import Regime, directions, residual_spread, rounding
from verify.tolerances import summation

Host = np.ndarray[Any, Any]


def predictions_apart(flow: Regime, order: Host) -> Sums:
    """Return |β_{k,i}|, the distances from the kink on the present side, as mn functions of time.

    order: (m, n), not 0 for examples that leave the kink now: where the exact path does, it is at
    zero exactly, and only the error of its velocity counts.

    An active example that neuron k alone moves, of label zero, has β = s_k(y + r)/d, which tends to
    zero exactly: it is given in that form, without a constant.
    """
    setting, modes = flow.setting, flow.modes
    m, n = modes.active.shape
    relative = summation(n, flow.rates)
    moving = flow.rates > 0
    inverse = np.where(moving, 1 / np.where(moving, flow.rates, 1.0), 0.0)
    lengths = np.linalg.norm(flow.rows, axis=-1, keepdims=True)
    reach = abs(flow.rows) + relative * lengths * _connected_rows(flow)
    blur = _blur(flow)
    side = np.where(modes.active, 1.0, -1.0)[:, :, None]
    terms = setting.signs[:, None, None] * flow.rows * (flow.coordinates * inverse)
    error = reach * (abs(flow.coordinates) + blur) * inverse * (1 + flow.tilt) - abs(terms)
    terms = side * terms
    mobile = (flow.origin.change != 0).any(axis=-1) | (flow.steering != 0).any(axis=(1, 2))
    stored = rounding(setting, flow.origin.change)
    stored = stored + np.where(mobile[:, None], setting.lengths * flow.origin.error, 0.0)
    if len(flow.origin.spread):
        leaning = _spread_of_coordinates(flow)
        swing = (flow.rows @ (leaning * inverse).T).transpose(2, 0, 1)
        swing = flow.origin.spread @ setting.gram - setting.signs[:, None] * swing
        stored = stored + abs(swing).sum(axis=0)
        error = error + abs(flow.rows) * (abs(leaning).sum(axis=0) * inverse)
    distance = side[:, :, 0] * flow.origin.predictions
    if order.any():
        leaves = order != 0
        pulled = reach * np.sqrt(inverse) * flow.origin.error
        error = error + np.where(leaves[:, :, None], pulled, 0.0)
        stored, distance = np.where(leaves, 0.0, (stored, distance))
    constant = distance - terms.sum(axis=-1)
    low, high = terms + error, terms - error
    low_constant = distance - stored - low.sum(axis=-1)
    high_constant = distance + stored - high.sum(axis=-1)

    slopes = modes.slopes(setting.slope_below)
    alone = (slopes != 0).sum(axis=0) == 1
    falling = alone & (setting.labels == 0) & (slopes != 0) & ~modes.held
    for k, i in np.argwhere(falling):
        steady = _kernel(flow, flow.vectors[i])
        if steady != 0:
            continue
        factor = side[k, i, 0] * setting.signs[k] / slopes[k, i]
        exact = factor * flow.vectors[i] * flow.coordinates * moving
        spread = (abs(flow.vectors[i]) + relative * flow.connected[i]) * (
            abs(flow.coordinates) + blur
        )
        spread = abs(factor) * spread * (1 + flow.tilt) * moving - abs(exact)
        spread = spread + abs(factor) * np.sqrt(flow.rates) * flow.origin.error * flow.connected[i]
        terms[k, i], low[k, i], high[k, i] = exact, exact - spread, exact + spread
        constant[k, i] = low_constant[k, i] = high_constant[k, i] = 0.0

    def flat(array: Host) -> Host:
        return array.reshape(m * n, *array.shape[2:])

    return Sums(
        flow.rates, flat(constant), flat(terms), flat(low_constant), flat(low),
        flat(high_constant), flat(high),
    )  # fmt: skip


def holding(flow: Regime) -> Sums:
    """Return (θ − γ)s_k r_i and (1 − θ)s_k r_i for each held example, 2h functions of time.

    While both are positive the example stays held; at a zero of the first it leaves below, at one
    of the second above the kink. In the order of `argwhere(held)`, the first ones first.
    """
    setting = flow.setting
    where = np.argwhere(flow.modes.held)
    neuron, example = where[:, 0], where[:, 1]
    signs = setting.signs[neuron][:, None]
    pulled = signs * flow.steering[neuron, example]
    left = signs * flow.vectors[example]
    shapes = np.concatenate([pulled - setting.slope_below * left, left - pulled])
    relative = summation(flow.rates.size, flow.rates)
    norms = np.linalg.norm(shapes, axis=-1, keepdims=True) + 1
    linked = _connected_held(flow)
    width = flow.tilt * abs(shapes) + relative * norms * linked
    moving = flow.rates > 0
    values = shapes * flow.coordinates
    blur = _blur(flow) + np.sqrt(flow.rates) * flow.origin.error
    blur = blur + abs(_spread_of_coordinates(flow)).sum(axis=0)
    errors = (abs(shapes) + width) * (abs(flow.coordinates) + blur) - abs(values)
    steady = np.where(moving, 0.0, values).sum(axis=-1)
    doubt = np.where(moving, 0.0, errors).sum(axis=-1)
    terms, errors = np.where(moving, values, 0.0), np.where(moving, errors, 0.0)
    return Sums(
        flow.rates, steady, terms, steady - doubt, terms - errors, steady + doubt, terms + errors
    )


def _blur(flow: Regime) -> float:
    """Return a bound on the error of the coordinates of r."""
    setting, origin = flow.setting, flow.origin
    relative = summation(flow.rates.size + len(setting.signs), flow.rates)
    size = np.abs(origin.predictions).sum(axis=0) + np.abs(setting.labels)
    evaluated = rounding(setting, origin.change).sum(axis=0) + relative * size
    return float(np.linalg.norm(evaluated) + flow.tilt * np.linalg.norm(origin.residual))


def _spread_of_coordinates(flow: Regime) -> Host:
    """Return what the spread makes of the coordinates of r, (E, n)."""
    return np.asarray(residual_spread(flow.setting, flow.modes, flow.origin) @ flow.vectors)


def _kernel(flow: Regime, shape: Host) -> float:
    """Return the largest weight of `shape`, (n,), on what does not decay."""
    return float(np.abs(np.where(flow.rates > 0, 0.0, shape)).max())


def _connected_rows(flow: Regime) -> Host:
    """Return which modes can move each prediction, (m, n, n)."""
    steered = (flow.setting.gram != 0).astype(float) @ (_steered(flow) @ flow.connected)
    return np.asarray(steered > 0)


def _connected_held(flow: Regime) -> Host:
    """Return which modes can enter the two bounds of each held example, (2h, n)."""
    where = np.argwhere(flow.modes.held)
    pulled = (_steered(flow) @ flow.connected)[where[:, 0], where[:, 1]] > 0
    either = pulled | flow.connected[where[:, 1]]
    return np.concatenate([either if flow.setting.slope_below else pulled, either])


def _steered(flow: Regime) -> Host:
    return np.asarray((directions(flow.setting, flow.modes) != 0).astype(float))
