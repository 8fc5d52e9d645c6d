"""Theorems 1 to 4 of Lai et al. over the rationals: what a counterexample is certain of.

Every statement is the inequality that the claim of the same name states in floating point, its
tolerance included; where lengths are compared, both sides are squares. No exact form have the
bands and bounds whose sides are irrational (ε, δ, ρ), claims of rates and probabilities over
others than the pattern, and `tails_are_light`, a statement about the law of the features and not
about any problem.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from flint import fmpq, fmpq_mat

from properties import checkers
from properties.lai2026.exact_scope import OF_EVERY_THEOREM, ZERO, decimal
from properties.lai2026.setting import PAIR
from verify.exact import Exact, ExactMargin, NotDecided
from verify.relu.exact.descent import descend, first_departure, state_at
from verify.relu.exact.document import document
from verify.relu.exact.floats import from_floats
from verify.relu.exact.minimum import ExactMinimum, minimum_norm
from verify.relu.exact.problem import ExactProblem
from verify.relu.exact.rational import block, column, rational, square, trace
from verify.tolerances import IDENTITY

Statement = Callable[[ExactProblem], ExactMargin]

_EQUAL = decimal(IDENTITY)
"""Relative error up to which the claims count two expressions as equal."""

_OFF_THE_MINIMUM = fmpq(1, 10**12)
"""The square of 1e-6, up to which ‖w_∞ − w⋆‖/‖w⋆‖ counts as zero."""


def build(values: Mapping[str, Any]) -> ExactProblem:
    """Return the problem of `setting.SMALL`, `setting.EXPLICIT` or their pairs, exactly."""
    n, start, c = values["n"], values["start"], rational(values["c"])
    pair = isinstance(start[0], list)
    if "features" in values:
        features = fmpq_mat([[rational(entry) for entry in row] for row in values["features"]])
        size = sum((entry**2 for entry in features.entries()), start=ZERO)
        step = c * n / max(size, fmpq(1))
    else:
        diagonal = rational(values["diagonal"])
        features = fmpq_mat(
            [
                [diagonal * int(i == j) for j in range(n)] + [rational(entry) for entry in row]
                for i, row in enumerate(values["block"])
            ]
        )
        step = c / diagonal**2
    return ExactProblem.from_features(
        features,
        values["labels"],
        start=start if pair else [start],
        step_size=step,
        signs=PAIR if pair else (1,),
    )


# Dynamics.


def patterns_are_the_classes(problem: ExactProblem) -> ExactMargin:
    """From step one on, for ever, every neuron is active exactly on its label class.

    A prediction's side is β on the class, which must be above 0, and −β off it, at least 0 (with
    φ'(0) = 1: at least, and above). Violated at the first step where one is on the wrong side: the
    smallest there, the first of equal ones. Where none is, ever, the smallest of all steps up to
    the certificate. Raises NotDecided where neither is known.
    """
    departure = first_departure(problem)
    if departure is not None:
        sides = [side for side in _sides(problem, departure) if not side.holds]
    else:
        last = max(descend(problem).states[-1].step, 1)
        sides = [side for step in range(1, last + 1) for side in _sides(problem, step)]
    return min(sides, key=lambda side: side.right)


def _sides(problem: ExactProblem, step: int) -> list[ExactMargin]:
    """Return, neuron by neuron and example by example, which side of zero a prediction is on."""
    state, found = state_at(problem, step), []
    for k, own in enumerate(problem.label_classes):
        for i, member in enumerate(own):
            beta, strict = state.predictions[k, i], member != bool(problem.slope_at_zero)
            name = f"β{_NAMES[k] if problem.neurons > 1 else ''}_{i + 1}"
            reads = f"0 {'<' if strict else '≤'} {'' if member else '−'}{name} at step {step}"
            found.append(ExactMargin(ZERO, beta if member else -beta, strict, reads))
    return found


_NAMES = "⊕⊖"


def positives_interpolated(problem: ExactProblem) -> ExactMargin:
    """max_{S₊} |β_∞ − y| ≤ 10⁻¹⁰ max|y|; 0 without positive labels."""
    limit = descend(problem).predictions
    misfits = [abs(limit[0, i] - y) for i, y in enumerate(problem.labels) if y > 0]
    reads = "max |w_∞·x − y| over S₊ ≤ 10⁻¹⁰ max|y|"
    return ExactMargin(max(misfits, default=ZERO), _EQUAL * problem.label_scale, reads=reads)


def negatives_predicted_zero(problem: ExactProblem) -> ExactMargin:
    """max β_∞ ≤ 0 over all but S₊; 0 where every label is positive."""
    limit = descend(problem).predictions
    found = [limit[0, i] for i, y in enumerate(problem.labels) if not y > 0]
    return ExactMargin(max(found, default=ZERO), ZERO, reads="max w_∞·x over S₋ ≤ 0")


def duals_off_the_classes_frozen(problem: ExactProblem) -> ExactMargin:
    """max |α_∞ − α_1| off the label classes ≤ 10⁻¹⁰ max|α_∞|."""
    change, after = descend(problem).change, state_at(problem, 1).change
    moved = [
        abs(change[k, i] - after[k, i])
        for k, own in enumerate(problem.label_classes)
        for i, member in enumerate(own)
        if not member
    ]
    size = max(abs(entry) for entry in (problem.starting_duals + change).entries())
    reads = "max |α_∞ − α_1| off the label class ≤ 10⁻¹⁰ max|α_∞|"
    return ExactMargin(max(moved, default=ZERO), _EQUAL * size, reads=reads)


def limit_is_nearest(problem: ExactProblem) -> ExactMargin:
    """Σ_k ‖w_∞ − ŵ‖² ≤ 10⁻²⁰ Σ_k ‖ŵ‖² with ŵ = w_1 + X_C⁺(|y_C| − X_C w_1), C the label class.

    Raises NotDecided where G_CC is singular.
    """
    after, change = state_at(problem, 1), descend(problem).change
    nearest = fmpq_mat(problem.starting_duals + after.change)
    for k, own in enumerate(problem.label_classes):
        places = [i for i, member in enumerate(own) if member]
        missing = [abs(problem.labels[i]) - after.predictions[k, i] for i in places]
        for i, gain in zip(places, _solved(problem, places, missing), strict=True):
            nearest[k, i] += gain
    apart = square(problem.gram, problem.starting_duals + change - nearest)
    allowed = _EQUAL**2 * square(problem.gram, nearest)
    return ExactMargin(apart, allowed, reads="‖w_∞ − ŵ‖² ≤ 10⁻²⁰ ‖ŵ‖²")


def interpolates_all(problem: ExactProblem) -> ExactMargin:
    """max |f_∞ − y| ≤ 10⁻¹⁰ max|y|, f the model's output."""
    limit, zero = descend(problem).predictions, ZERO
    misfits = []
    for i, y in enumerate(problem.labels):
        outputs = [s * max(limit[k, i], zero) for k, s in enumerate(problem.signs)]
        misfits.append(abs(sum(outputs, start=-y)))
    reads = "max |f_∞(x) − y| ≤ 10⁻¹⁰ max|y|"
    return ExactMargin(max(misfits), _EQUAL * problem.label_scale, reads=reads)


