"""Cells of a measure as lines of a figure: which belong together, where they lie, how they look."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from reports.html.figures import svg
from reports.html.figures.svg import COLOURS
from reports.typography import number, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LINES = 6
"""Lines drawn at most; the caption says when some were left out."""

MOST_TICKS = 8
"""Abscissae that are all named below their axis, at most."""

MOST_BELOW = 54
"""Characters of an axis' name in a line: it stands below the axes, which are narrower."""

_LOOKS = (
    ("data", "o", "full", "-"),
    ("claim", "s", "none", (0, (6, 2))),
    ("ink", "^", "full", (0, (2, 1.5))),
    ("data", "D", "none", (0, (6, 2, 1.2, 2))),
    ("claim", "v", "full", (0, (1, 1.2))),
    ("ink", "X", "full", (0, (9, 3))),
)


@dataclass(frozen=True)
class Line:
    """Cells of one line, by rising abscissa, and how its marks and line are drawn."""

    value: Any
    cells: tuple[Mapping[str, Any], ...]
    rank: int

    @property
    def colour(self) -> str:
        """Colour of line and marks; no two lines share marker and colour."""
        return COLOURS[_LOOKS[self.rank][0]]

    @property
    def marks(self) -> dict[str, Any]:
        """Style of the marks."""
        _, marker, fill, _ = _LOOKS[self.rank]
        face = self.colour if fill == "full" else COLOURS["card"]
        return {"marker": marker, "color": self.colour, "mfc": face, "ms": 5.6, "mew": 1.3}

    @property
    def joined(self) -> dict[str, Any]:
        """Style of the line that joins the marks."""
        return {"color": self.colour, "linestyle": _LOOKS[self.rank][3], "linewidth": 1.1}


def lines_of(cells: Sequence[Mapping[str, Any]]) -> list[Line]:
    """Return the lines of a figure against the abscissa; cells without abscissa are on none."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for cell in cells:
        if cell.get("x") is not None:
            found.setdefault(str(cell.get("line")), []).append(cell)
    groups = list(found.values())
    if all(isinstance(group[0].get("line"), int | float) for group in groups):
        groups.sort(key=lambda group: group[0]["line"])
    groups = groups[:MOST_LINES]
    return [
        Line(group[0].get("line"), tuple(sorted(group, key=lambda cell: cell["x"])), rank)
        for rank, group in enumerate(groups)
    ]


def line_name(by: str, value: Any) -> str:
    """Return what a line is called in legends and tables."""
    return f"{by} = {number(value)}" if by else number(value)


def is_logarithmic(values: Sequence[float]) -> bool:
    """Whether values are best seen on a log axis: positive, over more than 1.5 decades."""
    return bool(values) and min(values) > 0 and max(values) > 10**1.5 * min(values)


def scale_of(values: Sequence[float]) -> Callable[[float], float]:
    """Return how a value is placed on its axis: as it is, or its logarithm."""
    return math.log10 if is_logarithmic(values) else float


def set_axis(axes: Axes, axis: str, values: Sequence[float], *, most: int = 5) -> None:
    """Set limits and ticks of an axis that carries `values`, placed by `scale_of`."""
    place = scale_of(values)
    placed = [place(value) for value in values]
    least = 0.1 if place is math.log10 else 0.02 * max(map(abs, placed)) or 1.0
    svg.pad(axes, axis, placed, least=least)
    if place is math.log10:
        svg.log_ticks(axes, axis, most=most)
        return
    plain_ticks(axes, axis, most=most)


def set_abscissa(axes: Axes, values: Sequence[float]) -> None:
    """Set limits and ticks of the horizontal axis: ticks at the cells themselves where these are
    few and not too close together to be read, else at round values."""
    set_axis(axes, "x", values, most=6)
    place, where = scale_of(values), sorted(set(values))
    placed = [place(value) for value in where]
    low, high = axes.get_xlim()
    gaps = [after - before for before, after in pairwise(placed)]
    if 1 < len(where) <= MOST_TICKS and min(gaps) > 0.09 * (high - low):
        axes.set_xticks(placed, [number(value) for value in where])


def plain_ticks(axes: Axes, axis: str, *, most: int = 5) -> None:
    """Put at most about `most` round ticks on a linear axis, written as people write numbers."""
    from matplotlib.ticker import MaxNLocator

    low, high = getattr(axes, f"get_{axis}lim")()
    low, high = min(low, high), max(low, high)
    ticks = [t for t in MaxNLocator(most).tick_values(low, high) if low <= t <= high]
    getattr(axes, f"set_{axis}ticks")(ticks, [number(float(f"{tick:.9g}")) for tick in ticks])


def top_of(lines: Sequence[Line], by: str, heading: str) -> int:
    """Return how many pixels heading, note and legend need above the axes."""
    rows = -(-len(lines) // legend_columns(lines, by))
    return 34 + 16 * rows + 14 * heading.count("\n")


def legend_columns(lines: Sequence[Line], by: str) -> int:
    """Return in how many columns the names of lines fit beside a note."""
    longest = max(len(line_name(by, line.value)) for line in lines)
    return min(len(lines), 4) if longest <= 6 else 3 if longest <= 8 else 2


def name_of_abscissa(measure: Mapping[str, Any]) -> str:
    """Return the name of the horizontal axis with its unit, in two lines where one is too short."""
    text = measure["abscissa"] or "abscissa"
    named = with_unit(text, 2 * svg.LONGEST_HEADING)
    if len(named) <= MOST_BELOW:
        return named
    said, bracket, unit = named.rpartition(" (")
    return f"{shorten(said, MOST_BELOW)}\n{bracket.strip()}{unit}"


def dodge(axes: Axes, lines: int, rank: int) -> float:
    """Return by how much a line is moved sideways, in units of the axis, so that bars of several
    lines at one abscissa stand beside one another."""
    low, high = axes.get_xlim()
    return (rank - (lines - 1) / 2) * 0.014 * (high - low)


def with_unit(text: str, most: int) -> str:
    """Return an axis label that ends in its unit: dimensionless unless it names one itself."""
    if text.rstrip().endswith(")") and "(in " in text:
        return shorten(text, most)
    unit = " (dimensionless)"
    return text if text.endswith(unit) else f"{shorten(text, most - len(unit))}{unit}"
