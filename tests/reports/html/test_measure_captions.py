"""What captions of measures and margins say is to be seen."""

import pytest

from reports.html import measure_captions
from reports.html.measures import measures
from tests.reports.sample import measure, shares

LEFT, RIGHT = [-0.2, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7], [0.1, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7]


def claim(name, kind, margins):
    cells = [{"point": {"n": 20}, "tally": {}, "margins": margins}]
    return {"claim": name, "kind": kind, "cells": cells}


@pytest.mark.parametrize(
    ("claims", "told"),
    [
        ([("a", "probable", LEFT), ("b", "universal", RIGHT)], "in a alone. A claim with a prob"),
        ([("a", "universal", LEFT), ("b", "probable", RIGHT)], "in a alone."),
        ([("a", "universal", LEFT), ("b", "probable", LEFT)], "2 of 2 claims have margins left"),
        ([("a", "universal", RIGHT)], "No margin lies left of zero"),
    ],
)
def test_margins_left_of_zero_are_told_with_what_allows_them(claims, told):
    seen, _ = measure_captions.margins([claim(*parts) for parts in claims])
    assert told in seen
    assert seen.endswith("allows for some.") == (claims[0][1:] == ("probable", LEFT))


def seen(*lines, thresholds=()):
    """Return what is to be seen of lines of frequencies at m = 1, 2, 4."""
    cells = [
        shares(m, share, line=10 * rank)
        for rank, line in enumerate(lines, start=1)
        for m, share in zip((1, 2, 4), line, strict=True)
    ]
    made = measure("success", "frequency", cells, by="n", thresholds=list(thresholds))
    (found,) = measures({"measures": [made]}, made["theorem"], {})
    return measure_captions.frequencies(found)[0].replace("\N{NARROW NO-BREAK SPACE}", " ")


def test_several_lines_are_told_from_end_to_end_and_where_they_are_lower_on_the_way():
    rising = seen((0.1, 0.5, 0.9), (0.2, 0.4, 0.8))
    assert (
        rising == "The share rises from 10 % to 20 % at the left end to 80 % to 90 % at the right."
    )
    dipping = seen((0.3, 0.1, 0.9), (0.2, 0.4, 0.1))
    assert dipping.startswith("The share goes from 20 % to 30 % at the left end to 10 % to 90 %")
    assert dipping.endswith("; on the way it is lower still, down to 10 %, in 1 of 2 lines.")


def test_thresholds_of_many_lines_are_told_together():
    known = [
        {"line": 10 * k, "level": 0.9, "low": float(k), "high": 4.0 + k, "monotone": True}
        for k in (1, 2, 3)
    ]
    lines = [(0.1, 0.5, 0.9)] * 4
    unknown = {**known[0], "line": 40, "high": None}
    assert "It passes 0.9 between 1 and 7 in all 3 lines." in seen(*lines, thresholds=known)
    assert "between 1 and 7 in 3 of 4 lines." in seen(*lines, thresholds=[*known, unknown])
