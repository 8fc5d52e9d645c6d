"""Stretches of a row that cross a level once, in a direction that the trials decide."""

from __future__ import annotations

import math

import numpy as np

from verify.boundaries import ABOVE, BELOW, FALLING, HOLDS, RISING, VIOLATED, Batch, Curve, fitted
from verify.engine.frontier.aiming import aims_of, direction_of
from verify.engine.frontier.crossings import Crossing
from verify.engine.frontier.grids import Grid
from verify.engine.frontier.survey import Place
from verify.space import Axis, Coordinate

EITHER = (RISING, FALLING)
GRID = Grid(Axis("x", 0.0, 4.0))


def batch(place: float, holds: int, violated: int) -> Batch:
    outcomes = [HOLDS] * holds + [VIOLATED] * violated
    return Batch(place, np.array(outcomes, dtype=np.int8))


def crossing(*batches: Batch, ways: tuple[str, ...] = EITHER) -> Crossing:
    found = Crossing.between(0.0, 4.0, 0.5, ways, 0.01)
    found.settle(batches, None)
    return found


def places(*batches: Batch) -> dict[Coordinate, Place]:
    return {b.place: Place(b.place, b.place, k + 1, batch=b) for k, b in enumerate(batches)}


def aims(found: Crossing, left: int, *batches: Batch) -> list[float]:
    return aims_of(found, fitted(batches), GRID, places(*batches), left, 50)


def test_nothing_is_known_before_the_first_trial() -> None:
    found = crossing()
    assert found.direction is None
    assert found.beyond is None
    assert found.interval() == (-math.inf, math.inf)


def test_a_clear_rise_excludes_that_it_falls() -> None:
    found = crossing(batch(1.0, 0, 50), batch(3.0, 50, 0))
    assert found.direction == RISING
    assert found.interval() == (1.0, 3.0)


def test_one_clear_place_leaves_both_directions_and_both_sides() -> None:
    found = crossing(batch(2.0, 50, 0))
    assert found.direction is None
    rising, falling = found.wagers
    assert rising.interval() == (-math.inf, 2.0)
    assert falling.interval() == (2.0, math.inf)
    assert found.interval() == (-math.inf, math.inf)
    assert found.beyond is None


def test_clear_ends_put_every_direction_beyond_the_row() -> None:
    above = crossing(batch(0.0, 50, 0), batch(4.0, 50, 0))
    assert above.beyond == ABOVE
    below = crossing(batch(0.0, 0, 50), batch(4.0, 0, 50))
    assert below.beyond == BELOW
    assert below.is_beyond


def test_a_hole_excludes_every_place_of_both() -> None:
    found = crossing(batch(0.0, 50, 0), batch(2.0, 0, 50), batch(4.0, 50, 0))
    assert found.is_excluded
    assert all(math.isnan(end) for end in found.interval())


def test_trials_elsewhere_are_not_taken_in() -> None:
    found = crossing(batch(5.0, 50, 0))
    assert found.interval() == (-math.inf, math.inf)


def test_the_trend_decides_where_the_bets_do_not() -> None:
    falling = [batch(1.0, 6, 4), batch(3.0, 4, 6)]
    assert direction_of(crossing(*falling), places(*falling)) == FALLING
    rising = [batch(1.0, 4, 6), batch(3.0, 6, 4)]
    assert direction_of(crossing(*rising), places(*rising)) == RISING


def test_aims_lie_on_both_sides_of_the_boundary_and_come_nearer() -> None:
    row = [batch(float(u), h, 50 - h) for u, h in enumerate((1, 9, 25, 41, 49))]
    found = crossing(*row)
    left, right = aims(found, 5_000, *row)
    assert left < 2.0 < right
    far = aims(crossing(*row), 100, *row)
    assert far[0] <= left
    assert far[1] >= right
    more = [batch(left, 0, 500), batch(right, 500, 0)]
    found.settle(more, Curve(2.0, 2.0, (0.0, 3.0, 0.0)))
    nearer = aims(found, 5_000, *row, *more)
    assert left < nearer[0] < nearer[1] < right


def test_aims_stay_within_what_is_not_excluded() -> None:
    # A curve that turns where nothing was seen must not draw the aims there.
    row = [batch(1.0, 0, 50), batch(2.0, 30, 20), batch(3.0, 50, 0), batch(4.0, 30, 20)]
    found = crossing(*row[:3], ways=(RISING,))
    left, right = aims(found, 5_000, *row)
    assert 1.0 <= left < right <= 3.0
