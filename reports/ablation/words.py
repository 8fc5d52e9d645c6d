"""Words of an ablation that its text, its table and its page share."""

from __future__ import annotations

import math

from properties.ablation.findings import (
    LOAD_BEARING,
    NEEDED_TO_STATE,
    NOT_NEEDED,
    VACUOUS,
)
from properties.ablation.looking import UNDECIDED
from reports.typography import Part, listed, number, point_text

SIGNS = {
    LOAD_BEARING: "●",
    NEEDED_TO_STATE: "×",
    UNDECIDED: "?",
    NOT_NEEDED: "○",
    VACUOUS: "–",
}
"""A claim's verdict in a column of its own."""

FAILING, FAILING_MEANS = "!", "judged in no row (see below)"
"""In place of a verdict, of a claim that fails with nothing dropped."""

_HUGE = 1e3
"""Size from which a margin tells that a claim is violated, and nothing more."""


def signs(report: Part, row: Part) -> list[str]:
    """Return a sign for each claim, in their order; a blank for one that does not assume it."""
    told = {one["claim"]: SIGNS[one["verdict"]] for one in row["claims"]}
    return [FAILING if claim["fails"] else told.get(claim["id"], " ") for claim in report["claims"]]


def leading(row: Part) -> Part | None:
    """Return what is found of the claim that a row shows, None if no claim is violated there."""
    return next((one for one in row["claims"] if one["claim"] == row["leading"]), None)


def verdict(row: Part) -> str:
    """Say what is found of a dropped assumption, or of a claim without it."""
    return f"{row['verdict']}, rarely" if row["rare"] else str(row["verdict"])


def where(shown: Part) -> str:
    """Say where a violation lies outside the dropped assumption: coordinates, and its margin; where
    no coordinate explains it, which instance it is."""
    by = "" if shown["outside"] is None else f" (by {number(-shown['outside'], 3)})"
    if shown["coordinate"] and shown["where"]:
        return f"{point_text(shown['where'])}{by}"
    recipe = shown["recipe"]
    seeds = ", ".join(
        f"{name.replace('_', ' ')} {recipe[name]}"
        for name in ("seed", "root_seed", "block", "trial")
        if name in recipe
    )
    return f"{point_text(recipe['point'])}: {seeds}{by}"


def margin(shown: Part) -> str:
    """Say how far a claim is violated; of a margin that is out of all proportion, its size."""
    value = shown["margin"]
    if value is not None and abs(value) < _HUGE:
        return f"margin {number(value, 3)}"
    return f"violated (margin {number(value, 2)})"


def effort(row: Part) -> str:
    """Say how hard was looked, and how far outside the dropped assumption."""
    told = row["effort"]
    text = f"{number(told['tested'])} of {number(told['examples'])} instances tested"
    if not row["id"] or not told["tested"]:
        return text
    near, far = (number(-told[end], 3) for end in ("closest", "furthest"))
    return f"{text}, outside by {near} to {far}"


def left_open(report: Part, row: Part) -> str:
    """Say on how many of the instances that test a claim nothing came out, undecided or not stated,
    of the claims for which the assumption is not load-bearing; "" if something did on all."""
    ranks = {claim["id"]: str(rank) for rank, claim in enumerate(report["claims"], start=1)}
    groups: dict[str, list[str]] = {}
    for one in row["claims"]:
        counts = (("undecided", one["undecided"]), ("not stated", one["refused"]))
        said = [f"{what} in {number(count)}" for what, count in counts if count]
        if said and one["verdict"] != LOAD_BEARING:
            told = f"{listed(said)} of {number(one['tested'])}"
            groups.setdefault(told, []).append(ranks[one["claim"]])
    return "; ".join(
        f"claim{'s' * (len(names) > 1)} {listed(names)} {told}" for told, names in groups.items()
    )


def rate(one: Part) -> str:
    """Say how often a claim is violated at its worst violation's point, "" if it was not measured;
    of one that is rarely violated, how often that was met at all."""
    found = one["worst"]["severity"]["rate"]
    if found is None:
        return ""
    if one["rare"]:
        met = {1: "once", 2: "twice"}.get(one["violated"], f"{one['violated']} times")
        return (
            f"rare: met {met} on {number(one['tested'])} instances, and in none of "
            f"{found['in_scope']} fresh trials there, {probability(found)}"
        )
    return f"{violated(found)} fresh trials there, {probability(found)}"


def violated(rate: Part) -> str:
    """Say in how many of a rate's trials in scope the claim is violated, and in how many that is
    not decided."""
    undecided = f" ({rate['undecided']} more undecided)" if rate["undecided"] else ""
    return f"{rate['violated']}{undecided} of {rate['in_scope']}"


def probability(rate: Part) -> str:
    """Say between which bounds the probability of a violation is, rounded outwards; of copies of
    one problem, that they are."""
    if rate.get("copies"):
        return f"{rate['copies']} of one problem"
    low, high = math.floor(rate["low"] * 1e3) / 1e3, math.ceil(rate["high"] * 1e3) / 1e3
    return f"probability {low:.3f} to {high:.3f}"


def why_vacuous(row: Part) -> str:
    """Say why nothing was tested without an assumption."""
    if not row["axes"]:
        return "no axis of the theorem's space is named that could break it while the rest holds"
    return f"along {listed(row['axes'])} it was never violated while the rest held"


def replaced(report: Part) -> list[tuple[str, str, str]]:
    """Return what is left out of what claims are given, for the theorem's hypotheses stand in its
    place: its id, its statement, and of which claims, "claims 1 and 3"."""
    ranks = {claim["id"]: str(rank) for rank, claim in enumerate(report["claims"], start=1)}
    told = []
    for one in report["replaced"]:
        numbers = [ranks[name] for name in one["claims"]]
        of = f"claim{'s' * (len(numbers) > 1)} {listed(numbers)}"
        told.append((one["id"], one["statement"], of))
    return told


REPLACED = "Left out of what claims are given, for the theorem's hypotheses stand in its place"


def notes(report: Part) -> list[str]:
    """Say what the table leaves out, and why, and what its numbers are."""
    said = [
        "Searched in the ensembles of the theorem; `relu-verify search CLAIM --without ASSUMPTION` "
        "also looks among small problems."
    ]
    shown = [found["worst"]["margin"] for row in report["assumptions"] if (found := leading(row))]
    if any(value is None or abs(value) >= _HUGE for value in shown):
        said.append(
            "A margin is (right − left)/scale; the scale of an identity is the error that rounding "
            "may cause, so that where it plainly fails its margin is huge."
        )
    if report["certificates"]:
        names = listed(report["certificates"])
        said.append(f"Left out of every scope, for it implies what is claimed: {names}.")
    rates = [one["id"] for one in report["not_ablated"] if one["why"].startswith("a rate")]
    if rates:
        said.append(f"Not ablated, for no single instance violates a rate: {listed(rates)}.")
    if any(one["why"].startswith("of a control") for one in report["not_ablated"]):
        said.append("Controls' claims, which are false as they are, are not ablated.")
    return said
