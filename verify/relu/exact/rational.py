"""Rational numbers and matrices of them: flint's, made from whatever stands for a number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import isfinite
from numbers import Integral, Rational, Real
from typing import Any

from flint import fmpq, fmpq_mat

from verify.errors import InputError


def rational(value: Any) -> fmpq:
    """Return `value` as a rational number; a float is the dyadic rational that it is.

    value: an integer, Fraction, float, flint's fmpq, or text such as "3", "-1/2" or "0.05".
    Raises InputError for anything else, and for what is not finite.
    """
    if isinstance(value, fmpq):
        return value
    try:
        if isinstance(value, str | Integral | Rational):
            found = Fraction(value)
        elif isinstance(value, Real) and isfinite(value):
            found = Fraction(float(value))
        else:
            found = Fraction(int(value.numerator), int(value.denominator))
    except (AttributeError, TypeError, ValueError, ZeroDivisionError):
        raise InputError(
            f"value={value!r} is no rational number, expected an integer, a fraction such as "
            "Fraction(1, 2) or '1/2', or a finite float"
        ) from None
    return fmpq(int(found.numerator), int(found.denominator))


def matrix(name: str, rows: Any) -> fmpq_mat:
    """Return a matrix of rational numbers.   rows: nested sequences, an array, or a fmpq_mat.

    Raises InputError, which names it, where it is empty or its rows differ in length.
    """
    if isinstance(rows, fmpq_mat):
        return rows
    entries = [[rational(entry) for entry in row] for row in rows]
    widths = {len(row) for row in entries}
    if len(widths) != 1 or 0 in widths:
        raise InputError(
            f"{name} has rows of lengths {sorted(widths)}, expected at least one row and all of "
            "one length of 1 or more"
        )
    return fmpq_mat(entries)


def row(matrix: fmpq_mat, index: int) -> list[fmpq]:
    """Return one row of a matrix."""
    return [matrix[index, column] for column in range(matrix.ncols())]


def block(matrix: fmpq_mat, rows: Sequence[int], columns: Sequence[int]) -> fmpq_mat:
    """Return the entries at these rows and columns; neither may be empty."""
    return fmpq_mat([[matrix[i, j] for j in columns] for i in rows])


def column(entries: Sequence[fmpq]) -> fmpq_mat:
    """Return a matrix of one column."""
    return fmpq_mat([[entry] for entry in entries])


def identity(size: int) -> fmpq_mat:
    """Return the identity matrix."""
    return fmpq_mat([[fmpq(int(i == j)) for j in range(size)] for i in range(size)])


def trace(matrix: fmpq_mat) -> fmpq:
    """Return the sum of the diagonal."""
    return sum((matrix[i, i] for i in range(matrix.nrows())), start=fmpq(0))


def square(gram: fmpq_mat, duals: fmpq_mat) -> fmpq:
    """Return Σ_k ‖Xᵀα_k‖² = Σ_k α_kᵀGα_k of duals (m, n)."""
    image = duals * gram
    pairs = zip(duals.entries(), image.entries(), strict=True)
    return sum((a * b for a, b in pairs), start=fmpq(0))


def height(entries: Iterable[fmpq]) -> int:
    """Return the bits of the longest numerator or denominator."""
    return max(entry.height_bits() for entry in entries)


def text(value: fmpq) -> str:
    """Return a rational number as "p/q", or as "p" where it is whole."""
    return str(value)


def texts(matrix: fmpq_mat) -> list[list[str]]:
    """Return the rows of a matrix as text."""
    return [[text(entry) for entry in row(matrix, i)] for i in range(matrix.nrows())]
