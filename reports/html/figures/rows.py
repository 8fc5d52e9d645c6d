"""Figures with a row for each cell: its point above, its marks below."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reports.html.figures import svg
from reports.html.figures.svg import COLOURS
from reports.typography import common_coordinates, point_text, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Row = tuple[int, Mapping[str, Any]]
"""A cell and its number."""


def row_figure(
    rows: Sequence[Row],
    draw: Callable[[Axes, float, Mapping[str, Any]], None],
    limits: Callable[[Axes], None],
    *,
    axis: str,
    name: str,
    label: str,
) -> str:
    """Return a figure in which `draw(axes, y, cell)` drew every cell, and `limits(axes)` set limits
    and ticks of the abscissa; cells are named by the coordinates that tell them from the others.

    axis: label of the abscissa, with its unit.
    """
    body = 36 * len(rows)
    height = body + 60
    with svg.drawing(height) as figure:
        axes = svg.axes_at(figure, (22, 14, 364, body), height)
        axes.set(ylim=(len(rows), 0), yticks=[])
        axes.spines["left"].set_visible(False)
        for row, (_, cell) in enumerate(rows):
            draw(axes, row + 0.7, cell)
        limits(axes)
        name_rows(axes, rows)
        axes.set_xlabel(axis)
        return svg.for_page(figure, name, label)


def name_rows(axes: Axes, rows: Sequence[Row]) -> None:
    """Write above every row its number and the coordinates that its cell does not share."""
    shared = common_coordinates([cell["point"] for _, cell in rows])
    left = axes.get_xlim()[0]
    for row, (rank, cell) in enumerate(rows):
        text = point_text(cell["point"], without=tuple(shared)) or point_text(cell["point"])
        axes.text(
            left,
            row + 0.32,
            f"{rank}\N{EN SPACE}{shorten(text, 62)}",
            fontsize=10,
            bbox={"facecolor": COLOURS["card"], "linewidth": 0, "pad": 1},
        )


def say(axes: Axes, y: float, text: str) -> None:
    """Write into a row, at its left end, why nothing is drawn there."""
    where = axes.get_yaxis_transform()
    axes.text(0.02, y, text, va="center", color=COLOURS["soft"], transform=where)
