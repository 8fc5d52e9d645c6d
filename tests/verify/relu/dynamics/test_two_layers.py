"""Both layers, trained: against weights moved plainly, closed forms, and what is conserved."""

from __future__ import annotations

import numpy as np
import pytest

from verify.errors import InputError
from verify.relu.dynamics.activation import RELU, Activation
from verify.relu.dynamics.network import Network
from verify.relu.dynamics.two_layers import (
    descend_both_layers,
    flow_both_layers,
    imbalance,
)

SEED = 20261301


def draw(batch, n, m, d, scale, activation=RELU, seed=SEED):
    """Return features, labels, weights, and the networks that start balanced from the weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(batch, n, d)) / np.sqrt(d)
    y = rng.uniform(0.5, 1, (batch, n)) * rng.choice([-1, 1], (batch, n))
    W = scale * rng.normal(size=(batch, m, d))
    signs = rng.choice([-1.0, 1.0], (batch, m))
    network = Network.from_features(
        X, y, starting_weights=W, output_weights=signs, activation=activation
    ).balanced(signs)
    return X, y, W, network


def orthogonal(batch, n, m, scale, seed=SEED):
    """Return networks on orthogonal examples, with a neuron of each sign that covers its class."""
    rng = np.random.default_rng(seed)
    squares = rng.uniform(0.25, 2, (batch, n))
    gram = squares[:, :, None] * np.eye(n)
    y = rng.uniform(0.5, 1, (batch, n)) * rng.choice([-1, 1], (batch, n))
    start = scale * rng.normal(size=(batch, m, n))
    signs = rng.choice([-1.0, 1.0], (batch, m))
    signs[:, 0], signs[:, 1] = 1, -1
    start[:, 0] = np.where(y > 0, np.abs(start[:, 0]), start[:, 0])
    start[:, 1] = np.where(y < 0, np.abs(start[:, 1]), start[:, 1])
    network = Network.from_gram(gram, y, starting_predictions=start, output_weights=signs)
    predicted = sum(
        np.sqrt(np.sum(np.where(sign * y > 0, y, 0) ** 2 / squares, axis=-1)) for sign in (1, -1)
    )
    return network.balanced(signs), predicted


def descend_in_weights(X, y, W, v, eta, steps, leak=0.0):
    """Move the weights themselves, one network, plainly."""
    W, v = W.copy(), v.copy()
    for _ in range(steps):
        beta = W @ X.T
        phi = np.where(beta > 0, beta, leak * beta)
        slope = np.where(beta > 0, 1.0, leak)
        r = v @ phi - y
        W, v = W - eta * v[:, None] * ((slope * r) @ X), v - eta * (phi @ r)
    return W, v


@pytest.mark.parametrize("leak", [0.0, 0.3])
def test_descent_moves_as_the_weights_do(leak):
    X, y, W, network = draw(3, 4, 5, 6, 0.5, Activation(leak))
    run = descend_both_layers(network, 0.05, 200, settled=0)
    for b in range(3):
        weights, outputs = descend_in_weights(
            X[b], y[b], W[b], network.output_weights[b], 0.05, 200, leak
        )
        assert np.abs(run.predictions[b] - weights @ X[b].T).max() < 1e-12
        assert np.abs(run.output_weights[b] - outputs).max() < 1e-12
        assert abs(run.half_squared_norm[b] - (np.sum(weights**2) + outputs @ outputs) / 2) < 1e-11


def test_the_flow_is_what_short_steps_tend_to_linearly_in_their_length():
    X, y, W, network = draw(6, 4, 6, 8, 0.3)
    run = flow_both_layers(network)
    assert run.certified.all()
    assert run.held.any(), "expected some neuron to stay on its kink, or this tests less"
    apart = []
    for eta in (4e-3, 1e-3):
        ends = [
            descend_in_weights(
                X[b], y[b], W[b], network.output_weights[b], eta, round(run.time[b] / eta)
            )
            for b in range(6)
        ]
        duals = network.starting_duals + run.change
        outside = W - network.starting_duals @ X
        apart.append(
            [
                np.linalg.norm(weights - (outside[b] + duals[b] @ X[b]))
                for b, (weights, _) in enumerate(ends)
            ]
        )
    longer, shorter = np.asarray(apart)
    assert shorter.max() < 3e-3
    assert 3 < longer.sum() / shorter.sum() < 5, "expected a quarter of the step, of the error"


def test_within_one_pattern_the_flow_is_that_of_an_independent_solver():
    from scipy.integrate import solve_ivp

    rng = np.random.default_rng(SEED)
    X, y = np.abs(rng.normal(size=(3, 5))), rng.uniform(0.5, 1, 3)
    W, v = np.abs(rng.normal(size=(2, 5))) * 0.1, np.asarray([0.2, 0.1])
    run = flow_both_layers(
        Network.from_features(X, y, starting_weights=W, output_weights=v), settled=1e-3
    )

    def rate(_, state):
        weights, outputs = state[:10].reshape(2, 5), state[10:]
        beta = weights @ X.T
        r = outputs @ beta - y
        return np.concatenate([-(outputs[:, None] * (r @ X)).ravel(), -(beta @ r)])

    start = np.concatenate([W.ravel(), v])
    found = solve_ivp(rate, (0, run.time[0]), start, rtol=1e-12, atol=1e-14, method="DOP853")
    weights = found.y[:10, -1].reshape(2, 5)
    assert not run.held.any()
    assert np.abs(weights @ X.T - run.predictions[0]).max() < 1e-8
    assert np.abs(found.y[10:, -1] - run.output_weights[0]).max() < 1e-8


def test_one_neuron_and_one_example_end_where_the_closed_form_says():
    network = Network.from_gram(
        [[4.0]], [3.0], starting_predictions=[[1e-4]], output_weights=[1.0]
    ).balanced([1.0])
    run = flow_both_layers(network)
    assert run.certified.all()
    # v = ‖w‖ and v·2‖w‖ = 3
    assert abs(run.half_squared_norm[0] - 1.5) < 1e-8 + run.half_squared_norm_error[0]


def test_orthogonal_data_end_at_the_minimum_of_the_norm_as_the_start_shrinks():
    excess = []
    for scale in (1e-4, 1e-8):
        network, predicted = orthogonal(10, 5, 6, scale)
        run = flow_both_layers(network)
        assert run.certified.all()
        assert (run.limit_loss == 0).all()
        ratio = run.half_squared_norm / predicted
        assert (ratio > 1 - 1e-7).all(), "no zero-loss point has a smaller norm"
        excess.append(ratio - 1)
    assert (excess[1] < excess[0]).all()
    assert np.median(excess[1]) < 2e-3


def test_balancedness_is_conserved_by_the_flow_and_drifts_with_the_step_of_descent():
    *_, network = draw(5, 4, 6, 8, 0.3)
    size = np.max(network.output_weights**2)
    assert np.abs(imbalance(network)).max() < 1e-14
    run = flow_both_layers(network)
    assert run.imbalance_gained.max() < 1e-9 * max(size, 1.0)
    drift = [
        descend_both_layers(network, eta, round(4 / eta), settled=0).imbalance_gained
        for eta in (0.02, 0.01)
    ]
    assert drift[0].max() > 1e-4
    assert abs(np.sum(drift[0]) / np.sum(drift[1]) - 2) < 0.2


def test_a_step_changes_the_balance_by_what_is_stated():
    *_, network = draw(4, 4, 6, 8, 0.5)
    eta = 0.1
    run = descend_both_layers(network, eta, 1, settled=0)
    beta = network.starting_predictions
    r = network.output(beta) - network.labels
    pulled = (beta > 0) * r[:, None, :]
    inner = np.sum(np.maximum(beta, 0) * r[:, None, :], axis=-1)
    curved = np.sum(pulled * (pulled @ network.gram), axis=-1)
    stated = eta**2 * (inner**2 - network.output_weights**2 * curved)
    assert np.abs(run.imbalance - imbalance(network) - stated).max() < 1e-13


def test_the_limit_lies_within_the_certified_distance():
    *_, network = draw(8, 4, 6, 8, 0.4)
    early, late = flow_both_layers(network, settled=0.3), flow_both_layers(network, settled=1e-9)
    both = early.certified & late.certified
    assert both.sum() >= 6
    change = early.change - late.change
    moved = np.sum(change * (change @ network.gram), axis=(1, 2))
    moved += np.sum((early.output_weights - late.output_weights) ** 2, axis=-1)
    distance = np.sqrt(moved)[both]
    assert (distance <= early.distance_to_limit[both] + late.distance_to_limit[both]).all()
    assert distance.max() > 1e-6, "expected early runs to be some way from their limits"
    apart = np.abs(early.half_squared_norm - late.half_squared_norm)[both]
    assert (apart <= (early.half_squared_norm_error + late.half_squared_norm_error)[both]).all()


def test_an_example_that_no_neuron_will_see_keeps_its_loss():
    start = [[1e-3, -1e-3], [1e-3, -2e-3]]
    network = Network.from_gram(
        np.eye(2), [1.0, -0.5], starting_predictions=start, output_weights=[1.0, 1.0]
    )
    run = flow_both_layers(network)
    assert run.certified.all()
    assert abs(run.limit_loss[0] - 0.125) < 1e-15
    assert abs(run.residual[0, 0]) < 1e-7


def test_what_is_not_reached_is_undecided_and_what_explodes_diverged():
    *_, network = draw(2, 4, 6, 8, 0.3)
    assert (flow_both_layers(network, 3).status == "undecided").all()
    assert np.isinf(flow_both_layers(network, 3).distance_to_limit).all()
    assert (descend_both_layers(network, 0.05, 3).status == "undecided").all()
    for step_size in (50.0, 1e300):
        run = descend_both_layers(network, step_size, 200)
        assert (run.status == "diverged").all()
    converged = descend_both_layers(network, 0.05, settled=1e-6)
    assert (converged.status == "converged").all()
    seen = (converged.predictions > 0).any(axis=1)
    assert np.abs(np.where(seen, converged.residual, 0.0)).max() < 1e-5


def test_a_flow_does_not_depend_on_its_neighbours_in_the_batch():
    *_, network = draw(4, 4, 5, 6, 0.3)
    together, alone = flow_both_layers(network), flow_both_layers(network.select(np.asarray([2])))
    assert together.steps[2] == alone.steps[0]
    assert np.abs(together.predictions[2] - alone.predictions[0]).max() < 1e-12


def test_unusable_input_is_refused():
    *_, network = draw(2, 3, 2, 4, 0.3)
    with pytest.raises(InputError, match="max_steps=0"):
        flow_both_layers(network, 0)
    for step_size in (-1.0, 0.0, np.nan, np.inf, "long"):
        with pytest.raises(InputError, match="step_size"):
            descend_both_layers(network, step_size)
    with pytest.raises(InputError, match=r"step_size has shape \(3,\)"):
        descend_both_layers(network, [0.1, 0.1, 0.1])
    with pytest.raises(InputError, match="settled=nan"):
        descend_both_layers(network, 0.1, settled=np.nan)
    with pytest.raises(InputError, match="slope_at_zero=2"):
        descend_both_layers(network, 0.1, slope_at_zero=2)
    with pytest.raises(InputError, match="gram cannot be read as numbers"):
        Network.from_gram([[1j]], [1.0], starting_predictions=[[1.0]], output_weights=[1.0])
    with pytest.raises(InputError, match="output_weights has values that are NaN"):
        Network.from_gram([[1.0]], [1.0], starting_predictions=[[1.0]], output_weights=[np.nan])


def test_where_no_neuron_is_active_on_anything_the_flow_is_at_its_limit():
    network = Network.from_gram(
        np.eye(2),
        [1.0, -1.0],
        starting_predictions=[[-0.1, -0.2], [-0.1, -0.3]],
        output_weights=[0.3, -0.3],
    )
    run = flow_both_layers(network)
    assert run.certified.all()
    assert run.steps[0] == 0
    assert run.limit_loss[0] == 1
    assert run.distance_to_limit[0] == 0
