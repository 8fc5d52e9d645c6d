"""The patterns that a report draws, from the theorems themselves."""

from dataclasses import replace

import numpy as np
import pytest

from properties.catalogue import find_theorem
from properties.vardi_shamir2021.theorem3 import features
from reports.runs.rasters import LONG, MOST_NEURONS, SHORT, last_flips, neurons_shown, rasters
from reports.runs.running import Result
from verify import Control, Margin, Point, Status, Theorem, Universal
from verify.engine.check import check
from verify.relu import Problem, descend
from verify.relu.dynamics import Activation, flow, leaky_descent


@pytest.fixture(scope="module")
def found():
    theorem = find_theorem("lai2026.theorem1")
    names = ["pattern_freezes_after_step_one", "frozen_at_a_small_step"]
    result = Result(theorem, check(theorem, claims=names), {})
    return result, rasters([result], 0)


def test_a_theorem_has_a_typical_and_a_worst_draw_and_its_latest_flipping_control(found):
    _, shown = found
    assert [raster["kind"] for raster in shown] == ["typical", "worst", "frozen_at_a_small_step"]
    assert shown[-1]["last_flip"] == shown[-1]["certified_last_flip"] > SHORT


def test_patterns_have_a_state_for_every_neuron_step_and_example(found):
    for raster in found[1]:
        patterns = np.asarray(raster["patterns"])
        assert patterns.shape[0] == len(raster["signs"]) == raster["neurons_in_all"] == 1
        assert patterns.shape[2] == len(raster["labels"])
        assert set(patterns.flat) <= {0, 1}
        steps = patterns.shape[1] - 1
        assert steps >= SHORT
        assert raster["last_flip"] <= steps
        changes = (patterns[:, 1:] != patterns[:, :-1]).any(axis=(0, 2)).nonzero()[0]
        assert raster["last_flip"] == (changes.max() + 1 if changes.size else 0)


def test_the_worst_draw_is_the_closest_instance_of_the_first_universal_claim(found):
    result, shown = found
    closest = result.verdicts["pattern_freezes_after_step_one"].closest
    assert shown[1]["point"] == closest.point
    patterns = np.asarray(shown[1]["patterns"])[0]
    assert (patterns[1:] == (np.asarray(shown[1]["labels"]) > 0)).all()


def test_one_typical_draw_for_each_law_and_number_of_neurons(found):
    result, _ = found
    first = Result(result.theorem, replace(result.verdicts, items=result.verdicts.items[:1]), {})
    kinds = [raster["kind"] for raster in rasters([first, first], 0)]
    assert kinds == ["typical", "worst", "worst"]


def test_theorems_that_claim_nothing_of_every_instance_have_no_draws():
    theorem = find_theorem("lai2026.gram_concentration")
    result = Result(theorem, check(theorem, claims=["off_diagonals_are_bounded"], trials=30), {})
    assert rasters([result], 0) == []


@pytest.mark.parametrize(
    ("name", "claims"),
    [
        ("vardi_shamir2021.theorem3", ()),
        ("vardi_shamir2021.theorem8_flow", ()),
        ("frei2023.proposition3", ()),
        ("between.road", ("what_the_flow_lets_go_bounds_its_gap",)),
        ("between.road", ("flow_is_always_at_the_minimum_norm",)),
    ],
)
def test_what_is_no_descent_of_a_relu_neuron_has_no_patterns(name, claims):
    theorem = find_theorem(name)
    result = Result(theorem, check(theorem, claims=claims or None, trials=50), {})
    assert [r for r in rasters([result], 0) if not claims or r["claim"] in claims] == []


def slow(step, *, trials=5):
    """Return the problem of Vardi and Shamir's theorem 3, γ = 1, with a larger step than theirs."""
    return Problem.from_features(
        np.tile(features(1.0), (trials, 1, 1)),
        np.array([16.0, 18.0, 0.0]),
        starting_predictions=np.zeros((1, 3)),
        step_size=step,
        slope_at_zero=1,
    )


