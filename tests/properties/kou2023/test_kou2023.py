"""Kou, Chen and Gu: what their claims look at, what is undecided, the bound by participation."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from properties.catalogue import find_theorem
from properties.frei2023 import networks
from properties.kou2023 import relu, setting
from verify import Point, Trial
from verify.engine.evaluate import scope_of
from verify.relu.dynamics.activation import Activation
from verify.relu.dynamics.logistic import DirectionRun, descend_logistic, flow_logistic
from verify.relu.dynamics.network import Network
from verify.verdict import IN_SCOPE, OUT_OF_SCOPE

LEAKY, RELU = (find_theorem(f"kou2023.{name}") for name in ("leaky_relu", "relu"))
OF_LEAKY = Point(n=3, m=4, aspect=1e7, leak=0.2)
OF_RELU = Point(n=4, m=8, aspect=1e3)


@cache
def trial_of(name: str) -> Trial:
    theorem, point = (LEAKY, OF_LEAKY) if name == "leaky_relu" else (RELU, OF_RELU)
    return Trial(theorem, point, theorem.draw(point, np.random.default_rng(1), 8), 8)


def with_run(trial: Trial, theorem: Any, **changes: Any) -> Trial:
    run = replace(trial.run, **changes)
    return Trial(theorem, trial.point, trial.problem, trial.trials, simulate=lambda _p: run)


CASES = [(theorem, claim.id) for theorem in (LEAKY, RELU) for claim in theorem.claims]


@pytest.mark.parametrize(("theorem", "claim"), CASES, ids=[claim for _, claim in CASES])
def test_a_claim_holds_where_it_is_certified_and_says_nothing_elsewhere(
    theorem: Any, claim: str
) -> None:
    trial = trial_of(theorem.id.removeprefix("kou2023."))
    stated = theorem.claim(claim)
    assert (scope_of(stated, trial) == IN_SCOPE).all()
    assert (trial.run.status == "certified").all()
    assert stated.inequality(trial).holds.all()
    for status in ("converged", "undecided"):
        found = stated.inequality(with_run(trial, theorem, status=np.full(8, status)))
        assert not (found.holds | found.violated).any(), "never passed"


def test_the_leaky_limit_does_not_depend_on_the_start_or_on_who_follows_it() -> None:
    trial = trial_of("leaky_relu")
    network: Network = trial.problem
    flow = flow_logistic(network)
    assert (flow.status == "certified").all()
    assert networks.apart(network, flow.duals, trial.run.duals).max() < 1e-10
    moved = replace(network, starting_predictions=-5 * network.starting_predictions)
    again = descend_logistic(moved, networks.STEP)
    assert networks.apart(network, again.duals, trial.run.duals).max() < 1e-10


def test_at_p_of_three_neurons_of_one_sign_can_end_apart() -> None:
    """Three examples of label +1 and cosine −1/9: a neuron that starts inactive on the third is
    kept from it, w·x_3 = −2/9 + γ for w = x_1 + x_2 + γx_3, for ever if γ < 2/9."""
    cosine = -1 / 9.001
    gram = cosine + (1 - cosine) * np.eye(3)
    for leak, apart in ((0.1, True), (0.5, False)):
        network = Network.from_gram(
            gram,
            np.ones(3),
            starting_predictions=[[1e-3, 1e-3, 1e-3], [1e-3, 1e-3, -1e-3]],
            output_weights=[0.5, 0.5],
            activation=Activation(leak),
        )
        trial = Trial(LEAKY, None, network, 1)
        claim = LEAKY.claim("stable_rank_tends_to_one")
        assert scope_of(LEAKY.claim("stable_rank_at_p_of_three"), trial)[0] == IN_SCOPE
        assert scope_of(claim, trial)[0] == OUT_OF_SCOPE
        assert (trial.run.status == "certified").all()
        assert claim.inequality(trial).violated[0] == apart
        assert claim.inequality(trial).holds[0] != apart


def test_scope_of_the_leaky_claims_is_three_over_gamma_cubed() -> None:
    claim = LEAKY.claim("stable_rank_tends_to_one")
    for off, expected in ((0.999, IN_SCOPE), (1.001, OUT_OF_SCOPE)):
        cosine = off / (2 * 3 / 0.5**3)
        network = Network.from_gram(
            [[1.0, cosine], [cosine, 1.0]],
            np.ones(2),
            starting_predictions=np.ones((1, 2)),
            output_weights=[1.0],
            activation=Activation(0.5),
        )
        assert scope_of(claim, Trial(LEAKY, None, network, 1))[0] == expected


def test_stable_rank_is_violated_by_neurons_that_are_not_parallel() -> None:
    trial = trial_of("leaky_relu")
    claim = LEAKY.claim("stable_rank_tends_to_one").inequality
    bent = trial.run.duals.copy()
    bent[:, 0, 0] *= 1.01
    assert claim(with_run(trial, LEAKY, duals=bent)).violated.all(), "in the limit"


def test_trained_weights_further_from_rank_one_than_from_the_limit_violate() -> None:
    """Impossible for honest numbers: it is what a wrong distance would look like."""
    trial = trial_of("leaky_relu")
    claim = LEAKY.claim("stable_rank_tends_to_one").inequality
    lied = with_run(trial, LEAKY, duals=trial.problem.starting_duals + trial.run.change)
    assert claim(lied).violated.all()


def test_margins_are_violated_by_unequal_ones_in_the_limit_and_along_the_way() -> None:
    for name, theorem in (("leaky_relu", LEAKY), ("relu", RELU)):
        trial = trial_of(name)
        claim = theorem.claim("margins_become_equal").inequality
        factor = np.where(np.arange(trial.problem.examples) == 0, 1.001, 1.0)
        assert claim(with_run(trial, theorem, duals=factor * trial.run.duals)).violated.all()
        far = with_run(trial, theorem, change=np.zeros_like(trial.run.change))
        assert claim(far).violated.all(), "the start is not near the limit"
        predictions = np.where(factor > 1, 3.0, 1.0) * trial.run.predictions
        lied = with_run(trial, theorem, predictions=predictions)
        assert claim(lied).violated.all(), "outputs further apart than the distance allows"


def orthogonal_relu(active: np.ndarray[Any, Any], labels: Any = 1.0) -> DirectionRun:
    """Return the KKT point for orthogonal examples, neurons with |v| = 1/√m active as told, (m, n),
    on examples of the label of each alone: λ_i = m/c_i, c_i neurons of which see example i."""
    m, n = active.shape
    labels = np.broadcast_to(labels, n).astype(float)
    outputs = np.sign((active * labels).sum(axis=-1)) * m**-0.5
    network = Network.from_gram(
        np.eye(n),
        labels,
        starting_predictions=np.where(active, 1e-3, -1e-3),
        output_weights=outputs,
        activation=Activation(0.0),
    )
    multipliers = m / active.sum(axis=0)
    duals = m**-0.5 * active * multipliers
    return DirectionRun(
        network=network,
        status=np.asarray(["certified"]),
        change=np.zeros((1, m, n)),
        predictions=duals[None],
        time=np.ones(1),
        steps=np.ones(1, dtype=int),
        duals=duals[None],
        multipliers=multipliers[None],
        kkt=np.zeros(1),
        distance=np.zeros(1),
    )


def test_the_bound_by_participation_by_hand() -> None:
    """Each of three neurons alone on one example: rank 3, and m/a = 3. All on all: 1, and 1."""
    for active, rank in ((np.eye(3, dtype=bool), 3.0), (np.ones((3, 3), dtype=bool), 1.0)):
        limits, bounds = relu.ranks_and_bounds(orthogonal_relu(active))
        np.testing.assert_allclose([limits[0, 0], bounds[0, 0]], [rank, rank])


def test_participation_counts_the_examples_of_the_own_sign() -> None:
    """Three neurons see both examples of label 1, one sees that of label −1."""
    active = np.asarray([[1, 1, 0], [1, 1, 0], [1, 1, 0], [0, 0, 1]], dtype=bool)
    limits, bounds = relu.ranks_and_bounds(orthogonal_relu(active, [1, 1, -1]))
    np.testing.assert_allclose(limits, [[1, 1]])
    np.testing.assert_allclose(bounds, [[1, 1]])


def test_without_a_multiplier_the_bound_says_nothing() -> None:
    """Where the examples of the other sign are not orthogonal and one λ is 0, Λ is infinite."""
    run = orthogonal_relu(np.eye(2, dtype=bool), [1, -1])
    near = run.network.gram + 0.01 * (1 - np.eye(2))
    run = replace(
        run,
        network=replace(run.network, gram=near),
        multipliers=np.asarray([[2.0, 0.0]]),
    )
    _, bounds = relu.ranks_and_bounds(run)
    assert np.isinf(bounds).all()


def test_a_sign_without_neurons_has_no_bound_to_exceed() -> None:
    trial = Trial(RELU, None, RELU.draw(Point(n=2, m=1), np.random.default_rng(0), 8), 8)
    for claim in RELU.claims:
        assert not claim.inequality(trial).violated.any(), claim.id


def test_a_stable_rank_beyond_its_bounds_violates() -> None:
    def found(claim: str, run: DirectionRun) -> Any:
        trial = Trial(RELU, None, run.network, 1, simulate=lambda _network: run)
        return RELU.claim(claim).inequality(trial)

    constant, shared = "stable_rank_is_bounded", "stable_rank_is_bounded_by_participation"
    assert found(constant, orthogonal_relu(np.eye(2, dtype=bool))).holds.all(), "rank 2"
    alone = orthogonal_relu(np.eye(3, dtype=bool))
    assert found(constant, alone).violated.all(), "rank 3"
    # All are active on all examples, but each learns one of its own: no KKT point is like that.
    seen = replace(alone, duals=alone.duals + 0.01)
    assert found(shared, seen).violated.all()


def test_relu_networks_are_drawn_until_they_cover_their_examples() -> None:
    network = relu.draw(Point(n=5, m=6, aspect=300), np.random.default_rng(0), 100)
    once = networks.draw_networks(
        Point(**{**relu.DEFAULTS, "n": 5, "m": 6, "aspect": 300}), np.random.default_rng(0), 100
    )
    all_covered = relu.covered(network).all(axis=-1)
    kept = relu.covered(once).all(axis=-1)
    assert 20 < kept.sum() < 80
    assert all_covered.sum() > 95
    np.testing.assert_array_equal(network.gram[kept], once.gram[kept])
    bare = Trial(RELU, None, once, 100)
    scopes = scope_of(RELU.claims[0], bare)
    assert (scopes[~kept] == OUT_OF_SCOPE).all()


def test_stopped_early_it_says_that_it_is_certain() -> None:
    network = trial_of("leaky_relu").problem
    run = setting.stopped_early(network)
    assert (run.status == "certified").all()
    assert (run.steps <= setting.EARLY).all()


@pytest.mark.parametrize("name", ["leaky_relu", "relu"])
def test_what_is_said_of_a_problem_can_be_read(name: str) -> None:
    trial = trial_of(name)
    theorem = LEAKY if name == "leaky_relu" else RELU
    facts = theorem.describe(trial.problem, 2)
    assert facts["p"] > 3
    assert facts["leak"] == (0.2 if name == "leaky_relu" else 0.0)
