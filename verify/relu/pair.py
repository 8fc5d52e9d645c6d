"""Two neurons of opposite sign: bounds on the least norm of their global minima (theory §5) [D].

The global minima are the exact interpolants, a set that is not convex: on an example of positive
label either the neuron of sign −1 is inactive and the other interpolates, or both are active and
their difference interpolates; mirrored on negative labels. With v the neuron of the label's own
sign and u the other, both scaled to |y|:

    inactive   v·x = |y|,        u·x ≤ 0
    shared     (v − u)·x = |y|,  u·x ≥ 0
    relaxed    v·x ≥ |y|,        (v − u)·x ≥ |y|      (the convex hull of the two)

On a label of zero both are inactive, or equal and active; the hull is everything. Each choice of
a mode for every example is a least-norm program, and so is the relaxation: a lower bound.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from verify.arrays import Array, array_namespace
from verify.relu.gram import Gram
from verify.relu.least_norm import LeastNorm
from verify.relu.problem import Problem
from verify.tolerances import KKT

MOST_ENUMERATED = 10
"""Examples up to which all 2ⁿ choices of modes are tried."""


def relaxation(problem: Problem) -> Array:
    """Return the convex relaxation's lower bound on ‖w⊕‖² + ‖w⊖‖², (B,)."""
    xp = array_namespace(problem.gram)
    classes, nothing = problem.label_classes, problem.labels == 0
    size = xp.abs(problem.labels)
    one, zero = xp.ones_like(size), xp.zeros_like(size)
    # Rows v·x ≥ |y|, then (v − u)·x ≥ |y|; coefficients of the neurons' inner products with x.
    coefficients = [
        xp.concat(
            [xp.where(classes[:, k, :], one, zero), xp.where(classes[:, k, :], one, -one)], axis=-1
        )
        for k in range(2)
    ]
    there = xp.concat([~nothing, ~nothing], axis=-1)
    program = _program(
        problem.gram, coefficients, xp.concat([size, size], axis=-1), xp.zeros_like(there), there
    )
    return program.value(program.solve())


def enumerate_modes(problem: Problem) -> tuple[Array, Array, Array]:
    """Return the global minimum of least norm of each problem, by trying all 2ⁿ modes.

    Returns duals (B, 2, n) of the best choice that was solved, its Karush–Kuhn–Tucker residuals
    (B, 4), and the least dual value over all choices, (B,): no exact interpolant has a smaller
    ‖w⊕‖² + ‖w⊖‖².
    Time and memory grow as 2ⁿ: meant for n ≤ `MOST_ENUMERATED`.
    """
    xp = array_namespace(problem.gram)
    batch, n, where = problem.batch, problem.examples, problem.gram.device
    choices = xp.asarray(np.array(list(product([False, True], repeat=n))), device=where)
    count = int(choices.shape[0])

    def each(array: Array) -> Array:
        """Repeat (B, …) for every choice, (B·2ⁿ, …)."""
        shape = tuple(int(length) for length in array.shape[1:])
        spread = xp.broadcast_to(array[:, None, ...], (batch, count, *shape))
        return xp.reshape(spread, (batch * count, *shape))

    shared = xp.reshape(xp.broadcast_to(choices[None, :, :], (batch, count, n)), (-1, n))
    size, nothing = each(xp.abs(problem.labels)), each(problem.labels == 0)
    one, zero = xp.ones_like(size), xp.zeros_like(size)
    # First rows: v·x = |y| or (v − u)·x = |y|; where y = 0, −w⊕·x ≥ 0 or (w⊕ − w⊖)·x = 0.
    # Second rows: −u·x ≥ 0 or u·x ≥ 0; where y = 0, −w⊖·x ≥ 0 or w⊖·x ≥ 0.
    side = xp.where(shared, one, -one)
    at_zero = ((side, zero), (xp.where(shared, -one, zero), side))
    coefficients = []
    for k in range(2):
        own = each(problem.label_classes[:, k, :])
        first = xp.where(own, one, xp.where(shared, -one, zero))
        second = xp.where(own, zero, side)
        rows = [
            xp.where(nothing, zeroed, usual)
            for zeroed, usual in zip(at_zero[k], (first, second), strict=True)
        ]
        coefficients.append(xp.concat(rows, axis=-1))
    equality = xp.concat([~nothing | shared, xp.zeros_like(shared)], axis=-1)
    bound = xp.concat([size, zero], axis=-1)
    program = _program(each(problem.gram), coefficients, bound, equality, ~equality)
    multipliers = program.solve()
    value = xp.reshape(program.value(multipliers), (batch, count))
    residuals = program.residuals(multipliers)
    solved = xp.reshape(xp.max(residuals, axis=-1) <= KKT, (batch, count))
    usable = solved | ~xp.any(solved, axis=-1, keepdims=True)
    chosen = xp.where(usable, value, xp.full_like(value, xp.inf))
    best = xp.argmin(chosen, axis=-1) + count * xp.arange(batch, device=where)
    duals = [rows[:, :n] + rows[:, n:] for rows in (each * multipliers for each in coefficients)]
    return (
        xp.take(xp.stack(duals, axis=1), best, axis=0),
        xp.take(residuals, best, axis=0),
        xp.min(value, axis=-1),
    )


def _program(
    gram: Array, coefficients: list[Array], bound: Array, equality: Array, inequality: Array
) -> LeastNorm:
    """Return the program whose constraints are rows (a·x_i, b·x_i) on the weights of the pair.

    coefficients: two arrays (B, 2n), the a and the b of every row; row r is about example r mod n.
    """
    xp = array_namespace(gram)
    rows = xp.concat([gram, gram], axis=-1)
    tiled = xp.concat([rows, rows], axis=-2)
    weight = sum(each[:, :, None] * each[:, None, :] for each in coefficients)
    return LeastNorm(Gram(tiled * weight), xp.ones_like(bound), bound, equality, inequality)
