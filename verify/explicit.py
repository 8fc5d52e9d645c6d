"""Small problems of exact numbers, that a person can read and that shrink."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from verify.errors import InputError, TheoremError


@dataclass(frozen=True)
class Field:
    """Entries of a small explicit problem: integers from low to high, over a denominator.

    shape: names of sizes, () for a single number.   nonzero: leave out 0.   symbol: what people
    call it, "y" say; by default the field's name.   zero_last: of the numbers 0 is the least simple
    one, not the simplest: a degenerate value, to be met where no other will do.
    """

    low: int
    high: int
    shape: tuple[str, ...] = ()
    denominator: int = 1
    nonzero: bool = False
    symbol: str = ""
    zero_last: bool = False

    def __post_init__(self) -> None:
        if not self.low <= self.high or (self.nonzero and self.low == self.high == 0):
            raise TheoremError(f"{self}: no integer is allowed, expected low <= high")
        if self.denominator < 1:
            raise TheoremError(f"{self}: expected denominator >= 1")

    def allows(self, integers: Any) -> bool:
        """Say whether all of `integers` are allowed as entries."""
        return bool(
            np.all((integers >= self.low) & (integers <= self.high))
            and not (self.nonzero and np.any(integers == 0))
        )


@dataclass(frozen=True)
class Explicit:
    """Small problems of exact numbers that a person can read, and that shrink.

    sizes: (low, high) of each dimension.   fields: the entries.
    build: from {name: int for sizes, float64 array for fields} to a problem with B = 1.
    """

    sizes: Mapping[str, tuple[int, int]]
    fields: Mapping[str, Field]
    build: Callable[[Mapping[str, Any]], Any]

    def __post_init__(self) -> None:
        used = {size for entry in self.fields.values() for size in entry.shape}
        if unknown := sorted(used - set(self.sizes)):
            raise TheoremError(f"explicit problem: the shapes name {unknown}, which are no sizes")

    def values(self, integers: Mapping[str, Any]) -> dict[str, Any]:
        """Return what `build` takes from the integers that stand in a counterexample file.

        Raises InputError where a name, a shape or a range does not fit.
        """
        missing = (set(self.sizes) | set(self.fields)) ^ set(integers)
        if missing:
            raise InputError(f"explicit problem: names {sorted(missing)} are missing or unknown")
        found: dict[str, Any] = {}
        for name, (low, high) in self.sizes.items():
            size = integers[name]
            if isinstance(size, bool) or not isinstance(size, int) or not low <= size <= high:
                raise InputError(f"explicit problem: {name}={size!r}, expected {low} to {high}")
            found[name] = size
        for name, entry in self.fields.items():
            array = np.asarray(integers[name], dtype=object)
            shape = tuple(found[size] for size in entry.shape)
            if array.shape != shape or not all(type(entry) is int for entry in array.flat):
                raise InputError(f"explicit problem: {name} is not an integer array of {shape}")
            if not entry.allows(array):
                raise InputError(
                    f"explicit problem: {name}={integers[name]!r} has entries outside {entry.low} "
                    f"to {entry.high}" + (" without 0" if entry.nonzero else "")
                )
            found[name] = np.asarray(array, dtype=float) / entry.denominator
        return found

    def exact_values(self, integers: Mapping[str, Any]) -> dict[str, Any]:
        """Return the same as `values` with exact entries: Fractions, in nested lists.

        Raises InputError where a name, a shape or a range does not fit.
        """
        self.values(integers)
        entries = {name: _over(integers[name], f.denominator) for name, f in self.fields.items()}
        return {name: integers[name] for name in self.sizes} | entries


def _over(integers: Any, denominator: int) -> Any:
    """Return nested lists of integers, or one integer, over a denominator."""
    if isinstance(integers, list | tuple):
        return [_over(one, denominator) for one in integers]
    return Fraction(int(integers), denominator)
