"""Several measures over one abscissa: a panel each, one above the other, with lines in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from reports.html.figures import svg
from reports.html.figures.frequencies import draw_line as draw_frequencies
from reports.html.figures.frequencies import shares_of, zoom
from reports.html.figures.quantiles import draw_line as draw_quantiles
from reports.html.figures.quantiles import draw_prediction, values_of
from reports.html.figures.series import (
    MOST_LINES,
    Line,
    dodge,
    line_name,
    lines_of,
    name_of_abscissa,
    scale_of,
    set_abscissa,
    set_axis,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HIGH, _APART = 118, 46
"""Pixels of a panel, and between two of them: heading, and ticks of the panel above."""

MOST_NAMES = 4
"""Names of lines beside one another in the legend, at most."""


def is_stackable(measures: Sequence[Mapping[str, Any]]) -> bool:
    """Whether there are two measures at least, each with a cell on the abscissa, which is one."""
    shown = [measure for measure in measures if lines_of(measure["cells"])]
    return len(shown) > 1 and len({measure["abscissa"] for measure in measures}) == 1


def stacked(measures: Sequence[Mapping[str, Any]], *, name: str, label: str) -> str:
    """Draw measures of one abscissa as panels of one figure.

    Lines of one value of one coordinate look alike in all panels; those of a measure without such
    a coordinate look like none of them.
    """
    panels = [(measure, lines_of(measure["cells"])) for measure in measures]
    panels = [(measure, lines) for measure, lines in panels if lines]
    ranks = _ranks(panels)
    everything = [cell["x"] for _, lines in panels for line in lines for cell in line.cells]
    named = [key for key in ranks if key[0]]
    columns = min(len(named), MOST_NAMES)
    rows = -(-len(named) // max(columns, 1))
    top, below = 20 + 16 * rows, name_of_abscissa(panels[0][0])
    height = top + len(panels) * (_HIGH + _APART) + 14 * below.count("\n")
    with svg.drawing(height) as figure:
        for number, (measure, lines) in enumerate(panels):
            box = (58, top + number * (_HIGH + _APART), 328, _HIGH)
            axes = svg.axes_at(figure, box, height)
            set_abscissa(axes, everything)
            own = [replace(line, rank=ranks[measure["by"], line.value]) for line in lines]
            _panel(axes, measure, own, everything, len(named))
            svg.heading(axes, svg.wrapped(measure["axis"], measure["unit"] or "dimensionless"))
        axes.set_xlabel(below)
        if named:
            _name_lines(figure, named, ranks, columns)
        return svg.for_page(figure, name, label)


def _ranks(panels: Sequence[tuple[Mapping[str, Any], Sequence[Line]]]) -> dict[Any, int]:
    """Return the look of each line, by the coordinate that tells it apart and its value there."""
    keys = {(measure["by"], line.value) for measure, lines in panels for line in lines}
    told = sorted((key for key in keys if key[0]), key=lambda key: (key[0], str(key[1])))
    if all(isinstance(value, int | float) for _, value in told):
        told.sort()
    alone = [key for key in keys if not key[0]]
    return {key: rank % MOST_LINES for rank, key in enumerate([*told, *alone])}


def _panel(
    axes: Axes,
    measure: Mapping[str, Any],
    lines: Sequence[Line],
    everything: Sequence[float],
    looks: int,
) -> None:
    """Draw one measure; `looks` is the number of lines of the figure."""
    across = scale_of(everything)
    if measure["kind"] == "frequency":
        zoom(axes, "y", shares_of(measure))
        for line in lines:
            draw_frequencies(axes, line, across, _aside(axes, looks, line), measure, False)
        return
    values = values_of(measure["cells"])
    set_axis(axes, "y", values)
    for line in lines:
        draw_quantiles(axes, line, across, scale_of(values), _aside(axes, looks, line))
        draw_prediction(axes, line, across, scale_of(values))


def _aside(axes: Axes, looks: int, line: Line) -> float:
    """Return by how much a line is moved sideways: the same in all panels."""
    return dodge(axes, looks, line.rank) if line.rank < looks else 0.0


def _name_lines(
    figure: Figure, named: Sequence[tuple[str, Any]], ranks: Mapping[Any, int], columns: int
) -> None:
    """Put the names of all lines into one legend, whatever panels they are in."""
    axes = figure.add_axes((0, 0, 1, 1), frame_on=False, xticks=[], yticks=[])
    for by, value in named:
        look = Line(value, (), ranks[by, value])
        axes.plot([], [], **{**look.joined, **look.marks}, label=line_name(by, value))
    svg.legend(figure, axes, columns=columns)
