"""Definiteness and consistency, decided exactly."""

from __future__ import annotations

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

from tests.verify.relu.exact.problems import fractions
from verify.relu.exact.definite import coefficients, pivots, smallest_pivot, solve_consistent


def test_the_last_pivot_has_the_sign_of_the_least_eigenvalue():
    rng, seen = np.random.default_rng(0), set()
    for _ in range(400):
        n = int(rng.integers(1, 5))
        factor = rng.integers(-2, 3, (n, int(rng.integers(1, 6))))
        whole = factor @ factor.T - int(rng.integers(0, 3)) * np.eye(n, dtype=int)
        least = np.linalg.eigvalsh(whole)[0]
        sign = 0 if abs(least) < 1e-9 else int(np.sign(least))
        found = smallest_pivot(fmpq_mat(whole.tolist()))
        assert (found > 0) - (found < 0) == sign
        seen.add(sign)
    assert seen == {-1, 0, 1}


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([[2, 1], [1, 3]], [3, fmpq(5, 3)]),
        ([[1, 1], [1, 1]], [1, 0]),
        ([[0, 0], [0, 0]], [0, 0]),
        ([[0, 5], [5, 0]], [-5]),
        ([[0, 2], [2, -1]], [-1]),
        ([[1, 0], [0, -4]], [1, -4]),
        ([[4, 0, 0], [0, 0, 1], [0, 1, 0]], [4, -1]),
    ],
)
def test_pivots_by_hand(rows, expected):
    assert pivots(fmpq_mat(rows)) == expected


def test_a_matrix_that_is_indefinite_by_very_little_is_seen_to_be():
    tiny = fmpq(1, 10**60)
    assert smallest_pivot(fmpq_mat([[1, 1], [1, 1 - tiny]])) == -tiny
    assert smallest_pivot(fmpq_mat([[1, 1], [1, 1 + tiny]])) > 0


def test_a_consistent_singular_system_is_solved_and_another_is_not():
    singular = fmpq_mat([[1, 2], [2, 4]])
    found = solve_consistent(singular, fmpq_mat([[3], [6]]))
    assert singular * found == fmpq_mat([[3], [6]])
    assert solve_consistent(singular, fmpq_mat([[3], [7]])) is None


def test_coefficients_are_those_of_the_pseudo_inverse():
    rng = np.random.default_rng(1)
    for _ in range(50):
        features = rng.integers(-3, 4, (4, int(rng.integers(1, 6))))
        gram = features @ features.T
        predictions = rng.integers(-3, 4, (2, features.shape[1])) @ features.T
        found = coefficients(fmpq_mat(gram.tolist()), fmpq_mat(predictions.tolist()))
        expected = predictions @ np.linalg.pinv(gram)
        assert np.array(fractions(found), float) == pytest.approx(expected, abs=1e-9)
    assert coefficients(fmpq_mat([[1, 1], [1, 1]]), fmpq_mat([[1, 2]])) is None
