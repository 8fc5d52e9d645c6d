"""Bounds and constants of the paper's theorems lie where their docstrings put them.

On orthogonal examples, and on three that are hardly correlated, all of it is arithmetic: it is
written out here once more, and the claims are met on either side of their edges.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from properties.catalogue import find_theorem
from properties.lai2026 import bias, gram_concentration, selection
from properties.lai2026.setting import PAIR, gram_is_regular
from verify import Margin, Trial
from verify.relu import Problem
from verify.relu.effective_dimensions import EffectiveDimensions
from verify.relu.gap import deductive_bounds
from verify.relu.minimum_norm import minimum_norm

DIAGONAL = (8.8, 6.4, 8.0, 9.6)
LABELS = (1.0, -0.5, -0.8, -0.25)
STARTS = ((0.06, 0.02, 0.04, 0.05), (0.03, 0.1, 0.01, 0.02))
LAW = EffectiveDimensions(dimension=100.0, trace=8.0, d_2=400.0, d_inf=80.0)
RATE = math.sqrt(4 / 400) + 4 / 80
"""√(n/d_2) + n/d_∞ = .15."""


def by_hand(
    m: int, c: float, diagonal: tuple[float, ...] = DIAGONAL, outside: float = 0.0
) -> Trial:
    """Return a trial of theorem 2 or 4 whose τ is 8, δ = ‖G/τ − I‖₂ = .2, and y_min = .25.

    outside: ‖w_k^⊥‖ of every neuron.
    """
    problem = Problem.from_gram(
        np.diag(diagonal),
        np.array(LABELS),
        starting_predictions=np.array(STARTS[:m]),
        step_size=c / 8,
        signs=PAIR[:m],
        perpendicular_gram=outside**2 * np.eye(m),
        law=LAW,
    )
    return Trial(find_theorem(f"lai2026.theorem{2 * m}"), None, problem, 1)


def off_classes(m: int, c: float) -> list[tuple[int, float, float]]:
    """Return, off each neuron's class, the example, β⁰ and c·s·r⁰, r⁰ the residual at the start."""
    terms = []
    for i, label in enumerate(LABELS):
        residual = STARTS[0][i] - (STARTS[1][i] if m == 2 else 0.0) - label
        if label < 0:
            terms.append((i, STARTS[0][i], c * residual))
        elif m == 2:
            terms.append((i, STARTS[1][i], -c * residual))
    return terms


def gap_by_hand(m: int, c: float) -> float:
    """Return √Σ G_ii(β⁰/G_ii − ηsr⁰)² off the classes, where w⋆ of orthogonal examples is zero."""
    return math.sqrt(sum((b - g * s / 8) ** 2 / g for g, b, s in _with_diagonal(m, c)))


def _with_diagonal(m: int, c: float) -> list[tuple[float, float, float]]:
    return [(DIAGONAL[i], start, step) for i, start, step in off_classes(m, c)]


def bounds_by_hand(m: int, c: float) -> dict[str, tuple[float, float]]:
    """Return the least and the largest gap that each claim allows."""
    epsilon, unit = RATE / c, math.sqrt((3 if m == 1 else 4) / 8)
    leading = math.sqrt(sum((start - step) ** 2 for _, start, step in off_classes(m, c)) / 8)
    highest = 0.06 if m == 1 else 0.1
    weight = max(1 - c, 0.0) if m == 1 else max(1.0, c)
    upper = (1 + epsilon) * (c * 1.0 + max(c - 1, 0.0) * highest) * unit
    lower = (1 - epsilon) * max(c * 0.25 - weight * highest, 0.0) * unit
    on_positives = 0.2 / 0.8 * math.hypot(*STARTS[0]) + 0.2 / 0.8**2 * 1.0
    on_negatives = 0.2 / 0.8 * math.hypot(*STARTS[1]) + 0.2 / 0.8**2 * math.hypot(0.5, 0.8, 0.25)
    error = on_positives if m == 1 else math.hypot(on_positives, on_negatives)
    on_w_minus = 0.25 / 6.4 + 0.64 / 8.0 + 0.0625 / 9.6
    norm = math.sqrt(1 / 8.8 + (on_w_minus if m == 2 else 0.0))
    found = {
        "gap_upper_band": (0.0, upper),
        "gap_lower_band": (lower, math.inf),
        "gap_leading_constant": ((1 - epsilon) * leading, (1 + epsilon) * leading),
        "gap_deductive_bounds": (
            math.sqrt(0.8) * max(leading - error / math.sqrt(8), 0.0),
            math.sqrt(1.2) * (leading + error / math.sqrt(8)),
        ),
        "limit_is_the_minimum_norm": (0.0, 1e-6 * norm),
    }
    if m == 1:
        found["gap_lower_band_in_root_n_over_d"] = (
            (1 - epsilon) * c * 0.25 * math.sqrt(3 / 100),
            math.inf,
        )
        found["gap_lower_band_without_step"] = (0.25 * 0.25 * unit, math.inf)
    return found


