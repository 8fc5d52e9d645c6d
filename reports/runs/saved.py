"""A report.json as it is read again: whole, of this version, and with what other pages need."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from reports.runs.schema import (
    CHAIN,
    COMPUTING,
    COUNT,
    MEASURE,
    MEASURED,
    NUMBER,
    RATE,
    REPORT,
    SCHEMA_VERSION,
    SEVERITY,
    WORDS,
)
from reports.typography import clean
from verify.errors import InputError

_MISSING = object()


def read(place: Path) -> dict[str, Any]:
    """Return the report in a file, or in the report.json of a run's folder.

    What is not needed here is passed on as it is. Raises InputError for anything else, and for a
    report of another schema version.
    """
    path = place / "report.json" if place.is_dir() else place
    try:
        found = json.loads(path.read_bytes().decode("utf-8"), parse_constant=_refuse)
    except FileNotFoundError:
        raise InputError(f"no file {str(path)!r}; {_instead(place)}") from None
    except (OSError, ValueError, RecursionError) as reason:
        raise InputError(
            f"{path} is not a whole report.json ({str(reason)[:200]}); rebuild it with "
            f"relu-verify report {path.parent}"
        ) from reason
    if not isinstance(found, dict) or "schema_version" not in found:
        raise InputError(f"{path} is no report of relu-verify: it has no schema_version")
    if found["schema_version"] != SCHEMA_VERSION:
        raise InputError(
            f"{path} has schema_version={found['schema_version']!r}, expected {SCHEMA_VERSION}; "
            "rebuild it from its records, or read it with the relu-verify that wrote it"
        )
    try:
        wrong = _wrong(found, REPORT, "") or _wrong_measures(found) or _wrong_severities(found)
        wrong = wrong or _wrong_times(found)
        report = clean(found)
    except RecursionError:
        wrong = "entries lie too deep in one another"
    wrong = wrong or _ambiguous(report) or _inconsistent(report)
    if wrong:
        raise InputError(f"{path} is no report of relu-verify: {wrong}")
    return dict(report)


def _instead(place: Path) -> str:
    """Say what to do where there is no report.json at a place."""
    from reports.runs.journal import shard_in

    if not place.is_dir():
        return "give a run's folder, or check the path"
    if shard := shard_in(place):
        return (
            f"{place} is shard {shard}, which has no verdicts: join all shards with relu-verify "
            "merge, and give the folder that it writes"
        )
    return "rebuild it with relu-verify report, or check the path"


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")


def _wrong(value: Any, expected: Any, where: str) -> str:
    """Say which entry is missing or of another kind; "" if none is.

    expected: a type or types, WORDS, COUNT, [what each entry is], or {name: what it is}.
    """
    if isinstance(expected, list | dict):
        if not isinstance(value, type(expected)):
            return f"{where} is missing or not {_NAMES[type(expected)]}"
        return next(filter(None, (_wrong(*part) for part in _parts(value, expected, where))), "")
    if expected is WORDS:
        return "" if value in WORDS else f"{where} is not one of {', '.join(WORDS)}"
    return _wrong_scalar(value, expected, where)


def _wrong_scalar(value: Any, expected: Any, where: str) -> str:
    """Say whether a value is missing or of another type; "" if it is as expected."""
    if expected is COUNT:
        is_count = isinstance(value, int) and not isinstance(value, bool) and value in COUNT
        return "" if is_count else f"{where} is missing or not a count"
    kinds = expected if isinstance(expected, tuple) else (expected,)
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        return f"{where} is missing or not {' or '.join(_NAMES[kind] for kind in kinds)}"
    if isinstance(value, NUMBER) and not _is_a_double(value):
        return f"{where} is beyond the numbers of a computer"
    return ""


def _wrong_measures(report: dict[str, Any]) -> str:
    """Say which entry of what was measured is of another kind; older reports have none."""
    measures, chains = (report.setdefault(name, []) for name in ("measures", "chains"))
    if wrong := _wrong(measures, [MEASURE], "measures") or _wrong(chains, [CHAIN], "chains"):
        return wrong
    for number, chain in enumerate(chains):
        if any(len(cell["first"]) != len(chain["links"]) for cell in chain["cells"]):
            return f"chains[{number}] has cells with another number of links"
    for number, measure in enumerate(measures):
        where = f"measures[{number}]"
        if measure["kind"] not in MEASURED:
            return f"{where}.kind is not one of {', '.join(MEASURED)}"
        if wrong := _wrong(measure["cells"], [MEASURED[measure["kind"]]], f"{where}.cells"):
            return wrong
    return ""


def _wrong_times(report: Mapping[str, Any]) -> str:
    """Say which entry of how long it took is of another kind; older reports have none."""
    if "computing" not in report:
        return ""
    if wrong := _wrong(report["computing"], COMPUTING, "computing"):
        return wrong
    for i, own in enumerate(report["computing"]["theorems"]):
        for name, seconds in own["shares_s"].items():
            where = f"computing.theorems[{i}].shares_s[{name!r}]"
            if wrong := _wrong_scalar(seconds, NUMBER, where):
                return wrong
    return ""


def _wrong_severities(report: Mapping[str, Any]) -> str:
    """Say which entry of a counterexample's severity is of another kind; "" if none is."""
    for i, verdict in enumerate(report["verdicts"]):
        for j, example in enumerate(verdict["counterexamples"]):
            where, severity = f"verdicts[{i}].counterexamples[{j}].severity", example["severity"]
            if severity is None:
                continue
            if wrong := _wrong(severity, SEVERITY, where):
                return wrong
            rate = severity["rate"]
            if rate is not None and (wrong := _wrong(rate, RATE, f"{where}.rate")):
                return wrong
    return ""


def _parts(value: Any, expected: Any, where: str) -> Iterator[tuple[Any, Any, str]]:
    """Yield each entry of a list or object, what it should be, and where it is."""
    if isinstance(expected, list):
        yield from ((entry, expected[0], f"{where}[{i}]") for i, entry in enumerate(value))
    else:
        for name, kind in expected.items():
            yield value.get(name, _MISSING), kind, f"{where}.{name}" if where else name


_NAMES = {
    bool: "true or false",
    dict: "an object",
    float: "a decimal",
    int: "a whole number",
    list: "a list",
    str: "a text",
    type(None): "null",
}


def _is_a_double(value: float) -> bool:
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _ambiguous(report: Mapping[str, Any]) -> str:
    """Say which theorem, claim or measure a report has twice, or which is of no theorem of it."""
    addresses = Counter(theorem["address"] for theorem in report["theorems"])
    claims = Counter((verdict["theorem"], verdict["claim"]) for verdict in report["verdicts"])
    measures = Counter((m["theorem"], m["measure"]) for m in report["measures"])
    for counts in (addresses, claims, measures):
        for name, count in counts.items():
            if count > 1:
                return f"{name!r} occurs twice"
    for entry in (*report["verdicts"], *report["measures"]):
        if entry["theorem"] not in addresses:
            return f"{entry['full_id']!r} is of no theorem in it"
    return ""


def _inconsistent(report: Mapping[str, Any]) -> str:
    """Say where more instances hold than are in scope."""
    for entry in (*report["verdicts"], *report["measures"]):
        counted = [cell.get("tally", cell) for cell in entry["cells"]]
        for counts in (entry, *counted) if "verdict" in entry else counted:
            if counts.get("holds", 0) > counts["in_scope"]:
                return f"more instances of {entry['full_id']!r} hold than are in scope"
    return ""
