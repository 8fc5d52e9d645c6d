"""From a matplotlib figure to SVG for use inside HTML.

The string has no size (its viewBox scales), text as text in the page's font, ids that begin with
`name`, `label` as its accessible name, and colours as CSS variables (`--fig-ink`, …) with defaults
for light paper. The same figure gives the same bytes, whatever the user's settings. What figures
have in common is here too: palette, styles, axes in pixels, ticks and legends.
"""

from __future__ import annotations

import io
import math
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypedDict

from reports.html.figures.compact_svg import for_html
from reports.typography import number, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {
    "ink": "#1c1f24",
    "soft": "#626a75",
    "grid": "#e3e1db",
    "data": "#1f4f7a",
    "band": "#d3deea",
    "claim": "#a8471c",
    "active": "#1d4c78",
    "inactive": "#e4e2db",
    "fit": "#8fb0d0",
    "card": "#fdfdfc",
}
"""Colours by CSS variable: --fig-ink and so on."""

WIDTH = 400
"""Width of a viewBox: the size in pixels at which text is 11 pixels high."""

LONGEST_HEADING = 62
"""Characters that fit into the width."""

_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "relu-verify",
    "text.parse_math": False,
    "font.size": 11.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "axes.grid": True,
    "xtick.bottom": False,
    "ytick.left": False,
    "axes.axisbelow": True,
    "grid.linewidth": 0.7,
    "grid.color": COLOURS["grid"],
    "axes.edgecolor": COLOURS["soft"],
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "text.color": COLOURS["ink"],
    "axes.labelcolor": COLOURS["ink"],
    "xtick.color": COLOURS["soft"],
    "ytick.color": COLOURS["soft"],
    "xtick.labelcolor": COLOURS["ink"],
    "ytick.labelcolor": COLOURS["ink"],
}


class LineStyle(TypedDict, total=False):
    """What matplotlib is told of a line."""

    color: str
    linewidth: float
    linestyle: tuple[float, tuple[float, float]]
    solid_capstyle: str


class MeanStyle(TypedDict):
    """What matplotlib is told of marks with error bars."""

    fmt: str
    markersize: float
    color: str
    elinewidth: float
    capsize: float
    zorder: float


DOTS, _DASHES = (0, (1, 1.6)), (0, (5, 3))
CLAIMED: LineStyle = {"color": COLOURS["claim"], "linewidth": 1.5, "linestyle": _DASHES}
FITTED: LineStyle = {"color": COLOURS["fit"], "linewidth": 3.0, "solid_capstyle": "butt"}
MEANS: MeanStyle = {
    "fmt": "o",
    "markersize": 4.2,
    "color": COLOURS["ink"],
    "elinewidth": 1.1,
    "capsize": 2.2,
    "zorder": 3,
}
"""How lines and marks of the same meaning look in every figure."""


# A figure: where it begins, and what leaves this module.


@contextmanager
def drawing(height: float) -> Iterator[Figure]:
    """Give an empty figure of WIDTH × height pixels, in this module's style inside the block."""
    import matplotlib.style
    from matplotlib.figure import Figure

    with matplotlib.style.context(["default", _STYLE], after_reset=True):
        yield Figure(figsize=(WIDTH / 72, height / 72))


def for_page(figure: Figure, name: str, label: str) -> str:
    """Return a figure as SVG for a page."""
    written = io.StringIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(written, format="svg", metadata=nothing)
    return for_html(written.getvalue(), name, label, COLOURS)


# Parts that figures share.


def axes_at(figure: Figure, box: tuple[float, float, float, float], height: float) -> Axes:
    """Add axes at (left, top, width, height) in pixels."""
    left, top, wide, high = box
    return figure.add_axes((left / WIDTH, 1 - (top + high) / height, wide / WIDTH, high / height))


def heading(axes: Axes, text: str) -> None:
    """Name the vertical axis horizontally, above its upper end: readable on a narrow screen.

    A text of several lines, from `wrapped`, grows upwards.
    """
    axes.annotate(
        "\n".join(shorten(line, LONGEST_HEADING) for line in text.split("\n")),
        (0, 1),
        (-52, 7),
        xycoords="axes fraction",
        textcoords="offset points",
        color=COLOURS["ink"],
    )


