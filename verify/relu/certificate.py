"""Certificates that an activation pattern never changes again (theory §4) [D].

While the pattern is fixed, the residual r on the covered examples C follows
r ← (I − ηM) r with M = Σ_k D_k G D_k, and the weights move by at most κ‖r‖ in the norm of
M⁻¹. If no prediction can reach zero within that movement, the pattern is frozen for ever.
A finite run cannot show this; these bounds do.
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
    speed: (B,), a bound on ηλ_max(M), dimensionless; above 2, errors grow.
    error: (B,), a bound on the distance, in weights, from what exact arithmetic would give.
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


def start(problem: Problem) -> State:
    """Return the state before the first step."""
    xp = array_namespace(problem.gram)
    change = xp.zeros_like(problem.starting_predictions)
    predictions, pattern, residual = _observe(problem, change)
    return State(
        change, predictions, pattern, residual, _speed(problem, pattern), 0 * problem.step_size
    )


def gradient_step(problem: Problem, state: State) -> State:
    """Take one step: α_k ← α_k − η s_k D_k r, with predictions from the Gram matrix (theory §2).

    As long as every sign is right, an error e in the weights becomes (I − ηJᵀJ)e with
    JJᵀ = M: it grows by max(1, ηλ_max(M) − 1) at most, and the step's rounding comes on top.
    """
    xp = array_namespace(problem.gram)
    eta = problem.step_size[:, None, None]
    gradient = problem.signs[:, :, None] * xp.where(
        state.pattern, state.residual[:, None, :], 0 * state.predictions
    )
    change = state.change - eta * gradient
    predictions, pattern, residual = _observe(problem, change)
    flipped = xp.any(pattern != state.pattern, axis=(1, 2))
    speed = state.speed
    if bool(xp.any(flipped)):
        speed = xp.where(flipped, _speed(problem, pattern), speed)
    blur = xp.where(state.pattern, residual_rounding(problem, state)[:, None, :], 0 * gradient)
    local = eta * (blur + 4 * epsilon(change) * xp.abs(gradient)) + epsilon(change) * xp.abs(change)
    length = xp.sqrt(problem.eigenvalues[:, -1] * xp.sum(local * local, axis=(1, 2)))
    growth = xp.where(state.speed > 2, state.speed - 1, xp.ones_like(speed))
    return State(change, predictions, pattern, residual, speed, growth * state.error + length)


def _observe(problem: Problem, change: Array) -> tuple[Array, Array, Array]:
    """Return predictions, pattern and residual of coefficients changed by `change`, (B, m, n)."""
    xp = array_namespace(change)
    predictions = problem.starting_predictions + change @ problem.gram
    pattern = predictions >= 0 if problem.slope_at_zero else predictions > 0
    active = xp.where(pattern, predictions, xp.zeros_like(predictions))
    output = xp.sum(problem.signs[:, :, None] * active, axis=1)
    return predictions, pattern, output - problem.labels


def _speed(problem: Problem, pattern: Array) -> Array:
    """Return an upper bound on ηλ_max(M), (B,).

    λ_max(M) ≤ λ_max(G) · (most neurons on one example); where that is not below 2/η, the
    spectrum of M itself.
    """
    xp = array_namespace(problem.gram)
    crowd = xp.max(xp.sum(xp.astype(pattern, problem.gram.dtype), axis=1), axis=-1)
    margin = 1 + summation(problem.examples, problem.gram)
    speed = problem.step_size * problem.eigenvalues[:, -1] * crowd * margin
    fast = to_numpy(speed >= 2)
    if not fast.any():
        return speed
    index = xp.asarray(np.flatnonzero(fast), device=problem.gram.device)
    few = problem.select(index)
    values = xp.linalg.eigvalsh(interaction(few, xp.take(pattern, index, axis=0)))
    merged = to_numpy(speed).copy()
    merged[fast] = to_numpy(few.step_size * values[:, -1] * margin)
    return xp.asarray(merged, device=problem.gram.device)


def rounding(problem: Problem, state: State) -> Array:
    """Return a bound on the error of the computed predictions, (B, m, n).

    Of their evaluation, and of the `state.error` that earlier steps have left in the weights
    (none in those of a neuron that has not moved).
    """
    xp = array_namespace(problem.gram)
    lengths = xp.sqrt(xp.linalg.diagonal(problem.gram))[:, None, :]
    moved = xp.any(state.change != 0, axis=-1, keepdims=True)
    error = xp.where(moved, state.error[:, None, None] + 0 * lengths, 0 * lengths)
    return evaluation_rounding(problem, state.change) + lengths * error


def evaluation_rounding(problem: Problem, change: Array) -> Array:
    """Return a bound on the rounding error of β⁰ + Ga, a = `change`, (B, m, n).

    |Σ_j G_ij a_j| ≤ √G_ii Σ_j √G_jj |a_j| (Cauchy–Schwarz), times the error of a sum.
    """
    xp = array_namespace(change)
    lengths = xp.sqrt(xp.linalg.diagonal(problem.gram))[:, None, :]
    size = lengths * xp.sum(lengths * xp.abs(change), axis=-1, keepdims=True)
    return summation(problem.examples, change) * (xp.abs(problem.starting_predictions) + size)


def residual_rounding(problem: Problem, state: State) -> Array:
    """Return a bound on the rounding error of the computed residual, (B, n)."""
    xp = array_namespace(problem.gram)
    terms = evaluation_rounding(problem, state.change) + summation(
        problem.neurons, problem.gram
    ) * xp.abs(state.predictions)
    of_label = summation(problem.neurons, problem.gram) * xp.abs(problem.labels)
    return xp.sum(terms, axis=1) + of_label


def covered(state: State) -> Array:
    """Return the mask of examples on which at least one neuron is active, (B, n)."""
    return array_namespace(state.pattern).any(state.pattern, axis=1)


def interaction(problem: Problem, pattern: Array) -> Array:
    """Return M = Σ_k D_k G D_k, (B, n, n): the Gram matrix times the shared active neurons."""
    xp = array_namespace(problem.gram)
    active = xp.astype(pattern, problem.gram.dtype)
    return problem.gram * (xp.matrix_transpose(active) @ active)


def certify_by_length(problem: Problem, state: State) -> Certificate:
    """Certify with the eigenvalues of G alone, in O(mn) a step.

    Every prediction moves by at most κ √G_ii ‖r_C‖₂/√λ_min(G), with κ = 1 if ηλ_max(M) ≤ 1
    and 2 if ηλ_max(M) < 2, where λ_max(M) ≤ λ_max(G) · (most neurons on one example): the
    energy-norm bound of theory §4 with G_iC M⁻¹ G_Ci ≤ G_ii and M_CC ⪰ λ_min(G).
    """
    xp = array_namespace(problem.gram)
    lowest, highest = problem.eigenvalues[:, 0], problem.eigenvalues[:, -1]
    crowd = xp.max(xp.sum(xp.astype(state.pattern, problem.gram.dtype), axis=1), axis=-1)
    speed = problem.step_size * highest * crowd
    regular = lowest > REGULAR_ABOVE * highest
    residual = xp.where(covered(state), state.residual, xp.zeros_like(state.residual))
    size = xp.linalg.vector_norm(residual, axis=-1)
    kappa = xp.where(speed <= 1, 1.0 + 0 * speed, 2.0 + 0 * speed)
    floor = xp.where(regular, lowest, xp.ones_like(lowest))
    lengths = xp.sqrt(xp.linalg.diagonal(problem.gram))
    drift = (kappa * size / xp.sqrt(floor))[:, None] * lengths
    applies = (regular & (speed < 2 * (1 - 1e-12))) | ~xp.any(covered(state), axis=-1)
    return _judge(problem, state, drift[:, None, :], size[:, None], applies)


def certify_by_energy(problem: Problem, state: State) -> tuple[Certificate, Array]:
    """Certify with the spectrum of M, in O(n³): sharper, and sound where M is singular.

    Prediction (k, i) moves by at most κ ‖(D_k G)_{C,i}‖ · ‖r_C‖, both in the norm of M⁺; the
    part of r in the kernel of M moves no weights (D_k X annihilates it for every k) and
    stays. Returns the certificate and q = M⁺r, (B, n), so that the limit is
    α_k − s_k D_k q (theory §3).
    """
    xp = array_namespace(problem.gram)
    mask = covered(state)
    values, vectors = xp.linalg.eigh(interaction(problem, state.pattern))
    highest = values[:, -1:]
    zero = values <= SINGULAR_BELOW * problem.examples * highest
    clear = xp.all(zero | (values > REGULAR_ABOVE * highest), axis=-1)
    inverse = xp.where(zero, 0 * values, 1 / xp.where(zero, xp.ones_like(values), values))
    residual = xp.where(mask, state.residual, xp.zeros_like(state.residual))
    coordinates = (residual[:, None, :] @ vectors)[:, 0, :]
    solution = ((coordinates * inverse)[:, None, :] @ xp.matrix_transpose(vectors))[:, 0, :]
    energy = xp.sqrt(xp.sum(coordinates**2 * inverse, axis=-1))
    active = xp.astype(state.pattern, problem.gram.dtype)
    rotated = (active[:, :, None, :] * problem.gram[:, None, :, :]) @ vectors[:, None, :, :]
    reach = xp.sqrt(xp.sum(rotated**2 * inverse[:, None, None, :], axis=-1))
    speed = problem.step_size * highest[:, 0]
    kappa = xp.where(speed <= 1, 1.0 + 0 * speed, 2.0 + 0 * speed)
    size = xp.linalg.vector_norm(residual, axis=-1)
    applies = (clear & (speed < 2 * (1 - 1e-12))) | ~xp.any(mask, axis=-1)
    drift = (kappa * energy)[:, None, None] * reach
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
    kappa = xp.max(rows, axis=-1)
    zero = xp.zeros_like(size)
    worst = xp.max(xp.where(mask, xp.abs(state.residual) / weight, zero), axis=-1)
    applies = (kappa < 1 - 1e-12) & xp.all(~mask | (size > 0), axis=-1)
    kappa = xp.where(applies, kappa, zero[:, 0])
    active = xp.astype(state.pattern, problem.gram.dtype) * weight[:, None, :]
    drift = (problem.step_size * worst / (1 - kappa))[:, None, None] * (
        active @ xp.abs(problem.gram)
    )
    return _judge(problem, state, drift, weight * worst[:, None], applies)


def _judge(
    problem: Problem, state: State, drift: Array, residual_bound: Array, applies: Array
) -> Certificate:
    """Turn bounds on all later movement into a certificate.

    drift: (B, m, n) or broadcastable, on |β_{k,i}(later) − β_{k,i}(now)|.
    residual_bound: (B, n) or broadcastable, on every later |r_i|. An active example that one
    neuron covers alone, with s_k y_i > 0, has β_{k,i} = |y_i| + s_k r_i.
    """
    xp = array_namespace(problem.gram)
    slack = xp.abs(state.predictions) - drift - rounding(problem, state.change)
    alone = xp.sum(xp.astype(state.pattern, problem.gram.dtype), axis=1)[:, None, :] == 1
    agrees = problem.signs[:, :, None] * problem.labels[:, None, :] > 0
    towards = xp.abs(problem.labels)[:, None, :] - residual_bound[:, None, :]
    by_label = state.pattern & alone & agrees & (towards > slack)
    slack = xp.where(by_label, towards + 0 * slack, slack)
    strict = ~state.pattern if problem.slope_at_zero else state.pattern
    safe = xp.where(strict, slack > 0, slack >= 0)
    least = xp.min(slack, axis=(1, 2))
    return Certificate(
        frozen=applies & xp.all(safe, axis=(1, 2)),
        slack=xp.where(applies, least, xp.full_like(least, -xp.inf)),
    )
