"""Plain gradient descent, step by step, with neither certificate nor jump.

The independent witness for claims that the jump would make true by construction: it shares
no code with `descent` or `certificate`, and goes on until the residual stops falling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from verify.arrays import Array, array_namespace, to_numpy
from verify.relu.problem import Problem, require_problem

_HELD = 1e100
"""Size of the residual at which a run that diverges stays put, before it overflows."""


@dataclass(frozen=True, eq=False)
class PlainRun:
    """B plain runs.

    change, predictions: (B, m, n) at the last step; change is what the data-span coefficients
        gained since the start.
    change_after_first_step: (B, m, n).
    settled: (B,), whether the covered residual fell below the tolerance; if not, the last
        state is not a limit (a run that diverges is held before it overflows).
    steps: (B,).   last_flip: (B,), the last step that changed the pattern, 0 if none.
    contraction: (B,), the largest ratio of the covered residual's norm, one step to the next,
        from step one on; −inf when there was no step to compare.
    """

    change: Array
    predictions: Array
    change_after_first_step: Array
    settled: np.ndarray[Any, Any]
    steps: np.ndarray[Any, Any]
    last_flip: np.ndarray[Any, Any]
    contraction: np.ndarray[Any, Any]


def descend_plainly(problem: Problem, max_steps: int = 2_000, tolerance: float = 1e-13) -> PlainRun:
    """Take gradient steps until every covered residual is below `tolerance` times max|y|.

    Only two rows of state are kept, whatever the number of steps. Raises InputError for what is no
    Problem.
    """
    require_problem(problem)
    xp = array_namespace(problem.gram)
    gram = problem.gram
    signs = problem.signs[:, :, None]
    scale = to_numpy(xp.max(xp.abs(problem.labels), axis=-1)) + 1e-300
    change = xp.zeros_like(problem.starting_predictions)
    change_after_first_step = change
    last_flip = np.zeros(problem.batch, dtype=np.int64)
    steps = np.zeros(problem.batch, dtype=np.int64)
    contraction = np.full(problem.batch, -np.inf)
    settled = np.zeros(problem.batch, dtype=bool)
    ended = settled
    before, norm = None, np.zeros(problem.batch)
    for step in range(max_steps + 1):
        predictions = problem.starting_predictions + change @ gram
        active = predictions >= 0 if problem.slope_at_zero else predictions > 0
        output = xp.sum(signs * xp.where(active, predictions, 0 * predictions), axis=1)
        residual = xp.where(xp.any(active, axis=1), output - problem.labels, 0 * output)
        size = to_numpy(xp.linalg.vector_norm(residual, axis=-1))
        if before is not None:
            flipped = to_numpy(xp.any(before != active, axis=(1, 2)))
            last_flip = np.where(flipped & ~ended, step, last_flip)
        if step >= 2:
            # Below this size the ratio is that of rounding errors.
            visible = ~ended & (norm > 1e-9 * scale)
            ratio = size / np.where(visible, norm, 1.0)
            contraction = np.where(visible, np.maximum(contraction, ratio), contraction)
        steps = np.where(ended, steps, step)
        settled = settled | ((size <= tolerance * scale) & (step >= 1))
        ended = settled | (size > _HELD)
        if ended.all() or step == max_steps:
            break
        before, norm = active, size
        mobile = xp.asarray(~ended, device=gram.device)[:, None, None]
        gradient = xp.where(active, signs * residual[:, None, :], 0 * predictions)
        change = change - xp.where(mobile, problem.step_size[:, None, None] * gradient, 0 * change)
        if step == 0:
            change_after_first_step = change
    return PlainRun(
        change, predictions, change_after_first_step, settled, steps, last_flip, contraction
    )
