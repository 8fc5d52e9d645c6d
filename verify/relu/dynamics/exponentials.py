"""The first zero of sums of decaying exponentials, none of them missed [D].

    g(t) = a + Σ_j c_j e^{−λ_j t},  λ_j ≥ 0

Each c_j e^{−λ_j t} with c_j < 0 is concave with a curvature that only falls, the others are convex.
So g(t+h) ≥ g + g'h − Kh²/2 with K = Σ_{c_j<0} |c_j| λ_j² e^{−λ_j t} for all h ≥ 0: where the right
side is positive there is no zero. Advancing to its root approaches the first zero of g from below,
quadratically, and cannot step over one. It ends when the slowest term outweighs all that is
negative for ever.

Every g comes with a lower and an upper envelope of the same form, which bound the rounding errors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from verify.tolerances import summation

Host = np.ndarray[Any, Any]

_ROUNDS = 400
"""Advances after which the first zero is given up: rates too close for the slowest to outweigh."""

_SAME_RATE = 1e-9
"""Rates that differ by less, relative to the largest, are taken for possibly equal."""

_EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Sums:
    """F functions, each with its envelopes, over n rates in common.

    rates: (n,), the λ_j.   constant, low_constant, high_constant: (F,).
    terms, low_terms, high_terms: (F, n), the c_j.
    """

    rates: Host
    constant: Host
    terms: Host
    low_constant: Host
    low_terms: Host
    high_constant: Host
    high_terms: Host

    @property
    def still(self) -> Host:
        """Mask of the functions that are constant, (F,): no term, and none within rounding."""
        return np.asarray(~((self.terms != 0) | (self.low_terms != 0)).any(axis=-1))

    def take(self, index: Host) -> Sums:
        """Return the functions at `index`, (K,)."""
        names = ("constant", "terms", "low_constant", "low_terms", "high_constant", "high_terms")
        return replace(self, **{name: getattr(self, name)[index] for name in names})


@dataclass(frozen=True, eq=False)
class Zeros:
    """Where functions come to zero next.

    time: the earliest certain zero; ∞ where none of them ever has one.
    which: (K,), the functions with a zero that rounding cannot tell from `time`.
    lost: why there is no answer; empty where there is one.
    """

    time: float
    which: Host
    lost: str = ""


def first_zeros(sums: Sums, order: Host) -> Zeros:
    """Return the next zeros after t = 0 of functions that are positive now, or start from zero.

    order: (F,), 0 for a function that is positive at t = 0; p = 1 or 2 for one that is exactly
    zero there, the first derivative that is not being the p-th, and positive.
    """
    start, lost = _leave_zero(sums, order)
    if lost:
        return _nothing(lost)
    first, begun, lost = _march(sums, start)
    if lost:
        return _nothing(lost)
    if not np.isfinite(first).any():
        return Zeros(np.inf, np.zeros(0, dtype=np.int64))
    which, horizon = np.asarray([int(np.argmin(first))]), begun
    while True:
        times, ends = _cross(sums.take(which), first[which])
        if not np.isfinite(ends).all():
            return _nothing(
                "a prediction or a sliding bound meets zero within rounding of touching"
            )
        if ends.max() > horizon:
            return _nothing("an event cannot be placed in time within rounding")
        together = np.flatnonzero(first <= ends.max())
        if together.size == which.size:
            return Zeros(float(times.min()), which)
        which = together


def _nothing(lost: str) -> Zeros:
    return Zeros(np.nan, np.zeros(0, dtype=np.int64), lost)


def _derivative(terms: Host, rates: Host, order: int) -> Host:
    return np.asarray((terms * (-rates) ** order).sum(axis=-1))


def _leave_zero(sums: Sums, order: Host) -> tuple[Host, str]:
    """Return times, (F,), up to which the functions that start from zero stay positive.

    With p-th derivative D > 0 and the next one at most K in size, g(t) ≥ Dt^p/p! − Kt^(p+1)/(p+1)!
    is positive up to (p+1)D/K, and half of that is taken.
    """
    start = np.zeros(order.size)
    if not order.any():
        return start, ""
    for p in (1, 2):
        index = np.flatnonzero(order == p)
        if not index.size:
            continue
        terms = sums.terms[index]
        blur = np.maximum(abs(sums.low_terms[index] - terms), abs(sums.high_terms[index] - terms))
        blur = blur + summation(sums.rates.size, terms) * abs(terms)
        slope = _derivative(terms, sums.rates, p) - (blur * sums.rates**p).sum(axis=-1)
        if not (slope > 0).all():
            return start, "a prediction leaves zero at a velocity within rounding of zero"
        bound = ((abs(terms) + blur) * sums.rates ** (p + 1)).sum(axis=-1)
        start[index] = 0.5 * (p + 1) * slope / bound
    return start, ""


def _march(sums: Sums, start: Host) -> tuple[Host, float, str]:
    """Return the first zeros of the lower envelopes, (F,), ∞ for none, up to a horizon.

    Of functions whose first zero lies beyond the horizon, a little after the earliest, ∞ too.
    """
    rates = sums.rates
    top = max(float(rates.max()), 1e-300)
    found = np.full(start.size, np.inf)
    time = start.copy()
    open_ = np.flatnonzero(~sums.still)
    horizon = np.inf
    for _ in range(_ROUNDS):
        if not open_.size:
            return found, horizon, ""
        now = time[open_]
        terms = sums.low_terms[open_] * np.exp(-now[:, None] * rates)
        constant = sums.low_constant[open_]
        size = abs(constant) + abs(terms).sum(axis=-1)
        value = constant + terms.sum(axis=-1)
        zero = value <= 8 * _EPSILON * size
        if (zero & (now == start[open_])).any():
            return found, horizon, "a prediction or a sliding bound is within rounding of zero"
        step = _safe_step(value, terms, rates)
        zero |= step <= 4 * _EPSILON * (now + 1 / top)
        if zero.any():
            found[open_[zero]] = now[zero]
            horizon = found.min() * (1 + 1e-2) + 0.1 / top
        going = ~zero & ~_outweighed(constant, terms, rates) & (now <= horizon)
        open_ = open_[going]
        time[open_] += step[going]
    return found, horizon, "exponentials decay at rates too close to tell which sign prevails"


def _safe_step(value: Host, terms: Host, rates: Host) -> Host:
    """Return the positive root h of g + g'h − Kh²/2, (K,)."""
    slope = -(terms @ rates)
    bend = -(np.minimum(terms, 0) @ (rates * rates))
    root = np.sqrt(slope**2 + 2 * bend * np.maximum(value, 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        step = np.where(slope > 0, (slope + root) / bend, 2 * value / (root - slope))
    finite = np.isfinite(step)
    return step if finite.all() else np.where(finite, step, 1 / max(float(rates.max()), 1e-300))


def _outweighed(constant: Host, terms: Host, rates: Host) -> Host:
    """Say where the slowest term is positive and outweighs all negative ones from now on, (K,).

    The constant is the slowest where it is not exactly zero. Terms of rates that may be equal count
    together, and must all be positive.
    """
    negative = np.minimum(terms, 0)
    by_constant = constant + negative.sum(axis=-1) > 0
    if (by_constant | (constant < 0)).all():
        return np.asarray(by_constant)
    present = terms != 0
    slowest = np.where(present, rates, np.inf).min(axis=-1, keepdims=True)
    base = present & (rates <= slowest + _SAME_RATE * rates.max())
    weight = np.where(base, terms, negative).sum(axis=-1)
    agreed = ~(base & (terms < 0)).any(axis=-1)
    by_term = (constant >= 0) & agreed & (weight > 0)
    return np.asarray(by_constant | by_term)


def _cross(sums: Sums, below: Host) -> tuple[Host, Host]:
    """Return the zeros, and when the upper envelopes are certainly negative, each (K,).

    below: (K,), the zeros of the lower envelopes, from where Newton's method starts. Where an upper
    envelope does not become negative there, ∞ as the second.
    """
    time = below.copy()
    for _ in range(8):
        decayed = sums.terms * np.exp(-time[:, None] * sums.rates)
        value = sums.constant + decayed.sum(axis=-1)
        slope = _derivative(decayed, sums.rates, 1)
        falls = slope < 0
        time = time - np.where(falls, value / np.where(falls, slope, 1.0), 0.0)
        time = np.maximum(time, below)
    decay = np.exp(-time[:, None] * sums.rates)
    upper = sums.high_constant + (sums.high_terms * decay).sum(axis=-1)
    lower = sums.low_constant + (sums.low_terms * decay).sum(axis=-1)
    size = abs(sums.constant) + abs(sums.terms * decay).sum(axis=-1)
    error = np.maximum(abs(upper), abs(lower)) + 8 * _EPSILON * size
    reach = 2 * (time - below) + 2 * error / np.where(falls, -slope, 1.0)
    ends = time + reach + 8 * _EPSILON * time
    after = np.exp(-ends[:, None] * sums.rates)
    certain = falls & (sums.high_constant + (sums.high_terms * after).sum(axis=-1) < 0)
    return time, np.where(certain, ends, np.inf)
