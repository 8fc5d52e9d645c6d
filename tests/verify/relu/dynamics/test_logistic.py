"""Directions under the logistic loss: certified ones are KKT points, and plain runs go there."""

from __future__ import annotations

import numpy as np
import pytest

from verify.errors import InputError
from verify.relu.dynamics.activation import Activation
from verify.relu.dynamics.direction import direction
from verify.relu.dynamics.kinks import ABOVE, BELOW, HELD
from verify.relu.dynamics.logistic import descend_logistic, flow_logistic, rescaled_pull
from verify.relu.dynamics.margin_points import margin_point, settle_kinks
from verify.relu.dynamics.network import Network

SEED = 20261303


def draw(batch, n, m, d, leak, seed=SEED):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(batch, n, d)) / np.sqrt(d)
    y = rng.choice([-1.0, 1.0], (batch, n))
    v = np.tile(np.where(np.arange(m) % 2, -1.0, 1.0) / np.sqrt(m), (batch, 1))
    W = 1e-2 * rng.normal(size=(batch, m, d))
    network = Network.from_features(
        X, y, starting_weights=W, output_weights=v, activation=Activation(leak)
    )
    return X, y, W, network


def walk(X, y, W, v, leak, eta, steps):
    """Move the weights themselves by rescaled steps, one network, plainly."""
    for _ in range(steps):
        beta = W @ X.T
        margins = y * (v @ np.where(beta > 0, beta, leak * beta))
        p = np.exp(margins.min() - margins) if margins.min() > 30 else 1 / (1 + np.exp(margins))
        p = p / p.sum()
        slope = np.where(beta > 0, 1.0, leak)
        W = W + eta * v[:, None] * ((slope * (y * p)) @ X)
    return W


def assert_critical(X, y, v, leak, duals, multipliers):
    """The KKT conditions of the margin problem, in weights and from scratch."""
    W = duals @ X
    beta = W @ X.T
    margins = y * (v @ np.where(beta > 0, beta, leak * beta))
    assert (multipliers >= 0).all()
    assert margins.min() > 1 - 1e-10
    assert np.abs(multipliers * (margins - 1)).max() < 1e-9 * multipliers.max()
    assert (duals[:, multipliers == 0] == 0).all()
    duals, beta = duals[:, multipliers > 0], beta[:, multipliers > 0]
    slopes = duals / (v[:, None] * (y * multipliers)[multipliers > 0])
    near = np.abs(beta) < 1e-9 * np.abs(beta).max()
    assert np.allclose(slopes[(beta > 0) & ~near], 1)
    assert np.allclose(slopes[(beta < 0) & ~near], leak, atol=1e-12)
    assert ((slopes > leak - 1e-9) & (slopes < 1 + 1e-9)).all()
    return near


@pytest.mark.parametrize("leak", [0.0, 0.2])
def test_certified_directions_are_critical_points_of_the_margin(leak):
    X, y, _, network = draw(6, 6, 12, 600, leak)
    run = flow_logistic(network)
    assert (run.status == "certified").all()
    assert (run.kkt < 1e-12).all()
    held = [
        assert_critical(
            X[b], y[b], network.output_weights[b], leak, run.duals[b], run.multipliers[b]
        )
        for b in range(6)
    ]
    assert np.any(held) == (leak == 0), "ReLU neurons stay on kinks, leaky ones go through"
    assert np.allclose(run.limit_margins, run.limit_margins[:, :1], rtol=1e-12)


def test_long_plain_descent_goes_where_the_certificate_says():
    X, y, W, network = draw(3, 6, 6, 900, 0.2)
    run = descend_logistic(network, 1.0)
    assert (run.status == "certified").all()
    for b in range(3):
        best = run.duals[b] @ X[b]
        best /= np.linalg.norm(best)
        apart, weights = [], W[b]
        for steps in (2_000, 6_000):
            weights = walk(X[b], y[b], weights, network.output_weights[b], 0.2, 1.0, steps)
            apart.append(np.linalg.norm(weights / np.linalg.norm(weights) - best))
        assert apart[1] < 1e-3
        # the direction closes in like 1/t: a quarter of the distance at four times the steps
        assert abs(apart[0] / apart[1] - 4) < 0.2


def test_descent_moves_as_the_weights_do():
    X, y, W, network = draw(2, 5, 4, 50, 0.1)
    run = descend_logistic(network, 0.5, 37)
    for b in range(2):
        weights = walk(X[b], y[b], W[b], network.output_weights[b], 0.1, 0.5, int(run.steps[b]))
        assert np.abs(weights @ X[b].T - run.predictions[b]).max() < 1e-11


