"""A record beside the same numbers computed again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from verify.confirm import Confirmed
from verify.counterexample import SIDES, Counterexample, captured
from verify.severity import decided_exactly
from verify.theorem import Theorem
from verify.writing import jsonable

FLOATS = 1e-6
"""Relative difference up to which floating-point numbers count as the same: libraries and
processors round differently. Exact numbers must be equal."""

_NOTHING = 1e-12
"""Absolute difference up to which they do, for numbers that are only rounding."""


@dataclass(frozen=True)
class Compared:
    """What became of a record's numbers.

    other: a line for each that is not the same today.   not_again: entries that nothing computes
    again, as the seed of the search.
    """

    other: tuple[str, ...]
    not_again: tuple[str, ...]


def compared(theorem: Theorem, example: Counterexample, found: Confirmed) -> Compared:
    """Compare a record with its instance made again: exact numbers, statement, margin, facts and
    severity, as far as they are recorded and can be computed.

    found: what exact arithmetic says of it today.
    """
    claim = theorem.claim(example.claim)
    again = captured(
        theorem,
        claim,
        example.kind,
        example.recipe,
        example.margin,
        example.control,
        example.without,
    )
    other: list[str] = []
    exact = found.example.exact
    if example.exact is not None and exact is not None:
        other += differences(example.exact, exact)
    other += differences(example.statement, again.statement, "statement")
    severity, today = dict(example.severity), dict(again.severity)
    if exact is not None and severity.get("in_scope") is not None:  # None in older files
        today = decided_exactly(today, exact)
    margin = today["margin"] if math.isfinite(example.margin) else -math.inf
    other += differences(example.margin, margin, "margin", FLOATS)
    not_again = [] if example.seed is None else ["the seed of the search"]
    if severity:
        not_again += ["the rate"] if severity.pop("rate", None) is not None else []
        today.pop("rate", None)
        other += differences(severity, today, "severity", FLOATS)
    if example.facts:
        known = jsonable(again.facts)
        if SIDES not in example.facts:  # older files do not have them
            known.pop(SIDES, None)
        stored = {name: example.facts.get(name) for name in known}
        other += differences(stored, known, "facts", FLOATS)
        not_again += [f"facts.{name}" for name in example.facts if name not in known]
    return Compared(tuple(other), tuple(not_again))


def differences(stored: Any, today: Any, where: str = "", tolerance: float = 0.0) -> Iterator[str]:
    """Yield a line for every number, truth value or name that is not the same in both.

    Words on an inequality ("reads") and on a point ("coordinate") may change. Lists of statements
    are compared by their ids.
    tolerance: relative, of numbers that are no strings.
    """
    if isinstance(stored, Mapping) and isinstance(today, Mapping):
        for name in [*stored, *(name for name in today if name not in stored)]:
            if name not in ("reads", "coordinate"):
                inside = f"{where}.{name}" if where else str(name)
                yield from differences(stored.get(name), today.get(name), inside, tolerance)
    elif isinstance(stored, list) and isinstance(today, list):
        if _named(stored) and _named(today):
            before, now = ({one["id"]: one for one in entries} for entries in (stored, today))
            yield from differences(before, now, where, tolerance)
        elif len(stored) != len(today):
            yield f"{where}: {len(stored)} entries stored, {len(today)} today"
        else:
            for place, (one, other) in enumerate(zip(stored, today, strict=True)):
                yield from differences(one, other, f"{where}[{place}]", tolerance)
    elif tolerance and _close(stored, today, tolerance):
        return
    elif type(stored) is not type(today) or stored != today:
        yield f"{where}: stored {_short(stored)}, today {_short(today)}"


def _close(stored: Any, today: Any, tolerance: float) -> bool:
    """Say whether both are numbers, equal or nearly so."""
    if not all(type(one) in (int, float) for one in (stored, today)):
        return False
    return bool(stored == today or math.isclose(stored, today, rel_tol=tolerance, abs_tol=_NOTHING))


def _named(entries: list[Any]) -> bool:
    return all(isinstance(one, Mapping) and "id" in one for one in entries)


def _short(value: Any) -> str:
    if value is None:
        return "nothing"
    text = str(value)
    return text if len(text) <= 40 else f"{text[:40]}… ({len(text)} characters)"
