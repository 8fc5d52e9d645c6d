"""The page on an ablation: one self-contained file, from ablation.json alone.

It has the look and the parts of the report's page; as there, nothing is fetched, no script runs,
and text from theorems is escaped.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from properties.ablation.findings import LOAD_BEARING, MEANINGS, VACUOUS
from reports import typography
from reports.ablation import answer, figures, words
from reports.ablation.summary import FORMAT, SCHEMA_VERSION
from reports.ablation.table import table
from reports.exit_codes import ALL_AS_EXPECTED, REFUTED
from reports.html.marks import mark
from reports.html.render import environment, require_format
from reports.runs.running import COUNTEREXAMPLES
from reports.typography import Part, capitalize_first, number
from verify.writing import json_text, require_writable, write_text

_NAMES = ("ablation.json", "ablation.csv", "ablation.html")


def require_room(folder: Path) -> None:
    """Raise InputError where `write`, or a counterexample, could not be written to a folder."""
    require_writable(*(folder / name for name in (*_NAMES, f"{COUNTEREXAMPLES}/one.json")))


def write(report: dict[str, Any], folder: Path) -> None:
    """Write ablation.json, ablation.csv and ablation.html into a folder, each whole or not at all.

    Raises InputError where they cannot be written.
    """
    contents = (json_text(report), table(report), render(report))
    for name, content in zip(_NAMES, contents, strict=True):
        write_text(folder / name, content)


def render(report: Part) -> str:
    """Return the page for an ablation as read from ablation.json.

    The same ablation gives the same bytes. Raises InputError for one of another version.
    """
    require_format(report, FORMAT, SCHEMA_VERSION, "ablation")
    return environment().get_template("ablation.html").render(page=_page(typography.clean(report)))


def _page(report: Part) -> dict[str, Any]:
    tones = {ALL_AS_EXPECTED: "good", REFUTED: "bad"}
    return {
        "title": "relu-verify ablate",
        "sentence": report["headline"],
        "tone": tones.get(report["exit_code"], ""),
        "theorem": report["theorem"]["address"],
        "statement": report["theorem"]["title"],
        "ledger": _ledger(report),
        "violations": report["in_scope_violations"],
        "rows": [_row(report, row) for row in report["assumptions"]],
        "claims": [
            {**claim, "mark": mark(claim), "rank": rank}
            for rank, claim in enumerate(report["claims"], start=1)
        ],
        "signs": [
            {"id": row["id"], "signs": words.signs(report, row)} for row in report["assumptions"]
        ],
        "legend": [(sign, verdict) for verdict, sign in words.SIGNS.items()]
        + [(words.FAILING, words.FAILING_MEANS)]
        * any(claim["fails"] for claim in report["claims"]),
        "baseline": _row(report, report["baseline"]),
        "meanings": list(MEANINGS.items()),
        "notes": [
            *(
                f"{capitalize_first(clause)}."
                for clause in answer.judged_in_no_row(report["claims"])
            ),
            *words.notes(report),
        ],
        "replaced": words.replaced(report),
        "replaced_means": words.REPLACED,
        "figures": figures.captioned(report),
        "command": report["command"],
    }


def _ledger(report: Part) -> list[tuple[str, str]]:
    rows = report["assumptions"]
    bearing = sum(row["verdict"] == LOAD_BEARING for row in rows)
    tested = sum(row["effort"]["tested"] for row in (report["baseline"], *rows))
    return [
        ("Assumptions dropped", number(len(rows))),
        ("Load-bearing", number(bearing)),
        ("Claims", number(len(report["claims"]))),
        ("Instances tested", number(tested)),
        ("Violations in scope", number(len(report["in_scope_violations"]))),
    ]


def _row(report: Part, row: Part) -> dict[str, Any]:
    found = words.leading(row)
    effort = "; ".join(filter(None, (words.effort(row), words.left_open(report, row))))
    if row["verdict"] == VACUOUS:
        effort = f"{effort}; {words.why_vacuous(row)}"
    return {
        "id": row["id"] or "nothing",
        "statement": row["statement"],
        "mark": mark(row),
        "verdict": words.verdict(row),
        "effort": effort,
        "claim": None if found is None else found["claim"],
        "nearest": None if found is None or row["id"] is None else words.where(found["nearest"]),
        "worst": None if found is None else number(found["worst"]["margin"], 2),
        "claims": [_claim(one) for one in row["claims"]],
    }


def _claim(one: Part) -> dict[str, Any]:
    facts = [
        (
            "Tested",
            f"{number(one['tested'])} instances: {number(one['holds'])} hold, "
            f"{number(one['violated'])} violate, {number(one['undecided'])} are undecided, "
            f"{number(one['refused'])} refused",
        )
    ]
    if one["least_margin"] is not None:
        facts.append(("Least margin", number(one["least_margin"], 2)))
    facts += [
        (
            "Rate",
            f"violated in {words.violated(rate)} fresh trials at "
            f"{typography.point_text(rate['where'])}: {words.probability(rate)} at confidence "
            f"{number(rate['confidence'])}",
        )
        for rate in one["rates"] or _rate_of(one["worst"])
    ]
    files = []
    for kind in ("nearest", "worst"):
        shown = one[kind]
        if shown is None:
            continue
        where = f" at {words.where(shown)}"
        step = shown["first_step"]
        first = "" if step is None else f"; first departs from the theorem at step {step}"
        facts.append((kind.capitalize(), f"{words.margin(shown)}{where}{first}"))
        files.append(shown["file"])
    return {"id": one["claim"], "verdict": words.verdict(one), "facts": facts, "files": files}


def _rate_of(shown: Part | None) -> list[Part]:
    return [] if shown is None or shown["severity"]["rate"] is None else [shown["severity"]["rate"]]
