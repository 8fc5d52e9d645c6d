"""From records to verdicts: tallies and bounds of one claim."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from verify.claims import Claim, Probable, Rate
from verify.engine.evaluate import Record
from verify.engine.plan import Cell, broken_by
from verify.engine.rates import conclude_rate
from verify.findings import seven_numbers
from verify.margin import fails_beyond
from verify.statistics import ErrorBudget
from verify.theorem import Theorem, points_of
from verify.verdict import (
    ENOUGH,
    IN_SCOPE,
    OUT_OF_SCOPE,
    CellVerdict,
    Conclusion,
    Instance,
    Tally,
    Verdict,
    at_least,
    at_most,
    conclude_probable,
    conclude_universal,
    counted,
    decided,
    gravest,
    problems_checked,
)


def conclude(
    theorem: Theorem,
    claim: Claim,
    planned: Sequence[Cell],
    records: Mapping[Cell, Record],
    budget: ErrorBudget,
    trials: int,
) -> Verdict:
    """Return the verdict on `claim` from the first `trials` trials of each of its cells."""
    control = next((c for c in theorem.controls if c.claim is claim), None)
    broken = broken_by(theorem, claim)
    by_point = {cell.point: cell for cell in planned if cell.control == broken}
    cells = [by_point[point] for point in points_of(theorem, claim)]
    if isinstance(claim, Rate):
        found = conclude_rate(theorem, claim, cells, records, budget, trials)
    else:
        found = _conclude_inequality(theorem, claim, cells, records, budget, trials)
    return Verdict(
        theorem=theorem.address,
        claim=claim.id,
        full_id=theorem.address_of(claim.id),
        kind=claim.kind,
        statement=claim.statement,
        status=theorem.status_of(claim).value,
        expected=Conclusion.SUPPORTED if control is None else Conclusion.REFUTED,
        given=tuple(assumption.id for assumption in claim.given),
        rests_on=claim.rests_on,
        because=control.because if control is not None else "",
        probability=claim.probability if isinstance(claim, Probable) else None,
        **found,
    )


def _conclude_inequality(
    theorem: Theorem,
    claim: Claim,
    cells: Sequence[Cell],
    records: Mapping[Cell, Record],
    budget: ErrorBudget,
    trials: int,
) -> dict[str, Any]:
    """Judge a universal or with-probability claim."""
    error = budget.per_side(len(cells))
    probability = claim.probability if isinstance(claim, Probable) else None
    judged, closest = [], []
    for cell in cells:
        copies = theorem.copies_at(cell.point)
        value, rounding, scope = (
            records[cell][f"{claim.id}.{name}"][:trials] for name in ("value", "rounding", "scope")
        )
        tally = Tally.of(value, rounding, scope)
        verdict = (
            conclude_universal(tally, listed=bool(copies))
            if probability is None or copies
            else conclude_probable(tally, probability, error)
        )
        # A universal claim states bounds on all cells together, and spends its error there.
        bounds = (
            (math.nan, math.nan)
            if probability is None or copies
            else (tally.lower_bound(error), tally.upper_bound(error))
        )
        holds, violated = decided(value, rounding, scope)
        known = holds | violated
        margins = seven_numbers(value[known])
        judged.append(CellVerdict(dict(cell.point), verdict, tally, *bounds, margins, copies))
        if known.any():
            position = int(np.flatnonzero(known)[np.argmin(value[known])])
            block, trial = divmod(position, theorem.block)
            margin = float(value[position])
            closest.append(Instance(dict(cell.point), block, trial, cell.control, margin))
    pooled = _pooled(judged)
    sample = [cell for cell in judged if not cell.copies]
    least = min(closest, key=lambda instance: instance.margin, default=None)
    if probability is None:
        verdict = conclude_universal(pooled, listed=not sample)
        if verdict is Conclusion.SUPPORTED and _pooled(sample).in_scope < ENOUGH:
            verdict = Conclusion.INCONCLUSIVE
        error = budget.per_side(1)
    else:
        verdict = gravest([cell.verdict for cell in judged])
    bounds = math.nan, math.nan
    if sample and probability is None:
        bounds = _pooled(sample).lower_bound(error), _pooled(sample).upper_bound(error)
    elif sample:
        bounds = min(c.lower_bound for c in sample), min(c.upper_bound for c in sample)
    return {
        "verdict": verdict,
        "trials": pooled.trials,
        "in_scope": pooled.in_scope,
        "holds": pooled.holds,
        "violated": pooled.violated,
        "undecided": pooled.undecided,
        "lower_bound": bounds[0],
        "upper_bound": bounds[1],
        "confidence": 1.0 - error if sample else math.nan,
        "worst_margin": pooled.worst_margin,
        "detail": _explain(claim, verdict, judged, bounds)
        + _untested(claim, cells, judged)
        + _never_met(claim, verdict, cells, judged, records, trials)
        + _why_undecided(claim, verdict, cells, judged, records, trials),
        "cells": tuple(judged),
        "instance": least if pooled.violated else None,
        "closest": least,
        "checked": problems_checked(judged),
    }


def _pooled(cells: Sequence[CellVerdict]) -> Tally:
    """Return the counts of at least one cell together."""
    return functools.reduce(operator.add, (cell.tally for cell in cells))


def _untested(claim: Claim, cells: Sequence[Cell], judged: Sequence[CellVerdict]) -> str:
    """Say at which points a universal claim, which is about all of them together, met nothing."""
    points = [
        str(cell.point)
        for cell, found in zip(cells, judged, strict=True)
        if not found.tally.in_scope
    ]
    if isinstance(claim, Probable) or not points or len(points) == len(cells):
        return ""
    more = f" and {len(points) - 3} more cells" if len(points) > 4 else ""
    return f"; no instance in scope at {', '.join(points[:3] if more else points)}{more}"


def _why_undecided(
    claim: Claim,
    verdict: Conclusion,
    cells: Sequence[Cell],
    judged: Sequence[CellVerdict],
    records: Mapping[Cell, Record],
    trials: int,
) -> str:
    """Say of an undecided claim what hides its sign, and at which points."""
    if verdict is not Conclusion.UNDECIDED:
        return ""
    counts: dict[str, int] = {}
    points = []
    for cell, found in zip(cells, judged, strict=True):
        if found.tally.undecided:
            points.append(f"({cell.point})")
        value, rounding, scope = (
            records[cell][f"{claim.id}.{name}"][:trials] for name in ("value", "rounding", "scope")
        )
        holds, violated = decided(value, rounding, scope)
        open_ = (scope != OUT_OF_SCOPE) & ~holds & ~violated
        close = open_ & (scope == IN_SCOPE) & (rounding < np.inf) & ~np.isnan(value)
        for reason, mask in (
            ("with both sides equal up to the rounding", close),
            ("with an assumption that is not decided", open_ & (scope != IN_SCOPE)),
            ("that the claim leaves open", open_ & (scope == IN_SCOPE) & ~close),
        ):
            counts[reason] = counts.get(reason, 0) + int(mask.sum())
    told = ", ".join(f"{count} {reason}" for reason, count in counts.items() if count)
    where = ", ".join(points[:3]) + (" …" if len(points) > 3 else "")
    return f"; undecided are {told}, at {where}"


def _never_met(
    claim: Claim,
    verdict: Conclusion,
    cells: Sequence[Cell],
    judged: Sequence[CellVerdict],
    records: Mapping[Cell, Record],
    trials: int,
) -> str:
    """Say of a vacuous claim which assumption is violated most where nothing is in scope."""
    if verdict is not Conclusion.VACUOUS:
        return ""
    empty = [
        records[cell] for cell, found in zip(cells, judged, strict=True) if not found.tally.in_scope
    ]
    found = {}
    for assumption in claim.given:
        value, rounding = (
            np.concatenate([record[f"given.{assumption.id}.{name}"][:trials] for record in empty])
            for name in ("value", "rounding")
        )
        found[assumption.id] = value, int(fails_beyond(value, rounding).sum())
    worst = max(found, key=lambda name: found[name][1])
    value, violated = found[worst]
    return (
        f": {worst} is violated in {violated} of {value.size} (greatest margin "
        f"{np.nanmax(value):.3g}); draw problems that meet it, or correct it"
    )


def _explain(
    claim: Claim, verdict: Conclusion, cells: Sequence[CellVerdict], bounds: tuple[float, float]
) -> str:
    """Say in a few words what the counts mean, of a sample and of problems checked one by one."""
    if verdict is Conclusion.VACUOUS:
        tally = _pooled(cells)
        where = "in at least one cell" if tally.in_scope else f"in any of {tally.trials} trials"
        return f"its assumptions were never met {where}"
    sample = [cell for cell in cells if not cell.copies]
    told = [_explain_sample(claim, verdict, _pooled(sample), bounds)] if sample else []
    return "; ".join(filter(None, [*told, problems_checked(cells)]))


def _explain_sample(
    claim: Claim, verdict: Conclusion, tally: Tally, bounds: tuple[float, float]
) -> str:
    """Say in a few words what the counts of a sample mean."""
    counts = counted(tally)
    if isinstance(claim, Probable):
        claimed = f"P ≥ {claim.probability:g} claimed"
        if verdict is Conclusion.REFUTED:
            return f"{counts}; {claimed}, {at_most(bounds[1])} in the worst cell"
        return f"{counts}; {claimed}, {at_least(bounds[0])} in every cell"
    if verdict is Conclusion.REFUTED:
        return f"{tally.violated} of {tally.in_scope} in scope violate it ({tally.trials} trials)"
    if verdict is Conclusion.UNDECIDED:
        return counts
    return f"{counts}; {at_least(bounds[0])} on average"