def test_leaky_neurons_of_one_sign_end_parallel_and_ranks_are_those_of_the_weights():
    X, _, _, network = draw(4, 6, 8, 600, 0.2)
    run = flow_logistic(network)
    assert np.allclose(run.limit_stable_rank(1), 1, atol=1e-9)
    assert np.allclose(run.limit_stable_rank(-1), 1, atol=1e-9)
    values = np.linalg.svd(run.duals @ X, compute_uv=False)
    expected = np.sum(values**2, axis=-1) / values[:, 0] ** 2
    assert np.allclose(run.limit_stable_rank(), expected, rtol=1e-10)
    assert (expected > 1.05).all()


def test_descent_that_chatters_is_near_a_critical_point_and_not_certified():
    X, y, _, network = draw(4, 6, 10, 2_000, 0.0)
    run = descend_logistic(network, 1.0, near=1e-2)
    chatters = run.status == "converged"
    assert chatters.any()
    for b in np.flatnonzero(chatters):
        near = assert_critical(
            X[b], y[b], network.output_weights[b], 0.0, run.duals[b], run.multipliers[b]
        )
        assert near.any()
        assert run.distance[b] <= 1e-2


def test_nothing_is_certified_too_early_nor_for_too_long_steps():
    *_, network = draw(3, 6, 6, 900, 0.2)
    run = descend_logistic(network, 1.0)
    for b in range(3):
        one = network.select(np.asarray([b]))
        sides = np.where(run.predictions[b] > 0, ABOVE, BELOW)
        assert direction(one, run.change[b], sides, 1.0).certified
        assert not direction(one, run.change[b] / 20, sides, 1.0).certified
        assert not direction(one, run.change[b], sides, 10.0).certified
        wrong = np.where(sides == ABOVE, BELOW, ABOVE)
        assert not direction(one, run.change[b], wrong, 1.0).certified


def test_directions_that_leave_examples_beyond_the_margin_are_certified_and_plain_runs_go_there():
    """Far from orthogonal data: margins are not equal in the limit, and that can be known."""
    X, y, _, network = draw(8, 6, 6, 8, 0.5, seed=3)
    run = descend_logistic(network, 0.5, 3_000)
    beyond = (run.status == "certified") & (run.multipliers == 0).any(axis=-1)
    assert beyond.sum() >= 2
    for b in np.flatnonzero(beyond):
        v = network.output_weights[b]
        assert_critical(X[b], y[b], v, 0.5, run.duals[b], run.multipliers[b])
        limit = run.limit_margins[b]
        assert (limit[run.multipliers[b] == 0] > limit.min() * 1.01).all()
        best = run.duals[b] @ X[b]
        weights, apart = (network.starting_duals[b] + run.change[b]) @ X[b], []
        for steps in (2_000, 20_000):
            weights = walk(X[b], y[b], weights, v, 0.5, 0.5, steps)
            far = weights / np.linalg.norm(weights) - best / np.linalg.norm(best)
            apart.append(np.linalg.norm(far))
        assert apart[1] < 0.5 * apart[0]
        assert apart[1] < 0.02


@pytest.mark.parametrize(("behind", "certain"), [(0.0, True), (60.0, True), (80.0, False)])
def test_an_example_off_the_margin_has_to_be_ahead_before_anything_is_certain(behind, certain):
    """w⋆ = (1, 0) for x = (1, 0), (3, 1): outputs 1 and 3. At w = (40, −behind) they are 40 and
    120 − behind; at 40 and 40 the second pulls as much as the first."""
    features = np.asarray([[1.0, 0.0], [3.0, 1.0]])
    network = Network.from_features(
        features, [1.0, 1.0], starting_weights=[[0.0, 0.0]], output_weights=[1.0],
        activation=Activation(0.5),
    )  # fmt: skip
    weights = np.asarray([[40.0, -behind]])
    change = weights @ np.linalg.inv(features)
    for step in (None, 0.1):
        found = direction(network, change, np.asarray([[ABOVE, ABOVE]]), step)
        assert np.allclose(found.point.multipliers, [1, 0])
        assert found.certified == certain, step


@pytest.mark.parametrize(
    ("near", "of_the_flow", "of_descent"),
    [(None, True, True), (1, True, False), (0, False, False)],
)
def test_no_kink_within_reach_but_those_that_bend_margins_down(near, of_the_flow, of_descent):
    """Two orthonormal examples of label 1, neurons of outputs +1 and −1, γ = ½: w⋆ has the
    predictions 4/5 and −2/5. What moves both by (½, 1) moves no output; it brings the neuron `near`
    to its kink on the first example. There outputs of 40.5 and 39.5 still have to come together."""
    network = Network.from_gram(
        np.eye(2), [1.0, 1.0], starting_predictions=np.zeros((2, 2)), output_weights=[1.0, -1.0],
        activation=Activation(0.5),
    )  # fmt: skip
    weights = np.outer([0.8, -0.4], [40.5, 39.5])
    short = {None: 0.0, 1: 16.2 - 0.25, 0: -(32.4 - 0.5) / 0.5}[near]
    weights[:, 0] += short * np.asarray([0.5, 1.0])
    sides = np.asarray([[ABOVE, ABOVE], [BELOW, BELOW]])
    assert ((weights > 0) == (sides == ABOVE)).all()
    assert np.allclose(network.output(weights[None]), [40.5, 39.5])
    assert direction(network, weights, sides).certified == of_the_flow
    assert direction(network, weights, sides, 0.5).certified == of_descent


