"""The answer in a sentence: which side of which crossings, which law, and what is not known."""

from __future__ import annotations

from typing import Any

import pytest

from reports.frontier.sentence import sentence, somewhere
from tests.reports.frontier.sample import by_start, frontier, row, single

HOLDS = "With probability 0.5 or more, pattern_freezes_after_step_one holds "


def compared(verdict: str) -> list[dict[str, Any]]:
    return [{"level": 0.5, "verdict": verdict, "sentence": "n^p or n^p·log n"}]


def crossed(*crossings: tuple[float, str | None], y: Any = None) -> list[dict[str, Any]]:
    """Return the rows of a row that passes ½ there, in that direction."""
    return [row(y, 0.5, x, direction=direction, low=x, high=x) for x, direction in crossings]


@pytest.mark.parametrize(
    ("verdict", "said", "unsaid"),
    [
        ("q=0", "from d ≈ 1.9·n^p, p = 1.28 [1.23, 1.33]; d/(n·log n) is", "log n, p"),
        ("q=1", "from d ≈ 1.66·n^p·log n, p = 1.01 [0.96, 1.06]; d/(n·log n)", "1.28"),
        ("indistinguishable", "1.9·n^p, p = 1.28 [1.23, 1.33], or d ≈ 1.66·n^p·log n", "neither"),
        ("neither", "from d = 39.1 at n = 10 and d = 1380 at n = 160; d/(n·log n)", "≈"),
        ("too few rows", "from d = 39.1 at n = 10 and d = 1380 at n = 160", "≈"),
    ],
)
def test_the_sentence_names_the_law_that_the_comparison_leaves(
    verdict: str, said: str, unsaid: str
) -> None:
    told = sentence(frontier(comparison=compared(verdict)))
    assert told.startswith("With probability 0.5 or more, pattern_freezes_after_step_one holds")
    assert said in told
    assert unsaid not in told
    assert told.endswith("; d/(n·log n) is 1.7.")


def test_the_ratio_is_told_as_a_range_where_it_changes() -> None:
    rows = [row(10, 0.5, 40.0), row(20, 0.5, 150.0)]
    told = sentence(frontier(rows=rows, comparison=[]))
    assert told.endswith("and d = 150 at n = 20; d/(n·log n) lies between 1.74 and 2.5.")


def test_the_sentence_without_another_axis_has_the_interval() -> None:
    assert sentence(single()).endswith("holds from d = 102 [95.7, 108].")


def test_the_sentence_says_on_which_side_the_claim_holds() -> None:
    rows = [{**r, "direction": "falling"} for r in single()["rows"]]
    assert "holds up to d = 102" in sentence(single(rows=rows))


def test_rows_without_a_boundary_are_counted_or_explained() -> None:
    told = sentence(by_start())
    assert told.endswith("1 of 3 rows has no boundary.")
    bare = [r for r in by_start()["rows"] if r["boundary"] is None]
    assert sentence(by_start(rows=bare)) == (
        "No boundary of pattern_freezes_after_step_one at level 0.5: the probability stays "
        "below 0.5 from end to end."
    )


UP, DOWN = "rising", "falling"


@pytest.mark.parametrize(
    ("crossings", "said"),
    [
        ([(2, UP)], "from d = 2 [2, 2]."),
        ([(2, DOWN)], "up to d = 2 [2, 2]."),
        ([(1.76, DOWN), (0.12, UP)], "between d = 0.12 [0.12, 0.12] and d = 1.76 [1.76, 1.76]."),
        ([(2, DOWN), (3, UP)], "outside d = 2 [2, 2] to d = 3 [3, 3]."),
        (
            [(2, DOWN), (3, UP), (4, DOWN)],
            "up to d = 2 [2, 2] and between d = 3 [3, 3] and d = 4 [4, 4].",
        ),
        (
            [(2, UP), (3, DOWN), (4, UP)],
            "between d = 2 [2, 2] and d = 3 [3, 3] and from d = 4 [4, 4].",
        ),
    ],
)
def test_all_crossings_of_a_row_are_told(
    crossings: list[tuple[float, str | None]], said: str
) -> None:
    assert sentence(single(rows=crossed(*crossings))) == HOLDS + said


