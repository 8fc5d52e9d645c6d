"""The global minimum nearest to the start, for one neuron (theory §5 and §8).

The global minima of one neuron interpolate its label class and predict at most 0 elsewhere, a
convex set even where its loss is not zero. The one nearest to the starting weights w_0,

    w̃ = argmin ‖w − w_0‖²   subject to   w·x_i = |y_i| on the class,  w·x_i ≤ 0 elsewhere,

is the program of `minimum_norm` with right-hand sides shifted by the starting predictions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from verify.arrays import Array, array_namespace, to_numpy
from verify.errors import InputError
from verify.linear_algebra import root
from verify.relu.minimum_norm import alone, mirror, require_regular
from verify.relu.problem import Problem, require_problem
from verify.tolerances import KKT


@dataclass(frozen=True, eq=False, repr=False)
class NearestMinimum:
    """The global minima of B problems with one neuron that are nearest to the starts.

    problem: what it solves.
    change: (B, n), c with w̃ = w_0 + Xᵀc: the start's part outside the span of the data stays.
    predictions: (B, n), the w̃·x_i.
    distance: (B,), ‖w̃ − w_0‖, in units of weights (labels per feature unit).
    kkt: (B, 4), relative residuals of the optimality conditions, recomputed from `change`:
        primal equality and inequality, dual sign, complementarity; see `LeastNorm.residuals`.
    """

    problem: Problem
    change: Array
    predictions: Array
    distance: Array
    kkt: Array

    def __repr__(self) -> str:
        certified = self.certified
        return f"NearestMinimum({certified.sum()} of {certified.size} certified)"

    @property
    def certified(self) -> np.ndarray[Any, Any]:
        """Mask of the solutions that are the optimum, (B,): the optimality conditions hold to
        `tolerances.KKT`."""
        return np.asarray(to_numpy(array_namespace(self.kkt).max(self.kkt, axis=-1)) <= KKT)


def nearest_minimum(problem: Problem) -> NearestMinimum:
    """Return the global minima nearest to the starts.

    Raises InputError for what is no Problem, where the Gram matrix is not positive definite, and
    for more than one neuron: the global minima of several are no convex set, and nearest is no
    convex program.
    """
    require_problem(problem)
    if problem.neurons != 1:
        raise InputError(
            f"problem has m={problem.neurons} neurons, expected one: the global minima of several "
            "are not convex, and none is known to be nearest to the start"
        )
    require_regular(problem)
    xp = array_namespace(problem.gram)
    start = problem.starting_predictions[:, 0, :]
    change = mirror(problem, 0) * alone(problem, 0, start).solve()
    moved = (change[:, None, :] @ problem.gram)[:, 0, :]
    square = xp.sum(change * moved, axis=-1)
    return NearestMinimum(
        problem=problem,
        change=change,
        predictions=start + moved,
        distance=root(square),
        kkt=nearness_residuals(problem, change),
    )


def nearness_residuals(problem: Problem, change: Array) -> Array:
    """Return the relative KKT residuals, (B, 4), of a proposed c with w̃ = w_0 + Xᵀc, (B, n).

    Recomputed from the problem alone, whatever produced c.
    """
    program = alone(problem, 0, problem.starting_predictions[:, 0, :])
    return program.residuals(mirror(problem, 0) * change)
