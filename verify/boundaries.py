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
width depends on how well q is chosen, its validity does not. What it rests on is that P is monotone
between the ends given: the caller looks for turns (`turning_points`).

Sources: Ville, Étude critique de la notion de collectif (1939); Waudby-Smith and Ramdas, JRSS B 86
(2024) 1–27, for betting; the pooling along an axis is ours [D].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from verify.statistics import confidence_sequence

Floats = np.ndarray[Any, np.dtype[np.float64]]

RISING, FALLING = "rising", "falling"

_BOLDNESS = (0.5, 1.0)
"""How far bets lie from the level, in log odds, as multiples of what is expected."""

_TRUST, _DOUBT = 300.0, 1.0
"""What the fitted curve counts for, in trials, once there is one and before there is."""

_RIDGE = 1e-2
"""Weight against large coefficients of the fitted curve, in trials."""


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
    """Where P crosses a level: an estimate, and the interval; infinite where an end is not known.

    estimate is NaN where the interval does not say that there is a crossing at all.
    """

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
    """Return the curve that fits the trials best, undecided ones counting half.

    Penalised maximum likelihood by Newton's method; with no trials it is P = ½ everywhere.
    """
    places = np.array([batch.place for batch in batches] or [0.0])
    trials = np.array([batch.trials for batch in batches] or [0], dtype=float)
    holds = np.array([batch.holds + batch.undecided / 2 for batch in batches] or [0.0])
    seen = trials > 0
    centre = float(places[seen].mean()) if seen.any() else 0.0
    width = float(np.ptp(places[seen])) / 2 if seen.any() else 0.0
    width = width or 1.0
    u = (places - centre) / width
    design = np.stack([np.ones_like(u), u, u * u], axis=1)
    w = np.zeros(3)
    for _ in range(60):
        p = 1 / (1 + np.exp(-np.clip(design @ w, -30, 30)))
        gradient = design.T @ (holds - trials * p) - _RIDGE * w
        curvature = (design * (trials * p * (1 - p))[:, None]).T @ design + _RIDGE * np.eye(3)
        step = np.linalg.solve(curvature, gradient)
        w = w + step * min(1.0, 4.0 / (np.abs(step).max() + 1e-300))
        if np.abs(step).max() < 1e-9:
            break
    return Curve(centre, width, (float(w[0]), float(w[1]), float(w[2])))


@dataclass
class Wager:
    """Bets against every place of the boundary of one level, round after round.

    direction: how P changes with u.   error: of the interval, over all times.
    """

    level: float
    direction: str
    error: float
    _places: list[float] = field(default_factory=list)
    _stakes: list[tuple[Floats, Floats]] = field(default_factory=list)
    _rounds: list[int] = field(default_factory=list)

    def settle(self, batches: Sequence[Batch], guide: Curve | None) -> None:
        """Take in a round of trials; guide: fitted to earlier rounds alone, None in the first."""
        for batch in batches:
            self._places.append(batch.place)
            expected = 0.5 if guide is None else float(guide(batch.place))
            trust = _DOUBT if guide is None else _TRUST
            # Undecided trials count for what is tested.
            at_least = self._gains(batch.outcomes != VIOLATED, expected, trust, above=False)
            at_most = self._gains(batch.outcomes == HOLDS, expected, trust, above=True)
            self._stakes.append((at_least, at_most))
        self._rounds.append(len(self._places))

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

    def interval(self) -> tuple[float, float]:
        """Return the ends of the places that are not excluded, infinite where none is.

        Ends are places of trials. Both are NaN where every place is excluded, which refutes that P
        is monotone.
        """
        if not self._places:
            return -math.inf, math.inf
        places = np.array(self._places)
        edges = np.unique(places)
        at_least, at_most = (np.stack([s[k] for s in self._stakes]) for k in (0, 1))
        # Candidates are the gaps between neighbouring places: gap g has edges[:g] to its left.
        left = places[None, :] < np.append(edges, math.inf)[:, None]
        low_side = left if self.direction == RISING else ~left  # where P ≤ level is what is said
        gains = np.where(low_side[:, :, None], at_most[None], at_least[None])
        capital = np.cumsum(gains, axis=1)[:, [end - 1 for end in self._rounds if end]]
        mixed = np.logaddexp.reduce(capital, axis=2) - math.log(capital.shape[2])
        open_ = np.flatnonzero(mixed.max(axis=1) < -math.log(self.error))
        if not open_.size:
            return math.nan, math.nan
        ends = np.concatenate([[-math.inf], edges, [math.inf]])
        return float(ends[open_[0]]), float(ends[open_[-1] + 1])


def estimated(wager: Wager, curve: Curve, low: float, high: float) -> Boundary:
    """Return the boundary: where the fitted curve crosses the level, within the interval.

    low, high: the ends of the axis.
    """
    first, last = wager.interval()
    if math.isnan(first) or (first == -math.inf and last == math.inf):
        return Boundary(math.nan, -math.inf, math.inf)
    if last <= low or first >= high:
        return Boundary(math.nan, first, last)
    within = max(first, low), min(last, high)
    return Boundary(crossing(curve, wager.level, wager.direction, *within), first, last)


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


def turning_points(batches: Sequence[Batch], error: float) -> list[float]:
    """Return the places where P certainly turns from rising to falling or back, in order.

    batches: one a place.   Each place has its own anytime-valid interval at an equal share of the
    error; a turn is an extreme that differs, interval from interval, from places on both sides.
    """
    ordered = sorted(batches, key=lambda batch: batch.place)
    share = error / max(1, len(ordered))
    bounds = [
        (
            b.place,
            confidence_sequence(b.holds, b.trials, share)[0],
            confidence_sequence(b.holds + b.undecided, b.trials, share)[1],
        )
        for b in ordered
    ]
    turns: list[float] = []
    highest = lowest = None  # (place, bound) of the extremes since the last turn
    going = ""
    for place, low, high in bounds:
        if highest is not None and high < highest[1] and going != FALLING:
            if going == RISING:
                turns.append(highest[0])
            going, lowest = FALLING, (place, high)
        elif lowest is not None and low > lowest[1] and going != RISING:
            if going == FALLING:
                turns.append(lowest[0])
            going, highest = RISING, (place, low)
        if highest is None or low > highest[1]:
            highest = (place, low)
        if lowest is None or high < lowest[1]:
            lowest = (place, high)
    return turns


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

    boundaries: with places log x.   Rows need an estimate, both ends and y > 1; None for fewer than
    three. The interval of p is exact: p is linear in the boundaries, which lie within theirs, all
    at once.
    """
    rows = [
        (math.log(v), b)
        for v, b in zip(y, boundaries, strict=True)
        if v > 1 and math.isfinite(b.estimate) and math.isfinite(b.low) and math.isfinite(b.high)
    ]
    if len({u for u, _ in rows}) < 3:
        return None
    u = np.array([place for place, _ in rows])
    shift = q * np.log(u)
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
