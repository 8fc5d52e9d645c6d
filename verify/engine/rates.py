"""From records to verdicts: the slopes of one rate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from verify.claims import Rate, Sweep
from verify.engine.evaluate import BAND, Record
from verify.engine.plan import Cell
from verify.errors import InputError, TheoremError
from verify.margin import Floats, Masks
from verify.statistics import ErrorBudget, SlopeFit, fit_slope
from verify.theorem import Theorem
from verify.verdict import (
    ENOUGH,
    IN_SCOPE,
    OUT_OF_SCOPE,
    Conclusion,
    SlopeVerdict,
    allowed_deviation,
    conclude_slope,
    gravest,
)


def conclude_rate(
    theorem: Theorem,
    claim: Rate,
    cells: Sequence[Cell],
    records: Mapping[Cell, Record],
    budget: ErrorBudget,
    trials: int,
) -> dict[str, Any]:
    """Judge a rate: every sweep's slope interval, at an equal share of the claim's error."""
    error = budget.per_cell(len(claim.sweeps))
    by_point = {cell.point: records[cell] for cell in cells}
    slopes, details, distances = [], [], []
    in_scope, undecided = 0, 0
    for sweep in claim.sweeps:
        seen = [_Seen.of(by_point[point], claim, sweep, trials) for point in sweep.points]
        fit = _fit(claim, sweep, seen, [cell.measured for cell in seen], error)
        copies = [theorem.copies_at(point) for point in sweep.points]
        slope = _judge(claim, sweep, seen, fit, error)
        slopes.append(replace(slope, copies=copies[0] if all(copies) else ""))
        details.append(_explain(slopes[-1], fit))
        distances.append(_distance(slopes[-1], fit))
        in_scope += sum(int(cell.in_scope.sum()) for cell in seen)
        undecided += sum(int((cell.in_scope & ~cell.measured).sum()) for cell in seen)
    detail = "; ".join(details)
    return {
        "verdict": gravest([slope.verdict for slope in slopes]),
        "trials": trials * sum(len(sweep.points) for sweep in claim.sweeps),
        "in_scope": in_scope,
        "holds": 0,
        "violated": 0,
        "undecided": undecided,
        "lower_bound": math.nan,
        "upper_bound": math.nan,
        "confidence": math.nan if all(slope.copies for slope in slopes) else 1.0 - error,
        "worst_margin": float(np.fmin.reduce(distances)),
        "detail": detail + (f"; {undecided} of {in_scope} in scope undecided" if undecided else ""),
        "slopes": tuple(slopes),
    }


@dataclass(frozen=True, eq=False)
class _Seen:
    """What one cell of a sweep showed, (T,) each.

    in_scope: or perhaps in scope.   usable: quantity and abscissa are positive and finite, so
    that they have a logarithm.   measured: usable, and known to be in scope.   band: the claim's
    bounds, if any.
    """

    quantity: Floats
    against: Floats
    in_scope: Masks
    usable: Masks
    measured: Masks
    band: tuple[Floats, ...]

    @staticmethod
    def of(record: Record, claim: Rate, sweep: Sweep, trials: int) -> _Seen:
        def series(name: str) -> Floats:
            return record[f"{claim.id}.{name}"][:trials]

        quantity, against, scope = (
            series(name) for name in ("quantity", f"against.{sweep.name}", "scope")
        )
        usable = (quantity > 0) & (quantity < np.inf) & (against > 0) & (against < np.inf)
        band = tuple(series(side) for side in BAND) if claim.band is not None else ()
        return _Seen(
            quantity, against, scope != OUT_OF_SCOPE, usable, usable & (scope == IN_SCOPE), band
        )


def _distance(slope: SlopeVerdict, fit: SlopeFit | None) -> float:
    """Return how far the interval is inside the tolerance, or else the means off the line, as a
    slope; NaN where there is none."""
    inside = slope.tolerance - max(abs(end - slope.exponent) for end in (slope.low, slope.high))
    if fit is None or fit.deviation <= allowed_deviation(fit, slope.tolerance):
        return inside
    return min(inside, slope.tolerance - 2 * fit.deviation / fit.span)


def _explain(slope: SlopeVerdict, fit: SlopeFit | None) -> str:
    """Say what the slope of one sweep is, and whether the means lie on a line at all."""
    interval = f"[{slope.low:.4f}, {slope.high:.4f}]"
    text = (
        f"{slope.sweep}: slope {slope.slope:.4f} "
        f"{'of one problem a point' if slope.copies else interval} "
        f"(claimed {slope.exponent:g} ± {slope.tolerance:g})"
    )
    if fit is None or slope.verdict is not Conclusion.INCONCLUSIVE:
        return text
    allowed = allowed_deviation(fit, slope.tolerance)
    bound = f"from the line, ±{allowed:.2g} allowed"
    if 2 * fit.curvature - fit.deviation > allowed:  # the mean's own uncertainty taken off
        return f"{text}, not a power law: a mean is off by {fit.curvature:.2g} (log) {bound}"
    if fit.deviation > allowed:
        return f"{text}, a mean may be off by {fit.deviation:.2g} (log) {bound}"
    return text


def _judge(
    claim: Rate, sweep: Sweep, seen: Sequence[_Seen], fit: SlopeFit | None, error: float
) -> SlopeVerdict:
    """Judge one sweep by its fit on the trials in scope."""
    measured = [cell.measured for cell in seen]
    shown = all(mask.any() for mask in measured)

    def means(series: Sequence[Floats]) -> tuple[float, ...]:
        logs = [
            np.log(np.maximum(values[mask], np.finfo(float).tiny))
            for values, mask in zip(series, measured, strict=True)
        ]
        return tuple(float(np.exp(log.mean())) for log in logs) if shown else ()

    band = [means(side) for side in zip(*(cell.band for cell in seen), strict=True)]
    logs = [np.log(cell.quantity[cell.measured]) for cell in seen]
    return SlopeVerdict(
        sweep=sweep.name,
        against=sweep.abscissa,
        quantity=claim.quantity or claim.id,
        verdict=_conclusion(claim, sweep, seen, fit, error),
        exponent=sweep.exponent,
        tolerance=claim.tolerance,
        slope=fit.slope if fit else math.nan,
        low=fit.low if fit else math.nan,
        high=fit.high if fit else math.nan,
        curvature=fit.curvature if fit else math.nan,
        abscissa=means([cell.against for cell in seen]),
        mean=means([cell.quantity for cell in seen]),
        spread=tuple(float(np.std(log)) for log in logs) if shown else (),
        points=tuple(dict(point) for point in sweep.points),
        band_low=band[0] if band else (),
        band_high=band[1] if band else (),
    )


def _conclusion(
    claim: Rate, sweep: Sweep, seen: Sequence[_Seen], fit: SlopeFit | None, error: float
) -> Conclusion:
    """Judge a sweep by its fit, on trials that are known to be in scope.

    Undecided, where the undecided trials matter: a quantity in scope that has no logarithm, or
    trials perhaps in scope with which the slope would be judged otherwise.
    """
    counts = [int(cell.in_scope.sum()) for cell in seen]
    if sum(counts) == 0:
        return Conclusion.VACUOUS
    if min(counts) < ENOUGH:
        return Conclusion.INCONCLUSIVE
    if any((cell.in_scope & ~cell.usable).any() for cell in seen) or (
        min(int(cell.measured.sum()) for cell in seen) < ENOUGH
    ):
        return Conclusion.UNDECIDED
    with_unknown = _fit(claim, sweep, seen, [cell.in_scope for cell in seen], error)
    found = {
        conclude_slope(each, sweep.exponent, claim.tolerance)
        for each in (fit, with_unknown)
        if each is not None
    }
    return found.pop() if len(found) == 1 else Conclusion.UNDECIDED


def _fit(
    claim: Rate, sweep: Sweep, seen: Sequence[_Seen], masks: Sequence[Masks], error: float
) -> SlopeFit | None:
    """Fit a sweep on the trials of the masks; None if a cell has fewer than two.

    Raises TheoremError where the abscissae of the sweep are all equal.
    """
    if min(int(mask.sum()) for mask in masks) < 2:
        return None
    log_x = [np.log(cell.against[mask]) for cell, mask in zip(seen, masks, strict=True)]
    log_y = [np.log(cell.quantity[mask]) for cell, mask in zip(seen, masks, strict=True)]
    try:
        return fit_slope(log_x, log_y, error)
    except InputError as reason:
        raise TheoremError(f"claim {claim.id!r}, sweep {sweep.name!r}: {reason}") from reason
