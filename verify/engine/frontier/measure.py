"""Where a claim stops holding: the boundary of P(it holds) along one axis, row by row of another.

Beside the claim's own boundary stand those of what its theorem says of it: the certificates that
imply it, each of the theorem's assumptions, and what is predicted. What is sampled follows from the
records of earlier rounds alone, so the same seed gives the same frontier whatever the workers, and
one that was interrupted goes on where it was.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from verify.arrays import Backend
from verify.boundaries import ABOVE, UNCLEAR, own_interval
from verify.boundaries import crossing as crossing_of
from verify.claims import Claim, Rate
from verify.engine.executors import AnyExecutor
from verify.engine.frontier.aiming import direction_of
from verify.engine.frontier.crossings import Crossing
from verify.engine.frontier.events import assumption_event, claim_event
from verify.engine.frontier.grids import Grid
from verify.engine.frontier.lines import assumption_lines, prediction_line
from verify.engine.frontier.survey import (
    COARSE,
    Event,
    Level,
    Place,
    Row,
    Survey,
    sorted_places,
)
from verify.engine.gather import Blocks
from verify.engine.plan import whole
from verify.engine.store import Store
from verify.errors import InputError, TheoremError
from verify.frontiers import (
    Frontier,
    FrontierCell,
    FrontierLine,
    FrontierRequest,
    FrontierRow,
    fits_of,
)
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
    executor: AnyExecutor | None = None,
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
    given = tuple(a for a in theorem.scope(claim, request.without) if not a.certificate)
    certificates = tuple(a for a in claim.given if a.certificate)
    blocks = Blocks(theorem, request.root_seed, executor, store, backend)
    coarse = len(request.rows) * len(grid.spread(COARSE)) * theorem.block
    beside = coarse + round(_CERTIFICATES_SHARE * request.budget)
    said = _teller(progress, request.budget + beside * len(certificates))

    def surveyed(event: Event, budget: int, what: str) -> Survey:
        survey = Survey(event, grid, request.rows, request.levels, 1 - request.confidence, blocks)
        try:
            survey.run(budget, lambda spent: said(spent, what))
        except TheoremError:
            raise
        except InputError as reason:
            low, high = request.x.low, request.x.high
            raise InputError(
                f"{reason}; if no problem can be drawn there, cut the range: --x "
                f"{request.x.name}:LOW:HIGH (it was {low:g} to {high:g})"
            ) from reason
        said(survey.spent, what, done=True)
        return survey

    survey = surveyed(claim_event(theorem, claim, given, request), request.budget, claim.id)
    rows = _rows(survey)
    y = "" if request.y is None else request.y.name
    fits, comparison = fits_of(rows, request.levels, y)
    lines = []
    for certificate in certificates:
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
        left_out=tuple(dict.fromkeys((*request.without, *(a.id for a in certificates)))),
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
        for level in row.levels
        for found in _crossings(survey, row, level)
    )


def _crossings(survey: Survey, row: Row, level: Level) -> list[FrontierRow]:
    """Return where a row crosses a level: once, or for each stretch that does if it turns."""
    trials = sum(place.trials for place in row.places.values())
    in_scope = sum(place.batch.trials for place in row.places.values())
    undecided = sum(place.batch.undecided for place in row.places.values())
    bare = FrontierRow(row.y, level.level, None, None, None, trials, None)
    if not in_scope:
        note = "no trial met what the claim is given, anywhere along the row"
        return [replace(bare, note=note)]
    found = [
        _placed(survey, row, bare, crossing)
        for crossing in level.crossings
        if crossing.beyond is None
    ]
    if not found:
        return [_absent(row, level, bare)]
    if level.turned:
        note = f"one of {len(found)} crossings: the probability turns along this row"
        found = [replace(one, note=note) for one in found] if len(found) > 1 else found
    if 2 * undecided > in_scope:
        note = f"{undecided} of {in_scope} trials in scope are undecided"
        found = [replace(one, note="; ".join(filter(None, (one.note, note)))) for one in found]
    return found


def _placed(survey: Survey, row: Row, bare: FrontierRow, crossing: Crossing) -> FrontierRow:
    """Return a crossing with its interval, and an estimate where the interval has both ends."""
    values = {place.u: float(place.x) for place in row.places.values()}
    low, high = crossing.interval()
    first, last = values.get(low), values.get(high)
    row_ends = (low, high) == survey.grid.ends
    boundary = None
    if first is not None and last is not None and not row_ends:
        curve, way = row.curve(crossing.low, crossing.high), direction_of(crossing, row.places)
        at = crossing_of(curve, bare.level, way, low, high)
        boundary = float(f"{survey.grid.value(at):.6g}")
    return replace(
        bare,
        boundary=boundary,
        low=first,
        high=last,
        direction=crossing.direction,
        settled=boundary is not None,
        note=_open(first, last, row_ends),
    )


def _open(first: float | None, last: float | None, row_ends: bool) -> str:
    """Say what an interval leaves open, if it leaves both ends so."""
    if row_ends:
        return "somewhere along the row: more trials would tell where"
    if first is None and last is None:
        return "no boundary was found within the budget"
    return ""


def _absent(row: Row, level: Level, bare: FrontierRow) -> FrontierRow:
    """Say that a row does not cross a level, or is not seen to."""
    sides = {side for _, side in row.sides(level.level)}
    if len(sides) == 1 and UNCLEAR not in sides:
        word = "above" if sides == {ABOVE} else "below"
        note = (
            f"no boundary: the probability stays {word} {level.level:.15g} at every value sampled"
        )
        return replace(bare, note=note, absent=True, settled=True)
    note = "no boundary was found within the budget"
    if level.turned:
        return replace(bare, note=f"{note}, though the probability turns")
    (whole,) = level.crossings
    word = "above" if whole.beyond == ABOVE else "below"
    seems = f"the probability seems to stay {word} {level.level:.15g}"
    return replace(bare, note=f"{note}: {seems}, which not every value sampled shows yet")


def _cell(row: Row, place: Place, request: FrontierRequest) -> FrontierCell:
    """Return the counts at one place; its interval holds by itself, at any time."""
    batch, error = place.batch, 1 - request.confidence
    low, high = own_interval(batch, error)
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
