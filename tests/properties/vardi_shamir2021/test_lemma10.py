"""Lemma 10 of Vardi and Shamir: what its claims look at, and that they can fail."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from properties.catalogue import find_theorem
from properties.vardi_shamir2021 import lemma10
from properties.vardi_shamir2021.lemma10 import CELLS, CONSERVED, SPEEDS, Trained
from verify import Point, Trial, check
from verify.relu.dynamics.two_layers import descend_both_layers, flow_both_layers

TRIALS = 12
THEOREM = find_theorem("vardi_shamir2021.lemma10")


@cache
def trial_at(point: Point) -> Trial:
    problem = THEOREM.draw(point, np.random.default_rng(11), TRIALS)
    return Trial(THEOREM, point, problem, TRIALS)


def margin(claim: str, trial: Trial) -> Any:
    return THEOREM.claim(claim).inequality(trial)


def with_run(trial: Trial, run: Trained) -> Trial:
    return Trial(THEOREM, trial.point, trial.problem, TRIALS, simulate=lambda _problem: run)


@pytest.mark.parametrize("point", CELLS)
def test_the_claims_hold_and_the_integration_is_far_more_exact_than_they_ask(point: Point) -> None:
    trial = trial_at(point)
    for claim in ("balance_is_conserved", "a_step_changes_it_by_eta_squared"):
        assert margin(claim, trial).holds.all()
    run = trial.run
    assert run.drift.shape == (2, TRIALS)
    assert (run.drift.max(axis=0) / run.size).max() < CONSERVED / 100
    assert run.arrived.all()
    assert run.finite.all()


@pytest.mark.parametrize("time", [0, 1])
def test_a_drift_at_any_of_the_times_seen_violates(time: int) -> None:
    trial = trial_at(CELLS[0])
    for share, holds in ((0.99, True), (1.01, False)):
        drift = np.zeros_like(trial.run.drift)
        drift[time] = share * CONSERVED * trial.run.size
        found = margin("balance_is_conserved", with_run(trial, replace(trial.run, drift=drift)))
        assert (found.holds if holds else found.violated).all()


@pytest.mark.parametrize("mistake", ["stands still", "forgets an example", "climbs"])
def test_a_flow_that_does_not_learn_keeps_the_balance_and_decides_nothing(
    mistake: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The balance is conserved by flows of other losses too, and by none at all: residuals are
    recomputed, so that this is noticed."""

    def wrong(outputs: Any, labels: Any) -> Any:
        if mistake == "climbs":
            return labels - outputs
        pull = outputs - labels
        return pull * 0 if mistake == "stands still" else pull * (np.arange(pull.shape[-1]) > 0)

    monkeypatch.setattr("verify.relu.dynamics.two_layers.residuals", wrong)
    problem = lemma10.draw(CELLS[1], np.random.default_rng(3), 3)
    steps = 40 if mistake == "climbs" else 4_000
    monkeypatch.setattr(
        lemma10,
        "flow_both_layers",
        lambda *given, **more: flow_both_layers(given[0], steps, **more),
    )
    found = margin("balance_is_conserved", Trial(THEOREM, CELLS[1], problem, 3))
    assert not (found.holds | found.violated).any()


def test_the_change_of_a_step_by_hand() -> None:
    """One example x = 1, y = 0, w = 2, v = 1, η = ¼: r = 2, v' = 1 − ½·2 = 0, w' = 2 − ½ = 3/2;
    v² − w² goes from −3 to −9/4, by η²((2·2)² − 1·2²) = ¾."""
    from properties.vardi_shamir2021.lemma10 import Jointly
    from verify.relu.dynamics.network import Network

    network = Network.from_features([[1.0]], [0.0], starting_weights=[[2.0]], output_weights=[1.0])
    one = Jointly(network, np.asarray([0.25]), 1)
    step = descend_both_layers(network, 0.25, 1)
    assert step.output_weights[0, 0] == pytest.approx(-0.0)
    assert step.imbalance[0, 0] == pytest.approx(-9 / 4)
    trial = Trial(THEOREM, None, one, 1)
    assert lemma10.a_step_changes_it_by_eta_squared(trial).holds.all()


def test_a_step_of_another_size_violates_the_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    trial = trial_at(CELLS[0])
    monkeypatch.setattr(
        lemma10,
        "descend_both_layers",
        lambda network, eta, *rest, **more: descend_both_layers(
            network, 1.001 * eta, *rest, **more
        ),
    )
    assert margin("a_step_changes_it_by_eta_squared", trial).violated.all()


def test_the_identity_holds_for_the_relu_too() -> None:
    trial = trial_at(Point(n=4, d=12, slope_below=0.0, labels="both"))
    assert margin("a_step_changes_it_by_eta_squared", trial).holds.all()
    dead = (trial.problem.network.starting_predictions <= 0).all(axis=(1, 2))
    assert (lemma10.something_is_learnt(trial).violated == dead).all()


def test_the_drift_of_descent_is_proportional_to_the_step() -> None:
    """Slope 1, over the same networks: doubling η doubles the drift, to the first order in η."""
    drifts = []
    for speed in SPEEDS[:3]:
        trial = trial_at(Point(n=4, d=12, slope_below=0.5, speed=speed, time=4.0))
        drifts.append(trial.reference("descent").drift[-1])
        assert lemma10.descent_does_not_diverge(trial).holds.all()
    np.testing.assert_allclose(np.divide(drifts[1:], drifts[:-1]), 2.0, rtol=0.05)


def test_the_slope_is_refuted_where_the_flow_is_taken_for_descent() -> None:
    """A drift of rounding alone, or none, has no slope 1."""
    flat = replace(
        THEOREM,
        references={
            **THEOREM.references,
            "descent": lambda problem, _run: replace(
                lemma10.descend(problem, None),
                drift=np.full((1, len(problem.step_size)), 1e-3),
            ),
        },
        origin=None,
    )
    verdict = check(flat, claims=["drift_of_descent_is_linear_in_the_step"], trials=50)[0]
    assert verdict.verdict != "supported"


def test_descent_that_diverges_is_out_of_scope() -> None:
    trial = trial_at(Point(n=4, d=12, slope_below=0.5, speed=40.0, time=4000.0))
    assert lemma10.descent_does_not_diverge(trial).violated.any()


def test_a_rate_of_its_own_for_the_outer_layer_breaks_the_balance() -> None:
    trial = trial_at(CELLS[0])
    broken = lemma10.outer_layer_at_twice_the_rate(trial.problem)
    assert np.median(broken.drift[-1] / broken.size) > 0.01
    assert margin("balance_is_conserved", with_run(trial, broken)).violated.all()


def test_what_is_said_of_a_problem_can_be_read_and_the_axes_can_be_drawn() -> None:
    facts = lemma10.describe(trial_at(CELLS[0]).problem, 2)
    assert facts["examples"] == 4
    assert np.shape(facts["gram"]) == (4, 4)
    for axis in THEOREM.wide_axes:
        for end in axis.choices or (axis.low, axis.high):
            value = round(float(end)) if axis.scale == "integer" else end
            point = Point(**{"n": 2, axis.name: value})
            assert THEOREM.draw(point, np.random.default_rng(0), 2).network.batch == 2
