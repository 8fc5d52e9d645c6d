"""Hypothesis strategies, from a theorem's axes and from its explicit fields.

Structured instances: a point of the theorem's space and one seed, never thousands of floats.
Explicit instances: a few small integers, which shrink to something a person can read. An
instance is the recipe of a `Counterexample`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from verify.errors import TheoremError
from verify.explicit import Explicit, Field
from verify.space import Axis
from verify.theorem import Theorem

Recipe = dict[str, Any]

_STEPS = 1_000
"""Grid of a continuous axis: coarse enough to shrink quickly, fine enough to explore."""


def coordinates(axis: Axis) -> st.SearchStrategy[Any]:
    """Draw a coordinate; it shrinks towards the axis's simplest value."""
    if axis.scale == "choice":
        return st.sampled_from(axis.choices)
    simplest = axis.low if axis.simplest is None else float(axis.simplest)
    if axis.scale == "integer":
        return _away_from(round(simplest), round(axis.low), round(axis.high))
    if axis.scale == "log":
        low, high, origin = math.log(axis.low), math.log(axis.high), math.log(simplest)
        return _grid(low, high, origin).map(lambda x: tidy(math.exp(x)))
    return _grid(axis.low, axis.high, simplest).map(tidy)


def _away_from(origin: int, low: int, high: int) -> st.SearchStrategy[int]:
    """Draw an integer between low and high that shrinks towards origin."""
    upwards = st.integers(0, high - origin).map(lambda step: origin + step)
    if origin == low:
        return upwards
    downwards = st.integers(0, origin - low).map(lambda step: origin - step)
    return downwards if origin == high else upwards | downwards


def _grid(low: float, high: float, origin: float) -> st.SearchStrategy[float]:
    """Draw a number from a grid between low and high that shrinks towards origin, which takes the
    place of the number of the grid that is nearest to it."""
    width = (high - low) / _STEPS
    if width == 0:
        return st.just(low)
    home = round((origin - low) / width)

    def at(step: int) -> float:
        return origin if step == home else min(high, max(low, low + width * step))

    return _away_from(home, 0, _STEPS).map(at)


def tidy(value: float) -> float:
    """Round to four significant digits: counterexamples are read by people."""
    return float(f"{value:.4g}")


def points(theorem: Theorem) -> st.SearchStrategy[dict[str, Any]]:
    """Draw the coordinates of a point of the theorem's space."""
    if not theorem.axes:
        raise TheoremError(
            f"theorem {theorem.address!r} has no axes, so structured instances cannot be drawn; "
            "give it axes=(Axis(…), …)"
        )
    return points_along(theorem.axes)


def points_along(axes: Sequence[Axis]) -> st.SearchStrategy[dict[str, Any]]:
    """Draw a coordinate along each of some axes."""
    return st.fixed_dictionaries({axis.name: coordinates(axis) for axis in axes})


def structured(theorem: Theorem) -> st.SearchStrategy[Recipe]:
    """Draw a point and one seed: the recipe of a "seeded" counterexample."""
    return seeded(points(theorem))


def seeded(point: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[Recipe]:
    """Draw a point from `point`, and one seed."""
    return st.fixed_dictionaries({"point": point, "seed": st.integers(0, 2**32 - 1)})


def edges(theorem: Theorem, most: int) -> list[dict[str, Any]]:
    """Return points of the theorem's space where theorems like to fail (`edges_along`)."""
    return edges_along(theorem.axes, most)


def edges_along(axes: Sequence[Axis], most: int) -> list[dict[str, Any]]:
    """Return points where theorems like to fail: at most `most` corners, and everything near one.

    With the other coordinates at their simplest, both ends of every axis, every choice and the
    smallest integers; then corners of the whole space, in an order that spreads over it.
    """
    home = {axis.name: _simplest(axis) for axis in axes}
    ends = {axis.name: _ends(axis) for axis in axes}
    near = [{**home, name: value} for name, values in ends.items() for value in values]
    for axis in axes:
        if axis.scale == "integer":
            few = range(round(axis.low), min(round(axis.high), round(axis.low) + 7) + 1)
            near += [{**home, axis.name: value} for value in few]
    extremes = [[values[0], values[-1]] for values in ends.values()]
    count = math.prod(len(values) for values in extremes)
    stride = max(1, count // max(1, most)) | 1  # odd, so that every axis takes both its ends
    corners = []
    for number in range(min(most, count)):
        bits = number * stride % count
        corners.append(
            {
                name: pair[bits >> place & 1]
                for place, (name, pair) in enumerate(zip(ends, extremes, strict=True))
            }
        )
    distinct = {json.dumps(point, sort_keys=True): point for point in [home, *near, *corners]}
    return list(distinct.values())


def _simplest(axis: Axis) -> Any:
    if axis.scale == "choice":
        return axis.choices[0]
    simplest = axis.low if axis.simplest is None else axis.simplest
    return round(float(simplest)) if axis.scale == "integer" else simplest


def _ends(axis: Axis) -> list[Any]:
    if axis.scale == "choice":
        return list(axis.choices)
    ends = [axis.low, axis.high]
    return [round(end) for end in ends] if axis.scale == "integer" else ends


def explicit(theorem: Theorem) -> st.SearchStrategy[Recipe]:
    """Draw a small explicit problem: the recipe of an "explicit" counterexample."""
    if theorem.explicit is None:
        raise TheoremError(f"theorem {theorem.address!r} has no explicit problems")
    return _integers(theorem.explicit).map(lambda values: {"values": values})


@st.composite
def _integers(draw: st.DrawFn, problem: Explicit) -> dict[str, Any]:
    values: dict[str, Any] = {
        name: draw(st.integers(low, high)) for name, (low, high) in problem.sizes.items()
    }
    for name, entry in problem.fields.items():
        shape = [values[size] for size in entry.shape]
        values[name] = draw(_nested(_entries(entry), shape))
    return values


def _entries(entry: Field) -> st.SearchStrategy[int]:
    numbers = st.integers(entry.low, entry.high)
    if not entry.nonzero or entry.low > 0 or entry.high < 0:
        return numbers
    parts = []
    if entry.high > 0:
        parts.append(st.integers(1, entry.high))
    if entry.low < 0:
        parts.append(st.integers(entry.low, -1))
    return st.one_of(parts)


def _nested(entries: st.SearchStrategy[int], shape: list[int]) -> st.SearchStrategy[Any]:
    nested: st.SearchStrategy[Any] = entries
    for size in reversed(shape):
        nested = st.lists(nested, min_size=size, max_size=size)
    return nested
