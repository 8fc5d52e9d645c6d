"""The search for violations without an assumption: edges, Hypothesis, and how near they come."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import numpy as np
from hypothesis import given, seed, target

from properties import strategies
from properties.ablation.looking import HOLDS, VIOLATED, Looked, look, look_at_block
from properties.ablation.question import Question
from properties.search import rest_of_the_process_left_out, searching
from verify.claims import Universal
from verify.space import Axis, Point

EDGES_OF_EXAMPLES = 4
"""One corner of the space for so many examples that Hypothesis draws."""

PROBED = 5
"""Points at which a whole block is drawn, at least: what is rare there is met so."""

PROBING_FROM = 10_000
"""Number of the first of those blocks: rates are measured on earlier ones, of other randomness."""

HALVINGS, TRIES = 8, 3
"""How often the distance to what is assumed is halved, and instances drawn at each distance."""


@dataclass
class Searched:
    """What a search met: its looks, in their order, and how often nothing could be drawn.

    probed: what was met at a point with a seed, on the way towards what is assumed: claims that
    are violated at the same point ask for the same instances, and each counts once.
    """

    looks: list[Looked] = field(default_factory=list)
    not_drawn: int = 0
    probed: dict[tuple[str, int], list[Looked]] = field(default_factory=dict)

    def add(self, met: list[Looked]) -> None:
        self.looks += met
        self.not_drawn += not met

    def probe(self, question: Question, point: Mapping[str, Any], number: int) -> list[Looked]:
        """Look at the instance at a point with a seed, unless that was done."""
        key = Point(**point).canonical, number
        if key not in self.probed:
            self.probed[key] = look(question, point, number)
            self.add(self.probed[key])
        return self.probed[key]

    def violations(self, claim: str, state: str = VIOLATED) -> list[Looked]:
        """Return the violations of a claim where the dropped assumption is in a state, the lowest
        margin first."""
        found = [one for one in self.looks if one.violates(claim, state)]
        return sorted(found, key=lambda one: one.margins[claim])

    def nearest(self, claim: str) -> Looked | None:
        """Return the violation of a claim that lies least outside the dropped assumption."""
        return max(self.violations(claim), key=lambda one: one.margin, default=None)


def search(question: Question, examples: int, root_seed: int) -> Searched:
    """Search for violations of a theorem's claims. The same arguments find the same.

    First come the edges of the question's space, then `examples` points that Hypothesis draws and
    steers towards low margins and near violations, then whole blocks at the points that came
    nearest to violating what has held so far, then points between violations and what is assumed.
    """
    text = f"{root_seed}\n{question.theorem.id}\n{question.name}"
    digest = hashlib.sha256(text.encode()).digest()
    first = int.from_bytes(digest[:4], "little")
    found = Searched()
    for number, point in enumerate(_edges(question, examples)):
        found.add(look(question, point, (first + number) % 2**32))
    _explore(question, examples, int.from_bytes(digest[:8], "little"), found)
    for number, promising in enumerate(_promising(question, found)):
        found.add(look_at_block(question, promising, root_seed, PROBING_FROM + number))
    for claim in question.scopes:
        if isinstance(claim, Universal):
            _approach(question, claim.id, first, found)
    return found


def _edges(question: Question, examples: int) -> list[dict[str, Any]]:
    return strategies.edges_along(question.axes, examples // EDGES_OF_EXAMPLES)


def _explore(question: Question, examples: int, start: int, found: Searched) -> None:
    """Let Hypothesis draw points; each claim's margin is a target, and so is nearness."""

    @seed(start)
    @searching(examples)
    @given(recipe=strategies.seeded(strategies.points_along(question.axes)))
    def attempt(recipe: dict[str, Any]) -> None:
        met = look(question, recipe["point"], recipe["seed"])
        found.add(met)
        for one in met:
            for name, outcome in one.outcomes.items():
                if outcome in (HOLDS, VIOLATED):
                    target(_score(-one.margins[name]), label=name)
            if any(one.violates(name) for name in one.outcomes):
                target(_score(one.margin), label="nearness to what is assumed")

    with rest_of_the_process_left_out():
        attempt()


