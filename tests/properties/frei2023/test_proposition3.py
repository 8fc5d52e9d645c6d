"""Proposition 3 of Frei et al.: what its claims look at, and where its bound lies."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from properties.ablation.findings import NEEDED_TO_STATE, find
from properties.ablation.question import Question
from properties.catalogue import find_theorem
from properties.frei2023 import proposition3, setting
from properties.seeking.sought import Sought
from verify import Point, Trial
from verify.engine.evaluate import scope_of
from verify.errors import InputError
from verify.relu.dynamics.margin import LinearMargin, near_orthogonality
from verify.verdict import IN_SCOPE, OUT_OF_SCOPE

THEOREM = find_theorem("frei2023.proposition3")


@cache
def trial_at(**coordinates: Any) -> Trial:
    point = Point(**coordinates)
    return Trial(THEOREM, point, THEOREM.draw(point, np.random.default_rng(2), 40), 40)


def with_run(trial: Trial, **changes: Any) -> Trial:
    run = replace(trial.run, **changes)
    return Trial(THEOREM, trial.point, trial.problem, trial.trials, simulate=lambda _p: run)


def margin(claim: str, trial: Trial) -> Any:
    return THEOREM.claim(claim).inequality(trial)


def pair(cosine: float, lengths: tuple[float, float] = (1.0, 1.0)) -> Trial:
    """Return the trial of two examples of label +1."""
    shape = np.asarray([[1.0, cosine], [cosine, 1.0]])
    gram = np.outer(lengths, lengths) * shape
    problem = setting.problem_of(gram[None], np.ones((1, 2)))
    return Trial(THEOREM, None, problem, 1)


@pytest.mark.parametrize("point", [{"n": 1}, {"n": 6, "aspect": 1e4}, {"n": 6, "lengths": 1.5}])
def test_every_claim_holds_in_scope(point: dict[str, Any]) -> None:
    trial = trial_at(**{"aspect": 1e4, **point})
    for claim in THEOREM.claims:
        inside = scope_of(claim, trial) == IN_SCOPE
        assert inside.all()
        assert claim.inequality(trial).holds.all(), claim.id


def test_no_violation_in_a_thousand_draws_with_p_of_three_or_more() -> None:
    counted = 0
    for seed, point in enumerate(proposition3.CELLS):
        problem = THEOREM.draw(point, np.random.default_rng(seed), 200)
        trial = Trial(THEOREM, point, problem, 200)
        for claim in THEOREM.claims[:2]:
            inside = scope_of(claim, trial) == IN_SCOPE
            assert claim.inequality(trial).holds[inside].all()
        counted += int(inside.sum())
    assert counted > 900


def test_the_coefficients_of_two_examples_by_hand() -> None:
    """(1, c; 1·c, l²): s = G⁻¹1 = (l² − cl, 1 − cl)/(l²(1 − c²))."""
    cosine, length = 0.05, 1.2
    trial = pair(cosine, (1.0, length))
    expected = np.asarray([length**2 - cosine * length, 1 - cosine * length])
    expected /= length**2 * (1 - cosine**2)
    np.testing.assert_allclose(trial.run.coefficients[0], expected, rtol=1e-12)
    known = near_orthogonality(trial.problem.gram)
    spread, p = length**2, 1 / (length**2 * 2 * cosine * length)
    np.testing.assert_allclose([known.spread[0], known.p[0]], [spread, p], rtol=1e-12)
    ratio, bound = expected[0] / expected[1], spread * (1 + 2 / (p * spread - 2))
    found = margin("coefficient_ratio_is_bounded", trial)
    np.testing.assert_allclose(found.value[0], 1 - ratio / bound, rtol=1e-9)


def test_scope_begins_at_p_of_three() -> None:
    claim = THEOREM.claims[0]
    assert scope_of(claim, pair(1 / 6 - 1e-6))[0] == IN_SCOPE
    assert scope_of(claim, pair(1 / 6 + 1e-6))[0] == OUT_OF_SCOPE


def test_an_example_beyond_the_margin_violates_by_how_far_it_is() -> None:
    """x_2 = 3x_1 + a little: s_2 = 0 and y_2 w·x_2 = 3."""
    problem = setting.problem_of(np.asarray([[[1.0, 3.0], [3.0, 9.25]]]), np.ones((1, 2)))
    found = margin("every_coefficient_is_positive", Trial(THEOREM, None, problem, 1))
    assert found.violated.all()
    np.testing.assert_allclose(found.value, [-2.0])


def test_a_claim_is_violated_where_the_coefficients_are_moved() -> None:
    trial = trial_at(n=6, aspect=1e4)
    s = np.asarray(trial.run.coefficients)
    nothing = s.copy()
    nothing[:, 2] = 0.0
    assert margin(
        "every_coefficient_is_positive", with_run(trial, coefficients=nothing)
    ).violated.all()
    alone = s.copy()
    alone[:, 0] *= 1.5
    assert margin(
        "coefficient_ratio_is_bounded", with_run(trial, coefficients=alone)
    ).violated.all()
    for factor in (1 - 1e-8, 1 + 1e-8):
        moved = with_run(trial, coefficients=factor * s)
        assert margin("every_example_is_a_support_vector", moved).violated.all()


def test_nothing_is_decided_where_the_program_is_not_solved() -> None:
    trial = with_run(trial_at(n=6, aspect=1e4), kkt=np.ones((40, 4)))
    for claim in ("every_coefficient_is_positive", "coefficient_ratio_is_bounded"):
        found = margin(claim, trial)
        assert not (found.holds | found.violated).any()


def test_the_perceptron_separates_but_not_with_most_margin() -> None:
    trial = trial_at(n=6, aspect=1e4)
    found: LinearMargin = proposition3.perceptron(trial.problem)
    margins = proposition3.margins(trial.problem, found)
    np.testing.assert_allclose(margins.min(axis=-1), 1.0)
    assert (np.asarray(found.margin) < np.asarray(trial.run.margin)).all()


def test_what_is_said_of_a_problem_can_be_read() -> None:
    facts = THEOREM.describe(trial_at(n=6, aspect=1e4).problem, 3)
    assert facts["p"] > 3
    ratio = facts["coefficients"].max() / facts["coefficients"].min()
    assert 1 <= ratio <= facts["ratio_bound"]


def test_cosines_can_be_given_in_place_of_dimensions() -> None:
    trial = trial_at(n=3, cosine=-0.1, lengths=2.0)
    gram = np.asarray(trial.problem.gram)
    lengths = np.sqrt(np.diagonal(gram, axis1=1, axis2=2))
    cosines = gram / lengths[:, :, None] / lengths[:, None, :]
    np.testing.assert_allclose(cosines[:, ~np.eye(3, dtype=bool)], -0.1, rtol=1e-12)
    assert np.ptp(lengths) > 0.5
    assert trial_at(n=1, cosine=-0.9).problem.examples == 1
    for cosine in (-0.5, 1.0):
        with pytest.raises(InputError, match=rf"cosine={cosine:g} of each two of n=3"):
            THEOREM.draw(Point(n=3, cosine=cosine), np.random.default_rng(0), 2)


@pytest.mark.parametrize("wrong", [{"d": 2.0}, {"lengths": 0.5}, {"lengths": -1.0}])
def test_data_that_cannot_be_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match=r"d=2 features of n=3|expected a factor of at least 1"):
        THEOREM.draw(Point(n=3, **wrong), np.random.default_rng(0), 2)


def test_explicit_problems_are_built_as_described() -> None:
    values = {"n": 2, "k": 1, "diagonal": 3, "block": np.asarray([[1.0], [2.0]])}
    problem = THEOREM.explicit.build({**values, "labels": np.asarray([1.0, -1.0])})
    np.testing.assert_array_equal(problem.gram[0], [[10, 2], [2, 13]])


def test_there_is_no_bound_on_the_ratio_where_p_is_too_small() -> None:
    trial = pair(0.9)  # p = 1/1.8, below 2
    found = margin("coefficient_ratio_is_bounded", trial)
    assert found.unstated.all()
    assert not (found.holds | found.violated).any()
    assert not margin("coefficient_ratio_is_bounded", pair(0.1)).unstated.any()


def test_where_there_is_no_bound_a_search_has_no_instance() -> None:
    claim = THEOREM.claim("coefficient_ratio_is_bounded")
    far = {"n": 2, "k": 1, "diagonal": 1, "block": [[3], [3]], "labels": [1, 1]}
    near = {**far, "diagonal": 40}
    sought = Sought(THEOREM, claim, ("data_are_p_orthogonal",))
    assert sought.look("explicit", {"values": far}) is None
    assert sought.look("explicit", {"values": near}).outcome == "holds"


def test_p_orthogonality_is_needed_to_state_the_bound_on_the_ratio() -> None:
    found = find(Question(THEOREM, proposition3.P_ORTHOGONAL), 20, 0)
    verdicts = {claim.claim: claim.verdict for claim in found.claims}
    assert verdicts["coefficient_ratio_is_bounded"] == NEEDED_TO_STATE
