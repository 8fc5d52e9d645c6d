"""Findings: what measures, chains and assumptions came to, with everything needed to read it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from verify.margin import Floats
from verify.writing import jsonable

SUMMARY_LEVELS = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
"""The levels of the seven numbers that tell a distribution: least, quantiles, greatest."""


def seven_numbers(values: Floats) -> tuple[float, ...] | None:
    """Return the least, the 5, 25, 50, 75 and 95 % quantiles and the greatest of `values`.

    NaN are left out; None if nothing is left. Each is one of the values, so that infinite ones
    do no harm to the others.
    """
    known = values[~np.isnan(values)]
    if not known.size:
        return None
    return tuple(np.quantile(known, SUMMARY_LEVELS, method="inverted_cdf").tolist())


@dataclass(frozen=True)
class MeasuredCell:
    """What a measure came to at one point: common to `FrequencyCell` and `QuantilesCell`.

    line: the value of the coordinate that tells the figure's lines apart, or None.   trials: all
    that were drawn.   in_scope: or perhaps in scope; the unknown are among them: undecided, not
    measured, or of unknown scope.   x, prediction: means over the trials in scope, NaN without.
    """

    point: dict[str, Any]
    line: Any
    trials: int
    in_scope: int
    unknown: int
    x: float
    prediction: float


@dataclass(frozen=True)
class FrequencyCell(MeasuredCell):
    """How often an event held: holds/in_scope, and bounds on its probability in scope."""

    holds: int
    frequency: float
    low: float
    high: float


@dataclass(frozen=True)
class QuantileFound:
    """One quantile of the trials that were measured, and bounds on that of the law in scope.

    low, high: NaN where there are too few trials for the confidence.
    """

    level: float
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class QuantilesCell(MeasuredCell):
    """Mean, standard deviation (over n, as of a law; NaN of fewer than two) and quantiles of the
    measured trials."""

    mean: float
    deviation: float
    quantiles: tuple[QuantileFound, ...]


@dataclass(frozen=True)
class Threshold:
    """Between which abscissae the frequency of a line passes a level, if it does not fall along
    the abscissa.

    low: the greatest at which the upper bound is below the level.   high: the least at which the
    lower bound reaches it; NaN where no point shows it, or points of one abscissa do and do not.
    monotone: False, and both NaN, where the bounds themselves say that the frequency does fall.
    """

    line: Any
    level: float
    low: float
    high: float
    monotone: bool


@dataclass(frozen=True)
class Measured:
    """What one measure came to.

    confidence: of each bound, after the error budget is split.
    """

    theorem: str
    measure: str
    full_id: str
    kind: str
    statement: str
    status: str
    status_meaning: str
    unit: str
    axis: str
    abscissa: str
    by: str
    given: tuple[str, ...]
    confidence: float
    cells: tuple[FrequencyCell, ...] | tuple[QuantilesCell, ...]
    thresholds: tuple[Threshold, ...] = ()
    figure: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-able values (NaN and infinities as null)."""
        return json_values(self)


@dataclass(frozen=True)
class Link:
    """A link of a chain: its name, and what it says."""

    id: str
    statement: str


@dataclass(frozen=True)
class ChainCell:
    """Where a chain breaks at one point: trials = sum(first) + undecided + holds.

    controls: those whose false claim is sampled there, with the theorem's own simulator.
    first: for each link, in how many trials it is the first not to hold, and is violated.
    undecided: in how many the first not to hold is undecided.   holds: in how many all hold.
    """

    point: dict[str, Any]
    controls: tuple[str, ...]
    trials: int
    first: tuple[int, ...]
    undecided: int
    holds: int


@dataclass(frozen=True)
class ChainFinding:
    """Which link of a theorem's proof breaks first, point by point."""

    theorem: str
    links: tuple[Link, ...]
    cells: tuple[ChainCell, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-able values."""
        return json_values(self)


@dataclass(frozen=True)
class Realised:
    """How often an assumption was met, over the trials of all claims that are given it.

    margins: `seven_numbers` of its margin, dimensionless.
    """

    assumption: str
    trials: int
    met: int
    violated: int
    unknown: int
    margins: tuple[float, ...] | None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-able values (NaN and infinities as null)."""
        return json_values(self)


def json_values(finding: Any) -> dict[str, Any]:
    """Return a dataclass as JSON-able values (NaN and infinities as null)."""
    return {name: jsonable(value) for name, value in asdict(finding).items()}
