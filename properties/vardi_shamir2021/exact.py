"""Theorem 8 of Vardi and Shamir (COLT 2021) over the rationals.

Every statement is the inequality of the claim or assumption of the same name, without what the
floating-point ones allow for rounding. Lengths are compared by their squares, and ηλ_max(G) ≤ 2 is
the definiteness of 2I − ηG. No exact form have `distance_falls_with_the_loss`, whose λ_max is
irrational, and `descent_comes_to_rest`, which is about floating-point runs: where the limit
matters, a statement raises NotDecided without a certificate that the pattern is final.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from flint import fmpq, fmpq_mat

from properties import checkers
from properties.lai2026.exact_scope import gram_is_regular
from verify.exact import Exact, ExactMargin, NotDecided
from verify.relu.exact.definite import smallest_pivot
from verify.relu.exact.descent import descend
from verify.relu.exact.document import document
from verify.relu.exact.floats import from_floats
from verify.relu.exact.minimum import nearest_minimum
from verify.relu.exact.problem import ExactProblem
from verify.relu.exact.rational import identity, rational, square

ZERO = fmpq(0)

_APART_SQUARED = fmpq(1, 10**12)
"""The square of 1e-6, up to which ‖w_∞ − w̃‖/‖w̃ − w_0‖ counts as zero."""


def build(values: Mapping[str, Any]) -> ExactProblem:
    """Return the problem of `setting.SMALL` or `setting.EXPLICIT`, exactly."""
    n, c = values["n"], rational(values["c"])
    if "features" in values:
        rows, factor = values["features"], n
    else:
        diagonal = values["diagonal"]
        rows = [
            [diagonal * int(i == j) for j in range(n)] + row
            for i, row in enumerate(values["block"])
        ]
        factor = 1
    features = fmpq_mat([[rational(entry) for entry in row] for row in rows])
    size = sum((entry**2 for entry in features.entries()), start=ZERO)
    return ExactProblem.from_features(
        features,
        values["labels"],
        start=[values["start"]],
        step_size=c * factor / max(size, fmpq(1)),
        slope_at_zero=1,
    )


def distance_at_most_doubles(problem: ExactProblem) -> ExactMargin:
    """‖w_∞ − w_0‖² ≤ 4‖w̃ − w_0‖². Raises NotDecided where the limit or w̃ is not known."""
    travelled = square(problem.gram, descend(problem).change)
    allowed = 4 * nearest_minimum(problem).square
    return ExactMargin(travelled, allowed, reads="‖w_∞ − w_0‖² ≤ 4‖w̃ − w_0‖²")


def distance_never_increases(problem: ExactProblem) -> ExactMargin:
    """‖w_t − w̃‖² ≤ ‖w_{t−1} − w̃‖² at the first step t that violates it.

    Where none of those up to the certificate does, no later one does: on the examples C that stay
    active r_i(β − Xw̃)_i ≥ r_i² (C has no negative label, which no active example can reach) and
    ηλ_max(G_CC) < 2 [D]. Both sides are then those of the step that gained least.

    Raises NotDecided where w̃ is not known, or where no step violates it and the pattern is not
    certain to be final.
    """
    run, best = descend(problem), nearest_minimum(problem)
    before, least = best.square, None
    for state in run.states[1:]:
        here = square(problem.gram, state.change - best.duals)
        reads = f"‖w({state.step}) − w̃‖² ≤ ‖w({state.step - 1}) − w̃‖²"
        margin = ExactMargin(here, before, reads=reads)
        if not margin.holds:
            return margin
        if least is None or before - here < least.right - least.left:
            least = margin
        before = here
    if run.final is None:
        raise NotDecided(f"no step leads away from w̃ so far: {run.given_up}")
    return least or ExactMargin(ZERO, ZERO, reads="no step is taken: 0 ≤ 0")


def limit_is_the_nearest_minimum(problem: ExactProblem) -> ExactMargin:
    """‖w_∞ − w̃‖² ≤ 10⁻¹²‖w̃ − w_0‖². Raises NotDecided where the limit or w̃ is not known."""
    best = nearest_minimum(problem)
    apart = square(problem.gram, descend(problem).change - best.duals)
    reads = "‖w_∞ − w̃‖² ≤ 10⁻¹²‖w̃ − w_0‖²"
    return ExactMargin(apart, _APART_SQUARED * best.square, reads=reads)


def labels_are_nonnegative(problem: ExactProblem) -> ExactMargin:
    """0 ≤ min y."""
    return ExactMargin(ZERO, min(problem.labels), reads="0 ≤ min y")


def step_is_at_most_two_over_lambda_max(problem: ExactProblem) -> ExactMargin:
    """0 ≤ last pivot of 2I − ηG, which is so exactly where ηλ_max(G) ≤ 2."""
    pivot = smallest_pivot(2 * identity(problem.examples) - problem.step_size * problem.gram)
    return ExactMargin(ZERO, pivot, reads="0 ≤ last pivot of 2I − ηG")


def loss_vanishes(problem: ExactProblem) -> ExactMargin:
    """Σ_i (f_∞(x_i) − y_i)² ≤ 0. Raises NotDecided where the limit is not known."""
    limit = descend(problem).predictions
    misfits = [max(limit[0, i], ZERO) - y for i, y in enumerate(problem.labels)]
    total = sum((misfit**2 for misfit in misfits), start=ZERO)
    return ExactMargin(total, ZERO, reads="Σ (f_∞(x) − y)² ≤ 0")


THEOREM8 = Exact(
    build=build,
    statements={
        "distance_at_most_doubles": distance_at_most_doubles,
        "at_most_doubles_with_negative_labels": distance_at_most_doubles,
        "distance_never_increases": distance_never_increases,
        "never_increases_at_a_longer_step": distance_never_increases,
        "limit_is_the_nearest_minimum": limit_is_the_nearest_minimum,
        "labels_are_nonnegative": labels_are_nonnegative,
        "gram_is_regular": gram_is_regular,
        "loss_vanishes": loss_vanishes,
        "step_is_at_most_two_over_lambda_max": step_is_at_most_two_over_lambda_max,
    },
    document=partial(document, comparator="nearest_minimum"),
    from_floats=from_floats,
    checker=checkers.source("relu"),
)
