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

FAILING = "!"
"""In place of a verdict, of a claim that fails with nothing dropped."""


def signs(report: Part, row: Part) -> list[str]:
    """Return a sign for each claim, in their order; a blank for one that does not assume it."""
    told = {one["claim"]: SIGNS[one["verdict"]] for one in row["claims"]}
    return [FAILING if claim["fails"] else told.get(claim["id"], " ") for claim in report["claims"]]


def leading(row: Part) -> Part | None:
    """Return what is found of the claim that a row shows, None if no claim is violated there."""
    return next((one for one in row["claims"] if one["claim"] == row["leading"]), None)


def where(shown: Part) -> str:
    """Say where a violation lies outside the dropped assumption: coordinates, and its margin."""
    by = f"by {number(-shown['outside'], 3)}" if shown["outside"] is not None else "by any amount"
    return f"{point_text(shown['where'])} ({by})" if shown["where"] else by


def effort(row: Part) -> str:
    """Say how hard was looked, and how far outside the dropped assumption."""
    told = row["effort"]
    text = f"{number(told['tested'])} of {number(told['examples'])} instances tested"
    if not row["id"] or not told["tested"]:
        return text
    near, far = (number(-told[end], 3) for end in ("closest", "furthest"))
    return f"{text}, outside by {near} to {far}"


def rate(shown: Part) -> str:
    """Say how often the claim is violated at a violation's point, "" if it was not measured."""
    found = shown["severity"]["rate"]
    if found is None:
        return ""
    return f"{found['violated']} of {found['in_scope']} fresh trials there, {probability(found)}"


def probability(rate: Part) -> str:
    """Say between which bounds the probability of a violation is, rounded outwards."""
    low, high = math.floor(rate["low"] * 1e3) / 1e3, math.ceil(rate["high"] * 1e3) / 1e3
    return f"probability {low:.3f} to {high:.3f}"


def why_vacuous(row: Part) -> str:
    """Say why nothing was tested without an assumption."""
    if not row["axes"]:
        return "no axis of the theorem's space is named that could break it while the rest holds"
    return f"along {listed(row['axes'])} it was never violated while the rest held"


def notes(report: Part) -> list[str]:
    """Say what the table leaves out, and why."""
    said = []
    if report["certificates"]:
        names = listed(report["certificates"])
        said.append(f"Left out of every scope, for it implies what is claimed: {names}.")
    for claim in report["claims"]:
        if claim["fails"] and claim["kind"] == "probable":
            said.append(
                f"{claim['id']} is counted in no row: beyond the points at which it is stated its "
                f"probability is below {number(claim['probability'])} with nothing dropped."
            )
        elif claim["fails"]:
            said.append(f"{claim['id']} is counted in no row: it fails with nothing dropped.")
    rates = [one["id"] for one in report["not_ablated"] if one["why"].startswith("a rate")]
    if rates:
        said.append(f"Not ablated, for no single instance violates a rate: {listed(rates)}.")
    if any(one["why"].startswith("of a control") for one in report["not_ablated"]):
        said.append("Controls' claims, which are false as they are, are not ablated.")
    return said
