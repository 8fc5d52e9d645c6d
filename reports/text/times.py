"""How long a run took, in words: from report.json alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def seconds(number: float) -> str:
    """Return seconds to three digits, all of them from a thousand on."""
    return f"{number:.3g} s" if number < 999.5 else f"{number:.0f} s"


def computing_words(computing: Mapping[str, Any] | None, when: str) -> str:
    """Return what computing took, "" where a report does not tell.

    Seconds of workers by the clock on the wall: those of one that runs, or waits, beside another
    add up.

    computing: the entry of report.json.   when: what a run's own part of it is called.
    """
    if computing is None:
        return ""
    least = "at least " * bool(computing["untimed"])
    own = computing["now_s"]
    of_it = "" if own is None else f", {seconds(own)} of it {when}"
    return f"computing: {least}{seconds(computing['in_all_s'])} of worker time in all{of_it}"


def time_words(report: Mapping[str, Any]) -> str:
    """Return how long a run took by the clock, and what computing took, as far as is told."""
    took = report.get("wall_time_s")
    parts = [
        "" if took is None else seconds(took),
        computing_words(report.get("computing"), "in this run"),
    ]
    return "; ".join(filter(None, parts))
