"""The search for violations without an assumption: edges, Hypothesis, and how near they come."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings, target

from properties import strategies
from properties.ablation.looking import HOLDS, VIOLATED, Looked, look
from properties.ablation.question import Question
from properties.search import constants_of_loaded_modules_left_out
from verify.claims import Universal
from verify.space import Axis

EDGES_OF_EXAMPLES = 4
"""One corner of the space for so many examples that Hypothesis draws."""

HALVINGS, TRIES = 8, 3
"""How often the distance to what is assumed is halved, and instances drawn at each distance."""


@dataclass
class Searched:
    """What a search met: its looks, in their order, and the points where nothing can be drawn."""

    looks: list[Looked] = field(default_factory=list)
    not_drawn: int = 0

    def add(self, found: Looked | None) -> None:
        if found is None:
            self.not_drawn += 1
        else:
            self.looks.append(found)

    def violations(self, claim: str, state: str = VIOLATED) -> list[Looked]:
        """Return the violations of a claim where the dropped assumption is in a state, the lowest
        margin first."""
        found = [one for one in self.looks if one.violates(claim, state)]
        return sorted(found, key=lambda one: one.margins[claim])

    def nearest(self, claim: str) -> Looked | None:
        """Return the violation of a claim that lies least outside the dropped assumption."""
        return max(self.violations(claim), key=lambda one: one.margin, default=None)


def search(question: Question, examples: int, root_seed: int) -> Searched:
    """Search for violations of a theorem's claims: the edges of the question's space first, then
    `examples` points that Hypothesis draws and steers towards low margins and near violations,
    then between those and what is assumed. The same arguments find the same.
    """
    text = f"{root_seed}\n{question.theorem.id}\n{question.name}"
    digest = hashlib.sha256(text.encode()).digest()
    first = int.from_bytes(digest[:4], "little")
    found = Searched()
    for number, point in enumerate(_edges(question, examples)):
        found.add(look(question, point, (first + number) % 2**32))
    _explore(question, examples, int.from_bytes(digest[:8], "little"), found)
    for claim in question.scopes:
        if isinstance(claim, Universal):
            _approach(question, claim.id, first, found)
    return found


def _edges(question: Question, examples: int) -> list[dict[str, Any]]:
    return strategies.edges_along(question.axes, examples // EDGES_OF_EXAMPLES)


def _explore(question: Question, examples: int, start: int, found: Searched) -> None:
    """Let Hypothesis draw points; each claim's margin is a target, and so is nearness."""

    @seed(start)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        derandomize=False,
        phases=(Phase.generate, Phase.target),
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
        print_blob=False,
    )
    @given(recipe=strategies.seeded(strategies.points_along(question.axes)))
    def attempt(recipe: dict[str, Any]) -> None:
        met = look(question, recipe["point"], recipe["seed"])
        found.add(met)
        if met is None:
            return
        for name, outcome in met.outcomes.items():
            if outcome in (HOLDS, VIOLATED):
                target(_score(-met.margins[name]), label=name)
        if any(met.violates(name) for name in met.outcomes):
            target(_score(met.margin), label="nearness to what is assumed")

    with constants_of_loaded_modules_left_out():
        attempt()


def _score(value: float) -> float:
    """Bound a score, so that the search does not chase infinities."""
    return float(np.clip(value, -1e6, 1e6)) if math.isfinite(value) else -1e6


def _approach(question: Question, claim: str, first: int, found: Searched) -> None:
    """Look for violations of a claim nearer to what is assumed than the nearest that was met.

    Along each axis that the dropped assumption names, in turn, the distance to what lies within
    it is bisected: where a few instances show a violation the search goes nearer, else back.
    """
    for axis in question.moved:
        nearest = found.nearest(claim)
        if nearest is None:
            return
        outer, inner = _ends(axis, nearest.point[axis.name])
        for step in range(HALVINGS):
            middle = outer if outer == inner else _between(axis, outer, inner)
            if middle in (outer, inner):
                break
            point = {**nearest.point, axis.name: middle}
            seeds = [nearest.seed, *((first + TRIES * step + k) % 2**32 for k in range(1, TRIES))]
            if _violated(question, claim, point, seeds, found):
                outer = middle
            else:
                inner = middle


def _violated(
    question: Question, claim: str, point: dict[str, Any], seeds: Sequence[int], found: Searched
) -> bool:
    """Say whether one of a few instances at a point violates a claim; the rest is not looked at."""
    for number in seeds:
        met = look(question, point, number)
        found.add(met)
        if met is not None and met.violates(claim):
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
