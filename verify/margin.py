"""Margins: both sides of an inequality, and how exactly they are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from verify.arrays import to_numpy

Floats = np.ndarray[Any, np.dtype[np.float64]]
Masks = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True, eq=False)
class Margin:
    """Both sides of an inequality left ≤ right on B instances, and how exactly they are known.

    left, right: (B,), or numbers; two numbers, plain ones of Python, where it is one statement
    for all instances.   scale: what a margin of 1 means, > 0.
    rounding: bound on the error of `value`; infinite where the instance decides nothing.
    """

    left: Any
    right: Any
    scale: Any = 1.0
    rounding: Any = 0.0

    @property
    def value(self) -> Floats:
        """(right − left)/scale: dimensionless, negative where left > right.

        The sign is that of the sides as they are given, which are compared exactly: it survives
        quotients that underflow, and integers that floating-point numbers cannot tell apart.
        """
        sides = to_numpy(self.left), to_numpy(self.right)
        left, right = (np.asarray(side, dtype=float) for side in sides)
        with np.errstate(invalid="ignore", over="ignore", divide="ignore", under="ignore"):
            value = (right - left) / np.asarray(to_numpy(self.scale), dtype=float)
            greater, less = _compared(*sides)
        value = np.where(greater & (value == 0), -_TINY, value)
        return np.asarray(np.where(less & (value == 0), _TINY, value))

    @property
    def constant(self) -> bool:
        """Whether it is one statement for all instances, between two plain Python numbers."""
        return type(self.left) in _PLAIN and type(self.right) in _PLAIN

    @property
    def holds(self) -> Masks:
        """Where the inequality holds beyond rounding."""
        return holds_beyond(self.value, self.uncertainty)

    @property
    def violated(self) -> Masks:
        """Where the inequality fails beyond rounding."""
        return fails_beyond(self.value, self.uncertainty)

    @property
    def uncertainty(self) -> Floats:
        """`rounding` as a host array; dimensionless."""
        return np.asarray(to_numpy(self.rounding), dtype=float)

    def undecided_where(self, mask: Any) -> Margin:
        """Return the margin with nothing decided where `mask`, (B,), is set."""
        rounding = np.where(to_numpy(mask), np.inf, self.uncertainty)
        return Margin(self.left, self.right, self.scale, rounding)

    def unstated_where(self, mask: Any) -> Margin:
        """Return the margin without a value where `mask`, (B,), is set: there is no inequality
        there, since a bound that it names does not exist. Nothing is decided either."""
        where = np.asarray(to_numpy(mask), dtype=bool)
        value, rounding = np.where(where, np.nan, self.value), np.where(where, 0, self.uncertainty)
        return Margin(0.0, value, 1.0, rounding)

    @property
    def unstated(self) -> Masks:
        """Where there is no inequality: the value is no number, and no run left it open."""
        return np.asarray(np.isnan(self.value) & (self.uncertainty < np.inf))

    @staticmethod
    def equal(left: Any, right: Any, scale: Any, tolerance: float) -> Margin:
        """Return the margin of |left − right| ≤ tolerance·scale, in multiples of the tolerance."""
        with np.errstate(invalid="ignore"):
            difference = np.abs(
                np.asarray(to_numpy(left), float) - np.asarray(to_numpy(right), float)
            )
        allowed = tolerance * np.asarray(to_numpy(scale), dtype=float)
        unit = np.where(allowed > 0, allowed, 1.0)
        if Margin(left, right).constant and type(scale) in _PLAIN:
            return Margin(float(difference), float(allowed), unit)
        return Margin(difference, allowed, unit)

    def contradicted_where(self, mask: Any) -> Margin:
        """Return the margin made −1 at most where `mask`, (B,), says that a witness disagrees."""
        return Margin.worst(self, Margin(np.where(to_numpy(mask), 1.0, -np.inf), 0.0))

    @staticmethod
    def worst(*margins: Margin) -> Margin:
        """Return, instance by instance, the margin that is violated most, or else undecided, or
        else smallest: the margin of "all of these hold"."""
        sides = [side for margin in margins for side in (margin.value, margin.uncertainty)]
        full = np.broadcast_arrays(*sides)
        values, rounding = np.stack(full[::2]), np.stack(full[1::2])
        violated = fails_beyond(values, rounding)
        rank = np.where(violated, 0, np.where(holds_beyond(values, rounding), 2, 1))
        order = np.lexsort((values, rank), axis=0)[:1]
        pick = [np.take_along_axis(array, order, axis=0)[0] for array in (values, rounding)]
        number = pick[0].ndim == 0 and all(margin.constant for margin in margins)
        return Margin(-float(pick[0]) if number else -pick[0], 0.0, 1.0, pick[1])


_PLAIN = (bool, int, float)
_TINY = float(np.finfo(float).tiny)


def _compared(left: Any, right: Any) -> tuple[Masks, Masks]:
    """Return where left > right and left < right, exactly: large integers, which numpy may round
    to compare them with another type, are compared as Python's."""
    if any(
        side.dtype.kind in "iu" and ((side > 2**53) | (side < -(2**53))).any()
        for side in (left, right)
    ):
        left, right = left.astype(object), right.astype(object)
    return np.asarray(left > right, dtype=bool), np.asarray(left < right, dtype=bool)


def holds_beyond(value: Floats, rounding: Floats) -> Masks:
    """Where a margin is known to be ≥ 0: never where either is NaN or the rounding infinite."""
    return np.asarray((value >= rounding) & (rounding < np.inf))


def fails_beyond(value: Floats, rounding: Floats) -> Masks:
    """Where a margin is known to be < 0: never where either is NaN or the rounding infinite."""
    return np.asarray(value < -rounding)
