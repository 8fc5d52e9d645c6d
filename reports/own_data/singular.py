"""Data whose Gram matrix is singular: why it is, which start can be had, what can be examined."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

import numpy as np

from reports.own_data.request import Given, Request
from reports.own_data.spelling import LISTED, counted, plural
from reports.own_data.warnings import Warning_, duplicates, is_centred
from reports.own_data.words import five_digits
from verify.arrays import to_numpy
from verify.claims import Claim
from verify.engine.examine import Examined, Met, examine_with_run
from verify.errors import InputError
from verify.margin import Margin
from verify.relu.problem import Problem
from verify.theorem import Theorem
from verify.tolerances import IDENTITY, REGULAR_ABOVE, SINGULAR_BELOW
from verify.trial import Trial

_PARALLEL = 1e-13
"""1 − |cosine| of proportional rows, at most: zero but for rounding."""

_MOST_NAMED = 1000
"""Rows up to which those that depend on others are looked for, one by one."""

Floats = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Singular:
    """Why a Gram matrix is singular, and what to do about it."""

    reason: str
    remedy: str


def why_singular(given: Given) -> Singular | None:
    """Say why the Gram matrix is singular, or return None if it is not."""
    values = np.linalg.eigvalsh(given.gram)
    if values[0] > REGULAR_ABOVE * values[-1]:
        return None
    n, d = len(given.labels), given.dimension
    equal = sum(len(rows) - 1 for rows in duplicates(given.examples))
    used = int((given.examples != 0).any(axis=0).sum()) if given.lift is None else d
    if n > d:
        reason = f"there are more examples than features (n={n} > d={d})"
        return Singular(reason, f"use at most {plural(d, 'example', 'examples')}")
    if n > used:
        features = plural(used, "feature is", "features are")
        reason = f"only {features} not zero in all {n} examples"
        return Singular(reason, f"use at most {plural(used, 'example', 'examples')}")
    if given.lift is None and is_centred({"examples": n, **common_mean(given)}):
        reason = "the columns are centred, so the rows sum to zero"
        return Singular(reason, "keep them as they were")
    if equal:
        reason = plural(equal, "row is a duplicate", "rows are duplicates")
        return Singular(reason, f"drop {_it(equal)}")
    return _which_depend(given.gram)


def _it(count: int) -> str:
    return "it" if count == 1 else "them"


def _which_depend(gram: Floats) -> Singular:
    """Name the rows that are zero, or proportional, or else combinations of rows before them."""
    zero = np.flatnonzero(np.diag(gram) == 0) + 1
    if len(zero):
        which = "row {} is zero" if len(zero) == 1 else "rows {} are zero"
        return Singular(which.format(counted(zero, "and")), f"drop {_it(len(zero))}")
    lengths = np.sqrt(np.diag(gram))
    cosines = gram / np.outer(lengths, lengths)
    pairs = np.argwhere(np.triu(np.abs(cosines) >= 1 - _PARALLEL, 1)) + 1
    if len(pairs):
        noun = " pair" if len(pairs) == LISTED + 1 else " pairs"
        named = counted([f"{i} and {j}" for i, j in pairs], "and", "; ", noun)
        which = "the two" if len(pairs) == 1 else "each pair"
        return Singular(f"rows {named} are proportional", f"drop one of {which}")
    dependent = _dependent(cosines) if len(gram) <= _MOST_NAMED else []
    if not dependent:
        return Singular("its rows are linearly dependent", "drop the dependent ones")
    which = "row {} is a combination of rows before it"
    if len(dependent) > 1:
        which = "rows {} are combinations of rows before them"
    return Singular(which.format(counted(dependent, "and")), f"drop {_it(len(dependent))}")


def _dependent(cosines: Floats) -> list[int]:
    """Return the rows, from 1, that are combinations of rows before them."""
    left, found = cosines.copy(), []
    for i in range(len(left)):
        if left[i, i] <= REGULAR_ABOVE:
            found.append(i + 1)
        else:
            left = left - np.outer(left[:, i], left[i]) / left[i, i]
    return found


def common_mean(given: Given) -> dict[str, float]:
    """Return the share of the features' mean in the trace, n‖x̄‖²/tr(G), from the Gram matrix."""
    n = len(given.labels)
    return {"share_of_common_mean": float(given.gram.sum() / (n * np.trace(given.gram)))}


def stopped_by(singular: Singular | None) -> str | None:
    """Say that nothing could be compared, and why; None of data that are not singular."""
    if singular is None:
        return None
    return (
        f"The Gram matrix is singular, so there is no comparator: {singular.reason}; "
        f"{singular.remedy}"
    )


def warning_of(singular: Singular, found: dict[str, Any]) -> Warning_:
    """Return the warning that stands where a theorem is examined on singular data."""
    start = ""
    if found["start_had"] is not None:
        low, high = map(five_digits, found["start_had"])
        had = low if low == high else f"{low} to {high}"
        start = (
            f"; no weights have the start asked for, and the nearest is taken, predictions {had}"
        )
    return {
        "kind": "singular Gram matrix",
        "reason": f"{singular.reason}; there is no comparator and no gap{start}",
        "try": f"to {singular.remedy}",
    }


def problem_where_singular(given: Given, request: Request) -> Problem:
    """Return the problem with the start that was asked for, or else with the nearest that can be
    had."""
    try:
        return given.problem(request, request.start)
    except InputError:
        return given.problem(request, _attainable(given.gram, request.start))


def _attainable(gram: Floats, start: float) -> Floats:
    """Return the predictions, (n,), nearest to `start` each that some weights have: its part in the
    range of the Gram matrix."""
    asked = np.full(len(gram), start)
    values, vectors = np.linalg.eigh(gram)
    kept = vectors[:, values > SINGULAR_BELOW * len(gram) * values[-1]]
    part = kept @ (kept.T @ asked)
    is_zero = np.linalg.norm(part) <= np.sqrt(IDENTITY) * np.linalg.norm(asked)
    return np.zeros_like(part) if is_zero else np.asarray(part)


def start_had(problem: Problem, start: float) -> list[float] | None:
    """Return the least and the largest starting prediction where they are not what was asked for,
    else None."""
    predictions = to_numpy(problem.starting_predictions)
    if (predictions == start).all():
        return None
    return [float(predictions.min()), float(predictions.max())]


def examined_where_singular(
    theorem: Theorem, problem: Problem
) -> tuple[list[Met], list[Examined], Any]:
    """Judge as `examine_with_run` does; a claim that solves with the singular matrix, which numpy
    refuses, is undecided, or vacuous if its assumptions say so.

    Raises InputError for a theorem that refuses singular data.
    """
    claims = tuple(
        replace(claim, inequality=_open_where_unsolved(claim)) for claim in theorem.claims
    )
    with np.errstate(all="ignore"):
        met, examined, run = examine_with_run(replace(theorem, claims=claims), problem)
    own = dict(zip(claims, theorem.claims, strict=True))
    return met, [replace(each, claim=own[each.claim]) for each in examined], run


def _open_where_unsolved(claim: Claim) -> Callable[[Trial], Margin]:
    @wraps(claim.inequality)
    def inequality(trial: Trial) -> Margin:
        try:
            return claim.inequality(trial)
        except np.linalg.LinAlgError:
            return Margin(0.0, np.full(trial.trials, np.nan), rounding=np.inf)

    return inequality
