"""Places along an axis: where a frontier samples, as coordinates u in which it takes its steps."""

from __future__ import annotations

import math
from dataclasses import dataclass

from verify.errors import InputError
from verify.space import Axis, Coordinate

_DECADES = 2.0
"""Decades from which an axis of whole numbers is spaced in ratio."""

_FINEST_RATIO = 1.02
"""Ratio of neighbouring values, where steps are ratios."""

_FINEST_PARTS = 500
"""Neighbouring values, where steps are differences, are this fraction of the axis apart."""

_DIGITS = 4
"""Significant digits of a value that is not whole."""


@dataclass(frozen=True)
class Grid:
    """An axis of numbers with its coordinate u: log x where steps are ratios, else x.

    Raises InputError for an axis of choices, and for one without extent.
    """

    axis: Axis

    def __post_init__(self) -> None:
        if self.axis.scale == "choice":
            raise InputError(
                f"axis {self.axis.name!r} has choices, no order, expected one of numbers for --x; "
                "give it as --y"
            )
        if not self.axis.low < self.axis.high:
            raise InputError(
                f"axis {self.axis.name!r} from {self.axis.low:g} to {self.axis.high:g} has no "
                "extent, expected low < high"
            )

    @property
    def in_ratio(self) -> bool:
        """Whether steps are ratios."""
        if self.axis.scale == "log":
            return True
        low, high = self.axis.low, self.axis.high
        return self.axis.scale == "integer" and low > 0 and high / low >= 10**_DECADES

    @property
    def ends(self) -> tuple[float, float]:
        """The places of both ends."""
        return self.place(self.axis.low), self.place(self.axis.high)

    @property
    def step(self) -> float:
        """The least distance of two places that are told apart."""
        low, high = self.ends
        return math.log(_FINEST_RATIO) if self.in_ratio else (high - low) / _FINEST_PARTS

    def place(self, value: float) -> float:
        """Return the place of a value."""
        return math.log(value) if self.in_ratio else float(value)

    def value(self, place: float) -> float:
        """Return the value at a place, between the ends; infinite places give infinite values."""
        if not math.isfinite(place):
            return place
        inner = math.exp(place) if self.in_ratio else place
        return min(max(inner, float(self.axis.low)), float(self.axis.high))

    def nearest(self, place: float) -> Coordinate:
        """Return the value nearest to a place that is sampled: steps away from the low end, or the
        high end itself."""
        low, high = self.ends
        if high - place <= self.step / 2:
            return self._short(high)
        return self._short(max(low, low + round((place - low) / self.step) * self.step))

    def spread(self, count: int) -> list[Coordinate]:
        """Return values from end to end, equally spaced, each once."""
        low, high = self.ends
        places = [low + (high - low) * i / (count - 1) for i in range(count)]
        return list(dict.fromkeys(self._short(place) for place in places))

    def _short(self, place: float) -> Coordinate:
        """Return the value at a place: whole for whole numbers, of few digits for others, the ends
        as they are."""
        low, high = self.ends
        if place in (low, high):
            end = self.axis.low if place == low else self.axis.high
            return round(end) if self.axis.scale == "integer" else float(end)
        if self.axis.scale == "integer":
            return round(self.value(place))
        short = float(f"{self.value(place):.{_DIGITS}g}")
        return min(max(short, float(self.axis.low)), float(self.axis.high))
