"""An ablation as one table in CSV: a row for each claim without each assumption."""

from __future__ import annotations

import csv
import io
from typing import Any

from reports.typography import Part

_COLUMNS = (
    "theorem", "dropped", "dropped_verdict", "claim", "verdict", "tested", "holds", "violated",
    "undecided", "refused", "least_margin", "nearest_outside", "nearest_where", "nearest_margin",
    "nearest_file", "worst_outside", "worst_where", "worst_margin", "worst_first_step",
    "worst_violated", "worst_undecided", "worst_in_scope", "worst_low", "worst_high", "worst_file",
)  # fmt: skip


def table(report: Part) -> str:
    """Return an ablation as CSV (RFC 4180 with line feeds); `dropped` is empty at the baseline.

    Numbers are written in full; what is unknown is empty. `low` and `high` bound the probability of
    a violation at the worst one's point.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for row in (report["baseline"], *report["assumptions"]):
        for one in row["claims"]:
            writer.writerow(_line(report, row, one))
    return text.getvalue()


def _line(report: Part, row: Part, one: Part) -> dict[str, Any]:
    counts = ("claim", "verdict", "tested", "holds", "violated", "undecided", "refused")
    line = {
        "theorem": report["theorem"]["address"],
        "dropped": row["id"],
        "dropped_verdict": row["verdict"],
        **{name: one[name] for name in (*counts, "least_margin")},
    }
    for kind in ("nearest", "worst"):
        shown = one[kind]
        if shown is not None:
            line |= {f"{kind}_{name}": shown[name] for name in ("outside", "margin", "file")}
            line[f"{kind}_where"] = "; ".join(f"{k}={v}" for k, v in shown["where"].items())
    if one["worst"] is not None:
        line["worst_first_step"] = one["worst"]["first_step"]
        rate = one["worst"]["severity"]["rate"] or {}
        for name in ("violated", "undecided", "in_scope", "low", "high"):
            line[f"worst_{name}"] = rate.get(name)
    return line
