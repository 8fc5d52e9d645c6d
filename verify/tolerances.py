"""What "equal", "positive" and "singular" mean, by precision and size: the one place.

All values are dimensionless and relative to the scale that the docstring names.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from verify.arrays import Array, Namespace, array_namespace

IDENTITY = 1e-10
"""Relative error up to which two expressions of one quantity count as equal."""

MONOTONE = 1e-12
"""Increase, relative to the first distance, up to which a distance counts as never increasing."""

KKT = 1e-10
"""Largest relative Karush-Kuhn-Tucker residual of a solution that counts as certified."""

SINGULAR_BELOW = 2e-15
"""Eigenvalues below this multiple of n·λ_max are zero (numerical rank) ..."""

REGULAR_ABOVE = 1e-9
"""... above this multiple of λ_max they are positive; between the two, rank is undecided."""


RECOMPUTED = 1e-6
"""Largest difference of a number and the same one computed on another processor, whose BLAS rounds
otherwise, relative to the largest of its kind."""


def epsilon(array: Array) -> float:
    """Return the spacing of `array`'s floating-point type at one."""
    return _epsilon_of(array_namespace(array), array.dtype)


@lru_cache
def _epsilon_of(xp: Namespace, dtype: Any) -> float:
    return float(xp.finfo(dtype).eps)


def summation(terms: int, array: Array) -> float:
    """Return a bound on the relative rounding error of a sum or inner product of `terms` terms.

    Higham, Accuracy and Stability of Numerical Algorithms (2002), eq. (3.5): γ_k = kε/(1−kε),
    taken at k = 2·terms + 8, which covers the few operations around the sum.
    """
    steps = (2 * terms + 8) * epsilon(array)
    return steps / (1.0 - steps)
