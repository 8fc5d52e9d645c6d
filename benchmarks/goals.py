"""What was to be reached, beside what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from benchmarks.tables import Row, Table
from benchmarks.timing import Spread

Goal = tuple[str, str, float, Any]
"""What, "at least" or "at most", the bound, and what was measured."""


def goals(tables: Iterable[Table]) -> Table:
    """Return the goals that these tables say something about, with what they say.

    A goal is met where the median is; spreads are shown.
    """
    known = {table.name: table for table in tables}
    rows = []
    for what, side, bound, measured in _all(known):
        median = measured.median if isinstance(measured, Spread) else measured
        met = median >= bound if side == "at least" else median <= bound
        rows.append(
            {"what": what, "side": side, "bound": bound, "measured": measured, "met": bool(met)}
        )
    return Table(
        "goals",
        "Goals",
        "Every goal with the measured median, and the spread over the rounds in parentheses.",
        {"what": "what", "side": "to be", "bound": "goal", "measured": "measured", "met": "met"},
        rows,
    )


def _all(known: Mapping[str, Table]) -> Iterator[Goal]:
    yield from _of_trials(known)
    for row in _rows(known, "otherwise"):
        least = {100: 40.0, 500: 100.0}.get(row["n"])
        if least and row["way"].startswith("PyTorch"):
            yield f"{row['way']} ÷ ours, X given, n = {row['n']}", "at least", least, row["ratio"]
            what = f"{row['way']}, X given ÷ our trial with X sampled, n = {row['n']}"
            yield what, "at least", least, row["sampled_ratio"]
    for row in _rows(known, "memory"):
        if (row["n"], row["d"]) == (1_000, 10**6):
            yield "peak memory (MB), n = 1000, d = 10⁶", "at most", 600, row["peak"]
    for row in _rows(known, "workers"):
        yield f"one worker ÷ two, {row['what']}", "at least", 1.6, row["ratio"]


def _of_trials(known: Mapping[str, Table]) -> Iterator[Goal]:
    for row in _rows(known, "sampled"):
        name = f"sampled trial ÷ (sampling + SYRK), n = {row['n']}, batch {row['batch']}"
        if row["n"] >= 100 or row["batch"] > 1:
            yield name, "at most", 1.3 if row["n"] >= 100 else 1.5, row["ratio"]
    for n, least in ((20, 12_000), (50, 3_000)):
        rows = [row for row in _rows(known, "wishart") if row["n"] == n]
        if rows:
            best = max(rows, key=lambda row: row["rate"].median)
            what = f"Wishart trials/s on one core, n = {n}, batch {best['batch']}"
            yield what, "at least", least, best["rate"]
    for row in _rows(known, "wishart"):
        if row["n"] >= 500:
            what = f"Wishart trial ÷ (Bartlett draw + SYRK), n = {row['n']}"
            yield what, "at most", 1.0, row["ratio"]
    for row in _rows(known, "flatness"):
        what = f"{row['what']} at d = 10¹² ÷ at d = {row['dimension']}, n = {row['n']}"
        yield what, "at most", 1.1, row["ratio"]


def _rows(known: Mapping[str, Table], name: str) -> Iterable[Row]:
    return known[name].rows if name in known else ()
