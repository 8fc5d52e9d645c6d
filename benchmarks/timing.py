"""Times of things measured alternately: medians, and ratios round by round, with their spread.

A machine's speed drifts while it is measured. What is compared is therefore run in turn, and a
ratio is taken within every round before its median is.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

FEWEST_ROUNDS, MOST_ROUNDS = 3, 25


@dataclass(frozen=True)
class Spread:
    """The least, the median and the largest of several measured numbers, in their unit."""

    low: float
    median: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Return the spread of at least one number."""
        return cls(min(values), statistics.median(values), max(values))


@dataclass(frozen=True)
class Rounds:
    """Seconds that each contender took, by name, one number a round."""

    seconds: Mapping[str, Sequence[float]]

    def spread(self, name: str, scale: float = 1.0) -> Spread:
        """Return the spread of one contender's seconds times `scale`."""
        return Spread.of([scale * value for value in self.seconds[name]])

    def rate(self, name: str, count: float) -> Spread:
        """Return the spread of `count` over one contender's seconds, in 1/s."""
        return Spread.of([count / value for value in self.seconds[name]])

    def ratio(self, above: str | Sequence[str], below: str | Sequence[str]) -> Spread:
        """Return the spread, over the rounds, of one time over another.

        above, below: a contender, or several whose times are added.
        """
        pairs = zip(self._added(above), self._added(below), strict=True)
        return Spread.of([a / b for a, b in pairs])

    def total(self, names: Sequence[str], scale: float = 1.0) -> Spread:
        """Return the spread, over the rounds, of the sum of some contenders' times `scale`."""
        return Spread.of([scale * value for value in self._added(names)])

    def _added(self, names: str | Sequence[str]) -> list[float]:
        chosen = [names] if isinstance(names, str) else names
        columns = zip(*(self.seconds[name] for name in chosen), strict=True)
        return [sum(times) for times in columns]


def seconds_of(function: Callable[[], object]) -> float:
    """Return how many seconds a call takes."""
    began = time.perf_counter()
    function()
    return time.perf_counter() - began


def alternately(
    contenders: Mapping[str, Callable[[], Any]],
    budget: float,
    *,
    fewest: int = FEWEST_ROUNDS,
    cold: Collection[str] = (),
    clock: Callable[[Callable[[], Any]], float] = seconds_of,
) -> Rounds:
    """Time the contenders in turn, round after round, as many rounds as fit into the budget.

    budget: seconds; at least `fewest` rounds and at most `MOST_ROUNDS` are made. One call of
    each goes ahead unmeasured, to load what it needs and to say how long a round takes.
    cold: names of contenders that no call goes ahead of.   clock: calls a contender and returns
    its seconds.
    """
    ahead = sum(clock(function) for name, function in contenders.items() if name not in cold)
    rounds = min(max(fewest, int(budget / ahead) if ahead > 0 else 0), MOST_ROUNDS)
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, function in contenders.items():
            times[name].append(clock(function))
    return Rounds(times)
