"""Points without a value are counted in the same words on the terminal, in pages and Markdown."""

from __future__ import annotations

import json

import pytest

from reports.html.headlines import headline
from reports.html.measure_captions import frequencies, quantiles
from reports.html.measures import constants, measures
from reports.points import at_points
from reports.text.markdown import markdown
from reports.text.measured import measured_lines
from tests.reports.sample import measure, report, shares, spread
from tests.reports.text.test_measured import NAN, counted, one
from verify.findings import QuantileFound, QuantilesCell
from verify.verdict import Verdicts

LACKING = "2 of them without a value"

EMPTY = {"in_scope": 0, "unknown": 0, "frequency": None, "low": None, "high": None}


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([spread(1.0, 1.0)], "at 1 point"),
        ([spread(1.0, 1.0)] * 3, "at 3 points"),
        ([{**shares(1.0, 0.5), **EMPTY}], "at 1 point, without a value"),
        ([{**shares(1.0, 0.5), **EMPTY}] * 2, "at 2 points, all of them without a value"),
        ([shares(1.0, 0.0), {**shares(1.0, 0.5), **EMPTY}], "at 2 points, 1 of them without a "
         "value"),
        ([{**spread(1.0, 1.0), "in_scope": 5, "unknown": 5}, spread(1.0, 1.0)],
         "at 2 points, 1 of them without a value"),
    ],
)  # fmt: skip
def test_points_are_counted_with_those_that_have_no_value(cells, words):
    assert at_points([json.loads(json.dumps(cell)) for cell in cells]) == words


def test_every_surface_counts_the_same_points():
    unmeasured = {**spread(3.0, 1.0), "in_scope": 5, "unknown": 5, "quantiles": [], "mean": None}
    cells = [spread(1.0, 1.0), spread(2.0, 2.0), unmeasured, unmeasured]
    made = measure("size", "quantiles", cells)
    (told,) = measures({"measures": [made]}, made["theorem"], {})
    assert headline(told).endswith(f"at 4 points, {LACKING}")
    assert f"at 4 points, {LACKING}" in quantiles(told)[0]
    assert constants([told])[0]["points"] == f"4, {LACKING}"
    assert f"| 4, {LACKING} |" in markdown(report(measures=[made], chains=[]))
    found = QuantileFound(0.5, 1.0, NAN, 2.0)
    lines = measured_lines(
        Verdicts(
            (),
            0.05,
            measured=(
                one("quantiles", *(
                    QuantilesCell({}, None, 9, 5, unknown, NAN, NAN, 1.0, 0.0, (found,))
                    for unknown in (0, 1, 5, 5)
                )),
                one("frequency", counted(1, 2, 0.0, 1.0), *[counted(0, 0, 0.0, 1.0)] * 2),
            ),
        )
    )  # fmt: skip
    assert f"at 4 points, {LACKING}  mean 1" in lines[0]
    assert f"at 3 points, {LACKING}  P = 0.5000" in lines[1]


def test_frequencies_are_not_those_of_every_cell_where_some_have_none():
    cells = [shares(1.0, 0.5), shares(2.0, 0.5), {**shares(3.0, 0.5), **EMPTY}]
    made = measure("success", "frequency", cells, abscissa="")
    (told,) = measures({"measures": [made]}, made["theorem"], {})
    assert "of the trials in scope at 3 points, 1 of them without a value." in frequencies(told)[0]
    assert headline(told).endswith("at 3 points, 1 of them without a value")


def test_a_median_that_is_not_finite_somewhere_says_so():
    infinite = {**spread(2.0, 1.0), "quantiles": [{"level": 0.5, "value": None}]}
    made = measure("size", "quantiles", [spread(1.0, 1.0), infinite, infinite])
    (told,) = measures({"measures": [made]}, made["theorem"], {})
    assert headline(told).endswith("at 3 points, not finite at 2 of them")
