"""An ablation as one JSON-able report, with its sentence, its exit code and its files.

ablation.json, version 1:

- format, schema_version, written_by, command, theorem {id, title, address, citation, status},
  examples (that Hypothesis drew for each assumption), seed, headline, sentence, exit_code;
- claims: [{id, statement, kind, probability (null unless it is about one), status, fails}]: `fails`
  is null or, where the claim fails with nothing dropped, so that no row counts it, {stated, at}: in
  words where it is stated, and where it failed;
- not_ablated: [{id, why}];   certificates: ids of what is left out throughout;
- replaced: [{id, statement, claims}], of what those claims are given, and no certificate: left out
  throughout too, for the theorem's hypotheses stand in its place;
- in_scope_violations: [{claim, met_while_dropping (null at the baseline), margin, file}]: of
  universal claims, with nothing dropped;
- baseline: a row for nothing dropped;   assumptions: a row for each, in the theorem's order.

A row: {id, statement, status, axes (moved beyond what is assumed), verdict, leading, effort, rare,
claims, scatter}. leading: the claim that the row's violations are shown of, or null. effort:
{examples, not_drawn, rest_failed, held, undecided, tested, closest, furthest}, the last two margins
of the dropped assumption, negative, null without any. claims: [{claim, verdict, tested, holds,
violated, undecided, refused, rare, least_margin, rates, nearest, worst}]. rare: violations were met
on few of the instances tested (`SELDOM`), and none of the fresh trials at the worst one's point is
or may be another; of a row, that all its violated claims are so. rates: as in `severity`. nearest,
worst: {margin, outside (margin of the dropped assumption), where (its coordinates), coordinate
(which of them explains it, in words, or ""), recipe (how the instance is drawn: point, and seeds),
first_step, severity, file}, or null. scatter: {outside: […], margins: […], outcomes: […]} of the
leading claim on the instances tested, to five digits; null without one. Margins are dimensionless:
(right − left)/scale.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import verify
from properties.ablation.findings import (
    BELOW,
    FAILS,
    LOAD_BEARING,
    NOT_BELOW,
    NOT_NEEDED,
    STANDS,
    ClaimFound,
    Found,
    Shown,
)
from properties.ablation.question import Question, ablated_claims, certificates, replaced
from reports.ablation import answer
from reports.runs.running import COUNTEREXAMPLES, file_name, stems_of
from verify import counterexample
from verify.claims import Claim, Probable, Rate, Universal
from verify.counterexample import Counterexample
from verify.theorem import Theorem
from verify.writing import jsonable

FORMAT, SCHEMA_VERSION = "relu-verify ablation", 1

SELDOM = 0.02
"""Share of the instances tested up to which violations count as rare, if fresh trials show none."""

_AT_BASELINE = {
    "universal": {LOAD_BEARING: FAILS, NOT_NEEDED: STANDS},
    "probable": {LOAD_BEARING: BELOW, NOT_NEEDED: NOT_BELOW},
}


def summarise(
    theorem: Theorem, found: Sequence[Found], examples: int, seed: int, command: str = ""
) -> tuple[dict[str, Any], dict[str, Counterexample]]:
    """Return the report on an ablation, and its counterexamples by the names of their files.

    found: of `properties.ablate`, the baseline first.
    """
    baseline, *dropped = found
    failing = {one.claim: one.worst for one in baseline.claims if one.worst is not None}
    files: dict[str, Counterexample] = {}
    stem = stems_of([theorem])[theorem.address]

    def filed(claim: str, kind: str, shown: Shown) -> str:
        name = file_name(stem, claim, kind)
        files[name] = shown.example
        return name

    rows = [_row(theorem, one, failing, filed) for one in dropped]
    violations = _in_scope(theorem, found, filed)
    claims = [_stated(theorem, claim, failing.get(claim.id)) for claim in ablated_claims(theorem)]
    told = {
        "format": FORMAT,
        "schema_version": SCHEMA_VERSION,
        "written_by": f"relu-verify {verify.__version__}",
        "command": command,
        "theorem": {
            "id": theorem.id,
            "title": theorem.title,
            "address": theorem.address,
            "citation": theorem.citation,
            "status": theorem.status.value,
        },
        "examples": examples,
        "seed": seed,
        "headline": answer.headline(violations, rows, claims),
        "sentence": answer.sentence(violations, rows, claims),
        "exit_code": answer.exit_code(violations, rows),
        "claims": claims,
        "not_ablated": _not_ablated(theorem),
        "certificates": [assumption.id for assumption in certificates(theorem)],
        "replaced": [
            {"id": one.id, "statement": one.statement, "claims": [claim.id for claim in of]}
            for one, of in replaced(theorem).items()
        ],
        "in_scope_violations": violations,
        "baseline": {
            **_row(theorem, baseline, [], filed),
            "verdict": answer.standing(violations, claims),
        },
        "assumptions": rows,
    }
    return dict(jsonable(told)), files


def write_counterexamples(files: dict[str, Counterexample], folder: Path) -> None:
    """Write counterexamples into a folder, in place of those of an earlier ablation there."""
    for stale in (folder / COUNTEREXAMPLES).glob("*.json"):
        if ".ablated" in stale.name and f"{COUNTEREXAMPLES}/{stale.name}" not in files:
            stale.unlink()
    for name, example in files.items():
        counterexample.write(example, folder / name)


def _stated(theorem: Theorem, claim: Claim, violation: Shown | None) -> dict[str, Any]:
    fails = None
    if violation is not None:
        stated = [{**theorem.defaults, **point} for point in claim.at or theorem.cells]
        fails = answer.beyond(stated, violation.example.recipe["point"])
    return {
        "id": claim.id,
        "statement": claim.statement,
        "kind": claim.kind,
        "probability": claim.probability if isinstance(claim, Probable) else None,
        "status": theorem.status_of(claim).value,
        "fails": fails,
    }


def _not_ablated(theorem: Theorem) -> list[dict[str, str]]:
    rates = [
        {"id": claim.id, "why": "a rate: about sweeps, and no single instance violates it"}
        for claim in theorem.claims
        if isinstance(claim, Rate)
    ]
    false = [{"id": one.id, "why": "of a control: false as it is"} for one in theorem.controls]
    return rates + false


def _in_scope(theorem: Theorem, found: Sequence[Found], filed: Any) -> list[dict[str, Any]]:
    """Return the violations of universal claims with nothing dropped, those of the baseline first.

    A claim about a probability is stated at points of its own: elsewhere it may fail.
    """
    universal = {claim.id for claim in theorem.claims if isinstance(claim, Universal)}
    violations = []
    for one in found:
        for claim in one.claims:
            shown = claim.in_scope if one.dropped else claim.worst
            if shown is None or claim.claim not in universal:
                continue
            kind = f"ablated.{one.dropped or 'nothing'}.in_scope"
            violations.append(
                {
                    "claim": claim.claim,
                    "met_while_dropping": one.dropped or None,
                    "margin": shown.example.margin,
                    "file": filed(claim.claim, kind, shown),
                }
            )
    return violations


def _row(theorem: Theorem, found: Found, failing: Collection[str], filed: Any) -> dict[str, Any]:
    dropped = theorem.assumption(found.dropped) if found.dropped else None
    axes = [axis.name for axis in Question(theorem, dropped).moved]
    claims = [_claim(theorem, one, found.dropped, axes, filed) for one in found.claims]
    leading = _leading(theorem, claims, failing)
    borne = [one["rare"] for one in claims if one["worst"] and one["claim"] not in failing]
    return {
        "id": found.dropped or None,
        "statement": dropped.statement if dropped else "Nothing is dropped: all of it holds.",
        "status": theorem.status_of(dropped).value if dropped else None,
        "axes": axes,
        "verdict": found.verdict(failing),
        "leading": leading,
        "rare": bool(borne) and all(borne),
        "effort": {
            "examples": found.examples,
            "not_drawn": found.not_drawn,
            "rest_failed": found.rest_failed,
            "held": found.held,
            "undecided": found.open,
            "tested": found.tested,
            "closest": found.closest,
            "furthest": found.furthest,
        },
        "claims": claims,
        "scatter": _scatter(found, leading),
    }


def _scatter(found: Found, leading: str | None) -> dict[str, Any] | None:
    if leading is None or not found.scatter:
        return None
    told = found.scatter["claims"][leading]
    return {
        "outside": [_short(value) for value in found.scatter["outside"]],
        "margins": [_short(value) for value in told["margins"]],
        "outcomes": told["outcomes"],
    }


def _short(value: float) -> float:
    return float(f"{value:.5g}")


def _leading(
    theorem: Theorem, claims: Sequence[dict[str, Any]], failing: Collection[str]
) -> str | None:
    """Return the claim that a row shows: the first that the assumption bears, universal ones
    before those about a probability, and in each those that are rarely violated last."""
    universal = {claim.id for claim in theorem.claims if isinstance(claim, Universal)}
    borne = [one for one in claims if one["worst"] and one["claim"] not in failing]
    borne.sort(key=lambda one: (one["claim"] not in universal, one["rare"]))
    return borne[0]["claim"] if borne else None


def _claim(
    theorem: Theorem, one: ClaimFound, dropped: str, axes: Sequence[str], filed: Any
) -> dict[str, Any]:
    def shown(kind: str, what: Shown | None) -> dict[str, Any] | None:
        if what is None:
            return None
        example = what.example
        name = f"ablated.{dropped or 'nothing'}.{kind}"
        point = example.recipe["point"]
        return {
            "margin": example.margin,
            "outside": what.outside,
            "where": {axis: point[axis] for axis in axes if axis in point},
            "coordinate": _coordinate(example, dropped),
            "recipe": example.recipe,
            "first_step": example.severity["first_step"],
            "severity": example.severity,
            "file": filed(one.claim, name, what),
        }

    at_baseline = _AT_BASELINE[theorem.claim(one.claim).kind]
    return {
        "claim": one.claim,
        "verdict": one.verdict if dropped else at_baseline.get(one.verdict, one.verdict),
        "tested": one.tested,
        "holds": one.holds,
        "violated": one.violated,
        "undecided": one.undecided,
        "refused": one.refused,
        "rare": _rare(one),
        "least_margin": one.least,
        "rates": [rate.to_json() for rate in one.rates],
        "nearest": shown("nearest", one.nearest),
        "worst": shown("worst", one.worst),
    }


def _coordinate(example: Counterexample, dropped: str) -> str:
    """Say which coordinate lies outside the dropped assumption; "" if none is known to."""
    assumed = {one["assumption"]: one for one in example.severity["assumptions"]}
    return str(assumed[dropped]["coordinate"]) if dropped in assumed else ""


def _rare(one: ClaimFound) -> bool:
    """Whether violations were met seldom, and none of the fresh trials at the worst one's point is,
    or may be, another."""
    rate = None if one.worst is None else one.worst.example.severity["rate"]
    if rate is None or rate["violated"] or rate["undecided"]:
        return False
    return one.violated <= SELDOM * one.tested
