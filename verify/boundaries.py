"""Where a probability crosses a level along an axis: estimates, and intervals valid at any time.

The trials of a frontier are placed where earlier ones leave doubt, so no bound for a sample of
fixed size applies. Instead the hypothesis "the boundary lies at b" is tested by betting against it
[D]: where the probability P rises with u, it says that P ≤ level at every u < b and P ≥ level at
every u > b. Before each trial a probability q is named, from what was seen earlier; whoever stakes
on q against the level multiplies his capital by q/level at a trial that holds and by
(1−q)/(1−level) at one that does not. With q < level at u ≥ b, and q > level at u ≤ b, the
expected capital never grows if the boundary is at b, whatever the placement of the trials was; so
by Ville's inequality it ever reaches 1/error with probability ≤ error, and the b that have not cost
that much are an interval that holds at all times. All trials of a row bear on one interval; its
width depends on how well q is chosen, its validity does not. What it rests on is that P crosses the
level once between the ends, and this way round; a P that only rises or only falls does.

Sources: Ville, Étude critique de la notion de collectif (1939); Waudby-Smith and Ramdas, JRSS B 86
(2024) 1–27, for betting; the pooling along an axis is ours [D].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from verify.statistics import confidence_sequence

Floats = np.ndarray[Any, np.dtype[np.float64]]

RISING, FALLING = "rising", "falling"

_BOLDNESS = (0.5, 1.0)
"""How far bets lie from the level, in log odds, as multiples of what is expected."""

_TRUST, _DOUBT = 300.0, 1.0
"""What the fitted curve counts for, in trials, once there is one and before there is."""

_RIDGE, _NEWTON = 1e-2, 100
"""Weight against large coefficients of the fitted curve, in trials, and most steps of its fit."""


HOLDS, UNDECIDED, VIOLATED = 1, 0, -1
"""What came out of a trial."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Trials in scope at one place, in the order in which they were drawn.

    place: u, the coordinate along the axis, or its logarithm.   outcomes: (T,), of the three above.
    """

    place: float
    outcomes: np.ndarray[Any, np.dtype[np.int8]]

    @property
    def trials(self) -> int:
        """Trials in scope."""
        return int(self.outcomes.size)

    @property
    def holds(self) -> int:
        """Those that hold."""
        return int((self.outcomes == HOLDS).sum())

    @property
    def undecided(self) -> int:
        """Those that are not decided."""
        return int((self.outcomes == UNDECIDED).sum())

    @property
    def violated(self) -> int:
        """Those that do not hold."""
        return int((self.outcomes == VIOLATED).sum())


@dataclass(frozen=True)
class Boundary:
    """Where P crosses a level: an estimate, and the interval that holds at any time."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class Curve:
    """A fitted curve of P against u: log odds quadratic in u. A guide for bets, never evidence."""

    centre: float
    width: float
    coefficients: tuple[float, float, float]

    def __call__(self, place: Any) -> Floats:
        """Return P at places, of their shape."""
        u = (np.asarray(place, dtype=float) - self.centre) / self.width
        a, b, c = self.coefficients
        return np.asarray(1 / (1 + np.exp(-np.clip(a + b * u + c * u * u, -30, 30))))


def fitted(batches: Sequence[Batch]) -> Curve:
    """Return the curve that fits the trials best, undecided ones left out.

    Penalised maximum likelihood by Newton's method, halving steps that lead down; with no trials it
    is P = ½ everywhere.
    """
    places = np.array([batch.place for batch in batches] or [0.0])
    holds = np.array([batch.holds for batch in batches] or [0], dtype=float)
    trials = holds + np.array([batch.violated for batch in batches] or [0], dtype=float)
    seen = trials > 0
    centre = float(places[seen].mean()) if seen.any() else 0.0
    width = float(np.ptp(places[seen])) / 2 if seen.any() else 0.0
    width = width or 1.0
    u = (places - centre) / width
    design = np.stack([np.ones_like(u), u, u * u], axis=1)
    w = np.zeros(3)
    for _ in range(_NEWTON):
        p = 1 / (1 + np.exp(-np.clip(design @ w, -30, 30)))
        gradient = design.T @ (holds - trials * p) - _RIDGE * w
        curvature = (design * (trials * p * (1 - p))[:, None]).T @ design + _RIDGE * np.eye(3)
        step = np.linalg.solve(curvature, gradient)
        before, size = _penalised(design, holds, trials, w), 1.0
        while size > 1e-9 and _penalised(design, holds, trials, w + size * step) < before:
            size /= 2
        w = w + size * step
        if size * np.abs(step).max() < 1e-9:
            break
    return Curve(centre, width, (float(w[0]), float(w[1]), float(w[2])))


