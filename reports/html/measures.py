"""Measures, chains and realised assumptions as a page tells them: reported, never judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reports.html.anchors import anchor
from reports.html.figures.quantiles import ends_and_middle
from reports.html.figures.series import line_name
from reports.html.figures.strips import strip
from reports.html.marks import mark
from reports.points import count_of_points
from reports.thresholds import passed_words
from reports.typography import (
    Part,
    at_least,
    at_most,
    capitalize_first,
    common_coordinates,
    listed,
    number,
    point_text,
    quantile_name,
    spread,
)

MOST_BROKEN = 4
"""Controls of which a chain is told one by one, at most."""

KINDS = {"frequency": "how often it holds", "quantiles": "where it lies"}
"""What a kind of measure reports."""


def measures(report: Part, theorem: str, assumptions: Mapping[str, Part]) -> list[dict[str, Any]]:
    """Return the measures of a theorem, given by its address; `assumptions` are its own by id."""
    found = []
    for told in report.get("measures") or ():
        if told["theorem"] != theorem or told["kind"] not in KINDS:
            continue
        cells = [_cell(cell) for cell in told.get("cells") or ()]
        texts = ("statement", "axis", "abscissa", "by", "unit", "figure")
        measure = {
            **told,
            **{key: told.get(key) or "" for key in texts},
            "anchor": anchor("measure", told["full_id"]),
            "mark": mark(told),
            "kind_words": KINDS[told["kind"]],
            "cells": cells,
            "thresholds": list(told.get("thresholds") or ()),
            "assumptions": [
                (name, (assumptions.get(name) or {}).get("anchor"))
                for name in told.get("given") or ()
            ],
            "figures": [],
        }
        shared = common_coordinates([cell["point"] for cell in cells]) if len(cells) > 1 else {}
        found.append(
            {
                **measure,
                "shared_point": point_text(shared),
                "table": _table(measure, tuple(shared)),
            }
        )
    return found


def constants(measures: Sequence[Part]) -> list[dict[str, Any]]:
    """Return the empirical constants of a theorem: for each measure of a quantity its outer
    quantiles and median, over the cells where there are several, and every threshold."""
    rows = []
    for measure in measures:
        known = [ends_and_middle(cell) for cell in measure["cells"]]
        ends = [entry for entry in known if entry is not None]
        if ends:
            told = [_pooled(entries) for entries in zip(*ends, strict=True)]
            points = count_of_points(measure["cells"])
            rows.append({"measure": measure, "points": points, "quantiles": told})
    return rows


def thresholds(measures: Sequence[Part]) -> dict[str, Any]:
    """Return the thresholds of a theorem: the levels, and for each measure and line where every
    level is passed ("—" where it was not asked)."""
    levels = sorted({t["level"] for measure in measures for t in measure["thresholds"]})
    rows = []
    for measure in measures:
        lines: dict[str, dict[float, str]] = {}
        for threshold in measure["thresholds"]:
            line = threshold.get("line")
            called = "all cells" if line is None else line_name(measure["by"], line)
            lines.setdefault(called, {})[threshold["level"]] = passed_words(threshold)
        for called, passed in lines.items():
            where = [passed.get(level, "—") for level in levels]
            rows.append({"measure": measure, "line": called, "passed": where})
    return {"levels": [number(level) for level in levels], "rows": rows}


def chain(report: Part, theorem: str) -> dict[str, Any] | None:
    """Return the chain of a theorem, given by its address: links, and which of them fails first
    in each cell; None without one."""
    told = next((c for c in report.get("chains") or () if c["theorem"] == theorem), None)
    if told is None or not told.get("links"):
        return None
    links = told["links"]
    cells = [_chain_cell(cell, links) for cell in told.get("cells") or ()]
    points = [cell["point"] for cell in cells]
    shared = common_coordinates(points) if len(points) > 1 else {}
    for cell in cells:
        cell["where"] = point_text(cell["point"], without=tuple(shared)) or "all of it shared"
    return {
        "links": links,
        "cells": _rows(cells),
        "shared_point": point_text(shared),
        "seen": _first_to_fail(cells, links),
        "anchor": anchor("chain", theorem),
    }


def realised(assumption: Part) -> dict[str, Any] | None:
    """Return how an assumption was met in a run: in words, and as a strip; None if nowhere."""
    told = assumption.get("realised")
    if not told or not told.get("trials"):
        return None
    words = f"met in {number(told['met'])} of {number(told['trials'])} trials"
    words += f", {number(told['unknown'])} unknown" * bool(told.get("unknown"))
    margins = told.get("margins")
    if not margins or any(value is None for value in margins):
        return {"words": words, "strip": ""}
    least, median, most = (number(margins[at], 3) for at in (0, 3, 6))
    words += f"; margin {least} everywhere" * (least == most)
    words += f"; margin: median {median} [min {least}, max {most}]" * (least != most)
    shown = strip(margins) if least != most else ""
    return {"words": words, "strip": shown}


# Tables.


def _cell(cell: Part) -> dict[str, Any]:
    empty = ("line", "x", "prediction", "frequency", "low", "high", "mean", "deviation")
    counts = ("trials", "in_scope", "unknown", "holds")
    return {
        **dict.fromkeys(empty),
        **dict.fromkeys(counts, 0),
        **cell,
        "point": cell.get("point") or {},
        "quantiles": list(cell.get("quantiles") or ()),
    }


def _table(measure: Part, shared: Sequence[str]) -> dict[str, Any]:
    """Return the cells of a measure as a table of texts: columns as (title, is it a number)."""
    cells = measure["cells"]
    with_x = any(cell["x"] is not None for cell in cells)
    predicted = any(cell["prediction"] is not None for cell in cells)
    levels = sorted({q["level"] for cell in cells for q in cell["quantiles"]})
    columns = [("Cell", False)]
    columns += [("Abscissa", True)] * with_x
    if measure["kind"] == "frequency":
        columns += [("Holds / in scope / trials", False), ("Frequency", True), ("Within", False)]
    else:
        columns += [("Measured / trials", False), ("Mean ± s.d.", True)]
        columns += [(capitalize_first(quantile_name(level)), True) for level in levels]
    columns += [("Predicted", True)] * predicted
    rows = []
    for cell in cells:
        row = [point_text(cell["point"], without=shared) or point_text(cell["point"]) or "—"]
        row += [number(cell["x"])] * with_x
        row += _frequency(cell) if measure["kind"] == "frequency" else _quantiles(cell, levels)
        row += [number(cell["prediction"])] * predicted
        rows.append(row)
    return {"columns": columns, "rows": rows}


def _frequency(cell: Part) -> list[str]:
    counts = " / ".join(number(cell[key]) for key in ("holds", "in_scope", "trials"))
    within = f"{at_least(cell['low'])} to {at_most(cell['high'])}"
    return [counts, number(cell["frequency"]), within if cell["in_scope"] else "none in scope"]


def _quantiles(cell: Part, levels: Sequence[float]) -> list[str]:
    measured = max(cell["in_scope"] - cell["unknown"], 0)
    by_level = {q["level"]: q for q in cell["quantiles"]}
    return [
        f"{number(measured)} / {number(cell['trials'])}",
        f"{number(cell['mean'])} ± {number(cell['deviation'], 2)}",
        *(spread(by_level.get(level) or {}) for level in levels),
    ]


def _pooled(entries: Sequence[Part]) -> dict[str, str]:
    """Return one quantile in all cells: least to greatest, with the outer ends of the intervals."""
    ends = {key: [e[key] for e in entries if e.get(key) is not None] for key in ("low", "high")}
    values = [entry["value"] for entry in entries]
    low = min(ends["low"]) if len(ends["low"]) == len(entries) else None
    high = max(ends["high"]) if len(ends["high"]) == len(entries) else None
    least, most = number(min(values)), number(max(values))
    return {
        "name": quantile_name(entries[0]["level"]),
        "value": least if least == most else f"{least} to {most}",
        "interval": f"[{number(low)}, {number(high)}]",
    }


# The chain.


def _chain_cell(cell: Part, links: Sequence[Part]) -> dict[str, Any]:
    trials = cell.get("trials") or 0
    first = list(cell.get("first") or ())[: len(links)]
    first += [0] * (len(links) - len(first))
    undecided, holds = cell.get("undecided") or 0, cell.get("holds") or 0
    counts = [*first, undecided, holds]
    return {
        "point": cell.get("point") or {},
        "controls": list(cell.get("controls") or ()),
        "trials": trials,
        "first": first,
        "counts": [_share(count, trials) for count in counts],
        "holds": holds,
    }


def _rows(cells: Sequence[Part]) -> list[Part]:
    """Return the rows of a chain's table: a cell each, but one for all points of a control."""
    rows: dict[Any, list[Part]] = {}
    for rank, cell in enumerate(cells):
        rows.setdefault(tuple(cell["controls"]) or rank, []).append(cell)
    return [row[0] if len(row) == 1 else _together(row) for row in rows.values()]


