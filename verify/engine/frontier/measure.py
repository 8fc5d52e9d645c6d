"""Where a claim stops holding: the boundary of P(it holds) along one axis, row by row of another.

Beside the claim's own boundary stand those of what its theorem says of it: the certificates that
imply it, each of the theorem's assumptions, and what is predicted. What is sampled follows from the
records of earlier rounds alone, so the same seed gives the same frontier whatever the workers, and
one that was interrupted goes on where it was.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace

from verify.arrays import Backend
from verify.boundaries import RISING
from verify.claims import Claim, Rate
from verify.engine.executors import ProcessPool
from verify.engine.frontier.events import assumption_event, claim_event
from verify.engine.frontier.grids import Grid
from verify.engine.frontier.lines import assumption_lines, prediction_line
from verify.engine.frontier.survey import COARSE, Event, Place, Row, Survey, sorted_places
from verify.engine.gather import Blocks
from verify.engine.plan import whole
from verify.engine.store import Store
from verify.errors import InputError
from verify.frontiers import (
    Frontier,
    FrontierCell,
    FrontierLine,
    FrontierRequest,
    FrontierRow,
    fits_of,
)
from verify.statistics import confidence_sequence
from verify.theorem import Theorem

FrontierProgress = Callable[[int, int, str], None]
"""Called with (trials done, trials in all, what is being surveyed)."""

_CERTIFICATES_SHARE = 0.25
"""Trials of each certificate's frontier beyond its coarse grid, as a part of the claim's budget: it
needs no run."""


def measure_frontier(
    theorem: Theorem,
    claim: Claim,
    request: FrontierRequest,
    *,
    executor: Executor | ProcessPool | None = None,
    store: Store | None = None,
    backend: Backend | None = None,
    progress: FrontierProgress | None = None,
) -> Frontier:
    """Measure where P(claim holds) crosses each level along x, for each value of y.

    The probability is over the trials that meet what the claim is given, certificates left out.
    The same theorem, claim, request and backend give the same frontier, whatever the executor is.
    Raises InputError for a request that cannot be measured, TheoremError, StoreError.
    """
    _require_measurable(theorem, claim, request)
    grid = Grid(request.x)
    given = tuple(a for a in claim.given if not a.certificate)
    left_out = tuple(a for a in claim.given if a.certificate)
    blocks = Blocks(theorem, request.root_seed, executor, store, backend)
    coarse = len(request.rows) * len(grid.spread(COARSE)) * theorem.block
    beside = coarse + round(_CERTIFICATES_SHARE * request.budget)
    said = _teller(progress, request.budget + beside * len(left_out))

    def surveyed(event: Event, budget: int, what: str) -> Survey:
        survey = Survey(event, grid, request.rows, request.levels, 1 - request.confidence, blocks)
        survey.run(budget, lambda spent: said(spent, what))
        said(survey.spent, what, done=True)
        return survey

    survey = surveyed(claim_event(theorem, claim, given, request), request.budget, claim.id)
    rows = _rows(survey)
    y = "" if request.y is None else request.y.name
    fits, comparison = fits_of(rows, request.levels, y)
    lines = []
    for certificate in left_out:
        event = assumption_event(certificate, given, request)
        found = _rows(surveyed(event, beside, certificate.id))
        lines.append(
            FrontierLine(
                "certificate",
                certificate.id,
                certificate.statement,
                found,
                fits_of(found, request.levels, y)[0],
            )
        )
    lines += assumption_lines(theorem, claim, request, grid, blocks)
    if claim.prediction is not None:
        lines.append(prediction_line(claim, survey, request))
    return Frontier(
        theorem=theorem.address,
        claim=claim.id,
        full_id=theorem.address_of(claim.id),
        statement=claim.statement,
        request=request,
        given=tuple(a.id for a in given),
        left_out=tuple(a.id for a in left_out),
        trials=survey.spent,
        rows=rows,
        fits=fits,
        comparison=comparison,
        cells=tuple(
            _cell(row, place, request) for row in survey.rows for place in sorted_places(row)
        ),
        lines=tuple(lines),
    )


def _require_measurable(theorem: Theorem, claim: Claim, request: FrontierRequest) -> None:
    """Raise InputError for what has no frontier, or a request that contradicts itself."""
    if isinstance(claim, Rate):
        raise InputError(
            f"claim {claim.id!r} is a rate: it holds on no single instance, so there is no "
            "probability that it does; choose a universal or with-probability claim"
        )
    whole("budget", request.budget, 1)
    whole("root_seed", request.root_seed, 0)
    if not 0 < request.confidence < 1:
        raise InputError(f"confidence={request.confidence!r}, expected between 0 and 1, try 0.95")
    if not request.levels or not all(0 < level < 1 for level in request.levels):
        raise InputError(f"levels={request.levels!r}, expected probabilities between 0 and 1")
    if len(set(request.levels)) < len(request.levels):
        raise InputError(f"levels={request.levels!r}, expected each once")
    if request.y is not None and not request.y_values:
        raise InputError(f"axis y={request.y.name!r} has no values, expected at least one")
    if len(set(request.y_values)) < len(request.y_values):
        raise InputError(f"y_values={request.y_values!r}, expected each once")
    names = [request.x.name, *([request.y.name] if request.y else []), *(request.at or {})]
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise InputError(f"axis {twice[0]!r} is given twice: a coordinate is moved or fixed once")
    replaced = {axis.name: axis.instead_of for axis in theorem.space if axis.instead_of}
    for name in names:
        if replaced.get(name) in names:
            raise InputError(
                f"axis {name!r} takes the place of {replaced[name]!r}, expected one of the two"
            )


def _teller(progress: FrontierProgress | None, total: int) -> Callable[..., None]:
    """Return what tells the progress of several surveys as one count of trials."""
    before, whole_ = 0, total

    def said(spent: int, what: str, done: bool = False) -> None:
        nonlocal before, whole_
        whole_ = max(whole_, before + spent)
        if progress is not None:
            progress(before + spent, whole_, what)
        if done:
            before += spent

    return said


def _rows(survey: Survey) -> tuple[FrontierRow, ...]:
    """Return the boundaries that a survey found: one a level and crossing of each row."""
    return tuple(
        found
        for row in survey.rows
        for level in survey.levels
        for found in _crossings(survey, row, level)
    )


def _crossings(survey: Survey, row: Row, level: float) -> list[FrontierRow]:
    """Return where a row crosses a level: once, or for each stretch that does if it turns."""
    trials = sum(place.trials for place in row.places.values())
    if not any(place.batch.trials for place in row.places.values()):
        note = "no trial met what the claim is given, anywhere along the row"
        return [FrontierRow(row.y, level, None, None, None, trials, None, note)]
    values = {place.u: float(place.x) for place in row.places.values()}
    found, absent = [], []
    for segment in row.segments:
        for wager in (one.wager for one in segment.levels if one.wager.level == level):
            at = row.boundary(segment, wager)
            if math.isnan(at.low):
                note = "the trials contradict a probability that only rises or only falls here"
                found.append(FrontierRow(row.y, level, None, None, None, trials, None, note))
            elif at.high <= segment.low or at.low >= segment.high:
                beyond = (at.high <= segment.low) == (segment.direction == RISING)
                absent.append("above" if beyond else "below")
            else:
                first, last = (values.get(end) for end in (at.low, at.high))
                place = None
                if not math.isnan(at.estimate):
                    place = float(f"{survey.grid.value(at.estimate):.6g}")
                found.append(
                    FrontierRow(row.y, level, place, first, last, trials, segment.direction)
                )
    if len(found) > 1:
        note = f"one of {len(found)} crossings: the probability turns along this row"
        return [replace(one, note=one.note or note) for one in found]
    if found or not absent:
        return found
    side = f"above {level:g}" if absent[0] == "above" else f"below {level:g}"
    note = f"no boundary: the probability stays {side} from end to end"
    return [FrontierRow(row.y, level, None, None, None, trials, None, note, absent=True)]


def _cell(row: Row, place: Place, request: FrontierRequest) -> FrontierCell:
    """Return the counts at one place; its interval holds by itself, at any time."""
    batch, error = place.batch, 1 - request.confidence
    low = confidence_sequence(batch.holds, batch.trials, error)[0]
    high = confidence_sequence(batch.holds + batch.undecided, batch.trials, error)[1]
    return FrontierCell(
        row.y,
        place.x,
        place.trials,
        batch.trials,
        batch.holds,
        batch.violated,
        batch.undecided,
        batch.holds / batch.trials if batch.trials else None,
        low,
        high,
        None if math.isnan(place.prediction) else place.prediction,
    )
