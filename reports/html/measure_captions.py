"""Captions of the figures of measures and margins: what to see, then what is drawn."""

from __future__ import annotations

from collections.abc import Sequence

from reports.html import figures
from reports.html.figures.margins import LINEAR_UP_TO, MOST_ROWS
from reports.html.figures.series import MOST_LINES, Line, line_name
from reports.html.headlines import off_by
from reports.points import at_points
from reports.typography import (
    Part,
    capitalize_first,
    in_sentence,
    listed,
    number,
    percent,
    quantile_name,
)


def frequencies(measure: Part) -> list[str]:
    """Caption the frequencies of an event."""
    known = [cell for cell in measure["cells"] if cell["frequency"] is not None]
    kept = [cell for cell in known if cell["prediction"] is not None]
    inside = sum(_within(cell["prediction"], cell["low"], cell["high"]) for cell in kept)
    calibration = figures.is_calibration(measure["cells"])
    if calibration:
        seen = (
            "Marks on the diagonal mean that the predicted probability is the measured one: it is "
            f"{off_by(known)}, and within the bounds, which are wide, in {inside}."
        )
    else:
        seen = f"{_course(measure, known)}{_passed(measure)}"
        seen += f" The prediction is {off_by(kept)}." if kept else ""
    where = (
        f" against {in_sentence(measure['abscissa'])}" if measure["abscissa"] else ", cell by cell"
    )
    drawn = (
        f"Marks: share of the trials in scope in which it holds{where}. Bars: exact bounds, each "
        f"with confidence {percent(measure.get('confidence'))}."
        + _lines(measure)
        + _thresholds(measure)
        + f" All cells have {measure['shared_point']}." * bool(measure["shared_point"])
    )
    return [seen, drawn]


def quantiles(measure: Part) -> list[str]:
    """Caption the quantiles of a quantity."""
    ends = [(cell, figures.ends_and_middle(cell)) for cell in measure["cells"]]
    known = [(cell, found) for cell, found in ends if found is not None]
    medians = [found[1]["value"] for _, found in known]
    low, middle, high = known[0][1]
    across = _range(medians)
    outer = _range([found[side]["value"] for _, found in known for side in (0, 2)])
    kept = [(cell, found) for cell, found in known if cell["prediction"] is not None]
    inside = sum(
        found[0]["value"] <= cell["prediction"] <= found[2]["value"] for cell, found in kept
    )
    levels = f"{percent(low['level'])} to {percent(high['level'])}"
    called = quantile_name(middle["level"])
    cells = f" {at_points(measure['cells'])}" * (len(measure["cells"]) > 1)
    seen = f"The {called} is {across}{cells}, and {levels} of the trials lie in {outer}."
    if kept:
        seen += f" The prediction lies between these quantiles in {inside} of {len(kept)} cells."
    where = (
        f" against {in_sentence(measure['abscissa'])}" if measure["abscissa"] else ", cell by cell"
    )
    drawn = (
        f"Marks: {called}{where}, over a short thick bar, its interval. Wide pale bars: from the "
        f"{percent(low['level'])} to the {percent(high['level'])} quantile; thin lines "
        "reach to the outer ends of their intervals, where the trials suffice for one. Intervals "
        "are distribution-free, each with "
        f"confidence {percent(measure.get('confidence'))}."
        + _lines(measure)
        + f" All cells have {measure['shared_point']}." * bool(measure["shared_point"])
    )
    return [seen, drawn]


def stacked(measures: Sequence[Part]) -> list[str]:
    """Caption measures that are drawn above one another."""
    name, along = measures[0]["figure"], in_sentence(measures[0]["abscissa"])
    told = "; ".join(_end_to_end(measure) for measure in measures)
    seen = f"{capitalize_first(name)}, over {along}: {told}."
    by = {measure["by"]: measure for measure in measures if measure["by"]}
    predicted = any(c["prediction"] is not None for measure in measures for c in measure["cells"])
    drawn = (
        "Marks: medians, or shares of the trials in scope. Wide pale bars: between the outer "
        "quantiles, with the ends of their intervals as thin lines; bars of shares: exact bounds."
        + "".join(_lines(measure) for measure in by.values())
        + " Dashes that end in bars: predicted." * predicted
        + " Each of the measures stands below by itself, with its numbers."
    )
    return [seen, drawn]


def margins(claims: Sequence[Part]) -> list[str]:
    """Caption the margins of a theorem's claims."""
    shown = [(claim, figures.margins_shown(claim)) for claim in claims]
    least = {claim["claim"]: min(row[0] for _, row in rows) for claim, rows in shown if rows}
    crossing = [name for name, value in least.items() if value < 0]
    if crossing:
        seen = (
            f"{len(crossing)} of {len(least)} claims have margins left of zero, where a claim is "
            f"violated: {', '.join(crossing)}."
            if len(crossing) > 1
            else f"Margins reach left of zero, where a claim is violated, in {crossing[0]} alone."
        )
        kinds = {claim["kind"] for claim in claims if claim["claim"] in crossing}
        seen += " A claim with a probability below 1 allows for some." * (kinds == {"probable"})
    else:
        tightest = min(least, key=lambda name: least[name])
        seen = (
            f"No margin lies left of zero, where a claim would be violated; {tightest} comes "
            f"closest, at {number(least[tightest], 3)}."
        )
    values = [value for _, rows in shown for _, row in rows for value in row]
    left_out = any(
        len(rows) == MOST_ROWS < sum(bool(cell.get("margins")) for cell in claim["cells"])
        for claim, rows in shown
    )
    drawn = (
        "A row for each cell, in the order of the claim’s own table; a single one where the "
        "margins of a claim are all but equal. Tick in the middle: median; "
        "thick bar: from 25 to 75 % of the trials in scope; line: from 5 to 95 %; dots: from the "
        "least to the greatest. Scales are each claim’s own, so compare a margin with zero, not "
        "with another claim’s."
        + " The axis is logarithmic away from zero." * (max(map(abs, values)) > LINEAR_UP_TO)
        + f" Of each claim the {MOST_ROWS} cells with the least margins are drawn." * left_out
    )
    return [seen, drawn]