@pytest.mark.parametrize(
    ("crossings", "said"),
    [
        ([(2, None)], "at d = 2 [2, 2], rising or falling."),
        ([(2, UP), (3, UP)], "at d = 2 [2, 2], rising and d = 3 [3, 3], rising."),
    ],
)
def test_crossings_that_do_not_say_where_it_holds_are_only_passed(
    crossings: list[tuple[float, str | None]], said: str
) -> None:
    told = sentence(single(rows=crossed(*crossings)))
    assert told == f"pattern_freezes_after_step_one: the probability passes 0.5 {said}"


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.998, None, "somewhere above d = 0.998, if at all"),
        (None, 7.0, "somewhere below d = 7, if at all"),
        (2.0, 7.0, "somewhere between d = 2 and 7, if at all"),
        (None, None, ""),
    ],
)
def test_a_crossing_without_an_estimate_is_somewhere(
    low: float | None, high: float | None, said: str
) -> None:
    bare = row(None, 0.5, None, low=low, high=high)
    assert somewhere(bare, "d") == said
    told = sentence(single(rows=[bare]))
    if said:
        assert told == (
            f"The probability that pattern_freezes_after_step_one holds crosses 0.5 {said}."
        )
    else:
        assert told.endswith("at level 0.5: none was found within the budget.")
    assert "—" not in told


def test_what_is_known_and_what_is_open_are_told_together() -> None:
    rows = [*crossed((2, UP)), row(None, 0.5, None, low=40.0, direction=DOWN)]
    assert sentence(single(rows=rows)) == (
        f"{HOLDS}from d = 2 [2, 2]. The probability that pattern_freezes_after_step_one holds "
        "falls past 0.5 somewhere above d = 40, if at all."
    )


def test_rows_that_turn_are_told_by_the_first_and_the_last_that_are_alike() -> None:
    rows = [one for n in (10, 20, 40) for one in crossed((n, UP), (9 * n, DOWN), y=n)]
    rows += crossed((5, DOWN), y=80)
    assert sentence(frontier(rows=rows)) == (
        f"{HOLDS}at n = 10 between d = 10 and d = 90; at n = 40 between d = 40 and d = 360 (1 more "
        "row is like these two); at n = 80 up to d = 5."
    )


def test_no_sentence_says_on_one_side() -> None:
    rows = [*crossed((5, DOWN), y=10), *crossed((7, UP), y=20), *crossed((9, None), y=40)]
    assert sentence(frontier(rows=rows)) == (
        f"{HOLDS}at n = 10 up to d = 5; at n = 20 from d = 7. At n = 40 the probability passes 0.5 "
        "at d = 9, rising or falling."
    )


def test_a_law_of_what_falls_holds_up_to_it() -> None:
    rows = [{**r, "direction": DOWN} for r in frontier()["rows"]]
    assert "holds up to d ≈ 1.9·n^p" in sentence(frontier(rows=rows, comparison=compared("q=0")))


def test_a_level_near_one_does_not_read_one() -> None:
    rows = [{**r, "level": 0.999999999} for r in crossed((2, UP))]
    told = sentence(single(rows=rows, levels=[0.999999999]))
    assert told.startswith("With probability 0.999999999 or more")


def test_rows_that_are_open_say_where() -> None:
    rows = [row(10, 0.5, None, low=0.998), row(20, 0.5, None, note="no boundary: it stays above")]
    assert sentence(frontier(rows=rows)) == (
        "No boundary of pattern_freezes_after_step_one at level 0.5: it stays above; at n = 10 "
        "somewhere above d = 0.998, if at all."
    )
