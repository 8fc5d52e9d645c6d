"""What a frontier counts on a block's trials: that a claim holds, that an assumption is met."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from verify.boundaries import HOLDS, UNDECIDED, VIOLATED
from verify.claims import Assumption, Claim
from verify.engine.evaluate import Record
from verify.engine.frontier.survey import Event, Outcomes
from verify.engine.plan import Cell, broken_by
from verify.frontiers import FrontierRequest
from verify.margin import Floats, fails_beyond, holds_beyond
from verify.space import Coordinate, Point
from verify.theorem import Theorem


def point_of(request: FrontierRequest, x: Coordinate, y: Coordinate | None) -> Point:
    """Return the point at the values of both axes."""
    place = {request.x.name: x} | ({request.y.name: y} if request.y and y is not None else {})
    return Point(**{**(request.at or {}), **place})


def claim_event(
    theorem: Theorem, claim: Claim, given: Sequence[Assumption], request: FrontierRequest
) -> Event:
    """Return the event that the claim holds."""
    control = broken_by(theorem, claim)
    beside = tuple(a.id for a in given if a not in claim.given)

    def cell(x: Coordinate, y: Coordinate | None) -> Cell:
        point = point_of(request, x, y)
        return Cell(point, control, (claim.id,), theorem.block, (), beside)

    def outcomes(record: Record) -> tuple[Outcomes, Floats]:
        value, rounding = (record[f"{claim.id}.{name}"] for name in ("value", "rounding"))
        predicted = np.full(value.shape, np.nan)
        if claim.prediction is not None:
            predicted = record[f"{claim.id}.prediction"]
        return _counted(record, given, value, rounding, predicted)

    return Event(cell, outcomes)


def assumption_event(
    assumption: Assumption, given: Sequence[Assumption], request: FrontierRequest
) -> Event:
    """Return the event that an assumption is met, among trials that meet those given."""
    ids = tuple(dict.fromkeys((assumption.id, *(a.id for a in given))))

    def cell(x: Coordinate, y: Coordinate | None) -> Cell:
        return Cell(point_of(request, x, y), "", (), 0, (), ids)

    def outcomes(record: Record) -> tuple[Outcomes, Floats]:
        value, rounding = (record[f"given.{assumption.id}.{n}"] for n in ("value", "rounding"))
        return _counted(record, given, value, rounding, np.full(value.shape, np.nan))

    return Event(cell, outcomes)


def _counted(
    record: Record,
    given: Collection[Assumption],
    value: Floats,
    rounding: Floats,
    predicted: Floats,
) -> tuple[Outcomes, Floats]:
    """Return what came of the trials in scope; those whose scope is unknown are undecided."""
    outside, known = np.zeros(value.shape, bool), np.ones(value.shape, bool)
    for assumption in given:
        margin, error = (record[f"given.{assumption.id}.{n}"] for n in ("value", "rounding"))
        outside |= fails_beyond(margin, error)
        known &= holds_beyond(margin, error)
    found = np.full(value.shape, UNDECIDED, dtype=np.int8)
    found[known & holds_beyond(value, rounding)] = HOLDS
    found[known & fails_beyond(value, rounding)] = VIOLATED
    return found[~outside], predicted[~outside]