# Parts of sentences.


def _within(value: float, low: float | None, high: float | None) -> bool:
    return low is not None and high is not None and low <= value <= high


def _range(values: Sequence[float]) -> str:
    least, most = number(min(values), 3), number(max(values), 3)
    return least if least == most else f"{least} to {most}"


def _course(measure: Part, known: Sequence[Part]) -> str:
    """Say how a frequency goes along the abscissa, or between what it lies."""
    if not known:
        return "No trial was in scope."
    least, most = (f(cell["frequency"] for cell in known) for f in (min, max))
    lines = figures.lines_of(known)
    if len(lines) == 1 and len(lines[0].cells) > 1 and least != most:
        first, last = lines[0].cells[0], lines[0].cells[-1]
        return (
            f"It holds in {percent(first['frequency'], 3)} of the trials in scope at "
            f"{number(first['x'])}, and in {percent(last['frequency'], 3)} at {number(last['x'])}."
        )
    if len(lines) > 1 and least != most and all(len(line.cells) > 1 for line in lines):
        return _from_end_to_end(lines)
    cells = measure["cells"]
    where = f" {at_points(cells)}" * (len(cells) > 1)
    if least == most:
        return f"It holds in {percent(least, 3)} of the trials in scope{where}."
    across = f"{percent(least, 3)} to {percent(most, 3)}"
    return f"It holds in {across} of the trials in scope{where}."


def _from_end_to_end(lines: Sequence[Line]) -> str:
    """Say how the frequencies of several lines go from their first cells to their last, and whether
    they are lower on the way."""
    shares = [[c["frequency"] for c in line.cells if c["frequency"] is not None] for line in lines]
    shares = [line for line in shares if line]
    first, last = [line[0] for line in shares], [line[-1] for line in shares]
    verb = "rises" if all(b > a for a, b in zip(first, last, strict=True)) else "goes"
    told = f"The share {verb} from {_shares(first)} at the left end to {_shares(last)} at the right"
    lower = [min(line) for line in shares if min(line) < min(line[0], line[-1])]
    if lower:
        told += f"; on the way it is lower still, down to {_shares(lower)}"
        told += f", in {len(lower)} of {len(shares)} lines" * (len(lower) < len(shares))
    return f"{told}."


def _shares(values: Sequence[float]) -> str:
    least, most = percent(min(values), 3), percent(max(values), 3)
    return least if least == most else f"{least} to {most}"


def _end_to_end(measure: Part) -> str:
    """Say where a measure begins and ends, over all of its lines."""
    lines = [[_middle(cell) for cell in line.cells] for line in figures.lines_of(measure["cells"])]
    known = [[value for value in line if value is not None] for line in lines]
    first, last = ([line[end] for line in known if line] for end in (0, -1))
    axis = measure["axis"] or measure["measure"].replace("_", " ")
    if not first:
        return f"{axis}, not measured"
    return f"{axis}, {_range(first)} at the left end and {_range(last)} at the right"


def _middle(cell: Part) -> float | None:
    """Return the frequency of a cell, or the median there."""
    if "frequency" in cell and cell["frequency"] is not None:
        return float(cell["frequency"])
    found = figures.ends_and_middle(cell)
    return None if found is None else float(found[1]["value"])


def _passed(measure: Part) -> str:
    """Say where the highest level that is bracketed is passed, line by line."""
    ends = ("low", "high")
    known = [t for t in measure["thresholds"] if all(t.get(end) is not None for end in ends)]
    if not known:
        return ""
    top = max(threshold["level"] for threshold in known)
    asked = [t for t in measure["thresholds"] if t["level"] == top]
    found = [t for t in known if t["level"] == top]
    if len(found) > 2:
        least, most = min(t["low"] for t in found), max(t["high"] for t in found)
        whole = f"all {len(found)}" if len(found) == len(asked) else f"{len(found)} of {len(asked)}"
        return (
            f" It passes {number(top)} between {number(least)} and {number(most)} in {whole} lines."
        )
    told = [
        f"between {number(t['low'])} and {number(t['high'])}"
        + f" for {line_name(measure['by'], t['line'])}" * (t.get("line") is not None)
        for t in found
    ]
    return f" It passes {number(top)} {listed(told)}."


def _lines(measure: Part) -> str:
    """Say what tells lines apart, and whether some were left out."""
    values = {str(cell["line"]) for cell in measure["cells"] if cell["x"] is not None}
    told = f" Lines: one for each {measure['by']}." * (bool(measure["by"]) and len(values) > 1)
    left_out = len(values) - MOST_LINES
    return told + f" {left_out} lines are left out." * (left_out > 0)


def _thresholds(measure: Part) -> str:
    if not measure["thresholds"]:
        return ""
    return (
        " Level dots: the levels asked about. Where they are passed is told on the assumption that "
        "the frequency never falls along the abscissa; the table of empirical constants tells it "
        "line by line."
    )
