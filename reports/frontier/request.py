"""What `relu-verify frontier` is asked for, from the words of the command line.

AXIS[:lo:hi] is an axis, or a part of it; AXIS[:v1,v2,…] an axis and values on it; NAME=VALUE a
coordinate that is the same everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from properties.catalogue import find_entry
from verify.claims import Claim, Rate
from verify.engine.frontier import FrontierRequest
from verify.errors import InputError, UnknownName
from verify.space import Axis, Coordinate
from verify.theorem import Theorem, points_of

ROWS = 5
"""Values of the other axis where none are given, evenly spread over what is assumed of it."""


@dataclass(frozen=True)
class Asked:
    """A claim of a theorem, and the frontier of it that is asked for."""

    theorem: Theorem
    claim: Claim
    request: FrontierRequest


def read(
    claim: str,
    x: str,
    y: str | None = None,
    at: Sequence[str] = (),
    *,
    level: str = "0.5",
    budget: int,
    confidence: float = 0.95,
    seed: int = 0,
) -> Asked:
    """Return what is asked for, as the engine takes it.

    claim: as `find_entry` takes it.   x, y, at: see the module.   level: probabilities, joined by
    commas.   budget: trials.   Raises UnknownName, with the nearest names, and InputError for
    values that cannot be.
    """
    theorem, found = _claim(claim)
    along = _part_of_axis(theorem, x)
    other, values = _axis_and_values(theorem, y) if y else (None, ())
    fixed = dict(_coordinate(theorem, word) for word in at)
    taken = _places(theorem, along, other, at)
    _require_whole_points(theorem, found, taken)
    if budget < 1:
        raise InputError(f"--budget {budget}, expected a number of trials, such as 20000")
    if not 0 < confidence < 1:
        raise InputError(f"--confidence {confidence}, expected between 0 and 1, e.g. 0.95")
    if seed < 0:
        raise InputError(f"--seed {seed}, expected a whole number from 0 on")
    request = FrontierRequest(
        x=along,
        y=other,
        y_values=values,
        at=fixed,
        levels=_levels(level),
        budget=budget,
        confidence=confidence,
        root_seed=seed,
    )
    return Asked(theorem, found, request)


def _claim(name: str) -> tuple[Theorem, Claim]:
    """Return the claim about single problems called `name`, and its theorem."""
    theorem, entry = find_entry(name)
    if isinstance(entry, Claim) and not isinstance(entry, Rate):
        return theorem, entry
    what = "a power law along sweeps" if isinstance(entry, Rate) else "measured, and claims nothing"
    others = [claim.id for claim in theorem.all_claims if not isinstance(claim, Rate)]
    raise UnknownName(
        f"{theorem.address_of(entry.id)} is {what}: it has no frontier, which is where a claim "
        f"about single problems stops{_nearest(entry.id, others)}"
    )


def _axis(theorem: Theorem, option: str, name: str) -> Axis:
    known = {axis.name: axis for axis in theorem.space}
    if name in known:
        return known[name]
    raise UnknownName(
        f"{option} {name!r} is no axis of theorem {theorem.address!r}{_nearest(name, known)}"
    )


def _part_of_axis(theorem: Theorem, text: str) -> Axis:
    """Return the axis of AXIS[:lo:hi], cut to [lo, hi]; an end that is left empty is the axis'."""
    name, *ends = text.split(":")
    axis = _axis(theorem, "--x", name)
    if axis.scale == "choice":
        numeric = [other.name for other in theorem.space if other.scale != "choice"]
        raise InputError(
            f"--x {name} is a choice of {', '.join(map(str, axis.choices))}, expected an axis of "
            f"numbers, along which a boundary can be sought{_nearest(name, numeric)}; a choice may "
            f"be --y {name}"
        )
    if len(ends) not in (0, 2):
        raise InputError(
            f"--x {text}, expected {name} or {name}:lo:hi, e.g. {name}:{axis.low:g}:{axis.high:g}"
        )
    low, high = (
        _on_axis("--x", axis, end) if end else default
        for end, default in zip(ends or ("", ""), (axis.low, axis.high), strict=True)
    )
    if low >= high:
        raise InputError(
            f"--x {text} runs from {low:g} to {high:g}, expected lo < hi: there is no boundary on "
            "a single point"
        )
    return replace(axis, low=low, high=high, simplest=None, inside=()) if ends else axis


def _axis_and_values(theorem: Theorem, text: str) -> tuple[Axis, tuple[Coordinate, ...]]:
    """Return the axis of AXIS[:v1,v2,…] and the values on it, each once, in rising order."""
    name, colon, listed = text.partition(":")
    axis = _axis(theorem, "--y", name)
    if not colon:
        return axis, spread(axis)
    if axis.scale == "choice":
        return axis, _choices(axis, listed)
    values = {_on_axis("--y", axis, word) for word in listed.split(",")}
    return axis, tuple(sorted(values))


