"""Gradient flow of a smooth neuron, against integration in weight space."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from verify.errors import InputError
from verify.relu.dynamics.activation import BENT_LINE, SOFTPLUS, TANH
from verify.relu.dynamics.smooth import smooth_flow
from verify.relu.problem import Problem

SMOOTH = pytest.mark.parametrize("activation", [SOFTPLUS, TANH, BENT_LINE], ids=lambda a: a.name)


def drawn(rng, activation, batch=4, n=5, d=12):
    features = rng.normal(size=(batch, n, d))
    signs = 1 if activation is SOFTPLUS else rng.choice([-1, 1], (batch, n))
    labels = rng.uniform(0.3, 0.9, (batch, n)) * signs
    weights = rng.normal(size=(batch, 1, d)) / d**0.5
    return features, weights, Problem.from_features(
        features, labels, starting_weights=weights, step_size=0.1 / d
    )  # fmt: skip


@SMOOTH
def test_limits_are_those_of_integration_and_the_nearest_zero_loss_points(activation):
    features, weights, problem = drawn(np.random.default_rng(0), activation)
    run = smooth_flow(problem, activation)
    assert run.certified.all(), run.why
    limit = weights + (run.duals - problem.starting_duals) @ features
    for X, y, w, found in zip(features, problem.labels, weights[:, 0], limit[:, 0], strict=True):

        def velocity(_time, w, X=X, y=y):
            predictions = X @ w
            misfit = activation.value(predictions) - y
            return -(activation.derivative(predictions) * misfit) @ X

        end = solve_ivp(velocity, (0, 400), w, "LSODA", rtol=1e-10, atol=1e-12).y[:, -1]
        np.testing.assert_allclose(found, end, atol=1e-8)
        nearest = w + np.linalg.pinv(X) @ (activation.inverse(y) - X @ w)
        np.testing.assert_allclose(found, nearest, atol=1e-12)


@SMOOTH
def test_the_limit_lies_within_what_is_left_of_the_path(activation):
    features, _, problem = drawn(np.random.default_rng(1), activation)
    run = smooth_flow(problem, activation)
    rest = (run.duals - problem.starting_duals - run.integrated) @ features
    distance = np.linalg.norm(rest[:, 0], axis=-1)
    assert (distance <= run.left).all()
    assert (distance > 0.05 * run.left).any()  # the bound is no idle one


@pytest.mark.parametrize("activation", [SOFTPLUS, TANH], ids=lambda a: a.name)
def test_the_path_is_that_of_the_weights_under_gradient_flow(activation):
    """Where the integration stops, it is where another one is at that time. (With the bent line
    limits are certain from the start, and nothing is integrated.)"""
    features, weights, problem = drawn(np.random.default_rng(3), activation)
    far = Problem.from_features(
        features, problem.labels, starting_weights=weights + features.mean(axis=1)[:, None, :],
        step_size=0.1,
    )  # fmt: skip
    checked = 0
    for part, start in ((problem, weights), (far, far.starting_weights)):
        run = smooth_flow(part, activation)
        reached = start + run.integrated @ features
        short = run.time * problem.eigenvalues[:, -1] < 300
        for b in np.flatnonzero(run.certified & (run.time > 0) & short):
            X, y = features[b], problem.labels[b]

            def velocity(_time, w, X=X, y=y):
                predictions = X @ w
                misfit = activation.value(predictions) - y
                return -(activation.derivative(predictions) * misfit) @ X

            span = (0, run.time[b])
            end = solve_ivp(velocity, span, start[b, 0], "DOP853", rtol=1e-11, atol=1e-12)
            np.testing.assert_allclose(reached[b, 0], end.y[:, -1], atol=1e-7)
            moved = np.linalg.norm(run.integrated[b] @ X)
            checked += moved > 0.1
    assert checked >= 3


def test_what_is_left_of_the_path_is_not_taken_from_the_slope_at_hand_alone():
    """tanh from 0 to .9999, one example: 4.95 away, where the slope at 0 alone would tell 2."""
    problem = Problem.from_gram(np.eye(1), [0.9999], starting_predictions=[[0.0]], step_size=0.1)
    run = smooth_flow(problem, TANH)
    assert run.certified.all()
    rest = abs(run.predictions - run.integrated)[0, 0, 0]
    assert rest <= run.left[0]
    assert run.integrated[0, 0, 0] > 1.0, "nothing is certain from the start"


def test_a_flow_that_hardly_moves_is_undecided_without_a_warning():
    """At −800 the slope of log(1 + e^z) is e^{−800}: the flow stays there for ever, nearly."""
    problem = Problem.from_gram(
        np.asarray([[1.0, 0.3], [0.3, 1.0]]), [0.5, 0.7],
        starting_predictions=[[-800.0, 300.0]], step_size=0.1,
    )  # fmt: skip
    run = smooth_flow(problem, SOFTPLUS)
    assert run.status.tolist() == ["undecided"]
    assert run.why[0]


def test_a_negative_output_sign_mirrors_the_labels():
    rng = np.random.default_rng(2)
    features, weights = rng.normal(size=(5, 12)), rng.normal(size=(1, 12)) / 12**0.5
    labels = rng.uniform(0.3, 0.9, 5)
    ends = [
        smooth_flow(
            Problem.from_features(
                features, sign * labels, starting_weights=weights, step_size=0.1, signs=(sign,)
            ),
            SOFTPLUS,
        )
        for sign in (1, -1)
    ]
    assert all(end.certified.all() for end in ends)
    np.testing.assert_allclose(ends[0].duals, ends[1].duals, atol=1e-12)
    np.testing.assert_allclose(ends[0].integrated, ends[1].integrated, atol=1e-12)


def test_labels_out_of_range_are_undecided():
    problem = Problem.from_gram(
        np.eye(2), [0.5, -0.5], starting_predictions=[[0.0, 0.0]], step_size=0.1
    )
    run = smooth_flow(problem, SOFTPLUS)
    assert run.status.tolist() == ["undecided"]
    assert "outside the range" in run.why[0]


def test_several_neurons_and_singular_data_are_refused():
    two = Problem.from_gram(
        np.eye(2), [0.5, 0.5], starting_predictions=np.zeros((2, 2)), step_size=0.1, signs=(1, -1)
    )
    with pytest.raises(InputError, match="m=2"):
        smooth_flow(two, TANH)
    twice = Problem.from_gram(
        np.ones((2, 2)), [0.5, 0.5], starting_predictions=[[0.0, 0.0]], step_size=0.1
    )
    with pytest.raises(InputError, match="singular"):
        smooth_flow(twice, TANH)
