"""A hunt in parts, each with a seed of its own, so that workers and shards look at different
examples; and what they find together.

Each part shrinks what it finds by itself: whose will be the smallest is known only when all are
made, perhaps by shards that meet first when they are merged, which searches nothing.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from verify.counterexample import Counterexample, Kind
from verify.space import Axis
from verify.theorem import Theorem
from verify.verdict import Hunted

_LEAST, _MOST = 30, 8
"""Examples in a part of its own, where there are so many; parts of a hunt."""


@dataclass(frozen=True)
class Hunt:
    """What a hunt, or some of its parts, met. Its counts are no probabilities: the examples are
    not i.i.d."""

    claim: str
    hunted: Hunted
    smallest: Counterexample | None = None
    worst: Counterexample | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the hunt as JSON-able values, for the store."""
        return asdict(self)

    @staticmethod
    def from_json(content: Mapping[str, Any]) -> Hunt:
        """Return the hunt that `to_json` was made of."""
        found = {
            name: None if content[name] is None else Counterexample(**content[name])
            for name in ("smallest", "worst")
        }
        return Hunt(content["claim"], Hunted(**content["hunted"]), **found)


def parts_of(examples: int) -> int:
    """Return in how many parts a hunt of so many examples is made, whoever makes them."""
    return min(_MOST, max(1, examples // _LEAST))


def share_of(examples: int, part: int) -> int:
    """Return how many examples of each kind a part of a hunt draws; parts count from 0."""
    count = parts_of(examples)
    return examples // count + (part < examples % count)


def joined(theorem: Theorem, parts: Sequence[Hunt]) -> Hunt:
    """Return what some parts of a hunt, in their order, met together.

    Counts are added. The worst has the lowest margin. The smallest is an explicit one where there
    is one, and the simplest of these (`properties.seeking.simplicity`); else the one at the point
    that differs least from the simplest values of the axes, or a simpler one that is among the
    worst (`simplest_known`). Of equals, the first.
    """
    every = [part.hunted for part in parts]
    least = [one.worst_margin for one in every if not math.isnan(one.worst_margin)]
    smallest = [part.smallest for part in parts if part.smallest is not None]
    worst = [part.worst for part in parts if part.worst is not None]
    return Hunt(
        claim=parts[0].claim,
        hunted=Hunted(
            examples=sum(one.examples for one in every),
            in_scope=sum(one.in_scope for one in every),
            violated=sum(one.violated for one in every),
            undecided=sum(one.undecided for one in every),
            worst_margin=min(least, default=math.nan),
        ),
        smallest=_smallest(theorem, smallest, worst),
        worst=min(worst, key=lambda found: found.margin, default=None),
    )


def _smallest(
    theorem: Theorem, smallest: Sequence[Counterexample], worst: Sequence[Counterexample]
) -> Counterexample | None:
    """Return the smallest counterexample of several parts, None where none has one."""
    if not smallest:
        return None
    every = [*smallest, *worst]
    instances = [(one.kind, one.recipe) for one in every]
    sizes = [_size(theorem, instance) for instance in instances[: len(smallest)]]
    first = instances[sizes.index(min(sizes))]
    return every[instances.index(simplest_known(theorem, first, instances))]


def simplest_known(theorem: Theorem, found: Instance, known: Sequence[Instance]) -> Instance:
    """Return what is the simplest of the instances that are known to violate a claim.

    found: that to which a search shrank, which need not be.   known: kinds and recipes.
    Of explicit problems it is the simplest; of points one that in no coordinate is farther from
    the axis's simplest value than `found` is, and in one nearer. Of equals, the first.
    """
    kind, recipe = found
    same = [instance for instance in known if instance[0] == kind]
    if kind != "explicit":
        here = _distances(theorem, recipe)

        def simpler(instance: Instance) -> bool:
            there = _distances(theorem, instance[1])
            return there != here and all(map(operator.le, there, here))

        same = [instance for instance in same if simpler(instance)]
    return min([found, *same], key=lambda instance: _size(theorem, instance))


Instance = tuple[Kind, Mapping[str, Any]]
"""A searched instance by kind and recipe."""


def _size(theorem: Theorem, instance: Instance) -> tuple[Any, ...]:
    """Return the key of a total order of searched counterexamples; the least is the smallest."""
    from properties.seeking.simplicity import simplicity

    kind, recipe = instance
    if kind == "explicit" and theorem.explicit is not None:
        return 0, simplicity(theorem.explicit, recipe["values"])
    away = _distances(theorem, recipe)
    return 1, (sum(map(bool, away)), sum(away), away, recipe["seed"])


def _distances(theorem: Theorem, recipe: Mapping[str, Any]) -> list[float]:
    """Return how far each coordinate of a point is from its axis's simplest value."""
    return [_away(axis, recipe["point"][axis.name]) for axis in theorem.axes]


def _away(axis: Axis, value: Any) -> float:
    """Return how far a coordinate is from its axis's simplest value, in widths of the axis."""
    if axis.scale == "choice":
        return axis.choices.index(value) / len(axis.choices)
    low, high = float(axis.low), float(axis.high)
    simplest, here = low if axis.simplest is None else float(axis.simplest), float(value)
    if axis.scale == "log":
        low, high, simplest, here = map(math.log, (low, high, simplest, here))
    return abs(here - simplest) / (high - low) if high > low else 0.0
