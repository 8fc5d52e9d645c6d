"""What is timed goes out as it is, and comes back with the seconds that it took."""

import math
import pickle

import pytest

from properties.search import hunt_task
from verify.engine.executors import ProcessPool, Timed, map_unordered, timing
from verify.engine.executors.orders import Order


def test_the_seconds_are_those_of_the_clock(monkeypatch):
    seconds = iter([3.0, 4.5, 10.0, 12.0])
    monkeypatch.setattr(timing, "clock", lambda: next(seconds))
    assert list(map_unordered(None, Timed(math.sqrt), [4, 9])) == [(4, (2.0, 1.5)), (9, (3.0, 2.0))]


def test_what_is_raised_is_raised():
    with pytest.raises(ValueError, match="math domain"):
        Timed(math.sqrt)(-1)


def test_it_goes_to_workers_as_the_function_itself():
    assert pickle.loads(pickle.dumps(Timed(abs)))(-3)[0] == 3
    assert Order.of(Timed(hunt_task)).environment == Order.of(hunt_task).environment
    with ProcessPool(1) as pool:
        ((task, (result, seconds)),) = map_unordered(pool, Timed(abs), [-3])
    assert (task, result) == (-3, 3)
    assert seconds >= 0
