"""One of a thing is told as one."""

from __future__ import annotations

import pytest

from reports.text.counts import count_of, missing_words


@pytest.mark.parametrize(
    ("count", "told"), [(0, "0 entries"), (1, "1 entry"), (2, "2 entries"), (100, "100 entries")]
)
def test_one_is_no_plural(count: int, told: str) -> None:
    assert count_of(count, "entry", "entries") == told
    assert count_of(count, "block") == told.replace("entries", "blocks").replace("entry", "block")


@pytest.mark.parametrize(
    ("blocks", "parts", "told"),
    [
        ((2, 8), (0, 2), "2 of its 8 blocks are missing"),
        ((1, 8), (0, 2), "1 of its 8 blocks is missing"),
        ((1, 1), (1, 1), "1 of its 1 block and 1 of its 1 part of a search are missing"),
        ((0, 0), (1, 2), "1 of its 2 parts of searches is missing"),
    ],
)
def test_what_is_missing_is_counted(
    blocks: tuple[int, int], parts: tuple[int, int], told: str
) -> None:
    assert missing_words(blocks, parts) == told
