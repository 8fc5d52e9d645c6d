"""One event's frontier: how often it holds along an axis, sampled where its boundaries lie.

A coarse grid comes first, so that islands are not missed; then rounds of trials on both sides of
where each boundary is believed to be, at a distance at which those that are left can tell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from verify.boundaries import (
    FALLING,
    RISING,
    Batch,
    Boundary,
    Curve,
    Wager,
    crossing,
    estimated,
    fitted,
    turning_points,
)
from verify.engine.evaluate import Record
from verify.engine.frontier.grids import Grid
from verify.engine.gather import Blocks, Key
from verify.engine.plan import Cell
from verify.margin import Floats
from verify.space import Coordinate

Outcomes = np.ndarray[Any, np.dtype[np.int8]]
"""(T,), `boundaries.HOLDS`, UNDECIDED or VIOLATED of each trial in scope."""

COARSE = 13
"""Values of the coarse grid along a row."""

_SPARE = 3.0
"""Evidence beyond what excludes a place, in natural logarithms, that a distance is chosen for."""

_FEW, _NEARER = 4, 0.5
"""Blocks that should exclude a first aim, and how much nearer the next one is."""


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
    """The bets on one level, and the places on both sides (−1, +1) at which they are aimed."""

    wager: Wager
    aims: dict[int, float] = field(default_factory=dict)


@dataclass
class Segment:
    """A stretch of a row along which the probability is monotone."""

    low: float
    high: float
    direction: str
    levels: list[Level]

    def holds(self, place: float) -> bool:
        """Whether a place lies on it."""
        return self.low <= place <= self.high


@dataclass
class Row:
    """One row: its places by value, and its segments once the coarse grid has been seen."""

    y: Coordinate | None
    places: dict[Coordinate, Place] = field(default_factory=dict)
    segments: list[Segment] = field(default_factory=list)

    def curve(self, segment: Segment) -> Curve:
        """Return the curve fitted to all trials on a segment."""
        return fitted([p.batch for p in self.places.values() if segment.holds(p.u)])

    def boundary(self, segment: Segment, wager: Wager) -> Boundary:
        """Return where a segment crosses a level, as known by now."""
        return estimated(wager, self.curve(segment), segment.low, segment.high)


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
        self.rows = [Row(y) for y in rows]
        self.spent = 0
        self._share = error / len(self.rows)

    def run(self, budget: int, told: Callable[[int], None]) -> None:
        """Sample the coarse grid, then the boundaries until the budget (in trials) is spent.

        told: called with the trials so far, after each round. The coarse grid is sampled whatever
        the budget is.
        """
        coarse = [(row, x) for row in self.rows for x in self.grid.spread(COARSE)]
        self._sample(coarse)
        told(self.spent)
        for row in self.rows:
            row.segments = self._segments(row)
            self._settle(row, [place.batch for place in row.places.values()], None)
        size = self.blocks.theorem.block
        while (open_ := self._open()) and self.spent + 2 * len(open_) * size <= budget:
            left = (budget - self.spent) // (2 * len(open_))
            asked = [
                (row, x)
                for row, segment, level in open_
                for x in self._beside(row, segment, level, left)
            ]
            guides = {id(s): row.curve(s) for row in self.rows for s in row.segments}
            for row, batches in self._sample(asked):
                self._settle(row, batches, guides)
            told(self.spent)

    def _open(self) -> list[tuple[Row, Segment, Level]]:
        """Return what may have a boundary that more trials would bring nearer."""
        return [
            (row, segment, level)
            for row in self.rows
            for segment in row.segments
            for level in segment.levels
            if _is_open(segment, *level.wager.interval())
        ]

    def _segments(self, row: Row) -> list[Segment]:
        """Return the monotone stretches of a row, by the coarse grid: the whole row, unless the
        probability certainly turns.

        Half of the row's error goes to finding turns, half to the intervals; where there are turns,
        to all that there might be.
        """
        batches = [place.batch for place in row.places.values()]
        turns = turning_points(batches, self._share / 2)
        low, high = self.grid.ends
        ends = [low, *turns, high]
        # Direction and stretch are chosen by the trials that are bet on: all choices are paid for.
        choices = 2 * (len(batches) if turns else 1)
        error = self._share / 2 / choices / len(self.levels)
        found = []
        for first, last in pairwise(ends):
            inner = [batch for batch in batches if first <= batch.place <= last]
            direction = _direction(inner)
            levels = [Level(Wager(level, direction, error)) for level in self.levels]
            found.append(Segment(first, last, direction, levels))
        return found

    def _sample(self, asked: Sequence[tuple[Row, Coordinate]]) -> list[tuple[Row, list[Batch]]]:
        """Sample the next block at each place that is asked for, and return what came out."""
        keys: list[tuple[Row, Place, Key]] = []
        for row, x in asked:
            place = row.places.setdefault(x, Place(x, self.grid.place(float(x))))
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

    def _settle(self, row: Row, batches: Sequence[Batch], guides: dict[int, Curve] | None) -> None:
        """Let every bet of a row take in new trials; guides: the curves fitted before them."""
        for segment in row.segments:
            guide = None if guides is None else guides[id(segment)]
            inner = [batch for batch in batches if segment.holds(batch.place)]
            for level in segment.levels:
                level.wager.settle(inner, guide)

    def _beside(self, row: Row, segment: Segment, level: Level, left: int) -> list[Coordinate]:
        """Return two values, one on each side of where a boundary is believed to be.

        left: trials for each side that are left. An aim stays where it is until its place is
        excluded, the boundary is believed to lie beyond it, or the trials that are left cannot
        exclude it; the next one is nearer, or farther.
        """
        curve, wager = row.curve(segment), level.wager
        ends = segment.low, segment.high
        centre = crossing(curve, wager.level, wager.direction, *ends)
        for sign, end in zip((-1, 1), wager.interval(), strict=True):
            aim = level.aims.get(sign)
            excluded = aim is not None and sign * (end - aim) <= 0
            near = aim is None or excluded or sign * (aim - centre) < self.grid.step
            if aim is None or near or self._is_hopeless(row, curve, wager, aim, left):
                wanted = self._aim(curve, wager, centre, sign, end, ends, left)
                level.aims[sign] = self.grid.place(float(self.grid.nearest(wanted)))
        return [self.grid.nearest(level.aims[sign]) for sign in (-1, 1)]

    def _is_hopeless(self, row: Row, curve: Curve, wager: Wager, aim: float, left: int) -> bool:
        """Whether the trials that are left are unlikely to exclude an aim."""
        place = row.places.get(self.grid.nearest(aim))
        trials = left + (0 if place is None else place.batch.trials)
        evidence = math.log(1 / wager.error) + _SPARE
        return trials * _divergence(float(curve(aim)), wager.level) < evidence

    def _aim(
        self,
        curve: Curve,
        wager: Wager,
        centre: float,
        sign: int,
        end: float,
        ends: tuple[float, float],
        left: int,
    ) -> float:
        """Return the place to sample next on one side of the centre.

        Where a few blocks should exclude it, or nearer than what is excluded; but not so near that
        the trials that are left cannot.
        """
        evidence = math.log(1 / wager.error) + _SPARE

        def away(trials: int) -> float:
            return self._away(curve, wager.level, centre, sign, ends, evidence / trials)

        easy, nearest = away(_FEW * self.blocks.theorem.block), away(max(1, left))
        nearer = centre + _NEARER * (end - centre) if math.isfinite(end) else easy
        wanted = min((easy, nearer), key=lambda place: abs(place - centre))
        return max((wanted, nearest), key=lambda place: abs(place - centre))

    def _away(
        self,
        curve: Curve,
        level: float,
        centre: float,
        sign: int,
        ends: tuple[float, float],
        needed: float,
    ) -> float:
        """Return the place nearest to the centre where a trial tells enough, or the end.

        needed: evidence a trial, in nats, with probabilities as the fitted curve has them.
        """
        low, high = ends
        step = self.grid.step
        for count in range(1, math.ceil((high - low) / step) + 1):
            place = centre + sign * count * step
            if not low < place < high:
                break
            if _divergence(float(curve(place)), level) >= needed:
                return place
        return high if sign > 0 else low


def sorted_places(row: Row) -> list[Place]:
    """Return the places of a row in their order along x."""
    return sorted(row.places.values(), key=lambda place: place.u)


def _is_open(segment: Segment, low: float, high: float) -> bool:
    """Whether a boundary may lie on a segment; not where all places are excluded (NaN)."""
    return low < segment.high and high > segment.low


def _direction(batches: Sequence[Batch]) -> str:
    """Return whether the probability rather rises or falls: by the sign of the trend."""
    rates = [(b.place, b.holds / b.trials) for b in batches if b.trials]
    middle = sum(place for place, _ in rates) / max(1, len(rates))
    trend = sum((place - middle) * rate for place, rate in rates)
    return FALLING if trend < 0 else RISING


def _divergence(p: float, q: float) -> float:
    """Return the Kullback–Leibler divergence of a coin of probability p from one of q, in nats."""
    p = min(max(p, 1e-12), 1 - 1e-12)
    return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))