def stretched(run: Any, factor: float) -> Any:
    """Move the limit along the line through the comparator: the gap is `factor` times as large."""
    best = minimum_norm(run.problem).duals
    return replace(run, duals=best + factor * (run.duals - best))


STEPS = [(m, c) for m in (1, 2) for c in (0.25, 0.5, 1.25)]


@pytest.mark.parametrize(("m", "c"), STEPS)
def test_bounds_on_the_gap_lie_where_the_docstrings_put_them(m: int, c: float) -> None:
    there, theorem = by_hand(m, c), find_theorem(f"lai2026.theorem{2 * m}")
    for claim, (low, high) in bounds_by_hand(m, c).items():
        edges = [(low, 1), (high, -1)]
        for edge, inside in [pair for pair in edges if 0 < pair[0] < math.inf]:
            for side in (inside, -inside):
                factor = edge * (1 + 1e-6 * side) / gap_by_hand(m, c)
                run = stretched(there.run, factor)
                trial = Trial(theorem, None, there.problem, 1, simulate=lambda _p, run=run: run)
                margin = theorem.claim(claim).inequality(trial)
                assert (margin.holds if side == inside else margin.violated).all(), (claim, side)


@pytest.mark.parametrize(("m", "c"), STEPS)
def test_quantities_of_the_gap_are_what_they_are_by_hand(m: int, c: float) -> None:
    trial, gap, bounds = by_hand(m, c), gap_by_hand(m, c), bounds_by_hand(m, c)
    unit, leading = math.sqrt((3 if m == 1 else 4) / 8), sum(bounds["gap_leading_constant"]) / 2
    norm = bounds["limit_is_the_minimum_norm"][1] * 1e6
    over_unit = bias.gap_over_root_negatives if m == 1 else bias.gap_over_root_examples
    for quantity, expected in (
        (bias.gap, gap),
        (bias.relative_gap, gap / norm),
        (over_unit, gap / unit),
        (bias.gap_over_leading_order, gap / leading),
        (bias.unit, unit),
        (bias.relative_error, RATE / c),
        (bias.upper_band, bounds["gap_upper_band"][1]),
        (bias.lower_band, bounds["gap_lower_band"][0]),
        (bias.n_over_trace, 0.5),
        (bias.number_of_examples, 4.0),
    ):
        np.testing.assert_allclose(quantity(trial), [expected], rtol=1e-9, err_msg=str(quantity))
    assert bias.gap_schur_identity(trial).holds.all()
    np.testing.assert_allclose(
        deductive_bounds(trial.problem, 8.0),
        np.array(bounds["gap_deductive_bounds"])[:, None],
        rtol=1e-12,
    )


@pytest.mark.parametrize("m", [1, 2])
def test_the_gap_includes_what_lies_outside_the_span(m: int) -> None:
    trial = by_hand(m, 0.5, outside=0.3)
    expected = math.hypot(gap_by_hand(m, 0.5), 0.3 * math.sqrt(m))
    np.testing.assert_allclose(bias.gap(trial), [expected], rtol=1e-9)
    assert bias.gap_schur_identity(trial).holds.all()


