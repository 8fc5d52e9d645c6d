"""What was measured, in a line each: the part of a page that no claim holds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from reports.html.figures.frequencies import is_calibration
from reports.html.figures.quantiles import ends_and_middle
from reports.points import at_points, has_value
from reports.typography import Part, in_sentence, number, percent


def headline(measure: Part) -> str:
    """Return the result of a measure of `measures.measures` in a line; "" if it measured nothing.

    A frequency with thresholds tells where it passes the highest, a calibration how far
    off the prediction is, and a quantity its medians with the outer ends of their intervals.
    """
    named = measure["axis"] or measure["measure"]
    if measure["kind"] == "quantiles":
        told = _medians(measure)
    elif is_calibration(measure["cells"]):
        named, told = measure["abscissa"], off_by(measure["cells"])
    else:
        told = _passes(measure) or _shares(measure["cells"])
    return f"{named}: {told}" if told else ""


def headlines(measures: Sequence[Part]) -> list[dict[str, Any]]:
    """Return the headlines of a theorem: of its first measure and of its first calibration."""
    calibrated = [measure for measure in measures if is_calibration(measure["cells"])]
    chosen = [*measures[:1], *(m for m in calibrated[:1] if m is not measures[0])]
    told = [{"anchor": measure["anchor"], "text": headline(measure)} for measure in chosen]
    return [entry for entry in told if entry["text"]]


def _passes(measure: Part) -> str:
    asked = measure["thresholds"]
    top = max((threshold["level"] for threshold in asked), default=None)
    lines = [threshold for threshold in asked if threshold["level"] == top]
    found = [t for t in lines if t.get("low") is not None and t.get("high") is not None]
    if not found:
        return ""
    low, high = min(t["low"] for t in found), max(t["high"] for t in found)
    along = in_sentence(measure["abscissa"] or "abscissa")
    told = f"passes {number(top)} with {along} between {number(low, 3)} and {number(high, 3)}"
    return told if len(found) == len(lines) else f"{told} in {len(found)} of {len(lines)} lines"


def off_by(cells: Sequence[Part]) -> str:
    """Say how far frequencies are from what was predicted, and to which side; "" for none.

    Whether a prediction lies within bounds says little of it where the bounds are wide.
    """
    errors = [
        cell["prediction"] - cell["frequency"]
        for cell in cells
        if cell["frequency"] is not None and cell["prediction"] is not None
    ]
    if not errors:
        return ""
    size = math.sqrt(sum(error * error for error in errors) / len(errors))
    above = sum(error > 0 for error in errors)
    return (
        f"off by {number(size, 2)} (root mean square over {len(errors)} cells), above what is "
        f"measured in {above} of them"
    )


def _shares(cells: Sequence[Part]) -> str:
    known = [cell["frequency"] for cell in cells if cell["frequency"] is not None]
    if not known:
        return ""
    least, most = percent(min(known), 3), percent(max(known), 3)
    told = least if least == most else f"{least} to {most}"
    return f"{told} {at_points(cells)}" if len(cells) > 1 else told


def _medians(measure: Part) -> str:
    middles = [ends[1] for ends in map(ends_and_middle, measure["cells"]) if ends is not None]
    if not middles:
        return ""
    values = [middle["value"] for middle in middles]
    ends = [(m["low"], m["high"]) for m in middles if None not in (m.get("low"), m.get("high"))]
    least, most = number(min(values), 3), number(max(values), 3)
    told = least if least == most else f"{least} to {most}"
    cells = measure["cells"]
    several = f" {at_points(cells)}" * (len(cells) > 1)
    infinite = sum(map(has_value, cells)) - len(middles)
    several += f", not finite at {infinite} of them" * bool(infinite)
    if not ends:
        return f"median {told}{several}"
    short = len(middles) - len(ends)
    several += f", with an open interval at {short} of them" * bool(short)
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    return f"median {told} [{number(low, 3)}, {number(high, 3)}]{several}"
