"""The model of a page: everything a reader sees, decided, in the page's order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reports.exit_codes import ALL_AS_EXPECTED, REFUTED, UNSETTLED
from reports.html import claims as of_claims
from reports.html import measures as of_measures
from reports.html.anchors import aliases, anchor
from reports.html.headlines import headlines
from reports.html.marks import MARKS, VERDICTS, mark
from reports.html.placing import place_figures
from reports.text.times import time_words
from reports.typography import Part, listed, percent

DEFAULT_FOLDER = "relu-verify-out"
"""Where a run leaves its files, for a report that does not say."""

EXIT_MEANINGS: dict[int | None, str] = {
    ALL_AS_EXPECTED: "everything is as expected",
    REFUTED: "a claim is refuted against expectation, or a control is not refuted",
    UNSETTLED: "something is inconclusive, undecided or vacuous",
}

SECTIONS: tuple[str, ...] = ("answer", "glance", "summary", "theorems", "controls", "figures")
SECTIONS += ("reading", "marks", "confidence", "searches", "power-law", "reproduce")
"""Ids of the page's own sections."""

MOST_OPEN = 30
"""Claims up to which the table of all claims is open."""


def page_of(report: Part) -> dict[str, Any]:
    """Return the model of a page for a report that `typography.clean` went over."""
    folder = str(report.get("out") or DEFAULT_FOLDER)
    verdicts = [of_claims.with_defaults(verdict) for verdict in report.get("verdicts") or ()]
    theorems = _theorems(report, verdicts, folder)
    drawn = place_figures(report, theorems)
    tool = {"name": "relu-verify", "version": "", **(report.get("tool") or {})}
    claims = [claim for theorem in theorems for claim in theorem["claims"]]
    controls = [claim for theorem in theorems for claim in theorem["controls"]]
    return {
        "title": f"{tool['name']} report",
        "tool": tool,
        "sentence": report.get("sentence") or "No verdicts.",
        "good": all(verdict["as_expected"] for verdict in verdicts),
        "created": str(report.get("created") or "").replace("T", " ").removesuffix("+00:00"),
        "tallies": {"claims": _tally(claims), "controls": _tally(controls)},
        "standing": _standing(claims, controls),
        "limits": _limits(theorems),
        "run": {key: report.get(key) for key in ("seed", "profile", "backend")},
        "took": time_words(report),
        "confidence": report.get("confidence"),
        "budget": _budget(report),
        "theorems": theorems,
        "claims": claims,
        "controls": controls,
        "claim_groups": _groups(theorems, "claims"),
        "control_groups": _groups(theorems, "controls"),
        "all_open": len(claims) <= MOST_OPEN,
        "aliases": _aliases(theorems),
        "figures": drawn,
        "verdicts": list(VERDICTS.items()),
        "marks": [mark({"status": letter}) for letter in MARKS],
        "read": _is_read(theorems),
        "command": report.get("command") or "",
        "versions": report.get("versions") or {},
        "exit_code": report.get("exit_code"),
        "exit_meaning": EXIT_MEANINGS.get(report.get("exit_code"), "see the documentation"),
        "schema_version": report["schema_version"],
    }


# Theorems.


def _theorems(
    report: Part, verdicts: Sequence[dict[str, Any]], folder: str
) -> list[dict[str, Any]]:
    """Return the theorems with all that belongs to them; also one that only verdicts name.

    folder: where the run left its files.
    """
    told = {theorem["address"]: theorem for theorem in report.get("theorems") or ()}
    for verdict in verdicts:
        told.setdefault(verdict["theorem"], {"address": verdict["theorem"]})
    found, taken = [], set()
    for address, theorem in told.items():
        name = theorem.get("id") or address
        name = address if name in taken else name
        taken.add(name)
        own = [verdict for verdict in verdicts if verdict["theorem"] == address]
        found.append(_theorem(report, {**theorem, "name": name}, own, folder))
    return found


def _theorem(
    report: Part, theorem: Part, verdicts: Sequence[dict[str, Any]], folder: str
) -> dict[str, Any]:
    name, address = theorem["name"], theorem["address"]
    assumptions = [_assumption(entry, name) for entry in theorem.get("assumptions") or ()]
    known = {assumption["id"]: assumption for assumption in assumptions}
    judged = [of_claims.claim(verdict, known, verdicts, folder) for verdict in verdicts]
    measures = of_measures.measures(report, address, known)
    chain = of_measures.chain(report, address)
    claims = [claim for claim in judged if claim["expected"] != "refuted"]
    controls = [claim for claim in judged if claim["expected"] == "refuted"]
    return {
        "name": name,
        "address": address,
        "anchor": anchor("theorem", name),
        "title": theorem.get("title") or name,
        "statement": theorem.get("statement") or "",
        "citation": theorem.get("citation") or "",
        "method": theorem.get("method") or "",
        "mark": mark(theorem),
        "symbols": theorem.get("symbols") or (),
        "defaults": theorem.get("defaults") or {},
        "axes": theorem.get("axes") or (),
        "assumptions": assumptions,
        "claims": claims,
        "controls": controls,
        "measures": measures,
        "headlines": headlines(measures),
        "constants": of_measures.constants(measures),
        "thresholds": of_measures.thresholds(measures),
        "chain": chain,
        "state": _state(claims, controls),
        "good": all(claim["as_expected"] for claim in judged),
        "share": ((report.get("error_budget") or {}).get("theorems") or {}).get(address),
        "figures": [],
        "margins": {"figures": []},
        "shared": {"figures": []},
    }


