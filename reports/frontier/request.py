"""What `relu-verify frontier` is asked for, from the words of the command line.

AXIS[:lo:hi] is an axis, or a part of it; AXIS[:v1,v2,…] an axis and values on it; NAME=VALUE a
coordinate that is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from properties.catalogue import find_entry
from reports.frontier.coordinates import (
    fixed_at,
    nearest,
    number_in,
    on_axis,
    places,
    require_whole_points,
    unset_defaults,
)
from verify.claims import Claim, Rate
from verify.engine.frontier import FrontierRequest
from verify.errors import InputError, UnknownName
from verify.space import Axis, Coordinate
from verify.theorem import Theorem

MOST_TRIALS = 2_000_000
"""The largest budget: every trial is kept in memory, to bet on, and on disk."""

ROWS = 5
"""Values of the other axis where none are given, evenly spread over what is assumed of it."""


@dataclass(frozen=True)
class Asked:
    """A claim of a theorem, and the frontier of it that is asked for.

    defaults: the theorem's, of the coordinates that the request does not set.
    """

    theorem: Theorem
    claim: Claim
    request: FrontierRequest
    defaults: Mapping[str, Coordinate]


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
    without: Sequence[str] = (),
) -> Asked:
    """Return what is asked for, as the engine takes it.

    claim: as `find_entry` takes it.   x, y, at: see the module.   level: probabilities, joined by
    commas.   budget: trials, `MOST_TRIALS` at most.   without: assumptions to drop.   Raises
    UnknownName, with the nearest names, and InputError for values that cannot be.
    """
    theorem, found = _claim(claim)
    along = _part_of_axis(theorem, x)
    other, values = _axis_and_values(theorem, y) if y else (None, ())
    fixed = dict(fixed_at(theorem, word) for word in at)
    taken = places(theorem, along, other, at)
    require_whole_points(theorem, found, taken)
    _require_budget(theorem, budget)
    theorem.scope(found, without)
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
        without=tuple(dict.fromkeys(without)),
    )
    return Asked(theorem, found, request, unset_defaults(theorem, taken))


def _require_budget(theorem: Theorem, budget: int) -> None:
    if budget < 1:
        raise InputError(f"--budget {budget}, expected a number of trials, such as 20000")
    if budget > MOST_TRIALS:
        blocks = -(-budget // theorem.block)
        raise InputError(
            f"--budget {budget}, expected {MOST_TRIALS} trials at most: it would take {blocks} "
            f"blocks of {theorem.block}, all kept in memory and on disk, and four times the trials "
            "only halve an interval; cut the range in place of that, --x AXIS:LO:HI"
        )


def _claim(name: str) -> tuple[Theorem, Claim]:
    """Return the claim about single problems called `name`, and its theorem."""
    theorem, entry = find_entry(name)
    if isinstance(entry, Claim) and not isinstance(entry, Rate):
        return theorem, entry
    what = "a power law along sweeps" if isinstance(entry, Rate) else "measured, and claims nothing"
    others = [claim.id for claim in theorem.all_claims if not isinstance(claim, Rate)]
    raise UnknownName(
        f"{theorem.address_of(entry.id)} is {what}: it has no frontier, which is where a claim "
        f"about single problems stops{nearest(entry.id, others)}"
    )


def _axis(theorem: Theorem, option: str, name: str) -> Axis:
    known = {axis.name: axis for axis in theorem.space}
    if name in known:
        return known[name]
    raise UnknownName(
        f"{option} {name!r} is no axis of theorem {theorem.address!r}{nearest(name, known)}"
    )


def _part_of_axis(theorem: Theorem, text: str) -> Axis:
    """Return the axis of AXIS[:lo:hi], cut to [lo, hi]; an end that is left empty is the axis'."""
    name, *ends = text.split(":")
    axis = _axis(theorem, "--x", name)
    if axis.scale == "choice":
        numeric = [other.name for other in theorem.space if other.scale != "choice"]
        raise InputError(
            f"--x {name} is a choice of {', '.join(map(str, axis.choices))}, expected an axis of "
            f"numbers, along which a boundary can be sought{nearest(name, numeric)}; a choice may "
            f"be --y {name}"
        )
    if len(ends) not in (0, 2):
        raise InputError(
            f"--x {text}, expected {name} or {name}:lo:hi, e.g. {name}:{axis.low:g}:{axis.high:g}"
        )
    low, high = (
        on_axis("--x", axis, end) if end else default
        for end, default in zip(ends or ("", ""), (axis.low, axis.high), strict=True)
    )
    if low > high:
        raise InputError(
            f"--x {text} has low > high, {low:g} > {high:g}, expected the lower end first: --x "
            f"{name}:{high:g}:{low:g}"
        )
    if low == high:
        raise InputError(
            f"--x {text} is the single point {low:g}, expected low < high: there is no boundary on "
            "a point"
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
    values = {on_axis("--y", axis, word) for word in listed.split(",")}
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
                f"--y {axis.name}:{words[0]} is no choice of {axis.name}{nearest(words[0], named)}"
            )
    return tuple(dict.fromkeys(chosen))


def _levels(text: str) -> tuple[float, ...]:
    """Return probabilities in rising order, each once."""
    levels = {number_in(f"--level {text}", word) for word in text.split(",")}
    if wrong := [level for level in sorted(levels) if not 0 < level < 1]:
        raise InputError(
            f"--level {wrong[0]:g}, expected probabilities between 0 and 1, e.g. 0.5,0.95"
        )
    return tuple(sorted(levels))
