"""What a run prints of verdicts: one line each, and under it where to see what refutes a claim."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from reports.characters import one_line
from reports.html.claims import replay_command
from reports.typography import Part, claimed_law, search_alone
from verify.verdict import at_least, at_most, searched_violations


def verdict_line(verdict: Part) -> str:
    """Return one line for a verdict of report.json."""
    control = verdict["expected"] == "refuted"
    name = f"{verdict['full_id']}{' (control)' if control else ''}"
    counts = f"{verdict['holds']}/{verdict['in_scope']}/{verdict['trials']}"
    if verdict["kind"] == "rate":
        counts, bound = f"{verdict['in_scope']}/{verdict['trials']}", _slopes(verdict["slopes"])
    elif found := search_alone(verdict):
        bound = searched_violations(found["violated"], found["in_scope"])
    elif verdict["lower_bound"] is None:
        bound = verdict.get("checked") or ""
    else:
        refuted = verdict["verdict"] == "refuted"
        bound = at_most(verdict["upper_bound"]) if refuted else at_least(verdict["lower_bound"])
        bound = "; ".join(filter(None, (verdict.get("checked"), bound)))
    if verdict["worst_margin"] is not None or verdict["violated"]:
        worst = f"worst margin {_least(verdict['worst_margin'])}"
    elif verdict["verdict"] == "vacuous":
        worst = verdict["detail"]
    else:
        worst = "no decided margin" if verdict["in_scope"] else "none in scope"
    if verdict["verdict"] == "undecided" and verdict["kind"] != "rate":
        worst += f", {verdict['detail'].rpartition('; ')[2]}"
    if (verdict["hunted"] or {}).get("violated"):
        worst += f", of the search {_least(verdict['hunted']['worst_margin'])}"
    if verdict["undecided"]:
        worst += f", {verdict['undecided']} undecided"
    worst += _scope(verdict)
    flag = "" if verdict["as_expected"] else "  <- not as expected"
    return f"{verdict['verdict']:<13}{name}  {counts}  {bound}  {worst}{flag}"


def _slopes(slopes: Sequence[Part]) -> str:
    """Return the slopes of a rate, each law that is claimed of them once."""
    told = [
        (
            "no slope"
            if slope["slope"] is None
            else f"{slope['slope']:z.4f} of one problem a point"
            if slope.get("copies")
            else f"{slope['slope']:z.4f} in [{slope['low']:z.4f}, {slope['high']:z.4f}]",
            claimed_law(slope).replace("\N{NO-BREAK SPACE}", " "),
        )
        for slope in slopes
    ]
    laws = [
        f"{'; '.join(found for found, _ in group)}, claimed {law}"
        for law, group in groupby(told, key=lambda one: one[1])
    ]
    return f"slopes {'; '.join(laws)}"


def counterexample_lines(verdict: Part, folder: str) -> list[str]:
    """Return a line on the file of a counterexample to a refuted claim in a run's folder, of the
    smallest if there is one, with the command that replays it, and one more where it may be but
    rounding; nothing of a control, whose counterexamples are expected."""
    found = verdict["counterexamples"][:1] if verdict["expected"] != "refuted" else []
    lines = []
    for entry in found:
        lines.append(
            f"  {entry['kind']} counterexample: {folder.rstrip('/')}/{entry['file']}"
            f"   ({replay_command(folder, entry['file'])})"
        )
        if "rounding" in entry["summary"]:
            lines.append(f"  it may be rounding: {entry['summary']['rounding']}")
    return [one_line(line) for line in lines]


def _scope(verdict: Part) -> str:
    """Say of a refuted claim which assumptions its worst counterexample violates, the first two
    by name; of a control, which is given what it likes, nothing else."""
    severity = next((e["severity"] for e in verdict["counterexamples"][-1:]), None)
    if not severity:
        return ""
    outside = [a["assumption"] for a in severity["assumptions"] if a["state"] == "violated"]
    if not outside:
        return ", in scope" if severity["in_scope"] and verdict["expected"] != "refuted" else ""
    more = f" and {len(outside) - 2} more" if len(outside) > 2 else ""
    return f", outside {', '.join(outside[:2])}{more}"


def _least(margin: float | None) -> str:
    """Spell the least margin of violations, where JSON has null for −∞."""
    return "-inf" if margin is None else f"{margin:.3g}"
