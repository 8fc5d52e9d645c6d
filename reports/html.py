"""The HTML report: one self-contained page, from report.json alone.

`render` builds a model in which everything a reader sees is decided (`_page`), and hands it to
the templates in `templates/`, which only lay it out. Nothing is fetched and no script runs: a
content security policy in the page says so to the browser. Text from theorems and files is
escaped; `typography` alone adds markup, to text that is escaped already.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from shlex import quote as shell_quote
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from reports import captions, typography
from reports.typography import Part, number, percent, point_text
from verify.claims import Status
from verify.errors import InputError
from verify.verdict import Conclusion

if TYPE_CHECKING:
    from jinja2 import Environment

SCHEMA_VERSION = 1

VERDICTS = {str(conclusion): conclusion.meaning for conclusion in Conclusion}
"""The six words and their meaning."""

_WHOSE = {
    Status.READ: "read in the paper",
    Status.SUMMARY: "abstract or summary",
    Status.DERIVED: "ours",
    Status.HEURISTIC: "ours",
    Status.FOLKLORE: "folklore",
    Status.FALSE: "false on purpose",
}

MARKS = {status.value: (whose, status.meaning) for status, whose in _WHOSE.items()}
"""Whose statement it is, in a few words, and how that is known."""

_OWNERS = {"V": "paper", "A": "summary", "D": "ours", "H": "ours"}
"""How a mark is drawn; the others are nobody's."""

_UNKNOWN = "a mark that this page does not know"

DEFAULT_FOLDER = "relu-verify-out"
"""Where a run leaves its files, for a report that does not say."""

EXIT_CODES = {
    0: "everything is as expected",
    1: "a claim is refuted against expectation, or a control is not refuted",
    3: "something is inconclusive, undecided or vacuous",
}


def render(report: Part) -> str:
    """Return the page for a report as read from report.json.

    The same report gives the same bytes. Raises InputError for a report of another version.
    """
    version = report.get("schema_version")
    if version != SCHEMA_VERSION:
        raise InputError(
            f"schema_version={version!r}, expected {SCHEMA_VERSION}; render the report with the "
            "relu-verify that wrote it"
        )
    page = _page(typography.clean(report))
    return _environment().get_template("report.html").render(page=page)


def anchor(kind: str, name: str) -> str:
    """Return the id of a theorem, claim or assumption on the page: "theorem-lai2026.theorem1".

    Safe in URLs and different for different names: whatever a fragment may not hold is written
    ~XX, by byte.
    """
    return f"{kind}-{quote(name, safe='/:@').replace('~', '~7E').replace('%', '~')}"


# The model: what the page says, in its order.


def _page(report: Part) -> dict[str, Any]:
    folder = str(report.get("out") or DEFAULT_FOLDER)
    verdicts = [_with_defaults(verdict) for verdict in report.get("verdicts") or ()]
    theorems = _theorems(report, verdicts, folder)
    drawn = captions.captioned_figures(report, theorems)
    tool = {"name": "relu-verify", "version": "", **(report.get("tool") or {})}
    claims = [claim for theorem in theorems for claim in theorem["claims"]]
    controls = [claim for theorem in theorems for claim in theorem["controls"]]
    return {
        "title": f"{tool['name']} report",
        "tool": tool,
        "sentence": report.get("sentence") or "No verdicts.",
        "good": all(verdict["as_expected"] for verdict in verdicts),
        "created": str(report.get("created") or "").replace("T", " ").removesuffix("+00:00"),
        "tallies": _tallies(claims, controls),
        "run": {key: report.get(key) for key in ("seed", "profile", "backend", "wall_time_s")},
        "confidence": report.get("confidence"),
        "budget": _budget(report),
        "theorems": theorems,
        "claims": claims,
        "controls": controls,
        "claim_groups": _groups(theorems, "claims"),
        "control_groups": _groups(theorems, "controls"),
        "figures": drawn,
        "verdicts": [(word, VERDICTS[word]) for word in VERDICTS],
        "marks": [_mark({"status": letter}) for letter in MARKS],
        "read": _is_read(theorems),
        "command": report.get("command") or "",
        "versions": report.get("versions") or {},
        "exit_code": report.get("exit_code"),
        "exit_meaning": EXIT_CODES.get(report.get("exit_code"), "see the documentation"),
        "schema_version": report["schema_version"],
    }


