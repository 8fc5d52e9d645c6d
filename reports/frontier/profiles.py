"""The probability along x, one figure for each row: measured, with bounds, predicted, crossed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from reports.frontier.placing import Place, cells_at, is_log, place_of
from reports.html.figures import svg
from reports.html.figures.series import plain_ticks, with_unit
from reports.html.figures.svg import COLOURS
from reports.typography import Part

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FLAT = 0.02
"""Frequencies within this of 0 and 1 are the plateaus on both sides of a transition."""

_PLATEAU = 2
"""Cells of each plateau that are shown beside the transition."""


def profile(found: Part, y: Any, *, name: str, label: str) -> str:
    """Draw how often the claim holds in the cells of one row against x: dots with their bounds,
    the predictions as crosses, the levels dotted, the boundaries' intervals shaded."""
    cells = shown_cells(found, y)
    rows = [row for row in found["rows"] if row["y"] == y]
    sampled = [cell["x"] for cell in found["cells"]]
    place = place_of(found["x"], sampled)
    predicted = [cell for cell in cells if cell["prediction"] is not None]
    height = 314
    with svg.drawing(height) as figure:
        axes = svg.axes_at(figure, (58, 52, 330, 220), height)
        x = [place(cell["x"]) for cell in cells]
        svg.pad(axes, "x", x, least=0.05 if is_log(found["x"]) else 1e-9)
        axes.set_ylim(-0.03, 1.03)
        _crossings(axes, rows, place)
        bars = [((at, c["low"]), (at, c["high"])) for at, c in zip(x, cells, strict=True)
                if c["low"] is not None and c["high"] is not None]  # fmt: skip
        svg.segments(axes, bars, color=COLOURS["fit"], lw=1.3)
        axes.plot(
            x, [cell["frequency"] for cell in cells],
            color=COLOURS["data"], marker="o", ms=4.2, lw=1.0, label="share that holds",
        )  # fmt: skip
        if predicted:
            axes.plot(
                [place(cell["x"]) for cell in predicted],
                [cell["prediction"] for cell in predicted],
                color=COLOURS["ink"], marker="x", ms=4.4, lw=0.9, ls=svg.DOTS, label="predicted",
            )  # fmt: skip
        if is_log(found["x"]):
            svg.log_ticks(axes, "x", most=6)
        else:
            plain_ticks(axes, "x")
        plain_ticks(axes, "y")
        svg.heading(axes, "share of trials in which the claim holds (dimensionless)")
        meaning = found["x"]["meaning"]
        text = f"{found['x']['name']}: {meaning}" if meaning else found["x"]["name"]
        axes.set_xlabel(with_unit(text, 54))
        svg.legend(figure, axes, columns=3)
        return svg.for_page(figure, name, label)


def shown_cells(found: Part, y: Any) -> list[Part]:
    """Return the cells of a row that its figure shows: those about the boundaries and where the
    frequency changes, with `_PLATEAU` more on both sides; all where nothing does."""
    cells = cells_at(found, y)
    ends = [
        row[key]
        for row in found["rows"]
        if row["y"] == y
        for key in ("boundary", "low", "high")
        if row[key] is not None
    ]
    ranks = [k for k, cell in enumerate(cells) if _FLAT < cell["frequency"] < 1 - _FLAT]
    for end in ends:
        below = sum(cell["x"] < end for cell in cells)
        ranks += [max(below - 1, 0), min(below, len(cells) - 1)]
    if not ranks:
        return cells
    return cells[max(min(ranks) - _PLATEAU, 0) : max(ranks) + _PLATEAU + 1]


def _crossings(axes: Axes, rows: Sequence[Part], place: Place) -> None:
    """Draw each level as a dotted line, the interval of its boundary as a band on it."""
    for row in rows:
        axes.axhline(row["level"], color=COLOURS["soft"], linewidth=1.0, linestyle=svg.DOTS)
    left, right = axes.get_xlim()
    named = "boundary"
    for row in rows:
        if row["low"] is not None or row["high"] is not None:
            low = left if row["low"] is None else place(row["low"])
            high = right if row["high"] is None else place(row["high"])
            axes.axvspan(low, high, color=COLOURS["claim"], alpha=0.16, linewidth=0)
        if row["boundary"] is not None:
            at = place(row["boundary"])
            axes.plot(
                [at, at], [0.0, row["level"]],
                color=COLOURS["claim"], lw=1.4, ls=(0, (5, 3)), label=named,
            )  # fmt: skip
            named = "_"
