"""What an event makes of errors: by how much paths that are close part there [D].

A path that is off by δ crosses the kink of example i of neuron k earlier or later by x_i·δ_k over
the velocity β' of the prediction, and moves for that long with the old instead of the new velocity
F of the weights: to first order δ becomes δ + (F⁺ − F⁻)(x_i·δ_k)/β'. Where the example crosses into
a flow that is slower there, or is held, no δ grows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from verify.relu.dynamics.regime import Modes, Point, Setting, directions, point, weight_norms

Host = np.ndarray[Any, Any]


def after_event(
    setting: Setting, here: Point, before: Modes, after: Modes, crossing: Host
) -> Point:
    """Return the point with its errors as they are right after an event.

    crossing: (m, n), mask of the examples that reached the kink. Several of one neuron at one time
    count as if each had all of its change of velocity.
    """
    signs = setting.signs[:, None]
    old = -signs * (directions(setting, before) @ here.residual)
    change = -signs * (directions(setting, after) @ here.residual) - old
    speed, faster = old @ setting.gram, change @ setting.gram
    spread, grown = here.spread.copy(), []
    for k, i in np.argwhere(crossing):
        lead = spread[:, k] @ setting.gram[i] / speed[k, i]
        spread[:, k] += lead[:, None] * change[k]
        others = (before.held[k] != after.held[k]) | (before.active[k] != after.active[k])
        others[i] = False
        if not others.any() and -2 * abs(speed[k, i]) <= faster[k, i] * np.sign(speed[k, i]) <= 0:
            continue
        new = np.zeros_like(here.change)
        new[k] = change[k] * here.error * setting.lengths[i] / speed[k, i]
        grown.append(new)
    if grown:
        spread = np.concatenate([spread, np.stack(grown)])
    return _merged(setting, here, after, spread)


def _merged(setting: Setting, here: Point, modes: Modes, spread: Host) -> Point:
    """Return the point with that spread; what of it is small counts into the error."""
    norms = weight_norms(setting, spread)
    small = norms <= here.error
    error = here.error + float(norms[small].sum())
    return point(setting, here.change, modes, error, spread[~small])
