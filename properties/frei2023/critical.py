"""Critical points of the margin problem: on given sides of the kinks, and by training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from properties.frei2023 import networks
from properties.frei2023.networks import draw_networks, own_sides
from verify.relu.dynamics.kinks import ABOVE, BELOW
from verify.relu.dynamics.logistic import DirectionRun, descend_logistic
from verify.relu.dynamics.margin_points import margin_point
from verify.relu.dynamics.network import Network
from verify.space import Point

Host = np.ndarray[Any, Any]

PROBES = 64
"""Points at which a boundary is looked at, as many again on it."""

EARLY = 3
"""Steps of the broken training."""


@dataclass(frozen=True, eq=False)
class Task:
    """B networks, and what they are asked.

    network: data and start.   probes: (B, K, n), points Σ_i c_i x_i of the data's span.
    others: (B, 2, m, n), sides of the kinks that are wrong: in one pair, and in any number.
    """

    network: Network
    probes: Host
    others: Host


@dataclass(frozen=True, eq=False)
class Critical:
    """Points of the margin problem: duals, (B, m, n), coefficients with w_k = Σ_i α_ki x_i;
    residual, (B,), the largest relative KKT residual."""

    duals: Host
    residual: Host


def draw(point: Point, generator: np.random.Generator, trials: int) -> Task:
    """Draw networks on i.i.d. data, points to look at, and wrong sides."""
    network = draw_networks(point, generator, trials)
    shape = network.starting_predictions.shape
    probes = generator.standard_normal((trials, PROBES, network.examples))
    right = own_sides(network).astype(int)
    random = generator.integers(0, 3, shape)
    anywhere = generator.integers(0, shape[1] * shape[2], trials)
    one = np.zeros((trials, shape[1] * shape[2]), dtype=bool)
    one[np.arange(trials), anywhere] = True
    one = one.reshape(shape)
    wrong = (right + generator.integers(1, 3, shape)) % 3
    many = np.where((random == right).all(axis=(1, 2))[:, None, None] & one, wrong, random)
    return Task(network, probes, np.stack([np.where(one, wrong, right), many], axis=1))


def most_margin(task: Task) -> Critical:
    """Return the KKT points where every neuron is active on the examples of its own sign alone."""
    return critical(task.network, np.where(own_sides(task.network), ABOVE, BELOW))


def critical(network: Network, sides: Host) -> Critical:
    """Return what the margin program makes of the sides of the kinks, (B, m, n)."""
    found = [margin_point(network.select(np.asarray([b])), sides[b]) for b in range(network.batch)]
    duals = np.stack([point.duals for point in found])
    return Critical(duals, np.asarray([point.residual for point in found]))


def trained(task: Task, _found: Critical) -> DirectionRun:
    """Return gradient descent on the logistic loss, first layer trained, until its direction is
    certain."""
    return descend_logistic(task.network, networks.STEP)


def elsewhere(task: Task, _found: Critical) -> Host:
    """Return the KKT residuals on the wrong sides, (B, 2)."""
    kinds = (critical(task.network, task.others[:, kind]).residual for kind in range(2))
    return np.stack(list(kinds), axis=-1)


def normal_of(network: Network, duals: Host) -> Host:
    """Return the coefficients of w = Σ_k v_k w_k, (B, n), over the x_i."""
    return np.asarray(np.einsum("bk,bki->bi", network.output_weights, duals))


def stopped_early(task: Task) -> Critical:
    """Train for 3 steps, and take that for the KKT point."""
    run = descend_logistic(task.network, networks.STEP, EARLY)
    return Critical(task.network.starting_duals + run.change, np.zeros(task.network.batch))


def describe(task: Task, index: int) -> dict[str, Any]:
    """Return what a person needs to recognise one problem."""
    network = task.network.select(np.asarray([index]))
    found = critical(network, np.where(own_sides(network), ABOVE, BELOW))
    return {
        **networks.facts(network),
        "coefficients": (network.labels * normal_of(network, found.duals))[0],
        "kkt_residual": float(found.residual[0]),
    }
