"""Steps and events of a flow: what leaves its side within a step, and what a step may be off by."""

from __future__ import annotations

import numpy as np
import pytest

from verify.errors import InputError
from verify.relu.dynamics.network import Network
from verify.relu.dynamics.network_flow import _root, _turn
from verify.relu.dynamics.two_layers import flow_both_layers

RELEASED_HALF_WAY = (
    [[0.833, 0.556, 0.69], [0.556, 0.459, 0.512], [0.69, 0.512, 0.706]],
    [-0.819, 0.507, 0.894],
    [
        [9.3e-05, 0.00021, 0.00013],
        [0.000525, -0.000385, -0.000759],
        [-7.13e-05, -5.84e-05, 0.000422],
        [-0.000961, -0.000474, -0.000814],
    ],
    [0.000522, -0.00348, 0.00151, 0.00125],
)
RELEASED_WITHIN_A_STEP = (
    [[0.435, 0.589, 0.322], [0.589, 0.983, 0.483], [0.322, 0.483, 0.293]],
    [-0.941, 0.566, 0.912],
    [[-0.194, 0.054, 0.028], [0.535, 1.353, 0.214], [0.456, 1.212, 0.319]],
    [0.9, -2.35, -1.749],
)
TURNS_BACK_WITHIN_A_STEP = (
    [[0.275, 0.45, 0.283], [0.45, 0.909, 0.515], [0.283, 0.515, 0.36]],
    [0.591, -0.546, 0.554],
    [[0.165, -0.72, 0.053], [0.402, 0.26, 0.311], [0.504, 0.63, 0.061]],
    [2.525, -1.228, -2.04],
)


def network(gram, labels, start, outputs):
    return Network.from_gram(gram, labels, starting_predictions=start, output_weights=outputs)


def correlated(batch, n, m, scale, cosine, seed):
    """Return networks on examples of unit length and equal cosines, from balanced starts."""
    rng = np.random.default_rng(seed)
    gram = np.full((n, n), cosine) + (1 - cosine) * np.eye(n)
    labels = rng.uniform(0.5, 1, (batch, n)) * rng.choice([-1, 1], (batch, n))
    start = scale * rng.normal(size=(batch, m, n)) @ np.linalg.cholesky(gram).T
    signs = rng.choice([-1.0, 1.0], (batch, m))
    gram = np.broadcast_to(gram, (batch, n, n))
    return network(gram, labels, start, signs).balanced(signs)


@pytest.mark.parametrize(
    "given", [RELEASED_HALF_WAY, RELEASED_WITHIN_A_STEP, TURNS_BACK_WITHIN_A_STEP]
)
def test_what_leaves_its_side_and_comes_back_within_a_step_is_seen(given):
    """Missed, these events cost 1e-6, 3% and 0.5% of ½‖θ‖²."""
    coarse, fine = (flow_both_layers(network(*given), tolerance=t) for t in (1e-10, 1e-13))
    assert coarse.certified.all()
    assert fine.certified.all()
    assert coarse.half_squared_norm[0] == pytest.approx(fine.half_squared_norm[0], rel=3e-8)


def test_a_pull_that_changes_sign_holds_nothing_meanwhile():
    """Both held slopes look allowed at the end of the step; missed, it costs 2e-3 of ½‖θ‖²."""
    networks = correlated(500, 3, 3, 0.5, 0.9, 4).select(np.asarray([36, 469]))
    coarse, fine = (flow_both_layers(networks, tolerance=t) for t in (1e-10, 1e-13))
    assert coarse.certified.all()
    assert coarse.half_squared_norm == pytest.approx(fine.half_squared_norm, rel=3e-8)


def test_long_steps_lead_where_short_steps_do():
    networks = correlated(30, 3, 4, 0.3, 0.8, 20261501)
    runs = [flow_both_layers(networks, tolerance=t) for t in (1e-8, 1e-10, 1e-13)]
    for run in runs:
        assert run.certified.all()
    assert runs[0].held.any()
    for run, allowed in zip(runs, (1e-6, 3e-8), strict=False):
        apart = np.abs(run.half_squared_norm / runs[2].half_squared_norm - 1)
        assert apart.max() < allowed
    assert runs[0].steps.sum() < 0.9 * runs[1].steps.sum() < 0.8 * runs[2].steps.sum()