@pytest.mark.parametrize("m", [1, 2])
def test_constants_are_measured_where_limit_and_comparator_are_both_certified(m: int) -> None:
    there, theorem = by_hand(m, 0.5), find_theorem(f"lai2026.theorem{2 * m}")
    best = there.reference("minimum_norm")
    for run, comparator in (
        (replace(there.run, status=np.array(["undecided"])), best),
        (there.run, replace(best, settled=np.array([False]))),
    ):
        references = {"minimum_norm": lambda _problem, _run, comparator=comparator: comparator}
        unsettled = Trial(
            replace(theorem, references=references),
            None,
            there.problem,
            1,
            simulate=lambda _problem, run=run: run,
        )
        for quantity in (
            bias.gap_over_root_negatives,
            bias.gap_over_root_examples,
            bias.gap_over_leading_order,
        ):
            assert np.isfinite(quantity(there)).all()
            assert np.isnan(quantity(unsettled)).all()


def test_a_band_is_narrow_where_the_relative_step_exceeds_the_rate() -> None:
    assert bias.band_is_narrow(by_hand(1, 0.1501)).holds.all()
    assert bias.band_is_narrow(by_hand(1, 0.1499)).violated.all()


def test_bounds_say_nothing_where_delta_is_one() -> None:
    low, high = deductive_bounds(by_hand(2, 0.5, (8.0, 8.0, 8.0, 16.0)).problem, 8.0)
    assert (low == 0).all()
    assert np.isinf(high).all()


@pytest.mark.parametrize("m", [1, 2])
def test_the_factor_of_convergence_is_that_of_the_slowest_direction(m: int) -> None:
    """At c = .5, η = 1/16: on example 0 alone, or on all, the slowest of which is example 1."""
    rate = 1 - 8.8 / 16 if m == 1 else 1 - 6.4 / 16
    theorem, there = find_theorem(f"lai2026.theorem{2 * m - 1}"), by_hand(m, 0.5)

    def judged(
        contraction: float, problem: Problem = there.problem, settled: bool = True
    ) -> Margin:
        def plain(problem: Problem, run: Any) -> Any:
            found = theorem.references["plain"](problem, run)
            return replace(
                found,
                contraction=np.array([contraction]),
                settled=found.settled & np.array([settled]),
            )

        trial = Trial(replace(theorem, references={"plain": plain}), None, problem, 1)
        return theorem.claim("converges_linearly").inequality(trial)

    assert judged(rate).holds.all()
    assert judged(rate + 0.9e-6).holds.all()
    assert judged(rate + 1.1e-6).violated.all()
    assert not judged(rate + 1, settled=False).violated.any()
    assert judged(-math.inf, by_hand(m, 2.1).problem).violated.all()


# Gram concentration.


def correlated(of_trace: float, neighbours: float = 0.0) -> Trial:
    """Return three examples with G_12 = 4·of_trace, G_23 = 4·neighbours and diagonal τ = 4."""
    gram = 4 * np.eye(3)
    gram[0, 1] = gram[1, 0] = 4 * of_trace
    gram[1, 2] = gram[2, 1] = 4 * neighbours
    problem = Problem.from_gram(
        gram,
        np.array([1.0, -1.0, 1.0]),
        starting_predictions=np.full((1, 3), 0.01),
        step_size=0.1,
        law=EffectiveDimensions(dimension=150.0, trace=4.0, d_2=75.0, d_inf=60.0),
    )
    return Trial(find_theorem("lai2026.gram_concentration"), None, problem, 1)


