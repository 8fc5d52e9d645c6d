"""What changed between two runs, from their reports: verdicts, claims, frequencies, settings.

Claims are matched by the id of their theorem and their own. A verdict changed for the worse
where it was as expected and is not, or where a claim fell from certified to supported, or a
verdict that was not as expected fell to refuted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reports.exit_codes import ALL_AS_EXPECTED, REFUTED, UNSETTLED
from reports.thresholds import differ
from verify.severity import scope_words

Part = Mapping[str, Any]

ERROR = 0.05
"""Probability that any frequency is said to have moved if none has (all comparisons together)."""

SETTINGS = ("profile", "seed", "backend", "confidence", "jobs", "executor")
_STATED = ("statement", "kind", "status", "expected", "probability", "because")
_RANK = {"certified": 3, "supported": 2, "refuted": 0}


def compare(before: Part, after: Part) -> dict[str, Any]:
    """Return what changed from one report to another, as JSON-able values.

    exit_code: 0 if no verdict changed, 1 if one changed for the worse, 3 if verdicts changed
    otherwise: for the better, from one unsettled word to another, or because claims were added,
    removed or stated differently.
    """
    old, new = _by_claim(before), _by_claim(after)
    both = [(_name(key), old[key], new[key]) for key in old if key in new]
    same = [entry for entry in both if _says_the_same(*entry[1:])]
    changed: dict[str, list[dict[str, Any]]] = {"worse": [], "better": [], "other": []}
    for name, one, other in both:
        if one["verdict"] != other["verdict"] or one["as_expected"] != other["as_expected"]:
            entry = {"claim": name, "before": _evidence(one), "after": _evidence(other)}
            changed[_direction(one, other)].append(entry)
    claims = {
        "added": [{"claim": _name(k), **_evidence(new[k])} for k in new if k not in old],
        "removed": [{"claim": _name(k), **_evidence(old[k])} for k in old if k not in new],
        "restated": [r for r in (_restated(*entry) for entry in both) if r["changes"]],
    }
    found = {
        "runs": {"before": _run(before), "after": _run(after)},
        "settings": _changes(*({k: r.get(k) for k in SETTINGS} for r in (before, after))),
        "versions": _changes(before["versions"], after["versions"]),
        "theorems": list(_theorems(before, after)),
        "claims": claims,
        "verdicts": changed,
        "frequencies": _frequencies([*_of_claims(same), *_of_measures(before, after)]),
        "slopes": list(_slopes(same)),
        "thresholds": list(_thresholds(before, after)),
        "counterexamples": list(_counterexamples(both)),
        "time": _time(before, after),
    }
    otherwise = any((changed["better"], changed["other"], *claims.values()))
    code = REFUTED if changed["worse"] else UNSETTLED if otherwise else ALL_AS_EXPECTED
    return {**found, "exit_code": code}


def _by_claim(report: Part) -> dict[tuple[str, str], Part]:
    """Return the verdicts by what those of two reports are matched by: theorem and claim."""
    names = _names(report)
    return {(names[v["theorem"]], v["claim"]): v for v in report["verdicts"]}


def _name(key: tuple[str, str]) -> str:
    return ".".join(key)


def _names(report: Part) -> dict[str, str]:
    """Return the id of each theorem by its address; the address where an id is not unique."""
    count = Counter(theorem["id"] for theorem in report["theorems"])
    return {
        t["address"]: t["id"] if count[t["id"]] == 1 else t["address"] for t in report["theorems"]
    }


def _run(report: Part) -> dict[str, Any]:
    kept = ("out", "created", "sentence", *SETTINGS)
    names = [theorem["address"] for theorem in report["theorems"]]
    return {**{name: report.get(name) for name in kept}, "theorems": names}


def _changes(before: Part, after: Part) -> list[dict[str, Any]]:
    """Return what differs between two objects, name by name."""
    names = dict.fromkeys((*before, *after))
    pairs = ((name, before.get(name), after.get(name)) for name in names)
    return [{"name": name, "before": a, "after": b} for name, a, b in pairs if a != b]


def _evidence(verdict: Part) -> dict[str, Any]:
    """Return what a verdict says, and the counts that it rests on."""
    names = ("verdict", "as_expected", "trials", "in_scope", "holds", "violated", "undecided")
    return {name: verdict[name] for name in (*names, "worst_margin", "detail")}


def _direction(one: Part, other: Part) -> str:
    """Say whether a verdict changed for the worse, the better, or otherwise."""
    ranks = [
        (verdict["as_expected"], verdict["expected"] != "refuted" and _rank(verdict))
        for verdict in (one, other)
    ]
    if ranks[0] == ranks[1]:
        return "other"
    return "worse" if ranks[1] < ranks[0] else "better"


def _rank(verdict: Part) -> int:
    return _RANK.get(verdict["verdict"], 1)


def _restated(name: str, one: Part, other: Part) -> dict[str, Any]:
    """Return how the statement of a claim changed, what it is given, or where it is tested."""
    changes = _changes(_stated(one), _stated(other))
    old, new = ({_key(cell["point"]): cell["point"] for cell in v["cells"]} for v in (one, other))
    left = [point for key, point in old.items() if key not in new]
    come = [point for key, point in new.items() if key not in old]
    if left or come:
        changes.append({"name": "points", "before": left, "after": come})
    return {"claim": name, "changes": changes}


def _says_the_same(one: Part, other: Part) -> bool:
    """Whether the numbers of two verdicts are about one statement."""
    return all(one[name] == other[name] for name in ("statement", "kind", "given"))


def _stated(verdict: Part) -> dict[str, Any]:
    """Return what a claim says."""
    slopes = {
        f"slope of {slope['sweep']}": f"{slope['exponent']:g} ± {slope['tolerance']:g}"
        for slope in verdict["slopes"]
    }
    given = {"given": sorted(verdict["given"])}
    return {name: verdict[name] for name in _STATED} | given | slopes


def _theorems(before: Part, after: Part) -> Iterator[dict[str, Any]]:
    """Yield theorems whose place, statement or assumptions changed."""
    old, new = ({_names(r)[t["address"]]: t for t in r["theorems"]} for r in (before, after))
    for name in old:
        if name in new:
            told = [
                {k: t[k] for k in ("address", "title", "citation", "statement", "status")}
                | {f"assumption {a['id']}": a["statement"] for a in t["assumptions"]}
                for t in (old[name], new[name])
            ]
            if changes := _changes(*told):
                yield {"theorem": name, "changes": changes}


# Numbers: which of them differ by more than chance.


def _frequencies(pairs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return which of the pairs of frequencies, (count, of how many) each, differ by more than
    chance: by Fisher's exact test, two-sided, at the level ERROR over the number of pairs
    (Bonferroni)."""
    moved = []
    for pair in pairs:
        (a, b), (c, d) = pair["before"], pair["after"]
        p = 1.0 if a * d == c * b else _fisher(a, b, c, d)
        if p < ERROR / len(pairs):
            moved.append({**pair, "p_value": p})
    return {"compared": len(pairs), "error": ERROR, "moved": moved}


