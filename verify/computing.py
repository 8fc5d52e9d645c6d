"""How long it took to compute what verdicts rest on: beside the verdicts, and no part of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Computing:
    """Seconds of workers, by the clock on the wall: those of one that runs beside another add up.

    in_all: of every block of trials, and part of a search, that something rests on, whenever and
    wherever it was made.   now: of those among them that were made just now.   shares: by the id
    of a claim, control, measure or chain. What is evaluated on one block shares its time evenly,
    since it shares what takes most of it; a search is its claim's.   untimed: how many blocks and
    parts it is not known of.
    """

    in_all: float = 0.0
    now: float = 0.0
    shares: Mapping[str, float] = field(default_factory=dict)
    untimed: int = 0

    @staticmethod
    def of(pieces: Iterable[tuple[Iterable[str], float, bool]]) -> Computing:
        """Return the sum over pieces of work.

        pieces: of each the ids that share it, its seconds (NaN where they are not known), and
        whether it was made just now.
        """
        in_all, now, untimed = [], [], 0
        shares: dict[str, list[float]] = {}
        for ids, seconds, new in pieces:
            if math.isnan(seconds):
                untimed += 1
                continue
            in_all.append(seconds)
            now += [seconds] * new
            names = tuple(ids)
            for name in names:
                shares.setdefault(name, []).append(seconds / len(names))
        sums = {name: math.fsum(each) for name, each in shares.items()}
        return Computing(math.fsum(in_all), math.fsum(now), sums, untimed)

    def __add__(self, other: Computing) -> Computing:
        names = dict.fromkeys((*self.shares, *other.shares))
        sums = {name: self.shares.get(name, 0.0) + other.shares.get(name, 0.0) for name in names}
        return Computing(
            self.in_all + other.in_all, self.now + other.now, sums, self.untimed + other.untimed
        )