@pytest.mark.parametrize(
    ("claim", "constant", "scale"),
    [
        ("operator_norm_is_bounded", 3.0, math.sqrt(3 / 75) + 3 / 60),
        ("off_diagonals_are_bounded", 3.5, math.sqrt(math.log(3) / 75)),
        ("operator_norm_is_bounded_by_the_dimension", 3.0, math.sqrt(3 / 150)),
        ("operator_norm_is_bounded_by_d_2_alone", 3.0, math.sqrt(3 / 75)),
    ],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_gram_bounds_lie_where_the_docstrings_put_them(
    claim: str, constant: float, scale: float, sign: int
) -> None:
    found = find_theorem("lai2026.gram_concentration").claim(claim)
    assert f"is at most {constant:g}·" in found.statement
    edge = sign * constant * scale
    assert found.inequality(correlated(edge * (1 - 1e-6))).holds.all()
    assert found.inequality(correlated(edge * (1 + 1e-6))).violated.all()


def test_quantities_of_the_gram_matrix_are_what_they_are_by_hand() -> None:
    """δ of two correlations that share an example is their Euclidean norm."""
    trial = correlated(-0.3, 0.4)
    for quantity, expected in (
        (gram_concentration.operator_norm_scales_as_root_n_over_d_2, 0.5),
        (gram_concentration.operator_norm_falls_as_n_over_d_2, 0.5),
        (gram_concentration.off_diagonals_scale_as_one_over_root_d_2, math.sqrt(0.25 / 3)),
        (gram_concentration.rate, 0.25),
        (gram_concentration.examples_over_d_2, 0.04),
        (gram_concentration.dimension_d_2, 75.0),
        (gram_concentration.operator_constant, 2.0),
        (gram_concentration.off_diagonal_constant, 0.4 / math.sqrt(math.log(3) / 75)),
    ):
        np.testing.assert_allclose(quantity(trial), expected, rtol=1e-12, err_msg=str(quantity))


# Selection.


def of_two(diagonal: tuple[float, float], labels: tuple[float, float], step: float) -> Trial:
    """Return two orthogonal examples, with starting predictions .1."""
    problem = Problem.from_gram(
        np.diag(diagonal),
        np.array(labels),
        starting_predictions=np.full((1, 2), 0.1),
        step_size=step,
    )
    return Trial(find_theorem("lai2026.selection"), None, problem, 1)


def test_a_step_is_stable_below_two_over_the_largest_eigenvalue() -> None:
    assert selection.step_is_stable_on_all(of_two((4.0, 2.0), (1.0, -1.0), 0.499)).holds.all()
    assert selection.step_is_stable_on_all(of_two((4.0, 2.0), (1.0, -1.0), 0.501)).violated.all()


def test_a_small_positive_label_is_not_left_after_step_one_once_it_is_negated() -> None:
    """At c = .5 the prediction .1 falls to .05 − .5·|y| on a label −|y|."""
    assert selection.certified_with_negated_labels(of_two((4.0, 4.0), (0.3, -1.0), 0.125)).holds
    refused = of_two((4.0, 4.0), (0.05, -1.0), 0.125)
    assert selection.certified_with_negated_labels(refused).violated.all()


def test_one_neuron_interpolates_all_where_every_label_is_positive() -> None:
    """That statement is false of negative labels alone."""
    there = of_two((4.0, 4.0), (1.0, 0.5), 0.125)
    assert selection.relu_interpolates_all(there).holds.all()
    run = replace(there.run, predictions=there.run.predictions + np.array([0.0, 1e-6]))
    theorem = find_theorem("lai2026.selection")
    moved = Trial(theorem, None, there.problem, 1, simulate=lambda _problem: run)
    assert selection.relu_interpolates_all(moved).violated.all()


@pytest.mark.parametrize(
    ("gram", "margin"), [([[0, 0], [0, 0]], -1e-9), ([[2, 0], [0, 1]], 0.5 - 1e-9)]
)
def test_a_gram_matrix_is_regular_by_its_eigenvalues_and_of_zeros_it_is_not(
    gram: list[list[int]], margin: float
) -> None:
    problem = Problem.from_gram(
        np.array(gram, float),
        np.array([1.0, -1.0]),
        starting_predictions=np.zeros((1, 2)),
        step_size=1.0,
    )
    found = gram_is_regular(Trial(find_theorem("lai2026.theorem1"), None, problem, 1))
    assert found.value == pytest.approx([margin])
    assert found.violated == [margin < 0]
