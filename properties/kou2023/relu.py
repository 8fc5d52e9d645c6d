"""Kou, Chen and Gu (NeurIPS 2023), ReLU: the stable rank stays bounded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from properties.frei2023 import networks
from properties.frei2023.networks import draw_networks, own_sides
from properties.kou2023 import setting
from properties.kou2023.setting import (
    NEARLY_ORTHOGONAL,
    known_only,
    margins_become_equal,
    ranks,
)
from verify.claims import Assumption, Control, Probable, Status, Universal
from verify.margin import Margin
from verify.measures import Quantiles
from verify.relu.dynamics.logistic import DirectionRun, flow_logistic
from verify.relu.dynamics.margin import near_orthogonality
from verify.relu.dynamics.network import Network
from verify.space import Axis, Point
from verify.theorem import Theorem
from verify.trial import Trial

Host = np.ndarray[Any, Any]

BOUND = 2.5
"""The constant that bounds stable ranks: ours, the paper's is not read."""

GIVEN_UP = 240
"""Steps after which a flow is left undecided: certified ones of these cells take 60 to 160."""

_APART = 1e-6
"""By how much a stable rank is more than one."""

_AGAIN = 6
"""How often networks that do not cover their examples are drawn again."""

_SEEN = 1e-9
"""Predictions above this multiple of ‖W‖ are on the active side of a kink, not held there."""


DEFAULTS: Mapping[str, Any] = {**networks.DEFAULTS, "leak": 0.0, "m": 8, "positives": 0.8}


def draw(point: Point, generator: np.random.Generator, trials: int) -> Network:
    """Draw networks on i.i.d. data; again, up to six times, where an example is not covered."""
    at = Point(**{**DEFAULTS, **point})
    network = draw_networks(at, generator, trials)
    for _ in range(_AGAIN):
        network = _where(
            covered(network).all(axis=-1), network, draw_networks(at, generator, trials)
        )
    return network


def _where(keep: Any, network: Network, other: Network) -> Network:
    """Return the networks where `keep`, (B,), is set, the others elsewhere."""

    def chosen(name: str) -> Host:
        mine, theirs = getattr(network, name), getattr(other, name)
        return np.asarray(np.where(keep.reshape(-1, *[1] * (mine.ndim - 1)), mine, theirs))

    return Network.from_gram(
        chosen("gram"),
        chosen("labels"),
        starting_predictions=chosen("starting_predictions"),
        output_weights=chosen("output_weights"),
        activation=network.activation,
    )


def covered(network: Network) -> Host:
    """Return where an active neuron of an example's own sign is there at the start, (B, n)."""
    return np.asarray((own_sides(network) & (network.starting_predictions > 0)).any(axis=1))


def train(network: Network) -> DirectionRun:
    """Follow the rescaled gradient flow of the logistic loss until its direction is certain."""
    return flow_logistic(network, GIVEN_UP)


# Assumptions and claims.


def every_example_is_covered(trial: Trial) -> Margin:
    """At the start every example has an active neuron of its own output sign."""
    missing = (~covered(trial.problem)).sum(axis=-1)
    return Margin(missing, 0.0, trial.problem.examples)


COVERED = Assumption(every_example_is_covered, Status.DERIVED, axes=("m",))
GIVEN = (NEARLY_ORTHOGONAL, COVERED)


def stable_rank_is_bounded(trial: Trial) -> Margin:
    """The weights of either output sign have a stable rank ‖W‖²/‖W‖₂² of at most 2.5 in the limit:
    with probability at least .9 ("of either sign", constant and probability are ours)."""
    return known_only(Margin(ranks(trial.run)[0], BOUND, BOUND, 1e-9), trial)


def stable_rank_is_bounded_by_participation(trial: Trial) -> Margin:
    """The stable rank of either sign's m_s neurons is at most u(1 + ε)/(1 − ε)·(1 + (n_o/n_s)uε²Λ²)
    in the limit, u = m_s/a with a the least number of them that are active on one of the n_s
    examples of their sign, n_o the number of the others, ε = 1/(pR²) and Λ = max λ/min λ of the
    multipliers: with probability at least .9 that the limit is certain."""
    run: DirectionRun = trial.run
    limits, bounds = ranks_and_bounds(run)
    known = setting.certified(trial)
    value = np.where(known[:, None], limits / bounds, 0.0)
    return known_only(Margin(np.fmax.reduce(value, axis=-1), 1.0, rounding=1e-9), trial)


