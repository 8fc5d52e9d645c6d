"""Orthogonal inputs, both layers: the least norm, rivals, what claims look at, broken flows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from properties.boursier2022 import both_layers, growth, networks
from properties.catalogue import find_theorem
from verify import Margin, Point, Trial
from verify.engine.evaluate import scope_of
from verify.relu.dynamics.network import Network
from verify.verdict import IN_SCOPE, OUT_OF_SCOPE

SEED, TRIALS = 20261202, 12
THEOREM = find_theorem("boursier2022.both_layers")
PLAIN = both_layers.PLAIN
FITS, LEAST = "loss_vanishes", "norm_is_at_least_the_least"
ESTIMATE, NEAR = "excess_is_at_most_the_estimate", "norm_is_the_least_within_one_percent"
NEARER = "a_smaller_start_comes_nearer"

Change = Callable[[Any], Any]


@cache
def trial_at(point: Point) -> Trial:
    network = THEOREM.draw(point, np.random.default_rng(SEED), TRIALS)
    return Trial(THEOREM, point, network, TRIALS)


def changed(point: Point, what: str, change: Change) -> Trial:
    """Return the same batch with its run, or the flow from a smaller start, changed."""
    there = trial_at(point)
    run, smaller = there.run, there.reference("smaller")
    theorem = replace(
        THEOREM,
        references={"smaller": lambda _p, _r: change(smaller) if what == "smaller" else smaller},
    )
    simulated = change(run) if what == "run" else run
    return Trial(theorem, point, there.problem, TRIALS, simulate=lambda _p: simulated)


def margin(claim: str, trial: Trial) -> Margin:
    found: Margin = THEOREM.claim(claim).inequality(trial)
    return found


def with_norm(ratio: float) -> Change:
    """Let ½‖θ_∞‖² be so many times the least, by the output weight of the first neuron."""

    def change(run: Any) -> Any:
        least = growth.least_half_squared_norm(run.network)
        more = 2 * (ratio * least - run.half_squared_norm)
        weights = run.output_weights.copy()
        weights[:, 0] = np.sqrt(weights[:, 0] ** 2 + more)
        return replace(run, output_weights=weights)

    return change


def every(name: str, value: Any) -> Change:
    return lambda run: replace(run, **{name: np.full(TRIALS, value)})


def one(gram: Any, labels: Any, start: Any, outputs: Any) -> Network:
    return Network.from_gram(
        np.diag(gram), labels, starting_predictions=start, output_weights=outputs
    )


# The least norm, and how neurons grow.


def test_two_neurons_attain_the_least_norm_and_no_others_have_less() -> None:
    rng = np.random.default_rng(SEED)
    squares, labels = np.asarray([0.5, 2.0, 1.0, 0.3]), np.asarray([1.0, -0.5, 0.7, -1.0])
    attained = 0.0
    for sign in (1, -1):
        w = np.where(
            sign * labels > 0, np.abs(labels) / np.sqrt(squares), 0.0
        )  # times v: w·x = |y|
        attained += np.linalg.norm(w)  # ½(v² + ‖w/v‖²) at v² = ‖w‖
    network = one(squares, labels, np.zeros((2, 4)), [1, -1])
    assert growth.least_half_squared_norm(network)[0] == pytest.approx(attained, rel=1e-14)
    for _ in range(200):  # whatever six neurons compute is what they fit
        W, v = rng.normal(size=(6, 4)), rng.normal(size=6)
        fitted = v @ np.maximum(W * np.sqrt(squares), 0)
        least = growth.least_half_squared_norm(one(squares, fitted, np.zeros((1, 4)), [1]))[0]
        assert (np.sum(W**2) + v @ v) / 2 >= least * (1 - 1e-12)


def test_who_covers_its_class() -> None:
    start = [[1, -1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1], [1, 1, 1]]
    network = one([1, 1, 1], [1, -1, 1], start, [2.0, 2.0, -1.0, -1.0, -3.0])
    assert growth.covering(network)[0].tolist() == [True, False, True, False, True]
    only_positive = one([1, 1, 1], [1, 1, 1], start, [2.0, 2.0, -1.0, -1.0, -3.0])
    assert not growth.covering(only_positive)[0, 2:].any(), "there is nothing of theirs to cover"


def test_the_estimate_by_hand() -> None:
    """Two positive labels; a neuron that covers both, and one that misses the second."""
    start = 1e-3 * np.asarray([[3.0, 8.0], [3.0, -4.0]])
    network = one([1.0, 4.0], [1.0, 1.0], start, [1, 1]).balanced([1, 1])
    lengths = 1e-3 * np.asarray([5.0, 13**0.5])
    least, rate = (1 + 1 / 4) ** 0.5, 5**0.5
    first = (lengths[0] + 1e-3 * (3 + 8) / rate) / 2
    second = (lengths[1] + 1e-3 * 3) / 2
    rival = second**2 * (least / first**2) ** (1 / rate)
    expected = (rival + np.sum(lengths**2)) / least
    assert growth.estimated_excess(network)[0] == pytest.approx(expected, rel=1e-12)
    uncovered = one([1.0, 4.0], [1.0, 1.0], start[1:], [1]).balanced([1])
    assert np.isinf(growth.estimated_excess(uncovered)[0])
    assert THEOREM.describe(uncovered, 0)["estimated_excess"] is None


def test_a_lone_rival_grows_at_the_rate_that_the_estimate_gives_it() -> None:
    """The excess falls with the start as ε^{2(1 − r_k/r)}."""
    start = np.asarray([[1.0, 1.0], [1.0, -1.0]])
    found = []
    for scale in (1e-4, 1e-6, 1e-8):
        network = one([1.0, 1.0], [1.0, 1.0], scale * start, [1, 1]).balanced([1, 1])
        run = networks.train(network)
        found.append(networks.excess_and_error(run)[0][0])
    slopes = np.diff(np.log(found)) / np.log(1e-2)
    assert slopes == pytest.approx(2 * (1 - 0.5**0.5), abs=0.01)


def test_how_small_a_start_is_by_hand() -> None:
    """Least ‖θ‖² = 2·1 for one label of 1; two balanced neurons of length ‖w‖ have 4‖w‖²."""
    start = [[0.05], [0.05]]
    network = one([1.0], [1.0], start, [1, 1]).balanced([1, 1])
    assert growth.relative_start(network)[0] == pytest.approx((4 * 0.05**2 / 2) ** 0.5, rel=1e-14)
    scopes = []
    for factor in (1.4, 1.43):  # 0.1/√(2·.05²) is √2
        scaled = one([1.0], [1.0], factor * np.asarray(start), [1, 1]).balanced([1, 1])
        trial = Trial(THEOREM, PLAIN, scaled, 1)
        scopes.append(int(np.asarray(scope_of(THEOREM.claim(FITS), trial))[0]))
    assert scopes == [IN_SCOPE, OUT_OF_SCOPE]


def test_the_smaller_start_is_the_same_a_thousand_times_as_small() -> None:
    network = trial_at(PLAIN).problem
    outside = np.broadcast_to(1e-12 * np.eye(4), (TRIALS, 4, 4))
    started = networks.from_a_smaller_start(
        replace(network, perpendicular_gram=outside).balanced(np.sign(network.output_weights)),
        trial_at(PLAIN).run,
    ).network
    assert np.allclose(
        started.starting_predictions, 1e-3 * network.starting_predictions, rtol=1e-14
    )
    squares = started.squared_norms(np.zeros_like(started.starting_predictions))
    assert np.allclose(started.output_weights**2, squares, rtol=1e-12, atol=0), "balanced as well"
    assert np.allclose(started.perpendicular_gram, 1e-6 * outside, rtol=1e-14, atol=0)


# Claims can fail, and their bounds lie where they say.


@pytest.mark.parametrize(
    ("claim", "what", "change", "harmless"),
    [
        (FITS, "run", every("limit_loss", 1e-10), every("limit_loss", 1e-14)),
        (
            FITS,
            "run",
            lambda run: replace(run, residual=run.residual + 1e-5),
            lambda run: replace(run, residual=run.residual + 1e-8),
        ),
        (NEAR, "run", with_norm(1.0101), with_norm(1.0099)),
        (ESTIMATE, "run", with_norm(2.0), with_norm(1 + 1e-7)),
    ],
)
def test_a_claim_breaks_beyond_its_bound_and_not_before(
    claim: str, what: str, change: Change, harmless: Change
) -> None:
    assert margin(claim, changed(PLAIN, what, change)).violated.all()
    assert margin(claim, changed(PLAIN, what, harmless)).holds.all()


def test_less_than_the_least_norm_is_a_violation() -> None:
    shrunk = changed(
        PLAIN, "run", lambda run: replace(run, output_weights=0.9 * run.output_weights)
    )
    assert margin(LEAST, trial_at(PLAIN)).holds.all()
    assert margin(LEAST, shrunk).violated.all()
    near = margin(NEAR, shrunk)
    assert near.violated.all(), "within one percent on either side"


def test_a_smaller_start_that_ends_further_away_is_a_violation() -> None:
    point = PLAIN.moved(start_scale=1e-2)
    assert margin(NEARER, trial_at(point)).holds.all()
    assert margin(NEARER, changed(point, "smaller", with_norm(1.5))).violated.all()
    unknown = margin(NEARER, changed(point, "smaller", every("status", "undecided")))
    assert not (unknown.holds | unknown.violated).any()


@pytest.mark.parametrize("claim", [FITS, LEAST, ESTIMATE, NEAR])
def test_a_flow_without_a_certificate_decides_nothing(claim: str) -> None:
    def undecided(run: Any) -> Any:
        return replace(
            run,
            status=np.full(TRIALS, "undecided"),
            limit_loss=np.full(TRIALS, np.nan),
            distance_to_limit=np.full(TRIALS, np.inf),
        )

    found = margin(claim, changed(PLAIN, "run", undecided))
    assert not (found.holds | found.violated).any()
    unmeasured = both_layers.excess_of_the_norm(changed(PLAIN, "run", undecided))
    assert np.isnan(unmeasured).all()


def test_an_excess_below_the_error_of_the_run_is_told_as_that_error() -> None:
    """Nothing that fits orthogonal inputs has less than the least norm: below 0 is rounding."""
    trial = changed(PLAIN, "run", with_norm(1 - 1e-9))
    _excess, error = networks.excess_and_error(trial.run)
    measured = both_layers.excess_of_the_norm(trial)
    np.testing.assert_array_equal(measured, error)
    assert (measured > 0).all()
    more = both_layers.excess_of_the_norm(changed(PLAIN, "run", with_norm(1.5)))
    np.testing.assert_allclose(more, 0.5)


# Scope.


@pytest.mark.parametrize(
    ("claim", "point"),
    [
        (FITS, PLAIN.moved(correlation=1e-6)),
        (FITS, PLAIN.moved(imbalance=1.01)),
        (FITS, PLAIN.moved(start_scale=1.0)),
        (NEAR, PLAIN.moved(start_scale=0.2)),
    ],
)
def test_what_is_not_assumed_is_out_of_scope(claim: str, point: Point) -> None:
    assert (np.asarray(scope_of(THEOREM.claim(claim), trial_at(point))) == OUT_OF_SCOPE).all()


def test_starts_that_chance_makes_are_in_scope_where_they_cover() -> None:
    trial = trial_at(Point(n=2, m=6, covering="chance"))
    found = np.asarray(scope_of(THEOREM.claim(FITS), trial))
    covers, network = growth.covering(trial.problem), trial.problem
    by_hand = []
    for b in range(TRIALS):
        signs = {np.sign(y) for y in network.labels[b]}
        held = {np.sign(v) for v, c in zip(network.output_weights[b], covers[b], strict=True) if c}
        by_hand.append(signs <= held)
    assert (found == np.where(by_hand, IN_SCOPE, OUT_OF_SCOPE)).all()
    assert 2 <= np.sum(by_hand) <= TRIALS - 2


def test_all_starts_of_a_cell_are_covered_balanced_and_small() -> None:
    for point in THEOREM.cells:
        found = np.asarray(scope_of(THEOREM.claim(FITS), trial_at(point)))
        assert (found == IN_SCOPE).all()


# Broken flows.


def test_output_weights_that_move_twice_as_fast_are_what_plain_steps_give() -> None:
    network = trial_at(PLAIN.moved(start_scale=0.1)).problem.select(np.arange(2))
    run = networks.moves_output_weights_twice_as_fast(network)
    assert run.certified.all()
    for b in range(2):
        G, y, eta = network.gram[b], network.labels[b], 2e-3
        duals, v = network.starting_duals[b].copy(), network.output_weights[b].copy()
        for _ in range(40_000):
            beta = duals @ G
            active = np.maximum(beta, 0)
            r = v @ active - y
            duals, v = (
                duals - eta * v[:, None] * (beta > 0) * r,
                v - 2 * eta * (active @ r),
            )
        assert np.abs(v - run.output_weights[b]).max() < 5e-3
        norm = (np.sum(duals * (duals @ G)) + v @ v) / 2
        assert norm == pytest.approx(run.half_squared_norm[b], rel=5e-3)


def test_a_leak_is_felt_and_what_the_control_says_is_so() -> None:
    doubled = networks.moves_output_weights_twice_as_fast(trial_at(both_layers.SMALLEST).problem)
    excess, _error = networks.excess_and_error(doubled)
    assert excess == pytest.approx(1.5 / 2**0.5 - 1, abs=1e-4)
    leaking = networks.leaks_through_inactive_examples(trial_at(both_layers.SMALLEST).problem)
    assert leaking.certified.all()
    assert (np.abs(networks.excess_and_error(leaking)[0]) > 0.01).sum() >= 3