def _of_claims(both: Sequence[tuple[str, Part, Part]]) -> Iterator[dict[str, Any]]:
    """Yield how often claims hold in scope, before and after: a universal claim on all its cells
    together, where these are the same, a with-probability claim cell by cell."""
    for name, one, other in both:
        old, new = ({_key(cell["point"]): cell for cell in v["cells"]} for v in (one, other))
        kinds = {one["kind"], other["kind"]}
        if kinds == {"universal"} and old.keys() == new.keys():
            yield _pair(name, None, one, other)
        if kinds == {"probable"}:
            for key in (key for key in old if key in new):
                yield _pair(name, old[key]["point"], old[key]["tally"], new[key]["tally"])


def _of_measures(before: Part, after: Part) -> Iterator[dict[str, Any]]:
    """Yield measured frequencies, before and after."""
    old, new = (
        {
            (_names(report)[measure["theorem"]], measure["measure"], _key(cell["point"])): cell
            for measure in report["measures"]
            if measure["kind"] == "frequency"
            for cell in measure["cells"]
        }
        for report in (before, after)
    )
    for key in old:
        if key in new:
            yield _pair(_name(key[:2]), old[key]["point"], old[key], new[key])


def _thresholds(before: Part, after: Part) -> Iterator[dict[str, Any]]:
    """Yield the thresholds of which something else is known, or that lie apart."""
    old, new = (
        {
            (_names(report)[m["theorem"]], m["measure"], str(t.get("line")), t["level"]): (m, t)
            for m in report["measures"]
            for t in m.get("thresholds") or ()
        }
        for report in (before, after)
    )
    for key, (measure, one) in old.items():
        if key in new and differ(one, new[key][1]):
            told = [{k: t.get(k) for k in ("low", "high", "monotone")} for t in (one, new[key][1])]
            yield {
                "measure": _name(key[:2]),
                "by": measure.get("by") or "",
                "line": one.get("line"),
                "level": one["level"],
                "before": told[0],
                "after": told[1],
            }


