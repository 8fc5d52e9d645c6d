"""Certificates that an activation pattern never changes again (theory §4) [D].

While the pattern is fixed, the residual r on the covered examples C follows
r ← (I − ηM) r with M = Σ_k D_k G D_k, and the weights move by at most κ‖r‖ in the norm of
M⁻¹. If no prediction can reach zero within that movement, the pattern is frozen for ever.
A finite run cannot show this; these bounds do. They hold for exact arithmetic on the given
numbers: every computed quantity is widened by a bound on its rounding error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from verify.arrays import Array, array_namespace, to_numpy
from verify.relu.problem import Problem
from verify.tolerances import REGULAR_ABOVE, SINGULAR_BELOW, summation


@dataclass(frozen=True, eq=False)
class State:
    """Gradient descent at one step.

    change: (B, m, n), the data-span coefficients gained since the start.
    predictions: (B, m, n).   pattern: (B, m, n), which examples each neuron is active on.
    residual: (B, n), model output minus label.
    speed: (B,), an upper bound on ηλ_max(M), dimensionless.
    error: (B,), a bound on the distance in weights from the path of exact arithmetic, as long
        as every sign so far was right.
    """

    change: Array
    predictions: Array
    pattern: Array
    residual: Array
    speed: Array
    error: Array


@dataclass(frozen=True, eq=False)
class Certificate:
    """Which problems are frozen for ever, and how far from zero their predictions stay.

    frozen: (B,).   slack: (B,), the smallest distance from zero, in units of the labels,
    that any prediction is guaranteed to keep on its present side; negative where no
    guarantee is given, −inf where the bound does not apply.
    """

    frozen: Array
    slack: Array


def observe(
    problem: Problem, change: Array, error: Array | None = None, before: State | None = None
) -> State:
    """Return the state whose coefficients differ from the start by `change`, (B, m, n).

    error: (B,), see `State`; zero by default.   before: the state one step earlier, whose
    speed holds on where the pattern is the same.
    """
    xp = array_namespace(change)
    predictions = problem.starting_predictions + change @ problem.gram
    pattern = predictions >= 0 if problem.slope_at_zero else predictions > 0
    active = xp.where(pattern, predictions, xp.zeros_like(predictions))
    output = xp.sum(problem.signs[:, :, None] * active, axis=1)
    if before is None:
        speed = fastest(problem, pattern)
    else:
        same = xp.all(pattern == before.pattern, axis=(1, 2))
        speed = before.speed
        if not bool(xp.all(same)):
            speed = xp.where(same, speed, fastest(problem, pattern))
    error = 0 * speed if error is None else error
    return State(change, predictions, pattern, output - problem.labels, speed, error)


def fastest(problem: Problem, pattern: Array) -> Array:
    """Return an upper bound on ηλ_max(M), (B,).

    λ_max(M) ≤ λ_max(G) · (most neurons on one example); from the spectrum of M itself where
    that bound is not below 2/η.
    """
    xp = array_namespace(problem.gram)
    crowd = xp.max(xp.sum(xp.astype(pattern, problem.gram.dtype), axis=1), axis=-1)
    rate = problem.step_size * (1 + summation(problem.examples, problem.gram))
    bound = rate * problem.eigenvalues[:, -1] * crowd
    fast = to_numpy(bound >= 2)
    if not fast.any():
        return bound
    index = xp.asarray(np.flatnonzero(fast), device=problem.gram.device)
    gram, active = xp.take(problem.gram, index, axis=0), xp.take(pattern, index, axis=0)
    sharp = to_numpy(bound).copy()
    sharp[fast] = to_numpy(
        xp.take(rate, index, axis=0) * xp.linalg.eigvalsh(_interaction(gram, active))[:, -1]
    )
    return xp.asarray(sharp, device=problem.gram.device)


def rounding(problem: Problem, change: Array) -> Array:
    """Return a bound on the rounding error of evaluating β⁰ + Ga for a = `change`, (B, m, n).

    Σ_j |G_ij| |a_j| is at most √G_ii Σ_j √G_jj |a_j|, and at most √G_ii √λ_max(G) ‖a‖₂
    (Cauchy–Schwarz); the smaller one, times the error of a sum.
    """
    xp = array_namespace(change)
    lengths = xp.sqrt(xp.linalg.diagonal(problem.gram))[:, None, :]
    by_entries = xp.sum(lengths * xp.abs(change), axis=-1, keepdims=True)
    by_norm = xp.linalg.vector_norm(change, axis=-1, keepdims=True)
    by_norm = by_norm * xp.sqrt(problem.eigenvalues[:, -1])[:, None, None]
    size = lengths * xp.where(by_norm < by_entries, by_norm, by_entries)
    return summation(problem.examples, change) * (xp.abs(problem.starting_predictions) + size)


def uncertainty(problem: Problem, state: State) -> Array:
    """Return a bound on the error of the predictions on the computed path, (B, m, n).

    The rounding of their evaluation, plus what `state.error` in the weights makes of it:
    nothing for a neuron that has never been active.
    """
    xp = array_namespace(problem.gram)
    lengths = xp.sqrt(xp.linalg.diagonal(problem.gram))[:, None, :]
    mobile = xp.any((state.change != 0) | state.pattern, axis=-1, keepdims=True)
    carried = lengths * state.error[:, None, None]
    return rounding(problem, state.change) + xp.where(mobile, carried, 0 * carried)


def residual_rounding(problem: Problem, state: State) -> Array:
    """Return a bound on the rounding error of evaluating the residual, (B, n)."""
    xp = array_namespace(problem.gram)
    terms = xp.sum(xp.abs(state.predictions), axis=1) + xp.abs(problem.labels)
    return xp.sum(rounding(problem, state.change), axis=1) + (
        summation(problem.neurons, terms) * terms
    )


def covered(state: State) -> Array:
    """Return the mask of examples on which at least one neuron is active, (B, n)."""
    return array_namespace(state.pattern).any(state.pattern, axis=1)


def interaction(problem: Problem, pattern: Array) -> Array:
    """Return M = Σ_k D_k G D_k, (B, n, n): the Gram matrix times the shared active neurons."""
    return _interaction(problem.gram, pattern)


def _interaction(gram: Array, pattern: Array) -> Array:
    xp = array_namespace(gram)
    active = xp.astype(pattern, gram.dtype)
    return gram * (xp.matrix_transpose(active) @ active)


def certify_by_length(problem: Problem, state: State) -> Certificate:
    """Certify with the eigenvalues of G alone, in O(mn) a step.

    Every prediction moves by at most κ √G_ii ‖r_C‖₂/√λ_min(G): the energy-norm bound of
    theory §4 with G_iC M⁻¹ G_Ci ≤ G_ii and M_CC ⪰ λ_min(G). κ = max(1, ηλ_max(M)) bounds
    |1 − (1 − ηλ)^t| for all t while ηλ_max(M) < 2.
    """
    xp = array_namespace(problem.gram)
    highest = problem.eigenvalues[:, -1]
    lowest = problem.eigenvalues[:, 0] - summation(problem.examples, highest) * highest
    regular = lowest > REGULAR_ABOVE * highest
    size = xp.linalg.vector_norm(_covered_residual(problem, state), axis=-1)
    floor = xp.where(regular, lowest, xp.ones_like(lowest))
    lengths = xp.sqrt(xp.linalg.diagonal(problem.gram))
    drift = (_kappa(state.speed) * size / xp.sqrt(floor))[:, None] * lengths
    applies = (regular & (state.speed < 2)) | ~xp.any(covered(state), axis=-1)
    return _judge(problem, state, drift[:, None, :], size[:, None], applies)


def certify_by_energy(problem: Problem, state: State) -> tuple[Certificate, Array]:
    """Certify with the spectrum of M, in O(n³): sharper, and sound where M is singular.

    Prediction (k, i) moves by at most κ ‖(D_k G)_{C,i}‖ · ‖r_C‖, both in the norm of M⁺; the
    part of r in the kernel of M moves no weights (D_k X annihilates it for every k) and
    stays. Eigenvalues within rounding of zero count as zero: data that differ from singular
    ones by less than that cannot be told from them. Returns the certificate and q = M⁺r,
    (B, n), so that the limit is α_k − s_k D_k q (theory §3).
    """
    xp = array_namespace(problem.gram)
    mask = covered(state)
    values, vectors = xp.linalg.eigh(interaction(problem, state.pattern))
    highest = values[:, -1:]
    zero = values <= SINGULAR_BELOW * problem.examples * highest
    kept = values > REGULAR_ABOVE * highest
    residual = xp.where(mask, state.residual, xp.zeros_like(state.residual))
    coordinates = (residual[:, None, :] @ vectors)[:, 0, :]
    inverse = xp.where(kept, 1 / xp.where(kept, values, xp.ones_like(values)), 0 * values)
    solution = ((coordinates * inverse)[:, None, :] @ xp.matrix_transpose(vectors))[:, 0, :]

    # From here on for the bound: eigenvalues lowered, coordinates enlarged by their errors.
    relative = summation(problem.examples, values)
    lowered = xp.where(kept, values - relative * highest, xp.ones_like(values))
    inverse = xp.where(kept, 1 / lowered, 0 * values)
    tilt = relative * (1 + highest * xp.max(inverse, axis=-1, keepdims=True))
    norm = xp.linalg.vector_norm
    size = norm(_covered_residual(problem, state), axis=-1)
    blur = norm(residual_rounding(problem, state), axis=-1)[:, None] + tilt * size[:, None]
    energy = norm((xp.abs(coordinates) + blur) * xp.sqrt(inverse), axis=-1)
    active = xp.astype(state.pattern, problem.gram.dtype)
    rows = active[:, :, None, :] * problem.gram[:, None, :, :]
    rotated = xp.abs(rows @ vectors[:, None, :, :]) + relative * norm(rows, axis=-1, keepdims=True)
    reach = norm(rotated * xp.sqrt(inverse)[:, None, None, :], axis=-1)
    clear = xp.all(zero | kept, axis=-1)
    speed = problem.step_size * highest[:, 0] * (1 + relative)
    applies = (clear & (speed < 2)) | ~xp.any(mask, axis=-1)
    drift = (_kappa(speed) * energy)[:, None, None] * reach
    return _judge(problem, state, drift, size[:, None], applies), solution


def certify_by_rows(problem: Problem, state: State) -> Certificate:
    """Certify with row sums of |I − ηM|, weighted by the labels: O(mn²), no eigenvalues.

    The weighted ∞-norm bound of theory §4 with v = |y| on C: κ = max_i Σ_j |I−ηM|_ij v_j/v_i
    must be below 1, and prediction (k, i) moves by at most
    η/(1−κ) · Σ_{j∈C} |G_ij| D_{k,j} v_j · max_{j∈C} |r_j|/v_j.
    """
    xp = array_namespace(problem.gram)
    mask = covered(state)
    size = xp.abs(problem.labels)
    weight = xp.where(mask & (size > 0), size, xp.ones_like(size))
    inside = mask[:, :, None] & mask[:, None, :]
    identity = xp.eye(problem.examples, dtype=problem.gram.dtype, device=problem.gram.device)
    step = problem.step_size[:, None, None]
    contraction = xp.abs(identity - step * interaction(problem, state.pattern))
    contraction = xp.where(inside, contraction, xp.zeros_like(contraction))
    rows = (contraction @ weight[:, :, None])[:, :, 0] / weight
    kappa = xp.max(rows, axis=-1) + 4 * summation(problem.examples, rows)
    worst = xp.max(_covered_residual(problem, state) / weight, axis=-1)
    applies = (kappa < 1) & xp.all(~mask | (size > 0), axis=-1)
    kappa = xp.where(applies, kappa, 0 * kappa)
    active = xp.astype(state.pattern, problem.gram.dtype) * weight[:, None, :]
    drift = (problem.step_size * worst / (1 - kappa))[:, None, None] * (
        active @ xp.abs(problem.gram)
    )
    return _judge(problem, state, drift, weight * worst[:, None], applies)


def _covered_residual(problem: Problem, state: State) -> Array:
    """Return a bound on |r| on the covered examples, rounding included, 0 elsewhere, (B, n)."""
    xp = array_namespace(problem.gram)
    bound = xp.abs(state.residual) + residual_rounding(problem, state)
    return xp.where(covered(state), bound, 0 * bound)


def _kappa(speed: Array) -> Array:
    """Return max(1, ηλ_max(M)), (B,)."""
    return array_namespace(speed).where(speed > 1, speed, 0 * speed + 1)


def _judge(
    problem: Problem, state: State, drift: Array, residual_bound: Array, applies: Array
) -> Certificate:
    """Turn bounds on all later movement into a certificate.

    drift: (B, m, n) or broadcastable, on |β_{k,i}(later) − β_{k,i}(now)|.
    residual_bound: (B, n) or broadcastable, on every later |r_i|. An active example that one
    neuron covers alone, with s_k y_i > 0, has β_{k,i} = |y_i| + s_k r_i.

    Both are about descent from the computed state. Exact descent, which is within
    `state.error` of it in weights, stays so: with one pattern and ηλ_max(M) < 2 the distance
    does not grow.
    """
    xp = array_namespace(problem.gram)
    error = uncertainty(problem, state)
    alone = xp.sum(xp.astype(state.pattern, problem.gram.dtype), axis=1)[:, None, :] == 1
    agrees = problem.signs[:, :, None] * problem.labels[:, None, :] > 0
    by_drift = xp.abs(state.predictions) - drift * (1 + summation(problem.examples, drift))
    by_label = xp.abs(problem.labels)[:, None, :] - residual_bound[:, None, :]
    better = state.pattern & alone & agrees & (by_label > by_drift)
    slack = xp.where(better, by_label + 0 * by_drift, by_drift) - error
    strict = ~state.pattern if problem.slope_at_zero else state.pattern
    safe = xp.where(strict, slack > 0, slack >= 0)
    least = xp.min(slack, axis=(1, 2))
    return Certificate(
        frozen=applies & xp.all(safe, axis=(1, 2)),
        slack=xp.where(applies, least, xp.full_like(least, -xp.inf)),
    )