class Wager:
    """Bets against every place of the boundary of one level, round after round.

    direction: how P changes with u.   error: of the interval, over all times, where P does change
    so. Of the two directions that a row may have only the true one's interval is promised anything:
    bet on both and report what either leaves open, and no more error is spent than on one.
    """

    def __init__(self, level: float, direction: str, error: float) -> None:
        self.level, self.direction, self.error = level, direction, error
        # Candidates are the gaps between neighbouring places of trials: gap g ends at edge g.
        self._edges = np.zeros(0)
        self._capital = np.zeros((1, len(_BOLDNESS)))
        self._most = np.zeros(1)

    def settle(self, batches: Sequence[Batch], guide: Curve | None) -> None:
        """Take in a round of trials; guide: fitted to earlier rounds alone, None in the first."""
        for batch in batches:
            expected = 0.5 if guide is None else float(guide(batch.place))
            trust = _DOUBT if guide is None else _TRUST
            # Undecided trials count for what is tested.
            at_least = self._gains(batch.outcomes != VIOLATED, expected, trust, above=False)
            at_most = self._gains(batch.outcomes == HOLDS, expected, trust, above=True)
            before, after = at_least, at_most  # gains of gaps before the place, and after it
            if self.direction == FALLING:
                before, after = after, before
            place = self._index_of(batch.place)
            self._capital[: place + 1] += before
            self._capital[place + 1 :] += after
        mixed = np.logaddexp.reduce(self._capital, axis=1) - math.log(len(_BOLDNESS))
        self._most = np.maximum(self._most, mixed)

    def _index_of(self, place: float) -> int:
        """Return the index of an edge; a new one splits its gap, whose past both parts share."""
        index = int(np.searchsorted(self._edges, place))
        if index == self._edges.size or self._edges[index] != place:
            self._edges = np.insert(self._edges, index, place)
            self._capital = np.insert(self._capital, index, self._capital[index], axis=0)
            self._most = np.insert(self._most, index, self._most[index])
        return index

    def _gains(self, held: Any, expected: float, trust: float, above: bool) -> Floats:
        """Return the logarithm of what each bet gains on a batch, (K,).

        held: (T,), which trials count as holding.   expected, trust: what was expected of P, and
        the trials that this counts for; each trial is then bet on as the ones before it suggest.
        above: bets stake on P > level only, against P ≤ level; else the other way round.
        """
        before = np.cumsum(held) - held
        seen = np.arange(held.size)
        q = np.clip((trust * expected + before) / (trust + seen), 1e-4, 1 - 1e-4)
        odds, level = np.log(q / (1 - q)), math.log(self.level / (1 - self.level))
        apart = np.maximum(odds - level, 0.0) if above else np.minimum(odds - level, 0.0)
        bets = 1 / (1 + np.exp(-level - np.array(_BOLDNESS)[:, None] * apart[None, :]))
        gained = np.where(held, np.log(bets / self.level), np.log((1 - bets) / (1 - self.level)))
        return np.asarray(gained.sum(axis=1))

    @property
    def excluded(self) -> bool:
        """Whether every place is: P does not change in this direction."""
        return math.isnan(self.interval()[0])

    def interval(self) -> tuple[float, float]:
        """Return the ends of the places that are not excluded, infinite where none is.

        Ends are places of trials. Both are NaN where every place is excluded.
        """
        open_ = np.flatnonzero(self._most < -math.log(self.error))
        if not open_.size:
            return math.nan, math.nan
        ends = np.concatenate([[-math.inf], self._edges, [math.inf]])
        return float(ends[open_[0]]), float(ends[open_[-1] + 1])


def crossing(curve: Curve, level: float, direction: str, low: float, high: float) -> float:
    """Return where a curve crosses a level between two places, or the end nearest to it."""
    grid = np.linspace(low, high, 2_001)
    above = curve(grid) >= level
    wanted = above if direction == RISING else ~above
    # The place with the fewest points of the grid on the wrong side: for a curve that turns.
    wrong = np.concatenate([[0], np.cumsum(wanted)]) + np.concatenate(
        [np.cumsum(~wanted[::-1])[::-1], [0]]
    )
    place = int(np.argmin(wrong))
    if place in (0, grid.size):
        return float(grid[min(place, grid.size - 1)])
    return float((grid[place - 1] + grid[place]) / 2)