def spread(axis: Axis) -> tuple[Coordinate, ...]:
    """Return `ROWS` values spread evenly, as the scale has it, over what is assumed of an axis
    (all of it where that is one point); of a choice, every value; of whole numbers, each once."""
    if axis.scale == "choice":
        return axis.choices
    inside = axis.within
    low, high = (inside.low, inside.high) if inside.low < inside.high else (axis.low, axis.high)
    steps = [k / (ROWS - 1) for k in range(ROWS)]
    if axis.scale == "log":
        values = [low * (high / low) ** step for step in steps]
    else:
        values = [low + (high - low) * step for step in steps]
    if axis.scale == "integer":
        return tuple(dict.fromkeys(round(value) for value in values))
    rounded = (min(max(float(f"{value:.3g}"), low), high) for value in values)
    return tuple(dict.fromkeys(rounded))


def _choices(axis: Axis, listed: str) -> tuple[Coordinate, ...]:
    """Return the choices in a list joined by commas, which choices may have in them too."""
    words, chosen = listed.split(","), []
    named = {str(choice): choice for choice in axis.choices}
    while words:
        for count in range(len(words), 0, -1):
            if (text := ",".join(words[:count])) in named:
                chosen.append(named[text])
                words = words[count:]
                break
        else:
            raise UnknownName(
                f"--y {axis.name}:{words[0]} is no choice of {axis.name}{_nearest(words[0], named)}"
            )
    return tuple(dict.fromkeys(chosen))


def _coordinate(theorem: Theorem, word: str) -> tuple[str, Coordinate]:
    """Return the coordinate of NAME=VALUE: a number, or a string where it may be one."""
    name, equals, value = word.partition("=")
    if not equals or not value:
        raise InputError(f"--at {word}, expected NAME=VALUE, e.g. --at c=0.5")
    axes = {axis.name: axis for axis in theorem.space}
    if name in axes and axes[name].scale != "choice":
        return name, _on_axis("--at", axes[name], value)
    if name not in axes and name not in theorem.defaults:
        raise UnknownName(
            f"--at {name!r} is no coordinate of theorem {theorem.address!r}"
            f"{_nearest(name, [*axes, *theorem.defaults])}"
        )
    if name in axes or isinstance(theorem.defaults[name], str):
        return name, value
    return name, _number(f"--at {word}", value)


def _places(theorem: Theorem, x: Axis, y: Axis | None, at: Sequence[str]) -> Mapping[str, str]:
    """Return by what option each thing is set: an axis that stands in another's place sets that.

    Raises InputError where two of --x, --y and --at set one thing.
    """
    axes = {axis.name: axis for axis in theorem.space}
    named = [f"--x {x.name}", *([f"--y {y.name}"] if y else []), *(f"--at {w}" for w in at)]
    names = [x.name, *([y.name] if y else []), *(word.partition("=")[0] for word in at)]
    taken: dict[str, str] = {}
    for option, name in zip(named, names, strict=True):
        place = (axes[name].instead_of if name in axes else "") or name
        if place in taken:
            raise InputError(
                f"{taken[place]} and {option} set the same thing, {place}, expected it once; leave "
                "one of them out"
            )
        taken[place] = option
    return taken


def _require_whole_points(theorem: Theorem, claim: Claim, taken: Mapping[str, str]) -> None:
    """Raise InputError where a coordinate that all of the claim's own points have is not set, and
    has no default."""
    replaced = {axis.name: axis.instead_of for axis in theorem.space}
    points = points_of(theorem, claim)
    common = set.intersection(*(set(point) for point in points)) if points else set()
    needed = sorted(name for name in common if name not in theorem.defaults)
    missing = [name for name in needed if (replaced.get(name) or name) not in taken]
    if missing:
        raise InputError(
            f"{missing[0]} is not set, and theorem {theorem.address!r} has no default for it; add "
            f"--at {missing[0]}={points[0][missing[0]]}, or --y {missing[0]}"
        )


def _levels(text: str) -> tuple[float, ...]:
    """Return probabilities in rising order, each once."""
    levels = {_number(f"--level {text}", word) for word in text.split(",")}
    if wrong := [level for level in sorted(levels) if not 0 < level < 1]:
        raise InputError(
            f"--level {wrong[0]:g}, expected probabilities between 0 and 1, e.g. 0.5,0.95"
        )
    return tuple(sorted(levels))


def _on_axis(option: str, axis: Axis, text: str) -> int | float:
    """Return a number on an axis, whole on one of whole numbers."""
    value = _number(f"{option} {axis.name}: {text}", text)
    if not axis.low <= value <= axis.high:
        raise InputError(
            f"{option} {axis.name}: {text} is not on the axis, expected between {axis.low:g} and "
            f"{axis.high:g}"
        )
    if axis.scale != "integer":
        return value
    if value != int(value):
        raise InputError(f"{option} {axis.name}: {text}, expected a whole number")
    return int(value)


def _number(option: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{option}: {text!r} is no number, expected one such as 20 or 1e4")
    return value


def _nearest(name: str, known: Iterable[str]) -> str:
    unique = list(dict.fromkeys(known))
    near = get_close_matches(name, unique, n=3, cutoff=0.4) or unique[:6]
    return f"; the nearest names are {', '.join(near)}" if near else ""
