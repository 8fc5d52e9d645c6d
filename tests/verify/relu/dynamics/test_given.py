"""What is handed to the dynamics is of the right kind, or is refused by name."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from verify.errors import InputError
from verify.relu import Problem, descend, descend_plainly, minimum_norm
from verify.relu.dynamics import (
    SOFTPLUS,
    Activation,
    Network,
    descend_both_layers,
    descend_in_small_steps,
    descend_logistic,
    flow,
    flow_both_layers,
    flow_logistic,
    leaky_descent,
    linear_margin,
    margin_point,
    near_orthogonality,
    smooth_flow,
    stable_rank,
)
from verify.relu.nearest_minimum import nearest_minimum

START = [[0.1, 0.2]]


def network(weight: float = 1.0) -> Network:
    return Network.from_gram(
        np.eye(2), [1.0, -1.0], starting_predictions=START, output_weights=[weight]
    )


def problem() -> Problem:
    return Problem.from_gram(np.eye(2), [1.0, -1.0], starting_predictions=START, step_size=0.1)


@pytest.mark.parametrize(
    "function",
    [
        descend,
        descend_plainly,
        minimum_norm,
        nearest_minimum,
        flow,
        descend_in_small_steps,
        lambda given: leaky_descent(given, Activation(0.1)),
        lambda given: smooth_flow(given, SOFTPLUS),
    ],
)
def test_a_network_is_no_problem(function: Callable[[Any], Any]) -> None:
    with pytest.raises(InputError, match=r"problem is a Network, expected a Problem.*flow_both"):
        function(network())
    function(problem())


@pytest.mark.parametrize(
    "function",
    [
        flow_both_layers,
        flow_logistic,
        lambda given: descend_both_layers(given, 0.1),
        lambda given: descend_logistic(given, 0.1),
        lambda given: margin_point(given, np.ones((1, 2), dtype=int)),
    ],
)
def test_a_problem_is_no_network(function: Callable[[Any], Any]) -> None:
    with pytest.raises(InputError, match=r"network is a Problem, expected a Network.*descend"):
        function(problem())


def test_arrays_without_a_batch_axis_are_told_to_take_one() -> None:
    gram, labels = np.eye(3), np.ones(3)
    for call, name, shape in (
        (lambda: linear_margin(gram, labels), "gram", "(3, 3)"),
        (lambda: linear_margin(gram[None], labels), "labels", "(3,)"),
        (lambda: near_orthogonality(gram), "gram", "(3, 3)"),
        (lambda: stable_rank(gram), "weight_gram", "(3, 3)"),
    ):
        with pytest.raises(InputError, match=rf"{name} has shape {re.escape(shape)}.*\[None\]"):
            call()
    with pytest.raises(InputError, match=re.escape("gram has shape (1, 3, 3) and labels (1, 2)")):
        linear_margin(gram[None], np.ones((1, 2)))
    assert linear_margin(gram[None], labels[None]).margin == pytest.approx(1 / np.sqrt(3))


def test_a_slope_is_a_number() -> None:
    for slope in ("a", None, float("nan"), 1.0, -0.1):
        with pytest.raises(InputError, match=r"slope_below=.*expected a number in \[0, 1\)"):
            Activation(slope)
    assert Activation(np.float64(0.5)).slope_below == 0.5


@pytest.mark.parametrize("weight", [1e160, -1e101])
def test_output_weights_whose_products_overflow_are_refused(weight: float) -> None:
    with pytest.raises(InputError, match=r"output_weights has the size 1e\+1.*at most 1e\+100"):
        network(weight)
    assert network(1e100).output_weights.max() == 1e100
