"""Dana, Pillaud-Vivien and Bach: widths, coverage, zero loss, and measured rates."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from properties.catalogue import find_theorem
from properties.dana2025 import coverage, setting
from verify import Point, Trial
from verify.engine.evaluate import scope_of
from verify.errors import InputError
from verify.relu import Problem
from verify.verdict import IN_SCOPE, OUT_OF_SCOPE

THEOREM = find_theorem("dana2025.coverage")


@cache
def trial_at(**coordinates: Any) -> Trial:
    point = Point(**coordinates)
    return Trial(THEOREM, point, THEOREM.draw(point, np.random.default_rng(6), 20), 20)


def margin(claim: str, trial: Trial) -> Any:
    return THEOREM.claim(claim).inequality(trial)


def orthogonal(labels: tuple[float, ...], start: Any, signs: tuple[int, ...]) -> Trial:
    problem = Problem.from_gram(
        np.eye(len(labels)),
        np.asarray(labels),
        starting_predictions=np.asarray(start, float),
        signs=signs,
        step_size=0.25,
    )
    return Trial(THEOREM, None, problem, 1)


@pytest.mark.parametrize("n", [1, 5, 20, 1000])
def test_the_width_is_the_least_that_the_union_bound_allows(n: int) -> None:
    m = setting.width(n, 0.01)
    assert n * 0.75**m <= 0.01 < n * 0.75 ** (m - 1)
    assert setting.width(n, 0.01 / 4) - m == pytest.approx(math.log(4) / math.log(4 / 3), abs=1)


@pytest.mark.parametrize("wrong", [{"miss": 0.0}, {"miss": -1.0}, {"n": 0}, {"m": 0}])
def test_widths_that_cannot_be_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match=r"expected n ≥ 1 and miss > 0|expected at least one"):
        THEOREM.draw(Point(**{"n": 2, **wrong}), np.random.default_rng(0), 2)


def test_output_signs_are_fair_and_differ_between_problems() -> None:
    problem = THEOREM.draw(Point(n=2, m=50, aspect=1e3), np.random.default_rng(0), 100)
    assert set(np.unique(problem.signs)) == {-1.0, 1.0}
    assert abs(problem.signs.mean()) < 0.06
    assert len(np.unique(problem.signs, axis=0)) == 100


def test_coverage_by_hand() -> None:
    """Example 1 is seen by a neuron of its sign; example 2 only by one of the other sign."""
    start = [[0.1, -0.1], [-0.1, 0.1]]
    missed = orthogonal((1.0, 1.0), start, (1, -1))
    assert margin("logarithmic_width_covers", missed).value[0] == pytest.approx(-0.5)
    assert margin("logarithmic_width_covers", orthogonal((1.0, -1.0), start, (1, -1))).holds.all()


def test_the_share_is_a_quarter_and_neither_half_nor_an_eighth() -> None:
    trial = trial_at(n=50, m=64)
    assert margin("a_neuron_covers_a_quarter", trial).holds.all()
    assert margin("a_neuron_covers_half", trial).violated.all()
    assert coverage.share_is(trial, 0.125).violated.all()


def test_zero_loss_where_all_are_covered_and_not_where_one_is_dead() -> None:
    start = [[0.1, -0.1], [-0.1, 0.1]]
    assert margin("logarithmic_width_suffices", orthogonal((1.0, -1.0), start, (1, -1))).holds.all()
    dead = orthogonal((1.0, 1.0), start, (1, -1))
    found = margin("logarithmic_width_suffices", dead)
    assert found.violated.all()
    np.testing.assert_allclose(found.value, [-1.0], atol=1e-7)


def test_uncertified_runs_decide_nothing() -> None:
    trial = trial_at(n=5)
    run = trial.reference("trained")
    unsure = replace(run, status=np.full(20, "undecided"))
    theorem = replace(
        THEOREM, references={**THEOREM.references, "trained": lambda _problem, _run: unsure}
    )
    found = margin("logarithmic_width_suffices", Trial(theorem, None, trial.problem, 20))
    assert not (found.holds | found.violated).any()


def test_neurons_of_one_sign_miss_the_negative_labels() -> None:
    trial = trial_at(n=5)
    broken = Trial(THEOREM, trial.point, trial.problem, 20, simulate=coverage.of_one_sign)
    negative = (np.asarray(trial.problem.labels) < 0).any(axis=-1)
    found = margin("logarithmic_width_suffices", broken)
    known = broken.reference("trained").certified
    assert (negative & known).sum() >= 10
    assert found.violated[negative & known].all()


def test_the_rate_of_one_example_is_that_of_the_theory() -> None:
    """One neuron, one example: r ← (1 − η)r at every step."""
    trial = orthogonal((1.0,), [[0.1]], (1,))
    ratio = coverage.rate_over_that_of_the_final_pattern(trial)
    np.testing.assert_allclose(ratio, [1.0], rtol=1e-2)
    np.testing.assert_allclose(coverage.curvature_of_the_final_pattern(trial), [1.0])
    two = orthogonal((1.0, 1.0), [[0.1, 0.1]] * 3, (1, 1, 1))
    np.testing.assert_allclose(coverage.curvature_of_the_final_pattern(two), [3.0])


def test_the_rate_per_time_of_one_example_by_hand() -> None:
    """r ← ¾r at steps of η = ¼, from .1 − 1, until it is below 1e-13; τ = n = 1."""
    trial = orthogonal((1.0,), [[0.1]], (1,))
    rate = coverage.loss_falls_at_a_rate_of_order_one_over_n(trial)
    np.testing.assert_allclose(rate, -np.log(0.75) / 0.25, rtol=1e-2)
    dead = orthogonal((1.0, 1.0), [[0.1, -0.1]], (1,))
    assert np.isnan(coverage.loss_falls_at_a_rate_of_order_one_over_n(dead)).all()


def test_scopes_are_what_the_claims_say() -> None:
    """m = 22 is the least for n = 5; cosines up to 1/(2√2) for n = 2."""
    claim = THEOREM.claim("logarithmic_width_covers")
    for m, expected in ((21, OUT_OF_SCOPE), (22, IN_SCOPE)):
        assert (scope_of(claim, trial_at(n=5, m=m)) == expected).all()
    for off, expected in ((0.99, IN_SCOPE), (1.01, OUT_OF_SCOPE)):
        cosine = off / (2 * 2**0.5)
        problem = Problem.from_gram(
            [[1.0, cosine], [cosine, 1.0]],
            [1.0, 1.0],
            starting_predictions=np.full((30, 2), 1e-3),
            signs=(1,) * 30,
            step_size=0.01,
        )
        suffices = THEOREM.claim("logarithmic_width_suffices")
        assert scope_of(suffices, Trial(THEOREM, None, problem, 1))[0] == expected
    missed = orthogonal((1.0, 1.0), [[0.1, -0.1]] * 30, (1,) * 30)
    rate = THEOREM.claim("loss_falls_at_a_rate_of_order_one_over_n")
    assert scope_of(rate, missed)[0] == OUT_OF_SCOPE


def test_no_rate_where_an_example_is_on_no_active_side() -> None:
    dead = orthogonal((1.0, 1.0), [[0.1, -0.1]], (1,))
    assert np.isnan(coverage.rate_over_that_of_the_final_pattern(dead)).all()
    assert np.isnan(coverage.curvature_of_the_final_pattern(dead)).all()


def test_predicted_coverage() -> None:
    trial = trial_at(n=5, m=4)
    assert coverage.predicted_coverage(trial) == pytest.approx((1 - 0.75**4) ** 5)


def test_what_is_said_of_a_problem_can_be_read() -> None:
    facts = THEOREM.describe(trial_at(n=5).problem, 0)
    assert facts["neurons"] == setting.width(5, 0.01) == len(facts["output_signs"])
    assert 0 <= facts["covered_at_the_start"] <= 5
