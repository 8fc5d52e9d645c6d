"""Theorem 8 of Vardi and Shamir for the flow: what its claims look at, and what lies outside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from properties.catalogue import find_theorem
from properties.vardi_shamir2021 import setting, theorem8_flow
from properties.vardi_shamir2021.theorem8_flow import CELLS, NEGATIVE, Followed
from verify import Point, Trial
from verify.engine.evaluate import scope_of
from verify.relu.approach import approach
from verify.relu.dynamics.flow import flow
from verify.relu.nearest_minimum import nearest_minimum
from verify.verdict import IN_SCOPE, OUT_OF_SCOPE

SEED = 20261201
TRIALS = 12

THEOREM = find_theorem("vardi_shamir2021.theorem8_flow")
DOUBLES, AWAY = "flow_at_most_doubles_the_distance", "flow_never_leads_away"


@cache
def trial_at(point: Point) -> Trial:
    problem = THEOREM.draw(point, np.random.default_rng(SEED), TRIALS)
    return Trial(THEOREM, point, problem, TRIALS)


def changed(trial: Trial, change: Callable[[Followed], Followed]) -> Trial:
    run = change(trial.run)
    return Trial(THEOREM, trial.point, trial.problem, TRIALS, simulate=lambda _problem: run)


def margin(claim: str, trial: Trial) -> Any:
    return THEOREM.claim(claim).inequality(trial)


def test_the_path_is_looked_at_between_all_events_and_is_the_flow() -> None:
    """Differences in the first regimes are −r on the active examples."""
    trial = trial_at(CELLS[1])
    run, seen = flow(trial.problem), 0
    for b, path in enumerate(run.paths):
        changes, times = trial.run.changes[b], path.times(theorem8_flow.PER_REGIME)
        if not path.regimes[0].rates.any():
            continue  # nothing moves
        seen += 1
        still = sum(not regime.rates.any() for regime in path.regimes)
        moving = theorem8_flow.PER_REGIME * (len(path.regimes) - still)
        assert len(changes) == moving + still + 1
        np.testing.assert_array_equal(changes[0], 0.0)
        predictions = trial.problem.starting_predictions[b, 0] + changes @ trial.problem.gram[b]
        pull = np.where(predictions > 0, predictions - trial.problem.labels[b], 0.0)
        for early in range(theorem8_flow.PER_REGIME - 2):
            step = times[early + 1] - times[early]
            mean = (pull[early] + pull[early + 1]) / 2
            bend = step * np.abs(pull[early + 1] - pull[early]).max()
            moved = changes[early + 1] - changes[early]
            if ((predictions[early] > 0) == (predictions[early + 1] > 0)).all():
                np.testing.assert_allclose(moved, -step * mean, atol=bend + 1e-12)
    assert seen >= 8


def ending_at(factor: float, trial: Trial) -> Callable[[Followed], Followed]:
    """Let every path end at so many times w̃'s change."""
    best = trial.reference("nearest").change

    def change(run: Followed) -> Followed:
        ends = (np.concatenate([c, factor * best[b][None]]) for b, c in enumerate(run.changes))
        return replace(run, changes=tuple(ends))

    return change


def uncertain(run: Followed) -> Followed:
    return replace(run, certified=np.zeros(TRIALS, dtype=bool))


@pytest.mark.parametrize("point", [*CELLS, *NEGATIVE])
def test_every_claim_holds_wherever_it_is_in_scope(point: Point) -> None:
    trial = trial_at(point)
    assert trial.run.certified.all(), trial.run.why
    for claim in THEOREM.claims:
        if point in (claim.at or CELLS):
            inside = scope_of(claim, trial) == IN_SCOPE
            assert inside.sum() >= 4, claim.id
            assert claim.inequality(trial).holds[inside].all(), claim.id


@pytest.mark.parametrize(
    ("claim", "factor", "holds"),
    [(DOUBLES, 2 - 1e-6, True), (DOUBLES, 2 + 1e-6, False), (AWAY, 2.0, False), (AWAY, 0.0, False)],
)
def test_the_claims_end_where_they_say(claim: str, factor: float, holds: bool) -> None:
    trial = trial_at(CELLS[0])
    found = margin(claim, changed(trial, ending_at(factor, trial)))
    assert (found.holds if holds else found.violated).all()


def test_a_flow_without_a_limit_decides_nothing_but_a_violation_on_its_way_counts() -> None:
    trial = trial_at(CELLS[0])
    cut = changed(trial, uncertain)
    for claim in (DOUBLES, AWAY, "flow_ends_at_the_nearest"):
        found = margin(claim, cut)
        assert not (found.holds | found.violated).any()
    away = changed(trial, lambda run: uncertain(ending_at(0.0, trial)(run)))
    assert margin(AWAY, away).violated.all()
    assert not margin(DOUBLES, away).violated.any()


def test_an_error_of_the_path_larger_than_the_increase_decides_nothing() -> None:
    trial = trial_at(CELLS[0])
    bad = changed(trial, lambda run: replace(ending_at(0.0, trial)(run), error=np.ones(TRIALS)))
    found = margin(AWAY, bad)
    assert not (found.holds | found.violated).any()


def test_what_is_out_of_scope() -> None:
    negative = trial_at(NEGATIVE[0])
    assert (negative.problem.labels < 0).any(axis=-1).all()
    for claim in (DOUBLES, AWAY):
        assert (scope_of(THEOREM.claim(claim), negative) == OUT_OF_SCOPE).all(), "not met"
    missed = changed(
        trial_at(CELLS[0]), lambda run: replace(run, changes=tuple(0 * c for c in run.changes))
    )
    fitted = theorem8_flow.flow_fits_the_data(missed)
    assert (fitted.violated | (missed.problem.labels == 0).all(axis=-1)).all()
    assert theorem8_flow.flow_fits_the_data(trial_at(CELLS[0])).holds.all()
    assert theorem8_flow.flow_comes_to_rest(changed(trial_at(CELLS[0]), uncertain)).violated.all()


def test_with_negative_labels_it_is_steps_that_lead_away_not_the_flow() -> None:
    """theory §8: of gradient descent the ratio is about 3.4 at 1 positive and 39 negatives; the
    flow of the same kind of data never leads away."""
    trial = trial_at(NEGATIVE[0])
    stepped = approach(nearest_minimum(trial.problem), 500)
    assert (stepped.first_increase > 0).sum() >= 3
    assert margin(AWAY, trial).holds.all()


def test_with_inertia_the_path_goes_beyond_the_minimum_and_still_comes_to_rest_near_zero_loss() -> (
    None
):
    trial = trial_at(Point(n=4, d=12, positives=1.0))
    broken = theorem8_flow.with_inertia(trial.problem)
    last = np.stack([changes[-1] for changes in broken.changes])
    predictions = np.einsum("bij,bj->bi", trial.problem.gram, last)
    assert np.median(np.abs(predictions - trial.problem.labels).max(axis=-1)) < 0.1
    assert margin(AWAY, changed(trial, lambda _run: broken)).violated.all()


def test_the_axes_can_be_drawn_and_none_is_about_steps() -> None:
    names = {axis.name for axis in THEOREM.wide_axes} | set(THEOREM.defaults)
    assert not names & {"speed", "c"}
    for axis in THEOREM.axes:
        for end in axis.choices or (axis.low, axis.high):
            value = round(float(end)) if axis.scale == "integer" else end
            point = Point(**{"n": 2, "d_over_n": 5.0, axis.name: value})
            assert THEOREM.draw(point, np.random.default_rng(0), 2).slope_at_zero == 1
    assert "labels" in setting.describe(trial_at(CELLS[0]).problem, 0)
