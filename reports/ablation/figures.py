"""Figures of an ablation: for each load-bearing assumption, how far outside it lies what is met."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from properties.ablation.looking import HOLDS, VIOLATED
from reports.ablation import words
from reports.html.figures import svg
from reports.html.figures.series import plain_ticks
from reports.html.figures.svg import COLOURS
from reports.typography import Part, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_DOTS = 250
"""Instances drawn of one outcome, at most: every k-th of more, in the order of the search."""

_LOG_FROM = 30.0
"""Ratio of the furthest to the closest from which distances are drawn on a logarithmic scale."""

_KNEE = 0.1
"""Where margins, drawn logarithmically far from zero, go over to linear."""

_KINDS = ((HOLDS, "holds", "data", "o"), (VIOLATED, "violated", "claim", "X"))

Dot = tuple[float, float, str]


def captioned(report: Part) -> list[dict[str, Any]]:
    """Return a figure for each assumption that bears a claim, numbered, in the order of the
    table."""
    figures: list[dict[str, Any]] = []
    for row in report["assumptions"]:
        found = words.leading(row)
        dots = [] if found is None else _dots(row)
        if found is None or not dots:
            continue
        name = f"outside-{row['id']}"
        caption = _caption(row, found, dots)
        figures.append(
            {
                "number": len(figures) + 1,
                "anchor": name,
                "caption": caption,
                "svg": scatter(dots, name=name, label=f"Margins without {row['id']}. {caption[0]}"),
            }
        )
    return figures


def scatter(dots: Sequence[Dot], *, name: str, label: str) -> str:
    """Draw (how far outside, margin of the claim, outcome) of instances; below the dashed line the
    claim is violated."""
    spread = [far for far, _, _ in dots]
    logarithmic = min(spread) > 0 and max(spread) > _LOG_FROM * min(spread)
    place = math.log10 if logarithmic else float
    height = 300
    with svg.drawing(height) as figure:
        axes = svg.axes_at(figure, (58, 50, 330, 196), height)
        for kind, text, colour, marker in _KINDS:
            chosen = _thinned([dot for dot in dots if dot[2] == kind])
            if chosen:
                axes.plot(
                    [place(far) for far, _, _ in chosen],
                    [_symmetric_log(margin) for _, margin, _ in chosen],
                    linestyle="none",
                    marker=marker,
                    markersize=4.0,
                    markeredgewidth=0,
                    color=COLOURS[colour],
                    label=text,
                )
        axes.axhline(0.0, **svg.CLAIMED)
        svg.pad(axes, "x", [place(far) for far in spread], least=0.1 if logarithmic else 1e-3)
        svg.pad(axes, "y", [0.0, *(_symmetric_log(margin) for _, margin, _ in dots)], least=0.1)
        if logarithmic:
            svg.log_ticks(axes, "x", most=6)
        else:
            plain_ticks(axes, "x", most=6)
        _symmetric_ticks(axes)
        svg.heading(axes, "margin of the claim (dimensionless)")
        axes.set_xlabel("how far outside the dropped assumption (minus its margin)")
        svg.legend(figure, axes, columns=2)
        return svg.for_page(figure, name, label)


def _dots(row: Part) -> list[Dot]:
    """Return what is drawn of the claim that a row shows: its decided instances."""
    told = row["scatter"]
    entries = zip(told["outside"], told["margins"], told["outcomes"], strict=True)
    return [
        (-outside, margin, outcome)
        for outside, margin, outcome in entries
        if outcome in (HOLDS, VIOLATED) and outside is not None and margin is not None
    ]


def _thinned(dots: list[Dot]) -> list[Dot]:
    return dots[:: math.ceil(len(dots) / MOST_DOTS)] if dots else []


def _caption(row: Part, found: Part, dots: Sequence[Dot]) -> list[str]:
    violated = sum(kind == VIOLATED for _, _, kind in dots)
    seen = (
        f"Without {row['id']}, {found['claim']} is violated on {number(violated)} of "
        f"{number(len(dots))} instances, the nearest at {words.where(found['nearest'])}."
    )
    drawn = (
        "A dot is an instance that the search met, in which this assumption alone is violated: "
        "how far outside it is, and the margin of the claim, below the dashed line where it is "
        "violated; far from zero margins are drawn logarithmically. The search goes where margins "
        "are low, so that shares of dots are no probabilities."
    )
    most = max(violated, len(dots) - violated)
    return [seen, drawn + " Dots are left out, evenly." * (most > MOST_DOTS)]


def _symmetric_log(value: float) -> float:
    """Return ± log₁₀(1 + |value|/knee), for every finite value."""
    return math.copysign(math.log10(_KNEE + abs(value)) - math.log10(_KNEE), value)


def _symmetric_ticks(axes: Axes) -> None:
    """Put ticks at zero and at powers of ten on either side."""
    low, high = axes.get_ylim()
    stride = max(1, math.ceil(max(-low, high) / 4))
    powers = [10.0**k for k in range(-1, min(math.ceil(max(-low, high)), 308) + 1, stride)]
    values = sorted({0.0, *powers, *(-power for power in powers)})
    shown = [value for value in values if low <= _symmetric_log(value) <= high]
    axes.set_yticks([_symmetric_log(value) for value in shown], [number(v) for v in shown])
