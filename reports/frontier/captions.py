"""Captions of a frontier's figures: what to see, then what is drawn."""

from __future__ import annotations

from reports.frontier import words
from reports.frontier.placing import cells_at, y_values
from reports.frontier.profiles import shown_cells
from reports.frontier.sentence import somewhere, why_none
from reports.typography import Part, listed, percent


def phase_diagram(found: Part) -> list[str]:
    """Caption the diagram over the plane."""
    x, y = found["x"]["name"], found["y"]["name"]
    many = len(y_values(found))
    level = words.exact(found["levels"][0])
    bare = len({row["y"] for row in found["rows"] if row["boundary"] is None})
    lacks = "lacks" if bare == 1 else "lack"
    marks = "Marks" if found["y"]["scale"] == "choice" else "Joined marks"
    drawn = (
        f"{many} rows of {y}. Dots: the values of {x} that were sampled; shaded about each, "
        "halfway to its neighbours: the share of the trials in scope in which the claim holds. "
        f"{marks}: the boundaries at {words.levels_words(found['levels'])}, with bars over "
        f"their intervals of {percent(found['confidence'])}"
        + ", joined by a band" * (found["y"]["scale"] != "choice")
        + "; a bar that runs to the edge has no end within the budget."
        + f" {bare} of {many} rows {lacks} a boundary at some level." * bool(bare)
    )
    if names := [words.line_name(line) for line in found["lines"]]:
        drawn += f" Other lines, at level {level} where measured there: {listed(names)}."
    return [_seen(found), drawn]


def _seen(found: Part) -> str:
    """Say how far the certificates lie from the claim's boundary, or else what was found."""
    told = []
    for line in found["lines"]:
        factors = [words.times_the_claims(found, row) for row in words.line_rows(found, line)]
        known = [factor for factor in factors if factor is not None]
        if line["what"] == "certificate" and known:
            low, high = words.short(min(known)), words.short(max(known))
            span = low if low == high else f"{low} to {high}"
            told.append(f"{words.line_name(line)} lies at {span} times the {found['x']['name']}")
    if not told:
        return str(found["sentence"])
    return f"The {listed(told)} at which the claim passes the level."


def profile(found: Part, y: object) -> list[str]:
    """Caption the probability along x in one row."""
    x = found["x"]["name"]
    rows = [row for row in found["rows"] if row["y"] == y]
    where = f"{found['y']['name']} = {words.exact(y)}: " if found["y"] else ""
    seen = "; ".join(_passes(row, x) for row in rows)
    shown, cells = shown_cells(found, y), cells_at(found, y)
    left_out = len(cells) - len(shown)
    drawn = (
        f"Dots: the share of the trials in scope in which the claim holds, with bounds of the "
        f"probability at each {x} alone. Dotted across: the levels. Shaded: the intervals of the "
        "boundaries, which all trials of the row bear on."
        + " Crosses: the claim’s heuristic prediction."
        * any(cell["prediction"] is not None for cell in shown)
        + f" {left_out} of {len(cells)} cells lie farther out, on the plateaus." * bool(left_out)
    )
    return [f"{where}{seen}.", drawn]


def _passes(row: Part, x: str) -> str:
    level = words.exact(row["level"])
    if said := somewhere(row, x):
        return f"crosses {level} {said}"
    if row["boundary"] is None:
        return f"no boundary at level {level}" + f" ({why_none([row])})" * bool(row["note"])
    how = {"rising": "rises past", "falling": "falls past"}.get(row["direction"], "passes")
    boundary, interval = words.ends_words(row)
    return f"{how} {level} at {x} = {boundary} {interval}"
