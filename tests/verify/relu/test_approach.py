"""Steps are seen to lead towards the nearest global minimum or away from it, as they do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from verify.errors import InputError
from verify.relu.approach import approach
from verify.relu.nearest_minimum import nearest_minimum
from verify.relu.problem import Problem

SEED = 20261208


def draw(rng, batch, n, d, speed, *, labels="realizable", start="gaussian", common=0.0):
    """Draw Gaussian features, with a part in common, and steps η = speed/λ_max(G).

    labels: "realizable", half of them 0; "positive"; "any", half of them negative.
    start: "gaussian", "zero", or "active", all predictions small and positive.
    """
    features = rng.normal(size=(batch, n, d)) + common * rng.normal(size=(batch, 1, d))
    size, half = rng.uniform(0.1, 1, (batch, n)), rng.random((batch, n)) < 0.5
    y = {
        "realizable": np.where(half, size, 0.0),
        "positive": size,
        "any": np.where(half, size, -size),
    }[labels]
    predictions = {
        "gaussian": rng.normal(size=(batch, n)),
        "zero": np.zeros((batch, n)),
        "active": rng.uniform(1e-3, 1e-2, (batch, n)),
    }[start]
    highest = np.linalg.eigvalsh(features @ features.swapaxes(1, 2))[:, -1]
    return Problem.from_features(
        features,
        y,
        starting_predictions=predictions[:, None, :],
        step_size=speed / highest,
        slope_at_zero=1,
    )


def distances(problem, steps):
    """Return ‖w(t) − w̃‖ at steps 0 … `steps`, (T + 1, B): weights moved plainly, one at a time."""
    best = nearest_minimum(problem)
    duals = np.linalg.solve(problem.gram, problem.starting_predictions[:, 0, :, None])[:, :, 0]
    weights = np.einsum("bn,bnd->bd", duals, problem.features)
    target = weights + np.einsum("bn,bnd->bd", best.change, problem.features)
    found = []
    for _ in range(steps + 1):
        found.append(np.linalg.norm(weights - target, axis=-1))
        beta = np.einsum("bnd,bd->bn", problem.features, weights)
        residual = np.where(beta >= 0, beta - problem.labels, 0.0)
        gradient = np.einsum("bn,bnd->bd", residual, problem.features)
        weights = weights - problem.step_size[:, None] * gradient
    return np.stack(found)


@pytest.mark.parametrize(
    ("start", "common", "least", "most"),
    [
        ("gaussian", 0.0, 0.3, 2.0),
        ("zero", 0.0, 1.0, 2.0),
        ("active", 0.0, 0.3, 2.0),
        ("gaussian", 2.0, 1.0, 2.0),
    ],
)
def test_ten_thousand_realizable_problems_are_never_led_away(start, common, least, most):
    """2500 at each start, η ≤ 2/λ_max: to 1e-12 of the first distance, at every one of 400 steps;
    each step falls short of w̃ by as much as the loss says (theory §8)."""
    rng = np.random.default_rng([SEED, int(common), len(start)])
    speed = rng.uniform(least, most, 2_500)
    problem = draw(rng, 2_500, 5, 11, speed, start=start, common=common)
    best = nearest_minimum(problem)
    assert best.certified.all()
    found = approach(best, 400)
    assert (found.steps > 0).mean() > 0.9
    worst = (found.increase / best.distance).max()
    assert worst <= 1e-12, worst
    assert (found.excess <= 1e-12 * best.distance**2).all()
    assert (found.travelled <= 2 * best.distance * (1 + 1e-12)).all()
    assert not found.first_increase.any()


def test_a_longer_step_leads_most_problems_away():
    """At 2.2/λ_max with all y > 0 and every example active at the start."""
    problem = draw(np.random.default_rng(SEED), 200, 8, 200, 2.2, labels="positive", start="active")
    best = nearest_minimum(problem)
    away = approach(best, 300).increase > 1e-12 * best.distance
    assert away.mean() > 0.9, away.mean()


@pytest.mark.parametrize(
    ("labels", "speed", "start"),
    [("realizable", 1.5, "gaussian"), ("positive", 2.2, "active"), ("any", 1.0, "gaussian")],
)
def test_distances_are_those_of_weights_moved_plainly(labels, speed, start):
    problem = draw(np.random.default_rng(SEED), 60, 4, 9, speed, labels=labels, start=start)
    best = nearest_minimum(problem)
    found = approach(best, 60)
    expected = distances(problem, 60)
    steps = np.diff(expected, axis=0)
    taken = np.arange(60)[:, None] < found.steps
    largest = np.where(taken, steps, -np.inf).max(axis=0)
    moved = found.steps > 0
    np.testing.assert_allclose(found.increase[moved], largest[moved], rtol=1e-6, atol=1e-8)
    last = expected[found.steps, np.arange(60)]
    np.testing.assert_allclose(found.left, last, rtol=1e-6, atol=1e-7)
    away = (steps > 1e-6 * best.distance) & taken
    np.testing.assert_array_equal(
        found.first_increase, np.where(away.any(axis=0), away.argmax(axis=0) + 1, 0)
    )
    if labels == "any":
        assert (found.increase > found.increase_rounding).any()


def single(step_size, start=0.0, label=1.0, slope_at_zero=1):
    """One example x = 1: the weight is the prediction."""
    return Problem.from_gram(
        [[1.0]],
        [label],
        starting_predictions=[[start]],
        step_size=step_size,
        slope_at_zero=slope_at_zero,
    )


def test_one_example_by_hand():
    """w: 0, ½, ¾, … → 1, each step half as long; the smallest fall is that of the last."""
    found = approach(nearest_minimum(single(0.5)), 10)
    assert found.steps == 10
    assert not found.settled[0]
    assert found.travelled[0] == pytest.approx(1 - 2.0**-10, rel=1e-14)
    assert found.left[0] == pytest.approx(2.0**-10, rel=1e-12)
    assert found.increase[0] == pytest.approx(-(2.0**-10), rel=1e-12)
    # ‖w − w̃‖² falls by (1 − ¼)r², and η(2 − ηλ)r² is just that.
    assert abs(found.excess[0]) <= found.excess_rounding[0]
    assert found.first_increase == 0
    settled = approach(nearest_minimum(single(0.5)), 100)
    assert settled.settled[0]
    assert settled.steps == 44, "2^−44 is the first residual below 1e-13"


def test_a_step_that_overshoots_by_hand():
    """η = 5/2: w = 0 → 5/2 → −5/4, where the example is inactive: distances 1, 3/2, 9/4."""
    found = approach(nearest_minimum(single(2.5)), 50)
    assert found.steps == 2
    assert found.settled[0]
    assert found.increase[0] == pytest.approx(0.75, rel=1e-14)
    assert found.left[0] == pytest.approx(2.25, rel=1e-14)
    assert found.travelled[0] == pytest.approx(1.25, rel=1e-14)
    assert found.first_increase == 1


def test_a_negative_label_leads_away_by_hand():
    """w_0 = 0 is a global minimum already, but active: the only step goes to −½."""
    found = approach(nearest_minimum(single(0.5, label=-1.0)), 50)
    assert (found.steps, found.left, found.travelled, found.first_increase) == (1, 0.5, 0.5, 1)
    inactive = approach(nearest_minimum(single(0.5, label=-1.0, slope_at_zero=0)), 50)
    assert (inactive.steps, inactive.left, inactive.increase) == (0, 0.0, -np.inf)


def test_a_neuron_of_negative_sign_is_the_mirror_image():
    problem = draw(np.random.default_rng(SEED), 20, 4, 9, 1.5, labels="any")
    other = replace(problem, labels=-problem.labels, signs=-problem.signs)
    found, mirrored = (approach(nearest_minimum(each), 80) for each in (problem, other))
    np.testing.assert_array_equal(found.change, mirrored.change)
    np.testing.assert_array_equal(found.increase, mirrored.increase)


def test_a_walk_that_diverges_is_held_before_it_overflows():
    """Two examples at 120°, which push each other on in turn at η = 40/G_ii."""
    problem = Problem.from_gram(
        [[1.0, -0.5], [-0.5, 1.0]], [1.0, 1.0], starting_predictions=[[0.0, 2.0]], step_size=40.0
    )
    found = approach(nearest_minimum(problem), 2_000)
    assert not found.settled[0]
    assert found.steps < 100
    assert 1e98 < found.left < 1e110
    assert found.first_increase == 1
    assert np.isfinite([found.travelled, found.increase, found.excess]).all()


@pytest.mark.parametrize("step_size", [1e40, 1e90, 1e99])
def test_a_step_however_long_is_seen_to_lead_away_and_nothing_overflows(step_size):
    problem = Problem.from_gram(
        [[1.0, 0.5], [0.5, 1.0]], [1.0, 0.5], starting_predictions=[[0.1, 0.1]],
        step_size=step_size, slope_at_zero=1,
    )  # fmt: skip
    found = approach(nearest_minimum(problem), 50)
    assert found.first_increase == 1
    assert np.isfinite(found.increase).all()
    assert found.increase > 0.1 * step_size
    assert np.isfinite(found.left).all()


@pytest.mark.parametrize(
    ("odd", "message"),
    [
        ({"max_steps": 0}, "max_steps=0"),
        ({"max_steps": 2.5}, "max_steps=2.5"),
        ({"tolerance": np.nan}, "tolerance=nan"),
        ({"tolerance": 1.0}, "tolerance=1.0"),
        ({"tolerance": -1e-13}, "tolerance=-1e-13"),
    ],
)
def test_limits_that_mean_nothing_are_refused(odd, message):
    problem = Problem.from_gram([[1.0]], [1.0], starting_predictions=[[0.5]], step_size=0.1)
    with pytest.raises(InputError, match=message):
        approach(nearest_minimum(problem), **odd)


def test_a_problem_in_a_batch_walks_as_it_does_alone():
    problem = draw(np.random.default_rng(SEED), 7, 4, 9, 1.5)
    together = approach(nearest_minimum(problem), 300)
    for index in range(7):
        one = approach(nearest_minimum(problem.select(np.array([index]))), 300)
        assert one.steps[0] == together.steps[index]
        np.testing.assert_allclose(one.increase, together.increase[[index]], rtol=1e-9)
        np.testing.assert_allclose(one.travelled, together.travelled[[index]], rtol=1e-12)
