"""The results of measures, in a line each."""

import pytest

from reports.html.headlines import headline, headlines
from reports.html.measures import measures
from tests.reports.sample import measure, shares, spread

WHOLE = {"level": 0.9, "low": 2.0, "high": 8.0, "monotone": True}


def told(kind, cells, **changes):
    """Return a measure as a page tells it."""
    made = measure("success", kind, cells, **changes)
    (found,) = measures({"measures": [made]}, made["theorem"], {})
    return found


@pytest.mark.parametrize(
    ("thresholds", "line"),
    [
        ([], "axis: 25 % to 75 % at 2 points"),
        (
            [{**WHOLE, "line": 10}, {**WHOLE, "line": 20, "high": 16.0}],
            "axis: passes 0.9 with number m of neurons between 2 and 16",
        ),
        (
            [{**WHOLE, "line": 10}, {**WHOLE, "line": 20, "low": None}],
            "axis: passes 0.9 with number m of neurons between 2 and 8 in 1 of 2 lines",
        ),
        ([{**WHOLE, "line": 10, "high": None}], "axis: 25 % to 75 % at 2 points"),
    ],
)
def test_frequencies_tell_where_they_pass_the_highest_level(thresholds, line):
    cells = [shares(2, 0.25), shares(8, 0.75)]
    names = {"axis": "axis", "abscissa": "Number m of neurons"}
    found = headline(told("frequency", cells, thresholds=thresholds, **names))
    assert found.replace("\N{NARROW NO-BREAK SPACE}", " ") == line


def test_calibrations_tell_how_far_off_the_prediction_is():
    cells = [
        {**shares(0.5, 0.5, prediction=0.5), "low": 0.4, "high": 0.6},
        {**shares(0.9, 0.5, prediction=0.9), "low": 0.4, "high": 0.6},
    ]
    found = told("frequency", cells, abscissa="P̂")
    assert headline(found) == (
        "P̂: off by 0.28 (root mean square over 2 cells), above what is measured in 1 of them"
    )


def test_quantities_tell_their_medians_with_the_outer_ends_of_their_intervals():
    found = told("quantiles", [spread(10.0, 1.0), spread(100.0, 2.0)], axis="δ over √n")
    assert headline(found) == "δ over √n: median 1 to 2 [0.98, 2.06] at 2 points"


def test_a_measure_that_measured_nothing_has_no_headline():
    empty = {**shares(8, 0.0), "in_scope": 0, "frequency": None, "low": None, "high": None}
    assert headline(told("frequency", [empty])) == ""
    assert headline(told("quantiles", [{**spread(10.0, 1.0), "quantiles": []}])) == ""
    assert headlines([told("frequency", [empty])]) == []
    assert headlines([]) == []


def test_an_interval_without_an_end_is_not_told_as_one_that_reaches_to_infinity():
    open_ended = spread(100.0, 2.0)
    open_ended["quantiles"][1]["high"] = None
    found = told("quantiles", [spread(10.0, 1.0), open_ended], axis="δ")
    assert headline(found) == (
        "δ: median 1 to 2 [0.98, 1.03] at 2 points, with an open interval at 1 of them"
    )
    assert headline(told("quantiles", [open_ended], axis="δ")) == "δ: median 2"
