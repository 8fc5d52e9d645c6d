"""Where values of the axes lie in figures: on logarithmic, linear or named places."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from reports.typography import Part

Place = Callable[[Any], float]


def place_of(axis: Part, values: Sequence[Any]) -> Place:
    """Return where `values` lie on an axis: the logarithm where `is_log`; the rank, from 0, of
    values that are names."""
    if axis["scale"] == "choice":
        ranks: Mapping[Any, int] = {value: rank for rank, value in enumerate(dict.fromkeys(values))}
        return lambda value: float(ranks[value])
    return math.log10 if is_log(axis) else float


def is_log(axis: Part) -> bool:
    """Whether an axis is drawn on a logarithmic scale: also one of whole numbers over two decades
    and more, which the engine samples in ratios."""
    if axis["scale"] == "integer":
        return bool(axis["low"] > 0 and axis["high"] >= 100 * axis["low"])
    return bool(axis["scale"] == "log")


def edges(places: Sequence[float]) -> list[tuple[float, float]]:
    """Return for each of rising places the interval about it that meets those of its neighbours
    halfway; the outer ones are as wide to both sides, a single one is 1 wide."""
    if len(places) == 1:
        return [(places[0] - 0.5, places[0] + 0.5)]
    middles = [(a + b) / 2 for a, b in pairwise(places)]
    first, last = 2 * places[0] - middles[0], 2 * places[-1] - middles[-1]
    return list(pairwise([first, *middles, last]))


def y_values(found: Part) -> list[Any]:
    """Return the values of y that have rows, in their order; [None] without an axis y."""
    return list(dict.fromkeys(row["y"] for row in found["rows"]))


def cells_at(found: Part, y: Any) -> list[Part]:
    """Return the cells of one row with a frequency, by rising x."""
    known = [c for c in found["cells"] if c["y"] == y and c["frequency"] is not None]
    return sorted(known, key=lambda cell: cell["x"])
