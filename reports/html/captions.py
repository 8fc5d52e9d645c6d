"""Captions of the figures that claims are judged by: what to see, then what is drawn."""

from __future__ import annotations

from collections.abc import Sequence

from reports.html import figures
from reports.typography import (
    Part,
    brief,
    capitalize_first,
    claimed_slope,
    common_coordinates,
    excludes_exponent,
    fact_name,
    interval,
    number,
    percent,
    point_text,
)


def scaling_law(slope: Part, like: int | None = None) -> list[str]:
    """Caption one sweep of a rate.

    like: number of a figure beside it that is drawn alike, so that how is not told again.
    """
    if slope.get("slope") is None:
        seen = f"No slope was fitted; claimed is {claimed_slope(slope)}."
    else:
        seen = {
            "supported": "The means follow the claimed law: {what}, {found}, lies within "
            "{claimed}{although}.",
            "refuted": "The means do not follow the claimed law: {what}, {found}, lies outside "
            "{claimed}.",
        }.get(slope["verdict"], "The slope, {found}, does not settle the claimed {claimed}.")
        seen = seen.format(
            what="the slope" if slope.get("copies") else "the whole interval of the slope",
            found=interval(slope),
            claimed=claimed_slope(slope),
            although=f", though it leaves out {number(slope['exponent'])} itself"
            * excludes_exponent(slope),
        )
    points = slope.get("points") or ()
    shared = common_coordinates(points)
    held = f", at {point_text(shared)}" if shared else ""
    has_band = any(slope.get("band_low") or ())
    how = (
        "Bars: one standard deviation of the logarithm over trials. "
        + (
            "Shaded: the band coded with the claim; do not take its constants for the paper’s. "
            * has_band
        )
        + "Both lines pass through the centre of the means, since a slope says nothing about "
        "constants. Below, the means are divided by the claimed law: level dots follow it exactly, "
        "and a tilt is how far the slope is from the claimed exponent, which the tolerance may "
        "allow."
    )
    drawn = (
        f"{len(points)} points of the sweep “{slope.get('sweep', '')}”{held}"
        f"{_drawn_names(slope)}. "
        + (f"Drawn as in Figure {like}." if like else how)
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


def probability_bounds(claim: Part) -> list[str]:
    """Caption the bounds of a claim, cell by cell."""
    cells, claimed = claim["cells"], claim["probability"]
    bounded = [cell for cell in cells if not cell.get("copies")]
    above = sum((cell["lower_bound"] or 0.0) >= claimed for cell in bounded)
    seen = (
        f"In {above} of {len(bounded)} cells the lower confidence bound is at or above the claimed "
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


def pattern_raster(raster: Part) -> list[str]:
    """Caption the patterns of one draw: typical, the worst in scope, or the worst of a control."""
    patterns, signs = raster["patterns"], raster["signs"]
    which = {
        "typical": "A typical draw",
        "worst": f"The worst draw, of the least margin in {raster.get('claim') or 'a claim'}",
    }.get(raster["kind"], f"The worst draw of {raster['kind']}")
    point = raster.get("point") or {}
    facts = [
        f"{fact_name(name)} {brief(value)}"
        for name, value in (raster.get("caption_facts") or {}).items()
        if isinstance(value, int | float | str) and value not in point.values()
    ]
    told = f" Computed for it by the theorem’s code: {', '.join(facts)}." if facts else ""
    steps = len(patterns[0]) - 1
    shown = f" The first {figures.MOST_STEPS} of {steps} steps are shown."
    chosen = ", the first" if raster["kind"] == "typical" else ", those that change latest"
    everyone = raster.get("neurons_in_all") or len(signs)
    drawn = (
        f"{which}{': ' * bool(point)}{point_text(point)}. Rows are examples, columns steps; dark "
        "is active, that is, predicted positive"
        + (" by the neuron" * (len(patterns) > 1))
        + "."
        + f" {len(patterns)} of its {everyone} neurons are shown{chosen}."
        * (everyone > len(patterns))
        + told
        + shown * (steps > figures.MOST_STEPS)
    )
    return [_seen_in_patterns(raster), drawn]


def _seen_in_patterns(raster: Part) -> str:
    """Say what to see in a raster: of later steps only what the run is certified to do."""
    patterns, certified = raster["patterns"], raster.get("certified_last_flip")
    steps, several = len(patterns[0]) - 1, len(patterns) > 1
    if certified is not None and certified > steps:
        goes_on = "Patterns go on" if several else "The pattern goes on"
        return (
            f"{goes_on} changing after the {number(steps)} steps shown, last at step "
            f"{number(certified)}."
        )
    what = _neurons(raster) if several else _one_neuron(raster)
    if certified is not None:
        return f"{capitalize_first(what)}."
    return f"In the first {number(steps)} steps {what}; what comes later is not certified."


def _last_flip(pattern: Sequence[Sequence[int]]) -> int:
    flips = [t for t in range(1, len(pattern)) if list(pattern[t]) != list(pattern[t - 1])]
    return max(flips, default=0)


def _one_neuron(raster: Part) -> str:
    """Say what to see in the pattern of a single neuron."""
    (pattern,), certified = raster["patterns"], raster.get("certified_last_flip") is not None
    positive = [label > 0 for label in raster["labels"]]
    last = _last_flip(pattern)
    if last > 1:
        dead = sum(not on for on, sign in zip(pattern[-1], positive, strict=True) if sign)
        when = "at the end" if certified else "then"
        return f"the pattern goes on changing after step 1, last at step {last}" + (
            f"; of positive label but inactive {when}: {dead}" * bool(dead)
        )
    if [bool(on) for on in pattern[-1]] != positive:
        return "the pattern does not change after step 1, but it is not that of positive labels"
    if certified:
        return "from step 1 on the active examples are those of positive label; nothing changes"
    return "the active examples are those of positive label from step 1 on"


def _neurons(raster: Part) -> str:
    """Say what to see in the patterns of several neurons, of which some may not be shown."""
    patterns, labels, signs = raster["patterns"], raster["labels"], raster["signs"]
    certified = raster.get("certified_last_flip")
    last = max(map(_last_flip, patterns))
    own = sum(
        [bool(on) for on in pattern[-1]] == [sign * label > 0 for label in labels]
        for pattern, sign in zip(patterns, signs, strict=True)
    )
    hidden = max(last, 1) < (certified or 0)
    when = "no pattern changes after step 1"
    if last > 1 or hidden:
        when = f"patterns go on changing, last at step {max(last, certified or 0)}"
    when += ", of neurons that are not shown" * hidden
    return (
        f"{when}; {'then' if certified is None else 'at the end'} {own} of {len(patterns)} neurons "
        "shown are active on just the examples whose label has the sign of their output"
    )
