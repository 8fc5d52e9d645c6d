"""Times: rounds in turn, spreads, ratios within a round. The clock here is a list of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from benchmarks.timing import MOST_ROUNDS, Rounds, Spread, alternately


def fake(times: dict[str, list[float]], log: list[str]) -> dict[str, Callable[[], float]]:
    """Return contenders that say how long they took, and write down when they were called."""

    def contender(name: str) -> Callable[[], float]:
        def call() -> float:
            log.append(name)
            return times[name].pop(0)

        return call

    return {name: contender(name) for name in times}


def clock(function: Callable[[], Any]) -> float:
    return float(function())


def test_contenders_run_in_turn_after_one_call_ahead() -> None:
    log: list[str] = []
    times = {"a": [9.0, 1.0, 2.0, 6.0], "b": [9.0, 2.0, 2.0, 3.0]}
    rounds = alternately(fake(times, log), budget=0.0, clock=clock)
    assert log == ["a", "b"] * 4
    assert rounds.spread("a", 10.0) == Spread(10.0, 20.0, 60.0)
    assert rounds.rate("a", 12) == Spread(2.0, 6.0, 12.0)
    assert rounds.ratio("a", "b") == Spread(0.5, 1.0, 2.0), "within rounds, not of the medians"


def test_what_is_cold_is_called_once() -> None:
    log: list[str] = []
    times = {"a": [9.0, 1.0], "slow": [90.0]}
    rounds = alternately(fake(times, log), 0.0, fewest=1, cold=("slow",), clock=clock)
    assert log == ["a", "a", "slow"]
    assert rounds.ratio("slow", "a").median == 90.0


@pytest.mark.parametrize(("budget", "rounds"), [(0.0, 3), (7.0, 7), (1e9, MOST_ROUNDS)])
def test_a_budget_buys_rounds(budget: float, rounds: int) -> None:
    log: list[str] = []
    alternately(fake({"a": [1.0] * 100}, log), budget, clock=clock)
    assert len(log) == 1 + rounds


def test_times_are_added_within_rounds() -> None:
    rounds = Rounds({"whole": [6.0, 8.0], "one": [1.0, 3.0], "two": [2.0, 1.0]})
    assert rounds.total(("one", "two"), 2.0) == Spread(6.0, 7.0, 8.0)
    assert rounds.ratio("whole", ("one", "two")) == Spread(2.0, 2.0, 2.0)
