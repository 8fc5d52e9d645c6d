"""The global minimum nearest to the start is the one that an independent solver finds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from verify.errors import InputError
from verify.relu.minimum_norm import minimum_norm
from verify.relu.nearest_minimum import nearest_minimum, nearness_residuals
from verify.relu.problem import Problem

SEED = 20261207


def problem_of(gram, labels, start, signs=(1,)):
    """Return problems with these data; the step does not matter here."""
    start = np.expand_dims(np.asarray(start, dtype=float), -2)
    return Problem.from_gram(gram, labels, starting_predictions=start, step_size=1.0, signs=signs)


def draw(rng, batch, n, d, size=1.0):
    """Draw Gaussian features, labels of both signs and zero, and a start of predictions ±size."""
    features = rng.normal(size=(batch, n, d))
    labels = rng.uniform(0.1, 1, (batch, n)) * rng.choice([-1, 0, 1], (batch, n))
    gram = features @ features.swapaxes(1, 2)
    return problem_of(gram, labels, size * rng.normal(size=(batch, n)))


def least_distance(gram, labels, start):
    """Return ‖w̃ − w_0‖ by non-negative least squares, the class S₊ eliminated (theory §5).

    With z = w − w_0 the right-hand sides are y − β⁰ on S₊ and −β⁰ elsewhere: S u − b ≥ 0, u ≥ 0,
    complementary, with b = G_−+G_++⁻¹(y − β⁰)_+ + β⁰_−.
    """
    above, below = np.flatnonzero(labels > 0), np.flatnonzero(labels <= 0)
    duals = np.zeros(len(labels))
    block, between = gram[np.ix_(above, above)], gram[np.ix_(below, above)]
    wanted = (labels - start)[above]
    if below.size:
        schur = gram[np.ix_(below, below)] - between @ np.linalg.solve(block, between.T)
        factor = np.linalg.cholesky((schur + schur.T) / 2)
        right = between @ np.linalg.solve(block, wanted) + start[below]
        u, _ = nnls(factor.T, solve_triangular(factor, right, lower=True), maxiter=50 * len(labels))
        duals[below] = -u
    duals[above] = np.linalg.solve(block, wanted - between.T @ duals[below])
    return np.sqrt(duals @ gram @ duals)


@pytest.mark.parametrize("ratio", [1.2, 2, 30])
@pytest.mark.parametrize(("n", "batch"), [(1, 20), (2, 60), (5, 60), (12, 20), (40, 4)])
def test_the_distance_agrees_with_nonnegative_least_squares(n, batch, ratio):
    problem = draw(np.random.default_rng([SEED, n]), batch, n, int(np.ceil(n * ratio)) + 1)
    best = nearest_minimum(problem)
    assert best.certified.all(), best.kkt.max(axis=0)
    arguments = zip(problem.gram, problem.labels, problem.starting_predictions[:, 0], strict=True)
    expected = [least_distance(*one) for one in arguments]
    np.testing.assert_allclose(best.distance, expected, rtol=1e-8, atol=1e-12)


def test_no_other_global_minimum_is_nearer():
    """w̃ + z with z·x = 0 on S₊ and (w̃ + z)·x ≤ 0 elsewhere: none of 4000 is nearer to the start."""
    rng = np.random.default_rng(SEED)
    problem = draw(rng, 20, 5, 12)
    best = nearest_minimum(problem)
    own = problem.labels > 0
    for _ in range(200):
        wanted = np.where(own, problem.labels, np.minimum(best.predictions, 0))
        wanted = np.where(own, wanted, np.minimum(wanted + 0.1 * rng.normal(size=own.shape), 0))
        moved = wanted - problem.starting_predictions[:, 0]
        coefficients = np.linalg.solve(problem.gram, moved[:, :, None])[:, :, 0]
        apart = np.sqrt((coefficients * moved).sum(axis=-1))
        assert (apart >= best.distance * (1 - 1e-9)).all()


def test_orthonormal_examples_are_solved_by_hand():
    """Positives move to their labels, the others to 0 from above and nowhere from below."""
    best = nearest_minimum(problem_of(np.eye(4), [3.0, 0.0, -2.0, 0.0], [1.0, 0.5, 0.25, -2.0]))
    np.testing.assert_allclose(best.predictions, [[3, 0, 0, -2]], atol=1e-15)
    np.testing.assert_allclose(best.change, [[2, -0.5, -0.25, 0]], atol=1e-15)
    assert best.distance[0] == pytest.approx(np.sqrt(4 + 0.25 + 0.0625), rel=1e-14)


def test_two_correlated_examples_are_solved_by_hand():
    """X = [[1, 0], [1, 1]], y = (1, 0), w_0 = (1, 1): x₁ holds w₁ at 1, so x₂ moves w₂ to −1."""
    best = nearest_minimum(problem_of([[1.0, 1.0], [1.0, 2.0]], [1.0, 0.0], [1.0, 2.0]))
    np.testing.assert_allclose(best.change @ [[1.0, 0.0], [1.0, 1.0]], [[0, -2]], atol=1e-14)
    assert best.distance[0] == pytest.approx(2, rel=1e-14)


def test_nearest_to_the_origin_is_of_least_norm():
    problem = draw(np.random.default_rng(SEED), 50, 6, 9, size=0.0)
    best, least = nearest_minimum(problem), minimum_norm(problem)
    np.testing.assert_allclose(best.change, least.duals[:, 0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(best.distance, least.norm, rtol=1e-9)


def test_a_start_that_is_a_global_minimum_stays():
    best = nearest_minimum(problem_of([[2.0, 1.0], [1.0, 2.0]], [3.0, -1.0], [3.0, -0.5]))
    assert (best.distance, abs(best.change).max()) == (0.0, 0.0)
    assert best.certified.all()


def test_a_neuron_of_negative_sign_is_the_mirror_image():
    problem = draw(np.random.default_rng(SEED), 30, 5, 8)
    other = replace(problem, labels=-problem.labels, signs=-problem.signs)
    np.testing.assert_array_equal(nearest_minimum(other).change, nearest_minimum(problem).change)


def test_the_part_of_the_start_outside_the_span_stays():
    """It changes neither what is added to the start nor its length."""
    rng = np.random.default_rng(SEED)
    features, weights = rng.normal(size=(3, 7)), rng.normal(size=7)
    labels = np.array([1.0, 0.0, -1.0])
    whole = Problem.from_features(features, labels, starting_weights=weights[None], step_size=1.0)
    inside = Problem.from_features(
        features, labels, starting_predictions=(features @ weights)[None], step_size=1.0
    )
    np.testing.assert_allclose(
        nearest_minimum(whole).change, nearest_minimum(inside).change, rtol=1e-10
    )


@pytest.mark.parametrize("factor", [1 - 1e-6, 1 + 1e-6])
def test_what_is_not_nearest_is_not_certified(factor):
    problem = draw(np.random.default_rng(SEED), 30, 6, 9)
    best = nearest_minimum(problem)
    residuals = nearness_residuals(problem, best.change * factor)
    moved = best.distance > 0
    assert moved.sum() > 20
    assert (residuals.max(axis=-1)[moved] > 1e-8).all()
    wrong = replace(best, kkt=residuals)
    assert not wrong.certified[moved].any()
    assert repr(wrong) == f"NearestMinimum({(~moved).sum()} of 30 certified)"


def test_a_global_minimum_that_is_not_nearest_is_not_certified():
    """Moved along x₂, whose prediction was 0, further below: its dual gets the wrong company."""
    problem = problem_of(np.eye(2), [1.0, 0.0], [0.0, 1.0])
    residuals = nearness_residuals(problem, np.array([[1.0, -2.0]]))
    assert residuals[0, :3].max() == 0
    assert residuals[0, 3] == 1.0


def test_problems_without_a_comparator_are_refused():
    with pytest.raises(InputError, match=r"m=2 neurons, expected one"):
        nearest_minimum(
            Problem.from_gram(
                np.eye(2),
                [1.0, -1.0],
                starting_predictions=np.zeros((2, 2)),
                step_size=1.0,
                signs=(1, -1),
            )
        )
    with pytest.raises(InputError, match="is singular"):
        nearest_minimum(problem_of(np.ones((2, 2)), [1.0, 1.0], [0.0, 0.0]))
