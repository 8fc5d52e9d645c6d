"""The smallest counterexample: the fewest examples, dimensions, neurons, then simplest numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from properties.search import UNDECIDED, VIOLATED
from properties.seeking.explore import Met, explore
from properties.seeking.problems import of_size, sizes_of
from properties.seeking.simplicity import simplicity
from properties.seeking.simplify import simplified
from properties.seeking.sought import Sought
from properties.seeking.watch import Watch
from verify.counterexample import Kind
from verify.explicit import Explicit

STARTS = 3
"""Counterexamples, the simplest of those met, from which simpler ones are looked for."""

MOST_UNDECIDED = 50
"""Problems of one size, undecided in floating point, that are looked at exactly."""


@dataclass(frozen=True)
class Place:
    """Problems of one family and one size.

    kind: "small" or "explicit".   number: in the order in which places are searched.
    """

    kind: Kind
    family: Explicit
    sizes: Mapping[str, int]
    number: int

    @property
    def where(self) -> str:
        """The sizes in words, "n=2, d=3"."""
        return ", ".join(f"{name}={size}" for name, size in self.sizes.items()) or "one size"

    def recipe(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the recipe of a counterexample with these integers."""
        return {"values": dict(values)}


@dataclass(frozen=True)
class Candidate:
    """An instance that may violate the claim, by kind and recipe.

    margin: in floating point.   decided: whether it is violated there, in scope, beyond rounding.
    """

    kind: Kind
    recipe: dict[str, Any]
    margin: float
    decided: bool = True


def places(sought: Sought) -> list[Place]:
    """Return the families and sizes to search, the smallest first.

    Those of the theorem's small problems; then those of its explicit ones, which lie within the
    claims' scope: unless assumptions are dropped, and there are small ones.
    """
    theorem = sought.theorem
    families: list[tuple[Kind, Explicit]] = []
    if theorem.small is not None:
        families.append(("small", theorem.small))
    if theorem.explicit is not None and not (sought.without and families):
        families.append(("explicit", theorem.explicit))
    every = [(kind, family, sizes) for kind, family in families for sizes in sizes_of(family)]
    return [Place(*one, number) for number, one in enumerate(every)]


def search_place(
    sought: Sought,
    place: Place,
    met: Met,
    examples: int,
    words: tuple[object, ...],
    watch: Watch,
) -> None:
    """Look at `examples` problems of one size."""
    watch.where = place.where
    words = (*words, place.kind, place.where)
    explore(sought, met, of_size(place.family, place.sizes), examples, words, watch)


def by_simplicity(place: Place, met: Met) -> Iterator[Candidate]:
    """Yield what may be a counterexample, the simplest first: what is violated in floating point,
    then what is undecided there and may be decided exactly."""
    for kept, most, decided in (
        (met.violated, len(met.violated), True),
        (met.undecided, MOST_UNDECIDED, False),
    ):
        known = sorted(
            kept.values(), key=lambda entry: simplicity(place.family, entry[1]["values"])
        )
        for margin, recipe in known[:most]:
            yield Candidate(place.kind, recipe, margin, decided)


def simplest(sought: Sought, place: Place, confirmed: list[Candidate], watch: Watch) -> Candidate:
    """Return the simplest counterexample that steps from the confirmed ones lead to.

    Each step is confirmed as they are: exactly, or in floating point where the claim has no exact
    form. The margin is that in floating point, where it may be undecided.
    """
    margins: dict[str, float] = {}

    @cache
    def violates_at(values: str) -> bool:
        recipe = place.recipe(json.loads(values))
        look = sought.look(place.kind, recipe)
        watch.count()
        if look is None or look.outcome not in (VIOLATED, UNDECIDED):
            return False
        margins[_name(recipe)] = look.margin
        outcome = sought.judged(place.kind, recipe, look.margin).outcome
        return outcome == "exact" or (outcome == "no exact form" and look.outcome == VIOLATED)

    def violates(values: Mapping[str, Any]) -> bool:
        return violates_at(json.dumps(values))

    ends = []
    for candidate in confirmed:
        margins.setdefault(_name(candidate.recipe), candidate.margin)
        start = candidate.recipe["values"]
        end = simplified(place.family, start, violates, over=watch.over)
        ends.append(place.recipe(end))
    best = min(ends, key=lambda recipe: simplicity(place.family, recipe["values"]))
    return Candidate(place.kind, best, margins[_name(best)])


def _name(recipe: Mapping[str, Any]) -> str:
    return json.dumps(recipe, sort_keys=True)
