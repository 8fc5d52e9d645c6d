"""What the terminal and the page say of a frontier in the same words.

`found` is everywhere the content of frontier.json (`reports.frontier.schema`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from reports.typography import Part, listed, number, percent, point_text

_NEARLY_ONE = (0.8, 1.25)
"""Exponents of y at which x/(y·log y) changes little."""

FEWEST_DIGITS = 3
"""Digits of boundaries and exponents: intervals are wider than the rest."""

MOST_DIGITS = 15
"""Digits of what was asked for: those of a double that are sure."""


def short(value: Any) -> str:
    """Return a value of an axis, a boundary or an exponent, to three digits."""
    return number(value, FEWEST_DIGITS)


def exact(value: Any) -> str:
    """Return what was asked for, a level or a coordinate, with all of its digits."""
    return number(value, MOST_DIGITS)


def ends_words(row: Part) -> tuple[str, str]:
    """Return a boundary and its interval, with digits enough to tell its numbers apart."""
    digits = _telling([row[name] for name in ("low", "boundary", "high")])
    return number(row["boundary"], digits), interval_words(row, digits)


def _telling(values: Sequence[Any]) -> int:
    """Return how many digits tell values apart, at least `FEWEST_DIGITS`."""
    known = set(values) - {None}
    for digits in range(FEWEST_DIGITS, MOST_DIGITS):
        if len({number(value, digits) for value in known}) == len(known):
            return digits
    return MOST_DIGITS


def axis_words(axis: Part) -> str:
    """Return an axis with its meaning, if it has one: "d, features"."""
    return f"{axis['name']}, {axis['meaning']}" if axis["meaning"] else str(axis["name"])


def levels_words(levels: Sequence[float]) -> str:
    """Return levels as a list in a sentence."""
    return listed([exact(level) for level in levels])


def interval_words(row: Part, digits: int = FEWEST_DIGITS) -> str:
    """Return the interval of a boundary: "[12, 15]", "≤ 15" or "≥ 12" where an end is not known."""
    low, high = (row.get(end) for end in ("low", "high"))
    if low is None or high is None:
        if low is not None:
            return f"≥ {number(low, digits)}"
        return "—" if high is None else f"≤ {number(high, digits)}"
    return f"[{number(low, digits)}, {number(high, digits)}]"


def exponent_words(fit: Part) -> str:
    """Return a fitted exponent with its interval; alone where it follows from exact numbers."""
    if fit["p_low"] == fit["p_high"]:
        return short(fit["p"])
    ends = [short(fit[end]) for end in ("p_low", "p_high")]
    return f"{short(fit['p'])} [{', '.join(ends)}]"


def law(fit: Part, x: str, y: str) -> str:
    """Return a fitted law: "d ≈ 1.8·n^p·log n, p = 1.04 [0.98, 1.1]"."""
    logarithm = f"·log {y}" * (fit["q"] == 1)
    return f"{x} ≈ {short(fit['a'])}·{y}^p{logarithm}, p = {exponent_words(fit)}"


def compared(found: Part) -> list[Part]:
    """Return how the laws of each level compare; none without numbers along which there could be
    a law."""
    y = found["y"]
    if y is None or y["scale"] == "choice":
        return []
    return [{**c, "sentence": f"{c['sentence'].rstrip('.')}."} for c in found["comparison"]]


def law_name(fit: Part, y: str) -> str:
    """Return the form of a law: "a·n^p·log n"."""
    logarithm = f"·log {y}" if fit["q"] == 1 else ""
    return f"a·{y}^p{logarithm}"


def ratio_name(found: Part) -> str:
    """Return what `ratio` is: "d/(n·log n)"; "" where the ratio says nothing.

    It does where x is a count, or d on a logarithmic scale, and y is n; or where some x ∝ y^p·log y
    with p within `_NEARLY_ONE` meets all the intervals of a level.
    """
    x, y = found["x"], found["y"]
    values = [row["y"] for row in found["rows"]]
    if y is None or not values or not all(isinstance(v, int | float) and v > 1 for v in values):
        return ""
    counted = x["scale"] == "integer" or (x["scale"] == "log" and x["name"] == "d")
    low, high = _NEARLY_ONE
    fitted = any(f["q"] == 1 and f["consistent"] and low <= f["p"] <= high for f in found["fits"])
    if x["scale"] not in ("integer", "log") or not ((counted and y["name"] == "n") or fitted):
        return ""
    return f"{x['name']}/({y['name']}·log {y['name']})"


def ratio(row: Part) -> float | None:
    """Return boundary/(y·log y); None where there is no boundary."""
    if row["boundary"] is None:
        return None
    return float(row["boundary"] / (row["y"] * math.log(row["y"])))


def rows_at(rows: Sequence[Part], level: float) -> list[Part]:
    """Return the rows of one level."""
    return [row for row in rows if row["level"] == level]


def crosses_once(rows: Sequence[Part]) -> bool:
    """Whether no value of y has several of these rows, which are of one level."""
    return len({row["y"] for row in rows}) == len(rows)


def times_the_claims(found: Part, row: Part) -> float | None:
    """Return how many times the claim's own boundary a line's is; None where there is not just one,
    or where a ratio says nothing (the claim's is not positive)."""
    own = [r for r in rows_at(found["rows"], row["level"]) if r["y"] == row["y"]]
    if len(own) != 1 or row["boundary"] is None or not (own[0]["boundary"] or 0) > 0:
        return None
    return float(row["boundary"] / own[0]["boundary"])


def line_rows(found: Part, line: Part) -> list[Part]:
    """Return the rows of a line at the first level asked for, or else at the first of its own."""
    levels = [row["level"] for row in line["rows"]]
    first = found["levels"][0]
    return rows_at(line["rows"], first if first in levels or not levels else levels[0])


def line_name(line: Part) -> str:
    """Return what a line is: "certificate certified_from_step_one", "prediction"."""
    return line["what"] if line["id"] == line["what"] else f"{line['what']} {line['id']}"


def place_words(found: Part) -> str:
    """Say what is the same everywhere; "" where nothing was given."""
    return point_text(found["at"], digits=MOST_DIGITS)


def defaults_words(found: Part) -> str:
    """Say what the theorem's defaults decide, as nothing sets it; "" where there are none."""
    return point_text(found["defaults"], digits=MOST_DIGITS)


def over_budget_words(found: Part) -> str:
    """Say why more trials than the budget were spent: the coarse grid alone can be more."""
    over = found["trials"] > found["budget"]
    return " (the coarse grid, which is sampled whole whatever the budget is)" if over else ""


def how_measured(found: Part) -> list[str]:
    """Say how the boundaries were measured, in paragraphs: the claim's, then those of the lines."""
    x = found["x"]["name"]
    own = (
        f"First a coarse grid over all of {x}, so that no island is missed; then rounds of trials "
        "on both sides of where each boundary was believed to be: "
        f"{number(found['trials'])} trials, of a budget of {number(found['budget'])}"
        f"{over_budget_words(found)}. The "
        "intervals come from bets against every place where a boundary might be. With confidence "
        f"{percent(found['confidence'])} all of them contain their boundaries, whenever one stops "
        f"looking (anytime-valid), provided that the probability only rises or only falls along "
        f"{x}, or turns where the coarse grid shows that it does; a row whose trials contradict "
        "that says so."
    )
    kinds = {line["what"] for line in found["lines"]}
    lines = [said for kind, said in _HOW_LINES.items() if kind in kinds]
    return [own, " ".join(lines)] if lines else [own]


_HOW_LINES = {
    "certificate": "A certificate’s boundaries are measured like the claim’s, each certificate’s "
    "at that confidence, with fewer trials, which come on top of the budget.",
    "assumption": "An assumption’s are those at which half of the problems drawn meet it, between "
    "two neighbouring values: no statistical interval.",
    "prediction": "A prediction’s are interpolated between the values that were sampled.",
}


def scope_words(found: Part) -> str:
    """Say which assumptions put a problem in scope, and which were dropped or left out."""
    given = listed([*found["given"]]) if found["given"] else "none"
    told = f"Assumed of every problem: {given}."
    if found["without"]:
        told += f" Dropped: {listed([*found['without']])}."
    if certificates := [name for name in found["left_out"] if name not in found["without"]]:
        told += (
            f" Left out, because {'it implies' if len(certificates) == 1 else 'they imply'} "
            f"what is claimed: {listed(certificates)}."
        )
    return told


def assumption_words(found: Part, line: Part) -> str:
    """Say in a line where an assumption is met: in the first and the last row, or, of named rows,
    in each."""
    ways = {"rising": "met from", "falling": "met up to"}
    told = []
    for direction, way in ways.items():
        rows = [row for row in line["rows"] if row["direction"] == direction]
        shown = (
            rows if found["y"] and found["y"]["scale"] == "choice" else [*rows[:1], *rows[1:][-1:]]
        )
        places = [f"{ends[0]} {ends[1]}" for ends in map(ends_words, shown)]
        if len(set(places)) > 1:
            named = zip(places, shown, strict=True)
            places = [
                f"{place} at {found['y']['name']} = {exact(row['y'])}" for place, row in named
            ]
        if places:
            told.append(f"{way} {found['x']['name']} = {' to '.join(dict.fromkeys(places))}")
    y_rows, of = len({row["y"] for row in line["rows"]}), len({row["y"] for row in found["rows"]})
    if y_rows < of:
        told.append(f"in {y_rows} of {of} rows")
    times = [t for row in line["rows"] if (t := times_the_claims(found, row)) is not None]
    if times:
        ends = dict.fromkeys((short(min(times)), short(max(times))))
        told.append(f"{' to '.join(ends)} times the claim’s")
    return "; ".join(told) + ". Intervals are between neighbouring values, not statistical."


def law_note(line: Part, fit: Part) -> str:
    """Say that a law does not describe the rows; "" where it does, and of a prediction, whose rows
    have no intervals that could allow for one."""
    return "" if fit["consistent"] or line["what"] == "prediction" else "some rows lie off this law"
