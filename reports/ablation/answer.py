"""What an ablation answers, from its rows: an exit code, a headline, a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from properties.ablation.findings import (
    LOAD_BEARING,
    NEEDED_TO_STATE,
    NOT_NEEDED,
    VACUOUS,
    VERDICTS,
)
from properties.ablation.looking import UNDECIDED
from reports.exit_codes import ALL_AS_EXPECTED, REFUTED, UNSETTLED
from reports.typography import Part, listed, number, point_text

_COUNTED = {
    LOAD_BEARING: ("is load-bearing", "are load-bearing"),
    NEEDED_TO_STATE: ("is needed to state a claim", "are needed to state a claim"),
    UNDECIDED: ("is undecided", "are undecided"),
    NOT_NEEDED: ("is not needed as far as found", "are not needed as far as found"),
    VACUOUS: ("was never violated alone", "were never violated alone"),
}


def exit_code(violations: Sequence[Any], rows: Sequence[Part]) -> int:
    """Return 1 for a violation in scope, 3 if a row is undecided or all are vacuous, else 0.

    A vacuous row alone settles nothing and disturbs nothing: often the other assumptions imply it.
    """
    if violations:
        return REFUTED
    verdicts = {row["verdict"] for row in rows}
    return UNSETTLED if UNDECIDED in verdicts or verdicts == {VACUOUS} else ALL_AS_EXPECTED


def headline(violations: Sequence[Part], rows: Sequence[Part], claims: Sequence[Part]) -> str:
    """Say in one short sentence, with counts and no names of assumptions, what was found."""
    if violations:
        return sentence(violations, rows, claims)
    counts = [(kind, sum(row["verdict"] == kind for row in rows)) for kind in VERDICTS]
    told = [f"{count} {_COUNTED[kind][count > 1]}" for kind, count in counts if count]
    of = f"Of {len(rows)} assumptions" if len(rows) > 1 else "Of one assumption"
    return f"{of} {listed(told)}; {standing(violations, claims)}."


def sentence(violations: Sequence[Part], rows: Sequence[Part], claims: Sequence[Part]) -> str:
    """Say in one sentence what an ablation found, by name."""
    if violations:
        names = listed(list(dict.fromkeys(one["claim"] for one in violations)))
        return f"Violated with nothing dropped: {names}."
    said = [standing(violations, claims), *judged_in_no_row(claims)]
    for kind in VERDICTS:
        found = [row["id"] for row in rows if row["verdict"] == kind]
        said += [f"{kind}: {listed(found)}"] if found else []
    text = "; ".join(said)
    return f"{text[0].upper()}{text[1:]}."


def standing(violations: Sequence[Any], claims: Sequence[Part]) -> str:
    """Say whether the claims that are about every instance stand with nothing dropped."""
    universal = any(claim["kind"] == "universal" for claim in claims)
    if violations:
        return "a universal claim is violated with nothing dropped"
    if universal:
        return "no universal claim is violated with nothing dropped"
    if any(claim["fails"] for claim in claims):
        return "no claim is about every instance"
    return "no claim was found below its probability with nothing dropped"


def judged_in_no_row(claims: Sequence[Part]) -> list[str]:
    """Say which claims fail with nothing dropped, and where: one clause for those of one kind."""
    groups: dict[tuple[Any, ...], list[str]] = {}
    for claim in claims:
        if claim["fails"]:
            told = claim["fails"]
            key = (claim["probability"], told["stated"], told["at"])
            groups.setdefault(key, []).append(claim["id"])
    said = []
    for (probability, stated, at), names in groups.items():
        many = len(names) > 1
        rows = f"{'they are' if many else 'it is'} judged in no row"
        if probability is None:
            verb = "are" if many else "is"
            said.append(f"{listed(names)} {verb} violated with nothing dropped at {at}: {rows}")
            continue
        said.append(
            f"{listed(names)}, which {'are' if many else 'is'} stated with probability ≥ "
            f"{number(probability)} {stated}, {'fall' if many else 'falls'} below it with nothing "
            f"dropped at {at}: {rows}"
        )
    return said


def beyond(stated: Sequence[Mapping[str, Any]], here: Mapping[str, Any]) -> dict[str, str]:
    """Say where a claim is stated and where a point is: by the coordinates in which the point lies
    beyond all the points at which the claim is stated, or else in full."""
    places, where = [], {}
    for name, value in here.items():
        known = [point[name] for point in stated if name in point]
        if len(known) < len(stated) or not known:
            continue
        if all(isinstance(one, int | float) for one in (value, *known)):
            low, high = min(known), max(known)
            if not low <= value <= high:
                ends = number(low) if low == high else f"{number(low)} to {number(high)}"
                places.append(f"{name} = {ends}")
                where[name] = value
        elif value not in known:
            places.append(f"{name} = {' or '.join(map(str, dict.fromkeys(known)))}")
            where[name] = value
    if not where:
        return {"stated": "at points of its own", "at": point_text(here)}
    return {"stated": f"at {listed(places)}", "at": point_text(where)}
