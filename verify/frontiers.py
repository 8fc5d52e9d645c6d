"""What a frontier came to: boundaries with intervals, laws along the other axis, and cells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verify.boundaries import Boundary, Law, fit_law
from verify.findings import json_values
from verify.space import Axis, Coordinate

FORMAT = "relu-verify frontier"
SCHEMA_VERSION = 1


@dataclass(frozen=True)
class FrontierRequest:
    """What is asked of a frontier.

    x: the axis along which the boundary is looked for, cut to the range that is asked for.
    y, y_values: the axis of the rows, and their values; None and () for a single row.
    at: coordinates that stay fixed.   levels: probabilities, each in (0, 1).
    budget: trials of the claim in all; the coarse grid is sampled whatever it is, and the lines
    beside the claim come on top.
    confidence: that no interval of the claim's boundaries is wrong, at any time.
    without: assumptions that are dropped; see `Theorem.scope`.
    """

    x: Axis
    y: Axis | None = None
    y_values: tuple[Coordinate, ...] = ()
    at: Mapping[str, Coordinate] | None = None
    levels: tuple[float, ...] = (0.5,)
    budget: int = 20_000
    confidence: float = 0.95
    root_seed: int = 0
    without: tuple[str, ...] = ()

    @property
    def rows(self) -> tuple[Coordinate | None, ...]:
        """The values of y, or None for the single row."""
        return self.y_values if self.y is not None else (None,)


@dataclass(frozen=True)
class FrontierRow:
    """Where one row crosses one level, in units of x; None where it is not known.

    low, high: the anytime-valid interval; None where that side is open.   trials: of the row.
    direction: how the probability changes with x, None where the trials leave that open.
    note: why there is no boundary, if so, or that there are several.   absent: whether at every
    value sampled the probability is certainly on one side.   settled: whether more trials could
    only sharpen what is said: there is a boundary with both ends, or it is absent.
    """

    y: Coordinate | None
    level: float
    boundary: float | None
    low: float | None
    high: float | None
    trials: int
    direction: str | None
    note: str = ""
    absent: bool = False
    settled: bool = False


@dataclass(frozen=True)
class FrontierCell:
    """The trials at one place: counts in scope, frequency with its own anytime-valid interval, and
    the mean of what is predicted."""

    y: Coordinate | None
    x: Coordinate
    trials: int
    in_scope: int
    holds: int
    violated: int
    undecided: int
    frequency: float | None
    low: float
    high: float
    prediction: float | None


@dataclass(frozen=True)
class FrontierFit(Law):
    """The law boundary = a·y^p·(log y)^q of one level."""

    level: float


@dataclass(frozen=True)
class Comparison:
    """Which of the laws with q = 0 and q = 1 the boundaries of a level are consistent with."""

    level: float
    verdict: str
    sentence: str


@dataclass(frozen=True)
class FrontierLine:
    """Another frontier beside the claim's: of a certificate, an assumption, or a prediction."""

    what: str
    id: str
    meaning: str
    rows: tuple[FrontierRow, ...]
    fits: tuple[FrontierFit, ...] = ()


@dataclass(frozen=True)
class Frontier:
    """Where a claim stops holding; trials: spent on the claim, on its coarse grid too."""

    theorem: str
    claim: str
    full_id: str
    statement: str
    request: FrontierRequest
    given: tuple[str, ...]
    left_out: tuple[str, ...]
    trials: int
    rows: tuple[FrontierRow, ...]
    fits: tuple[FrontierFit, ...]
    comparison: tuple[Comparison, ...]
    cells: tuple[FrontierCell, ...]
    lines: tuple[FrontierLine, ...]

    @property
    def settled(self) -> bool:
        """Whether every row is."""
        return all(row.settled for row in self.rows)

    def to_json(self) -> dict[str, Any]:
        """Return the frontier as JSON-able values."""
        content: dict[str, Any] = json_values(self)
        asked = self.request
        del content["request"]
        return {
            "format": FORMAT,
            "schema_version": SCHEMA_VERSION,
            **content,
            "x": _axis(asked.x),
            "y": None if asked.y is None else _axis(asked.y),
            "at": dict(asked.at or {}),
            "levels": list(asked.levels),
            "budget": asked.budget,
            "confidence": asked.confidence,
            "seed": asked.root_seed,
            "without": list(asked.without),
        }


