"""One event's frontier: how often it holds along an axis, sampled where its boundaries lie.

A coarse grid comes first, so that islands wider than its gaps are not missed; then rounds of trials
on both sides of where each boundary is believed to be, at a distance at which those that are left
can tell. A row is taken to cross each level once, in a direction that the trials decide
(`crossings.Crossing`), until they contradict that; then every place is asked on which side of the
level it is, and each stretch between neighbours on opposite sides has a boundary of its own, judged
by trials drawn afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from verify.boundaries import (
    ABOVE,
    BELOW,
    FALLING,
    RISING,
    UNCLEAR,
    Batch,
    Curve,
    fitted,
    side_of,
    turns,
)
from verify.engine.evaluate import Record
from verify.engine.frontier.aiming import aims_of
from verify.engine.frontier.crossings import Crossing
from verify.engine.frontier.grids import Grid
from verify.engine.gather import Blocks, Key
from verify.engine.plan import Cell
from verify.margin import Floats
from verify.space import Coordinate

Outcomes = np.ndarray[Any, np.dtype[np.int8]]
"""(T,), `boundaries.HOLDS`, UNDECIDED or VIOLATED of each trial in scope."""

COARSE = 13
"""Values of the coarse grid along a row."""

_REFINEMENTS = 3
"""How often values are added around the extreme of a row that turns, to find its other side."""


@dataclass(frozen=True)
class Event:
    """What is counted on the trials of a block.

    cell: from the values of both axes to what is sampled (y None where there is one row).
    outcomes: what came of the trials in scope, and what is predicted of them, NaN where nothing is.
    """

    cell: Callable[[Coordinate, Coordinate | None], Cell]
    outcomes: Callable[[Record], tuple[Outcomes, Floats]]


@dataclass
class Place:
    """The trials at one value of a row."""

    x: Coordinate
    u: float
    number: int
    blocks: int = 0
    trials: int = 0
    batch: Batch = field(default_factory=lambda: Batch(0.0, np.zeros(0, dtype=np.int8)))
    predicted: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def prediction(self) -> float:
        """The mean of what is predicted, NaN where nothing is."""
        known = self.predicted[~np.isnan(self.predicted)]
        return float(known.mean()) if known.size else math.nan

    def add(self, outcomes: Outcomes, predicted: Floats, trials: int) -> Batch:
        """Take in the trials of one more block; return those in scope as a batch."""
        self.trials += trials
        self.predicted = np.concatenate([self.predicted, predicted])
        self.batch = Batch(self.u, np.concatenate([self.batch.outcomes, outcomes]))
        return Batch(self.u, outcomes)


@dataclass
class Level:
    """One level of one row: where it is crossed.

    crossings: the whole row, until it is seen to turn; then the stretches that cross it, once they
    are known.   explored: trials spent on which side the places of a row that turns are.
    """

    level: float
    crossings: list[Crossing]
    turned: bool = False
    explored: int = 0
    refined: int = 0


@dataclass
class Row:
    """One row: its places by value, in the order in which they were first sampled, and its levels.

    error: of all that is said of the row: a quarter for whether it turns, a quarter for the sides
    of its places, half for bets.
    """

    y: Coordinate | None
    error: float
    places: dict[Coordinate, Place] = field(default_factory=dict)
    levels: list[Level] = field(default_factory=list)

    def curve(self, low: float, high: float) -> Curve:
        """Return the curve fitted to all trials between two places."""
        return fitted([p.batch for p in self.places.values() if low <= p.u <= high])

    def sides(self, level: float) -> list[tuple[Place, int]]:
        """Return the side of a level on which each place with trials in scope is, in their order.

        All at once they are wrong with the probability that is kept for it: that of place number k
        is 6/(π²k²) of it, however many there will be.
        """
        share = self.error / 4 / len(self.levels) * 6 / math.pi**2
        return [
            (place, side_of(place.batch, level, share / place.number**2))
            for place in sorted_places(self)
            if place.batch.trials
        ]


class Survey:
    """The rows of one event, surveyed within a budget of trials.

    error: the probability that any interval of any row is wrong, at any time.
    """

    def __init__(
        self,
        event: Event,
        grid: Grid,
        rows: Sequence[Coordinate | None],
        levels: Sequence[float],
        error: float,
        blocks: Blocks,
    ) -> None:
        self.event, self.grid, self.levels, self.blocks = event, grid, levels, blocks
        self.rows = [Row(y, error / len(rows)) for y in rows]
        self.spent = 0

    def run(self, budget: int, told: Callable[[int], None]) -> None:
        """Sample the coarse grid, then the boundaries until the budget (in trials) is spent.

        told: called with the trials so far, after each round. The coarse grid is sampled whatever
        the budget is.
        """
        self._sample([(row, x) for row in self.rows for x in self.grid.spread(COARSE)])
        told(self.spent)
        for row in self.rows:
            self._begin(row)
        each = max(0, budget - self.spent) // (len(self.rows) * len(self.levels))
        while asked := self._asked(budget, each):
            guides = {
                id(crossing): row.curve(crossing.low, crossing.high)
                for row in self.rows
                for level in row.levels
                for crossing in level.crossings
            }
            for row, batches in self._sample(asked):
                for level in row.levels:
                    for crossing in level.crossings:
                        crossing.settle(batches, guides[id(crossing)])
                    self._turn_if_contradicted(row, level)
            told(self.spent)

    def _begin(self, row: Row) -> None:
        """Bet on the coarse grid, of a row that does not turn."""
        batches = [place.batch for place in row.places.values()]
        turned = turns(batches, row.error / 4 / len(batches))
        row.levels = [Level(level, [], turned) for level in self.levels]
        for level in row.levels if not turned else ():
            ends, error = self.grid.ends, row.error / 4 / len(self.levels)
            crossing = Crossing.between(*ends, level.level, (RISING, FALLING), error)
            crossing.settle(batches, None)
            level.crossings = [crossing]
            self._turn_if_contradicted(row, level)

    def _asked(self, budget: int, each: int) -> list[tuple[Row, Coordinate]]:
        """Return where to sample next, within the budget; nothing if nothing is open."""
        size = self.blocks.theorem.block
        open_ = [
            (row, level, crossing)
            for row in self.rows
            for level in row.levels
            for crossing in level.crossings
            if not crossing.is_beyond
        ]
        left = (budget - self.spent) // (2 * max(1, len(open_)))
        asked: list[tuple[Row, Coordinate]] = []
        for row in self.rows:
            for level in row.levels:
                asked += [(row, x) for x in self._of(row, level, left, each)]
        return asked if self.spent + len(asked) * size <= budget else []

    def _of(self, row: Row, level: Level, left: int, each: int) -> list[Coordinate]:
        """Return where a level of a row needs trials; nowhere in a row without any in scope."""
        if not any(place.batch.trials for place in row.places.values()):
            return []
        if level.turned and not level.crossings:
            if level.explored < each / 2:
                found = self._exploring(row, level)
                level.explored += len(found) * self.blocks.theorem.block
                if found:
                    return found
            level.crossings = self._stretches(row, level)
        found = []
        for crossing in level.crossings:
            if crossing.is_beyond:
                found += self._unclear(row, level)
            else:
                curve, size = row.curve(crossing.low, crossing.high), self.blocks.theorem.block
                wanted = aims_of(crossing, curve, self.grid, row.places, left, size)
                found += [self.grid.nearest(place) for place in wanted]
        return list(dict.fromkeys(found))

    def _unclear(self, row: Row, level: Level) -> list[Coordinate]:
        """Return two places at most of which it is not known on which side of the level they are:
        those of fewest trials."""
        unclear = [place for place, side in row.sides(level.level) if side == UNCLEAR]
        return [p.x for p in sorted(unclear, key=lambda p: (p.trials, p.u))[:2]]

    def _exploring(self, row: Row, level: Level) -> list[Coordinate]:
        """Return where a row that turns needs trials to be seen to cross a level."""
        sides = row.sides(level.level)
        known = {side for _, side in sides}
        if UNCLEAR in known:
            return self._unclear(row, level)
        if len(known) != 1 or level.refined >= _REFINEMENTS:
            return []
        level.refined += 1
        best = (min if known == {ABOVE} else max)(
            range(len(sides)), key=lambda k: sides[k][0].batch.holds / sides[k][0].batch.trials
        )
        near = [sides[k][0].u for k in (best - 1, best, best + 1) if 0 <= k < len(sides)]
        middles = [self.grid.nearest((u + v) / 2) for u, v in pairwise(near)]
        return [x for x in dict.fromkeys(middles) if x not in row.places]

    def _stretches(self, row: Row, level: Level) -> list[Crossing]:
        """Return the stretches between neighbours on opposite sides of a level, to be judged by
        trials that are still to be drawn."""
        known = [(place, side) for place, side in row.sides(level.level) if side != UNCLEAR]
        flips = [
            (one.u, other.u, RISING if side == BELOW else FALLING)
            for (one, side), (other, next_side) in pairwise(known)
            if side != next_side
        ]
        error = row.error / 4 / len(self.levels) / max(1, len(flips))
        return [Crossing.between(u, v, level.level, (way,), error) for u, v, way in flips]

    def _turn_if_contradicted(self, row: Row, level: Level) -> None:
        """Give up that a row crosses a level once where the trials say otherwise."""
        if level.turned:
            return
        (whole,) = level.crossings
        contradicted = whole.is_excluded
        if whole.is_beyond:
            other = BELOW if whole.beyond == ABOVE else ABOVE
            contradicted = any(side == other for _, side in row.sides(level.level))
        if contradicted:
            level.turned, level.crossings = True, []

    def _sample(self, asked: Sequence[tuple[Row, Coordinate]]) -> list[tuple[Row, list[Batch]]]:
        """Sample the next block at each place that is asked for, and return what came out."""
        keys: list[tuple[Row, Place, Key]] = []
        for row, x in asked:
            if x not in row.places:
                row.places[x] = Place(x, self.grid.place(float(x)), len(row.places) + 1)
            place = row.places[x]
            keys.append((row, place, (self.event.cell(x, row.y), place.blocks)))
            place.blocks += 1
        found = self.blocks.fetch([key for _, _, key in keys])
        batches: dict[int, list[Batch]] = {id(row): [] for row, _, _ in keys}
        for row, place, key in keys:
            outcomes, predicted = self.event.outcomes(found[key])
            size = self.blocks.theorem.block
            batches[id(row)].append(place.add(outcomes, predicted, size))
            self.spent += size
        distinct = {id(row): row for row, _, _ in keys}
        return [(row, batches[key]) for key, row in distinct.items()]


def sorted_places(row: Row) -> list[Place]:
    """Return the places of a row in their order along x."""
    return sorted(row.places.values(), key=lambda place: place.u)
