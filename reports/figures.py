"""Figures of a report, as SVG: pure functions of parts of report.json.

Every figure is a string for use inside HTML: without size (its viewBox scales), with text as text
in the page's font, ids that begin with `name`, `label` as its accessible name, and colours as CSS
variables (`--fig-ink`, …) with defaults for light paper. Marks differ in shape and line style, so
that nothing is told by colour alone. The same input gives the same bytes.
"""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

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

MOST_STEPS, MOST_EXAMPLES, MOST_CELLS = 300, 240, 60
"""What a figure draws at most; captions say when something was left out."""

_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "relu-verify",
    "text.parse_math": False,
    "font.size": 11.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "axes.grid": True,
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
_DOTS, _DASHES = (0, (1, 1.6)), (0, (5, 3))
_CLAIMED = {"color": COLOURS["claim"], "linewidth": 1.5, "linestyle": _DASHES}
_FITTED = {"color": COLOURS["fit"], "linewidth": 3.0, "solid_capstyle": "butt"}
_MEANS = {
    "fmt": "o",
    "markersize": 4.2,
    "color": COLOURS["ink"],
    "elinewidth": 1.1,
    "capsize": 2.2,
    "zorder": 3,
}
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_FIRST = ("n", "m", "d", "aspect", "c")
_MARKERS = {
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


def number(value: Any, digits: int = 4) -> str:
    """Return a number as people write it: 0.9556, 20 000, 1.5×10⁻⁷, 10¹²; "—" for none."""
    if value is None:
        return "—"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    try:
        mantissa, _, power = f"{value:.{digits - 1}e}".partition("e")
    except OverflowError:
        return "beyond 10³⁰⁸"
    if not power:
        return {"inf": "∞", "-inf": "−∞"}.get(mantissa, "—")
    if value != 0 and not -3 <= int(power) < 6:
        tail = f"10{str(int(power)).translate(_SUPERSCRIPT)}"
        mantissa = _without_zeros(mantissa)
        return {"1": tail, "−1": f"−{tail}"}.get(mantissa, f"{mantissa}×{tail}")
    decimals = 0 if isinstance(value, int) else max(digits - 1 - int(power), 0)
    text = _without_zeros(f"{value + 0:.{decimals}f}")
    long = "." not in text and len(text.lstrip("−")) > 4
    return f"{text[:-3]}\N{NARROW NO-BREAK SPACE}{text[-3:]}" if long else text


def _without_zeros(text: str) -> str:
    """Return decimals without zeros at their end, with a true minus sign."""
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.replace("-", "−")


def point_text(point: Mapping[str, Any], without: Sequence[str] = ()) -> str:
    """Return a point as "n = 20, d = 10 000, c = 0.5", sizes first."""
    names = sorted(point, key=lambda k: (_FIRST.index(k) if k in _FIRST else len(_FIRST), k))
    shown = [f"{name} = {number(point[name])}" for name in names if name not in without]
    return ", ".join(shown)


def common_coordinates(points: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the coordinates that all points have with the same value."""
    if not points:
        return {}
    first, *others = points
    return {k: v for k, v in first.items() if all(k in p and p[k] == v for p in others)}


def scaling_is_drawable(slope: Mapping[str, Any]) -> bool:
    """Whether a sweep has at least two points to draw."""
    return len(_sweep_points(slope)) >= 2


def scaling_law(slope: Mapping[str, Any], *, name: str, label: str) -> str:
    """Draw one sweep of a rate: geometric mean ± spread on log–log axes, with band, fitted and
    claimed slope; below, the means over the claimed law, where a wrong slope shows as a tilt."""
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
    with _drawing(height) as figure:
        above = _axes(figure, (58, 50, 330, 194), height)
        below = _axes(figure, (58, 278, 330, 66), height)
        _draw_band(above, slope)
        if slope.get("slope") is not None:
            fitted = law(slope["slope"], ends)
            tilt = [a - b for a, b in zip(fitted, law(claimed, ends), strict=True)]
            above.plot(ends, fitted, label="fitted", **_FITTED)
            below.plot(ends, tilt, **_FITTED)
        above.plot(ends, law(claimed, ends), label="claimed", **_CLAIMED)
        above.errorbar(x, y, spread, label="mean ± spread", **_MEANS)
        below.plot(ends, [0.0, 0.0], **_CLAIMED)
        below.errorbar(x, ratio, spread, **_MEANS)
        extremes = [r + s * side for r, s in zip(ratio, spread, strict=True) for side in (-1, 1)]
        _pad(above, "y", above.dataLim.intervaly, least=0.35)
        _pad(below, "y", [*extremes, *tilt, 0.0], least=0.008)
        for axes in (above, below):
            _pad(axes, "x", ends, least=0.1)
            _log_ticks(axes, "x", most=5)
        _log_ticks(above, "y", most=5)
        _log_ticks(below, "y", most=4)
        above.tick_params(labelbottom=False)
        _heading(above, f"{slope.get('quantity') or 'quantity'}, geometric mean (dimensionless)")
        _heading(below, "mean ÷ claimed law (dimensionless)")
        below.set_xlabel(f"{_shorten(_abscissa_name(slope), 44)} (dimensionless)")
        _legend(figure, above, columns=4)
        return _svg(figure, name, label)


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
    with _drawing(height) as figure:
        axes = _axes(figure, (22, 36, 364, body), height)
        axes.set(xlim=(left, right), ylim=(len(shown), 0), yticks=[])
        axes.spines["left"].set_visible(False)
        axes.axvline(probability, **_CLAIMED)
        for row, (rank, cell) in enumerate(shown):
            text = point_text(cell["point"], without=tuple(shared)) or point_text(cell["point"])
            axes.text(
                left,
                row + 0.32,
                f"{rank}\N{EN SPACE}{_shorten(text, 62)}",
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
        return _svg(figure, name, label)


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
    with _drawing(height) as figure:
        axes = _axes(figure, (46, 46, 342, pitch * len(rows)), height)
        axes.set(xlim=(-0.5, steps - 0.5), ylim=(len(rows), 0), yticks=[])
        axes.grid(visible=False)
        axes.spines["left"].set_visible(False)
        _rectangles(axes, runs[False], COLOURS["inactive"], "inactive")
        _rectangles(axes, runs[True], COLOURS["active"], "active")
        if 0 < positives < len(rows):
            axes.axhline(positives - gap / 2, color=COLOURS["claim"], linewidth=1.4)
        if steps > 1:
            axes.axvline(0.5 - apart / 2, color=COLOURS["claim"], linewidth=1.1, linestyle=_DOTS)
            _beside(axes, "from step 1", (0.5, 0), (3, 4), color=COLOURS["claim"], fontsize=10)
        zero = any(labels[i] == 0 for i in order)
        for text, low, high in (
            ("y > 0", 0, positives),
            ("y ≤ 0" if zero else "y < 0", positives, len(rows)),
        ):
            if high > low:
                _beside(axes, text, (-0.5, (low + high) / 2), (-7, 0), ha="right", va="center")
        _step_ticks(axes)
        axes.set_xlabel("step of gradient descent (number of steps)")
        figure.text(4 / WIDTH, 1 - 14 / height, "examples, by sign then size of label")
        _legend(figure, axes, columns=2, right=True)
        return _svg(figure, name, label)


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


def _draw_band(axes: Axes, slope: Mapping[str, Any]) -> None:
    band = _band(slope)
    if band:
        where, low, high = ([math.log10(entry[side]) for entry in band] for side in range(3))
        axes.fill_between(
            where, low, high, color=COLOURS["band"], linewidth=0, label="claim's band"
        )
        for edge in (low, high):
            axes.plot(where, edge, color=COLOURS["data"], linewidth=0.7, linestyle=_DOTS)


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
    style = _MARKERS.get(cell["verdict"], _MARKERS["undecided"])
    axes.plot([low], [y], color=ink, ms=7.5, markerfacecoloralt=COLOURS["card"], **style)


def _runs(states: Sequence[bool], *, single: bool) -> list[tuple[int, int, bool]]:
    """Return (start, end, state) of runs of equal states; of every step if `single`."""
    cuts = [0]
    cuts += [t for t in range(1, len(states)) if single or states[t] != states[t - 1]]
    return [(a, b, states[a]) for a, b in zip(cuts, [*cuts[1:], len(states)], strict=True)]


def _rectangles(
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


def _heading(axes: Axes, text: str) -> None:
    """Name the vertical axis horizontally, above its upper end: readable on a narrow screen."""
    axes.annotate(
        _shorten(text, 62),
        (0, 1),
        (-52, 7),
        xycoords="axes fraction",
        textcoords="offset points",
        color=COLOURS["ink"],
    )


def _legend(figure: Figure, axes: Axes, *, columns: int, right: bool = False) -> None:
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


def _pad(axes: Axes, axis: str, values: Sequence[float], *, least: float) -> None:
    """Set limits 5% beyond `values`, never closer together than `least`."""
    low, high = min(values), max(values)
    extra = max(0.05 * (high - low), (least - (high - low)) / 2)
    getattr(axes, f"set_{axis}lim")(low - extra, high + extra)


def _log_ticks(axes: Axes, axis: str, *, most: int) -> None:
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


def _probability_ticks(axes: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    low, high = axes.get_xlim()
    ticks = [v for v in MaxNLocator(5).tick_values(low, high) if max(low, 0) <= v <= 1 + 1e-9]
    axes.set_xticks(ticks, [number(float(f"{tick:.9g}")) for tick in ticks])


def _step_ticks(axes: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))


def _beside(
    axes: Axes, text: str, at: tuple[float, float], offset: tuple[float, float], **style: Any
) -> None:
    """Write text at an offset in pixels from a point of the data."""
    axes.annotate(text, at, offset, textcoords="offset points", annotation_clip=False, **style)


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _axes(figure: Figure, box: tuple[float, float, float, float], height: float) -> Axes:
    """Add axes at (left, top, width, height) in pixels."""
    left, top, wide, high = box
    return figure.add_axes((left / WIDTH, 1 - (top + high) / height, wide / WIDTH, high / height))


@contextmanager
def _drawing(height: float) -> Iterator[Figure]:
    """Give an empty figure of WIDTH × height pixels, in this module's style inside the block."""
    import matplotlib.style
    from matplotlib.figure import Figure

    with matplotlib.style.context(["default", _STYLE], after_reset=True):
        yield Figure(figsize=(WIDTH / 72, height / 72))


def _svg(figure: Figure, name: str, label: str) -> str:
    """Return a figure as SVG for a page."""
    written = io.StringIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(written, format="svg", metadata=nothing)
    return _for_html(written.getvalue(), name, label)


_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_DECIMALS = re.compile(r"(\.\d\d)\d+")
_PALETTE = {colour: f"var(--fig-{name}, {colour})" for name, colour in COLOURS.items()}


def _for_html(svg: str, name: str, label: str) -> str:
    """Return matplotlib's SVG without what a page has to decide: size, fonts, global styles."""
    root = ElementTree.fromstring(svg)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.rpartition("}")[2] in ("metadata", "style"):
                parent.remove(child)
    used = set()
    for element in root.iter():
        for key, value in element.attrib.items():
            used.update(_REFERENCE.findall(value))
            if key.endswith("href"):
                used.add(value.removeprefix("#"))
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        element.attrib = {
            key.rpartition("}")[2]: _attribute(key.rpartition("}")[2], value, name)
            for key, value in element.attrib.items()
            if not (key == "id" and value not in used)
        }
        element.tail = None
        if element.tag != "text":
            element.text = None
        if element.get("transform", "").startswith(("rotate(-0 ", "rotate(0 ")):
            del element.attrib["transform"]
    box = root.get("viewBox", "")
    root.attrib = {
        "xmlns": "http://www.w3.org/2000/svg",
        "viewBox": box,
        "role": "img",
        "aria-label": label,
        "stroke-linejoin": "round",
    }
    return ElementTree.tostring(root, encoding="unicode")


def _attribute(key: str, value: str, name: str) -> str:
    if key == "id":
        return f"{name}-{value}"
    if key == "href":
        return f"#{name}-{value.removeprefix('#')}"
    if key == "style":
        kept = [part for part in value.split("; ") if not part.startswith("font-family")]
        value = "; ".join(kept)
        for colour, variable in _PALETTE.items():
            value = value.replace(colour, variable)
    if key in ("d", "x", "y", "transform"):
        value = _DECIMALS.sub(r"\1", value.replace("\n", ""))
    return _REFERENCE.sub(rf"url(#{name}-\1)", value)
