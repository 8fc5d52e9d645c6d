"""Points, axes and ranges: what they mean, and what they refuse to mean."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verify.errors import InputError, TheoremError
from verify.space import Axis, Point, geometric

quickly = settings(max_examples=200, deadline=None, derandomize=True, database=None)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Point(n=1), Point(n=1.0)),
        (Point(a=1, b="x"), Point(b="x", a=1)),
        (Point(n=np.int64(3)), Point(n=3)),
        (Point(n=np.float64(0.5)), Point(n=0.5)),
        (Point(c=np.float32(0.5)), Point(c=0.5)),
        (Point(c=-0.0), Point(c=0.0)),
        (Point(s=np.str_("iso")), Point(s="iso")),
    ],
)
def test_points_of_equal_coordinates_are_one_point(one, other):
    assert one == other
    assert hash(one) == hash(other)
    assert one.canonical == other.canonical


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Point(n=1), Point(n="1")),
        (Point(n=1), Point(m=1)),
        (Point(n=1), Point(n=1, m=1)),
        (Point(n=2**53), Point(n=2**53 + 1)),
        (Point(c=0.1), Point(c=np.nextafter(0.1, 1))),
    ],
)
def test_points_of_different_coordinates_differ(one, other):
    assert one != other


def test_a_point_holds_plain_numbers():
    point = Point(n=np.int64(3), c=np.float32(0.5), s=np.str_("iso"))
    assert [type(value) for value in dict(point).values()] == [float, int, str]
    assert repr(point) == "Point(c=0.5, n=3, s='iso')"


@pytest.mark.parametrize(
    "value", [True, np.True_, None, math.nan, math.inf, -np.inf, [1], np.ones(1), 1j, b"x"]
)
def test_a_point_refuses_what_is_no_finite_number_or_string(value):
    with pytest.raises(
        TheoremError, match=r"n=.* in a Point, expected a finite number or a string"
    ):
        Point(n=value)


def test_a_point_is_a_mapping():
    point = Point(n=3, self=1)
    assert point["n"] == 3
    assert point.get("n") == 3
    assert point.get("m", 7) == 7
    assert point.get("m") is None
    assert "m" not in point
    assert {**{"n": 1, "m": 2}, **point} == {"n": 3, "m": 2, "self": 1}
    assert point.moved(n=4, self=2) == Point(n=4, self=2)
    with pytest.raises(TheoremError, match="no coordinate 'm' in Point"):
        point["m"]


@given(st.dictionaries(st.text(min_size=1), st.integers() | st.floats(-1e300, 1e300) | st.text()))
@quickly
def test_a_point_survives_pickling_and_its_own_coordinates(coordinates):
    point = Point(**coordinates)
    assert pickle.loads(pickle.dumps(point)) == point
    assert Point(**dict(point)) == point


@pytest.mark.parametrize(
    ("axis", "message"),
    [
        ({"low": 2, "high": 1}, "low <= high"),
        ({"low": math.nan}, "finite numbers"),
        ({"high": math.inf}, "finite numbers"),
        ({"low": 0, "scale": "log"}, "low=0, expected > 0 on a log scale"),
        ({"scale": "cubic"}, "scale='cubic', expected linear, log, integer or choice"),
        ({"scale": "choice"}, "give choices for scale='choice'"),
        ({"choices": ("a",)}, "give choices for scale='choice' and for no other"),
        ({"scale": "choice", "choices": ("a", "b"), "simplest": "c"}, "simplest='c' is no choice"),
        ({"low": 0.5, "high": 3, "scale": "integer"}, "whole numbers"),
        ({"simplest": 2.0}, "simplest=2.0 is not between low=0.0 and high=1.0"),
        ({"simplest": "x"}, "simplest='x' is not between"),
    ],
)
def test_an_axis_that_means_nothing_is_refused(axis, message):
    with pytest.raises(TheoremError, match=message):
        Axis("c", **axis)


def test_an_axis_may_be_a_single_value():
    assert Axis("n", 3, 3, "integer", simplest=3).low == 3


def test_geometric_spans_its_range_evenly_in_logarithms():
    values = geometric(1e-2, 1e2, 5)
    np.testing.assert_allclose(values, [1e-2, 1e-1, 1, 1e1, 1e2], rtol=1e-12)
    for wrong in ((0, 1, 3), (2, 1, 3), (1, 2, 1)):
        with pytest.raises(InputError, match="expected 0 < low < high, count >= 2"):
            geometric(*wrong)
