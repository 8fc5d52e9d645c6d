"""On a kink that both sides lead towards, a flow stays, with the slope that keeps it there."""

from __future__ import annotations

import numpy as np

from verify.relu.dynamics.activation import Activation
from verify.relu.dynamics.kinks import ABOVE, BELOW, HELD, Motion
from verify.relu.dynamics.network import Network
from verify.relu.dynamics.network_flow import flow
from verify.relu.dynamics.sides import slope_held
from verify.relu.dynamics.two_layers import residuals

PAIR = np.asarray([[1.0, 0.5], [0.5, 1.0]])


def settle(network, tolerance=1e-10):
    """Follow the flow of the first layer until the residual of the first example is small."""
    motion = Motion(network, residuals, trains_outputs=False)
    [(_, end, fine)] = flow(motion, lambda at: np.abs(at.look.pull[:, 0]) < 1e-9, 5_000, tolerance)
    assert fine
    return end


def one_neuron(start, leak=0.0):
    return Network.from_gram(
        PAIR,
        [1.0, -1.0],
        starting_predictions=[start],
        output_weights=[1.0],
        activation=Activation(leak),
    )


def test_a_neuron_that_is_pulled_to_its_kink_from_both_sides_stays_on_it():
    end = settle(one_neuron([0.01, 0.01]))
    assert end.sides[0, 0].tolist() == [ABOVE, HELD]
    # the interpolant of least norm has w·x_2 = 0: its multiplier there is not positive
    assert np.abs(end.look.predictions[0, 0] - [1.0, 0.0]).max() < 1e-8


def test_a_neuron_crosses_a_kink_that_leads_on():
    gram = np.asarray([[1.0, -0.5], [-0.5, 1.0]])
    network = Network.from_gram(
        gram, [1.0, -1.0], starting_predictions=[[0.01, 0.01]], output_weights=[1.0]
    )
    end = settle(network)
    assert end.sides[0, 0].tolist() == [ABOVE, BELOW]
    assert end.look.predictions[0, 0, 1] < -0.4


def test_the_held_slope_is_that_of_the_average_of_short_steps():
    network = one_neuron([0.01, 0.01])
    motion = Motion(network, residuals, trains_outputs=False)
    [(_, at, _)] = flow(motion, lambda at: at.time > 0.7, 5_000, 1e-10)
    assert at.sides[0, 0, 1] == HELD
    slope = slope_held(at.field, at.look)[0, 0, 1]
    beta, eta, active = np.asarray([0.01, 0.01]), 1e-5, []
    for _ in range(round(at.time[0] / eta)):
        slopes = (beta > 0).astype(float)
        beta = beta - eta * (slopes * (np.maximum(beta, 0) - [1.0, -1.0])) @ PAIR
        active.append(slopes[1])
    assert abs(np.mean(active[-2000:]) - slope) < 5e-3
    assert abs(beta[0] - at.look.predictions[0, 0, 0]) < 1e-4


def test_a_leaky_neuron_goes_through_where_its_slope_below_still_leads_down():
    end = settle_both(one_neuron([0.01, 0.01], leak=0.9))
    assert end.sides[0, 0].tolist() == [ABOVE, BELOW]
    assert np.abs(end.look.pull).max() < 1e-8


def settle_both(network):
    motion = Motion(network, residuals, trains_outputs=False)
    [(_, end, fine)] = flow(
        motion, lambda at: np.abs(at.look.pull).max(axis=-1) < 1e-9, 5_000, 1e-10
    )
    assert fine
    return end


def test_several_held_examples_are_solved_together():
    gram = np.full((3, 3), 0.4) + 0.6 * np.eye(3)
    network = Network.from_gram(
        gram, [1.0, -1.0, -2.0], starting_predictions=[[0.01, 0.02, 0.03]], output_weights=[1.0]
    )
    end = settle(network)
    assert end.sides[0, 0].tolist() == [ABOVE, HELD, HELD]
    assert np.abs(end.look.predictions[0, 0] - [1, 0, 0]).max() < 1e-8
