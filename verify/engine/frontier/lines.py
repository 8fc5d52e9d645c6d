"""What stands beside a claim's frontier: where certificates hold, where assumptions are met, and
what is predicted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from verify.boundaries import FALLING, RISING
from verify.claims import Claim, label_of
from verify.engine.frontier.events import point_of
from verify.engine.frontier.grids import Grid
from verify.engine.frontier.survey import COARSE, Survey, sorted_places
from verify.engine.gather import Blocks
from verify.engine.plan import Cell
from verify.frontiers import FrontierLine, FrontierRequest, FrontierRow, fits_of
from verify.space import Coordinate
from verify.theorem import Theorem

_BISECTIONS = 12
"""Halvings of the stretch of the coarse grid in which an assumption begins to be met."""

_CLEAR = 0.1
"""An assumption whose share of trials, at some value of the coarse grid, is neither below this nor
above what is left of 1 has no line: a matter of chance, it is no boundary between two regions."""

_MOST = 0.5
"""Share of the trials from which an assumption counts as met at a place."""


def prediction_line(claim: Claim, survey: Survey, request: FrontierRequest) -> FrontierLine:
    """Return where what is predicted crosses the levels: interpolated between the places."""
    rows = []
    for row in survey.rows:
        known = [
            (place.u, place.prediction)
            for place in sorted_places(row)
            if not math.isnan(place.prediction)
        ]
        trials = sum(place.trials for place in row.places.values())
        for level in request.levels:
            for at, way in _interpolated(known, level):
                x = survey.grid.value(at)
                rows.append(FrontierRow(row.y, level, x, None, None, trials, way, settled=True))
    meaning = "" if claim.prediction is None else label_of(claim.prediction)
    exact = [replace(row, low=row.boundary, high=row.boundary) for row in rows]
    fits, _ = fits_of(exact, request.levels, "")
    return FrontierLine("prediction", "prediction", meaning, tuple(rows), fits)


def _interpolated(known: Sequence[tuple[float, float]], level: float) -> list[tuple[float, str]]:
    """Return where values cross a level, with log odds linear between two places, and how."""
    above = _log_odds(np.clip([p for _, p in known], 1e-9, 1 - 1e-9)) - _log_odds(level)
    found = []
    for i in range(1, len(known)):
        if (above[i] >= 0) != (above[i - 1] >= 0):
            (u, v), part = (known[i - 1][0], known[i][0]), -above[i - 1]
            at = float(u + (v - u) * part / (above[i] - above[i - 1]))
            found.append((at, RISING if above[i] >= 0 else FALLING))
    if len(found) > 2 and found[0][1] == found[-1][1]:
        # Fluctuations where values and level are close: the middle one of an odd number.
        found = [found[len(found) // 2]]
    return found


def _log_odds(p: Any) -> Any:
    return np.log(p / (1 - p))


@dataclass
class _Flip:
    """Two neighbouring values of a row, at one of which most trials meet an assumption."""

    assumption: str
    y: Coordinate | None
    outside: float
    inside: float


def assumption_lines(
    theorem: Theorem, claim: Claim, request: FrontierRequest, grid: Grid, blocks: Blocks
) -> list[FrontierLine]:
    """Return, for each assumption that trials meet on a part of a row only, where it begins.

    The theorem's hypotheses and what the claim is given, certificates left out; the interval is
    that between two values next to each other, and no statistical one.
    """
    known = {a.id: a for a in (*theorem.hypotheses, *claim.given) if not a.certificate}
    ids = tuple(known)
    if not ids:
        return []

    def met(places: Sequence[tuple[Coordinate | None, Coordinate]]) -> list[dict[str, float]]:
        keys = [(Cell(point_of(request, x, y), "", (), 0, (), ids), 0) for y, x in places]
        found = blocks.fetch(keys)
        return [
            {name: float((found[key][f"given.{name}.value"] >= 0).mean()) for name in ids}
            for key in keys
        ]

    values = grid.spread(COARSE)
    coarse = [(y, x) for y in request.rows for x in values]
    shares = dict(zip(coarse, met(coarse), strict=True))
    flips = []
    for y in request.rows:
        for name in ids:
            if not all(_is_clear(shares[y, x][name]) for x in values):
                continue
            for x, other in pairwise(values):
                first, last = (shares[y, at][name] >= _MOST for at in (x, other))
                if first != last:
                    ends = float(x), float(other)
                    flips.append(_Flip(name, y, ends[first], ends[last]))
    for _ in range(_BISECTIONS):
        middles = [
            grid.nearest((grid.place(flip.outside) + grid.place(flip.inside)) / 2) for flip in flips
        ]
        asked = [(flip.y, middle) for flip, middle in zip(flips, middles, strict=True)]
        for flip, middle, share in zip(flips, middles, met(asked), strict=True):
            if share[flip.assumption] >= _MOST:
                flip.inside = float(middle)
            else:
                flip.outside = float(middle)
    rows = {name: [_row(f, theorem.block) for f in flips if f.assumption == name] for name in ids}
    return [
        FrontierLine("assumption", name, known[name].statement, tuple(found))
        for name, found in rows.items()
        if found
    ]


def _is_clear(share: float) -> bool:
    """Whether nearly all trials agree on whether an assumption is met."""
    return not _CLEAR < share < 1 - _CLEAR


def _row(flip: _Flip, block: int) -> FrontierRow:
    direction = RISING if flip.outside < flip.inside else FALLING
    low, high = sorted((flip.outside, flip.inside))
    trials = (COARSE + _BISECTIONS) * block
    return FrontierRow(flip.y, _MOST, flip.inside, low, high, trials, direction, settled=True)
