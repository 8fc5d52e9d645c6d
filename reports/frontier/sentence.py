"""The answer of a frontier in a sentence or two: where the claim holds.

A row says between which of its crossings that is; rows that are alike share a law, or are told by
the first and the last of them. What is not known is not said: a crossing without an estimate is
"somewhere above" what its interval leaves out.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from reports.frontier.words import (
    ends_words,
    exact,
    law,
    ratio,
    ratio_name,
    rows_at,
    short,
)
from reports.typography import Part, capitalize_first, listed

_RISING, _FALLING = "rising", "falling"


def sentence(found: Part) -> str:
    """Say in one or two sentences where the claim holds, at the lowest level."""
    level = found["levels"][0]
    rows = rows_at(found["rows"], level)
    by_row = {y: _in_order([r for r in rows if r["y"] == y]) for y in dict.fromkeys(map(_y, rows))}
    known = {y: crossings for y, crossings in by_row.items() if crossings}
    lead = f"With probability {exact(level)} or more, {found['claim']} holds"
    if found["y"] is None:
        told = [_of_one(found, lead, known[None], level)] if known else []
        told += _open_ends(found, rows)
        return " ".join(told) or _nowhere(found, rows, level)
    told = _of_several(found, lead, known, level) if known else []
    missing = len(by_row) - len(known)
    if not known:
        told = [_nowhere(found, rows, level)]
    elif missing:
        has = "has" if missing == 1 else "have"
        told.append(f"{missing} of {len(by_row)} rows {has} no boundary.")
    return " ".join(told)


def why_none(rows: Sequence[Part]) -> str:
    """Say why rows have no boundary, as far as they say it."""
    told = [row["note"].removeprefix("no boundary: ").rstrip(".") for row in rows if row["note"]]
    notes = list(dict.fromkeys(told))
    return "; ".join(notes) or "none was found within the budget"


def somewhere(row: Part, x: str) -> str:
    """Say where a crossing without an estimate is: "somewhere above d = 40, if at all"; "" where
    nothing is known of it."""
    low, high = row["low"], row["high"]
    if row["boundary"] is not None or (low is None and high is None):
        return ""
    if low is not None and high is not None:
        return f"somewhere between {x} = {short(low)} and {short(high)}, if at all"
    side, end = ("below", high) if low is None else ("above", low)
    return f"somewhere {side} {x} = {short(end)}, if at all"


def _y(row: Part) -> Any:
    return row["y"]


def _in_order(rows: Sequence[Part]) -> list[Part]:
    """Return the rows that have a boundary, by rising x."""
    return sorted(
        (r for r in rows if r["boundary"] is not None), key=lambda r: float(r["boundary"])
    )


def _pattern(crossings: Sequence[Part]) -> tuple[str | None, ...]:
    return tuple(row["direction"] for row in crossings)


def _stretches(crossings: Sequence[Part], x: str, *, intervals: bool) -> str:
    """Say on which stretches the claim holds, from where the probability rises to where it falls;
    "" where directions are unknown, or a crossing between two is."""
    ways = _pattern(crossings)
    if None in ways or any(one == other for one, other in pairwise(ways)):
        return ""
    at = [f"{x} = {_place(row, intervals)}" for row in crossings]
    if ways == (_FALLING, _RISING):
        return f"outside {at[0]} to {at[1]}"
    told = [f"up to {at[0]}"] if ways[0] == _FALLING else []
    rest = at[1:] if told else at
    told += [f"between {a} and {b}" for a, b in zip(rest[::2], rest[1::2], strict=False)]
    if len(rest) % 2:
        told.append(f"from {rest[-1]}")
    return listed(told)


def _place(row: Part, interval: bool) -> str:
    boundary, ends = ends_words(row)
    return f"{boundary} {ends}" if interval else boundary


def _passes(crossings: Sequence[Part], x: str, level: float, *, intervals: bool) -> str:
    """Say where the probability passes a level, of crossings that do not say where it holds."""
    how = {_RISING: ", rising", _FALLING: ", falling", None: ", rising or falling"}
    places = [f"{x} = {_place(row, intervals)}{how[row['direction']]}" for row in crossings]
    return f"the probability passes {exact(level)} at {listed(places)}"


def _of_one(found: Part, lead: str, crossings: Sequence[Part], level: float) -> str:
    x = found["x"]["name"]
    if told := _stretches(crossings, x, intervals=True):
        return f"{lead} {told}."
    return f"{found['claim']}: {_passes(crossings, x, level, intervals=True)}."


def _of_several(found: Part, lead: str, known: dict[Any, list[Part]], level: float) -> list[str]:
    patterns = list(dict.fromkeys(_pattern(crossings) for crossings in known.values()))
    if patterns in ([(_RISING,)], [(_FALLING,)]):
        side = "from" if patterns == [(_RISING,)] else "up to"
        return [f"{lead} {side} {_where(found, [rows[0] for rows in known.values()], level)}."]
    x, y = found["x"]["name"], found["y"]["name"]
    holds, passes = [], []
    for pattern in patterns:
        alike = [(v, crossings) for v, crossings in known.items() if _pattern(crossings) == pattern]
        few = len(alike) <= 2 or found["y"]["scale"] == "choice"
        shown = alike if few else [alike[0], alike[-1]]
        for value, crossings in shown:
            at = f"at {y} = {exact(value)} "
            if told := _stretches(crossings, x, intervals=False):
                holds.append(at + told)
            else:
                passes.append(at + _passes(crossings, x, level, intervals=False))
        if not few:
            (holds if holds and holds[-1].startswith(at) else passes)[-1] += _like_these(
                len(alike) - 2
            )
    sentences = [f"{lead} {'; '.join(holds)}."] if holds else []
    if passes:
        about = "" if holds else f"{found['claim']}: "
        sentences.append(
            f"{about}{'; '.join(passes) if about else capitalize_first('; '.join(passes))}."
        )
    return sentences


def _like_these(rows: int) -> str:
    return f" ({rows} more {'row is' if rows == 1 else 'rows are'} like these two)"


def _open_ends(found: Part, rows: Sequence[Part]) -> list[str]:
    """Return, as a sentence each, where crossings of a single row are that have no estimate."""
    x, level = found["x"]["name"], exact(found["levels"][0])
    how = {_RISING: "rises past", _FALLING: "falls past", None: "crosses"}
    return [
        f"The probability that {found['claim']} holds {how[row['direction']]} {level} {said}."
        for row in rows
        if (said := somewhere(row, x))
    ]


def _nowhere(found: Part, rows: Sequence[Part], level: float) -> str:
    return f"No boundary of {found['claim']} at level {exact(level)}: {_why(found, rows)}."


def _why(found: Part, rows: Sequence[Part]) -> str:
    """Say why no row has a boundary, and where those that are open may have one."""
    x = found["x"]["name"]
    noted = [row for row in rows if not somewhere(row, x)]
    told = [why_none(noted)] if noted else []
    for row in rows if found["y"] else ():
        if said := somewhere(row, x):
            told.append(f"at {found['y']['name']} = {exact(row['y'])} {said}")
    return "; ".join(told)


def _where(found: Part, known: Sequence[Part], level: float) -> str:
    """Say where the boundary of rows that are alike lies: as the law that was fitted, the plain one
    first, or at the first and the last."""
    x, y = found["x"]["name"], found["y"]["name"]
    fits = {fit["q"]: fit for fit in found["fits"] if fit["level"] == level}
    verdict = next((c["verdict"] for c in found["comparison"] if c["level"] == level), "")
    chosen = {"q=0": [0], "q=1": [1], "indistinguishable": [0, 1]}.get(verdict, [])
    laws = [law(fits[q], x, y) for q in chosen if q in fits]
    told = ", or ".join(laws)
    if len(laws) > 1:
        told += " (indistinguishable on these rows)"
    if not laws:
        ends = [known[0], known[-1]] if len(known) > 1 else [known[0]]
        told = listed([f"{x} = {ends_words(r)[0]} at {y} = {exact(r['y'])}" for r in ends])
    if name := ratio_name(found):
        low, high = (pick(ratio(row) or 0.0 for row in known) for pick in (min, max))
        same = short(low) == short(high)
        told += f"; {name} " + ("is " if same else f"lies between {short(low)} and ") + short(high)
    return told
