"""From results to one model of a run: the content of report.json, from which all else is told."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reports.exit_codes import ALL_AS_EXPECTED, REFUTED, UNSETTLED
from reports.runs.rasters import rasters
from reports.runs.running import COUNTEREXAMPLES, Result, Settings, error_share
from reports.runs.schema import SCHEMA_VERSION
from verify import __version__
from verify.claims import Status
from verify.computing import Computing
from verify.counterexample import Counterexample
from verify.verdict import Conclusion, Verdict
from verify.writing import json_text, jsonable, require_writable, write_text


def summarise(
    results: Sequence[Result],
    settings: Settings,
    seconds: float,
    command: str,
    out: Path,
    created: str = "",
    pictures: bool = True,
) -> dict[str, Any]:
    """Return the report of a run as JSON-able values (NaN and infinities are null).

    out: the run's folder, as it was given.   created: when the run ended, ISO 8601; by default
    now.   pictures: whether to simulate the problems whose activation patterns are shown.
    """
    verdicts = [(result, verdict) for result in results for verdict in result.verdicts]
    shares = {r.theorem.address: error_share(r.theorem, settings.confidence) for r in results}
    plain = [verdict for _, verdict in verdicts]
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "relu-verify", "version": __version__},
        "command": command,
        "out": str(out),
        "created": created or datetime.now(UTC).isoformat(timespec="seconds"),
        **asdict(settings),
        "wall_time_s": round(seconds, 3),
        "computing": computing({r.theorem.address: r.computing for r in results}),
        "exit_code": exit_code(plain),
        "sentence": sentence(plain),
        "error_budget": {"total": sum(shares.values()), "theorems": shares},
        "versions": versions(),
        "theorems": [_theorem(result) for result in results],
        "verdicts": [told(result, verdict) for result, verdict in verdicts],
        "measures": [m.to_json() for result in results for m in result.verdicts.measured],
        "chains": [r.verdicts.chain.to_json() for r in results if r.verdicts.chain is not None],
        "rasters": rasters(results, settings.seed) if pictures else [],
    }


def computing(theorems: Mapping[str, Computing]) -> dict[str, Any]:
    """Return how many seconds workers took (`verify.computing`), for all theorems and for each, by
    its address.

    now_s: null of a run told again that does not remember it.
    """
    whole = sum(theorems.values(), Computing())
    return {
        "in_all_s": round(whole.in_all, 3),
        "now_s": round(whole.now, 3),
        "untimed": whole.untimed,
        "theorems": [
            {
                "theorem": address,
                "in_all_s": round(own.in_all, 3),
                "shares_s": {name: round(each, 3) for name, each in own.shares.items()},
            }
            for address, own in theorems.items()
        ],
    }


def exit_code(verdicts: Sequence[Verdict]) -> int:
    """Return 1 if a claim is refuted or a control is not, 3 if something is unsettled, else 0."""
    for verdict in verdicts:
        control = verdict.expected is Conclusion.REFUTED
        if control != (verdict.verdict is Conclusion.REFUTED):
            return REFUTED
    return ALL_AS_EXPECTED if all(v.as_expected for v in verdicts) else UNSETTLED


def sentence(verdicts: Sequence[Verdict]) -> str:
    """Say in one sentence what a run found."""
    claims = [v for v in verdicts if v.expected is not Conclusion.REFUTED]
    controls = [v for v in verdicts if v.expected is Conclusion.REFUTED]
    return f"{_said_of_claims(claims)}; {_said_of_controls(controls)}."


def _said_of_claims(claims: Sequence[Verdict]) -> str:
    counts = {word: sum(v.verdict is word for v in claims) for word in Conclusion}
    found = [f"{count} {word}" for word, count in counts.items() if count]
    if not claims:
        return "No claim was checked"
    if len(found) > 1:
        return f"Of {len(claims)} claims, {', '.join(found)}"
    return f"{_all(len(claims), 'claim')} {claims[0].verdict}"


def _said_of_controls(controls: Sequence[Verdict]) -> str:
    caught, count = sum(v.verdict is Conclusion.REFUTED for v in controls), len(controls)
    if not controls:
        return "there are no controls"
    if caught == count:
        must = "it" if count == 1 else "they"
        return f"{_all(count, 'control').lower()} refuted, as {must} must be"
    if count == 1:
        return "the control is not refuted: the evidence is void"
    return f"only {caught} of {count} controls are refuted: the evidence is void"


def _all(count: int, noun: str) -> str:
    return f"The {noun} is" if count == 1 else f"All {count} {noun}s are"


def versions() -> dict[str, str]:
    """Return the versions that a result depends on."""
    import hypothesis
    import numpy
    import scipy

    return {
        "python": platform.python_version(),
        "platform": f"{sys.platform} {platform.machine()}",
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "hypothesis": hypothesis.__version__,
        "relu-verify": __version__,
    }


def _theorem(result: Result) -> dict[str, Any]:
    theorem = result.theorem
    realised = {one.assumption: one.to_json() for one in result.verdicts.realised}
    return {
        "id": theorem.id,
        "address": theorem.address,
        "title": theorem.title,
        "citation": theorem.citation,
        "statement": theorem.statement,
        "symbols": [{"symbol": s, "meaning": m} for s, m in theorem.symbols.items()],
        "defaults": dict(theorem.defaults),
        "method": theorem.method,
        "status": theorem.status.value,
        "status_meaning": theorem.status.meaning,
        "axes": [jsonable(asdict(axis)) for axis in theorem.axes],
        "assumptions": [
            {
                "id": assumption.id,
                "statement": assumption.statement,
                "status": theorem.status_of(assumption).value,
                "status_meaning": theorem.status_of(assumption).meaning,
                "realised": _without_id(realised.get(assumption.id)),
            }
            for assumption in theorem.assumptions
        ],
    }


def _without_id(realised: dict[str, Any] | None) -> dict[str, Any] | None:
    if realised is None:
        return None
    return {name: value for name, value in realised.items() if name != "assumption"}


def told(result: Result, verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as it stands in report.json."""
    return {
        **verdict.to_json(),
        "as_expected": verdict.as_expected,
        "status_meaning": Status(verdict.status).meaning,
        "counterexamples": [
            {
                "kind": filed.kind,
                "file": filed.file,
                "margin": jsonable(filed.example.margin),
                "searched": filed.example.kind != "drawn",
                "severity": jsonable(filed.example.severity) or None,
                "summary": _placed(filed.example) | _short(filed.example.facts),
            }
            for filed in result.counterexamples.get(verdict.claim, ())
        ],
    }


def _placed(example: Counterexample) -> dict[str, Any]:
    """Return where an example was drawn, as a fact; nothing for one that is given explicitly."""
    point = example.recipe.get("point")
    return {"drawn at": jsonable(point)} if point else {}


def _short(facts: Any) -> dict[str, Any]:
    """Return the facts that a card has room for; the file holds them all."""

    def size(value: Any) -> int:
        entries = value.values() if isinstance(value, dict) else value
        return sum(map(size, entries)) if isinstance(value, list | dict) else 1

    return {name: value for name, value in facts.items() if size(value) <= 36}


def require_room(folder: Path) -> None:
    """Raise InputError where `write`, or a counterexample, could not be written to a folder."""
    require_writable(*(folder / name for name in (*_NAMES, f"{COUNTEREXAMPLES}/one.json")))


_NAMES = ("report.json", "report.html")


def write(report: dict[str, Any], folder: Path) -> None:
    """Write report.json and report.html, each whole or not at all.

    Raises InputError where they cannot be written.
    """
    from reports.html.render import render

    for name, content in zip(_NAMES, (json_text(report), render(report)), strict=True):
        write_text(folder / name, content)
