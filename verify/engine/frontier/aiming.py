"""Where to draw the next trials of a crossing: on both sides, as near as trials can tell."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Protocol

import numpy as np

from verify.boundaries import FALLING, RISING, Batch, Curve, crossing
from verify.engine.frontier.crossings import Crossing
from verify.engine.frontier.grids import Grid
from verify.margin import Floats
from verify.space import Coordinate

_SPARE = 3.0
"""Evidence beyond what excludes a place, in natural logarithms, that a distance is chosen for."""

_FEW, _NEARER = 4, 0.5
"""Blocks that should exclude a first aim, and how much nearer the next one is."""


class Sampled(Protocol):
    """A place where trials were drawn."""

    u: float
    batch: Batch


def direction_of(stretch: Crossing, places: Mapping[Coordinate, Sampled]) -> str:
    """Return the direction of a stretch, by the trend where both may be."""
    if stretch.direction is not None:
        return stretch.direction
    batches = [p.batch for p in places.values() if stretch.low <= p.u <= stretch.high]
    rates = [(batch.place, batch.holds / batch.trials) for batch in batches if batch.trials]
    middle = sum(place for place, _ in rates) / max(1, len(rates))
    trend = sum((place - middle) * rate for place, rate in rates)
    return FALLING if trend < 0 else RISING


def aims_of(
    stretch: Crossing,
    curve: Curve,
    grid: Grid,
    places: Mapping[Coordinate, Sampled],
    left: int,
    block: int,
) -> list[float]:
    """Return two places, one on each side of where a boundary is believed to be.

    curve: fitted to all trials on the stretch.   left: trials for each side that are left.
    block: trials that are drawn together.
    An aim stays where it is until its place is excluded, the boundary is believed to lie beyond it,
    or the trials that are left cannot exclude it; the next one is nearer, or farther.
    """
    way = direction_of(stretch, places)
    level, error = stretch.wagers[0].level, stretch.wagers[0].error
    first, last = stretch.interval()
    centre = crossing(curve, level, way, max(first, stretch.low), min(last, stretch.high))
    evidence = math.log(1 / error) + _SPARE

    def away(sign: int, trials: int) -> float:
        return _away(curve, level, centre, sign, stretch, grid.step, evidence / trials)

    for sign, end in ((-1, first), (1, last)):
        aim = stretch.aims.get(sign)
        if aim is not None:
            place = places.get(grid.nearest(aim))
            trials = left + (0 if place is None else place.batch.trials)
            told = trials * float(_divergence(curve(aim), level))
            excluded, near = sign * (end - aim) <= 0, sign * (aim - centre) < grid.step
            if not excluded and not near and told >= evidence:
                continue
        easy, nearest = away(sign, _FEW * block), away(sign, max(1, left))
        nearer = centre + _NEARER * (end - centre) if math.isfinite(end) else easy
        wanted = min((easy, nearer), key=lambda place: abs(place - centre))
        wanted = max((wanted, nearest), key=lambda place: abs(place - centre))
        stretch.aims[sign] = grid.place(float(grid.nearest(wanted)))
    return [stretch.aims[sign] for sign in (-1, 1)]


def _away(
    curve: Curve,
    level: float,
    centre: float,
    sign: int,
    stretch: Crossing,
    step: float,
    needed: float,
) -> float:
    """Return the place nearest to the centre where a trial tells enough, or the end.

    needed: evidence a trial, in nats, with probabilities as the fitted curve has them.
    """
    end = stretch.high if sign > 0 else stretch.low
    places = centre + sign * step * np.arange(1, math.ceil(abs(end - centre) / step))
    told = np.flatnonzero(_divergence(curve(places), level) >= needed)
    return float(places[told[0]]) if told.size else end


def _divergence(p: Floats, q: float) -> Floats:
    """Return the Kullback–Leibler divergence of coins of probability p from one of q, in nats."""
    p = np.clip(p, 1e-12, 1 - 1e-12)
    return np.asarray(p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q)))