def last_flip_is_early(trial):
    """The last flip comes by step 2."""
    last = trial.run.last_flip if hasattr(trial.run, "last_flip") else np.zeros(trial.trials)
    return Margin(last, 2.0)


def reference_is_positive(trial):
    """What is computed beside the run is positive."""
    return Margin(0.0, trial.reference("beside"))


def own(simulate, claim=last_flip_is_early, step=5e-4):
    """Return a user's own theorem on the fixture, with what it found."""
    theorem = Theorem(
        id="own",
        title="of a user",
        citation="none",
        status=Status.FOLKLORE,
        draw=lambda _point, _generator, trials: slow(step, trials=trials),
        simulate=simulate,
        references={"beside": lambda problem, _run: np.ones(problem.batch)},
        cells=(Point(n=3),),
        claims=(Universal(claim),),
        controls=(Control(Universal(last_flip_is_early, name="late"), because="of the fixture"),),
        block=5,
    )
    return rasters([Result(theorem, check(theorem, trials=5), {})], 0)


def test_descent_of_a_users_own_is_shown_and_its_last_flip_is_the_certified_one():
    typical, worst, control = own(descend)
    assert (typical["kind"], worst["kind"], control["kind"]) == ("typical", "worst", "late")
    assert typical["claim"] == worst["claim"] == "last_flip_is_early"
    certified = int(descend(slow(5e-4, trials=1)).last_flip[0])
    assert certified > LONG
    for raster in (typical, worst, control):
        assert raster["certified_last_flip"] == certified
        assert len(raster["patterns"][0]) == LONG + 1
        assert raster["last_flip"] <= 1


def test_what_is_not_certified_is_shown_as_far_as_it_went():
    for raster in own(lambda problem: descend(problem, 20)):
        assert raster["certified_last_flip"] is None
        assert len(raster["patterns"][0]) == 21


def changed(problem):
    """Descend, and turn the first pattern round."""
    run = descend(problem)
    return replace(run, pattern_after_first_step=~run.pattern_after_first_step)


@pytest.mark.parametrize(
    "simulate",
    [
        flow,
        lambda problem: leaky_descent(problem, Activation(0.1)),
        changed,
        lambda problem: [descend(problem)],
    ],
    ids=["flow", "leaky", "changed", "of another type"],
)
def test_other_runs_of_a_users_own_have_no_patterns(simulate):
    assert own(simulate) == []


def test_a_claim_that_does_not_look_at_the_run_shows_none():
    assert [raster["kind"] for raster in own(descend, reference_is_positive)] == ["late"]


def test_steps_of_a_changed_step_size_are_those_that_were_run():
    halved = own(lambda problem: descend(replace(problem, step_size=problem.step_size / 2)))
    assert halved[0]["certified_last_flip"] > own(descend)[0]["certified_last_flip"]


@pytest.mark.parametrize(
    ("signs", "shown"),
    [
        ([1], [0]),
        ([1, -1], [0, 1]),
        ([1, 1, 1, -1, -1, -1], [0, 1, 3, 4]),
        ([1, 1, 1, 1, 1, -1], [0, 1, 2, 5]),
        ([-1, -1, -1, -1, -1, 1], [0, 1, 2, 5]),
        ([1] * 9, [0, 1, 2, 3]),
    ],
)
def test_both_signs_are_among_the_neurons_shown(signs, shown):
    assert neurons_shown(signs, [0] * len(signs)) == shown
    assert len(shown) <= MOST_NEURONS


def test_the_neurons_that_change_latest_are_shown():
    assert neurons_shown([1, 1, 1, -1, -1, -1], [0, 7, 9, 3, 0, 5]) == [1, 2, 3, 5]


def test_neurons_have_a_last_flip_each():
    patterns = np.zeros((5, 3, 2), dtype=bool)
    patterns[2:, 1, 0] = True
    patterns[4, 2] = True
    assert last_flips(patterns) == [0, 2, 4]
    assert last_flips(patterns[:1]) == [0, 0, 0]
