"""Confidence bounds on P(holds), cell by cell, against the claimed probability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from reports.html.figures import svg
from reports.html.figures.rows import name_rows, say
from reports.html.figures.svg import COLOURS, WIDTH
from reports.typography import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_CELLS = 60
"""Cells drawn at most; the caption says when some were left out."""


class MarkerStyle(TypedDict):
    """What matplotlib is told of a mark."""

    marker: str
    fillstyle: Literal["full", "left", "none"]


MARKERS: dict[str, MarkerStyle] = {
    "certified": {"marker": "D", "fillstyle": "full"},
    "supported": {"marker": "o", "fillstyle": "full"},
    "refuted": {"marker": "X", "fillstyle": "full"},
    "inconclusive": {"marker": "o", "fillstyle": "left"},
    "undecided": {"marker": "D", "fillstyle": "none"},
    "vacuous": {"marker": "o", "fillstyle": "none"},
}

SHAPES = {
    "certified": "diamond",
    "supported": "disc",
    "refuted": "cross",
    "inconclusive": "half-filled disc",
    "undecided": "hollow diamond",
    "vacuous": "no mark",
}
"""Verdicts' marks in `probability_bounds`, in words."""


def probability_bounds(
    cells: Sequence[Mapping[str, Any]], probability: float, *, name: str, label: str
) -> str:
    """Draw, cell by cell, the confidence bounds on P(holds | in scope), and the claimed one."""
    shown = cells_shown(cells)
    known = [cell["lower_bound"] for _, cell in shown if cell["lower_bound"] is not None]
    least = min([*known, probability])
    left = max(-0.02, least - max(0.25 * (1 - least), 0.004))
    right = 1.0 + 0.04 * (1 - left)
    body = 36 * len(shown)
    height = body + 80
    with svg.drawing(height) as figure:
        axes = svg.axes_at(figure, (22, 36, 364, body), height)
        axes.set(xlim=(left, right), ylim=(len(shown), 0), yticks=[])
        axes.spines["left"].set_visible(False)
        axes.axvline(probability, **svg.CLAIMED)
        for row, (_, cell) in enumerate(shown):
            _interval(axes, row + 0.7, cell)
        name_rows(axes, shown)
        _probability_ticks(axes)
        axes.set_xlabel("P(holds | in scope) (dimensionless)")
        centre = min(max((probability - left) / (right - left), 0.17), 0.83)
        figure.text(
            (22 + 364 * centre) / WIDTH,
            1 - 24 / height,
            f"claimed P ≥ {number(probability)}",
            ha="center",
            color=COLOURS["claim"],
        )
        return svg.for_page(figure, name, label)


def bounds_differ(cells: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a figure of bounds tells more than the one line that gives the least: cells differ
    in verdict, bounds or frequency."""
    found = {
        (cell["verdict"], cell["lower_bound"], cell["upper_bound"], cell["tally"]["holds"])
        for cell in cells
    }
    return len(found) > 1


def cells_shown(cells: Sequence[Mapping[str, Any]]) -> list[tuple[int, Mapping[str, Any]]]:
    """Return the numbered cells that a figure draws: all, or those with the lowest bounds."""
    numbered = list(enumerate(cells, start=1))
    if len(numbered) <= MOST_CELLS:
        return numbered
    ranked = sorted(numbered, key=lambda entry: (entry[1]["lower_bound"] or 0.0, entry[0]))
    return sorted(ranked[:MOST_CELLS], key=lambda entry: entry[0])


def _interval(axes: Axes, y: float, cell: Mapping[str, Any]) -> None:
    """Draw one cell: a mark at the lower bound, a line to the upper, a tick at the frequency."""
    tally, low, high = cell["tally"], cell["lower_bound"], cell["upper_bound"]
    if not tally["in_scope"] or low is None or high is None:
        one = tally["in_scope"] and cell.get("copies")
        say(axes, y, f"one problem: {cell['verdict']}" if one else "no trial in scope")
        return
    ink = COLOURS["data"]
    axes.plot([low, high], [y, y], color=ink, lw=1.4, solid_capstyle="butt")
    axes.plot([high], [y], color=ink, marker="|", ms=9, mew=1.4)
    axes.plot([tally["holds"] / tally["in_scope"]], [y], color=ink, marker="|", ms=5, mew=1.2)
    style = MARKERS.get(cell["verdict"], MARKERS["undecided"])
    axes.plot([low], [y], color=ink, ms=7.5, markerfacecoloralt=COLOURS["card"], **style)


def _probability_ticks(axes: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    low, high = axes.get_xlim()
    ticks = [v for v in MaxNLocator(5).tick_values(low, high) if max(low, 0) <= v <= 1 + 1e-9]
    axes.set_xticks(ticks, [number(float(f"{tick:.9g}")) for tick in ticks])
