"""Spectra of the features' covariance, as levels: distinct eigenvalues and how often they occur."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verify.errors import InputError, UnknownName
from verify.relu.effective_dimensions import EffectiveDimensions

FORMS = (
    "isotropic",
    "isotropic:SCALE",
    "levels:VALUExSHARE,VALUExSHARE,...",
    "power:EXPONENT",
    "power:EXPONENT:SCALE",
    "spiked:SPIKExCOUNT",
)
"""The names that `Spectrum.named` understands."""

MOST_LEVELS = 10**7
"""Largest dimension of a power law, which keeps one level an eigenvalue (16 bytes each)."""

_NAMEABLE_LEVELS = 8


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues λ of the covariance Λ of the features (theory §1), immutable and hashable.

    values: (L,), the distinct eigenvalues in descending order, in squared units of a feature.
    multiplicities: (L,), how often each occurs; real numbers, so that d = 10¹² costs nothing.
    name: how a point of a sweep writes it; `named` reads it back unless it is "explicit".

    Spectra are equal when their levels are, whatever they are called. Equal values given
    apart are merged.

    Raises InputError for no level, values or multiplicities that are not positive and
    finite, and a dimension below one.
    """

    values: NDArray[np.float64]
    multiplicities: NDArray[np.float64]
    name: str = field(default="")

    def __post_init__(self) -> None:
        values, counts = _levels(self.values, self.multiplicities)
        for name, array in (("values", values), ("multiplicities", counts)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        if self.dimension < 1.0:
            raise InputError(f"dimension={self.dimension:g}, expected at least 1")
        if not self.name:
            object.__setattr__(self, "name", _name_of(values, counts))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Spectrum)
            and np.array_equal(self.values, other.values)
            and np.array_equal(self.multiplicities, other.multiplicities)
        )

    def __hash__(self) -> int:
        return hash((self.values.tobytes(), self.multiplicities.tobytes()))

    def __repr__(self) -> str:
        return f"Spectrum.named({self.name!r}, {_number(self.dimension)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Spectrum, (self.values, self.multiplicities, self.name)

    @cached_property
    def dimension(self) -> float:
        """Dimension d of the features: how many eigenvalues there are."""
        return float(np.sum(self.multiplicities))

    @cached_property
    def trace(self) -> float:
        """τ = ‖λ‖₁, the expected squared norm of an example."""
        return float(self.values @ self.multiplicities)

    @cached_property
    def d_2(self) -> float:
        """Effective dimension ‖λ‖₁²/‖λ‖₂², dimensionless."""
        relative = self.values / self.trace
        return float(1.0 / ((relative * relative) @ self.multiplicities))

    @property
    def d_inf(self) -> float:
        """Effective dimension ‖λ‖₁/‖λ‖_∞, dimensionless."""
        return float(self.trace / self.values[0])

    @property
    def effective_dimensions(self) -> EffectiveDimensions:
        """The dimensions d, ‖λ‖₁, d_2 and d_∞ as floats."""
        return EffectiveDimensions(self.dimension, self.trace, self.d_2, self.d_inf)

    @classmethod
    def isotropic(cls, dimension: float, scale: float = 1.0) -> Spectrum:
        """All `dimension` eigenvalues equal to `scale`; a dimension may be any real ≥ 1."""
        return cls(np.asarray([scale]), np.asarray([_dimension(dimension)]))

    @classmethod
    def of_levels(cls, dimension: float, levels: Iterable[tuple[float, float]]) -> Spectrum:
        """A share of the eigenvalues at each value, from pairs (value, share).

        Raises InputError also when the shares do not sum to 1.
        """
        pairs = tuple(levels)
        total = sum(share for _, share in pairs)
        if not abs(total - 1.0) < 1e-9:
            raise InputError(f"levels have shares that sum to {total:g}, expected 1: {pairs}")
        counts = _whole_where_close(_dimension(dimension) * np.asarray([s for _, s in pairs]))
        values = np.asarray([value for value, _ in pairs])
        return cls(values, counts, _levels_name(pairs) if len(pairs) > 1 else "")

    @classmethod
    def power_law(cls, dimension: float, exponent: float, scale: float = 1.0) -> Spectrum:
        """Eigenvalues λ_j = scale·j^(−exponent), j = 1…dimension; exponent ≥ 0.

        Raises InputError also for a dimension that is not whole or exceeds `MOST_LEVELS`,
        and where the smallest eigenvalue underflows to zero.
        """
        d = _dimension(dimension)
        if not d.is_integer() or d > MOST_LEVELS:
            raise InputError(
                f"dimension={dimension}, expected a whole number up to {MOST_LEVELS} for a power "
                "law; isotropic, levels and spiked spectra go further"
            )
        if not 0.0 <= exponent < np.inf:
            raise InputError(f"exponent={exponent}, expected a finite number >= 0")
        name = f"power:{_number(exponent)}" + (f":{_number(scale)}" if scale != 1.0 else "")
        return cls(scale * np.arange(1.0, d + 1.0) ** -exponent, np.ones(int(d)), name)

    @classmethod
    def spiked(cls, dimension: float, spike: float, count: float) -> Spectrum:
        """`count` eigenvalues equal to `spike`, the others equal to 1; 1 ≤ count < dimension."""
        rest = _dimension(dimension) - count
        if not (count >= 1 and float(count).is_integer() and rest > 0):
            raise InputError(
                f"count={count}, expected a whole number from 1 to below dimension={dimension}"
            )
        name = f"spiked:{_number(spike)}x{_number(count)}"
        return cls(np.asarray([spike, 1.0]), np.asarray([count, rest]), name)

    @classmethod
    def explicit(cls, values: Any) -> Spectrum:
        """The eigenvalues as given, (d,), in any order."""
        array = np.atleast_1d(np.asarray(values, dtype=np.float64))
        return cls(array, np.ones(array.shape))

    @classmethod
    def named(cls, text: str, dimension: float) -> Spectrum:
        """Return the spectrum that `text` names (one of `FORMS`) in the given dimension.

        Raises UnknownName, an InputError, for a text of no known form.
        """
        kind, _, rest = text.strip().partition(":")
        try:
            if kind in _READERS and (rest or kind == "isotropic"):
                return _READERS[kind](dimension, rest)
        except InputError:
            raise
        except (ValueError, TypeError):
            pass
        raise UnknownName(f"spectrum={text!r} is not understood: use one of {'; '.join(FORMS)}")