# The gap.


def limit_is_the_minimum_norm(problem: ExactProblem) -> ExactMargin:
    """‖w_∞ − w⋆‖² ≤ 10⁻¹² ‖w⋆‖²."""
    allowed = _OFF_THE_MINIMUM * _best(problem).square
    return ExactMargin(squared_gap(problem), allowed, reads="‖w_∞ − w⋆‖² ≤ 10⁻¹² ‖w⋆‖²")


def gap_schur_identity(problem: ExactProblem) -> ExactMargin:
    """(1 − 10⁻¹⁰)² G² ≤ gap² ≤ (1 + 10⁻¹⁰)² G², G² = Σ_k ‖w_k^⊥‖² + Δ_kᵀS_kΔ_k: the side that
    is violated, or else the upper one.

    Raises NotDecided where a block of the Gram matrix is singular.
    """
    gap, expected = squared_gap(problem), _schur(problem)
    below = ExactMargin((1 - _EQUAL) ** 2 * expected, gap, reads="(1 − 10⁻¹⁰)² (…) ≤ gap²")
    above = ExactMargin(gap, (1 + _EQUAL) ** 2 * expected, reads="gap² ≤ (1 + 10⁻¹⁰)² (…)")
    return above if below.holds else below


def gap_lower_band_without_step(problem: ExactProblem) -> ExactMargin:
    """y_min² n_off/(16 τ) ≤ gap², n_off the labelled examples off the neurons' classes."""
    off = sum(
        y != 0 and not member
        for own in problem.label_classes
        for y, member in zip(problem.labels, own, strict=True)
    )
    least = min(abs(label) for label in problem.labels)
    if problem.trace == 0:
        raise NotDecided("τ = 0: every example is zero")
    bound = least**2 * off / (16 * problem.trace)
    return ExactMargin(bound, squared_gap(problem), reads="y_min² n₋/(16 τ) ≤ ‖w_∞ − w⋆‖²")


