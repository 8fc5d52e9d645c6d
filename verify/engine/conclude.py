"""From records to verdicts: tallies, bounds and slopes of one claim."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from verify.engine.evaluate import BAND, Record
from verify.engine.plan import Cell
from verify.errors import InputError
from verify.statistics import ErrorBudget, fit_slope
from verify.theorem import Claim, Floats, Point, Probable, Rate, Sweep, Theorem, points_of
from verify.verdict import (
    ENOUGH,
    CellVerdict,
    Conclusion,
    Instance,
    SlopeVerdict,
    Tally,
    Verdict,
    conclude_probable,
    conclude_slope,
    conclude_universal,
    gravest,
)

Records = Mapping[tuple[Cell, int], Record]


def conclude(
    theorem: Theorem,
    claim: Claim,
    planned: Sequence[Cell],
    records: Records,
    budget: ErrorBudget,
    trials: int,
) -> Verdict:
    """Return the verdict on `claim` from the first `trials` trials of each of its cells."""
    control = next((c for c in theorem.controls if c.claim is claim), None)
    broken = control.id if control is not None and control.simulate is not None else ""
    by_point = {cell.point: cell for cell in planned if cell.control == broken}
    cells = [by_point[point] for point in points_of(theorem, claim)]
    if isinstance(claim, Rate):
        found = _conclude_rate(claim, cells, records, budget, trials)
    else:
        found = _conclude_inequality(claim, cells, records, budget, trials)
    return Verdict(
        theorem=theorem.address,
        claim=claim.id,
        full_id=theorem.address_of(claim.id),
        kind=claim.kind,
        statement=claim.statement,
        status=claim.status.value,
        expected=Conclusion.SUPPORTED if control is None else Conclusion.REFUTED,
        given=tuple(assumption.id for assumption in claim.given),
        because=control.because if control is not None else "",
        probability=claim.probability if isinstance(claim, Probable) else None,
        **found,
    )


def series(records: Records, cell: Cell, name: str, trials: int) -> Floats:
    """Return the first `trials` numbers of a series of a cell, in the order of trials."""
    blocks = sorted(block for known, block in records if known == cell)
    found = np.concatenate([records[cell, block][name] for block in blocks])
    return found[:trials]


def _conclude_inequality(
    claim: Claim, cells: Sequence[Cell], records: Records, budget: ErrorBudget, trials: int
) -> dict[str, Any]:
    """Judge a universal or with-probability claim."""
    error = budget.per_cell(len(cells))
    probability = claim.probability if isinstance(claim, Probable) else None
    judged, worst = [], None
    for cell in cells:
        value, rounding, scope = (
            series(records, cell, f"{claim.id}.{name}", trials)
            for name in ("value", "rounding", "scope")
        )
        tally = Tally.of(value, rounding, scope)
        verdict = (
            conclude_universal(tally)
            if probability is None
            else conclude_probable(tally, probability, error)
        )
        bounds = tally.lower_bound(error), tally.upper_bound(error)
        judged.append(CellVerdict(dict(cell.point), verdict, tally, *bounds))
        worst = _worse(worst, _worst_instance(records, cell, claim, trials))
    pooled = judged[0].tally
    for other in judged[1:]:
        pooled = pooled + other.tally
    if probability is None:
        verdict = conclude_universal(pooled)
        error = budget.per_claim
        bounds = pooled.lower_bound(error), pooled.upper_bound(error)
    else:
        verdict = gravest([cell.verdict for cell in judged])
        bounds = min(c.lower_bound for c in judged), min(c.upper_bound for c in judged)
    return {
        "verdict": verdict,
        "trials": pooled.trials,
        "in_scope": pooled.in_scope,
        "holds": pooled.holds,
        "violated": pooled.violated,
        "undecided": pooled.undecided,
        "lower_bound": bounds[0],
        "upper_bound": bounds[1],
        "confidence": 1.0 - error,
        "worst_margin": pooled.worst_margin,
        "detail": _explain(claim, verdict, pooled, bounds),
        "cells": tuple(judged),
        "instance": worst if worst is not None and worst.margin < 0 else None,
    }


def _explain(claim: Claim, verdict: Conclusion, tally: Tally, bounds: tuple[float, float]) -> str:
    """Say in a few words what the counts mean."""
    counts = f"{tally.holds}/{tally.in_scope} in scope hold ({tally.trials} trials)"
    if verdict is Conclusion.VACUOUS:
        return f"{tally.trials} trials, none in scope: its assumptions were never met" + (
            " in at least one cell" if tally.in_scope else ""
        )
    if isinstance(claim, Probable):
        claimed = f"P ≥ {claim.probability:g} claimed"
        if verdict is Conclusion.REFUTED:
            return f"{counts}; {claimed}, P ≤ {bounds[1]:.4f} in the worst cell"
        return f"{counts}; {claimed}, P ≥ {bounds[0]:.4f} in every cell"
    if verdict is Conclusion.REFUTED:
        return f"{tally.violated} of {tally.in_scope} in scope violate it ({tally.trials} trials)"
    if verdict is Conclusion.UNDECIDED:
        return f"{counts}, {tally.undecided} undecided"
    return f"{counts}; P ≥ {bounds[0]:.4f} on average"


def _worst_instance(records: Records, cell: Cell, claim: Claim, trials: int) -> Instance | None:
    """Return the instance in scope with the lowest decided margin."""
    value, rounding, scope = (
        series(records, cell, f"{claim.id}.{name}", trials)
        for name in ("value", "rounding", "scope")
    )
    decided = (scope == 1.0) & (np.abs(value) >= rounding)
    if not decided.any():
        return None
    position = int(np.argmin(np.where(decided, value, np.inf)))
    width = next(r.data.shape[1] for (known, _), r in records.items() if known == cell)
    return Instance(
        point=dict(cell.point),
        block=position // width,
        trial=position % width,
        control=cell.control,
        margin=float(value[position]),
    )


def _worse(one: Instance | None, other: Instance | None) -> Instance | None:
    if one is None or other is None:
        return one or other
    return other if other.margin < one.margin else one


def _conclude_rate(
    claim: Rate, cells: Sequence[Cell], records: Records, budget: ErrorBudget, trials: int
) -> dict[str, Any]:
    """Judge a rate: every sweep's slope interval, at an equal share of the claim's error."""
    error = budget.per_cell(len(claim.sweeps))
    by_point = {cell.point: cell for cell in cells}
    slopes, used, total = [], 0, 0
    for sweep in claim.sweeps:
        found, in_scope = _fit(claim, sweep, by_point, records, error, trials)
        slopes.append(found)
        used += in_scope
        total += trials * len(sweep.points)
    verdict = gravest([slope.verdict for slope in slopes])
    fitted = "; ".join(
        f"{s.sweep}: slope {s.slope:.4f} [{s.low:.4f}, {s.high:.4f}] "
        f"(claimed {s.exponent:g} ± {s.tolerance:g})"
        for s in slopes
    )
    distances = [
        s.tolerance - max(abs(s.low - s.exponent), abs(s.high - s.exponent)) for s in slopes
    ]
    return {
        "verdict": verdict,
        "trials": total,
        "in_scope": used,
        "holds": 0,
        "violated": 0,
        "undecided": 0,
        "lower_bound": math.nan,
        "upper_bound": math.nan,
        "confidence": 1.0 - error,
        "worst_margin": min(distances),
        "detail": fitted,
        "slopes": tuple(slopes),
    }


def _fit(
    claim: Rate,
    sweep: Sweep,
    by_point: Mapping[Point, Cell],
    records: Records,
    error: float,
    trials: int,
) -> tuple[SlopeVerdict, int]:
    """Fit one sweep on the trials in scope; return the verdict and their number."""
    log_x, log_y, in_scope, least = [], [], 0, trials
    band: dict[str, list[float]] = {side: [] for side in BAND}
    for point in sweep.points:
        cell = by_point[point]

        def found(name: str, cell: Cell = cell) -> Floats:
            return series(records, cell, f"{claim.id}.{name}", trials)

        quantity, against = found("quantity"), found(f"against.{sweep.name}")
        used = (found("scope") == 1.0) & (quantity > 0) & (against > 0)
        in_scope += int(used.sum())
        least = min(least, int(used.sum()))
        log_x.append(np.log(against[used]))
        log_y.append(np.log(quantity[used]))
        if claim.band is not None and used.any():
            for side in BAND:
                bound = np.maximum(found(side)[used], np.finfo(float).tiny)
                band[side].append(float(np.exp(np.mean(np.log(bound)))))
    nothing = dict.fromkeys(("slope", "low", "high", "curvature"), math.nan)
    numbers, verdict = nothing, Conclusion.VACUOUS if in_scope == 0 else Conclusion.INCONCLUSIVE
    if least >= min(ENOUGH, trials) and least >= 2:
        try:
            fit = fit_slope(log_x, log_y, error)
        except InputError as reason:
            raise InputError(f"claim {claim.id!r}, sweep {sweep.name!r}: {reason}") from reason
        numbers = {name: getattr(fit, name) for name in nothing}
        if least >= ENOUGH:
            verdict = conclude_slope(fit, sweep.exponent, claim.tolerance)
    empty = in_scope == 0 or least == 0
    return (
        SlopeVerdict(
            sweep=sweep.name,
            verdict=verdict,
            exponent=sweep.exponent,
            tolerance=claim.tolerance,
            abscissa=() if empty else tuple(float(np.exp(np.mean(x))) for x in log_x),
            mean=() if empty else tuple(float(np.exp(np.mean(y))) for y in log_y),
            spread=() if empty else tuple(float(np.std(y)) for y in log_y),
            points=tuple(dict(point) for point in sweep.points),
            band_low=() if empty else tuple(band["band_low"]),
            band_high=() if empty else tuple(band["band_high"]),
            **numbers,
        ),
        in_scope,
    )
