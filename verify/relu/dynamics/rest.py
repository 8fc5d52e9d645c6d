"""Limits that are certain although events are still to come, too small to be told apart [D].

Late in a flow residuals have vanished up to rounding, and which way an example within rounding of
its kink goes is not certain, nor does it matter. Let w̄ be a point where examples N near their kinks
are on them and every other example that a neuron sees is fitted, and let all others keep their mode
within ρ = ‖w − w̄‖ of w̄. There

    d/dt ½‖w − w̄‖² = −Σ_i r_i Σ_k s_k φ'(β_{k,i}) (β − β̄)_{k,i} = −Σ_i r_i (r_i − r̄_i),

since φ is linear on either side of zero, whichever side, or hold, an example of N is on. The sum is
that of r_i² where r̄_i = 0. An example with r̄_i = −y_i ≠ 0 is seen by neurons in N alone; if they
are ReLUs with s_k y_i < 0, then r_i − r̄_i = Σ s_k φ(β_k) has the sign of r̄_i, and so has r_i. So
the distance never grows, and the limit lies within ρ of w̄.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from verify.relu.dynamics.regime import (
    Modes,
    Point,
    Regime,
    Setting,
    point,
    regime,
    weight_norms,
)

Host = np.ndarray[Any, Any]

NEGLIGIBLE = 1e-9
"""How far a limit may be from w̄, relative to the length of its way from the start."""


def come_to_rest(setting: Setting, here: Point) -> tuple[Regime, float] | None:
    """Return the flow that holds all of N, which ends at w̄, and a bound on how far the limit is
    from there; None where that is not negligible, or not certain."""
    travelled = float(weight_norms(setting, here.change[None])[0])
    allowed = NEGLIGIBLE * travelled
    near = abs(here.predictions) <= 2 * allowed * setting.lengths
    modes = Modes(here.predictions > 0, near)
    change = here.change.copy()
    try:
        for k in np.flatnonzero(near.any(axis=-1)):
            inside = setting.gram[np.ix_(near[k], near[k])]
            change[k, near[k]] -= np.linalg.solve(inside, here.predictions[k, near[k]])
        held = regime(setting, modes, point(setting, change, modes))
    except np.linalg.LinAlgError:
        return None
    limit = point(setting, held.change(np.inf), modes)
    slopes = modes.slopes(setting.slope_below)
    seen = (slopes != 0).any(axis=0)
    moving = held.rates[held.rates > 0]
    misfit = float(np.linalg.norm(limit.residual[seen]))
    radius = float(weight_norms(setting, (limit.change - here.change)[None])[0])
    radius += here.distance(setting) + held.rounding(np.inf)
    radius += misfit / float(np.sqrt(moving.min())) if moving.size else misfit
    fitted = seen | (setting.labels == 0)
    against = setting.signs[:, None] * setting.labels < 0
    stable = fitted | (against & (setting.slope_below == 0))
    mobile = ((slopes != 0) | near).any(axis=-1, keepdims=True)
    apart = abs(limit.predictions) > radius * setting.lengths
    if radius > allowed or not (stable | ~near).all() or not (apart | near | ~mobile).all():
        return None
    return held, radius
