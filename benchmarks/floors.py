"""What no trial can do without: its random numbers, and one product of a matrix with itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def bartlett(n: int, dimension: float, generator: Generator, batch: int) -> Callable[[], Floats]:
    """Return a function that draws a Wishart matrix's factor and multiplies it out by SYRK.

    Per call `batch` lower triangles L, L_ii² ~ χ²(dimension − i) and L_ij ~ N(0, 1), into memory
    that is kept, then LLᵀ, (batch, n, n): numpy's product of a matrix and its transpose is SYRK.
    """
    rows, columns = np.tril_indices(n, -1)
    below, diagonal = rows * n + columns, np.arange(n)
    factors = np.zeros((batch, n, n))
    flat = factors.reshape(batch, n * n)

    def draw_and_multiply() -> Floats:
        flat[:, below] = generator.standard_normal((batch, len(below)))
        flat[:, diagonal * (n + 1)] = np.sqrt(generator.chisquare(dimension - diagonal, (batch, n)))
        return factors @ factors.swapaxes(-2, -1)

    return draw_and_multiply


def sampling(
    n: int, dimension: int, generator: Generator
) -> tuple[Callable[[], Floats], Callable[[], Floats]]:
    """Return a function that draws X, (n, dimension), into memory that is kept, and one for XXᵀ.

    Both are of one problem: a batch takes as many calls.
    """
    features = np.zeros((n, dimension))
    return (
        lambda: generator.standard_normal(out=features),
        lambda: np.asarray(features @ features.T),
    )
