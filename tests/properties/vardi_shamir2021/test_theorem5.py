"""Theorem 5 of Vardi and Shamir: the witness, what it looks at, and what it cannot refute."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from properties.catalogue import find_theorem
from properties.vardi_shamir2021 import theorem3, theorem5
from properties.vardi_shamir2021.theorem5 import FAMILY, GAMMAS, KINDS, Candidates
from verify import Point, Trial
from verify.engine.evaluate import scope_of
from verify.errors import InputError
from verify.relu.dynamics.flow import flow
from verify.relu.problem import Problem
from verify.verdict import IN_SCOPE, OUT_OF_SCOPE

TRIALS = 12
THEOREM = find_theorem("vardi_shamir2021.theorem5")
REFUTED = "some_data_refute_the_candidate"


@cache
def trial_at(kind: str) -> Trial:
    point = Point(candidate=kind)
    candidates = THEOREM.draw(point, np.random.default_rng(23), TRIALS)
    return Trial(THEOREM, point, candidates, TRIALS)


def margin(claim: str, trial: Trial) -> Any:
    return THEOREM.claim(claim).inequality(trial)


def with_weights(trial: Trial, weights: Any, certified: bool = True) -> Trial:
    run = replace(trial.run, weights=weights, certified=certified)
    return Trial(THEOREM, trial.point, trial.problem, TRIALS, simulate=lambda _problem: run)


@pytest.mark.parametrize("kind", FAMILY)
def test_every_candidate_of_the_family_is_refuted_by_some_data(kind: str) -> None:
    assert margin(REFUTED, trial_at(kind)).holds.all()
    assert margin("what_is_compared_has_zero_loss", trial_at(kind)).holds.all()
    assert KINDS[kind].__doc__


@pytest.mark.parametrize("kind", ["norm", "distance", "waves"])
def test_a_candidate_that_is_least_at_the_limit_is_not_refuted(kind: str) -> None:
    """The limit is moved to the zero-loss point where R is least: nothing refutes R there."""
    trial = trial_at(kind)
    points = theorem5.zero_loss_points(trial.problem)
    least = trial.problem.value(points).argmin(axis=-1)
    best = np.take_along_axis(points, least[:, :, None, None], axis=2)
    moved = with_weights(trial, np.repeat(best, len(GAMMAS), axis=2))
    assert margin(REFUTED, moved).violated.all()
    unknown = margin(REFUTED, with_weights(trial, trial.run.weights, certified=False))
    assert not (unknown.holds | unknown.violated).any()


def test_a_constant_is_refuted_by_nothing_and_out_of_scope() -> None:
    assert (scope_of(THEOREM.claim(REFUTED), trial_at("constant")) == OUT_OF_SCOPE).all()
    assert (scope_of(THEOREM.claim(REFUTED), trial_at("waves")) == IN_SCOPE).all()
    assert margin("a_constant_is_refuted_too", trial_at("constant")).violated.all()


def test_the_flow_on_rotated_and_scaled_data_ends_where_the_limit_is_turned_to() -> None:
    candidates: Candidates = trial_at("norm").problem
    for number, gamma in enumerate(GAMMAS):
        for b, k in ((0, 0), (3, 1), (7, 2)):
            rotation, scale = candidates.rotations[b, k], candidates.scales[b, k]
            np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-12)
            features = theorem3.features(gamma) @ rotation.T
            problem = Problem.from_features(
                features,
                scale * np.asarray([16.0, 18.0, 0.0]),
                starting_predictions=np.zeros((1, 3)),
                step_size=1e-3,
                slope_at_zero=1,
            )
            run = flow(problem)
            weights = (run.duals - problem.starting_duals)[0, 0] @ features
            turned = trial_at("norm").run.weights[b, k, number]
            np.testing.assert_allclose(weights, turned, atol=1e-9)


@pytest.mark.parametrize(("axis", "loses"), [(0, True), (1, True), (2, False)])
def test_a_point_with_a_loss_is_noticed(axis: int, loses: bool) -> None:
    """Moved along Qe₁ or Qe₂ outputs change; along −Qe₃ they do not."""
    trial = trial_at("norm")
    along = trial.problem.rotations[..., axis][:, :, None, :]
    moved = with_weights(trial, trial.run.weights - 1e-6 * along)
    found = margin("what_is_compared_has_zero_loss", moved)
    assert (found.violated if loses else found.holds).all()


def test_rotations_are_proper_and_spread_and_scales_within_their_range() -> None:
    candidates = THEOREM.draw(Point(candidate="norm"), np.random.default_rng(1), 200)
    np.testing.assert_allclose(np.linalg.det(candidates.rotations), 1.0, rtol=1e-12)
    assert np.abs(candidates.rotations.mean(axis=(0, 1))).max() < 0.1
    assert 0.5 <= candidates.scales.min() < 0.6
    assert 1.8 < candidates.scales.max() <= 2.0


def test_values_of_candidates_by_hand() -> None:
    there = np.asarray([[[3.0, -4.0, 0.0]]])
    parameters = np.zeros((1, 12, 3))
    parameters[0, 0] = [1.0, 2.0, 0.0]
    known = {
        "norm": 5.0,
        "sum_of_sizes": 7.0,
        "largest": 4.0,
        "weighted_sum": 1.1 * 3 + 2.1 * 4,
        "distance": 40**0.5,
        "direction": 1.0,
        "linear": -5.0,
        "weighted_norm": 45**0.5,
        "waves": 6.0 - 1 + np.cos(3.0),
        "absolute_entropy": 3 * np.log(3) + 4 * np.log(4),
        "entropy": 3 * np.arcsinh(3 / 1.1) + 4 * np.arcsinh(4 / 1.1)
        - (9 + 1.21) ** 0.5 - (16 + 1.21) ** 0.5 - 1.1,
        "constant": 1.0,
    }  # fmt: skip
    assert set(known) == set(KINDS)
    for kind, value in known.items():
        assert KINDS[kind](parameters, there)[0, 0] == pytest.approx(value), kind


def test_an_unknown_candidate_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="candidate='norms' is unknown: use one of norm"):
        THEOREM.draw(Point(candidate="norms"), np.random.default_rng(0), 1)


def test_what_is_said_of_a_candidate_can_be_read() -> None:
    facts = theorem5.describe(trial_at("entropy").problem, 3)
    assert facts["candidate"] == "entropy"
    assert "arsinh" in facts["function"]
