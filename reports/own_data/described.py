"""Whether what a theorem is about is gradient descent on ReLU neurons, which is then described."""

from __future__ import annotations

from typing import Any

import numpy as np

from verify.arrays import to_numpy
from verify.relu.descent import Run, descend
from verify.relu.problem import Problem


def described(theorem: str | None, looked_at: Any, problem: Problem, most_steps: int) -> Run | None:
    """Return gradient descent on a problem with B = 1, None where it is not to be described.

    theorem: the one that was asked for, None for the built-in ones, which are about descent.
    looked_at: the run that its claims or assumptions look at, None if they look at none. Its
    simulator may follow other dynamics, or change the problem or the run.
    """
    if theorem is None:
        return descend(problem, most_steps)
    if not isinstance(looked_at, Run) or looked_at.slope_below:
        return None
    run = descend(problem, most_steps)
    return run if _are_alike(looked_at, run) else None


def run_of_its_own(looked_at: Any) -> dict[str, Any] | None:
    """Return what became of a run of `descend` that is not described, None of anything else."""
    if not isinstance(looked_at, Run) or np.shape(looked_at.steps) != (1,):
        return None
    return {
        "slope_below": float(looked_at.slope_below),
        "status": str(looked_at.status[0]),
        "steps": int(looked_at.steps[0]),
        "last_flip": int(looked_at.last_flip[0]),
        "near_ties": int(looked_at.near_ties[0]),
        "speed": _speed(looked_at),
    }


def _speed(run: Run) -> float:
    """ηλ_max(M), M = Σ_k D_k G D_k, at the last pattern: the step is stable there below 2."""
    gram, pattern = to_numpy(run.problem.gram)[0], to_numpy(run.final_pattern)[0]
    slopes = np.where(pattern, 1.0, run.slope_below)
    largest = np.linalg.eigvalsh(slopes.T @ slopes * gram)[-1]
    return float(to_numpy(run.problem.step_size)[0] * largest)


def _are_alike(looked_at: Run, run: Run) -> bool:
    """Whether two runs take the same steps, as far as they tell."""
    same = ["pattern_after_first_step"]
    if looked_at.certified.all() and run.certified.all():
        same += ["final_pattern", "last_flip"]
    pairs = [(looked_at.problem.step_size, run.problem.step_size)]
    pairs += [(getattr(looked_at, name), getattr(run, name)) for name in same]
    return all(np.array_equal(to_numpy(one), to_numpy(other)) for one, other in pairs)
