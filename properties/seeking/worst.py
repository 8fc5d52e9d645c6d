"""The worst counterexample of the structured ensembles, and how often it is met there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from properties import strategies
from properties.seeking.explore import Met, explore, look_at_each
from properties.seeking.sought import Sought
from properties.seeking.watch import Watch
from verify.engine.evaluate import draw_trial, margin_of, scope_of
from verify.engine.plan import Cell
from verify.errors import InputError, TheoremError
from verify.severity import ViolationRate
from verify.space import Axis, Point
from verify.theorem import points_of
from verify.verdict import Tally

WHERE = "structured ensembles"
RATE_TRIALS = 200
"""Fresh trials for the rate at the point of the worst counterexample, at least."""


def axes_of(sought: Sought) -> tuple[Axis, ...]:
    """Return the axes along which a claim is searched.

    The theorem's axes; where it has none, or assumptions are dropped, those of its wide space, cut
    to what lies within the assumptions, except those that the dropped ones name, which are moved
    all along.
    """
    theorem = sought.theorem
    if theorem.axes and not sought.without:
        return theorem.axes
    freed = {axis for name in sought.without for axis in theorem.assumption(name).axes}
    free = (axis for axis in theorem.space if not axis.instead_of)
    return tuple(axis if axis.name in freed else axis.within for axis in free)


def own_points(sought: Sought) -> tuple[Point, ...]:
    """Return the points where the claim is sampled, none where an assumption is dropped."""
    return () if sought.without else points_of(sought.theorem, sought.claim)


def search_structured(
    sought: Sought,
    met: Met,
    examples: int,
    root_seed: int,
    words: tuple[object, ...],
    watch: Watch,
) -> None:
    """Look at the claim's own points and the edges of the space, then at `examples` instances that
    Hypothesis draws."""
    watch.where = WHERE
    axes = axes_of(sought)
    first = [
        *map(dict, own_points(sought)),
        *(strategies.edges_along(axes, examples // 4) if axes else []),
    ]
    recipes = [
        {"point": point, "seed": (root_seed + number) % 2**32} for number, point in enumerate(first)
    ]
    look_at_each(sought, met, recipes[: max(examples, 1)], watch)
    if axes:
        drawn = strategies.seeded(strategies.points_along(axes))
        explore(sought, met, drawn, examples, (*words, "seeded"), watch)


def rate_at(sought: Sought, point: Mapping[str, Any], root_seed: int) -> ViolationRate | None:
    """Return how often fresh trials at a point violate the claim; None where none can be drawn.

    The interval is Clopper and Pearson's, two-sided, on the trials in scope: undecided ones count
    as violations for the upper bound and as none for the lower one. The trials are no part of the
    search, which chose the point.
    """
    theorem, claim = sought.theorem, sought.claim
    cell = Cell(Point(**point), sought.control, (claim.id,), theorem.block)
    tally: Tally | None = None
    try:
        for block in range(-(-RATE_TRIALS // theorem.block)):
            trial = draw_trial(theorem, cell, root_seed, block)
            scope = scope_of(sought.scoped, trial)
            margin = margin_of(claim.inequality, trial)
            value = np.broadcast_to(margin.value, scope.shape)
            counted = Tally.of(value, np.broadcast_to(margin.uncertainty, scope.shape), scope)
            tally = counted if tally is None else tally + counted
    except TheoremError:
        raise
    except InputError:  # a batch with an instance that is none
        return None
    assert tally is not None
    return ViolationRate.of(
        tally.violated,
        tally.undecided,
        tally.in_scope,
        tally.trials,
        cell.point,
        copies=theorem.copies_at(cell.point),
    )