def test_nothing_overflows_far_from_a_direction():
    *_, network = draw(1, 4, 4, 40_000, 0.2)
    right = np.where(network.output_weights[0][:, None] * network.labels[0] > 0, ABOVE, BELOW)
    point = margin_point(network, right)
    assert point.residual < 1e-12
    backward = -1e4 * point.duals
    assert not direction(network, backward, right).certified


def test_the_certified_distance_bound_is_not_broken_later():
    """‖ρ‖ never grows: predictions stay on the side that the certificate gave them for ever."""
    X, y, _, network = draw(3, 6, 6, 900, 0.2)
    run = descend_logistic(network, 1.0)
    for b in range(3):
        duals = network.starting_duals[b] + run.change[b]
        v = network.output_weights[b]
        later = walk(X[b], y[b], duals @ X[b], v, 0.2, 1.0, 3_000)
        assert ((later @ X[b].T > 0) == (run.predictions[b] > 0)).all()


def test_an_example_that_no_neuron_sees_leaves_the_direction_undecided():
    network = Network.from_gram(
        np.eye(2), [1.0, 1.0], starting_predictions=[[0.1, -0.1]], output_weights=[1.0]
    )
    assert (flow_logistic(network, 300).status == "undecided").all()
    run = descend_logistic(network, 0.5, 200)
    assert (run.status == "undecided").all()
    assert np.isnan(run.limit_margins).all()
    assert np.isinf(margin_point(network, np.asarray([[ABOVE, BELOW]])).residual)


def test_the_pull_is_that_of_the_definition_and_does_not_overflow():
    outputs, labels = np.asarray([[0.3, -2.0, 5.0]]), np.asarray([[1.0, -1.0, 1.0]])
    weights = 1 / (1 + np.exp(labels * outputs))
    expected = -labels * weights / weights.sum()
    assert np.allclose(rescaled_pull(outputs, labels), expected, rtol=1e-13)
    far = rescaled_pull(np.asarray([[1e4, 1e4 + 1]]), np.ones((1, 2)))
    assert np.allclose(far, -np.asarray([[1, np.exp(-1)]]) / (1 + np.exp(-1)), rtol=1e-9)


def test_kinks_are_settled_by_the_program_as_the_flow_holds_them():
    *_, network = draw(4, 6, 10, 2_000, 0.0)
    run = flow_logistic(network)
    for b in range(4):
        one, v, y = network.select(np.asarray([b])), network.output_weights[b], network.labels[b]
        limit = run.duals[b] @ network.gram[b]
        against = v[:, None] * y < 0
        sides = settle_kinks(one, limit, against)
        point = margin_point(one, sides)
        assert point.residual < 1e-12
        assert np.abs(point.duals - run.duals[b]).max() < 1e-9
        assert (sides == HELD).any()


def test_unusable_input_is_refused():
    *_, network = draw(2, 3, 2, 10, 0.2)
    with pytest.raises(InputError, match="step_size=0"):
        descend_logistic(network, 0.0)
    with pytest.raises(InputError, match="max_steps=0"):
        flow_logistic(network, 0)
    for step in (1e300, np.inf):
        with pytest.raises(InputError, match="is too long"):
            descend_logistic(network, step)
    for near in (-1.0, np.nan):
        with pytest.raises(InputError, match="near="):
            descend_logistic(network, 0.5, near=near)
    for tolerance in (0.0, -1.0, np.nan, 1e-2):
        with pytest.raises(InputError, match="tolerance="):
            flow_logistic(network, tolerance=tolerance)
    nowhere = Network.from_gram(
        np.diag([1.0, 0.0]), [1.0, 1.0], starting_predictions=[[0.1, 0.0]], output_weights=[1.0]
    )
    for train in (flow_logistic, lambda network: descend_logistic(network, 0.5)):
        with pytest.raises(InputError, match="an example has length 0"):
            train(nowhere)
    with pytest.raises(InputError, match="batch=2, expected 1"):
        margin_point(network, np.zeros((2, 3), dtype=int))
    one = network.select(np.asarray([0]))
    for sides in (np.zeros((1, 3), dtype=int), np.full((2, 3), 7)):
        with pytest.raises(InputError, match=r"expected \(2, 3\), of 0 \(below\)"):
            margin_point(one, sides)
