"""The pattern raster: which examples each neuron is active on, step by step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reports.html.figures import svg
from reports.html.figures.svg import COLOURS, WIDTH

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_STEPS, MOST_EXAMPLES = 300, 240
"""What a raster draws at most; the caption says when something was left out."""

_LEFT, _WIDE = 46, 342


def pattern_raster(
    patterns: Sequence[Sequence[Sequence[int]]],
    labels: Sequence[float],
    signs: Sequence[float],
    *,
    name: str,
    label: str,
) -> str:
    """Draw for each neuron which examples are active at which step: positive labels above,
    negative below, each by falling magnitude; neurons one below the other.

    patterns: by neuron, step and example.   labels: by example.   signs: by neuron.
    """
    order = raster_order(labels)
    steps = min(len(patterns[0]), MOST_STEPS + 1)
    pitch = min(max((220 if len(patterns) == 1 else 96) / len(order), 1.2), 11.0)
    panel, head = pitch * len(order), 0 if len(patterns) == 1 else 22
    above = 46 if len(patterns) == 1 else 26
    height = round((panel + head) * len(patterns) + above + 46)
    with svg.drawing(height) as figure:
        for rank, (pattern, sign) in enumerate(zip(patterns, signs, strict=True)):
            rows = [[bool(step[i]) for step in pattern[:steps]] for i in order]
            top = above + head + rank * (panel + head)
            axes = svg.axes_at(figure, (_LEFT, top, _WIDE, panel), height)
            sorted_labels = [labels[i] for i in order]
            _panel(axes, rows, sorted_labels, pitch=pitch, alone=len(patterns) == 1)
            if head:
                text = f"neuron {rank + 1}, output sign {'+' if sign > 0 else '−'}"
                svg.beside(axes, text, (-0.5, 0), (0, 6), color=COLOURS["ink"])
            axes.tick_params(labelbottom=rank == len(patterns) - 1)
        axes.set_xlabel("step of gradient descent (number of steps)")
        figure.text(4 / WIDTH, 1 - 14 / height, "examples, by sign then size of label")
        svg.legend(figure, figure.axes[0], columns=2, right=True)
        return svg.for_page(figure, name, label)


def raster_is_drawable(raster: Mapping[str, Any]) -> bool:
    """Whether every neuron has, at every step, a state for every label."""
    labels: Sequence[float] = raster.get("labels") or ()
    patterns: Sequence[Sequence[Sequence[bool]]] = raster.get("patterns") or ()
    return (
        bool(labels and patterns)
        and len(patterns) == len(raster.get("signs") or ())
        and len({len(pattern) for pattern in patterns}) == 1
        and bool(patterns[0])
        and all(len(step) == len(labels) for pattern in patterns for step in pattern)
    )


def raster_order(labels: Sequence[float]) -> list[int]:
    """Return the examples in the order of a raster: by sign of the label, then magnitude; an even
    selection of them if they are too many."""
    order = sorted(range(len(labels)), key=lambda i: (not labels[i] > 0, -abs(labels[i]), i))
    stride = max(1, math.ceil(len(order) / MOST_EXAMPLES))
    return order[::stride]


def _panel(
    axes: Axes,
    rows: Sequence[Sequence[bool]],
    labels: Sequence[float],
    *,
    pitch: float,
    alone: bool,
) -> None:
    """Draw one neuron: `rows` of states by example, whose `labels` are sorted alike."""
    steps = len(rows[0])
    positives = sum(label > 0 for label in labels)
    single = steps <= 60 and pitch >= 6
    gap, apart = (0.14 if pitch >= 4 else 0.0), (0.06 if single else 0.0)
    runs: dict[bool, list[tuple[float, float, float, float]]] = {False: [], True: []}
    for row, states in enumerate(rows):
        for start, end, active in _runs(states, single=single):
            runs[active].append((start - 0.5, end - 0.5 - apart, row, row + 1 - gap))
    axes.set(xlim=(-0.5, steps - 0.5), ylim=(len(rows), 0), yticks=[])
    axes.grid(visible=False)
    axes.spines["left"].set_visible(False)
    svg.rectangles(axes, runs[False], COLOURS["inactive"], "inactive")
    svg.rectangles(axes, runs[True], COLOURS["active"], "active")
    if 0 < positives < len(rows):
        axes.axhline(positives - gap / 2, color=COLOURS["claim"], linewidth=1.4)
    if steps > 1:
        axes.axvline(0.5 - apart / 2, color=COLOURS["claim"], linewidth=1.1, linestyle=svg.DOTS)
        if alone:
            svg.beside(axes, "from step 1", (0.5, 0), (3, 4), color=COLOURS["claim"], fontsize=10)
    zero = any(label == 0 for label in labels)
    for text, low, high in (
        ("y > 0", 0, positives),
        ("y ≤ 0" if zero else "y < 0", positives, len(rows)),
    ):
        if high > low:
            svg.beside(axes, text, (-0.5, (low + high) / 2), (-7, 0), ha="right", va="center")
    _step_ticks(axes)


def _runs(states: Sequence[bool], *, single: bool) -> list[tuple[int, int, bool]]:
    """Return (start, end, state) of runs of equal states; of every step if `single`."""
    cuts = [0]
    cuts += [t for t in range(1, len(states)) if single or states[t] != states[t - 1]]
    return [(a, b, states[a]) for a, b in zip(cuts, [*cuts[1:], len(states)], strict=True)]


def _step_ticks(axes: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