def _together(cells: Sequence[Part]) -> dict[str, Any]:
    """Return the counts of several points of a control as one row."""
    trials = sum(cell["trials"] for cell in cells)
    columns = zip(*([entry["count"] for entry in cell["counts"]] for cell in cells), strict=True)
    return {
        "controls": cells[0]["controls"],
        "where": f"{len(cells)} points together",
        "trials": trials,
        "first": [sum(counts) for counts in zip(*(c["first"] for c in cells), strict=True)],
        "counts": [_share(sum(counts), trials) for counts in columns],
        "holds": sum(cell["holds"] for cell in cells),
    }


def _share(count: int, trials: int) -> dict[str, Any]:
    return {"count": count, "share": round(100 * count / trials, 1) if trials else 0.0}


def _first_to_fail(cells: Sequence[Part], links: Sequence[Part]) -> str:
    """Say which link fails first where the theorem is said to hold, and where it is not."""
    own = [cell for cell in cells if not cell["controls"]]
    others = [cell for cell in cells if cell["controls"]]
    broken = [cell for cell in others if 2 * sum(cell["first"]) > cell["trials"]]
    kept = [cell for cell in others if cell not in broken]
    parts = [_blamed(own, links, "In the theorem’s own cells")] if own else []
    parts += [
        _blamed([cell], links, f"At the point of control {listed(cell['controls'])}")
        for cell in broken[:MOST_BROKEN]
    ]
    rest = f"At the points of {len(broken) - MOST_BROKEN} more controls"
    parts += [_blamed(broken[MOST_BROKEN:], links, rest)] if len(broken) > MOST_BROKEN else []
    where = "At the points of the other controls" if broken else "At the points of the controls"
    parts += [_blamed(kept, links, where)] if kept else []
    return " ".join(parts)


def _blamed(cells: Sequence[Part], links: Sequence[Part], where: str) -> str:
    trials = sum(cell["trials"] for cell in cells)
    holds = sum(cell["holds"] for cell in cells)
    first = [sum(cell["first"][at] for cell in cells) for at in range(len(links))]
    if not sum(first):
        rest = "" if holds == trials else f"; in {number(trials - holds)} a link is undecided"
        return f"{where} no link fails in {number(trials)} trials{rest}."
    most = max(range(len(links)), key=lambda at: first[at])
    named = f"link {most + 1}, {links[most]['id']}"
    told = f"{where} a link fails in {number(sum(first))} of {number(trials)} trials"
    if first[most] == sum(first):
        return f"{told}, always first {named}."
    return f"{told}, most often first {named} ({number(first[most])} times)."
