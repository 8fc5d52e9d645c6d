"""Plain descent agrees with descent on the weights, and with the jump of `descend`."""

import numpy as np
import pytest

from tests.verify.relu.oracle import descend_in_weights, draw
from verify.relu.descent import descend
from verify.relu.plain import descend_plainly
from verify.relu.problem import Problem

SEED = 20260308


@pytest.mark.parametrize("slope_at_zero", [0, 1])
@pytest.mark.parametrize("start", ["positive", "random"])
@pytest.mark.parametrize("neurons", [1, 2, 5])
def test_plain_descent_is_descent_on_the_weights(neurons, start, slope_at_zero):
    rng = np.random.default_rng([SEED, neurons, slope_at_zero])
    sample = draw(
        rng, 20, 8, 40, neurons=neurons, start=start, outside=True,
        slope_at_zero=slope_at_zero, relative_step=(0.2, 1.0),
    )  # fmt: skip
    problem = Problem.from_features(**sample.arguments)
    plain = descend_plainly(problem)
    reference = descend_in_weights(sample, max_steps=2_000)
    near_ties = descend(problem).near_ties
    sure = plain.settled & reference.settled & (near_ties == 0)
    assert sure.sum() >= 15, sure.sum()
    weights = sample.weights + plain.change @ sample.features
    size = np.linalg.norm(reference.weights, axis=(1, 2))
    error = np.linalg.norm(weights - reference.weights, axis=(1, 2)) / size
    assert (error <= 1e-10)[sure].all(), error[sure].max()
    assert (plain.last_flip == reference.last_flip)[sure].all()
    one_step = descend_in_weights(sample, max_steps=1).weights
    after_one = sample.weights + plain.change_after_first_step @ sample.features
    np.testing.assert_allclose(after_one, one_step, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(
        plain.predictions[sure],
        (reference.weights @ sample.features.swapaxes(1, 2))[sure],
        atol=1e-10,
    )


@pytest.mark.parametrize("neurons", [1, 2, 5])
def test_plain_descent_ends_where_the_jump_does(neurons):
    rng = np.random.default_rng([SEED, neurons])
    sample = draw(rng, 30, 12, 120, neurons=neurons, start="random", relative_step=(0.3, 1.0))
    problem = Problem.from_features(**sample.arguments)
    run, plain = descend(problem), descend_plainly(problem, max_steps=5_000)
    sure = run.certified & (run.near_ties == 0) & plain.settled
    assert sure.sum() >= 25, sure.sum()
    duals = problem.starting_duals + plain.change
    np.testing.assert_allclose(run.duals[sure], duals[sure], atol=1e-11 * abs(duals).max())
    assert (run.last_flip == plain.last_flip)[sure].all()
    assert ((plain.predictions > 0) == run.final_pattern)[sure].all()


def test_contraction_is_at_most_the_rate_of_the_positives_block():
    """max|1 − ηλ(G₊₊)| where the pattern is S+ from step one on, and it is nearly attained."""
    rng = np.random.default_rng(SEED)
    sample = draw(rng, 40, 10, 400, relative_step=(0.3, 1.6))
    problem = Problem.from_features(**sample.arguments)
    run, plain = descend(problem), descend_plainly(problem)
    first = (run.pattern_after_first_step[:, 0] == problem.positives).all(axis=-1)
    scope = run.certified & first & (run.freeze_margin > 0) & (problem.positives.sum(axis=-1) > 1)
    assert scope.sum() >= 20
    for b in np.flatnonzero(scope):
        above = problem.positives[b]
        values = np.linalg.eigvalsh(problem.gram[b][np.ix_(above, above)])
        rate = abs(1 - problem.step_size[b] * values).max()
        assert plain.contraction[b] <= rate * (1 + 1e-6), (plain.contraction[b], rate)
        assert plain.contraction[b] >= 0.8 * rate, (plain.contraction[b], rate)


def test_a_run_without_enough_steps_is_not_settled():
    sample = draw(np.random.default_rng(SEED), 5, 8, 80, relative_step=(0.1, 0.1))
    problem = Problem.from_features(**sample.arguments)
    plain = descend_plainly(problem, max_steps=3)
    assert not plain.settled.any()
    assert (plain.steps == 3).all()


def test_a_run_that_covers_nothing_settles_after_step_one():
    problem = Problem.from_gram(
        np.eye(2), np.array([-1.0, -2.0]), starting_predictions=np.full((1, 2), 0.01), step_size=0.5
    )
    plain = descend_plainly(problem)
    assert plain.settled.all()
    assert plain.steps[0] == 1
    assert plain.contraction[0] == -np.inf


def test_a_run_that_diverges_does_not_stop_the_others_of_its_batch():
    gram = np.stack([np.array([[1.0, -0.99], [-0.99, 1.0]]), np.eye(2)])
    problem = Problem.from_gram(
        gram, np.array([1.0, 1.0]), step_size=np.array([8.0, 0.1]),
        starting_predictions=np.array([[[3.0, -1.0]], [[0.5, 0.5]]]),
    )  # fmt: skip
    plain = descend_plainly(problem)
    assert plain.settled.tolist() == [False, True]
    np.testing.assert_allclose(plain.predictions[1], 1.0, rtol=1e-10)
    assert np.isfinite(plain.predictions).all()
