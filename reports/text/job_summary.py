"""A report as the summary of a CI job: from report.json alone, and never too long for GitHub."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from reports.exit_codes import ALL_AS_EXPECTED, REFUTED
from reports.text.markdown import (
    COMMENTED,
    CONTROLS_MUST_FAIL,
    REFERENCES,
    counterexample,
    fenced,
    margin_of,
    missing_lines,
    settings_lines,
    text,
    verdict_table,
)
from reports.typography import clean

Part = Mapping[str, Any]
Entry = TypeVar("Entry")

LIMIT = 2**20
"""Bytes in UTF-8 beyond which GitHub shows nothing of a step's summary."""


def job_summary(report: Part, limit: int = LIMIT) -> str:
    """Return a report as Markdown for a CI job: the answer, every verdict, what is not as expected
    first, and under a fold each counterexample to a claim with the command that replays it.

    limit: bytes in UTF-8 that it has at most. What there is no room for is left out and counted,
    first verdicts that are as expected, then counterexamples; "" if there is room for nothing.
    Counterexamples to controls, which are expected, are only in the report.
    """
    report = clean(report)
    verdicts = sorted(report["verdicts"], key=lambda verdict: verdict["as_expected"])
    claims = [verdict for verdict in verdicts if verdict["expected"] != "refuted"]
    found = [(claim, entry) for claim in claims for entry in claim["counterexamples"]]
    title = f"## relu-verify: {_answer(report)}"
    head = [
        title,
        f"**{text(report['sentence'])}**",
        settings_lines(report),
        *missing_lines(report),
    ]
    tail = f"{_again(report)}\n\n{fenced(report['command'])}"
    opening = verdict_table(verdicts[:1]).rpartition("\n")[0]  # of each of two tables
    room = limit - sum(map(_size, (*head, tail, opening, opening))) - _NOTES
    if room < 0:
        short = f"{title}\n\nThere is no room for the rest: see report.html of the run.\n"
        return short if len(short.encode()) <= limit else ""
    wrong = [verdict for verdict in verdicts if not verdict["as_expected"]]
    rows, room = _fitting(wrong, room, _row)
    folds, room = _fitting(found, room, lambda pair: _fold(report, *pair))
    rows += _fitting(verdicts[len(wrong) :], room, _row)[0]
    parts = [
        *head,
        *_tables(rows),
        _left_out("verdicts", rows, verdicts),
        *(_fold(report, *pair) for pair in folds),
        _left_out("counterexamples", folds, found),
        tail,
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def summary_of_error(command: str, message: str, limit: int = LIMIT) -> str:
    """Return Markdown for a command ("relu-verify merge", say) that ended with an error and told no
    verdict.

    limit: bytes in UTF-8 that it has at most; "" if there is no room.
    """
    said = text(clean(message))
    told = f"## relu-verify: no verdict\n\n**`{command}` ended with an error:** {said}\n"
    return told if len(told.encode("utf-8", "backslashreplace")) <= limit else ""


def _tables(verdicts: Sequence[Part]) -> list[str]:
    """Return the claims among verdicts as a table, and the controls as another under its title."""
    claims = [verdict for verdict in verdicts if verdict["expected"] != "refuted"]
    controls = [verdict for verdict in verdicts if verdict["expected"] == "refuted"]
    title = f"Controls. {CONTROLS_MUST_FAIL}" if controls else ""
    return [verdict_table(claims), title, verdict_table(controls)]


def _row(verdict: Part) -> str:
    return verdict_table([verdict]).rpartition("\n")[2]


def _answer(report: Part) -> str:
    words = {ALL_AS_EXPECTED: "as expected", REFUTED: "not as expected"}
    answer = words.get(report["exit_code"], "not settled")
    if not report.get("missing"):
        return answer
    return f"{answer}, and incomplete" if report["exit_code"] == REFUTED else "incomplete"


def _again(report: Part) -> str:
    computes_it = report.get("missing") and not report.get("shard")  # others have the rest
    return "To compute what is missing:" if computes_it else "Again:"


def _fold(report: Part, verdict: Part, entry: Part) -> str:
    """Return a counterexample under a line that unfolds it. That line is HTML, not Markdown."""
    name = f"<code>{html.escape(verdict['full_id'])}</code>"
    told = html.escape(f", {entry['kind']}{margin_of(entry)}")
    title = f"{name}{REFERENCES.sub(COMMENTED, told)}"
    opening = f"<details><summary>Counterexample to {' '.join(title.split())}</summary>"
    return "\n\n".join([opening, *counterexample(report, entry), "</details>"])


def _fitting(
    entries: Sequence[Entry], room: int, written: Callable[[Entry], str]
) -> tuple[list[Entry], int]:
    """Return the first entries, as many as there is room for as they are written, and the room
    that is left, in bytes."""
    fitting: list[Entry] = []
    for entry in entries:
        room -= _size(written(entry))
        if room < 0:
            return fitting, 0
        fitting.append(entry)
    return fitting, room


def _size(part: str) -> int:
    """Return the bytes of a part and of the empty line after it."""
    return len(part.encode("utf-8", "backslashreplace")) + 2


def _left_out(what: str, told: Sequence[Any], all_: Sequence[Any]) -> str:
    count = len(all_) - len(told)
    if not count:
        return ""
    return (
        f"{count} of {len(all_)} {what} are left out for want of room: see report.html of the run."
    )


_NOTES = 2 * _size(_left_out("counterexamples", (), range(10**12))) + _size(CONTROLS_MUST_FAIL) + 9
"""Bytes that the title of the controls, and what is said of things left out, take at most."""
