"""What captions of patterns say: nothing of steps that are neither shown nor certified."""

from __future__ import annotations

import pytest

from reports.html.captions import pattern_raster
from tests.reports.sample import report

FROZEN = [[[1, 1, 1, 1], *[[1, 0, 1, 0]] * 4]]
FLIPPING = [[*FROZEN[0], [0, 1, 1, 0], [0, 1, 1, 0]]]
OTHER = [[[1, 1, 1, 1], *[[1, 1, 1, 0]] * 4]]
PAIR = [FROZEN[0], [[1, 1, 1, 1], *[[0, 1, 0, 1]] * 4]]
NONE_CERTIFIED = "; what comes later is not certified."


def seen(patterns, certified, **changes):
    raster = {**report()["rasters"][0], "patterns": patterns, "signs": [1, -1][: len(patterns)]}
    return pattern_raster({**raster, "certified_last_flip": certified, **changes})[0]


@pytest.mark.parametrize(
    ("patterns", "certified", "told"),
    [
        (FROZEN, 1, "From step 1 on the active examples are those of positive label; nothing "
         "changes."),
        (FROZEN, None, "In the first 4 steps the active examples are those of positive label from "
         f"step 1 on{NONE_CERTIFIED}"),
        (FROZEN, 16965, "The pattern goes on changing after the 4 steps shown, last at step "
         "16\N{NARROW NO-BREAK SPACE}965."),
        (OTHER, 1, "The pattern does not change after step 1, but it is not that of positive "
         "labels."),
        (OTHER, None, "In the first 4 steps the pattern does not change after step 1, but it is "
         f"not that of positive labels{NONE_CERTIFIED}"),
        (FLIPPING, 5, "The pattern goes on changing after step 1, last at step 5; of positive "
         "label but inactive at the end: 1."),
        (FLIPPING, None, "In the first 6 steps the pattern goes on changing after step 1, last at "
         f"step 5; of positive label but inactive then: 1{NONE_CERTIFIED}"),
        (FLIPPING, 7, "The pattern goes on changing after the 6 steps shown, last at step 7."),
        (PAIR, 1, "No pattern changes after step 1; at the end 2 of 2 neurons shown are active on "
         "just the examples whose label has the sign of their output."),
        (PAIR, None, "In the first 4 steps no pattern changes after step 1; then 2 of 2 neurons "
         "shown are active on just the examples whose label has the sign of their output"
         f"{NONE_CERTIFIED}"),
        (PAIR, 900, "Patterns go on changing after the 4 steps shown, last at step 900."),
    ],
)  # fmt: skip
def test_what_is_seen_is_certified_or_said_to_be_shown(patterns, certified, told):
    assert seen(patterns, certified) == told


def test_patterns_of_neurons_that_are_not_shown_count():
    told = seen(PAIR, 3, neurons_in_all=16)
    assert told.startswith("Patterns go on changing, last at step 3, of neurons that are not shown")


def test_a_report_from_before_promises_nothing_of_later_steps():
    raster = report()["rasters"][0]
    del raster["certified_last_flip"], raster["claim"]
    assert pattern_raster(raster)[0].startswith("In the first 2 steps")
    worst = pattern_raster({**raster, "kind": "worst"})
    assert "The worst draw, of the least margin" in worst[1]
