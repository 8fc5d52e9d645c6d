"""From a matplotlib figure to SVG for use inside HTML.

The string has no size (its viewBox scales), text as text in the page's font, ids that begin with
`name`, `label` as its accessible name, and colours as CSS variables (`--fig-ink`, …) with defaults
for light paper. The same figure gives the same bytes, whatever the user's settings. What figures
have in common is here too: palette, styles, axes in pixels, ticks and legends.
"""

from __future__ import annotations

import io
import math
import re
import textwrap
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

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
DOTS, _DASHES = (0, (1, 1.6)), (0, (5, 3))
CLAIMED = {"color": COLOURS["claim"], "linewidth": 1.5, "linestyle": _DASHES}
FITTED = {"color": COLOURS["fit"], "linewidth": 3.0, "solid_capstyle": "butt"}
MEANS = {
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
    return _for_html(written.getvalue(), name, label)


_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_LINK = re.compile(r"^#(.+)")
_COMMANDS = re.compile(r"([A-Za-z])([^A-Za-z]*)")
_AROUND_COMMANDS = re.compile(r"\s*([A-Za-z])\s*")
_DECIMALS = re.compile(r"(\.\d\d)\d+")
_PALETTE = {colour: f"var(--fig-{name}, {colour})" for name, colour in COLOURS.items()}


def _for_html(svg: str, name: str, label: str) -> str:
    """Return matplotlib's SVG without what a page has to decide: size, fonts, global styles."""
    root = ElementTree.fromstring(svg)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.rpartition("}")[2] in ("metadata", "style") or _is_invisible(child):
                parent.remove(child)
    ids: dict[str, str] = {}
    for element in root.iter():
        for key, value in element.attrib.items():
            for used in _REFERENCE.findall(value) + _LINK.findall(value) * key.endswith("href"):
                ids.setdefault(used, f"{name}-{len(ids)}")
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        element.attrib = {
            key.rpartition("}")[2]: _attribute(key.rpartition("}")[2], value, ids)
            for key, value in element.attrib.items()
            if not (key == "id" and value not in ids)
        }
        element.tail = None
        if element.tag != "text":
            element.text = None
        if element.get("transform", "").startswith(("rotate(-0 ", "rotate(0 ")):
            del element.attrib["transform"]
    _unwrap(root)
    _join_grid(root)
    box = root.get("viewBox", "")
    root.attrib = {
        "xmlns": "http://www.w3.org/2000/svg",
        "viewBox": box,
        "role": "img",
        "aria-label": label,
        "stroke-linejoin": "round",
    }
    return ElementTree.tostring(root, encoding="unicode")


def _is_invisible(element: ElementTree.Element) -> bool:
    """Whether an element is a background without ink."""
    return element.get("style") == "fill: none"


def _unwrap(parent: ElementTree.Element) -> None:
    """Remove groups that say nothing, and keep what they hold."""
    kept: list[ElementTree.Element] = []
    for child in parent:
        _unwrap(child)
        plain = child.tag in ("g", "defs") and not child.attrib
        empty = child.tag == "path" and _only_moves(child)
        if child.tag == "g" and plain:
            kept += list(child)
        elif not (plain and not len(child)) and not empty:
            kept.append(child)
    parent[:] = kept


def _join_grid(root: ElementTree.Element) -> None:
    """Make one path of all the grid lines of one pair of axes: they lie below everything else."""
    grids: dict[str, ElementTree.Element] = {}
    for element in list(root):
        if f"stroke:{_PALETTE[COLOURS['grid']]}" in element.get("style", ""):
            first = grids.setdefault(element.get("clip-path", ""), element)
            if first is not element:
                first.set("d", first.get("d", "") + element.get("d", ""))
                root.remove(element)


def _only_moves(path: ElementTree.Element) -> bool:
    """Whether a path has no ink: what matplotlib writes beside a single mark."""
    return set(path.get("d", "")) <= set("M .-0123456789")


def _attribute(key: str, value: str, ids: Mapping[str, str]) -> str:
    """Return an attribute as short as it can be, with ids and colours as a page needs them."""
    if key == "id":
        return ids[value]
    if key == "href":
        return _LINK.sub(lambda found: f"#{ids[found[1]]}", value)
    if key == "style":
        kept = [part for part in value.split("; ") if not part.startswith("font-family")]
        value = ";".join(part.replace(": ", ":", 1) for part in kept)
        for colour, variable in _PALETTE.items():
            value = value.replace(colour, variable)
    if key in ("d", "x", "y", "transform"):
        value = _DECIMALS.sub(r"\1", value.replace("\n", ""))
    if key == "d":
        value = shorter_path(_AROUND_COMMANDS.sub(r"\1", value))
    return _REFERENCE.sub(lambda found: f"url(#{ids[found[1]]})", value)


def shorter_path(path: str) -> str:
    """Return a path with H and V for level and upright lines, if it is made of straight lines.

    No space stands around its commands.
    """
    parts = _COMMANDS.findall(path)
    if any(command not in "MLz" for command, _ in parts):
        return path
    shortened, here = [], ("", "")
    for command, numbers in parts:
        if command == "z":
            shortened.append("z")
            here = ("", "")
            continue
        x, y = (text.rstrip("0").rstrip(".") if "." in text else text for text in numbers.split())
        if command == "L" and x == here[0]:
            shortened.append(f"V{y}")
        elif command == "L" and y == here[1]:
            shortened.append(f"H{x}")
        else:
            shortened.append(f"{command}{x} {y}")
        here = (x, y)
    return "".join(shortened)


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
    style = {"ha": "right", "fontsize": 10, "color": COLOURS["soft"]}
    figure.text(1 - 14 / WIDTH, 1 - 15 / height, text, **style)


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
    axes: Axes, boxes: Sequence[tuple[float, float, float, float]], colour: str, label: str
) -> None:
    """Draw boxes (left, right, top, bottom) as one path."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    corners, codes = [(0.0, 0.0)], [Path.MOVETO]
    for left, right, top, bottom in boxes:
        corners += [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
        codes += [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
    axes.add_patch(PathPatch(Path(corners, codes), facecolor=colour, lw=0, label=label))