def _assumption(assumption: Part, theorem: str) -> dict[str, Any]:
    return {
        **assumption,
        "anchor": anchor("assumption", f"{theorem}/{assumption['id']}"),
        "mark": mark(assumption),
        "met": of_measures.realised(assumption),
    }


def _state(claims: Sequence[Part], controls: Sequence[Part]) -> str:
    """Say in a line how a theorem stands."""
    counts = {word: sum(claim["verdict"] == word for claim in claims) for word in VERDICTS}
    said = [f"{count} {word}" for word, count in counts.items() if count]
    if not claims:
        told = "no claim checked"
    elif len(said) == 1:
        word = next(word for word, count in counts.items() if count)
        told = f"all {len(claims)} claims {word}" if len(claims) > 1 else f"its claim is {word}"
    else:
        told = f"of {len(claims)} claims {listed(said)}"
    caught = sum(control["as_expected"] for control in controls)
    if not controls:
        return f"{told}; no controls"
    if caught < len(controls):
        return f"{told}; only {caught} of {len(controls)} controls refuted"
    if caught == 1:
        return f"{told}; its control refuted, as it must be"
    return f"{told}; all {caught} controls refuted, as they must be"


def _groups(theorems: Sequence[Part], key: str) -> list[dict[str, Any]]:
    """Return the theorems that have entries under `key`, for a table with a heading for each."""
    shown = [theorem for theorem in theorems if theorem[key]]
    return [{"name": t["name"], "anchor": t["anchor"], "entries": t[key]} for t in shown]


def _aliases(theorems: Sequence[Part]) -> Mapping[str, str]:
    """Return the second ids of theorems, claims and measures, by name."""
    names = [theorem["name"] for theorem in theorems]
    for theorem in theorems:
        names += [
            entry["full_id"] for key in ("claims", "controls", "measures") for entry in theorem[key]
        ]
    return aliases(dict.fromkeys(names), SECTIONS)


# The answer.


def _standing(claims: Sequence[Part], controls: Sequence[Part]) -> dict[str, Any]:
    """Return which claims hold, which do not, which are open, and how the controls stand."""
    word = {"certified": "holds", "supported": "holds", "refuted": "fails"}
    found: dict[str, list[Part]] = {"holds": [], "fails": [], "open": []}
    for claim in claims:
        found[word.get(claim["verdict"], "open")].append(claim)
    missed = [control for control in controls if not control["as_expected"]]
    shown = sum(bool(claim["counterexamples"]) for claim in found["fails"])
    return {**found, "shown": shown, "missed": missed, "caught": len(controls) - len(missed)}


def _limits(theorems: Sequence[Part]) -> list[Part]:
    """Return the refuted controls that show where theorems end: those at whose points most trials
    break the theorem's chain; without a chain, those refuted outside a hypothesis of it."""
    found = []
    for theorem in theorems:
        refuted = [c for c in theorem["controls"] if c["as_expected"]]
        if theorem["chain"] is None:
            found += [c for c in refuted if any(e["outside"] for e in c["counterexamples"])]
            continue
        cells = theorem["chain"]["cells"]
        broken = [cell["controls"] for cell in cells if 2 * sum(cell["first"]) > cell["trials"]]
        names = {name for controls in broken for name in controls}
        found += [c for c in refuted if c["claim"] in names]
    return found


def _tally(entries: Sequence[Part]) -> dict[str, int]:
    return {"all": len(entries), "expected": sum(entry["as_expected"] for entry in entries)}


def _budget(report: Part) -> str:
    """Say in words how the error is split."""
    budget = report.get("error_budget") or {}
    shares = budget.get("theorems") or {}
    if budget.get("total") is None or not shares:
        return ""
    if len(shares) == 1:
        return f"All of the error of {percent(budget['total'], 3)} goes to one theorem."
    if max(shares.values()) - min(shares.values()) < 1e-12:
        each = f"{percent(min(shares.values()), 3)} each"
    else:
        each = ", ".join(f"{percent(share, 3)} to {name}" for name, share in shares.items())
    return (
        f"The error of {percent(budget['total'], 3)} is split over {len(shares)} theorems, {each}."
    )


def _is_read(theorems: Sequence[Part]) -> bool:
    """Whether anything that a report states was read in the paper itself."""
    keys = ("assumptions", "claims", "controls", "measures")
    stated = [
        entry
        for theorem in theorems
        for entry in (theorem, *(entry for key in keys for entry in theorem[key]))
    ]
    return any((entry["mark"] or {}).get("letter") == "V" for entry in stated)
