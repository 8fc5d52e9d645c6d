"""Thresholds: what is known of one, in words, and when two of them differ."""

from __future__ import annotations

from typing import Any

import pytest

from reports.thresholds import differ, passed_words, state


def threshold(low: float | None, high: float | None, monotone: bool = True) -> dict[str, Any]:
    return {"line": None, "level": 0.9, "low": low, "high": high, "monotone": monotone}


@pytest.mark.parametrize(
    ("low", "high", "monotone", "known", "words"),
    [
        (2, 8, True, "between", "between 2 and 8"),
        (None, 8, True, "from above", "at or below 8"),
        (2, None, True, "from below", "above 2"),
        (None, None, True, "open", "not bracketed by the cells sampled"),
        (None, None, False, "falls", "nowhere: the bounds say that it falls"),
    ],
)
def test_what_is_known_has_a_word(
    low: float | None, high: float | None, monotone: bool, known: str, words: str
) -> None:
    found = threshold(low, high, monotone)
    assert state(found) == known
    assert passed_words(found) == words
    assert not differ(found, found)
    assert differ(found, threshold(0, 1))


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [((2, 8), (8, 16), True), ((2, 8), (4, 16), False), ((4, 16), (2, 3), True),
     ((2, None), (3, None), False), ((2, None), (2, 8), True)],
)  # fmt: skip
def test_thresholds_differ_where_they_lie_apart_or_other_ends_are_known(
    one: Any, other: Any, apart: bool
) -> None:
    assert differ(threshold(*one), threshold(*other)) is apart
    assert differ(threshold(*other), threshold(*one)) is apart