def ranks_and_bounds(run: DirectionRun) -> tuple[Host, Host]:
    """Return stable ranks of the limit and the bounds of theory §9, (B, 2), for either sign; NaN
    for a sign without weights."""
    network = run.network
    near = near_orthogonality(network.gram)
    small = (1 / (near.p * near.spread))[:, None]
    norm = networks.norms(network, np.nan_to_num(run.duals))
    active = run.duals @ network.gram > _SEEN * norm[:, None, None]
    most, least = run.multipliers.max(axis=-1), run.multipliers.min(axis=-1)
    span = np.where(least > 0, most / np.where(least > 0, least, 1.0), np.inf)
    limits, bounds = [], []
    for sign in (1, -1):
        mine = sign * network.output_weights > 0
        own = sign * network.labels > 0
        taking_part = np.where(own, (active & mine[:, :, None]).sum(axis=1), network.neurons)
        share = mine.sum(axis=-1) / np.maximum(taking_part.min(axis=-1), 1)
        crowd = (~own).sum(axis=-1) / np.maximum(own.sum(axis=-1), 1)
        some = (crowd > 0) & (share > 0) & (small[:, 0] > 0)
        held = 1 + np.where(some, crowd * share * (small[:, 0] * np.where(some, span, 0.0)) ** 2, 0)
        bounds.append(share * (1 + small[:, 0]) / (1 - small[:, 0]) * held)
        limits.append(run.limit_stable_rank(sign))
    return np.stack(limits, axis=-1), np.stack(bounds, axis=-1)


# Measures.


def stable_rank_of_the_limit(trial: Trial) -> Host:
    """The larger of both signs' stable ranks in the limit."""
    return np.where(setting.certified(trial), ranks(trial.run)[0], np.nan)


def stable_rank_over_its_bound(trial: Trial) -> Host:
    """The stable rank over what participation allows, the larger of both signs'."""
    limits, bounds = ranks_and_bounds(trial.run)
    return np.where(setting.certified(trial), np.fmax.reduce(limits / bounds, axis=-1), np.nan)


# False statements, for the controls.


def stable_rank_is_one(trial: Trial) -> Margin:
    """The weights of either output sign tend to stable rank one, as with a leaky ReLU."""
    return known_only(Margin(ranks(trial.run)[0] - 1, _APART), trial)


CELLS = (Point(n=3, aspect=300), Point(n=5, aspect=300))

theorem = Theorem(
    id="kou2023.relu",
    title="Logistic loss, ReLU, nearly orthogonal data: bounded stable rank, equal margins",
    citation=f"{setting.CITATION}.",
    status=Status.SUMMARY,
    statement=(
        "Gradient descent on the logistic loss, first layer trained, on nearly orthogonal data: "
        "with a ReLU the stable rank of the weights is bounded by a constant, and all examples "
        "have the same normalised margin in the limit."
    ),
    method=(
        "The stable rank is that of the weights of either output sign, as we read the abstract. "
        "Followed is the gradient flow in rescaled time, since descent chatters at the kinks and "
        "its limit cannot be certified. A run counts where its limit direction, a KKT point of "
        "the margin problem, is certified; it is undecided elsewhere, and counts as a failure in "
        "the lower bounds. Data and starts that leave an example uncovered are drawn again."
    ),
    symbols=networks.SYMBOLS,
    defaults=DEFAULTS,
    axes=(
        Axis("n", 2, 6, "integer", meaning="examples"),
        Axis("m", 4, 10, "integer", simplest=8, meaning="neurons, with output weights in turn"),
        Axis("aspect", 1e2, 1e6, "log", simplest=1e3, meaning="d/n²"),
        networks.START_SCALE,
    ),
    wide_axes=(
        Axis("n", 1, 10, "integer", inside=(2, 6), meaning="examples"),
        Axis("m", 1, 16, "integer", simplest=8, inside=(4, 10), meaning="neurons"),
        Axis("aspect", 0.5, 1e8, "log", simplest=1e3, inside=(1e2, 1e6), meaning="d/n²"),
        Axis("d", 16, 1e10, "log", instead_of="aspect", meaning="features"),
        Axis("lengths", 1.0, 5.0, inside=(1.0, 2.0), meaning="largest factor of a length"),
        Axis("start_scale", 1e-6, 10.0, "log", inside=(1e-4, 1e-1), meaning="size of the start"),
    ),
    hypotheses=GIVEN,
    cells=CELLS,
    draw=draw,
    block=200,
    simulate=train,
    describe=setting.describe,
    claims=(
        Probable(stable_rank_is_bounded, given=GIVEN, probability=0.9),
        Probable(
            stable_rank_is_bounded_by_participation,
            given=GIVEN,
            probability=0.9,
            status=Status.DERIVED,
        ),
        Probable(margins_become_equal, given=GIVEN, probability=0.9),
    ),
    controls=(
        Control(
            Universal(stable_rank_is_one, given=GIVEN, at=CELLS[1:], status=Status.FALSE),
            because="neurons that were not active on an example at the start need not learn it",
        ),
        Control(
            Universal(
                margins_become_equal,
                given=GIVEN,
                at=CELLS[1:],
                status=Status.FALSE,
                name="broken_dynamics_stopped_early",
            ),
            because="after 5 steps the examples that more neurons see are further ahead",
            simulate=setting.stopped_early,
        ),
    ),
    measures=(
        Quantiles(stable_rank_of_the_limit, given=GIVEN, levels=(0.05, 0.5, 0.95)),
        Quantiles(stable_rank_over_its_bound, given=GIVEN, status=Status.DERIVED),
    ),
)
