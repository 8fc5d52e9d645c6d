"""The patterns that a report draws, from the theorems themselves."""

from dataclasses import replace

import numpy as np
import pytest

from properties.catalogue import find_theorem
from reports.runs.rasters import MOST_NEURONS, SHORT, last_flips, neurons_shown, rasters
from reports.runs.running import Result
from verify.engine.check import check


@pytest.fixture(scope="module")
def found():
    theorem = find_theorem("lai2026.theorem1")
    names = ["pattern_freezes_after_step_one", "frozen_at_a_small_step"]
    result = Result(theorem, check(theorem, claims=names), {})
    return result, rasters([result], 0)


def test_a_theorem_has_a_typical_and_a_worst_draw_and_its_latest_flipping_control(found):
    _, shown = found
    assert [raster["kind"] for raster in shown] == ["typical", "worst", "frozen_at_a_small_step"]
    assert shown[-1]["last_flip"] > SHORT


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
