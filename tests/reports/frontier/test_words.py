"""The sentence, and the words that the terminal and the page share."""

from __future__ import annotations

from typing import Any

import pytest

from reports.frontier import words
from reports.frontier.measuring import exit_code
from tests.reports.frontier.sample import by_start, fit, frontier, row, single


def compared(verdict: str) -> list[dict[str, Any]]:
    return [{"level": 0.5, "verdict": verdict, "sentence": "n^p or n^p·log n"}]


@pytest.mark.parametrize(
    ("verdict", "said", "unsaid"),
    [
        ("q=0", "from d ≈ 1.9·n^p, p = 1.28 [1.23, 1.33]; d/(n·log n) is", "log n, p"),
        ("q=1", "from d ≈ 1.66·n^p·log n, p = 1.01 [0.96, 1.06]; d/(n·log n)", "1.28"),
        ("indistinguishable", "1.66·n^p·log n, p = 1.01 [0.96, 1.06], or d ≈ 1.9·n^p", "neither"),
        ("neither", "from d = 39.1 at n = 10 and d = 1380 at n = 160; d/(n·log n)", "≈"),
        ("too few rows", "from d = 39.1 at n = 10 and d = 1380 at n = 160", "≈"),
    ],
)
def test_the_sentence_names_the_law_that_the_comparison_leaves(
    verdict: str, said: str, unsaid: str
) -> None:
    told = words.sentence(frontier(comparison=compared(verdict)))
    assert told.startswith("With probability 0.5 or more, pattern_freezes_after_step_one holds")
    assert said in told
    assert unsaid not in told
    assert told.endswith("; d/(n·log n) is 1.7.")


def test_the_ratio_is_told_as_a_range_where_it_changes() -> None:
    rows = [row(10, 0.5, 40.0), row(20, 0.5, 150.0)]
    told = words.sentence(frontier(rows=rows, comparison=[]))
    assert told.endswith("and d = 150 at n = 20; d/(n·log n) lies between 1.74 and 2.5.")


def test_the_sentence_without_another_axis_has_the_interval() -> None:
    assert words.sentence(single()).endswith("holds from d = 102 [95.7, 108].")


def test_the_sentence_says_on_which_side_the_claim_holds() -> None:
    rows = [{**r, "direction": "falling"} for r in single()["rows"]]
    assert "holds up to d = 102" in words.sentence(single(rows=rows))


def test_rows_without_a_boundary_are_counted_or_explained() -> None:
    told = words.sentence(by_start())
    assert told.endswith("1 of 3 rows has no boundary.")
    bare = [r for r in by_start()["rows"] if r["boundary"] is None]
    assert words.sentence(by_start(rows=bare)) == (
        "No boundary of pattern_freezes_after_step_one at level 0.5: the probability stays "
        "below 0.5 from end to end."
    )


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
    (entry,) = words.compared(frontier(comparison=compared("neither")))
    assert entry["sentence"] == "n^p or n^p·log n."
    assert words.compared(single(comparison=compared("too few rows"))) == []
    assert words.compared(by_start(comparison=compared("too few rows"))) == []


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
