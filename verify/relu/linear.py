"""Gradient descent on the linear model: the contrast to what a ReLU selects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from verify.arrays import Array, array_namespace, to_numpy
from verify.relu.problem import Problem


@dataclass(frozen=True, eq=False)
class LinearRun:
    """B runs of the linear model f(x) = w·x, with data, start and step of a problem's first neuron.

    duals, predictions: (B, n), data-span coefficients and predictions at the last step.
    settled: (B,), whether the residual fell below the tolerance.   steps: (B,).
    """

    duals: Array
    predictions: Array
    settled: np.ndarray[Any, Any]
    steps: np.ndarray[Any, Any]


def descend_linearly(
    problem: Problem, max_steps: int = 20_000, tolerance: float = 1e-13
) -> LinearRun:
    """Take gradient steps α ← α − η(Gα − y) until the residual is below `tolerance` times max|y|.

    Plain steps, without a jump: what the limit is, is for claims to say.
    """
    xp = array_namespace(problem.gram)
    duals = problem.starting_duals[:, 0, :]
    start = problem.starting_predictions[:, 0, :]
    change = xp.zeros_like(duals)
    allowed = tolerance * to_numpy(xp.max(xp.abs(problem.labels), axis=-1))
    settled = np.zeros(problem.batch, dtype=bool)
    steps = np.zeros(problem.batch, dtype=np.int64)
    for step in range(max_steps + 1):
        predictions = start + (change[:, None, :] @ problem.gram)[:, 0, :]
        residual = predictions - problem.labels
        size = to_numpy(xp.max(xp.abs(residual), axis=-1))
        steps = np.where(settled, steps, step)
        settled = settled | (size <= allowed)
        diverging = size > 1e100
        if (settled | diverging).all():
            break
        moving = xp.asarray(~(settled | diverging), device=problem.gram.device)[:, None]
        change = change - xp.where(moving, problem.step_size[:, None] * residual, 0 * residual)
    return LinearRun(duals + change, predictions, settled, steps)


def minimum_norm_interpolant(problem: Problem) -> Array:
    """Return the duals G⁻¹y of the linear interpolant of least norm, (B, n).

    Raises InputError where a Gram matrix is not positive definite.
    """
    return problem.inner_products.solve(problem.labels[:, None, :])[:, 0, :]
