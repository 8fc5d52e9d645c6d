"""The figure of docs/benchmarks.md: cost of a trial against n, and against d."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.tables import Table
from benchmarks.timing import Spread
from reports.html.figures import svg
from reports.html.figures.svg import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Points = Sequence[tuple[float, Spread]]

_OURS = {"marker": "o", "markersize": 4.2, "linewidth": 1.4}
_FLOOR = {"linestyle": svg.DOTS, "linewidth": 1.4}
_OTHERWISE = {"marker": "s", "markersize": 4.0, "linewidth": 1.1, "color": COLOURS["claim"]}

LOOKS: Mapping[str, Mapping[str, Any]] = {
    "Wishart": {**_OURS, "color": COLOURS["data"]},
    "Bartlett + SYRK": {**_FLOOR, "color": COLOURS["data"]},
    "X sampled": {**_OURS, "color": COLOURS["ink"]},
    "sampling + SYRK": {**_FLOOR, "color": COLOURS["ink"]},
    "PyTorch + CVXPY": _OTHERWISE,
    "JAX": {**_OTHERWISE, "linestyle": (0, (5, 3)), "markerfacecolor": "white"},
}
"""How every curve is drawn, in the order of the legend."""


def against_examples(tables: Iterable[Table]) -> dict[str, Points]:
    """Return the curves of milliseconds a trial over n, each at its best batch size."""
    known = {table.name: table for table in tables}
    wishart, sampled = (known[name].rows for name in ("wishart", "sampled"))
    curves = {
        "Wishart": _best(wishart, "milliseconds"),
        "Bartlett + SYRK": _best(wishart, "floor"),
        "X sampled": _best(sampled, "milliseconds"),
        "sampling + SYRK": _best(sampled, "floor"),
    }
    for row in known["otherwise"].rows:
        curves[row["way"]] = [*curves.get(row["way"], []), (row["n"], row["theirs"])]
    return curves


def against_dimension(tables: Iterable[Table]) -> dict[str, Points]:
    """Return the curves of milliseconds a trial over d, at the n of the table "dimension"."""
    known = {table.name: table for table in tables}
    rows = known["dimension"].rows
    curves: dict[str, Points] = {
        "Wishart": [(row["d"], row["wishart"]) for row in rows],
        "X sampled": [(row["d"], row["sampled"]) for row in rows if "sampled" in row],
    }
    for row in known["otherwise"].rows:
        if row["n"] == rows[0]["n"]:
            curves[row["way"]] = [(row["d"], row["theirs"])]
    return curves


def write(tables: Sequence[Table], path: Path) -> None:
    """Draw both panels as an SVG file that needs no fonts."""
    n = next(table for table in tables if table.name == "dimension").rows[0]["n"]
    height = 550
    panels = (
        (
            against_examples(tables),
            62,
            230,
            "n, examples",
            "ms a trial, d = 100 n where X is drawn",
        ),
        (against_dimension(tables), 358, 150, "d, dimension", f"ms a trial, n = {n}"),
    )
    with svg.drawing(height) as figure:
        from matplotlib import rcParams

        rcParams["svg.fonttype"] = "path"
        for curves, top, high, abscissa, title in panels:
            axes = svg.axes_at(figure, (58, top, 330, high), height)
            _draw(axes, curves)
            svg.heading(axes, title)
            axes.set_xlabel(abscissa)
            if top == panels[0][1]:
                svg.legend(figure, axes, columns=3)
        figure.savefig(path, format="svg", facecolor=COLOURS["card"], metadata={"Date": None})


def _draw(axes: Axes, curves: Mapping[str, Points]) -> None:
    """Draw curves on logarithmic axes, the spread of every point as a vertical bar."""
    places: list[float] = []
    for name, looks in LOOKS.items():
        points = curves.get(name, ())
        if not points:
            continue
        places += [math.log10(x) for x, _ in points]
        x = [math.log10(x) for x, _ in points]
        y = [math.log10(spread.median) for _, spread in points]
        ends = [
            ((at, math.log10(spread.low)), (at, math.log10(spread.high)))
            for at, (_, spread) in zip(x, points, strict=True)
        ]
        axes.plot(x, y, label=name, **looks)
        svg.segments(axes, ends, color=looks["color"], linewidth=0.9)
    svg.pad(axes, "x", places, least=0.2)
    svg.pad(axes, "y", axes.dataLim.intervaly, least=0.35)
    svg.log_ticks(axes, "x", most=7)
    svg.log_ticks(axes, "y", most=7)


def _best(rows: Iterable[Mapping[str, Any]], key: str) -> Points:
    """Return (n, the spread of least median) for every n."""
    found: dict[int, Spread] = {}
    for row in rows:
        before = found.get(row["n"])
        if before is None or row[key].median < before.median:
            found[row["n"]] = row[key]
    return sorted(found.items())
