"""The implicit-bias gap ‖w_∞ − w⋆‖₂ of one neuron, and what is known about it (theory §6) [D].

All of it needs a positive definite Gram matrix; the identities and bounds also need every
negative example active at the start and the pattern S+ from step one on.
"""

from __future__ import annotations

from typing import Any

from verify.arrays import Array, array_namespace, device
from verify.errors import InputError
from verify.linear_algebra import solve_on
from verify.relu.descent import Run, gradient_step, start
from verify.relu.minimum_norm import MinimumNorm
from verify.relu.problem import Problem


def norm_in_span(gram: Array, duals: Array) -> Array:
    """Return ‖Xᵀα‖₂ = √(αᵀGα) for each row of duals (B, m, n), (B, m)."""
    xp = array_namespace(gram)
    square = xp.sum(duals * (duals @ gram), axis=-1)
    return xp.sqrt(xp.where(square > 0, square, xp.zeros_like(square)))


def outside_span(problem: Problem) -> Array:
    """Return √Σ_k ‖w_k^⊥‖², the size of the start's parts outside the span of the data, (B,)."""
    xp = array_namespace(problem.gram)
    square = xp.sum(xp.linalg.diagonal(problem.perpendicular_gram), axis=-1)
    return xp.sqrt(xp.where(square > 0, square, xp.zeros_like(square)))


def implicit_bias_gap(run: Run, best: MinimumNorm) -> Array:
    """Return ‖w_∞ − w⋆‖₂, (B,), in units of weights (labels per feature unit).

    Over all neurons together, the start's parts outside the span of the data included: they
    never move, and w⋆ has none. Meaningful where `run.certified` and `best.certified`.
    """
    xp = array_namespace(run.duals)
    if run.duals.shape != best.duals.shape:
        raise InputError(
            f"run has duals of shape {tuple(run.duals.shape)}, best of {tuple(best.duals.shape)}: "
            "expected both of one problem"
        )
    inside = norm_in_span(run.problem.gram, run.duals - best.duals)
    return xp.sqrt(xp.sum(inside**2, axis=-1) + outside_span(run.problem) ** 2)


def duals_after_first_step(problem: Problem) -> Array:
    """Return α¹ of the first neuron, (B, n)."""
    return (problem.starting_duals + gradient_step(problem, start(problem)).change)[:, 0, :]


def nearest_interpolant(problem: Problem) -> Array:
    """Return the duals of w_1 + X₊⁺(y₊ − X₊w_1), (B, n).

    The interpolant of the positive examples nearest to the weights after step one: the limit
    of gradient descent if the pattern is S+ from step one on (theory §6).
    """
    duals = duals_after_first_step(problem)
    missing = problem.labels - (problem.gram @ duals[:, :, None])[:, :, 0]
    return duals + solve_on(problem.gram, problem.positives, missing[:, :, None])[:, :, 0]


def schur_gap(problem: Problem, best: MinimumNorm) -> Array:
    """Return √(‖w^⊥‖² + ΔᵀSΔ), (B,): the gap by the Schur identity of theory §6.

    Δ = α¹₋ − α⋆₋ and S = G₋₋ − G₋₊ G₊₊⁻¹ G₊₋; the positives' duals do not enter.
    """
    xp = array_namespace(problem.gram)
    difference = duals_after_first_step(problem) - best.duals[:, 0, :]
    difference = xp.where(problem.positives, xp.zeros_like(difference), difference)
    image = (problem.gram @ difference[:, :, None])[:, :, 0]
    on_positives = xp.where(problem.positives, image, xp.zeros_like(image))
    explained = solve_on(problem.gram, problem.positives, image[:, :, None])[:, :, 0]
    square = xp.sum(difference * image, axis=-1) - xp.sum(on_positives * explained, axis=-1)
    return xp.sqrt(xp.where(square > 0, square, 0 * square) + outside_span(problem) ** 2)


def leading_order(problem: Problem, trace: Any) -> Array:
    """Return ‖c|y₋| − (1−c)β⁰₋‖₂/√τ, (B,): the gap as n/d → 0 (theory §6), c = ητ.

    S− is all but S+: a label of zero counts.   trace: τ, a number or (B,).
    """
    xp = array_namespace(problem.gram)
    trace = _per_problem(problem, trace)
    c = (problem.step_size * trace)[:, None]
    start_predictions = problem.starting_predictions[:, 0, :]
    terms = c * xp.abs(problem.labels) - (1 - c) * start_predictions
    terms = xp.where(problem.positives, 0 * terms, terms)
    return xp.linalg.vector_norm(terms, axis=-1) / xp.sqrt(trace)


def deductive_bounds(problem: Problem, trace: Any) -> tuple[Array, Array]:
    """Return lower and upper bounds on the gap, each (B,), with no hidden constant (theory §6).

    With δ = ‖G/τ − I‖₂ < 1, P√τ the leading order times τ and
    e = δ/(1−δ)·‖β⁰‖ + δ/(1−δ)²·‖y₊‖:  √(1−δ)(P−e)₊ ≤ gap·√τ ≤ √(1+δ)(P+e).
    Where δ ≥ 1 the bounds are 0 and ∞: they say nothing.

    trace: any τ > 0, a number or (B,).
    """
    xp = array_namespace(problem.gram)
    trace = _per_problem(problem, trace)
    scaled = problem.eigenvalues / trace[:, None]
    delta = xp.max(xp.abs(scaled - 1), axis=-1)
    usable = delta < 1
    delta = xp.where(usable, delta, xp.zeros_like(delta))
    root = xp.sqrt(trace)
    norm = xp.linalg.vector_norm
    positive_labels = xp.where(problem.positives, problem.labels, 0 * problem.labels)
    error = delta / (1 - delta) * norm(problem.starting_predictions[:, 0, :], axis=-1)
    error = error + delta / (1 - delta) ** 2 * norm(positive_labels, axis=-1)
    main = leading_order(problem, trace) * root
    below = main - error
    low = xp.sqrt(1 - delta) * xp.where(below > 0, below, 0 * below) / root
    high = xp.sqrt(1 + delta) * (main + error) / root
    return xp.where(usable, low, 0 * low), xp.where(usable, high, xp.full_like(high, xp.inf))


def _per_problem(problem: Problem, trace: Any) -> Array:
    """Return τ as (B,) beside the problem's arrays. Raises InputError unless it is positive."""
    xp = array_namespace(problem.gram)
    there = xp.asarray(trace, dtype=problem.gram.dtype, device=device(problem.gram))
    if there.ndim > 1 or not bool(xp.all(there > 0)):
        raise InputError(f"trace={trace!r}, expected a positive number, or one for each problem")
    return xp.broadcast_to(there, (problem.batch,))