def _theorems(
    report: Part, verdicts: Sequence[dict[str, Any]], folder: str
) -> list[dict[str, Any]]:
    """Return the theorems with their claims and controls; also one that only verdicts name.

    folder: where the run left its files.
    """
    listed = {theorem["address"]: theorem for theorem in report.get("theorems") or ()}
    for verdict in verdicts:
        listed.setdefault(verdict["theorem"], {"address": verdict["theorem"]})
    found, taken = [], set()
    for address, theorem in listed.items():
        name = theorem.get("id") or address
        name = address if name in taken else name
        taken.add(name)
        own = [verdict for verdict in verdicts if verdict["theorem"] == address]
        assumptions = [
            {
                **assumption,
                "anchor": anchor("assumption", f"{name}/{assumption['id']}"),
                "mark": _mark(assumption),
            }
            for assumption in theorem.get("assumptions") or ()
        ]
        known = {assumption["id"]: assumption for assumption in assumptions}
        claims = [_claim(verdict, known, own, folder) for verdict in own]
        found.append(
            {
                "name": name,
                "address": address,
                "anchor": anchor("theorem", name),
                "title": theorem.get("title") or name,
                "statement": theorem.get("statement") or "",
                "citation": theorem.get("citation") or "",
                "method": theorem.get("method") or "",
                "mark": _mark(theorem),
                "symbols": theorem.get("symbols") or (),
                "defaults": theorem.get("defaults") or {},
                "axes": theorem.get("axes") or (),
                "assumptions": assumptions,
                "claims": [claim for claim in claims if claim["expected"] != "refuted"],
                "controls": [claim for claim in claims if claim["expected"] == "refuted"],
                "share": ((report.get("error_budget") or {}).get("theorems") or {}).get(address),
            }
        )
    return found


def _groups(theorems: Sequence[Part], key: str) -> list[dict[str, Any]]:
    """Return the theorems that have entries under `key`, for a table with a heading for each."""
    shown = [theorem for theorem in theorems if theorem[key]]
    return [{"name": t["name"], "anchor": t["anchor"], "entries": t[key]} for t in shown]


def _with_defaults(verdict: Part) -> dict[str, Any]:
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


def _mark(entry: Part) -> dict[str, str] | None:
    """Return the mark of a theorem, assumption or claim: whose it is, and what that means."""
    letter = str(entry.get("status") or "")
    whose, meaning = MARKS.get(letter, ("unknown", entry.get("status_meaning") or _UNKNOWN))
    owner = _OWNERS.get(letter, "none")
    return (
        {"letter": letter, "whose": whose, "owner": owner, "meaning": meaning} if letter else None
    )


def _is_read(theorems: Sequence[Part]) -> bool:
    """Whether anything that a report states was read in the paper itself."""
    stated = [
        entry
        for theorem in theorems
        for entry in (theorem, *theorem["assumptions"], *theorem["claims"], *theorem["controls"])
    ]
    return any((entry["mark"] or {}).get("letter") == "V" for entry in stated)


def _claim(
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
        "mark": _mark(verdict),
        "kind_words": typography.kind_words(verdict, ours),
        "counts": _counts(verdict),
        "bound": typography.bound_words(verdict),
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
    tally = {**dict.fromkeys(("trials", "in_scope", "holds", "violated", "undecided"), 0)}
    tally = {**tally, "worst_margin": None, **(cell.get("tally") or {})}
    bounds = {key: cell.get(key) for key in ("lower_bound", "upper_bound")}
    margin = typography.margin_words(tally)
    point = cell.get("point") or {}
    return {**cell, **bounds, "point": point, "tally": tally, "rank": rank, "margin": margin}


def _counterexample(entry: Part, folder: str) -> dict[str, Any]:
    facts = entry.get("summary") or {}
    return {
        "kind": entry.get("kind") or "",
        "file": entry.get("file") or "",
        "margin": entry.get("margin"),
        "command": entry.get("command") or _replay(folder, entry.get("file") or ""),
        "facts": [
            (typography.fact_name(name), typography.fact(value)) for name, value in facts.items()
        ],
    }


def _replay(folder: str, file: str) -> str:
    """Return the command that replays a file of a run's folder, for a shell; "" for no file."""
    path = f"{folder.rstrip('/')}/{file}"
    path = f"./{path}" if path.startswith("-") else path
    return f"relu-verify replay {shell_quote(path)}" if file else ""


def _tallies(claims: Sequence[Part], controls: Sequence[Part]) -> dict[str, Any]:
    def count(entries: Sequence[Part]) -> dict[str, Any]:
        expected = sum(entry["as_expected"] for entry in entries)
        words = [sum(entry["verdict"] == word for entry in entries) for word in VERDICTS]
        return {"all": len(entries), "expected": expected, "words": words}

    return {"words": list(VERDICTS), "claims": count(claims), "controls": count(controls)}


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


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        number=number,
        point=point_text,
        percent=percent,
        at_least=typography.at_least,
        at_most=typography.at_most,
        interval=typography.interval,
        claimed_slope=typography.claimed_slope,
        where_slopes_lie=typography.where_slopes_lie,
        prose=typography.prose,
        breakable=typography.breakable,
        citation=typography.citation,
        figure=Markup,
    )
    environment.globals.update(verdicts=VERDICTS)
    return environment