def _pair(name: str, point: Any, one: Part, other: Part) -> dict[str, Any]:
    counts = [[found["holds"], found["in_scope"]] for found in (one, other)]
    return {"claim": name, "point": point, "before": counts[0], "after": counts[1]}


def _key(point: Part) -> tuple[Any, ...]:
    return tuple(sorted((name, str(value)) for name, value in point.items()))


def _fisher(held: int, trials: int, held_then: int, trials_then: int) -> float:
    """Return the two-sided p-value of Fisher's exact test for two frequencies."""
    from scipy.stats import fisher_exact

    table = [[held, trials - held], [held_then, trials_then - held_then]]
    return float(fisher_exact(table).pvalue)


def _slopes(both: Sequence[tuple[str, Part, Part]]) -> Iterator[dict[str, Any]]:
    """Yield the slopes whose intervals do not overlap."""
    for name, one, other in both:
        new = {slope["sweep"]: slope for slope in other["slopes"]}
        for slope in one["slopes"]:
            pair = [slope, new.get(slope["sweep"], {})]
            if any(entry.get(end) is None for entry in pair for end in ("low", "high")):
                continue
            if pair[0]["high"] < pair[1]["low"] or pair[1]["high"] < pair[0]["low"]:
                before, after = ({k: s[k] for k in ("slope", "low", "high")} for s in pair)
                yield {"claim": name, "sweep": slope["sweep"], "before": before, "after": after}


def _counterexamples(both: Sequence[tuple[str, Part, Part]]) -> Iterator[dict[str, Any]]:
    """Yield the claims whose smallest or worst counterexample is new, gone or another."""
    for name, one, other in both:
        old, new = ({c["kind"]: c for c in v["counterexamples"]} for v in (one, other))
        for kind in dict.fromkeys((*old, *new)):
            before, after = old.get(kind), new.get(kind)
            facts = [c and (c["margin"], c["summary"]) for c in (before, after)]
            if facts[0] != facts[1]:
                yield {
                    "claim": name,
                    "kind": kind,
                    "change": "new" if before is None else "gone" if after is None else "another",
                    "before": before and before["margin"],
                    "after": after and after["margin"],
                    "file": after["file"] if after else "",
                    "scope": _scope(after or {}),
                }


def _scope(example: Part) -> str:
    """Say whether a counterexample is in scope; "" of none, or where a report does not tell."""
    severity = example.get("severity")
    return scope_words(severity) if severity else ""


def _time(before: Part, after: Part) -> dict[str, Any]:
    """Return the wall times, in seconds, and their ratio."""
    one, other = before["wall_time_s"], after["wall_time_s"]
    return {"before": one, "after": other, "ratio": other / one if one and other else None}
