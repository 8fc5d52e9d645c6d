"""A counterexample of report.json as lines of plain text: its severity, then its facts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reports.typography import fact, fact_name
from verify.severity import words


def example_lines(entry: Mapping[str, Any]) -> list[str]:
    """Return what a report tells of a counterexample, an entry of a verdict's list, line by line:
    its scope, first step and rate as far as known, then "name: value" for each fact."""
    severity = words(entry["severity"] or {}, entry["searched"])
    facts = (f"{fact_name(name)}: {_fact(value)}" for name, value in entry["summary"].items())
    return [*severity, *facts]


def _fact(value: Any) -> str:
    """Return a fact on one line, rows of a matrix after semicolons; long ones cut."""
    shown = fact(value)
    if "text" in shown:
        return str(shown["text"])
    rows = "; ".join(", ".join(row) for row in shown["rows"])
    return f"{rows} ({shown['cut']})" if shown["cut"] else rows
