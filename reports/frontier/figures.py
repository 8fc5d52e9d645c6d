"""The phase diagram of a frontier: probability over the plane, boundaries and other lines in it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reports.frontier.placing import Place, cells_at, edges, is_log, place_of, y_values
from reports.frontier.words import crosses_once, exact, line_name, line_rows, rows_at
from reports.html.figures import svg
from reports.html.figures.series import plain_ticks, with_unit
from reports.html.figures.svg import COLOURS
from reports.typography import Part, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHADES = 10
"""Steps from the lightest shade, of frequency 0, to the darkest, of frequency 1."""

_LIGHTEST, _DARKEST = 0.07, 0.62
"""Opacity at frequency 0, which is not that of a place without trials, and at 1, so that lines and
marks over it can be seen."""

_LEVELS = (("o", "-"), ("s", (0, (5, 2))), ("^", (0, (2, 1.4))), ("D", (0, (6, 2, 1, 2))))
"""Mark and line of each level's boundary."""

_LINES = {
    "certificate": ("claim", "v<", (0, (5, 3))),
    "assumption": ("claim", "P*hp8", (0, (1, 1.5))),
    "prediction": ("soft", "X", (0, (3, 1.5))),
}
"""Colour, marks (one line after the other) and line of each kind of line."""


@dataclass(frozen=True)
class Plane:
    """How values are placed in a phase diagram, and the part of x that it shows (placed)."""

    x: Place
    y: Place
    low: float
    high: float


