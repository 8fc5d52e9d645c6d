"""An ablation as text for a terminal."""

from __future__ import annotations

import math

from reports.ablation import words
from reports.text.counts import count_of
from reports.typography import Part, number, shorten

_WIDTH = 27

_SOON = 30.0
"""Seconds that need no estimate."""


def told(report: Part) -> str:
    """Return an ablation as text: violations in scope first, then a row an assumption."""
    lines = [*_violations(report), *_baseline(report), "", *_table(report), "", *_legend(report)]
    return "\n".join([*lines, "", *_replaced(report), *words.notes(report), report["sentence"]])


def time_left(took: float, searches: int, at_once: int, examples: int) -> str:
    """Say after the search with nothing dropped how long the others may take, "" for less than
    half a minute.

    took: seconds of that search.   searches: that are left, `at_once` beside one another.
    """
    seconds = took * math.ceil(searches / at_once)
    if seconds < _SOON:
        return ""
    fewer = f"; --examples {examples // 5} takes less" if examples >= 5 else ""
    return (
        f"nothing dropped took {took:.0f} s; {searches} searches are left, about {seconds:.0f} s "
        f"if each takes as long, {at_once} at once{fewer}"
    )


def _violations(report: Part) -> list[str]:
    found = report["in_scope_violations"]
    if not found:
        return []
    return [
        "VIOLATED WITH NOTHING DROPPED",
        *(
            f"  {one['claim']}: margin {number(one['margin'], 3)}, {one['file']}"
            + (
                f" (met while {one['met_while_dropping']} was dropped, which held)"
                if one["met_while_dropping"]
                else ""
            )
            for one in found
        ),
        "",
    ]


def _baseline(report: Part) -> list[str]:
    row = report["baseline"]
    assumptions = count_of(len(report["assumptions"]), "assumption")
    return [
        f"{report['theorem']['address']}: {assumptions}, each dropped in turn "
        f"({report['examples']} points drawn for each, beside the edges; seed "
        f"{report['seed']})",
        f"Nothing dropped: {words.effort(row)}; {row['verdict']}",
    ]


def _table(report: Part) -> list[str]:
    numbers = " ".join(f"{rank % 10}" for rank in range(1, len(report["claims"]) + 1))
    head = f"{'dropped':<{_WIDTH}} {'verdict':<26} {numbers}  what was found"
    return [head, *(line for row in report["assumptions"] for line in _row(report, row))]


def _row(report: Part, row: Part) -> list[str]:
    name = shorten(row["id"], _WIDTH)
    signs = " ".join(words.signs(report, row))
    first = f"{name:<{_WIDTH}} {words.verdict(row):<26} {signs}  "
    found = words.leading(row)
    pad = " " * (_WIDTH + 1)
    open_ = [f"{pad}{told}" for told in (words.left_open(report, row),) if told]
    if found is None:
        if not row["effort"]["tested"]:
            return [f"{first}{words.why_vacuous(row)}"]
        return [f"{first}{words.effort(row)}", *open_]
    nearest, worst = found["nearest"], found["worst"]
    step = "" if worst["first_step"] is None else f", from step {worst['first_step']} on"
    often = words.rate(found)
    return [
        f"{first}{words.effort(row)}",
        f"{pad}of {found['claim']}: nearest at {words.where(nearest)}; worst {words.margin(worst)} "
        f"at {words.where(worst)}{step}",
        *([f"{pad}{often}"] if often else []),
        *open_,
        f"{pad}{nearest['file']}",
    ]


def _replaced(report: Part) -> list[str]:
    told = words.replaced(report)
    return [f"{words.REPLACED}:", *(f"  {name} (of {of})" for name, _, of in told)] if told else []


def _legend(report: Part) -> list[str]:
    names = [f"  {rank} {claim['id']}" for rank, claim in enumerate(report["claims"], start=1)]
    signs = "  ".join(f"{sign} {verdict}" for verdict, sign in words.SIGNS.items())
    failing = f"  {words.FAILING} {words.FAILING_MEANS}"
    return [
        "Claims",
        *names,
        f"Signs: {signs}" + failing * any(c["fails"] for c in report["claims"]),
    ]