def _promising(question: Question, found: Searched) -> list[Mapping[str, Any]]:
    """Return points worth a whole block: for each universal claim that nothing has violated, in
    turn, where its margin was lowest, then where it was lowest furthest outside the dropped
    assumption; and so on with the second lowest while there are fewer than `PROBED`."""
    state = HOLDS if question.dropped is None else VIOLATED
    ranked = []
    for claim in question.scopes:
        name = claim.id
        if not isinstance(claim, Universal) or found.violations(name, state):
            continue
        held = [one for one in found.looks if one.tests(name, state) and name in one.margins]
        held = [one for one in held if one.outcomes[name] == HOLDS]
        ranked.append(sorted(held, key=lambda one: one.margins[name]))
        ranked.append(sorted(held, key=lambda one: (one.margin, one.margins[name])))
    most = max(PROBED, len(ranked))
    points: dict[str, Mapping[str, Any]] = {}
    for group in zip_longest(*ranked):
        for one in group:
            if one is not None and len(points) < most:
                points.setdefault(Point(**one.point).canonical, one.point)
        if len(points) >= most:
            break
    return list(points.values())


def _score(value: float) -> float:
    """Bound a score, so that the search does not chase infinities."""
    return float(np.clip(value, -1e6, 1e6)) if math.isfinite(value) else -1e6


def _approach(question: Question, claim: str, first: int, found: Searched) -> None:
    """Look for violations of a claim nearer to what is assumed than the nearest that was met.

    Along each axis that the dropped assumption names, in turn, the distance to what lies within
    it is bisected: where a few instances show a violation the search goes nearer, else back. The
    other coordinates are the nearest violation's, then those of the worst, if as near as that one
    they show a violation too.
    """
    for axis in question.moved:
        for context in (found.nearest(claim), *found.violations(claim)[:1]):
            nearest = found.nearest(claim)
            if nearest is None or context is None:
                return
            point = {**context.point, axis.name: nearest.point[axis.name]}
            outer, inner = _ends(axis, point[axis.name])
            if outer == inner:
                continue
            known = point == nearest.point
            if known or _violated(question, claim, point, _seeds(first, HALVINGS), found):
                _bisect(question, claim, axis, point, (outer, inner), first, found)


def _bisect(
    question: Question,
    claim: str,
    axis: Axis,
    point: Mapping[str, Any],
    ends: tuple[float, float],
    first: int,
    found: Searched,
) -> None:
    outer, inner = ends
    for step in range(HALVINGS):
        middle = _between(axis, outer, inner)
        if middle in (outer, inner):
            return
        here = {**point, axis.name: middle}
        if _violated(question, claim, here, _seeds(first, step), found):
            outer = middle
        else:
            inner = middle


def _seeds(first: int, step: int) -> list[int]:
    return [(first + TRIES * step + k) % 2**32 for k in range(TRIES)]


def _violated(
    question: Question, claim: str, point: dict[str, Any], seeds: Sequence[int], found: Searched
) -> bool:
    """Say whether one of a few instances at a point violates a claim; the rest is not looked at."""
    for number in seeds:
        if any(one.violates(claim) for one in found.probe(question, point, number)):
            return True
    return False


def _ends(axis: Axis, value: Any) -> tuple[float, float]:
    """Return a coordinate and the nearest one within what is assumed; zero twice where the axis is
    a choice, or nothing of it is known to be outside."""
    if axis.scale == "choice" or not axis.inside:
        return 0.0, 0.0
    low, high = (float(end) for end in axis.inside)
    return float(value), min(max(float(value), low), high)


def _between(axis: Axis, outer: float, inner: float) -> float:
    """Return what lies half-way between two coordinates, on the axis's own scale."""
    if axis.scale == "log":
        return strategies.tidy(math.sqrt(outer * inner))
    middle = (outer + inner) / 2
    return round(middle) if axis.scale == "integer" else strategies.tidy(middle)
