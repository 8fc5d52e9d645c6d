"""The first zeros of sums of exponentials, against dense sampling and bracketing."""

import numpy as np
import pytest
from scipy.optimize import brentq

from verify.relu.dynamics.exponentials import Sums, first_zeros


def sums(rates, constant, terms, blur=0.0):
    rates, constant, terms = (np.asarray(part, dtype=float) for part in (rates, constant, terms))
    width = blur * np.abs(terms)
    return Sums(rates, constant, terms, constant, terms - width, constant, terms + width)


def value(function, time):
    return function.constant[0] + (function.terms[0] * np.exp(-function.rates * time)).sum()


def first_sign_change(function):
    """Return the first zero that 20,000 samples show, None if they show none."""
    grid = np.concatenate([[0.0], np.geomspace(1e-6, 60 / function.rates.min(), 20_000)])
    values = function.constant[0] + np.exp(-grid[:, None] * function.rates) @ function.terms[0]
    below = np.flatnonzero(values < 0)
    if not below.size:
        return None
    at = below[0]
    return brentq(lambda time: value(function, time), grid[at - 1], grid[at], xtol=1e-15)


def test_no_first_zero_is_missed():
    rng = np.random.default_rng(0)
    met = {True: 0, False: 0}
    for _ in range(400):
        n = int(rng.integers(1, 9))
        rates = np.sort(rng.uniform(0.1, 20, n))
        terms = rng.normal(size=(1, n))
        constant = rng.normal(size=1) * 0.5
        constant = np.where(constant + terms.sum() > 0.05, constant, 0.1 - terms.sum())
        function = sums(rates, constant, terms)
        found, expected = first_zeros(function, np.zeros(1, dtype=int)), first_sign_change(function)
        assert not found.lost
        met[expected is None] += 1
        if expected is None:
            assert np.isinf(found.time), (found, rates, terms, constant)
        else:
            assert found.time == pytest.approx(expected, rel=1e-9), (rates, terms, constant)
    assert min(met.values()) > 50


def test_a_zero_reached_only_in_the_limit_is_none():
    """e^{−t} − e^{−2t}/2 tends to zero and never meets it."""
    found = first_zeros(sums([1, 2], [0], [[1, -0.5]]), np.zeros(1, dtype=int))
    assert np.isinf(found.time)


def test_a_slow_negative_term_is_met_however_small():
    """e^{−2t} − 1e-6·e^{−t} is zero at log 1e6."""
    found = first_zeros(sums([1, 2], [0], [[-1e-6, 1]]), np.zeros(1, dtype=int))
    assert found.time == pytest.approx(np.log(1e6), rel=1e-12)


@pytest.mark.parametrize("order", [1, 2])
def test_a_function_that_leaves_zero_is_followed_from_there(order):
    """1 − e^{−t} leaves zero at once, 1 − 2e^{−t} + e^{−2t} slowly; neither comes back."""
    terms = [[-1.0, 0.0]] if order == 1 else [[-2.0, 1.0]]
    function = sums([1, 2], [1], terms)
    assert np.isinf(first_zeros(function, np.asarray([order])).time)
    assert first_zeros(function, np.asarray([0])).lost


def test_touching_zero_within_rounding_is_undecided():
    """(1 − 2e^{−t})² touches zero at log 2."""
    found = first_zeros(sums([1, 2], [1], [[-4, 4]], blur=1e-12), np.zeros(1, dtype=int))
    assert "touching" in found.lost


def test_zeros_that_cannot_be_told_apart_come_together():
    terms = [[2.0], [2.0 * (1 + 1e-15)], [3.0]]
    found = first_zeros(sums([1], [-1, -1, -1], terms, blur=1e-14), np.zeros(3, dtype=int))
    assert found.which.tolist() == [0, 1]
    assert found.time == pytest.approx(np.log(2), rel=1e-13)
