"""Rational numbers from whatever stands for one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

from verify.errors import InputError
from verify.relu.exact.rational import height, matrix, rational, square, text, texts


@pytest.mark.parametrize(
    "given", [fmpq(-1, 4), Fraction(-1, 4), -0.25, np.float64(-0.25), "-1/4", "-0.25", "-2/8"]
)
def test_every_spelling_is_the_same_number(given):
    assert rational(given) == fmpq(-1, 4)


@pytest.mark.parametrize("given", [3, np.int64(3), 3.0, "3", fmpq(3).numerator, Fraction(3)])
def test_whole_numbers(given):
    assert text(rational(given)) == "3"


def test_a_float_is_the_dyadic_rational_that_it_is():
    assert rational(0.1) == fmpq(3602879701896397, 2**55)
    assert rational(0.1) != fmpq(1, 10)


@pytest.mark.parametrize("given", ["x", "1/0", None, float("nan"), float("inf"), [1], 1j])
def test_what_is_no_rational_is_refused_by_name(given):
    with pytest.raises(InputError, match=r"value=.* is no rational number"):
        rational(given)


@pytest.mark.parametrize("rows", [[], [[]], [[1, 2], [3]]])
def test_matrices_have_rows_of_one_length(rows):
    with pytest.raises(InputError, match="gram has rows of lengths"):
        matrix("gram", rows)


def test_square_is_the_squared_norm_over_all_neurons():
    gram, duals = fmpq_mat([[2, 1], [1, 3]]), fmpq_mat([[1, -1], [2, 0]])
    assert square(gram, duals) == (2 - 2 + 3) + 8


def test_text_and_height():
    assert texts(fmpq_mat([[fmpq(1, 2), 3]])) == [["1/2", "3"]]
    assert height([fmpq(1, 1024), fmpq(3)]) == 11
