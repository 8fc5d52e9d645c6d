"""Claims as a page tells them: a verdict of report.json with everything a reader sees decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from shlex import quote as shell_quote
from typing import Any

from reports import typography
from reports.html.anchors import anchor
from reports.html.marks import VERDICTS, mark
from reports.typography import Part, number, point_text
from verify.severity import words


def claim(
    verdict: dict[str, Any], assumptions: Mapping[str, Part], siblings: Sequence[Part], folder: str
) -> dict[str, Any]:
    """Return a claim; `assumptions` are its theorem's by id, `siblings` its theorem's verdicts."""
    given = [(name, assumptions.get(name) or {}) for name in verdict["given"]]
    ours = sum((entry.get("mark") or {}).get("owner") == "ours" for _, entry in given)
    cells = [_cell(cell, rank) for rank, cell in enumerate(verdict["cells"], start=1)]
    return {
        **verdict,
        "anchor": anchor("claim", verdict["full_id"]),
        "meaning": VERDICTS.get(verdict["verdict"], ""),
        "mark": mark(verdict),
        "kind_words": typography.kind_words(verdict, ours),
        "counts": _counts(verdict),
        "bound": typography.bound_words(verdict),
        "confidence": None if typography.search_alone(verdict) else verdict["confidence"],
        "margin": typography.margin_words(verdict),
        "assumptions": [(name, entry.get("anchor")) for name, entry in given],
        "rests_on": [_basis(name, siblings) for name in verdict["rests_on"]],
        "cells": cells,
        "shared_point": point_text(typography.common_coordinates([c["point"] for c in cells]))
        if len(cells) > 1
        else "",
        "cells_bounded": verdict["kind"] != "universal",
        "cells_agree": all(cell["verdict"] == verdict["verdict"] for cell in cells),
        "cells_words": typography.cells_words(cells),
        "counterexamples": [_counterexample(entry, folder) for entry in verdict["counterexamples"]],
        "figures": [],
    }


def with_defaults(verdict: Part) -> dict[str, Any]:
    """Return a verdict in which whatever a report leaves out is empty."""
    lists = ("cells", "slopes", "given", "rests_on", "counterexamples")
    numbers = ("lower_bound", "upper_bound", "confidence", "worst_margin", "probability", "hunted")
    counts = ("trials", "in_scope", "holds", "violated", "undecided")
    return {
        **dict.fromkeys(numbers),
        **dict.fromkeys(counts, 0),
        **{"expected": "supported", "detail": "", "statement": "", "because": ""},
        **{key: value for key, value in verdict.items() if value is not None},
        **{key: verdict.get(key) or () for key in lists},
        "as_expected": bool(verdict.get("as_expected")),
    }


def _basis(name: str, siblings: Sequence[Part]) -> dict[str, Any]:
    """Return a claim that another rests on; without anchor if this report has no verdict on it."""
    for verdict in siblings:
        if verdict["claim"] == name:
            return {**verdict, "name": name, "anchor": anchor("claim", verdict["full_id"])}
    return {"name": name, "anchor": "", "as_expected": True}


def _counts(verdict: Part) -> list[tuple[str, str]]:
    """Return the counts that make sense for the kind of claim, each with its name."""
    names = ("holds", "in_scope", "trials") if verdict["kind"] != "rate" else ("in_scope", "trials")
    return [(name.replace("_", " "), number(verdict[name])) for name in names]


def _cell(cell: Part, rank: int) -> dict[str, Any]:
    none = dict.fromkeys(("trials", "in_scope", "holds", "violated", "undecided"), 0)
    tally: dict[str, Any] = {**none, "worst_margin": None, **(cell.get("tally") or {})}
    bounds = {key: cell.get(key) for key in ("lower_bound", "upper_bound")}
    margin = typography.margin_words(tally)
    point = cell.get("point") or {}
    return {**cell, **bounds, "point": point, "tally": tally, "rank": rank, "margin": margin}


def _counterexample(entry: Part, folder: str) -> dict[str, Any]:
    facts = entry.get("summary") or {}
    assumed = (entry.get("severity") or {}).get("assumptions") or ()
    return {
        "kind": entry.get("kind") or "",
        "file": entry.get("file") or "",
        "margin": entry.get("margin"),
        "outside": any(a["role"] == "hypothesis" and a["state"] == "violated" for a in assumed),
        "severity": [
            typography.capitalize_first(line)
            for line in words(entry.get("severity") or {}, bool(entry.get("searched")))
        ],
        "command": entry.get("command") or replay_command(folder, entry.get("file") or ""),
        "facts": [
            (typography.fact_name(name), typography.fact(value)) for name, value in facts.items()
        ],
    }


def replay_command(folder: str, file: str) -> str:
    """Return the command that replays a file of a run's folder, for a shell; "" for no file."""
    path = f"{folder.rstrip('/')}/{file}"
    path = f"./{path}" if path.startswith("-") else path
    return f"relu-verify replay {shell_quote(path)}" if file else ""