def _levels(values: Any, counts: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Validate levels; return the distinct values in descending order and their multiplicities."""
    values, counts = np.asarray(values, np.float64), np.asarray(counts, np.float64)
    if values.ndim != 1 or values.shape != counts.shape or not values.size:
        raise InputError(
            f"values of shape {values.shape} and multiplicities of shape {counts.shape}, expected "
            "two vectors of one length with at least one level"
        )
    for name, array in (("value", values), ("multiplicity", counts)):
        bad = ~((array > 0) & np.isfinite(array))
        if bad.any():
            raise InputError(f"{name}={array[bad][0]:g}, expected a positive finite number")
    distinct, place = np.unique(-values, return_inverse=True)
    return -distinct, np.bincount(place, weights=counts).astype(np.float64)


def _dimension(dimension: float) -> float:
    """Return a dimension as a float, or refuse it."""
    if not isinstance(dimension, Real) or not 1.0 <= dimension < np.inf:
        raise InputError(f"dimension={dimension!r}, expected a finite number >= 1")
    return float(dimension)


def _whole_where_close(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Undo the rounding of share times dimension: .29·100 is meant to be 29."""
    whole = np.round(counts)
    return np.where(np.abs(counts - whole) <= 1e-9 * np.maximum(whole, 1.0), whole, counts)


def _number(value: float) -> str:
    """Write a number so that `float` reads the same one, without a trailing ``.0``."""
    return repr(float(value)).removesuffix(".0")


def _name_of(values: NDArray[np.float64], counts: NDArray[np.float64]) -> str:
    """Name levels that came without one, if they are few."""
    if len(values) == 1:
        return "isotropic" + (f":{_number(values[0])}" if values[0] != 1.0 else "")
    if len(values) > _NAMEABLE_LEVELS:
        return "explicit"
    return _levels_name(zip(values, counts / np.sum(counts), strict=True))


def _levels_name(levels: Iterable[tuple[float, float]]) -> str:
    """Write pairs (value, share) as `Spectrum.named` reads them."""
    return "levels:" + ",".join(f"{_number(v)}x{_number(share)}" for v, share in levels)


def _pair(text: str) -> tuple[float, float]:
    """Read ``4x0.5`` (or ``4×0.5``) as (4.0, 0.5)."""
    left, right = re.split("[x×]", text)
    return float(left), float(right)


def _numbers(text: str) -> list[float]:
    """Read ``1:4`` as [1.0, 4.0]."""
    return [float(part) for part in text.split(":")] if text else []


_READERS: dict[str, Callable[[float, str], Spectrum]] = {
    "isotropic": lambda d, text: Spectrum.isotropic(d, *_numbers(text)),
    "levels": lambda d, text: Spectrum.of_levels(d, map(_pair, text.split(","))),
    "power": lambda d, text: Spectrum.power_law(d, *_numbers(text)),
    "spiked": lambda d, text: Spectrum.spiked(d, *_pair(text)),
}
