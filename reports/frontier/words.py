"""What the terminal and the page say of a frontier in the same words.

`found` is everywhere the content of frontier.json (`reports.frontier.schema`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from reports.typography import Part, listed, number, percent, point_text

FEWEST_DIGITS = 3
"""Digits of boundaries and exponents: intervals are wider than the rest."""


def short(value: Any) -> str:
    """Return a value of an axis, a boundary or an exponent, to three digits."""
    return number(value, FEWEST_DIGITS)


def axis_words(axis: Part) -> str:
    """Return an axis with its meaning, if it has one: "d, features"."""
    return f"{axis['name']}, {axis['meaning']}" if axis["meaning"] else str(axis["name"])


def levels_words(levels: Sequence[float]) -> str:
    """Return levels as a list in a sentence."""
    return listed([number(level) for level in levels])


def interval_words(row: Part) -> str:
    """Return the interval of a boundary: "[12, 15]", "≤ 15" or "≥ 12" where an end is not known."""
    low, high = (row.get(end) for end in ("low", "high"))
    if low is None or high is None:
        if low is not None:
            return f"≥ {short(low)}"
        return "—" if high is None else f"≤ {short(high)}"
    return f"[{short(low)}, {short(high)}]"


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
    return f"a·{y}^p" + f"·log {y}" * (fit["q"] == 1)


def ratio_name(found: Part) -> str:
    """Return what `ratio` is: "d/(n·log n)"; "" where the values of y do not allow for it."""
    y = found["y"]
    values = [row["y"] for row in found["rows"]]
    if y is None or not values or not all(isinstance(v, int | float) and v > 1 for v in values):
        return ""
    return f"{found['x']['name']}/({y['name']}·log {y['name']})"


def ratio(row: Part) -> float | None:
    """Return boundary/(y·log y); None where there is no boundary."""
    if row["boundary"] is None:
        return None
    return float(row["boundary"]) / (row["y"] * math.log(row["y"]))


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
    return point_text(found["at"])


def how_measured(found: Part) -> list[str]:
    """Say how the boundaries were measured, in paragraphs: the claim's, then those of the lines."""
    x = found["x"]["name"]
    own = (
        f"First a coarse grid over all of {x}, so that no island is missed; then rounds of trials "
        "on both sides of where each boundary was believed to be: "
        f"{number(found['trials'])} trials, of a budget of {number(found['budget'])}. The "
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
    """Say which assumptions put a problem in scope, and which were left out."""
    given = listed([*found["given"]]) if found["given"] else "none"
    told = f"Assumed of every problem: {given}."
    if found["left_out"]:
        told += (
            f" Left out, because {'it implies' if len(found['left_out']) == 1 else 'they imply'} "
            f"what is claimed: {listed([*found['left_out']])}."
        )
    return told


# The sentence.


def sentence(found: Mapping[str, Any]) -> str:
    """Say in one or two sentences where the claim stops."""
    level = found["levels"][0]
    rows = rows_at(found["rows"], level)
    known = [row for row in rows if row["boundary"] is not None]
    lead = f"With probability {number(level)} or more, {found['claim']} holds"
    if not known:
        return f"No boundary of {found['claim']} at level {number(level)}: {why_none(rows)}."
    if found["y"] is None:
        return f"{lead} {_side(known)} {found['x']['name']} = {_with_interval(known[0])}."
    left = len(rows) - len(known)
    missing = f" {left} of {len(rows)} rows {'has' if left == 1 else 'have'} no boundary."
    return f"{lead} {_side(known)} {_where(found, known, level)}.{missing * bool(left)}"


def why_none(rows: Sequence[Part]) -> str:
    """Say why rows have no boundary, as far as they say it."""
    told = [row["note"].removeprefix("no boundary: ").rstrip(".") for row in rows if row["note"]]
    notes = list(dict.fromkeys(told))
    return "; ".join(notes) or "none was found within the budget"


def _side(rows: Sequence[Part]) -> str:
    directions = {row["direction"] for row in rows}
    return {("rising",): "from", ("falling",): "up to"}.get(tuple(directions), "on one side of")


def _with_interval(row: Part) -> str:
    return f"{short(row['boundary'])} {interval_words(row)}"


def _where(found: Part, known: Sequence[Part], level: float) -> str:
    """Say where the boundary lies: as the law that was fitted, or row by row."""
    x, y = found["x"]["name"], found["y"]["name"]
    fits = {fit["q"]: fit for fit in found["fits"] if fit["level"] == level}
    verdict = next((c["verdict"] for c in found["comparison"] if c["level"] == level), "")
    chosen = {"q=0": [0], "q=1": [1], "indistinguishable": [1, 0]}.get(verdict, [])
    laws = [law(fits[q], x, y) for q in chosen if q in fits]
    told = ", or ".join(laws)
    if len(laws) > 1:
        told += " (indistinguishable on these rows)"
    if not laws:
        ends = [known[0], known[-1]] if len(known) > 1 else [known[0]]
        told = listed([f"{x} = {short(r['boundary'])} at {y} = {short(r['y'])}" for r in ends])
    if name := ratio_name(found):
        low, high = (pick(ratio(row) or 0.0 for row in known) for pick in (min, max))
        same = short(low) == short(high)
        told += f"; {name} " + ("is " if same else f"lies between {short(low)} and ") + short(high)
    return told


def law_note(line: Part, fit: Part) -> str:
    """Say that a law does not describe the rows; "" where it does, and of a prediction, whose rows
    have no intervals that could allow for one."""
    return "" if fit["consistent"] or line["what"] == "prediction" else "some rows lie off this law"
