"""The scaling law: a sweep of a rate on log–log axes, fitted and claimed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reports.html.figures import svg
from reports.html.figures.svg import COLOURS
from reports.typography import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
