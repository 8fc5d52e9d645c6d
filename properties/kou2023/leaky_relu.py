"""Kou, Chen and Gu (NeurIPS 2023), leaky ReLU: the stable rank tends to one."""

from __future__ import annotations

from typing import Any

import numpy as np

from properties.frei2023 import networks
from properties.frei2023.networks import draw_networks, norms
from properties.kou2023 import setting
from properties.kou2023.setting import NEARLY_ORTHOGONAL, known_only, margins_become_equal, ranks
from verify.claims import Assumption, Control, Probable, Status, Universal
from verify.margin import Margin
from verify.measures import Quantiles
from verify.relu.dynamics.logistic import DirectionRun, descend_logistic
from verify.relu.dynamics.network import Network
from verify.space import Axis, Point
from verify.theorem import Theorem
from verify.tolerances import IDENTITY
from verify.trial import Trial

Host = np.ndarray[Any, Any]


def data_are_p_orthogonal_enough(trial: Trial) -> Margin:
    """The data are p-orthogonal with p ≥ 3/γ³, as in Proposition 4 of Frei et al. 2023: there is
    one KKT point then (theory §9)."""
    return networks.p_orthogonal_enough(trial.problem)


P_ORTHOGONAL = Assumption(
    data_are_p_orthogonal_enough, Status.DERIVED, axes=("aspect", "d", "lengths", "leak")
)
GIVEN = (P_ORTHOGONAL,)

_APART = 1e-6
"""By how much a stable rank is more than one."""


def train(network: Network) -> DirectionRun:
    """Run gradient descent on the logistic loss until its direction is certain."""
    return descend_logistic(network, networks.STEP)


def stable_rank_tends_to_one(trial: Trial) -> Margin:
    """The weights of either output sign tend to stable rank one: ‖W‖²/‖W‖₂² is 1 in the limit, to
    1e-10; what rank one leaves of the trained weights is no more than their distance from it ("of
    either sign" and numbers are ours)."""
    run: DirectionRun = trial.run
    limit, _ = ranks(run)
    away = setting.reached(trial)
    return known_only(
        Margin.worst(
            Margin(limit - 1, IDENTITY, IDENTITY, 1e-4),
            Margin(_beyond_rank_one(run), away, np.maximum(away, IDENTITY), 1e-6),
        ),
        trial,
    )


def stable_rank_at_p_of_three(trial: Trial) -> Margin:
    """At p ≥ 3 the stable rank of either sign tends to one, as above: with probability at least .9
    over Gaussian data and starts (the probability is ours; not for all such data)."""
    return stable_rank_tends_to_one(trial)


def _beyond_rank_one(run: DirectionRun) -> Host:
    """Return how far the trained weights are from those of rank one for either sign, over ‖W‖."""
    network = run.network
    duals = network.starting_duals + run.change
    gram = duals @ network.gram @ duals.swapaxes(1, 2) + network.perpendicular_gram
    left = np.zeros(network.batch)
    for sign in (1, -1):
        mine = sign * network.output_weights > 0
        values = np.linalg.eigvalsh(np.where(mine[:, :, None] & mine[:, None, :], gram, 0.0))
        left += np.maximum(values[:, :-1], 0.0).sum(axis=-1)
    return np.asarray(np.sqrt(left) / norms(network, duals))


# Measures.


def stable_rank_beyond_one(trial: Trial) -> Host:
    """The larger of both signs' stable ranks at the end of training, less one."""
    return ranks(trial.run)[1] - 1


# False statements, for the controls.


def all_neurons_tend_to_rank_one(trial: Trial) -> Margin:
    """All the weights together tend to stable rank one."""
    return known_only(Margin(trial.run.limit_stable_rank() - 1, _APART), trial)


def stable_rank_is_one_wherever_p_is_three(trial: Trial) -> Margin:
    """At p ≥ 3 the stable rank of either sign tends to one, whatever γ and the data are."""
    return stable_rank_tends_to_one(trial)


def margins_are_equal_wherever_data_are(trial: Trial) -> Margin:
    """All examples have the same margin in the limit, however far from orthogonal they are."""
    return margins_become_equal(trial)


CELLS = (
    Point(n=4, m=4, aspect=1e5, leak=0.5),
    Point(n=3, m=4, aspect=1e7, leak=0.2, lengths=1.2, start_scale=1e-2),
)

AT_P_OF_THREE = (
    Point(n=4, m=4, aspect=300, leak=0.5),
    Point(n=3, m=4, aspect=1e4, leak=0.2, lengths=1.5, start_scale=1e-2),
)

