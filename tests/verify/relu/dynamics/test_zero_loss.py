"""The certificate of where the loss goes: what it refuses, and that what it says is so."""

from __future__ import annotations

import numpy as np
import pytest

from verify.relu.dynamics.kinks import ABOVE, BELOW, HELD
from verify.relu.dynamics.network import Network
from verify.relu.dynamics.two_layers import flow_both_layers
from verify.relu.dynamics.zero_loss import arrival


def at(gram, labels, predictions, outputs, sides=None):
    """Return networks at this state, and what the certificate says of it."""
    network = Network.from_gram(
        gram, labels, starting_predictions=predictions, output_weights=outputs
    )
    beta, v = network.starting_predictions, network.output_weights
    where = np.where(beta > 0, ABOVE, BELOW) if sides is None else np.asarray([sides])
    active = np.where(where == ABOVE, beta, 0.0)
    residual = np.sum(v[:, :, None] * active, axis=1) - network.labels
    return network, arrival(network, beta, where, v, residual)


def single(v, w, residual):
    return at([[1.0]], [v * w - residual], [[w]], [v])


@pytest.mark.parametrize("residual", [-0.23, -0.05, 0.05, 0.23])
def test_one_neuron_and_one_example_by_hand(residual):
    """Within R the rate is at least (v − R)², while w > R: the best there is asks |r| ≤ v²/4."""
    network, found = single(1.0, 2.0, residual)
    assert found.certified.all()
    run = flow_both_layers(network)
    moved = np.hypot(run.change[0, 0, 0], run.output_weights[0, 0] - 1.0)
    assert moved <= found.distance[0]
    assert found.distance[0] <= abs(residual) / (1 - 0.55)
    assert found.limit_loss[0] == 0


def test_a_radius_within_which_the_rate_is_not_enough_certifies_nothing():
    assert not single(1.0, 2.0, 0.26)[1].certified.any(), "the output weight may become too small"
    assert single(1.0, 0.5, 0.2)[1].certified.all()
    assert not single(1.0, 0.2, 0.2)[1].certified.any(), "the neuron may become inactive"
    assert np.isinf(single(1.0, 0.2, 0.2)[1].distance).all()


PAIR = [[1.0, 0.5], [0.5, 1.0]]


def test_an_example_that_no_neuron_sees_yet_may_come_to_be_seen():
    """The first example, not yet fitted, pulls the second above its kink."""
    start = ([2.0, 1.0], [[1.9, -1e-3]], [1.0])
    network, found = at(PAIR, *start)
    assert not found.certified.any()
    assert flow_both_layers(network).limit_loss[0] < 1e-12, "so that all are fitted in the end"
    lower = at(PAIR, [2.0, 1.0], [[1.9, -1.0]], [1.0])[1]
    assert lower.certified.all()
    assert lower.limit_loss[0] == 0.5


def test_a_kink_holds_what_its_own_residual_pulls_down_harder_than_the_others_up():
    sides = [[ABOVE, HELD]]
    strong = at(PAIR, [2.0, -1.0], [[1.9, 0.0]], [1.0], sides)[1]
    assert strong.certified.all()
    assert strong.limit_loss[0] == 0.5
    weak = at(PAIR, [2.0, -0.15], [[1.9, 0.0]], [1.0], sides)[1]
    assert not weak.certified.any(), "‖r_C‖ √(λ_max/λ_min) = .1 √3"
    outward = at(PAIR, [2.0, 1.0], [[1.9, 0.0]], [1.0], sides)[1]
    assert not outward.certified.any(), "its residual pulls it up"


def test_of_a_singular_gram_matrix_nothing_is_certified():
    found = at(np.ones((2, 2)), [1.0, 1.0], [[1.0, 1.0]], [1.0])[1]
    assert not found.certified.any()
    assert not found.regular.any()
    assert at(PAIR, [1.0, 1.0], [[1.0, 1.0]], [1.0])[1].regular.all()
