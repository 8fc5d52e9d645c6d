"""A frontier as the engine gives it, made by formulas: P of log odds linear in log d."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

D = {"name": "d", "meaning": "features", "low": 2.0, "high": 1e7, "scale": "log", "choices": []}
N = {
    "name": "n",
    "meaning": "examples",
    "low": 2.0,
    "high": 2000.0,
    "scale": "integer",
    "choices": [],
}
START = {
    "name": "start",
    "meaning": "kind of start",
    "low": 0.0,
    "high": 1.0,
    "scale": "choice",
    "choices": ["positive", "constant", "random_sign"],
}
Y_VALUES = (10, 20, 40, 80, 160)
LEVELS = (0.5, 0.95)
TRIALS = 240
STEEPNESS = 6.0
"""Of the log odds in log d."""


def boundary_of(n: float) -> float:
    """Return the d at which the claim holds in half of the trials, 1.7·n·log n."""
    return 1.7 * n * math.log(n)


def certificate_of(n: float) -> float:
    """Return the d at which the certificate does, 5·n²."""
    return 5.0 * n**2


def at_level(middle: float, level: float) -> float:
    """Return where the probability is `level` if it is ½ at `middle`."""
    return middle * math.exp(math.log(level / (1 - level)) / STEEPNESS)


def row(y: Any, level: float, boundary: float | None, **changes: Any) -> dict[str, Any]:
    """Return a row whose interval reaches 6% to both sides."""
    known = boundary is not None
    return {
        "y": y,
        "level": level,
        "boundary": boundary,
        "low": boundary * 0.94 if known else None,
        "high": boundary * 1.06 if known else None,
        "trials": 4000,
        "direction": "rising" if known else None,
        "note": "",
        "absent": False,
        "settled": known,
        **changes,
    }


def cells(y: Any, middle: float, grid: Sequence[float]) -> list[dict[str, Any]]:
    """Return the cells of a row at the places of `grid`."""
    found = []
    for x in grid:
        share = 1 / (1 + math.exp(-STEEPNESS * math.log(x / middle)))
        holds = round(TRIALS * share)
        found.append({
            "y": y, "x": x, "trials": TRIALS, "in_scope": TRIALS, "holds": holds,
            "violated": TRIALS - holds, "undecided": 0, "frequency": holds / TRIALS,
            "low": max(holds / TRIALS - 0.09, 0.0), "high": min(holds / TRIALS + 0.09, 1.0),
            "prediction": 1 / (1 + math.exp(-STEEPNESS * math.log(x / middle / 1.1))),
        })  # fmt: skip
    return found


def fit(level: float, q: int, p: float, a: float, **changes: Any) -> dict[str, Any]:
    """Return a law whose exponent is known to ±0.05."""
    ends = {"p_low": p - 0.05, "p_high": p + 0.05}
    return {"level": level, "q": q, "p": p, **ends, "a": a, "consistent": True, **changes}


def line(what: str, id_: str, of: Callable[[Any], float], values: Sequence[Any]) -> dict[str, Any]:
    """Return a line that passes the levels at `of(y)`, with intervals but no notes."""
    rows = [row(y, level, at_level(of(y), level)) for y in values for level in LEVELS]
    return {"what": what, "id": id_, "meaning": f"Where {id_} is met.", "rows": rows, "fits": []}


def frontier(**changes: Any) -> dict[str, Any]:
    """Return what the engine's to_json() gives for freezing along d, by n, and the defaults."""
    grid = [2.0 * 10 ** (k / 3) for k in range(21)]
    near = [1 + 0.1 * k for k in range(-4, 7)]
    found: dict[str, Any] = {
        "format": "relu-verify frontier",
        "schema_version": 1,
        "theorem": "lai2026.theorem1",
        "claim": "pattern_freezes_after_step_one",
        "full_id": "lai2026.theorem1.pattern_freezes_after_step_one",
        "statement": "From step one on the active examples are those of positive label, for ever.",
        "x": D,
        "y": N,
        "without": [],
        "at": {"c": 0.9, "start_low": 1e-4, "start_high": 1e-3},
        "levels": list(LEVELS),
        "confidence": 0.95,
        "seed": 0,
        "budget": 50_000,
        "trials": 38_400,
        "given": ["labels_are_nonzero", "start_is_positive", "gram_is_regular"],
        "left_out": ["certified_from_step_one"],
        "rows": [row(n, lv, at_level(boundary_of(n), lv)) for n in Y_VALUES for lv in LEVELS],
        "fits": [
            fit(0.5, 0, 1.28, 1.9),
            fit(0.5, 1, 1.01, 1.66),
            fit(0.95, 0, 1.29, 3.1),
            fit(0.95, 1, 1.02, 2.7),
        ],
        "comparison": [
            {"level": level, "verdict": "indistinguishable", "sentence": "Both laws fit."}
            for level in LEVELS
        ],
        "cells": [
            cell
            for n in Y_VALUES
            for cell in cells(
                n, boundary_of(n), sorted([*grid, *(boundary_of(n) * r for r in near)])
            )
        ],
        "lines": [
            line("certificate", "certified_from_step_one", certificate_of, Y_VALUES),
            line("prediction", "P̂", lambda n: 1.1 * boundary_of(n), Y_VALUES),
        ],
    }
    found["defaults"] = {"positives": 0.5, "start": "positive", "y_min": 0.5}
    return {**found, **changes}


def single(**changes: Any) -> dict[str, Any]:
    """Return a frontier without an axis y, at n = 20."""
    whole = frontier()
    found = {
        **whole,
        "y": None,
        "at": {**whole["at"], "n": 20},
        "rows": [{**r, "y": None} for r in whole["rows"] if r["y"] == 20],
        "cells": [{**c, "y": None} for c in whole["cells"] if c["y"] == 20],
        "fits": [],
        "comparison": [],
        "lines": [
            {**ln, "rows": [{**r, "y": None} for r in ln["rows"] if r["y"] == 20]}
            for ln in whole["lines"]
        ],
    }
    return {**found, **changes}


def by_start(**changes: Any) -> dict[str, Any]:
    """Return a frontier by kind of start, a choice; one kind has no boundary in the range."""
    starts = {"positive": 150.0, "constant": 140.0, "random_sign": 1e30}
    grid = [2.0 * 10 ** (k / 3) for k in range(21)]
    rows = [
        row(kind, level, at_level(middle, level))
        if middle < D["high"]
        else row(
            kind,
            level,
            None,
            note=f"no boundary: the probability stays below {level:g} from end to end",
        )
        for kind, middle in starts.items()
        for level in LEVELS
    ]
    found = [cell for kind, middle in starts.items() for cell in cells(kind, middle, grid)]
    whole = frontier(y=START, rows=rows, cells=found, fits=[], comparison=[], lines=[])
    return {**whole, "at": {**whole["at"], "n": 20}, **changes}
