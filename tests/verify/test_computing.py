"""Time that is shared adds up again, and what is not known is counted."""

import math

import pytest

from verify.computing import Computing


def test_a_piece_is_shared_evenly_by_what_is_evaluated_on_it():
    found = Computing.of(
        [(("a", "b"), 1.0, True), (("a",), 0.5, False), (("b",), math.nan, True), ((), 0.25, False)]
    )
    assert found == Computing(1.75, 1.0, {"a": 1.0, "b": 0.5}, 1)


def test_nothing_takes_no_time():
    assert Computing.of([]) == Computing() == sum([Computing()], Computing())


def test_times_are_added_claim_by_claim():
    one = Computing(1.0, 0.5, {"a": 1.0}, 1)
    other = Computing(2.0, 2.0, {"a": 0.5, "b": 1.5}, 2)
    assert one + other == Computing(3.0, 2.5, {"a": 1.5, "b": 1.5}, 3)
    assert (one + other).in_all == pytest.approx(sum((one + other).shares.values()))
