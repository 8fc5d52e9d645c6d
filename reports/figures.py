"""Figures of a report, as SVG: pure functions of parts of report.json.

Every figure is a string as `svg.for_page` gives it. Marks differ in shape and line style, so that
nothing is told by colour alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reports import svg
from reports.svg import COLOURS, WIDTH
from reports.typography import common_coordinates, number, point_text, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_STEPS, MOST_EXAMPLES, MOST_CELLS = 300, 240, 60
"""What a figure draws at most; captions say when something was left out."""

MARKERS = {
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


def scaling_is_drawable(slope: Mapping[str, Any]) -> bool:
    """Whether a sweep has at least two points to draw."""
    return len(_sweep_points(slope)) >= 2


def scaling_law(slope: Mapping[str, Any], *, name: str, label: str) -> str:
    """Draw one sweep of a rate: geometric mean ± spread on log–log axes, with band, fitted and
    claimed slope; below, the means over the claimed law, where a tilt is how far the slope is from
    the claimed exponent."""
    points = _sweep_points(slope)
    x, y = ([math.log10(point[side]) for point in points] for side in (0, 1))
    spread = [point[2] / math.log(10) for point in points]
    centre = sum(x) / len(x), sum(y) / len(y)

    def law(exponent: float, where: Sequence[float]) -> list[float]:
        return [centre[1] + exponent * (at - centre[0]) for at in where]

    claimed = slope["exponent"]
    ratio = [a - b for a, b in zip(y, law(claimed, x), strict=True)]
    ends = [min(x), max(x)]
    tilt = [0.0, 0.0]
    height = 388
    with svg.drawing(height) as figure:
        above = svg.axes_at(figure, (58, 50, 330, 194), height)
        below = svg.axes_at(figure, (58, 278, 330, 66), height)
        _draw_band(above, slope)
        if slope.get("slope") is not None:
            fitted = law(slope["slope"], ends)
            tilt = [a - b for a, b in zip(fitted, law(claimed, ends), strict=True)]
            above.plot(ends, fitted, label="fitted", **svg.FITTED)
            below.plot(ends, tilt, **svg.FITTED)
        above.plot(ends, law(claimed, ends), label="claimed", **svg.CLAIMED)
        above.errorbar(x, y, spread, label="mean ± spread", **svg.MEANS)
        below.plot(ends, [0.0, 0.0], **svg.CLAIMED)
        below.errorbar(x, ratio, spread, **svg.MEANS)
        extremes = [r + s * side for r, s in zip(ratio, spread, strict=True) for side in (-1, 1)]
        svg.pad(above, "y", above.dataLim.intervaly, least=0.35)
        svg.pad(below, "y", [*extremes, *tilt, 0.0], least=0.008)
        for axes in (above, below):
            svg.pad(axes, "x", ends, least=0.1)
            svg.log_ticks(axes, "x", most=5)
        svg.log_ticks(above, "y", most=5)
        svg.log_ticks(below, "y", most=4)
        above.tick_params(labelbottom=False)
        svg.heading(above, _ordinate_name(slope))
        svg.heading(below, "mean ÷ claimed law (dimensionless)")
        below.set_xlabel(f"{shorten(_abscissa_name(slope), 44)} (dimensionless)")
        svg.legend(figure, above, columns=4)
        return svg.for_page(figure, name, label)


def probability_bounds(
    cells: Sequence[Mapping[str, Any]], probability: float, *, name: str, label: str
) -> str:
    """Draw, cell by cell, the confidence bounds on P(holds | in scope), and the claimed one."""
    shown = cells_shown(cells)
    shared = common_coordinates([cell["point"] for _, cell in shown])
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
        for row, (rank, cell) in enumerate(shown):
            text = point_text(cell["point"], without=tuple(shared)) or point_text(cell["point"])
            axes.text(
                left,
                row + 0.32,
                f"{rank}\N{EN SPACE}{shorten(text, 62)}",
                fontsize=10,
                bbox={"facecolor": COLOURS["card"], "linewidth": 0, "pad": 1},
            )
            _interval(axes, row + 0.7, cell, left)
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


def cells_shown(cells: Sequence[Mapping[str, Any]]) -> list[tuple[int, Mapping[str, Any]]]:
    """Return the numbered cells that a figure draws: all, or those with the lowest bounds."""
    numbered = list(enumerate(cells, start=1))
    if len(numbered) <= MOST_CELLS:
        return numbered
    ranked = sorted(numbered, key=lambda entry: (entry[1]["lower_bound"] or 0.0, entry[0]))
    return sorted(ranked[:MOST_CELLS], key=lambda entry: entry[0])


def pattern_raster(
    pattern: Sequence[Sequence[int]], labels: Sequence[float], *, name: str, label: str
) -> str:
    """Draw which examples are active at which step: positive labels above, negative below, each
    by falling magnitude."""
    order = raster_order(labels)
    rows = [[bool(step[i]) for step in pattern[: MOST_STEPS + 1]] for i in order]
    steps, positives = len(rows[0]), sum(labels[i] > 0 for i in order)
    pitch = min(max(220 / len(rows), 1.2), 11.0)
    gap, apart = (0.14 if pitch >= 4 else 0.0), (0.06 if steps <= 60 else 0.0)
    height = round(pitch * len(rows) + 92)
    runs: dict[bool, list[tuple[float, float, float, float]]] = {False: [], True: []}
    for row, states in enumerate(rows):
        for start, end, active in _runs(states, single=steps <= 60):
            runs[active].append((start - 0.5, end - 0.5 - apart, row, row + 1 - gap))
    with svg.drawing(height) as figure:
        axes = svg.axes_at(figure, (46, 46, 342, pitch * len(rows)), height)
        axes.set(xlim=(-0.5, steps - 0.5), ylim=(len(rows), 0), yticks=[])
        axes.grid(visible=False)
        axes.spines["left"].set_visible(False)
        svg.rectangles(axes, runs[False], COLOURS["inactive"], "inactive")
        svg.rectangles(axes, runs[True], COLOURS["active"], "active")
        if 0 < positives < len(rows):
            axes.axhline(positives - gap / 2, color=COLOURS["claim"], linewidth=1.4)
        if steps > 1:
            axes.axvline(0.5 - apart / 2, color=COLOURS["claim"], linewidth=1.1, linestyle=svg.DOTS)
            svg.beside(axes, "from step 1", (0.5, 0), (3, 4), color=COLOURS["claim"], fontsize=10)
        zero = any(labels[i] == 0 for i in order)
        for text, low, high in (
            ("y > 0", 0, positives),
            ("y ≤ 0" if zero else "y < 0", positives, len(rows)),
        ):
            if high > low:
                svg.beside(axes, text, (-0.5, (low + high) / 2), (-7, 0), ha="right", va="center")
        _step_ticks(axes)
        axes.set_xlabel("step of gradient descent (number of steps)")
        figure.text(4 / WIDTH, 1 - 14 / height, "examples, by sign then size of label")
        svg.legend(figure, axes, columns=2, right=True)
        return svg.for_page(figure, name, label)


def raster_is_drawable(raster: Mapping[str, Any]) -> bool:
    """Whether every step of a pattern has a state for every label."""
    labels, pattern = raster.get("labels") or (), raster.get("pattern") or ()
    return bool(labels) and bool(pattern) and all(len(step) == len(labels) for step in pattern)


def raster_order(labels: Sequence[float]) -> list[int]:
    """Return the examples in the order of a raster: by sign of the label, then magnitude; an even
    selection of them if they are too many."""
    order = sorted(range(len(labels)), key=lambda i: (not labels[i] > 0, -abs(labels[i]), i))
    stride = max(1, math.ceil(len(order) / MOST_EXAMPLES))
    return order[::stride]


# Parts of figures.


def _sweep_points(slope: Mapping[str, Any]) -> list[tuple[float, float, float]]:
    """Return (abscissa, mean, spread) where both can be drawn on log axes."""
    columns = (slope.get(key) or () for key in ("abscissa", "mean", "spread"))
    found = list(zip(*columns, strict=False))
    return [(x, y, s or 0.0) for x, y, s in found if x and y and x > 0 and y > 0]


def _band(slope: Mapping[str, Any]) -> list[tuple[float, float, float]]:
    """Return (abscissa, low, high) where the band can be drawn; a lower bound of zero is left
    out with its point."""
    columns = (slope.get(key) or () for key in ("abscissa", "band_low", "band_high"))
    found = zip(*columns, strict=False)
    return [entry for entry in found if all(v and v > 1e-250 for v in entry)]


def _abscissa_name(slope: Mapping[str, Any]) -> str:
    """Return the abscissa's name: as told, or the coordinate that it equals, or the sweep's."""
    if slope.get("against"):
        return str(slope["against"])
    points, abscissa = slope.get("points") or (), slope.get("abscissa") or ()
    for key in points[0] if points else ():
        values = [point.get(key) for point in points]
        if len(set(map(str, values))) > 1 and all(
            isinstance(v, int | float) and a is not None and math.isclose(v, a, rel_tol=1e-9)
            for v, a in zip(values, abscissa, strict=False)
        ):
            return str(key)
    return f"abscissa of the sweep “{slope.get('sweep', '')}”"


def _ordinate_name(slope: Mapping[str, Any]) -> str:
    """Return the heading of the means; long names leave room for the unit."""
    quantity = str(slope.get("quantity") or "quantity")
    whole = f"{quantity}, geometric mean (dimensionless)"
    short = f"{shorten(quantity, 40)}, mean (dimensionless)"
    return whole if len(whole) <= svg.LONGEST_HEADING else short


def _draw_band(axes: Axes, slope: Mapping[str, Any]) -> None:
    band = _band(slope)
    if band:
        where, low, high = ([math.log10(entry[side]) for entry in band] for side in range(3))
        axes.fill_between(
            where, low, high, color=COLOURS["band"], linewidth=0, label="claim's band"
        )
        for edge in (low, high):
            axes.plot(where, edge, color=COLOURS["data"], linewidth=0.7, linestyle=svg.DOTS)


def _interval(axes: Axes, y: float, cell: Mapping[str, Any], left: float) -> None:
    """Draw one cell: a mark at the lower bound, a line to the upper, a tick at the frequency."""
    tally, low, high = cell["tally"], cell["lower_bound"], cell["upper_bound"]
    if not tally["in_scope"] or low is None or high is None:
        axes.text(left, y, "     no trial in scope", va="center", color=COLOURS["soft"])
        return
    ink = COLOURS["data"]
    axes.plot([low, high], [y, y], color=ink, lw=1.4, solid_capstyle="butt")
    axes.plot([high], [y], color=ink, marker="|", ms=9, mew=1.4)
    axes.plot([tally["holds"] / tally["in_scope"]], [y], color=ink, marker="|", ms=5, mew=1.2)
    style = MARKERS.get(cell["verdict"], MARKERS["undecided"])
    axes.plot([low], [y], color=ink, ms=7.5, markerfacecoloralt=COLOURS["card"], **style)


def _runs(states: Sequence[bool], *, single: bool) -> list[tuple[int, int, bool]]:
    """Return (start, end, state) of runs of equal states; of every step if `single`."""
    cuts = [0]
    cuts += [t for t in range(1, len(states)) if single or states[t] != states[t - 1]]
    return [(a, b, states[a]) for a, b in zip(cuts, [*cuts[1:], len(states)], strict=True)]


def _probability_ticks(axes: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    low, high = axes.get_xlim()
    ticks = [v for v in MaxNLocator(5).tick_values(low, high) if max(low, 0) <= v <= 1 + 1e-9]
    axes.set_xticks(ticks, [number(float(f"{tick:.9g}")) for tick in ticks])


def _step_ticks(axes: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
