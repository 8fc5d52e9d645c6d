"""Places along an axis."""

from __future__ import annotations

import math

import pytest

from verify.engine.frontier.grids import Grid
from verify.errors import InputError
from verify.space import Axis


def test_log_axes_step_in_ratio() -> None:
    grid = Grid(Axis("c", 0.01, 10.0, "log"))
    assert grid.spread(4) == [0.01, 0.1, 1.0, 10.0]
    assert grid.place(math.e) == pytest.approx(1.0)
    assert grid.value(grid.place(0.3)) == pytest.approx(0.3)


def test_linear_axes_step_by_differences() -> None:
    grid = Grid(Axis("share", 0.0, 1.0))
    assert grid.spread(5) == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert not grid.in_ratio


def test_whole_numbers_over_decades_step_in_ratio_and_stay_whole() -> None:
    grid = Grid(Axis("d", 2, 10**7, "integer"))
    values = grid.spread(13)
    assert values[0] == 2
    assert values[-1] == 10**7
    assert all(isinstance(value, int) for value in values)
    assert 3.4 < values[-1] / values[-2] < 3.8


def test_few_whole_numbers_are_each_taken_once() -> None:
    grid = Grid(Axis("m", 1, 5, "integer"))
    assert grid.spread(13) == [1, 2, 3, 4, 5]
    assert not grid.in_ratio


def test_values_stay_within_the_axis_and_short() -> None:
    grid = Grid(Axis("c", 0.123456, 0.923456, "log"))
    assert grid.nearest(-99.0) == 0.123456
    assert grid.nearest(99.0) == 0.923456
    inner = grid.nearest(grid.place(0.4567891))
    assert float(f"{inner:.4g}") == inner
    assert abs(grid.place(float(inner)) - grid.place(0.4567891)) <= grid.step


def test_the_high_end_is_a_value_of_its_own() -> None:
    grid = Grid(Axis("x", 1.0, 1e4, "log"))
    assert grid.nearest(grid.place(1e4)) == 1e4
    assert grid.nearest(grid.place(9_960.0)) == 1e4
    assert grid.nearest(grid.place(1.004)) == 1.0


def test_infinite_places_have_infinite_values() -> None:
    assert Grid(Axis("u")).value(-math.inf) == -math.inf


def test_choices_have_no_order() -> None:
    with pytest.raises(InputError, match=r"'kind' has choices, no order.*--y"):
        Grid(Axis("kind", scale="choice", choices=("a", "b")))


def test_an_axis_without_extent_has_no_frontier() -> None:
    with pytest.raises(InputError, match="low < high"):
        Grid(Axis("c", 1.0, 1.0))
