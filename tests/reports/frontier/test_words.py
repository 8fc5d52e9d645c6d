"""The words that the terminal and the page share."""

from __future__ import annotations

import pytest

from reports.frontier import words
from reports.frontier.lines import told
from reports.frontier.measuring import complete, exit_code
from reports.frontier.page import render
from tests.reports.frontier.sample import Y_VALUES, by_start, fit, frontier, row, single


def test_intervals_that_are_open_say_which_end_is_known() -> None:
    ends = [(12.0, 15.0), (12.0, None), (None, 15.0), (None, None)]
    told = [words.interval_words({"low": low, "high": high}) for low, high in ends]
    assert told == ["[12, 15]", "≥ 12", "≤ 15", "—"]


def test_the_ratio_needs_numbers_above_one() -> None:
    assert words.ratio_name(frontier()) == "d/(n·log n)"
    assert words.ratio(row(20, 0.5, 101.9)) == pytest.approx(1.7007, abs=1e-4)
    assert words.ratio(row(20, 0.5, None)) is None
    assert words.ratio_name(by_start()) == words.ratio_name(single()) == ""
    below = frontier(rows=[row(0.5, 0.5, 3.0), row(2, 0.5, 3.0)])
    assert words.ratio_name(below) == ""


def test_the_ratio_is_of_a_dimension_by_n_or_of_what_grows_like_it() -> None:
    (whole,) = [{**frontier()["x"], "name": "p", "scale": "integer"}]
    apart = [fit(0.5, 1, 0.3, 1.0)]
    assert words.ratio_name(frontier(x=whole, fits=[])) == "p/(n·log n)"
    for name, scale in (("c", "log"), ("d_over_n", "log"), ("d", "linear")):
        other = {**frontier()["x"], "name": name, "scale": scale}
        assert words.ratio_name(frontier(x=other, fits=apart)) == ""
    by_m = {**frontier()["y"], "name": "m"}
    assert words.ratio_name(frontier(y=by_m, fits=apart)) == ""
    assert words.ratio_name(frontier(y=by_m, fits=[fit(0.5, 1, 1.1, 1.0)])) == "d/(m·log m)"
    loose = [fit(0.5, 1, 1.1, 1.0, consistent=False)]
    assert words.ratio_name(frontier(y=by_m, fits=loose)) == ""


def test_numbers_have_the_digits_that_tell_them_apart() -> None:
    near = row(10, 0.5, 1_000_000.4, low=1_000_000, high=1_000_001)
    assert words.ends_words(near) == ("1.0000004×10⁶", "[10⁶, 1.000001×10⁶]")
    assert words.ends_words(row(10, 0.5, 40.0)) == ("40", "[37.6, 42.4]")
    assert words.levels_words([0.5, 0.999999999]) == "0.5 and 0.999999999"
    assert words.place_words(frontier(at={"c": 0.999999, "n": 20})) == "n = 20, c = 0.999999"


def test_a_coarse_grid_beyond_the_budget_is_explained() -> None:
    within, beyond = (
        complete(frontier(budget=600, trials=trials), "", "now") for trials in (600, 650)
    )
    said = "650 trials, of a budget of 600 (the coarse grid, which is sampled whole"
    assert said in words.how_measured(beyond)[0]
    line = "Trials        650 of 600 (the coarse grid, which is sampled whole"
    assert line in told(beyond)
    assert "600 trials, 650 spent (the coarse grid, which is sampled whole" in render(beyond)
    for text in (*words.how_measured(within), told(within), render(within)):
        assert "sampled whole" not in text


def test_what_is_dropped_is_not_said_to_imply_the_claim() -> None:
    told = words.scope_words(frontier(without=["a"], left_out=["a", "certified"], given=["b"]))
    assert told == (
        "Assumed of every problem: b. Dropped: a. Left out, because it implies what is claimed: "
        "certified."
    )
    assert "implies" not in words.scope_words(frontier(without=["a"], left_out=["a"]))


def test_an_assumption_is_met_from_the_first_to_the_last_row() -> None:
    rows = [row(n, 0.5, 100.0 * n, low=100.0 * n - 1, high=100.0 * n) for n in (10, 20, 40)]
    line = {"what": "assumption", "id": "a", "meaning": "A.", "fits": []}
    told = words.assumption_words(frontier(), {**line, "rows": rows})
    assert told == (
        "met from d = 1000 [999, 1000] at n = 10 to 4000 [3999, 4000] at n = 40; in 3 of 5 rows; "
        "15.9 to 25.5 times the claim’s. Intervals are between neighbouring values, not "
        "statistical."
    )
    alike = [row(n, 0.5, 7.0, low=6.0, high=7.0, direction="falling") for n in Y_VALUES]
    told = words.assumption_words(frontier(), {**line, "rows": alike})
    assert told.startswith("met up to d = 7 [6, 7]; ")
    both = [row(None, 0.5, 2.0), row(None, 0.5, 9.0, direction="falling")]
    told = words.assumption_words(single(), {**line, "rows": both})
    assert told.startswith("met from d = 2 [1.88, 2.12]; met up to d = 9 [8.46, 9.54]; ")


def test_a_line_is_compared_with_the_one_boundary_of_its_row_and_level() -> None:
    found = frontier()
    twice = words.times_the_claims(found, row(20, 0.95, 2 * found["rows"][3]["boundary"]))
    assert twice == pytest.approx(2.0)
    assert words.times_the_claims(found, row(20, 0.75, 9.0)) is None
    assert words.times_the_claims(found, row(20, 0.5, None)) is None
    several = frontier(rows=[row(20, 0.5, 9.0), row(20, 0.5, 90.0)])
    assert words.times_the_claims(several, row(20, 0.5, 9.0)) is None


def test_a_line_is_shown_at_its_own_level_where_it_has_no_other() -> None:
    found = frontier(levels=[0.95])
    at_half = {"what": "assumption", "id": "a", "rows": [row(10, 0.5, 3.0)]}
    assert words.line_rows(found, at_half) == at_half["rows"]
    assert {r["level"] for r in words.line_rows(found, found["lines"][0])} == {0.95}


def test_the_comparison_is_in_the_name_of_the_axis_and_only_along_numbers() -> None:
    neither = [{"level": 0.5, "verdict": "neither", "sentence": "n^p or n^p·log n"}]
    (entry,) = words.compared(frontier(comparison=neither))
    assert entry["sentence"] == "n^p or n^p·log n."
    assert words.compared(single(comparison=neither)) == []
    assert words.compared(by_start(comparison=neither)) == []


def test_a_law_off_its_rows_is_noted_but_not_of_exact_numbers() -> None:
    off = fit(0.5, 0, 1.5, 2.0, consistent=False)
    assert words.law_note({"what": "claim"}, off) == "some rows lie off this law"
    assert words.law_note({"what": "prediction"}, off) == ""
    assert words.exponent_words({**off, "p_low": 1.5, "p_high": 1.5}) == "1.5"


def test_the_exit_code_says_whether_a_row_is_open() -> None:
    assert exit_code(frontier()) == 0
    found = frontier()
    found["rows"][4] = {**found["rows"][4], "settled": False}
    assert exit_code(found) == 3


def test_a_row_that_no_trial_tells_of_is_not_settled() -> None:
    nothing = row(20, 0.5, None, note="no trial met what the claim is given")
    assert exit_code(frontier(rows=[nothing])) == 3