@pytest.mark.parametrize("tolerance", [1e-8, 1e-7, 1e-6])
def test_steps_are_exact_to_what_is_left_to_go(tolerance):
    """An error that is small to the weights alone would keep residuals from falling below it."""
    rng = np.random.default_rng(20261502)
    labels = rng.uniform(0.5, 1, (20, 3)) * [1, -1, 1]
    start = 1e-4 * rng.normal(size=(20, 4, 3))
    start[:, :2] = np.abs(start[:, :2])
    networks = network(np.broadcast_to(np.eye(3), (20, 3, 3)), labels, start, [1.0, -1, 1, -1])
    run = flow_both_layers(networks.balanced([1, -1, 1, -1]), 300, tolerance=tolerance)
    assert run.certified.all()
    assert np.linalg.norm(run.residual, axis=-1).max() < 2e-8


def test_neurons_of_large_weights_come_to_rest():
    networks = correlated(20, 5, 8, 1.5, 0.5, 20261503)
    run = flow_both_layers(networks, 1000)
    assert run.certified.sum() >= 19
    assert np.median(run.steps) < 200


def test_a_cubic_turns_and_is_first_zero_where_it_is():
    rng = np.random.default_rng(20261504)
    a0, a1, a2 = rng.uniform(0.01, 1, 200), -rng.uniform(0.1, 3, 200), rng.normal(size=200)
    a3 = (rng.uniform(0.1, 3, 200) - a1 - 2 * a2) / 3  # so that it rises at 1
    x, value = _turn(a0, a1, a2, a3)
    grid = np.linspace(0, 1, 2001)[:, None]
    cubic = a0 + a1 * grid + a2 * grid**2 + a3 * grid**3
    assert ((x > 0) & (x < 1)).all()
    assert (value <= cubic.min(axis=0) + 1e-12).all()
    assert (value >= cubic.min(axis=0) - 1e-5).all()
    below = value < 0
    assert 20 < below.sum() < 180
    kept = [part[below] for part in (a0, a1, a2, a3)]
    root = _root(*kept, x[below])
    assert (root <= x[below]).all()
    assert np.abs(sum(part * root**k for k, part in enumerate(kept))).max() < 1e-11
    before = grid < root - 1e-3
    assert (cubic[:, below][before] > 0).all()


def test_examples_that_depend_on_each_other_can_be_held_together():
    X = np.asarray([[1.0, 0], [0, 1], [1, 1], [1, -1]])
    rng = np.random.default_rng(20261505)
    undecided = held = 0
    for _ in range(15):
        labels, W = rng.integers(-2, 3, 4), rng.integers(-2, 3, (3, 2)) / 10
        one = Network.from_features(X, labels, starting_weights=W, output_weights=[1.0, -1.0, 0.5])
        run = flow_both_layers(one, 200)
        undecided += not run.certified[0]
        held += int(run.held.sum(axis=-1).max())
    assert undecided == 15, "of a singular Gram matrix nothing is certified"
    assert held > 0


def test_an_example_of_zero_stays_where_it_is():
    gram = [[1.0, 0.0], [0.0, 0.0]]
    run = flow_both_layers(network(gram, [1.0, 0.5], [[0.1, 0.0]], [0.1]))
    alone = flow_both_layers(network([[1.0]], [1.0], [[0.1]], [0.1]))
    assert run.predictions[0, 0, 1] == 0
    assert run.residual[0, 0] == pytest.approx(alone.residual[0, 0], abs=1e-7)
    assert run.residual[0, 1] == -0.5


def test_unusable_settings_are_refused():
    one = network([[1.0]], [1.0], [[0.1]], [0.1])
    for tolerance in (0, -1.0, np.nan, 1e-14, 1e-5, "small"):
        with pytest.raises(InputError, match="tolerance="):
            flow_both_layers(one, tolerance=tolerance)
    for settled in (-1e-8, np.nan, None):
        with pytest.raises(InputError, match="settled="):
            flow_both_layers(one, settled=settled)
