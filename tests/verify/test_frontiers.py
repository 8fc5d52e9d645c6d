"""Laws along the rows of a frontier: which are fitted, and what is said where there is none."""

from __future__ import annotations

import pytest

from verify.frontiers import FrontierRow, fits_of


def rows(places, slack=1.02, level=0.9):
    """Return rows of one boundary each, at places by y, known to a factor of `slack`."""
    return [
        FrontierRow(y, level, x, x / slack, x * slack, 1000, "falling", settled=True)
        for y, x in places.items()
    ]


def test_below_one_a_power_alone_is_fitted_for_its_logarithm_is_not_positive():
    fits, (compared,) = fits_of(rows({c: 0.3 * c for c in (0.1, 0.2, 0.4, 0.8)}), (0.9,), "c")
    (law,) = fits
    assert law.q == 0
    assert law.p == pytest.approx(1)
    assert law.a == pytest.approx(0.3)
    assert compared.verdict == "q=0"
    assert "c^p with p = 1.000" in compared.sentence
    assert "c > 1" in compared.sentence


def test_one_row_at_or_below_one_leaves_the_power_alone_on_all_of_them():
    (law,), _ = fits_of(rows({y: 2 * y**2 for y in (1.0, 2.0, 4.0, 8.0)}), (0.9,), "n")
    assert law.p == pytest.approx(2)
    assert law.a == pytest.approx(2)


def test_a_bent_curve_below_one_is_no_power():
    fits, (compared,) = fits_of(rows({0.1: 1.0, 0.2: 9.0, 0.4: 1.0}), (0.9,), "c")
    assert [law.consistent for law in fits] == [False]
    assert compared.verdict == "neither"
    assert "c^p" in compared.sentence


def test_above_one_both_forms_are_fitted():
    fits, (compared,) = fits_of(rows({n: 3 * n for n in (10, 20, 40, 80)}), (0.9,), "n")
    assert [law.q for law in fits] == [0, 1]
    assert compared.verdict == "q=0"


def test_rows_that_could_have_a_law_are_counted_and_what_they_need_is_said():
    found = [*rows({0.0: 1.0, 0.1: 1.0, 0.2: 2.0})]
    fits, (compared,) = fits_of(found, (0.9,), "c")
    assert not fits
    assert compared.verdict == "too few rows"
    assert compared.sentence == (
        "rows at c > 0 with one boundary, both ends of its interval known and above 0: 2, and a "
        "law takes at least 3"
    )
