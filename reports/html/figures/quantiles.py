"""Quantiles of a quantity, cell by cell: median and outer quantiles, each with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reports.html.figures import svg
from reports.html.figures.bounds import MOST_CELLS
from reports.html.figures.rows import row_figure, say
from reports.html.figures.series import (
    Line,
    dodge,
    legend_columns,
    line_name,
    lines_of,
    name_of_abscissa,
    scale_of,
    set_abscissa,
    set_axis,
    top_of,
)
from reports.html.figures.svg import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Place = Any
"""How a value is placed on its axis, from `scale_of`."""


def ends_and_middle(cell: Mapping[str, Any]) -> tuple[Any, Any, Any] | None:
    """Return the quantiles of the lowest level, of the level nearest to one half, and of the
    highest; None where nothing was measured."""
    known = [q for q in cell.get("quantiles") or () if q.get("value") is not None]
    if not known:
        return None
    ranked = sorted(known, key=lambda q: q["level"])
    return ranked[0], min(ranked, key=lambda q: abs(q["level"] - 0.5)), ranked[-1]


def quantiles(measure: Mapping[str, Any], *, name: str, label: str) -> str:
    """Draw the quantiles of every cell: against the abscissa, one line for each value of `by`;
    without an abscissa, a row for each cell."""
    lines = lines_of(measure["cells"])
    unit = measure["unit"] or "dimensionless"
    heading = svg.wrapped(measure["axis"] or "quantity", unit)
    values = values_of(measure["cells"])
    place = scale_of(values)
    if not lines:
        return _by_cell(measure, heading, values, place, name, label)
    top, below = top_of(lines, measure["by"], heading), name_of_abscissa(measure)
    height = top + 284 + 14 * below.count("\n")
    with svg.drawing(height) as figure:
        axes = svg.axes_at(figure, (58, top, 328, 240), height)
        everything = [cell["x"] for line in lines for cell in line.cells]
        set_abscissa(axes, everything)
        set_axis(axes, "y", values)
        for line in lines:
            draw_line(axes, line, scale_of(everything), place, dodge(axes, len(lines), line.rank))
            draw_prediction(axes, line, scale_of(everything), place)
            axes.plot(
                [], [], linestyle="none", label=line_name(measure["by"], line.value), **line.marks
            )
        if any(cell.get("prediction") is not None for cell in measure["cells"]):
            svg.note(figure, "dashed: predicted")
        axes.set_xlabel(below)
        svg.heading(axes, heading)
        if len(lines) > 1:
            svg.legend(figure, axes, columns=legend_columns(lines, measure["by"]))
        return svg.for_page(figure, name, label)


def draw_line(axes: Axes, line: Line, place_x: Place, place_y: Place, shift: float) -> None:
    """Draw the cells of a line, and join their medians."""
    known = [(cell, ends_and_middle(cell)) for cell in line.cells]
    found = [(place_x(cell["x"]) + shift, ends) for cell, ends in known if ends is not None]
    if found:
        _bars(axes, found, place_y, colour=line.colour, upright=True)
        x = [at for at, _ in found]
        y = [place_y(middle["value"]) for _, (_, middle, _) in found]
        axes.plot(x, y, **line.joined)
        axes.plot(x, y, linestyle="none", **line.marks)


def _bars(
    axes: Axes,
    found: Sequence[tuple[float, tuple[Any, Any, Any]]],
    place: Place,
    *,
    colour: str,
    upright: bool,
) -> None:
    """Draw cells at their places: a wide bar between the outer quantiles, a thin one to the ends of
    their intervals, and a thick one over the interval of the median."""

    def bars(ends: Sequence[tuple[float, float, float]], **style: Any) -> None:
        pairs = [((at, place(low)), (at, place(high))) for at, low, high in ends]
        if not upright:
            pairs = [((low[1], low[0]), (high[1], high[0])) for low, high in pairs]
        svg.segments(axes, pairs, **style)

    wide = [(at, low["value"], high["value"]) for at, (low, _, high) in found]
    outer = [(at, _end(low, "low"), _end(high, "high")) for at, (low, _, high) in found]
    inner = [(at, _end(middle, "low"), _end(middle, "high")) for at, (_, middle, _) in found]
    bars(wide, color=COLOURS["band"], lw=7, zorder=1)
    bars(outer, color=colour, lw=0.8, marker="_" if upright else "|", ms=7, mew=0.9)
    bars(inner, color=colour, lw=2.6)


def draw_prediction(axes: Axes, line: Line, place_x: Place, place_y: Place) -> None:
    """Draw what a formula predicts for the cells of a line."""
    told = [cell for cell in line.cells if cell.get("prediction") is not None]
    if told:
        x = [place_x(cell["x"]) for cell in told]
        y = [place_y(cell["prediction"]) for cell in told]
        axes.plot(x, y, **(svg.CLAIMED | {"color": line.colour}), marker="_", ms=11, mew=1.6)


def _by_cell(
    measure: Mapping[str, Any],
    heading: str,
    values: Sequence[float],
    place: Place,
    name: str,
    label: str,
) -> str:
    """Draw a row for each cell, for a measure that has no abscissa."""
    rows = list(enumerate(measure["cells"], start=1))[:MOST_CELLS]

    def draw(axes: Axes, y: float, cell: Mapping[str, Any]) -> None:
        found = ends_and_middle(cell)
        if found is None:
            say(axes, y, "nothing measured")
            return
        ink = COLOURS["data"]
        _bars(axes, [(y, found)], place, colour=ink, upright=False)
        axes.plot([place(found[1]["value"])], [y], color=ink, marker="o", ms=5.6)
        if cell.get("prediction") is not None:
            axes.plot([place(cell["prediction"])] * 2, [y - 0.3, y + 0.3], **svg.CLAIMED)

    def limits(axes: Axes) -> None:
        set_axis(axes, "x", values)

    return row_figure(rows, draw, limits, axis=heading, name=name, label=label)


def values_of(cells: Sequence[Mapping[str, Any]]) -> list[float]:
    """Return every value that a figure has to show."""
    found = []
    for cell in cells:
        ends = ends_and_middle(cell)
        if ends is not None:
            found += [entry[key] for entry in ends for key in ("low", "value", "high")]
        found.append(cell.get("prediction"))
    return [value for value in found if value is not None] or [0.0]


def _end(quantile: Mapping[str, Any], side: str) -> float:
    """Return an end of a quantile's interval; the quantile itself where there is no such end."""
    return float(quantile["value"] if quantile.get(side) is None else quantile[side])
