"""The implicit-bias gap ‖w_∞ − w⋆‖₂, and what is known about it (theory §6) [D].

Of one neuron, or of two of opposite sign. All of it needs a positive definite Gram matrix; the
identities and bounds also need every example active at the start, and every neuron active exactly
on its label class from step one on.
"""

from __future__ import annotations

from typing import Any

from verify.arrays import Array, array_namespace, device
from verify.errors import InputError
from verify.linear_algebra import root
from verify.relu.descent import Run, gradient_step, start
from verify.relu.dynamics.activation import RELU
from verify.relu.dynamics.flow import FlowRun
from verify.relu.dynamics.stepping import SteppingRun
from verify.relu.gram import Gram
from verify.relu.minimum_norm import MinimumNorm
from verify.relu.problem import Problem
from verify.tolerances import IDENTITY


def norm_in_span(gram: Array, duals: Array) -> Array:
    """Return ‖Xᵀα‖₂ = √(αᵀGα) for each row of duals (B, m, n), (B, m)."""
    return Gram(gram).norms(duals)


def outside_span(problem: Problem) -> Array:
    """Return √Σ_k ‖w_k^⊥‖², the size of the start's parts outside the span of the data, (B,)."""
    xp = array_namespace(problem.labels)
    square = xp.sum(xp.linalg.diagonal(problem.perpendicular_gram), axis=-1)
    return root(square)


def implicit_bias_gap(run: Run | FlowRun | SteppingRun, best: MinimumNorm) -> Array:
    """Return ‖w_∞ − w⋆‖₂, (B,), in units of weights (labels per feature unit).

    Over all neurons together, the start's parts outside the span of the data included: they
    never move, and w⋆ has none. Meaningful where `run.certified` and `best.certified`.

    Raises InputError for a run of another activation than the ReLU, whose global minima are others,
    and where the two are of other data.
    """
    if not _of_the_relu(run):
        raise InputError(
            f"run={run!r}, expected a run of the ReLU, whose global minimum best is, by descend, "
            "descend_in_small_steps or flow; docs/dynamics.md says what to compare others with"
        )
    xp = array_namespace(run.duals)
    if run.duals.shape != best.duals.shape:
        raise InputError(
            f"run has duals of shape {tuple(run.duals.shape)}, best of {tuple(best.duals.shape)}: "
            "expected both of one problem"
        )
    if not _of_the_same_data(run.problem, best.problem):
        raise InputError(
            "run and best are of other data (labels or lengths of the examples differ), expected "
            "both of one problem: pass minimum_norm(run.problem)"
        )
    inside = run.problem.inner_products.norms(run.duals - best.duals)
    return xp.sqrt(xp.sum(inside**2, axis=-1) + outside_span(run.problem) ** 2)


def _of_the_same_data(one: Problem, other: Problem) -> bool:
    """Say whether labels and lengths of the examples agree; no look where they are shared."""
    if one.labels is other.labels and one.inner_products is other.inner_products:
        return True
    xp = array_namespace(one.labels)
    sizes = one.inner_products.diagonal, other.inner_products.diagonal
    close = xp.abs(sizes[0] - sizes[1]) <= IDENTITY * xp.maximum(*sizes)
    return bool(xp.all(close & (one.labels == other.labels)))


def duals_after_first_step(problem: Problem) -> Array:
    """Return α¹ of every neuron, (B, m, n)."""
    return problem.starting_duals + gradient_step(problem, start(problem)).change


def nearest_interpolant(problem: Problem) -> Array:
    """Return each neuron's interpolant of its label class nearest to its weights after step one.

    Duals (B, m, n) of w_k^1 + X_C⁺(|y_C| − X_C w_k^1), C the class: the limit of gradient descent
    if every neuron is active exactly on its class from step one on (theory §6).
    """
    xp = array_namespace(problem.labels)
    duals, classes = duals_after_first_step(problem), problem.label_classes
    gram = problem.inner_products
    missing = xp.abs(problem.labels)[:, None, :] - gram.times(duals)
    corrections = [
        gram.solve_on(classes[:, k, :], missing[:, k : k + 1, :]) for k in range(problem.neurons)
    ]
    return duals + xp.concat(corrections, axis=1)


