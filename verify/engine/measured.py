"""From records to findings: what measures, the chain and the assumptions came to."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from verify.claims import Assumption, name_of, statement_of
from verify.engine.evaluate import Record
from verify.engine.plan import Cell
from verify.findings import (
    ChainCell,
    ChainFinding,
    FrequencyCell,
    Link,
    Measured,
    QuantileFound,
    QuantilesCell,
    Realised,
    Threshold,
    seven_numbers,
)
from verify.margin import Floats, fails_beyond, holds_beyond
from verify.measures import Chain, Frequency, Measure
from verify.space import Point
from verify.statistics import ErrorBudget, quantile_bounds
from verify.theorem import Theorem, points_of
from verify.verdict import IN_SCOPE, OUT_OF_SCOPE, Tally

_NO_ENDS = (np.nan, np.nan)


def conclude_measure(
    theorem: Theorem,
    measure: Measure,
    planned: Sequence[Cell],
    records: Mapping[Cell, Record],
    budget: ErrorBudget,
    trials: int,
) -> Measured:
    """Return what `measure` came to on the first `trials` trials of each of its cells.

    Its share of the error is split over its cells and the two sides of every bound; that of
    quantiles also over their levels. The thresholds of a frequency follow from its bounds, and
    spend none.
    """
    cells = _cells_of(theorem, measure, planned)
    found: dict[str, Any]
    if isinstance(measure, Frequency):
        error = budget.per_side(len(cells))
        frequencies = tuple(
            _frequency(cell, records, measure, trials, _error_at(theorem, cell, error))
            for cell in cells
        )
        found = {"cells": frequencies, "thresholds": thresholds(frequencies, measure.levels)}
    else:
        error = budget.per_side(len(cells) * max(1, len(measure.levels)))
        quantiles = tuple(
            _quantiles(cell, records, measure, trials, _error_at(theorem, cell, error))
            for cell in cells
        )
        found = {"cells": quantiles}
    status = theorem.status_of(measure)
    return Measured(
        theorem=theorem.address,
        measure=measure.id,
        full_id=theorem.address_of(measure.id),
        kind=measure.kind,
        statement=measure.statement,
        status=status.value,
        status_meaning=status.meaning,
        unit=measure.unit,
        axis=measure.ordinate,
        abscissa=measure.abscissa,
        by=measure.by,
        figure=measure.figure,
        given=tuple(assumption.id for assumption in measure.given),
        confidence=1.0 - error,
        **found,
    )


def _cells_of(theorem: Theorem, entry: Measure | Chain, planned: Sequence[Cell]) -> list[Cell]:
    """Return the cells of a measure or chain, which run the theorem's own simulator."""
    by_point = {cell.point: cell for cell in planned if not cell.control}
    return [by_point[point] for point in points_of(theorem, entry)]


def _error_at(theorem: Theorem, cell: Cell, error: float) -> float | None:
    """Return the share of the error that a bound spends; None where the trials are of one problem,
    no sample."""
    return None if theorem.copies_at(cell.point) else error


def _frequency(
    cell: Cell, records: Mapping[Cell, Record], measure: Frequency, trials: int, error: float | None
) -> FrequencyCell:
    """Return how often it holds in a cell, with bounds; of one problem these are 0 or 1."""
    scope, value, rounding = (
        records[cell][f"{measure.id}.{name}"][:trials] for name in ("scope", "value", "rounding")
    )
    tally = Tally.of(value, rounding, scope)
    not_holding = tally.holds < max(tally.in_scope, 1)
    return FrequencyCell(
        **_place(cell, records, measure, trials),
        in_scope=tally.in_scope,
        unknown=tally.undecided,
        holds=tally.holds,
        frequency=tally.holds / tally.in_scope if tally.in_scope else np.nan,
        low=float(not not_holding) if error is None else tally.lower_bound(error),
        high=float(not tally.violated) if error is None else tally.upper_bound(error),
    )


def _quantiles(
    cell: Cell, records: Mapping[Cell, Record], measure: Measure, trials: int, error: float | None
) -> QuantilesCell:
    """Return mean and quantiles in a cell, with intervals; of one problem, from the least of what
    its copies came to to the greatest."""
    scope, quantity = (
        records[cell][f"{measure.id}.{name}"][:trials] for name in ("scope", "quantity")
    )
    inside = np.where(scope == IN_SCOPE, quantity, np.nan)[scope != OUT_OF_SCOPE]
    known = inside[~np.isnan(inside)]
    ends = (float(known.min()), float(known.max())) if known.size == inside.size > 0 else _NO_ENDS
    with np.errstate(invalid="ignore", over="ignore"):
        deviation = float(known.std()) if known.size > 1 else np.nan
    return QuantilesCell(
        **_place(cell, records, measure, trials),
        in_scope=inside.size,
        unknown=inside.size - known.size,
        mean=_mean(known),
        deviation=deviation,
        quantiles=tuple(
            QuantileFound(
                level,
                _quantile(known, level),
                *(ends if error is None else quantile_bounds(inside, level, error)),
            )
            for level in measure.levels
        ),
    )


