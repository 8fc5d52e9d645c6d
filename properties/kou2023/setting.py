"""What theorems of Kou, Chen and Gu (NeurIPS 2023) share: assumptions, and what directions come to.

The body of the paper has not been read; its statements are those of the abstract [A]. Data and
networks are those of `frei2023.networks`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from properties.frei2023 import networks, setting
from properties.frei2023.networks import apart
from properties.frei2023.setting import p_of
from verify.claims import Assumption, Status
from verify.margin import Margin
from verify.relu.descent import CERTIFIED
from verify.relu.dynamics.logistic import DirectionRun, descend_logistic
from verify.relu.dynamics.network import Network
from verify.tolerances import IDENTITY
from verify.trial import Trial

Host = np.ndarray[Any, Any]

CITATION = (
    "Kou, Chen, Gu: Implicit Bias of Gradient Descent for Two-layer ReLU and Leaky ReLU Networks "
    "on Nearly-orthogonal Data. NeurIPS 2023; arXiv 2310.18935; abstract"
)

LEAST_P = 3.0
"""The p from which data count as nearly orthogonal: ours. The paper's introduction says ‖x_i‖² ≥
C·n·max_{k≠i}|x_i·x_k| with a constant C; what it is, and on what it depends, is not read."""

NEAR = 0.1
"""How far the trained weights themselves may be from the direction that they tend to."""

EARLY = 5
"""Steps of the broken training."""


def certified(trial: Trial) -> Host:
    """Return where the direction is certain, (B,)."""
    return np.asarray(trial.run.status == CERTIFIED)


def known_only(margin: Margin, trial: Trial) -> Margin:
    """Return the margin, undecided where the direction is not certain."""
    return margin.undecided_where(~certified(trial))


def reached(trial: Trial) -> Host:
    """Return how far the trained weights are from their limit direction, recomputed, (B,)."""
    run: DirectionRun = trial.run
    start = run.network.starting_duals
    limit = np.where(certified(trial)[:, None, None], run.duals, start)
    return apart(run.network, start + run.change, limit)


def ranks(run: DirectionRun) -> tuple[Host, Host]:
    """Return the larger of both signs' stable ranks, in the limit and at the end of the run, (B,);
    a sign without weights has none."""
    limit = np.fmax(run.limit_stable_rank(1), run.limit_stable_rank(-1))
    return limit, np.fmax(run.stable_rank(1), run.stable_rank(-1))


def stopped_early(network: Network) -> DirectionRun:
    """Train for 5 steps, and take that for the direction."""
    run = descend_logistic(network, networks.STEP, EARLY)
    return replace(
        run,
        status=np.full(network.batch, CERTIFIED),
        duals=network.starting_duals + run.change,
        distance=np.zeros(network.batch),
    )


def describe(network: Network, index: int) -> dict[str, Any]:
    """Return what a person needs to recognise one network."""
    return networks.facts(network.select(np.asarray([index])))


# Assumptions and claims.


def data_are_nearly_orthogonal(trial: Trial) -> Margin:
    """The data are p-orthogonal with p ≥ 3 (the number is ours)."""
    return setting.at_least(p_of(trial.problem.gram), LEAST_P)


NEARLY_ORTHOGONAL = Assumption(
    data_are_nearly_orthogonal, Status.SUMMARY, axes=("aspect", "d", "lengths")
)


def margins_become_equal(trial: Trial) -> Margin:
    """All examples have the same margin in the limit: the y_i f(x_i)/‖W‖ agree to 1e-10; those of
    the trained weights, within 10% of the limit direction, differ by no more than they may at
    their distance from it."""
    run: DirectionRun = trial.run
    limit, away = run.limit_margins, reached(trial)
    largest = np.abs(limit).max(axis=-1)
    steep = np.linalg.norm(run.network.output_weights, axis=-1) * run.network.lengths.max(axis=-1)
    # f is Lipschitz in W with ‖v‖‖x_i‖.
    allowed = 2 * steep * away + IDENTITY * largest
    margin = Margin.worst(
        Margin(np.ptp(limit, axis=-1), IDENTITY * largest, IDENTITY * largest),
        Margin(np.ptp(run.margins, axis=-1), allowed, allowed),
        Margin(away, NEAR, NEAR),
    )
    return known_only(margin, trial)
