"""How often an event holds, against the abscissa: with exact bounds, prediction and levels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reports.html.figures import svg
from reports.html.figures.bounds import cells_shown
from reports.html.figures.rows import row_figure, say
from reports.html.figures.series import (
    Line,
    dodge,
    legend_columns,
    line_name,
    lines_of,
    name_of_abscissa,
    plain_ticks,
    scale_of,
    set_abscissa,
    top_of,
)
from reports.html.figures.svg import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def is_calibration(cells: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the abscissa is the prediction itself: then the diagonal is what is predicted."""
    placed = [cell for cell in cells if cell.get("x") is not None]
    return bool(placed) and all(
        cell.get("prediction") is not None
        and math.isclose(cell["x"], cell["prediction"], rel_tol=1e-9, abs_tol=1e-12)
        for cell in placed
    )


def frequencies(measure: Mapping[str, Any], *, name: str, label: str) -> str:
    """Draw the frequency of a measure in each cell with its bounds: against the abscissa, one
    line for each value of `by`; without an abscissa, a row for each cell."""
    lines = lines_of(measure["cells"])
    heading = svg.wrapped(measure["axis"] or "frequency", "dimensionless")
    if not lines:
        return _by_cell(measure, heading, name, label)
    top, below = top_of(lines, measure["by"], heading), name_of_abscissa(measure)
    height = top + 284 + 14 * below.count("\n")
    with svg.drawing(height) as figure:
        axes = svg.axes_at(figure, (58, top, 328, 240), height)
        everything = [cell["x"] for line in lines for cell in line.cells]
        calibration = is_calibration(measure["cells"])
        set_abscissa(axes, everything)
        zoom(axes, "y", shares_of(measure))
        place = scale_of(everything)
        _references(figure, axes, measure, calibration)
        for line in lines:
            draw_line(axes, line, place, dodge(axes, len(lines), line.rank), measure, calibration)
        for level in sorted({t["level"] for t in measure.get("thresholds") or ()}):
            axes.axhline(level, color=COLOURS["soft"], linewidth=1.0, linestyle=svg.DOTS)
        axes.set_xlabel(below)
        svg.heading(axes, heading)
        if len(lines) > 1:
            svg.legend(figure, axes, columns=legend_columns(lines, measure["by"]))
        return svg.for_page(figure, name, label)


def draw_line(
    axes: Axes, line: Line, place: Any, shift: float, measure: Mapping[str, Any], calibration: bool
) -> None:
    """Draw one line: marks at the frequencies, bars over the bounds, predictions dashed."""
    known = [cell for cell in line.cells if cell.get("frequency") is not None]
    if not known:
        return
    x = [place(cell["x"]) + shift for cell in known]
    y = [cell["frequency"] for cell in known]
    bounded = [(at, cell) for at, cell in zip(x, known, strict=True) if _is_bounded(cell)]
    bars = [((at, cell["low"]), (at, cell["high"])) for at, cell in bounded]
    svg.segments(axes, bars, color=line.colour, lw=1.3)
    called = line_name(measure["by"], line.value)
    if calibration:
        axes.plot(x, y, linestyle="none", label=called, **line.marks)
        return
    axes.plot(x, y, **line.joined)
    axes.plot(x, y, linestyle="none", label=called, **line.marks)
    predicted = [cell for cell in line.cells if cell.get("prediction") is not None]
    where = [place(cell["x"]) + shift for cell in predicted]
    told = [cell["prediction"] for cell in predicted]
    if predicted:
        axes.plot(where, told, color=line.colour, marker="_", ms=9, mew=1.4, ls="none")


def _is_bounded(cell: Mapping[str, Any]) -> bool:
    return cell.get("low") is not None and cell.get("high") is not None


def _references(figure: Figure, axes: Axes, measure: Mapping[str, Any], calibration: bool) -> None:
    """Draw the diagonal of a calibration, or say how predictions are drawn."""
    if calibration:
        low, high = axes.get_xlim()
        if scale_of([cell["x"] for cell in measure["cells"] if cell["x"] is not None]) is float:
            ends = [max(low, 0.0), min(high, 1.0)]
            axes.plot(ends, ends, **svg.CLAIMED)
        else:
            steps = [low + (min(high, 0.0) - low) * k / 40 for k in range(41)]
            axes.plot(steps, [10**step for step in steps], **svg.CLAIMED)
        svg.note(figure, "dashed: as predicted")
    elif any(cell.get("prediction") is not None for cell in measure["cells"]):
        svg.note(figure, "level ticks: predicted")


def _by_cell(measure: Mapping[str, Any], heading: str, name: str, label: str) -> str:
    """Draw a row for each cell, for a measure that has no abscissa."""
    shown = cells_shown([{**cell, "lower_bound": cell.get("low")} for cell in measure["cells"]])

    def draw(axes: Axes, y: float, cell: Mapping[str, Any]) -> None:
        if cell.get("frequency") is None:
            say(axes, y, "no trial in scope")
            return
        ink = COLOURS["data"]
        axes.plot([cell["low"], cell["high"]], [y, y], color=ink, marker="|", ms=8, lw=1.4)
        axes.plot([cell["frequency"]], [y], color=ink, marker="o", ms=5.6)
        if cell.get("prediction") is not None:
            axes.plot([cell["prediction"]] * 2, [y - 0.3, y + 0.3], **svg.CLAIMED)

    def limits(axes: Axes) -> None:
        zoom(axes, "x", shares_of(measure))

    return row_figure(shown, draw, limits, axis=heading, name=name, label=label)


def shares_of(measure: Mapping[str, Any]) -> list[float]:
    """Return every share that a figure has to show."""
    cells = measure["cells"]
    values = [cell.get(key) for cell in cells for key in ("low", "high", "frequency", "prediction")]
    levels = [threshold["level"] for threshold in measure.get("thresholds") or ()]
    return [value for value in (*values, *levels) if value is not None] or [0.0, 1.0]


def zoom(axes: Axes, axis: str, shares: Sequence[float]) -> None:
    """Show [0, 1] where shares are spread, else the part where they lie."""
    low, high = min(shares), max(shares)
    if high - low > 0.5:
        low, high = 0.0, 1.0
    extra = max(0.05 * (high - low), 0.004)
    getattr(axes, f"set_{axis}lim")(max(low - extra, -0.05), min(high + extra, 1.05))
    plain_ticks(axes, axis)
