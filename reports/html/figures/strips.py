"""A strip within text: where the realised margins of an assumption lie, and where zero is."""

from __future__ import annotations

import math
from collections.abc import Sequence

_WIDE, _HIGH, _EDGE = 128, 14, 3


def strip(margins: Sequence[float]) -> str:
    """Return an SVG of [min, 5%, 25%, 50%, 75%, 95%, max]: whiskers over all, a box from 25 to
    75%, a tick at the median, and a dashed line at zero, left of which the assumption fails.

    It is drawn on a scale of its own, from the least or zero to the greatest or zero.
    """
    wide = max(map(abs, margins)) > 1e3 * max(abs(margins[3]), 1e-300)
    placed = [math.asinh(v / 1e-3) if wide else v for v in margins]
    low, high = min(*placed, 0.0), max(*placed, 0.0)
    span = (high - low) or 1.0

    def at(value: float) -> str:
        return f"{_EDGE + (_WIDE - 2 * _EDGE) * (value - low) / span:.1f}"

    least, _, first, middle, third, _, most = map(at, placed)
    wide_box = max(float(third) - float(first), 0.8)
    y = _HIGH / 2
    return (
        f'<svg class="strip" viewBox="0 0 {_WIDE} {_HIGH}" aria-hidden="true">'
        f'<path class="zero" d="M{at(0.0)} 0V{_HIGH}"/>'
        f'<path class="reach" d="M{least} {y - 3}v6M{least} {y}H{most}M{most} {y - 3}v6"/>'
        f'<rect class="box" x="{first}" y="{y - 3.5}" width="{wide_box:.1f}" height="7"/>'
        f'<path class="middle" d="M{middle} {y - 5}v10"/></svg>'
    )
