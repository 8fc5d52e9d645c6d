"""Floating-point problems, taken for the rational numbers that they are."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np
from flint import fmpq

from verify.arrays import to_numpy
from verify.exact import NotDecided
from verify.relu.exact.problem import ExactLaw, ExactProblem
from verify.relu.exact.rational import rational
from verify.relu.problem import Problem

MOST_EXAMPLES = 12
"""Doubles have 53 bits each: with more of them exact arithmetic takes minutes and pages of digits,
while a problem that can be read has small integers."""


def from_floats(problem: Problem, index: int) -> ExactProblem:
    """Return problem number `index` of a batch over the rationals; every double is one.

    Its Gram matrix is the one that was computed, where the law of the features is known or they
    are not; else that of its features. Either way rounding has happened before: this is the
    problem that the computer was given.

    Raises InputError where the numbers make no problem: a Gram matrix that rounding has made
    indefinite, or a start that no weights attain exactly; NotDecided above `MOST_EXAMPLES`.
    """
    if problem.examples > MOST_EXAMPLES:
        raise NotDecided(
            f"it has n={problem.examples} examples of floating-point numbers, and exact arithmetic "
            f"is for at most {MOST_EXAMPLES} of them"
        )
    one = problem.select(np.asarray([index]))

    def rows(name: str) -> Any:
        return to_numpy(getattr(one, name))[0].tolist()

    shared: dict[str, Any] = {
        "step_size": float(to_numpy(one.step_size)[0]),
        "signs": [int(sign) for sign in to_numpy(one.signs)[0]],
        "slope_at_zero": one.slope_at_zero,
    }
    if one.law is None and one.features is not None:
        start = {"start": rows("starting_predictions")}
        if one.starting_weights is not None:
            start = {"starting_weights": rows("starting_weights")}
        return ExactProblem.from_features(rows("features"), rows("labels"), **start, **shared)
    return ExactProblem.from_gram(
        rows("gram"),
        rows("labels"),
        start=rows("starting_predictions"),
        outside=rows("perpendicular_gram"),
        law=_law(one),
        **shared,
    )


def _law(problem: Problem) -> ExactLaw | None:
    """Return the law's effective dimensions, None where the problem does not know it."""
    if problem.law is None:
        return None
    known = problem.law.broadcast(1)
    dimension, trace, d_2, d_inf = (
        float(np.asarray(value)[0])
        for value in (known.dimension, known.trace, known.d_2, known.d_inf)
    )
    return ExactLaw(_finite(dimension), rational(trace), _finite(d_2), _finite(d_inf))


def _finite(value: float) -> fmpq | None:
    return rational(value) if isfinite(value) else None
