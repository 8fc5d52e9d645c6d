"""Random small problems of whole numbers, and gradient descent on them in the weights themselves,
with `fractions.Fraction` and no code of ``verify``."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from verify.relu.exact import ExactProblem


@dataclass(frozen=True)
class Small:
    """One problem: features (n, d), labels n, weights (m, d), signs m, a step and φ'(0)."""

    features: list[list[Fraction]]
    labels: list[Fraction]
    weights: list[list[Fraction]]
    signs: list[int]
    step_size: Fraction
    slope_at_zero: int

    def exact(self) -> ExactProblem:
        return ExactProblem.from_features(
            self.features,
            self.labels,
            starting_weights=self.weights,
            step_size=self.step_size,
            signs=self.signs,
            slope_at_zero=self.slope_at_zero,
        )


def draw(rng: np.random.Generator, *, regular: bool = False) -> Small:
    """Draw 1 to 4 examples and 1 or 2 neurons; regular: with at least as many dimensions."""
    n, m = int(rng.integers(1, 5)), int(rng.integers(1, 3))
    d = n + int(rng.integers(0, 3)) if regular else int(rng.integers(1, 5))
    features = rng.integers(-4, 5, (n, d))
    if regular and np.linalg.matrix_rank(features) < n:
        return draw(rng, regular=regular)
    size = max(int((features**2).sum()), 1)
    return Small(
        _fractions(features),
        _fractions(rng.integers(-6, 7, n)),
        [[entry / 8 for entry in row] for row in _fractions(rng.integers(-4, 5, (m, d)))],
        [1, -1][:m],
        Fraction(int(rng.integers(1, 33)) * n, 16 * size),
        int(rng.integers(0, 2)),
    )


def descend_in_weights(small: Small, steps: int) -> list[list[list[Fraction]]]:
    """Return the predictions (m, n) at steps 0 to `steps`."""
    weights, path = [list(row) for row in small.weights], []
    for _ in range(steps + 1):
        beta = [[_dot(w, x) for x in small.features] for w in weights]
        path.append(beta)
        active = [[b >= 0 if small.slope_at_zero else b > 0 for b in row] for row in beta]
        residual = [
            sum(s * row[i] for s, row, on in zip(small.signs, beta, active, strict=True) if on[i])
            - y
            for i, y in enumerate(small.labels)
        ]
        for w, s, on in zip(weights, small.signs, active, strict=True):
            for j in range(len(w)):
                slope = sum(
                    r * x[j] for r, x, a in zip(residual, small.features, on, strict=True) if a
                )
                w[j] -= small.step_size * s * slope
    return path


def fraction(number: object) -> Fraction:
    """Return flint's rational as Python's."""
    return Fraction(str(number))


def fractions(matrix: object) -> list[list[Fraction]]:
    """Return the entries of flint's matrix as Python's rationals."""
    return [[fraction(entry) for entry in row] for row in matrix.tolist()]


def _fractions(array: np.ndarray) -> list:
    return [
        _fractions(entry) if isinstance(entry, np.ndarray) else Fraction(int(entry))
        for entry in array
    ]


def _dot(left: list[Fraction], right: list[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(left, right, strict=True)), Fraction(0))
