"""Coordinates of a frontier: numbers on axes, what is set by which option, and what stays as it is.

A thing is set once: an axis that stands in another's place sets that, and one that overrides others
sets them too. What nothing sets has the theorem's default, or is missing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

from verify.claims import Claim
from verify.errors import InputError, UnknownName
from verify.space import Axis, Coordinate
from verify.theorem import Theorem, points_of


def on_axis(option: str, axis: Axis, text: str) -> int | float:
    """Return a number on an axis, whole on one of whole numbers."""
    value = number_in(f"{option} {axis.name}: {text}", text)
    if not axis.low <= value <= axis.high:
        raise InputError(
            f"{option} {axis.name}: {text} is not on the axis, expected between {axis.low:g} and "
            f"{axis.high:g}"
        )
    if axis.scale != "integer":
        return value
    return _whole(f"{option} {axis.name}: {text}", value)


def fixed_at(theorem: Theorem, word: str) -> tuple[str, Coordinate]:
    """Return the coordinate of NAME=VALUE: a number, or a string where it may be one.

    It may be any that the theorem has an axis or a default for, or that points of its own have,
    whose values are good beyond the axis too; one that is whole there is whole here. Raises
    UnknownName for others, InputError for values.
    """
    name, equals, value = word.partition("=")
    if not equals or not value:
        raise InputError(f"--at {word}, expected NAME=VALUE, e.g. --at c=0.5")
    axes = {axis.name: axis for axis in theorem.space}
    known = _values_of(theorem)
    if name not in axes and name not in known:
        raise UnknownName(
            f"--at {name!r} is no coordinate of theorem {theorem.address!r}"
            f"{nearest(name, [*axes, *known])}"
        )
    axis, values = axes.get(name), known.get(name, [])
    choices = {str(one): one for one in (*(axis.choices if axis else ()), *values)}
    if isinstance(choices.get(value), str):
        return name, value
    if axis and axis.scale != "choice":
        own = [one for one in values if _is(value, one)]
        return name, own[0] if own else on_axis("--at", axis, value)
    if choices and all(isinstance(one, str) for one in choices.values()):
        return name, value
    found = number_in(f"--at {word}", value)
    of_points = [point[name] for point in _points(theorem) if name in point]
    if of_points and all(isinstance(one, int) for one in of_points):
        return name, _whole(f"--at {word}", found)
    return name, choices.get(value, found)


def places(theorem: Theorem, x: Axis, y: Axis | None, at: Sequence[str]) -> Mapping[str, str]:
    """Return by what option each thing is set; see the module.

    Raises InputError where two of --x, --y and --at set one thing.
    """
    axes = {axis.name: axis for axis in theorem.space}
    named = [f"--x {x.name}", *([f"--y {y.name}"] if y else []), *(f"--at {w}" for w in at)]
    names = [x.name, *([y.name] if y else []), *(word.partition("=")[0] for word in at)]
    taken: dict[str, str] = {}
    for option, name in zip(named, names, strict=True):
        axis = axes.get(name)
        for place in ((axis.instead_of or name), *axis.overrides) if axis else (name,):
            if place in taken:
                raise InputError(
                    f"{taken[place]} and {option} set the same thing, {place}, expected it once; "
                    "leave one of them out"
                )
            taken[place] = option
    return taken


def unset_defaults(theorem: Theorem, taken: Mapping[str, str]) -> dict[str, Coordinate]:
    """Return the theorem's defaults of whatever no option sets."""
    return {name: value for name, value in theorem.defaults.items() if name not in taken}


def require_whole_points(theorem: Theorem, claim: Claim, taken: Mapping[str, str]) -> None:
    """Raise InputError unless points are whole: of what has no default they need all that the
    claim's own points have, or else, where these are other coordinates, all that the axes have
    (d, or d/n² in its place), and not both."""
    replaced = {axis.name: axis.instead_of for axis in theorem.space}
    points = points_of(theorem, claim)
    common = set.intersection(*(set(point) for point in points)) if points else set()
    needed, drawn = (
        {replaced.get(name) or name: name for name in sorted(names) if name not in theorem.defaults}
        for names in (common, {axis.name for axis in theorem.axes})
    )
    here, there = (
        [place for place in one if place not in other]
        for one, other in ((needed, drawn), (drawn, needed))
    )
    twice = [next((taken[p] for p in part if p in taken), "") for part in (there, here)]
    if all(twice):
        raise InputError(
            f"{twice[0]} and {twice[1]} are two ways to say the same of theorem "
            f"{theorem.address!r}, expected one of them; leave the other out"
        )
    missing = [name for place, name in needed.items() if place not in taken]
    if not missing or (there and all(place in taken for place in drawn)):
        return
    name = missing[0]
    option = f", or --y {name}" if name in replaced else ""
    raise InputError(
        f"{name} is not set, and theorem {theorem.address!r} has no default for it; add "
        f"--at {name}={points[0][name]}{option}"
    )


def number_in(option: str, text: str) -> float:
    """Return the finite number that a text says. Raises InputError."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{option}: {text!r} is no number, expected one such as 20 or 1e4")
    return value


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that says which known names are nearest."""
    unique = list(dict.fromkeys(known))
    near = get_close_matches(name, unique, n=3, cutoff=0.4) or unique[:6]
    return f"; the nearest names are {', '.join(near)}" if near else ""


def _is(text: str, value: Coordinate) -> bool:
    """Whether a text says a number."""
    try:
        return float(text) == value
    except ValueError:
        return False


def _whole(option: str, value: float) -> int:
    if value != int(value):
        raise InputError(f"{option}, expected a whole number")
    return int(value)


def _points(theorem: Theorem) -> list[Mapping[str, Coordinate]]:
    return [point for claim in theorem.all_claims for point in points_of(theorem, claim)]


def _values_of(theorem: Theorem) -> dict[str, list[Coordinate]]:
    """Return the values that coordinates have by default or at points of the theorem's own."""
    known: dict[str, list[Coordinate]] = {}
    for point in (theorem.defaults, *_points(theorem)):
        for name, value in point.items():
            known.setdefault(name, []).append(value)
    return known