AGAINST_ONE_ANOTHER = Point(n=3, m=4, leak=0.1, cosine=-1 / 9.01, positives=1.0)
"""Examples of one label that lean away from one another: p is just above 3."""

ALONG_ONE_ANOTHER = Point(n=2, m=4, leak=0.5, cosine=0.9, positives=1.0, lengths=3.0)
"""Of two examples along one another the longer has the margin for nothing."""

theorem = Theorem(
    id="kou2023.leaky_relu",
    title="Logistic loss, leaky ReLU, nearly orthogonal data: stable rank one, equal margins",
    citation=f"{setting.CITATION}.",
    status=Status.SUMMARY,
    statement=(
        "Gradient descent on the logistic loss, first layer trained, on nearly orthogonal data: "
        "with a leaky ReLU the stable rank of the weights tends to one, and all examples have the "
        "same normalised margin in the limit."
    ),
    method=(
        "The stable rank is that of the weights of either output sign, as we read the abstract: "
        "all weights together have a larger one, as a control shows. "
        "Descent takes steps of length η along the rescaled gradient, on which weights grow "
        "linearly in place of logarithmically; the paper's steps are constant. A run counts where "
        "its limit direction, a KKT point of the margin problem, is certified; it is undecided "
        "elsewhere. p ≥ 3/γ³ stands for nearly orthogonal: with p ≥ 3 alone the statement is "
        "false for small γ, which a control shows."
    ),
    symbols=networks.SYMBOLS,
    defaults={**networks.DEFAULTS, "aspect": 1e5},
    axes=(
        Axis("n", 1, 4, "integer", meaning="examples"),
        Axis("m", 2, 4, "integer", meaning="neurons, with output weights ±1/√m in turn"),
        Axis("leak", 0.2, 0.9, simplest=0.5, meaning="slope γ below zero"),
        Axis("aspect", 1e3, 1e8, "log", simplest=1e5, meaning="d/n²"),
        networks.START_SCALE,
    ),
    wide_axes=(
        Axis("n", 1, 12, "integer", inside=(1, 4), meaning="examples"),
        Axis("m", 1, 20, "integer", simplest=2, inside=(2, 4), meaning="neurons"),
        Axis("leak", 0.01, 0.95, simplest=0.5, inside=(0.2, 0.9), meaning="slope γ below zero"),
        Axis("aspect", 0.5, 1e10, "log", simplest=1e5, inside=(1e3, 1e8), meaning="d/n²"),
        Axis("d", 16, 1e12, "log", instead_of="aspect", meaning="features"),
        Axis("lengths", 1.0, 5.0, inside=(1.0, 2.0), meaning="largest factor of a length"),
        networks.OUTPUTS,
        Axis("start_scale", 1e-6, 10.0, "log", inside=(1e-4, 1e-1), meaning="size of the start"),
    ),
    hypotheses=GIVEN,
    cells=CELLS,
    draw=draw_networks,
    block=200,
    simulate=train,
    describe=setting.describe,
    claims=(
        Universal(stable_rank_tends_to_one, given=GIVEN),
        Universal(margins_become_equal, given=GIVEN),
        Probable(
            stable_rank_at_p_of_three,
            given=(NEARLY_ORTHOGONAL,),
            at=AT_P_OF_THREE,
            probability=0.9,
        ),
    ),
    controls=(
        Control(
            Universal(
                all_neurons_tend_to_rank_one, given=GIVEN, at=(CELLS[0],), status=Status.FALSE
            ),
            because="the neurons of either output sign have a direction of their own",
        ),
        Control(
            Universal(
                stable_rank_is_one_wherever_p_is_three,
                given=(NEARLY_ORTHOGONAL,),
                at=(AGAINST_ONE_ANOTHER,),
                status=Status.FALSE,
            ),
            because="where γ is small, neurons that start inactive on an example of their own sign "
            "are kept from it by the others, and learn less of it for ever",
        ),
        Control(
            Universal(
                margins_are_equal_wherever_data_are, at=(ALONG_ONE_ANOTHER,), status=Status.FALSE
            ),
            because="an example along a shorter one has a larger margin for nothing",
        ),
        Control(
            Universal(
                stable_rank_tends_to_one,
                given=GIVEN,
                at=(CELLS[0],),
                status=Status.FALSE,
                name="broken_dynamics_stopped_early",
            ),
            because="after 5 steps the neurons of one sign have not yet forgotten their starts",
            simulate=setting.stopped_early,
        ),
    ),
    measures=(
        Quantiles(
            stable_rank_beyond_one,
            given=(NEARLY_ORTHOGONAL,),
            at=AT_P_OF_THREE,
            axis="stable rank − 1",
        ),
    ),
)
