"""A stretch of a row that is taken to cross a level once, and the bets on where."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from verify.boundaries import ABOVE, BELOW, RISING, Batch, Curve, Wager


@dataclass
class Crossing:
    """A stretch of a row that crosses a level once.

    low, high: its ends.   wagers: one for each direction that it may have; the true one's interval
    is wrong with its error, so that what either leaves open is too.   aims: the places on both
    sides (−1, +1) where trials are drawn.
    """

    low: float
    high: float
    wagers: tuple[Wager, ...]
    aims: dict[int, float] = field(default_factory=dict)

    @staticmethod
    def between(
        low: float, high: float, level: float, directions: Sequence[str], error: float
    ) -> Crossing:
        """Return the stretch between two places."""
        return Crossing(low, high, tuple(Wager(level, way, error) for way in directions))

    def settle(self, batches: Sequence[Batch], guide: Curve | None) -> None:
        """Take in the trials of a round that lie on the stretch; guide: see `Wager.settle`."""
        inner = [batch for batch in batches if self.low <= batch.place <= self.high]
        for wager in self.wagers:
            wager.settle(inner, guide)

    @property
    def open(self) -> tuple[Wager, ...]:
        """The wagers whose direction is not excluded."""
        return tuple(wager for wager in self.wagers if not wager.excluded)

    @property
    def is_excluded(self) -> bool:
        """Whether the trials contradict a single crossing, in whichever direction."""
        return not self.open

    @property
    def direction(self) -> str | None:
        """The direction, where only one is not excluded."""
        known = self.open
        return known[0].direction if len(known) == 1 else None

    def interval(self) -> tuple[float, float]:
        """Return the ends of what is not excluded, in any direction; NaN where all is."""
        known = [wager.interval() for wager in self.open]
        if not known:
            return math.nan, math.nan
        return min(low for low, _ in known), max(high for _, high in known)

    @property
    def beyond(self) -> int | None:
        """The side on which P stays if all places on the stretch are excluded, in every direction
        that is not: `boundaries.ABOVE` or BELOW; None where a crossing may lie on it."""
        sides = set()
        for wager in self.open:
            low, high = wager.interval()
            if low < self.high and high > self.low:
                return None
            before = high <= self.low
            sides.add(ABOVE if before == (wager.direction == RISING) else BELOW)
        return sides.pop() if len(sides) == 1 else None

    @property
    def is_beyond(self) -> bool:
        """Whether P stays on one side, as far as a single crossing goes."""
        return self.beyond is not None