def squared_gap(problem: ExactProblem) -> fmpq:
    """Return ‖w_∞ − w⋆‖² over all neurons, parts of the start outside the span included.

    Raises NotDecided where the limit is not known, or w⋆ is not.
    """
    best = _best(problem)
    apart = problem.starting_duals + descend(problem).change - best.duals
    return square(problem.gram, apart) + trace(problem.outside)


def _best(problem: ExactProblem) -> ExactMinimum:
    """Return w⋆. Raises NotDecided for a pair that does not decouple."""
    found = minimum_norm(problem)
    if problem.neurons > 1 and found.agreement < 0:
        raise NotDecided("α⊕⋆ + α⊖⋆ is negative somewhere, so the neurons alone are not w⋆")
    return found


def _schur(problem: ExactProblem) -> fmpq:
    """Return Σ_k ‖w_k^⊥‖² + Δ_kᵀS_kΔ_k, with Δ_k = α_k¹ − α_k⋆ off the label class (theory §6)."""
    difference = problem.starting_duals + state_at(problem, 1).change - _best(problem).duals
    found = trace(problem.outside)
    for k, own in enumerate(problem.label_classes):
        off = fmpq_mat([[ZERO if own[i] else difference[k, i] for i in range(problem.examples)]])
        image = off * problem.gram
        places = [i for i, member in enumerate(own) if member]
        inside = [image[0, i] for i in places]
        found += square(problem.gram, off)
        explained = _solved(problem, places, inside)
        found -= sum((a * b for a, b in zip(inside, explained, strict=True)), start=ZERO)
    return found


def _solved(problem: ExactProblem, places: list[int], right: list[fmpq]) -> list[fmpq]:
    """Return z with G_CC z = right on the examples C. Raises NotDecided where G_CC is singular."""
    if not places:
        return []
    within = block(problem.gram, places, places)
    if within.rank() < len(places):
        raise NotDecided("the Gram matrix of a label class is singular")
    return list(within.solve(column(right)).entries())


def _exact(statements: Mapping[str, Statement], comparator: str | None = None) -> Exact:
    """Return a theorem over the rationals, from what its claims state there."""
    return Exact(
        build=build,
        statements={
            **OF_EVERY_THEOREM,
            **dict.fromkeys(_OF_THE_PATTERN, patterns_are_the_classes),
            **statements,
        },
        document=partial(document, comparator=comparator),
        from_floats=from_floats,
        checker=checkers.source("relu"),
    )


_OF_THE_PATTERN = (
    "pattern_is_the_positives_from_step_one",
    "patterns_are_the_label_classes_from_step_one",
    "pattern_freezes_after_step_one",
    "freezes_with_high_probability",
    "frozen_at_a_small_step",
    "frozen_from_random_signs",
    "frozen_with_harmonic_spectrum",
    "active_sets_are_label_classes",
    "decouples_with_high_probability",
    "decouples_from_random_signs",
    "decouples_in_low_dimension",
)
"""Assumptions, claims and false statements that say that the patterns are the label classes."""

THEOREM1 = _exact(
    {
        "positives_interpolated": positives_interpolated,
        "negatives_predicted_zero": negatives_predicted_zero,
        "inactive_duals_frozen": duals_off_the_classes_frozen,
        "limit_is_nearest_interpolant": limit_is_nearest,
    }
)

THEOREM2 = _exact(
    {
        "gap_schur_identity": gap_schur_identity,
        "limit_is_the_minimum_norm": limit_is_the_minimum_norm,
        "gap_lower_band_without_step": gap_lower_band_without_step,
    },
    comparator="minimum_norm",
)

THEOREM3 = _exact(
    {
        "trains_on_disjoint_subsets": duals_off_the_classes_frozen,
        "interpolates_all": interpolates_all,
        "limits_are_nearest_interpolants": limit_is_nearest,
    }
)

THEOREM4 = _exact(
    {
        "gap_schur_identity": gap_schur_identity,
        "limit_is_the_minimum_norm": limit_is_the_minimum_norm,
    },
    comparator="minimum_norm",
)