def phase_diagram(found: Part, *, name: str, label: str) -> str:
    """Draw, over x and y, how often the claim holds as shade about each sampled cell, where its
    boundaries lie, with bars over their intervals and a band, and the other lines."""
    values = y_values(found)
    plane = _plane(found, values)
    named = found["y"]["scale"] == "choice"
    left = 128 if named else 58
    body = max(220, 30 * len(values)) if named else 260
    legend_rows = -(-(len(found["levels"]) + len(_drawn_lines(found))) // 2)
    top = 40 + 16 * legend_rows
    height = top + body + 92
    with svg.drawing(height) as figure:
        axes = svg.axes_at(figure, (left, top, 388 - left, body), height)
        axes.grid(visible=False)
        axes.set_xlim(plane.low, plane.high)
        placed = edges(sorted(map(plane.y, values)))
        axes.set_ylim(placed[0][0], placed[-1][1])
        if named:
            axes.invert_yaxis()
        _shade(axes, found, plane, values)
        for rank, level in enumerate(found["levels"]):
            _boundary(axes, rows_at(found["rows"], level), plane, rank, level, named)
        seen: Counter[str] = Counter()
        for line in _drawn_lines(found):
            _other_line(axes, line, line_rows(found, line), plane, seen[line["what"]])
            seen[line["what"]] += 1
        _ticks(axes, found, values, plane)
        svg.heading(axes, _heading(found["y"]))
        axes.set_xlabel(with_unit(_axis_name(found["x"]), 50))
        _key(figure, height)
        svg.legend(figure, axes, columns=2)
        return svg.for_page(figure, name, label)


def _axis_name(axis: Part) -> str:
    meaning = axis["meaning"]
    return f"{axis['name']}: {meaning}" if meaning and meaning != axis["name"] else axis["name"]


def _heading(axis: Part) -> str:
    if axis["scale"] == "choice":
        return shorten(_axis_name(axis), svg.LONGEST_HEADING)
    return with_unit(_axis_name(axis), svg.LONGEST_HEADING)


def _drawn_lines(found: Part) -> list[Part]:
    """Return the lines that have a boundary to draw."""
    rows = ((line, line_rows(found, line)) for line in found["lines"])
    return [line for line, at in rows if any(row["boundary"] is not None for row in at)]


def _plane(found: Part, values: Sequence[Any]) -> Plane:
    """Return how values are placed; shown is of x what lies about boundaries and lines, within
    what was sampled, or all of that where there are none."""
    sampled = [cell["x"] for cell in found["cells"]]
    x = place_of(found["x"], sampled)
    low, high = min(map(x, sampled)), max(map(x, sampled))
    rows = [*found["rows"], *(row for line in found["lines"] for row in line["rows"])]
    ends = [x(row[key]) for row in rows for key in ("boundary", "low", "high")
            if row[key] is not None]  # fmt: skip
    if ends:
        room = max(0.12 * (max(ends) - min(ends)), 0.04 * (high - low))
        low, high = max(low, min(ends) - room), min(high, max(ends) + room)
    return Plane(x, place_of(found["y"], values), low, high)


def _shade(axes: Axes, found: Part, plane: Plane, values: Sequence[Any]) -> None:
    """Shade halfway to the neighbours about each sampled cell, and mark where it was sampled."""
    boxes: dict[int, list[tuple[float, float, float, float]]] = {}
    dots: list[tuple[float, float]] = []
    rising = sorted(values, key=plane.y)
    for value, (bottom, top) in zip(rising, edges([plane.y(v) for v in rising]), strict=True):
        cells = cells_at(found, value)
        places = [plane.x(cell["x"]) for cell in cells]
        dots += [(at, plane.y(value)) for at in places if plane.low <= at <= plane.high]
        sides = edges(places) if places else []
        for cell, (left, right) in zip(cells, sides, strict=True):
            box = (max(left, plane.low), min(right, plane.high), top, bottom)
            if box[0] < box[1]:
                boxes.setdefault(round(SHADES * cell["frequency"]), []).append(box)
    for shade, group in sorted(boxes.items()):
        svg.rectangles(axes, group, COLOURS["data"], "_", opacity=_opacity(shade))
    if dots:
        where, rows = zip(*dots, strict=True)
        axes.plot(where, rows, ls="none", marker=".", ms=1.8, color=COLOURS["soft"])


def _opacity(shade: int) -> float:
    return _LIGHTEST + (_DARKEST - _LIGHTEST) * shade / SHADES


def _boundary(
    axes: Axes, rows: Sequence[Part], plane: Plane, rank: int, level: float, named: bool
) -> None:
    """Draw the boundaries of one level: marks, bars to the ends of the intervals or to the edge
    where an end was not found, joined and with a band between rows that are numbers."""
    marker, dashes = _LEVELS[rank % len(_LEVELS)]
    joined = not named and crosses_once(rows)
    spans = [
        (
            plane.y(row["y"]),
            _end(row["low"], plane, plane.low),
            _end(row["high"], plane, plane.high),
        )
        for row in rows
        if row["low"] is not None or row["high"] is not None
    ]
    if joined and len(spans) > 1:
        y, low, high = zip(*spans, strict=True)
        axes.fill_betweenx(y, low, high, color=COLOURS["claim"], alpha=0.22, linewidth=0)
    bars = [((low, y), (high, y)) for y, low, high in spans]
    svg.segments(axes, bars, color=COLOURS["ink"], lw=1.3, zorder=3)
    ends = [end for bar in bars for end in bar]
    if ends:
        axes.plot(*zip(*ends, strict=True), ls="none", marker="|", ms=6, color=COLOURS["ink"])
    known = [row for row in rows if row["boundary"] is not None]
    where = [plane.x(row["boundary"]) for row in known]
    axes.plot(
        where,
        [plane.y(row["y"]) for row in known],
        color=COLOURS["ink"],
        linestyle=dashes if joined else "none",
        linewidth=1.2,
        marker=marker,
        markersize=5.0,
        markerfacecolor=COLOURS["card"] if rank else COLOURS["ink"],
        label=f"P = {exact(level)}",
        zorder=4,
    )


def _end(value: float | None, plane: Plane, edge: float) -> float:
    return edge if value is None else plane.x(value)


def _other_line(axes: Axes, line: Part, rows: Sequence[Part], plane: Plane, rank: int) -> None:
    known = [row for row in rows if row["boundary"] is not None]
    colour, markers, dashes = _LINES[line["what"]]
    axes.plot(
        [plane.x(row["boundary"]) for row in known],
        [plane.y(row["y"]) for row in known],
        color=COLOURS[colour],
        linestyle=dashes,
        linewidth=1.5,
        marker=markers[rank % len(markers)],
        markersize=5.6,
        markeredgewidth=0.8,
        markeredgecolor=COLOURS["card"],
        label=shorten(line_name(line), 32),
    )


def _ticks(axes: Axes, found: Part, values: Sequence[Any], plane: Plane) -> None:
    if is_log(found["x"]):
        svg.log_ticks(axes, "x", most=6)
    else:
        plain_ticks(axes, "x")
    named = found["y"]["scale"] == "choice"
    shown = [shorten(str(v), 19) if named else exact(v) for v in values]
    step = 1 if named else math.ceil(len(values) / 12)
    axes.set_yticks([plane.y(v) for v in values[::step]], shown[::step])


def _key(figure: Figure, height: int) -> None:
    """Draw what the shades mean, along the lower edge."""
    axes = svg.axes_at(figure, (150, height - 34, 120, 10), height)
    axes.grid(visible=False)
    axes.set(xlim=(-0.5, SHADES + 0.5), ylim=(0, 1), yticks=[])
    axes.set_xticks([0, SHADES / 2, SHADES], ["0", "½", "1"])
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    for shade in range(SHADES + 1):
        box = (shade - 0.5, shade + 0.5, 1.0, 0.0)
        svg.rectangles(axes, [box], COLOURS["data"], "_", opacity=_opacity(shade))
    figure.text(0.36, 1 - (height - 26) / height, "share that holds", ha="right", fontsize=10)
