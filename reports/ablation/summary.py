"""An ablation as one JSON-able report, with its sentence, its exit code and its files.

ablation.json, version 1:

- format, schema_version, written_by, command, theorem {id, title, address, citation, status},
  examples (that Hypothesis drew for each assumption), seed, sentence, exit_code;
- claims: [{id, statement, kind, probability (null unless it is about one), status, fails}], where
  `fails` says that the claim was refuted with nothing dropped, so that no row counts it;
- not_ablated: [{id, why}];   certificates: ids of what is left out throughout;
- in_scope_violations: [{claim, met_while_dropping (null at the baseline), margin, file}]: of
  universal claims, with nothing dropped;
- baseline: a row for nothing dropped;   assumptions: a row for each, in the theorem's order.

A row: {id, statement, status, axes (moved beyond what is assumed), verdict, leading, effort,
claims, scatter}. leading: the claim that the row's violations are shown of, or null. effort:
{examples, not_drawn, rest_failed, held, undecided, tested, closest, furthest}, the last two margins
of the dropped assumption, negative, null without any. claims: [{claim, verdict, tested, holds,
violated, undecided, refused, least_margin, rates, nearest, worst}]. rates: as in `severity`.
nearest, worst: {margin, outside (margin of the dropped assumption), where (its coordinates),
first_step, severity, file}, or null. scatter: {outside: […], margins: […], outcomes: […]} of the
leading claim on the instances tested, to five digits; null without one. Margins are dimensionless.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import verify
from properties.ablation.findings import (
    FAILS,
    LOAD_BEARING,
    NEEDED_TO_STATE,
    NOT_NEEDED,
    STANDS,
    VACUOUS,
    ClaimFound,
    Found,
    Shown,
)
from properties.ablation.looking import UNDECIDED
from properties.ablation.question import Question, ablated_claims, certificates
from reports.exit_codes import ALL_AS_EXPECTED, REFUTED, UNSETTLED
from reports.runs.running import COUNTEREXAMPLES, file_name, stems_of
from reports.typography import listed
from verify import counterexample
from verify.claims import Claim, Probable, Rate, Universal
from verify.counterexample import Counterexample
from verify.theorem import Theorem
from verify.writing import jsonable

FORMAT, SCHEMA_VERSION = "relu-verify ablation", 1

_AT_BASELINE = {LOAD_BEARING: FAILS, NOT_NEEDED: STANDS}


def summarise(
    theorem: Theorem, found: Sequence[Found], examples: int, seed: int, command: str = ""
) -> tuple[dict[str, Any], dict[str, Counterexample]]:
    """Return the report on an ablation, and its counterexamples by the names of their files.

    found: of `properties.ablate`, the baseline first.
    """
    baseline, *dropped = found
    failing = [one.claim for one in baseline.claims if one.worst is not None]
    files: dict[str, Counterexample] = {}
    stem = stems_of([theorem])[theorem.address]

    def filed(claim: str, kind: str, shown: Shown) -> str:
        name = file_name(stem, claim, kind)
        files[name] = shown.example
        return name

    rows = [_row(theorem, one, failing, filed) for one in dropped]
    violations = _in_scope(theorem, found, filed)
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
        "sentence": sentence(violations, rows),
        "exit_code": exit_code(violations, rows),
        "claims": [_stated(theorem, claim, failing) for claim in ablated_claims(theorem)],
        "not_ablated": _not_ablated(theorem),
        "certificates": [assumption.id for assumption in certificates(theorem)],
        "in_scope_violations": violations,
        "baseline": _row(theorem, baseline, _stated_elsewhere(theorem, failing), filed),
        "assumptions": rows,
    }
    return dict(jsonable(told)), files


def exit_code(violations: Sequence[Any], rows: Sequence[dict[str, Any]]) -> int:
    """Return 1 for a violation in scope, 3 if a row is undecided or vacuous, else 0."""
    if violations:
        return REFUTED
    open_ = any(row["verdict"] in (UNDECIDED, VACUOUS) for row in rows)
    return UNSETTLED if open_ else ALL_AS_EXPECTED


def sentence(violations: Sequence[dict[str, Any]], rows: Sequence[dict[str, Any]]) -> str:
    """Say in one sentence what an ablation found."""
    if violations:
        names = listed(list(dict.fromkeys(one["claim"] for one in violations)))
        return f"Violated with nothing dropped: {names}."
    kinds = (LOAD_BEARING, NEEDED_TO_STATE, UNDECIDED, NOT_NEEDED, VACUOUS)
    said = []
    for kind in kinds:
        found = [row["id"] for row in rows if row["verdict"] == kind]
        said += [f"{kind}: {listed(found)}"] if found else []
    return f"No violation with nothing dropped; {'; '.join(said)}."


def write_counterexamples(files: dict[str, Counterexample], folder: Path) -> None:
    """Write counterexamples into a folder, in place of those of an earlier ablation there."""
    for stale in (folder / COUNTEREXAMPLES).glob("*.json"):
        if ".ablated" in stale.name and f"{COUNTEREXAMPLES}/{stale.name}" not in files:
            stale.unlink()
    for name, example in files.items():
        counterexample.write(example, folder / name)


def _stated(theorem: Theorem, claim: Claim, failing: Sequence[str]) -> dict[str, Any]:
    return {
        "id": claim.id,
        "statement": claim.statement,
        "kind": claim.kind,
        "probability": claim.probability if isinstance(claim, Probable) else None,
        "status": theorem.status_of(claim).value,
        "fails": claim.id in failing,
    }


def _stated_elsewhere(theorem: Theorem, failing: Sequence[str]) -> list[str]:
    """Return those of the failing claims that are about a probability, at points of their own."""
    return [name for name in failing if isinstance(theorem.claim(name), Probable)]


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


def _row(theorem: Theorem, found: Found, failing: Sequence[str], filed: Any) -> dict[str, Any]:
    dropped = theorem.assumption(found.dropped) if found.dropped else None
    axes = [axis.name for axis in Question(theorem, dropped).moved]
    claims = [_claim(one, found.dropped, axes, filed) for one in found.claims]
    verdict, leading = found.verdict(failing), _leading(theorem, claims, failing)
    return {
        "id": found.dropped or None,
        "statement": dropped.statement if dropped else "Nothing is dropped: all of it holds.",
        "status": theorem.status_of(dropped).value if dropped else None,
        "axes": axes,
        "verdict": verdict if dropped else _AT_BASELINE.get(verdict, verdict),
        "leading": leading,
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
    theorem: Theorem, claims: Sequence[dict[str, Any]], failing: Sequence[str]
) -> str | None:
    """Return the claim that a row shows: the first that the assumption bears, universal ones
    before those about a probability."""
    universal = {claim.id for claim in theorem.claims if isinstance(claim, Universal)}
    borne = [one["claim"] for one in claims if one["worst"] and one["claim"] not in failing]
    return next(iter(sorted(borne, key=lambda name: name not in universal)), None)


def _claim(one: ClaimFound, dropped: str, axes: Sequence[str], filed: Any) -> dict[str, Any]:
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
            "first_step": example.severity["first_step"],
            "severity": example.severity,
            "file": filed(one.claim, name, what),
        }

    return {
        "claim": one.claim,
        "verdict": one.verdict if dropped else _AT_BASELINE.get(one.verdict, one.verdict),
        "tested": one.tested,
        "holds": one.holds,
        "violated": one.violated,
        "undecided": one.undecided,
        "refused": one.refused,
        "least_margin": one.least,
        "rates": [rate.to_json() for rate in one.rates],
        "nearest": shown("nearest", one.nearest),
        "worst": shown("worst", one.worst),
    }
