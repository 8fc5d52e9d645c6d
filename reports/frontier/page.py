"""The page on a frontier: one self-contained file, from frontier.json alone.

It has the look and the parts of the report's page; as there, nothing is fetched, no script runs,
and text from files is escaped.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from reports import typography
from reports.exit_codes import ALL_AS_EXPECTED
from reports.frontier import captions, words
from reports.frontier.figures import phase_diagram
from reports.frontier.placing import cells_at, y_values
from reports.frontier.profiles import profile
from reports.frontier.schema import FORMAT, SCHEMA_VERSION
from reports.frontier.table import boundaries, cells
from reports.html.render import environment, require_format
from reports.typography import Part, capitalize_first, listed, number, percent
from verify.writing import json_text, require_writable, write_text

NAMES = ("frontier.json", "frontier.csv", "cells.csv", "frontier.html")


def require_room(folder: Path) -> None:
    """Raise InputError where `write` could not write to a folder."""
    require_writable(*(folder / name for name in NAMES))


def write(found: dict[str, Any], folder: Path) -> None:
    """Write frontier.json, frontier.csv, cells.csv and frontier.html into a folder, each whole or
    not at all.   Raises InputError where they cannot be written."""
    contents = (json_text(found), boundaries(found), cells(found), render(found))
    for name, content in zip(NAMES, contents, strict=True):
        write_text(folder / name, content)


def render(found: Part) -> str:
    """Return the page for a frontier as read from frontier.json.

    The same frontier gives the same bytes. Raises InputError for one of another version.
    """
    require_format(found, FORMAT, SCHEMA_VERSION, "frontier")
    return environment().get_template("frontier.html").render(page=_page(typography.clean(found)))


def _page(found: Part) -> dict[str, Any]:
    return {
        "title": "relu-verify frontier",
        "sentence": found["sentence"],
        "tone": "good" if found["exit_code"] == ALL_AS_EXPECTED else "",
        "claim": found["full_id"],
        "statement": found["statement"],
        "ledger": _ledger(found),
        "asked": _asked(found),
        "y": found["y"]["name"] if found["y"] else "",
        "x": found["x"]["name"],
        "ratio": words.ratio_name(found),
        "rows": [_row(found, row) for row in found["rows"]],
        "laws": [_law(found, {"what": "claim"}, fit) for fit in found["fits"]],
        "comparison": [{**c, "level": words.exact(c["level"])} for c in words.compared(found)],
        "lines": [_line(found, line) for line in found["lines"]],
        "figures": _figures(found),
        "how": words.how_measured(found),
        "scope": words.scope_words(found),
        "reproduce": _reproduce(found),
        "command": found["command"],
    }


def _ledger(found: Part) -> list[tuple[str, str]]:
    rows = found["rows"]
    known = sum(row["boundary"] is not None for row in rows)
    return [
        ("Trials", number(found["trials"])),
        ("Boundaries", f"{known} of {len(rows)}"),
        ("Levels", ", ".join(map(words.exact, found["levels"]))),
        ("Confidence", percent(found["confidence"])),
    ]


def _asked(found: Part) -> list[tuple[str, str]]:
    x = found["x"]
    shown = [
        (
            "Along",
            f"{words.axis_words(x)}, from {words.exact(x['low'])} to {words.exact(x['high'])}",
        )
    ]
    if found["y"]:
        values = listed(list(map(words.exact, y_values(found))))
        shown.append(("By", f"{words.axis_words(found['y'])}: {values}"))
    if place := words.place_words(found):
        shown.append(("At", place))
    if defaults := words.defaults_words(found):
        shown.append(("Defaults", defaults))
    return [*shown, ("Scope", words.scope_words(found))]


def _row(found: Part, row: Part) -> dict[str, str]:
    boundary, interval = words.ends_words(row)
    return {
        "y": words.exact(row["y"]),
        "level": words.exact(row["level"]),
        "boundary": boundary,
        "interval": interval,
        "trials": number(row.get("trials")),
        "ratio": words.short(words.ratio(row)) if words.ratio_name(found) else "",
        "times": words.short(words.times_the_claims(found, row)),
        "note": row.get("note", ""),
    }


def _law(found: Part, line: Part, fit: Part) -> dict[str, str]:
    return {
        "level": words.exact(fit["level"]),
        "form": words.law_name(fit, found["y"]["name"]),
        "exponent": words.exponent_words(fit),
        "factor": words.short(fit["a"]),
        "note": words.law_note(line, fit),
    }


def _line(found: Part, line: Part) -> dict[str, Any]:
    return {
        "what": line["what"],
        "name": line["meaning"] if line["id"] == line["what"] else line["id"],
        "meaning": "" if line["id"] == line["what"] else line["meaning"],
        "summary": _summary(found, line),
        "rows": [_row(found, row) for row in line["rows"]],
        "laws": [_law(found, line, fit) for fit in line["fits"]],
    }


def _summary(found: Part, line: Part) -> str:
    """Return a line that says all that there is to say of another line; "" for a table."""
    if line["what"] == "assumption":
        return capitalize_first(words.assumption_words(found, line))
    return "" if line["rows"] else f"Passes none of the levels along {found['x']['name']}."


def _figures(found: Part) -> list[dict[str, Any]]:
    """Return the figures, drawn, numbered and captioned: the diagram, then a profile a row."""
    drawn: list[tuple[Callable[..., str], list[str], str]] = []
    if found["y"] and any(cells_at(found, y) for y in y_values(found)):
        drawn.append(
            (partial(phase_diagram, found), captions.phase_diagram(found), "Phase diagram.")
        )
    for y in y_values(found):
        if cells_at(found, y):
            caption = captions.profile(found, y)
            drawn.append((partial(profile, found, y), caption, "Probability along the axis."))
    return [
        {
            "number": rank,
            "anchor": f"figure-{rank}",
            "caption": caption,
            "svg": draw(name=f"figure-{rank}", label=f"{kind} {caption[0]}"),
        }
        for rank, (draw, caption, kind) in enumerate(drawn, start=1)
    ]


def _reproduce(found: Part) -> list[tuple[str, str]]:
    meaning = (
        "every row has its boundary, or certainly none in the range"
        if found["exit_code"] == ALL_AS_EXPECTED
        else "some interval is still open at an end"
    )
    return [
        (
            "Seed",
            f"{found['seed']}. What is sampled follows from it and the command alone, not from "
            "the number of workers.",
        ),
        (
            "Budget",
            f"{number(found['budget'])} trials, {number(found['trials'])} spent"
            f"{words.over_budget_words(found)}",
        ),
        ("Exit code", f"{found['exit_code']}: {meaning}"),
        ("Made", found["created"]),
        *found["versions"].items(),
        ("Format", f"{found['schema_version']}. This page was made from frontier.json alone."),
    ]
