"""Margin distributions of a theorem's claims: a group for each claim, a box for each cell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from reports.html.figures import svg
from reports.html.figures.series import plain_ticks
from reports.html.figures.svg import COLOURS, WIDTH
from reports.typography import number, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ROWS = 8
"""Cells drawn of one claim at most: those with the least margins."""

ALIKE = 0.01
"""Relative spread of all margins of a claim below which one row tells them all: an identity."""

LINEAR_UP_TO = 3.0
"""Margins beyond this, on either side, are drawn on an axis that is logarithmic far from zero."""

_KNEE = 0.1
"""Where such an axis goes over from linear to logarithmic."""

_PITCH, _HEAD, _LEFT, _WIDE = 10, 21, 12, 376


def margins_shown(claim: Mapping[str, Any]) -> list[tuple[int, list[float]]]:
    """Return (number of the cell, [min, 5%, 25%, 50%, 75%, 95%, max]) of the cells drawn: those
    with the least margins; one where all margins are alike."""
    found = [
        (rank, [float(value) for value in cell["margins"]])
        for rank, cell in enumerate(claim["cells"], start=1)
        if cell.get("margins") and all(value is not None for value in cell["margins"])
    ]
    if not found:
        return []
    least = sorted(found, key=lambda entry: (entry[1][0], entry[0]))
    spread = max(row[-1] for _, row in found) - least[0][1][0]
    alike = spread < ALIKE * max(abs(least[0][1][0]), 1e-300)
    return least[:1] if alike else sorted(least[:MOST_ROWS])


def margins(claims: Sequence[Mapping[str, Any]], *, name: str, label: str) -> str:
    """Draw the margins in scope of some claims, cell by cell: box from 25 to 75%, line from 5 to
    95%, ticks at least and greatest, median in ink; left of zero a claim is violated."""
    groups = [(claim, margins_shown(claim)) for claim in claims]
    groups = [(claim, rows) for claim, rows in groups if rows]
    values = [value for _, rows in groups for _, row in rows for value in row]
    linear = max(map(abs, values)) <= LINEAR_UP_TO
    place = float if linear else _symmetric_log
    body = sum(_HEAD + _PITCH * len(rows) + 4 for _, rows in groups)
    height = body + 74
    with svg.drawing(height) as figure:
        axes = svg.axes_at(figure, (_LEFT, 24, _WIDE, body), height)
        axes.set(ylim=(body, 0), yticks=[])
        axes.spines["left"].set_visible(False)
        low, high = min(place(min(values)), 0.0), max(place(max(values)), 0.0)
        extra = 0.04 * max(high - low, 0.01)
        axes.set_xlim(low - extra, high + extra)
        axes.axvline(0.0, **svg.CLAIMED)
        top, drawn = 0.0, []
        for claim, rows in groups:
            _name(axes, claim["claim"], rows, top)
            for row, (_, quantiles) in enumerate(rows):
                y = top + _HEAD + _PITCH * (row + 0.5)
                drawn.append((y, [place(value) for value in quantiles]))
            top += _HEAD + _PITCH * len(rows) + 4
        _boxes(axes, drawn)
        plain_ticks(axes, "x", most=6) if linear else _symmetric_ticks(axes)
        axes.set_xlabel("margin (dimensionless; scales differ from claim to claim)")
        where = (_LEFT + _WIDE * (0 - axes.get_xlim()[0]) / (high - low + 2 * extra)) / WIDTH
        text = "◂ violated left of 0" if where > 0.3 else "0: violated left of it"
        align = "right" if where > 0.3 else "left"
        figure.text(
            max(where, 0.02), 1 - 15 / height, text, ha=align, color=COLOURS["claim"], fontsize=10
        )
        return svg.for_page(figure, name, label)


def _name(axes: Axes, claim: str, rows: Sequence[tuple[int, list[float]]], top: float) -> None:
    least = min(row[0] for _, row in rows)
    cover = {"facecolor": COLOURS["card"], "linewidth": 0, "pad": 1}
    write = partial(axes.text, fontsize=10, va="center", bbox=cover)
    left, right = axes.get_xlim()
    write(left, top + 11, shorten(claim, 44))
    write(right, top + 11, f"least {number(least, 3)}", ha="right")


def _boxes(axes: Axes, rows: Sequence[tuple[float, Sequence[float]]]) -> None:
    """Draw every row (y, its seven numbers), kind of mark by kind of mark."""
    ink = COLOURS["data"]

    def across(first: int, last: int, **style: Any) -> None:
        svg.segments(axes, [((row[first], y), (row[last], y)) for y, row in rows], **style)

    def ticks(which: int, reach: float, **style: Any) -> None:
        ends = [((row[which], y - reach), (row[which], y + reach)) for y, row in rows]
        svg.segments(axes, ends, **style)

    across(0, 6, color=ink, lw=0.6, ls=svg.DOTS)
    across(1, 5, color=ink, lw=1.0)
    across(2, 4, color=COLOURS["fit"], lw=6)
    for end in (0, 6):
        ticks(end, 2.0, color=ink, lw=0.9)
    ticks(3, 3.5, color=COLOURS["ink"], lw=1.8)


def _symmetric_log(value: float) -> float:
    """Return ± log₁₀(1 + |value|/knee), for every finite value."""
    return math.copysign(math.log10(_KNEE + abs(value)) - math.log10(_KNEE), value)


def _symmetric_ticks(axes: Axes) -> None:
    """Put ticks at zero and at powers of ten on either side."""
    low, high = axes.get_xlim()
    reach = max(-low, high)
    stride = max(1, math.ceil(reach / 4))
    powers = [10.0**k for k in range(0, min(math.ceil(reach), 308) + 1, stride)]
    values = sorted({0.0, *powers, *(-power for power in powers)})
    shown = [v for v in values if low <= _symmetric_log(v) <= high]
    axes.set_xticks([_symmetric_log(v) for v in shown], [number(v) for v in shown])
