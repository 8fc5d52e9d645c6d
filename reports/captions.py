"""The figures of a page, numbered, each with a caption: what to see, then what is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from reports import figures
from reports.typography import (
    Part,
    brief,
    claimed_slope,
    common_coordinates,
    excludes_exponent,
    fact_name,
    interval,
    number,
    percent,
    point_text,
)


def captioned_figures(report: Part, theorems: Sequence[Part]) -> list[dict[str, Any]]:
    """Return the figures that a report has data for, in the order of the page.

    report, theorems: what was read, and what the page makes of it. Every claim of `theorems` gets
    the numbers of its figures, in its list "figures".
    """
    found: list[dict[str, Any]] = []

    def add(claim: Any, theorem: Part, draw: Any, caption: Sequence[str], label: str) -> None:
        rank = len(found) + 1
        svg = draw(name=f"figure-{rank}", label=f"{label} {caption[0]}")
        entry = {"number": rank, "anchor": f"figure-{rank}", "svg": svg, "caption": caption}
        found.append({**entry, "claim": claim, "theorem": theorem})
        if claim is not None:
            claim["figures"].append(rank)

    for theorem in theorems:
        for raster in report.get("rasters") or ():
            if raster.get("theorem") == theorem["address"] and figures.raster_is_drawable(raster):
                claim = next((c for c in _all(theorem) if c["claim"] == raster["kind"]), None)
                draw = partial(figures.pattern_raster, raster["pattern"], raster["labels"])
                caption = _pattern_raster(raster, claim)
                add(claim, theorem, draw, caption, "Activation pattern.")
        for claim in _all(theorem):
            for slope in claim["slopes"]:
                if figures.scaling_is_drawable(slope):
                    draw = partial(figures.scaling_law, slope)
                    add(claim, theorem, draw, _scaling_law(slope), "Log–log plot.")
            if claim["kind"] == "probable" and claim["cells"] and claim["probability"] is not None:
                draw = partial(figures.probability_bounds, claim["cells"], claim["probability"])
                caption = _probability_bounds(claim)
                add(claim, theorem, draw, caption, "Confidence bounds by cell.")
    return found


def _all(theorem: Part) -> list[Any]:
    return [*theorem["claims"], *theorem["controls"]]


# Captions: what to see, then what is drawn.


def _scaling_law(slope: Part) -> list[str]:
    """Caption one sweep of a rate."""
    if slope.get("slope") is None:
        seen = f"No slope was fitted; claimed is {claimed_slope(slope)}."
    else:
        seen = {
            "supported": "The means follow the claimed law: the whole interval of the slope, "
            "{found}, lies within {claimed}{although}.",
            "refuted": "The means do not follow the claimed law: the whole interval of the slope, "
            "{found}, lies outside {claimed}.",
        }.get(slope["verdict"], "The slope, {found}, does not settle the claimed {claimed}.")
        seen = seen.format(
            found=interval(slope),
            claimed=claimed_slope(slope),
            although=f", though it leaves out {number(slope['exponent'])} itself"
            * excludes_exponent(slope),
        )
    points = slope.get("points") or ()
    shared = common_coordinates(points)
    held = f", at {point_text(shared)}" if shared else ""
    has_band = any(slope.get("band_low") or ())
    drawn = (
        f"{len(points)} points of the sweep “{slope.get('sweep', '')}”{held}"
        f"{_drawn_names(slope)}. Bars: one standard deviation of the logarithm over trials. "
        + (
            "Shaded: the band coded with the claim; do not take its constants for the paper’s. "
            * has_band
        )
        + "Both lines pass through the centre of the means, since a slope says nothing about "
        "constants. Below, the means are divided by the claimed law: level dots follow it exactly, "
        "and a tilt is how far the slope is from the claimed exponent, which the tolerance may "
        "allow."
        + (
            f" The dot farthest from the fitted line is off by {number(slope.get('curvature'), 2)} "
            "in natural log (curvature), which no interval covers."
            * (slope.get("curvature") is not None)
        )
    )
    return [seen, drawn]


def _drawn_names(slope: Part) -> str:
    """Say what is drawn against what, as far as a report names it."""
    quantity, against = slope.get("quantity"), slope.get("against")
    if not quantity and not against:
        return ""
    told = f": {quantity or 'the quantity'}, as geometric mean over trials"
    return f"{told}, against {against}" if against else told


def _probability_bounds(claim: Part) -> list[str]:
    """Caption the bounds of a claim, cell by cell."""
    cells, claimed = claim["cells"], claim["probability"]
    above = sum((cell["lower_bound"] or 0.0) >= claimed for cell in cells)
    seen = (
        f"In {above} of {len(cells)} cells the lower confidence bound is at or above the claimed "
        f"{number(claimed)} (dashed): there the claim is supported."
    )
    shared = f" All cells have {claim['shared_point']}." if claim["shared_point"] else ""
    left_out = len(cells) - len(figures.cells_shown(cells))
    drawn = (
        "The mark is the lower bound, the line runs to the upper bound, and the small tick is the "
        f"observed frequency. {_marks_drawn(cells)} Each bound, upper or lower, has confidence "
        f"{percent(claim['confidence'])}."
        f"{shared}"
        + (f" The {left_out} cells with the highest bounds are left out." * bool(left_out))
    )
    return [seen, drawn]


def _marks_drawn(cells: Sequence[Part]) -> str:
    """Say what the marks mean that occur among some cells."""
    found = [word for word in figures.SHAPES if any(cell["verdict"] == word for cell in cells)]
    listed = ", ".join(f"{figures.SHAPES[word]} for {word}" for word in found)
    return f"Marks: {listed}."


def _pattern_raster(raster: Part, claim: Part | None) -> list[str]:
    """Caption the pattern of one draw: of `claim`'s worst, or of a draw of another kind."""
    pattern, labels = raster["pattern"], raster["labels"]
    positive = [label > 0 for label in labels]
    flips = [t for t in range(1, len(pattern)) if list(pattern[t]) != list(pattern[t - 1])]
    last = max(flips, default=0)
    if last > 1:
        dead = sum(not on for on, sign in zip(pattern[-1], positive, strict=True) if sign)
        seen = f"The pattern goes on changing after step 1, last at step {last}" + (
            f"; of positive label but inactive at the end: {dead}." if dead else "."
        )
    elif [bool(on) for on in pattern[-1]] == positive:
        seen = "From step 1 on the active examples are those of positive label; nothing changes."
    else:
        seen = "The pattern does not change after step 1, but it is not that of positive labels."
    which = {"typical": "A typical draw", "worst": "The worst draw in scope"}.get(raster["kind"])
    if which is None:
        name = claim["claim"] if claim else raster["kind"]
        which = f"The worst draw of {name}"
    point = raster.get("point") or {}
    facts = [
        f"{fact_name(name)} {brief(value)}"
        for name, value in (raster.get("caption_facts") or {}).items()
        if isinstance(value, int | float | str) and value not in point.values()
    ]
    told = f" Computed for it, by formulas of ours: {', '.join(facts)}." if facts else ""
    steps = len(pattern) - 1
    shown = f" The first {figures.MOST_STEPS} of {steps} steps are shown."
    drawn = (
        f"{which}{': ' * bool(point)}{point_text(point)}. Rows are examples, columns steps; dark "
        f"is active, that is, predicted positive.{told}" + shown * (steps > figures.MOST_STEPS)
    )
    return [seen, drawn]