def schur_gap(problem: Problem, best: MinimumNorm) -> Array:
    """Return √Σ_k(‖w_k^⊥‖² + Δ_kᵀS_kΔ_k), (B,): the gap by the Schur identity of theory §6.

    Off the label class C of neuron k, Δ_k = α_k¹ − α_k⋆, and S_k is the Schur complement of G_CC
    there; the duals on the class do not enter.
    """
    xp = array_namespace(problem.labels)
    classes = problem.label_classes
    difference = duals_after_first_step(problem) - best.duals
    difference = xp.where(classes, xp.zeros_like(difference), difference)
    gram = problem.inner_products
    image = gram.times(difference)
    square = xp.sum(difference * image, axis=(1, 2))
    for k in range(problem.neurons):
        own = classes[:, k, :]
        explained = gram.solve_on(own, image[:, k : k + 1, :])[:, 0, :]
        square = square - xp.sum(xp.where(own, image[:, k, :] * explained, 0 * explained), axis=-1)
    return xp.sqrt(xp.where(square > 0, square, 0 * square) + outside_span(problem) ** 2)


def leading_order(problem: Problem, trace: Any) -> Array:
    """Return √Σ_k ‖β_k⁰ − c·s_k·r⁰‖² off the label classes, over √τ, (B,): the gap as n/d → 0.

    r⁰ = Σ_k s_k β_k⁰ − y is the residual of a start with every example active, c = ητ (theory
    §6). For one neuron that is ‖c|y₋| − (1−c)β⁰₋‖/√τ, where S− is all but S+: a label of zero
    counts.   trace: τ, a number or (B,).
    """
    xp = array_namespace(problem.labels)
    trace = _per_problem(problem, trace)
    problem.require_one_neuron_a_class("nothing is known of the gap where neurons share a sign")
    signs, starts = problem.signs[:, :, None], problem.starting_predictions
    residual = xp.sum(signs * starts, axis=1) - problem.labels
    c = (problem.step_size * trace)[:, None, None]
    terms = starts - c * signs * residual[:, None, :]
    terms = xp.where(problem.label_classes, 0 * terms, terms)
    return xp.sqrt(xp.sum(terms * terms, axis=(1, 2)) / trace)


def deductive_bounds(problem: Problem, trace: Any) -> tuple[Array, Array]:
    """Return lower and upper bounds on the gap, each (B,), with no hidden constant (theory §6).

    With δ = ‖G/τ − I‖₂ < 1, P/√τ the leading order and e = √Σ_k e_k²,
    e_k = δ/(1−δ)·‖β_k⁰‖ + δ/(1−δ)²·‖y_C‖ on the label class C of neuron k:
    √(1−δ)(P−e)₊ ≤ gap·√τ ≤ √(1+δ)(P+e). Where δ ≥ 1 the bounds are 0 and ∞: they say nothing.
    For two neurons the gap is that to the decoupled comparator.

    trace: any τ > 0, a number or (B,).
    """
    xp = array_namespace(problem.labels)
    trace = _per_problem(problem, trace)
    scaled = problem.eigenvalues / trace[:, None]
    delta = xp.max(xp.abs(scaled - 1), axis=-1)
    usable = delta < 1
    delta = xp.where(usable, delta, xp.zeros_like(delta))
    root, norm = xp.sqrt(trace), xp.linalg.vector_norm
    labels = xp.where(
        problem.label_classes, problem.labels[:, None, :], 0.0 * problem.signs[:, :, None]
    )
    ratio = (delta / (1 - delta))[:, None]
    errors = ratio * norm(problem.starting_predictions, axis=-1)
    errors = errors + ratio / (1 - delta)[:, None] * norm(labels, axis=-1)
    error = norm(errors, axis=-1)
    main = leading_order(problem, trace) * root
    below = main - error
    low = xp.sqrt(1 - delta) * xp.where(below > 0, below, 0 * below) / root
    high = xp.sqrt(1 + delta) * (main + error) / root
    return xp.where(usable, low, 0 * low), xp.where(usable, high, xp.full_like(high, xp.inf))


def _of_the_relu(run: Any) -> bool:
    """Say whether a run is one of ReLU neurons with fixed output signs."""
    if isinstance(run, Run):
        return run.slope_below == 0
    return isinstance(run, FlowRun | SteppingRun) and run.activation == RELU


def _per_problem(problem: Problem, trace: Any) -> Array:
    """Return τ as (B,) beside the problem's arrays. Raises InputError unless it is positive."""
    xp = array_namespace(problem.labels)
    there = xp.asarray(trace, dtype=problem.labels.dtype, device=device(problem.labels))
    if there.ndim > 1 or not bool(xp.all(there > 0)):
        raise InputError(f"trace={trace!r}, expected a positive number, or one for each problem")
    return xp.broadcast_to(there, (problem.batch,))