def own_interval(batch: Batch, error: float) -> tuple[float, float]:
    """Return the anytime-valid interval of P at one place, from the trials there alone."""
    low = confidence_sequence(batch.holds, batch.trials, error)[0]
    high = confidence_sequence(batch.holds + batch.undecided, batch.trials, error)[1]
    return low, high


ABOVE, BELOW, UNCLEAR = 1, -1, 0
"""On which side of a level P lies at a place."""


def side_of(batch: Batch, level: float, error: float) -> int:
    """Return on which side of a level P is at one place, from the trials there alone."""
    low, high = own_interval(batch, error)
    return ABOVE if low >= level else BELOW if high < level else UNCLEAR


def turns(batches: Sequence[Batch], error: float) -> bool:
    """Say whether P certainly turns from rising to falling or back.

    batches: one a place.   error: of each place's own interval. It turns if places on both sides of
    some place certainly lie both below it or both above it.
    """
    ordered = sorted(batches, key=lambda batch: batch.place)
    bounds = [own_interval(batch, error) for batch in ordered]
    for k in range(1, len(bounds) - 1):
        before, after = bounds[:k], bounds[k + 1 :]
        low, high = bounds[k]
        if any(b[1] < low for b in before) and any(b[1] < low for b in after):
            return True
        if any(b[0] > high for b in before) and any(b[0] > high for b in after):
            return True
    return False


def _penalised(design: Floats, holds: Floats, trials: Floats, w: Floats) -> float:
    """Return the logarithm of the penalised likelihood, which is concave in the coefficients w."""
    odds = design @ w
    likelihood = holds * odds - trials * np.logaddexp(0.0, odds)
    return float(likelihood.sum() - _RIDGE * (w @ w) / 2)


@dataclass(frozen=True)
class Law:
    """A law boundary = a·y^p·(log y)^q along the other axis, with q fixed.

    p_low, p_high: of the least-squares exponent of the true boundaries, whatever they are within
    their intervals.   consistent: whether some a and p meet all the intervals.
    """

    q: int
    p: float
    p_low: float
    p_high: float
    a: float
    consistent: bool


def fit_law(y: Sequence[float], boundaries: Sequence[Boundary], q: int) -> Law | None:
    """Fit log boundary = log a + p·log y + q·log log y by least squares over the rows.

    boundaries: with places log x.   Rows need an estimate, both ends and y > 0, at q = 1 y > 1;
    None for fewer than three. The interval of p is exact: p is linear in the boundaries, which lie
    within theirs, all at once.
    """
    above = 1 if q else 0
    rows = [
        (math.log(v), b)
        for v, b in zip(y, boundaries, strict=True)
        if v > above
        and math.isfinite(b.estimate)
        and math.isfinite(b.low)
        and math.isfinite(b.high)
    ]
    if len({u for u, _ in rows}) < 3:
        return None
    u = np.array([place for place, _ in rows])
    shift = q * np.log(u) if q else 0.0
    low, middle, high = (
        np.array([getattr(b, name) for _, b in rows]) - shift
        for name in ("low", "estimate", "high")
    )
    weights = (u - u.mean()) / np.sum((u - u.mean()) ** 2)
    p = float(weights @ middle)
    p_low = float(np.where(weights > 0, weights * low, weights * high).sum())
    p_high = float(np.where(weights > 0, weights * high, weights * low).sum())
    a = math.exp(float(middle.mean() - p * u.mean()))
    return Law(q, p, p_low, p_high, a, _some_line_meets(u, low, high))


def _some_line_meets(u: Floats, low: Floats, high: Floats) -> bool:
    """Whether a straight line passes through all the intervals [low, high] at u.

    If one does, one does through the end of one interval and the opposite end of another.
    """
    slack = 1e-9 * (1 + np.abs(np.concatenate([low, high])).max())
    for i in range(u.size):
        for j in range(u.size):
            if u[i] == u[j]:
                continue
            slope = (high[j] - low[i]) / (u[j] - u[i])
            line = low[i] + slope * (u - u[i])
            if ((line >= low - slack) & (line <= high + slack)).all():
                return True
    return False