def _axis(axis: Axis) -> dict[str, Any]:
    told = {"name": axis.name, "meaning": axis.meaning, "scale": axis.scale}
    return {**told, "low": axis.low, "high": axis.high, "choices": list(axis.choices)}


def fits_of(
    rows: Sequence[FrontierRow], levels: Sequence[float], name: str
) -> tuple[tuple[FrontierFit, ...], tuple[Comparison, ...]]:
    """Return the laws along y, for each level and q ∈ {0, 1}, and how they compare.

    Rows of numeric y > 0 with a single boundary, both ends known, x > 0; fewer than three give
    none. With q = 1 only if y > 1 in all of them.   name: of y, for sentences.
    """
    fits: list[FrontierFit] = []
    compared: list[Comparison] = []
    for level in levels:
        usable = [row for row in rows if row.level == level and _is_usable(row, rows)]
        y = [float(row.y) for row in usable if row.y is not None]
        places = [
            Boundary(math.log(row.boundary), math.log(row.low), math.log(row.high))
            for row in usable
            if row.boundary and row.low and row.high
        ]
        forms = (0, 1) if all(value > 1 for value in y) else (0,)
        laws = [law for q in forms if (law := fit_law(y, places, q)) is not None]
        fits += [FrontierFit(**vars(law), level=level) for law in laws]
        compared.append(_compared(level, laws, len(usable), name))
    return tuple(fits), tuple(compared)


def _is_usable(row: FrontierRow, rows: Sequence[FrontierRow]) -> bool:
    """Whether a row has one boundary, known on both sides, at numbers that have logarithms."""
    alike = [other for other in rows if (other.y, other.level) == (row.y, row.level)]
    numeric = isinstance(row.y, int | float) and row.y > 0
    known = all(end is not None and end > 0 for end in (row.boundary, row.low, row.high))
    return numeric and known and len(alike) == 1


def _compared(level: float, laws: Sequence[Law], rows: int, y: str) -> Comparison:
    """Say which of two laws the intervals are consistent with, or whether the one that could be
    fitted is."""
    if not laws:
        return Comparison(
            level,
            "too few rows",
            f"rows at {y} > 0 with one boundary, both ends of its interval known and above 0: "
            f"{rows}, and a law takes at least 3",
        )
    forms = f"{y}^p", f"{y}^p·log {y}"
    powers = [f"{form} with p = {_interval(law)}" for form, law in zip(forms, laws, strict=False)]
    if len(laws) == 1:
        allowed = f"the intervals allow {powers[0]}"
        none = f"no law of the form {forms[0]} meets all the intervals (least squares: {powers[0]})"
        verdict, said = ("q=0", allowed) if laws[0].consistent else ("neither", none)
        said += f"; a law with log {y} takes {y} > 1 in every row"
        return Comparison(level, verdict, said)
    plain, logarithmic = (law.consistent for law in laws)
    if plain and logarithmic:
        verdict = "indistinguishable"
        said = (
            f"the intervals allow {powers[0]} and {powers[1]}: over these rows the two cannot be "
        )
        said += "told apart"
    elif plain or logarithmic:
        verdict = "q=0" if plain else "q=1"
        said = f"some {powers[not plain]} meets all the intervals, and none of the form "
        said += f"{forms[plain]} does"
    else:
        verdict = "neither"
        said = f"no law of either form meets all the intervals (least squares: {powers[0]}, "
        said += f"{powers[1]})"
    return Comparison(level, verdict, said)


def _interval(law: Law) -> str:
    return f"{law.p:.3f} [{law.p_low:.3f}, {law.p_high:.3f}]"