def wrapped(text: str, unit: str) -> str:
    """Return the name of an axis with its unit, in two lines where one is too short."""
    whole = f"{text} ({unit})"
    if len(whole) <= LONGEST_HEADING:
        return whole
    lines = textwrap.wrap(text, LONGEST_HEADING, max_lines=2, placeholder="…")
    if len(lines) == 1:
        return f"{lines[0]}\n({unit})"
    room = LONGEST_HEADING - len(unit) - 3
    return f"{lines[0]}\n{shorten(lines[1], room)} ({unit})"


def legend(figure: Figure, axes: Axes, *, columns: int, right: bool = False) -> None:
    """Put what `axes` names into a legend along the upper edge."""
    figure.legend(
        *axes.get_legend_handles_labels(),
        loc="upper right" if right else "upper left",
        bbox_to_anchor=(0.985 if right else -0.005, 1.0),
        ncols=columns,
        frameon=False,
        fontsize=10,
        handlelength=1.1 if right else 1.8,
        handletextpad=0.5,
        columnspacing=1.1,
        borderaxespad=0.3,
    )


def note(figure: Figure, text: str) -> None:
    """Say at the upper right how something is drawn that the legend does not name."""
    height = figure.get_figheight() * 72
    where = 1 - 14 / WIDTH, 1 - 15 / height
    figure.text(*where, text, ha="right", fontsize=10, color=COLOURS["soft"])


def pad(axes: Axes, axis: str, values: Sequence[float], *, least: float) -> None:
    """Set limits 5% beyond `values`, never closer together than `least`."""
    low, high = min(values), max(values)
    extra = max(0.05 * (high - low), (least - (high - low)) / 2)
    getattr(axes, f"set_{axis}lim")(low - extra, high + extra)


def log_ticks(axes: Axes, axis: str, *, most: int) -> None:
    """Put at most `most` round ticks on an axis that carries log10 of a quantity."""
    low, high = getattr(axes, f"get_{axis}lim")()
    whole = range(math.ceil(low), math.floor(high) + 1)
    found: list[float] = []
    for mantissas in ((1, 1.5, 2, 3, 4, 5, 6, 8), (1, 2, 5), (1, 3), (1,)):
        decades = range(math.floor(low), math.ceil(high) + 1) if high - low < 40 else whole
        every = [k + math.log10(m) for k in decades for m in mantissas]
        found = [tick for tick in every if low <= tick <= high]
        if len(found) <= most:
            break
    if len(found) > most:
        found = [float(k) for k in whole if k % math.ceil(len(whole) / most) == 0]
    if len(found) < 2:
        from matplotlib.ticker import MaxNLocator

        values = MaxNLocator(4).tick_values(10**low, 10**high)
        found = [math.log10(v) for v in values if v > 0 and low <= math.log10(v) <= high]
    texts = [number(float(f"{10**tick:.6g}")) for tick in found]
    getattr(axes, f"set_{axis}ticks")(found, texts)


def beside(
    axes: Axes, text: str, at: tuple[float, float], offset: tuple[float, float], **style: Any
) -> None:
    """Write text at an offset in pixels from a point of the data."""
    axes.annotate(text, at, offset, textcoords="offset points", annotation_clip=False, **style)


def segments(
    axes: Axes, ends: Sequence[tuple[tuple[float, float], tuple[float, float]]], **style: Any
) -> None:
    """Draw straight lines from point to point as one path: a figure of many stays small."""
    if ends:
        gap = (math.nan, math.nan)
        x, y = zip(*(point for pair in ends for point in (*pair, gap)), strict=True)
        axes.plot(x, y, **{"solid_capstyle": "butt", **style})


def rectangles(
    axes: Axes,
    boxes: Sequence[tuple[float, float, float, float]],
    colour: str,
    label: str,
    *,
    opacity: float = 1.0,
) -> None:
    """Draw boxes (left, right, top, bottom) as one path."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    corners, codes = [(0.0, 0.0)], [Path.MOVETO]
    for left, right, top, bottom in boxes:
        corners += [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
        codes += [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
    looks = {"facecolor": colour, "lw": 0, "alpha": None if opacity == 1 else opacity}
    axes.add_patch(PathPatch(Path(corners, codes), label=label, **looks))
