"""Figures of a researcher's own data, each with a caption: what to see, then what is drawn."""

from __future__ import annotations

import math
from typing import Any

from reports.html import figures
from reports.html.figures import svg
from reports.html.figures.svg import COLOURS
from reports.own_data.words import is_settled
from reports.typography import Part, number

SMALLEST = 1e-12
"""Eigenvalues below this multiple of the largest, zero but for rounding, are drawn there."""


def captioned(found: Part) -> list[dict[str, Any]]:
    """Return the figures that an analysis has data for, numbered, in the order of the page."""
    drawn = [(*_raster(found, neuron), f"pattern-{k}") for k, neuron in enumerate(_neurons(found))]
    drawn.append((*_spectrum(found), "spectrum"))
    return [
        {
            "number": rank,
            "anchor": name,
            "caption": caption,
            "svg": draw(name=name, label=f"{label} {caption[0]}"),
        }
        for rank, (draw, caption, label, name) in enumerate(drawn, start=1)
    ]


def spectrum(values: list[float], trace: float, *, name: str, label: str) -> str:
    """Draw the eigenvalues of the Gram matrix over τ, falling, on a logarithmic scale.

    The dashed line at 1 is what orthogonal examples of equal length would have.
    """
    floor = SMALLEST * max(values)
    heights = [math.log10(max(value, floor) / trace) for value in values]
    ranks = list(range(1, len(values) + 1))
    height = 300
    with svg.drawing(height) as figure:
        axes = svg.axes_at(figure, (58, 50, 330, 200), height)
        axes.plot([ranks[0], ranks[-1]], [0.0, 0.0], label="orthogonal rows", **svg.CLAIMED)
        axes.plot(
            ranks, heights, color=COLOURS["data"], linewidth=1.4, marker="o", markersize=3.0,
            label="these data",
        )  # fmt: skip
        svg.pad(axes, "x", ranks, least=1.0)
        svg.pad(axes, "y", [*heights, 0.0], least=0.5)
        svg.log_ticks(axes, "y", most=6)
        _whole_ticks(axes)
        svg.heading(axes, "eigenvalue of G over τ (dimensionless)")
        axes.set_xlabel("rank of the eigenvalue, the largest first")
        svg.legend(figure, axes, columns=2)
        return svg.for_page(figure, name, label)


def _whole_ticks(axes: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))


def _neurons(found: Part) -> list[Part]:
    """Return the patterns that can be drawn: none where there was no descent."""
    return list((found.get("patterns") or {}).get("neurons") or ())


def _raster(found: Part, neuron: Part) -> tuple[Any, list[str], str]:
    """Return how to draw the pattern of a neuron, its caption and its kind."""
    labels = found["patterns"]["labels"]
    steps = [[int(on) for on in step] for step in neuron["steps"]]

    def draw(*, name: str, label: str) -> str:
        return figures.pattern_raster([steps], labels, [neuron["sign"]], name=name, label=label)

    return draw, _pattern_caption(found, neuron, steps, labels), "Activation pattern."


def _pattern_caption(
    found: Part, neuron: Part, steps: list[list[int]], labels: list[float]
) -> list[str]:
    own = [neuron["sign"] * label > 0 for label in labels]
    sign = "positive" if neuron["sign"] > 0 else "negative"
    flips = [t for t in range(1, len(steps)) if steps[t] != steps[t - 1]]
    last = max(flips, default=0)
    dead = sum(mine and not on for mine, on in zip(own, steps[-1], strict=True))
    more = found["descent"]["last_flip"] >= len(steps)
    all_told = is_settled(found) and not more
    shown = "" if all_told else f", in the {len(steps) - 1} steps shown"
    if last <= 1 and [bool(on) for on in steps[-1]] == own:
        seen = f"From step 1 on the active examples are those of {sign} label"
        seen += shown or "; nothing changes"
    else:
        changes = f"last at step {last}" if last > 1 else "only at step 1"
        seen = f"The pattern changes {changes}" if last else "The pattern never changes"
        end = "at the end" if all_told else "at the last step shown"
        seen += f"{shown}; of {sign} label but inactive {end}: {dead} of {sum(own)}"
    seen += "."
    if more:
        whose = "The pattern changes" if found["neurons"] == 1 else "The patterns change"
        seen += f" {whose} last at step {number(found['descent']['last_flip'])}"
        seen += "." if is_settled(found) else ", and what comes later is not certified."
    which = f"Neuron of output sign {'+' if neuron['sign'] > 0 else '−'}1. " * (
        found["neurons"] > 1
    )
    drawn = (
        f"{which}Rows are the examples of these data, columns steps; dark is active, that is, "
        "predicted positive."
        + f" The first {len(steps) - 1} of {found['descent']['steps']} steps are shown."
        * more
    )
    left_out = len(labels) - len(figures.raster_order(labels))
    return [seen, drawn + f" {left_out} examples are left out, evenly." * bool(left_out)]


def _spectrum(found: Part) -> tuple[Any, list[str], str]:
    """Return how to draw the spectrum, its caption and its kind."""
    values, data = found["eigenvalues"], found["data"]

    def draw(*, name: str, label: str) -> str:
        return spectrum(values, data["trace"], name=name, label=label)

    high, low = values[0] / data["trace"], max(values[-1], 0.0) / data["trace"]
    near = data["gram_deviation"] < 1
    seen = (
        f"All eigenvalues lie between {number(low)} and {number(high)} times τ: "
        + ("near the line" if near else "far from the line")
        + " of orthogonal examples."
    )
    zero = sum(value < SMALLEST * values[0] for value in values)
    drawn = (
        f"The {len(values)} eigenvalues of the Gram matrix over τ = tr(G)/n, the largest first. "
        f"The largest distance from 1 is δ = {number(data['gram_deviation'])}; the deductive "
        "bounds on the gap need δ < 1. One eigenvalue far above the others is a direction that all "
        "examples share, such as a common mean."
        + f" {zero} of them are zero but for rounding, drawn at the lower edge."
        * bool(zero)
    )
    return draw, [seen, drawn], "Spectrum."
