"""Margins: what holds, is violated or undecided, and that no inequality is lost."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verify.margin import Margin

quickly = settings(max_examples=200, deadline=None, derandomize=True, database=None)


MARGINS = st.sampled_from([-math.inf, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, math.inf, math.nan])
ROUNDINGS = st.sampled_from([0.0, 0.5, 1.0, math.inf, math.nan])


def margin_of(value, rounding):
    return Margin(0.0, np.array([value]), 1.0, np.array([rounding]))


def rank(margin):
    """0 where violated, 1 where undecided, 2 where it holds."""
    return 0 if margin.violated[0] else 2 if margin.holds[0] else 1


@given(MARGINS, ROUNDINGS)
@quickly
def test_a_margin_holds_or_is_violated_or_undecided_and_nan_or_no_bound_is_undecided(value, bound):
    margin = margin_of(value, bound)
    assert not (margin.holds & margin.violated).any()
    if math.isnan(value) or math.isnan(bound) or bound == math.inf:
        assert rank(margin) == 1


@pytest.mark.parametrize(
    ("value", "rounding", "expected"),
    [(0.5, 0.5, 2), (-0.5, 0.5, 1), (0.49, 0.5, 1), (-0.51, 0.5, 0), (0.0, 0.0, 2)],
)
def test_on_the_rounding_bound_a_margin_holds_and_minus_it_is_undecided(value, rounding, expected):
    assert rank(margin_of(value, rounding)) == expected


@given(st.lists(st.tuples(MARGINS, ROUNDINGS), min_size=1, max_size=5))
@quickly
def test_worst_is_violated_before_undecided_before_smallest(parts):
    margins = [margin_of(*part) for part in parts]
    worst = Margin.worst(*margins)
    ranks = [rank(margin) for margin in margins]
    assert rank(worst) == min(ranks)
    rivals = [m.value[0] for m, r in zip(margins, ranks, strict=True) if r == min(ranks)]
    expected = np.nan if np.isnan(rivals).all() else np.nanmin(rivals)
    np.testing.assert_equal(worst.value[0], expected)


def test_without_a_value_an_inequality_is_undecided_and_says_that_it_is_not_stated():
    margin = Margin(np.array([1.0, 1.0, 1.0]), 2.0, rounding=np.array([0.0, 0.0, np.inf]))
    margin = margin.unstated_where(np.array([False, True, False]))
    assert margin.unstated.tolist() == [False, True, False]
    assert margin.holds.tolist() == [True, False, False]
    assert not margin.violated.any()


def test_a_value_that_a_run_left_open_is_stated():
    margin = Margin(np.array([np.nan, 1.0]), 2.0).undecided_where(np.array([True, True]))
    assert not margin.unstated.any()


def test_worst_goes_instance_by_instance_and_broadcasts_numbers_and_arrays():
    worst = Margin.worst(
        Margin(0.0, np.array([3.0, -2.0, 5.0])), Margin(0.0, 1.0, rounding=np.array([0, 0, 9]))
    )
    np.testing.assert_array_equal(worst.value, [1.0, -2.0, 1.0])
    np.testing.assert_array_equal(worst.uncertainty, [0.0, 0.0, 9.0])
    np.testing.assert_array_equal(worst.violated, [False, True, False])
    np.testing.assert_array_equal(worst.holds, [True, False, False])


def test_worst_of_numbers_is_a_number():
    worst = Margin.worst(Margin(0, 2), Margin(0, 1))
    assert worst.value.shape == ()
    assert worst.value == 1


def test_equal_measures_in_multiples_of_the_tolerance():
    margin = Margin.equal([1.0, 1.0, 2.0], [1.0, 1.05, 1.0], [1.0, 1.0, 2.0], 0.1)
    np.testing.assert_allclose(margin.value, [1.0, 0.5, -4.0])


def test_equal_at_scale_zero_holds_for_the_same_number_only():
    margin = Margin.equal([0.0, 1e-300], [0.0, 0.0], 0.0, 1e-10)
    np.testing.assert_array_equal(margin.holds, [True, False])
    np.testing.assert_array_equal(margin.violated, [False, True])


def test_equal_decides_nothing_between_infinities_or_nan():
    margin = Margin.equal([np.inf, np.nan, 1.0], [np.inf, 1.0, 1.0], [1.0, 1.0, np.nan], 0.1)
    assert not (margin.holds | margin.violated).any()


def test_a_witness_that_disagrees_makes_a_margin_minus_one_at_most():
    margin = Margin(0.0, np.array([2.0, 2.0, -3.0, np.nan, np.inf]), rounding=[0, 9, 0, 0, np.inf])
    contradicted = margin.contradicted_where(np.ones(5, bool))
    np.testing.assert_array_equal(contradicted.value, [-1, -1, -3, -1, -1])
    assert contradicted.violated.all()
    untouched = margin.contradicted_where(np.zeros(5, bool))
    np.testing.assert_array_equal(untouched.value, margin.value)
    np.testing.assert_array_equal(untouched.holds, margin.holds)


def test_undecided_where_decides_nothing_even_about_an_infinite_margin():
    margin = Margin(0.0, np.array([np.inf, -np.inf, 1.0])).undecided_where([True, True, False])
    np.testing.assert_array_equal(margin.holds, [False, False, True])
    assert not margin.violated.any()


def test_a_scale_of_zero_keeps_the_sign_and_warns_of_nothing():
    margin = Margin(np.array([0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0]), scale=np.zeros(3))
    np.testing.assert_array_equal(margin.holds, [True, False, False])
    np.testing.assert_array_equal(margin.violated, [False, True, False])


@pytest.mark.parametrize(
    ("left", "right", "scale"),
    [
        (5.0, 1.0, np.inf),
        (1e-200, 0.0, 1e200),
        (1e-300, -1e-300, 1e300),
        (np.array([2**53 + 1]), np.array([2**53]), 1.0),
        (np.array([2**53 + 1]), np.array([2.0**53]), 1.0),
        (np.array([2**64 - 1], np.uint64), np.array([2.0**53]), 1.0),
        (np.array([2**64 - 1], np.uint64), np.array([2**63 - 1]), 1.0),
        (2**53 + 1, 2**53, 1.0),
        (2**70 + 1, 2**70, 1.0),
        (2**70 + 1, 2.0**70, 1.0),
        (np.longdouble(1) + np.longdouble(1e-18), np.longdouble(1), 1.0),
        (np.longdouble(1) + np.longdouble(1e-18), 1, 1.0),
        (np.array([2**53 + 1]), np.longdouble(2**53), 1.0),
        (np.uint64(5), np.uint64(3), 1.0),
        (np.uint64(5), -3, 1e300),
        (np.True_, np.False_, 1e300),
        (np.float16(1.001), np.float32(1.0), 1e300),
    ],
)
def test_no_inequality_is_lost_to_rounding_or_underflow(left, right, scale):
    assert Margin(left, right, scale).violated.all()
    assert not Margin(left, right, scale).holds.any()
    assert Margin(right, left, scale).holds.all()
    assert (Margin(right, left, scale).value > 0).all()