def _place(
    cell: Cell, records: Mapping[Cell, Record], measure: Measure, trials: int
) -> dict[str, Any]:
    """Return where a cell is drawn: its point and line, and means over the trials in scope."""
    record = records[cell]
    inside = record[f"{measure.id}.scope"][:trials] == IN_SCOPE

    def mean(name: str) -> float:
        series = f"{measure.id}.{name}"
        return _mean(record[series][:trials][inside]) if series in record.series else np.nan

    return {
        "point": dict(cell.point),
        "line": measure.line_of(cell.point),
        "trials": int(inside.size),
        "x": mean("against"),
        "prediction": mean("prediction"),
    }


def _mean(values: Floats) -> float:
    """Return the mean, which of equal numbers is that number; NaN of none."""
    if not values.size:
        return np.nan
    with np.errstate(invalid="ignore", over="ignore"):
        return float(values[0] if (values == values[0]).all() else values.mean())


def _quantile(values: Floats, level: float) -> float:
    """Return a quantile that is one of the values, as its bounds are; NaN of none."""
    return float(np.quantile(values, level, method="inverted_cdf")) if values.size else np.nan


def thresholds(cells: Sequence[FrequencyCell], levels: Sequence[float]) -> tuple[Threshold, ...]:
    """Return, line by line, between which abscissae the frequency passes each of the levels.

    If all the cells' bounds hold, and the frequency does not fall along the abscissa, then each
    level is passed there. Cells without an abscissa show nothing.
    """
    lines = dict.fromkeys(cell.line for cell in cells)
    return tuple(
        _threshold(line, level, [c for c in cells if c.line == line and not np.isnan(c.x)])
        for line, level in itertools.product(lines, levels)
    )


def _threshold(line: Any, level: float, cells: Sequence[FrequencyCell]) -> Threshold:
    low = max((cell.x for cell in cells if cell.high < level), default=np.nan)
    high = min((cell.x for cell in cells if cell.low >= level), default=np.nan)
    if low == high:  # cells of one abscissa, that something else tells apart
        return Threshold(line, level, np.nan, np.nan, monotone=True)
    if low > high:
        return Threshold(line, level, np.nan, np.nan, monotone=False)
    return Threshold(line, level, low, high, monotone=True)


def conclude_chain(
    theorem: Theorem,
    chain: Chain,
    planned: Sequence[Cell],
    records: Mapping[Cell, Record],
    trials: int,
) -> ChainFinding:
    """Return which link breaks first, on the first `trials` trials of each of the chain's cells."""
    return ChainFinding(
        theorem=theorem.address,
        links=tuple(Link(name_of(link), statement_of(link)) for link in chain.links),
        cells=tuple(
            _broken(theorem, chain, cell.point, records[cell], trials)
            for cell in _cells_of(theorem, chain, planned)
        ),
    )


def _broken(theorem: Theorem, chain: Chain, point: Point, record: Record, trials: int) -> ChainCell:
    def series(name: str) -> Floats:
        stacked = [record[f"{chain.id}.{link}.{name}"][:trials] for link in chain.ids]
        return np.stack(stacked)

    value, rounding = series("value"), series("rounding")
    open_ = ~holds_beyond(value, rounding)
    first = open_ & (np.cumsum(open_, axis=0) == 1)
    violated = first & fails_beyond(value, rounding)
    return ChainCell(
        point=dict(point),
        controls=tuple(
            control.id
            for control in theorem.controls
            if control.simulate is None and point in points_of(theorem, control.claim)
        ),
        trials=int(value.shape[1]),
        first=tuple(violated.sum(axis=1).tolist()),
        undecided=int((first & ~violated).sum()),
        holds=int((~open_).all(axis=0).sum()),
    )


def realised(
    theorem: Theorem,
    planned: Sequence[Cell],
    records: Mapping[Cell, Record],
    counts: Mapping[str, int],
) -> tuple[Realised, ...]:
    """Return how often each assumption was met, where the theorem's claims that are given it are
    sampled; controls, which may leave its scope on purpose, and measures do not count.

    counts: trials a cell of each claim. Assumptions that no claim here is given are left out.
    """
    found = (_realised(theorem, each, planned, records, counts) for each in theorem.assumptions)
    by_id = {one.assumption: one for one in found if one is not None}
    return tuple(by_id.values())


def _realised(
    theorem: Theorem,
    assumption: Assumption,
    planned: Sequence[Cell],
    records: Mapping[Cell, Record],
    counts: Mapping[str, int],
) -> Realised | None:
    ids = {c.id for c in theorem.claims if assumption.inequality in {a.inequality for a in c.given}}
    asked = {cell: max((counts[c] for c in cell.claims if c in ids), default=0) for cell in planned}
    if not any(asked.values()):
        return None
    value, rounding = (
        np.concatenate(
            [records[cell][f"given.{assumption.id}.{name}"][:n] for cell, n in asked.items() if n]
        )
        for name in ("value", "rounding")
    )
    met, violated = (int(is_(value, rounding).sum()) for is_ in (holds_beyond, fails_beyond))
    return Realised(
        assumption=assumption.id,
        trials=int(value.size),
        met=met,
        violated=violated,
        unknown=int(value.size) - met - violated,
        margins=seven_numbers(value),
    )
