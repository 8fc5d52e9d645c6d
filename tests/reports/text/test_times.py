"""How long it took is told as it is known."""

from __future__ import annotations

from typing import Any

import pytest

from reports.text.times import computing_words, seconds, time_words


def computing(**changes: Any) -> dict[str, Any]:
    return {"in_all_s": 34.25, "now_s": 0.0, "untimed": 0, "theorems": [], **changes}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, "computing: 34.2 s of worker time in all, 0 s of it now"),
        ({"now_s": 34.25}, "computing: 34.2 s of worker time in all, 34.2 s of it now"),
        ({"now_s": None}, "computing: 34.2 s of worker time in all"),
        ({"untimed": 2}, "computing: at least 34.2 s of worker time in all, 0 s of it now"),
    ],
)
def test_computing_in_words(changes: dict[str, Any], told: str) -> None:
    assert computing_words(computing(**changes), "now") == told


def test_what_is_not_known_is_not_told() -> None:
    assert computing_words(None, "now") == ""
    assert time_words({"wall_time_s": None}) == ""
    assert time_words({"wall_time_s": 17.2}) == "17.2 s"
    assert time_words({"wall_time_s": None, "computing": computing(now_s=None)}) == (
        "computing: 34.2 s of worker time in all"
    )
    assert time_words({"wall_time_s": 2, "computing": computing()}) == (
        "2 s; computing: 34.2 s of worker time in all, 0 s of it in this run"
    )


@pytest.mark.parametrize(
    ("number", "told"),
    [(0.0, "0 s"), (0.0543, "0.0543 s"), (17.25, "17.2 s"), (999.4, "999 s"), (999.6, "1000 s"),
     (14_412.7, "14413 s")],
)  # fmt: skip
def test_long_times_are_told_in_full(number: float, told: str) -> None:
    assert seconds(number) == told
