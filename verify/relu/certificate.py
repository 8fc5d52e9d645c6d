"""Certificates that an activation pattern never changes again (theory §4) [D].

While the pattern is fixed, the residual r on the covered examples C follows
r ← (I − ηM) r with M = Σ_k D_k G D_k, and the weights move by at most κ‖r‖ in the norm of
M⁻¹. If no prediction can reach zero within that movement, the pattern is frozen for ever.
A finite run cannot show this; these bounds do.
"""

from __future__ import annotations

from dataclasses import dataclass

from verify.arrays import Array, array_namespace
from verify.relu.problem import Problem
from verify.tolerances import REGULAR_ABOVE, SINGULAR_BELOW, summation


@dataclass(frozen=True, eq=False)
class State:
    """Gradient descent at one step.

    change: (B, m, n), the data-span coefficients gained since the start.
    predictions: (B, m, n).   pattern: (B, m, n), which examples each neuron is active on.
    residual: (B, n), model output minus label.
    """

    change: Array
    predictions: Array
    pattern: Array
    residual: Array


@dataclass(frozen=True, eq=False)
class Certificate:
    """Which problems are frozen for ever, and how far from zero their predictions stay.

    frozen: (B,).   slack: (B,), the smallest distance from zero, in units of the labels,
    that any prediction is guaranteed to keep on its present side; negative where no
    guarantee is given, −inf where the bound does not apply.
    """

    frozen: Array
    slack: Array


def observe(problem: Problem, change: Array) -> State:
    """Return the state whose coefficients differ from the start by `change`, (B, m, n)."""
    xp = array_namespace(change)
    predictions = problem.starting_predictions + change @ problem.gram
    pattern = predictions >= 0 if problem.slope_at_zero else predictions > 0
    active = xp.where(pattern, predictions, xp.zeros_like(predictions))
    output = xp.sum(problem.signs[:, :, None] * active, axis=1)
    return State(change, predictions, pattern, output - problem.labels)


def rounding(problem: Problem, change: Array) -> Array:
    """Return a bound on the rounding error of the predictions of `observe`, (B, m, n).

    |Σ_j G_ij a_j| ≤ √G_ii Σ_j √G_jj |a_j| (Cauchy–Schwarz), times the error of a sum.
    """
    xp = array_namespace(change)
    lengths = xp.sqrt(xp.linalg.diagonal(problem.gram))[:, None, :]
    size = lengths * xp.sum(lengths * xp.abs(change), axis=-1, keepdims=True)
    return summation(problem.examples, change) * (xp.abs(problem.starting_predictions) + size)


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
