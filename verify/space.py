"""A theorem's space: axes, the points on them, and nothing about what happens there."""

from __future__ import annotations

import json
import math
import numbers
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from verify.errors import InputError, TheoremError

Coordinate = int | float | str


@dataclass(frozen=True)
class Axis:
    """One coordinate of a theorem's space.

    low, high: the range, both ends included.   scale: "linear", "log", "integer" or "choice".
    choices: the values, simplest first, for scale "choice".   meaning: what it is, with its unit.
    simplest: the value towards which counterexamples shrink; by default low, or the first choice.
    inside: the part of it that lies within the theorem's assumptions, (low, high) or the choices:
    where ablation stays while it drops other assumptions; by default all of it.
    instead_of: an axis whose place this one takes, since a point has one of the two: only what is
    asked for by name moves along it.   overrides: other coordinates whose values, given or default,
    do not matter where this one is set.
    """

    name: str
    low: float = 0.0
    high: float = 1.0
    scale: Literal["linear", "log", "integer", "choice"] = "linear"
    choices: tuple[Coordinate, ...] = ()
    simplest: Coordinate | None = None
    meaning: str = ""
    inside: tuple[Coordinate, ...] = ()
    instead_of: str = ""
    overrides: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._require_range()
        self._require_inside()

    def _require_range(self) -> None:
        if (self.scale == "choice") != bool(self.choices):
            raise TheoremError(
                f"axis {self.name!r}: choices={self.choices!r} with scale={self.scale!r}; give "
                "choices for scale='choice' and for no other"
            )
        if self.scale not in ("linear", "log", "integer", "choice"):
            raise TheoremError(
                f"axis {self.name!r}: scale={self.scale!r}, expected linear, log, integer or choice"
            )
        if self.scale == "choice":
            if self.simplest is not None and self.simplest not in self.choices:
                raise TheoremError(f"axis {self.name!r}: simplest={self.simplest!r} is no choice")
            return
        if not -math.inf < self.low <= self.high < math.inf:
            raise TheoremError(
                f"axis {self.name!r}: low={self.low}, high={self.high}, expected finite numbers "
                "with low <= high"
            )
        if self.scale == "log" and self.low <= 0:
            raise TheoremError(f"axis {self.name!r}: low={self.low}, expected > 0 on a log scale")
        if self.scale == "integer" and (self.low != int(self.low) or self.high != int(self.high)):
            raise TheoremError(
                f"axis {self.name!r}: low={self.low}, high={self.high}, expected whole numbers for "
                "scale='integer'"
            )
        if self.simplest is not None and not (
            isinstance(self.simplest, int | float) and self.low <= self.simplest <= self.high
        ):
            raise TheoremError(
                f"axis {self.name!r}: simplest={self.simplest!r} is not between low={self.low} and "
                f"high={self.high}"
            )

    def _require_inside(self) -> None:
        """Raise TheoremError unless `inside` is a part of the axis."""
        if not self.inside:
            return
        if self.scale == "choice":
            good = set(self.inside) <= set(self.choices)
        else:
            ends = [end for end in self.inside if isinstance(end, int | float)]
            good = len(ends) == len(self.inside) == 2
            good = good and self.low <= ends[0] <= ends[1] <= self.high
        if not good:
            raise TheoremError(
                f"axis {self.name!r}: inside={self.inside!r}, expected a part of it: (low, high), "
                "or some of its choices"
            )

    @property
    def within(self) -> Axis:
        """The axis cut to what lies within the theorem's assumptions."""
        if not self.inside:
            return self
        if self.scale == "choice":
            simplest = self.simplest if self.simplest in self.inside else None
            return replace(self, choices=self.inside, simplest=simplest, inside=())
        low, high = (float(end) for end in self.inside)
        simplest = self.simplest
        if simplest is not None and not low <= float(simplest) <= high:
            simplest = None
        return replace(self, low=low, high=high, simplest=simplest, inside=())


class Point(Mapping[str, Coordinate]):
    """A value for every coordinate: one law of problems. Immutable and hashable.

    Numbers of numpy become Python's. `canonical` is one spelling for equal points (1 and 1.0 are
    equal), the same in every process.
    """

    def __init__(self, /, **coordinates: Coordinate) -> None:
        self._coordinates = {
            name: _coordinate(name, value) for name, value in sorted(coordinates.items())
        }
        self.canonical = json.dumps(
            {k: _as_float(v) for k, v in self._coordinates.items()}, sort_keys=True
        )

    def __getitem__(self, name: str) -> Any:
        try:
            return self._coordinates[name]
        except KeyError:
            raise TheoremError(f"no coordinate {name!r} in {self!r}") from None

    def get(self, name: str, default: Any = None) -> Any:
        """Return the coordinate `name`, or `default` where the point has none."""
        return self._coordinates.get(name, default)

    def __contains__(self, name: object) -> bool:
        return name in self._coordinates

    def __iter__(self) -> Iterator[str]:
        return iter(self._coordinates)

    def __len__(self) -> int:
        return len(self._coordinates)

    def __hash__(self) -> int:
        return hash(self.canonical)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Point) and self.canonical == other.canonical

    def __repr__(self) -> str:
        return f"Point({', '.join(f'{k}={v!r}' for k, v in self._coordinates.items())})"

    def __str__(self) -> str:
        return ", ".join(f"{k}={_short(v)}" for k, v in self._coordinates.items())

    def moved(self, /, **changes: Coordinate) -> Point:
        """Return this point with some coordinates changed or added."""
        return Point(**{**self._coordinates, **changes})

    def without(self, /, *names: str) -> Point:
        """Return this point with some coordinates left out, those it has."""
        return Point(**{k: v for k, v in self._coordinates.items() if k not in names})


def _coordinate(name: str, value: Any) -> Coordinate:
    """Return a coordinate as a plain int, float or str. Raises TheoremError for anything else."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value):
        return int(value) if isinstance(value, numbers.Integral) else float(value)
    raise TheoremError(f"{name}={value!r} in a Point, expected a finite number or a string")


def _as_float(value: Coordinate) -> Coordinate:
    """Return a number as the float equal to it, without the sign of zero; integers that no
    float equals, and strings, as they are."""
    return value if isinstance(value, str) or float(value) != value else float(value) + 0.0


def _short(value: Coordinate) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def geometric(low: float, high: float, count: int) -> Sequence[float]:
    """Return `count` values from low to high, equally spaced on a log scale."""
    if count < 2 or low <= 0 or high <= low:
        raise InputError(f"geometric({low}, {high}, {count}): expected 0 < low < high, count >= 2")
    step = math.log(high / low) / (count - 1)
    return [low * math.exp(step * i) for i in range(count)]
