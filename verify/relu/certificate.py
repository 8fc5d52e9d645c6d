"""Certificates that an activation pattern never changes again (theory §4) [D].

While the pattern is fixed, the residual r on the covered examples C follows
r ← (I − ηM) r with M = Σ_k D_k G D_k, and the weights move by at most κ‖r‖ in the norm of
M⁻¹. If no prediction can reach zero within that movement, the pattern is frozen for ever.
A finite run cannot show this; these bounds do. They hold for exact arithmetic on the given
numbers: every computed quantity is widened by a bound on its rounding error.

The D_k are the slopes of any φ(z) = max(z, γz). With S_ij = Σ_k d_{k,i} d_{k,j}, M is G ∘ S, so
that λ_min(M_CC) ≥ λ_min(G)·min_C S_ii (Schur's product theorem), S_ii at least 1 for the ReLU.
"""

from __future__ import annotations

from dataclasses import dataclass

from verify.arrays import Array, array_namespace
from verify.linear_algebra import root, solve_on
from verify.relu.problem import Problem
from verify.relu.slopes import Slopes, over_neurons
from verify.relu.state import State, norm, rounding_of_products
from verify.tolerances import REGULAR_ABOVE, SINGULAR_BELOW, epsilon, summation


@dataclass(frozen=True, eq=False)
class Certificate:
    """Which problems are frozen for ever, and how far from zero their predictions stay.

    frozen: (B,).   slack: (B,), the smallest distance from zero, in units of the labels,
    that any prediction is guaranteed to keep on its present side; negative where no
    guarantee is given, −inf where the bound does not apply.
    """

    frozen: Array
    slack: Array


@dataclass(frozen=True, eq=False)
class Jump:
    """What is left of each problem's path to its limit, while the pattern is frozen (theory §3).

    coefficients: (B, n), q = M_CC⁻¹ r_C, 0 off C: α_k ends at α_k − s_k D_k q.
    predictions: (B, m, n), s_k G D_k q: β_k ends at β_k minus that.
    """

    coefficients: Array
    predictions: Array


def certify_by_length(problem: Problem, state: State) -> Certificate:
    """Certify with bounds on the eigenvalues of G alone, in O(mn²) at most.

    The energy-norm bound of theory §4 with ‖r_C‖ ≤ ‖r_C‖₂/√λ_min(M_CC) in the norm of M⁻¹ and
    `Gram.reach` for the other factor. κ = max(1, ηλ_max(M)) bounds |1 − (1 − ηλ)^t| for all t
    while ηλ_max(M) < 2.
    """
    xp = array_namespace(state.pattern)
    gram, mask = problem.inner_products, state.slopes.covered
    low = gram.smallest * state.slopes.least_crowd(problem.labels)
    regular = _is_regular(problem, state.slopes, gram.smallest, gram.largest)
    size = norm(_covered_residual(state))
    applies = (regular & (state.speed < 2)) | ~xp.any(mask, axis=-1)
    floor = xp.where(regular, low, xp.ones_like(size))
    energy = _kappa(state.speed) * size / xp.sqrt(floor)
    drift = energy[:, None, None] * gram.reach(state.slopes, mask)
    return _judge(problem, state, drift, size[:, None], applies)


def _is_regular(problem: Problem, slopes: Slopes, low: Array, high: Array) -> Array:
    """Return whether M is far enough from singular on C to be solved with, (B,).

    Of one neuron, M = D G D is solved with as G is.   low, high: (B,), bounds on the eigenvalues of
    G on C.
    """
    if problem.neurons > 1 and slopes.below:
        low = low * slopes.least_crowd(problem.labels)
        high = high * problem.neurons
    return low > REGULAR_ABOVE * high


@dataclass(frozen=True, eq=False)
class Line:
    """The straight line to the limit of each problem, and how far the path may stray from it.

    With the eigenvalues of ηM on C in [p − b, p + b], I − ηM is (1 − p)I + E with ‖E‖ ≤ b.

    middle, spread: (B,), p and b, dimensionless.   exponent: (B,), κ = log(1 − p + b)/log(1 − p).
    lowest: (B,), a lower bound on λ_min(M_CC).   residual, image: (B, n), r and Mr on C.
    departure: (B, n), Er = pr − ηMr on C: where the path first strays to.
    applies: (B,), where p < 1 and b < p; the departure is 0 and all else arbitrary elsewhere.
    """

    middle: Array
    spread: Array
    exponent: Array
    lowest: Array
    residual: Array
    image: Array
    departure: Array
    applies: Array


def straight_line(problem: Problem, state: State) -> Line:
    """Return the line along which the residual r on C shrinks by nearly 1 − p a step, in O(mn²).

    p is the Rayleigh quotient of r, which makes Er least, but not so small that 1 − p + b would
    be much nearer to one than the slowest eigenvalue makes it.
    """
    xp = array_namespace(state.speed)
    mask = state.slopes.covered
    low, high = problem.inner_products.range_on(mask)
    regular = _is_regular(problem, state.slopes, low, high)
    low = low * state.slopes.least_crowd(problem.labels)
    error = 4 * summation(problem.examples, low)
    slowest, quickest = problem.step_size * low * (1 - error), state.speed
    if problem.neurons == 1:
        quickest = xp.minimum(quickest, problem.step_size * high * (1 + error))
    quickest = xp.maximum(quickest, slowest)
    residual = _on(mask, state.residual)
    image = _image(problem, state.slopes, residual)[1]
    square = xp.vecdot(residual, residual)
    ratio = xp.vecdot(residual, image) / xp.where(square > 0, square, xp.ones_like(square))
    middle = xp.maximum(problem.step_size * ratio, (quickest + slowest / 2) / 2)
    spread = xp.maximum(middle - slowest, quickest - middle) + error * middle
    applies = regular & (slowest > 0) & (middle < 1) & (spread < middle)
    half = 0 * middle + 0.5
    middle = xp.where(applies, middle, half)
    spread = xp.where(applies, spread, half / 2)
    exponent = xp.log1p(spread - middle) / xp.log1p(-middle)
    return Line(
        middle=middle,
        spread=spread,
        exponent=xp.where(exponent < 1, exponent, 0 * exponent + (1 - epsilon(exponent))),
        lowest=low,
        residual=residual,
        image=image,
        departure=_on(
            applies[:, None],
            middle[:, None] * residual - problem.step_size[:, None] * image,
        ),
        applies=applies,
    )


def certify_by_limit(
    problem: Problem, state: State, line: Line | None = None
) -> tuple[Certificate, Jump]:
    """Certify by how close the path stays to the straight line to its limit [D].

    With a = 1 − p and A = a + b (see `Line`), r(t) = (aI + E)ᵗr is aᵗr but for an error of
    Σ_{k≥1} C(t,k) a^{t−k} b^{k−1} ‖Er‖ = (Aᵗ − aᵗ)‖Er‖/b at most, and (Aᵗ − aᵗ)‖r‖, in the norm
    of M⁻¹. So prediction (k, i) is β + (1 − aᵗ)(β^∞ − β), β^∞ its limit, but for Rᵢ times that, Rᵢ
    its reach (`Gram.reach`). With u = aᵗ that is a convex bound on how far it stays from zero,
    whose least value is known in closed form. It costs as much as the solve that gives the limit;
    the step size hardly matters.

    line: the problem's `straight_line` at that state, where it is known.

    Returns the certificate, and the jump to the limit.
    """
    xp = array_namespace(state.pattern)
    line = straight_line(problem, state) if line is None else line
    gram, mask, applies = problem.inner_products, state.slopes.covered, line.applies
    low, residual = line.lowest, line.residual
    error = summation(problem.examples, low)
    floor = xp.sqrt(xp.where(applies, low, xp.ones_like(low)))

    remainder = _remaining_change(problem, state.slopes, mask & applies[:, None], residual)
    moved, image = _image(problem, state.slopes, remainder)
    missed = norm(_on(mask, residual - image)) + norm(_on(mask, state.residual_rounding))
    rounded = _rounded(problem, remainder) + problem.step_size * _rounded(problem, residual)
    inexact = 2 * (missed + rounded) / floor

    first = line.middle[:, None] * remainder - problem.step_size[:, None] * residual
    there = line.middle[:, None] * image - problem.step_size[:, None] * line.image
    strayed = xp.vecdot(first, there) + norm(first) * (rounded + error * norm(there))
    energy = root(xp.vecdot(residual, remainder))
    energy = xp.minimum(energy, (root(strayed) + inexact) / line.spread) * (1 + error) + inexact
    drift = energy[:, None, None] * gram.reach(state.slopes, mask) * (1 + error)
    side = xp.where(state.pattern, state.predictions, -state.predictions)
    turn = xp.where(state.pattern, -moved, moved)
    least = _least_distance(side, turn, drift, line.exponent[:, None, None])
    blur = inexact[:, None, None] * gram.lengths[:, None, :] + error * xp.abs(turn)
    slack = least - blur - state.uncertainty
    certificate = _certificate(problem, state, slack, applies | ~xp.any(mask, axis=-1))
    return certificate, Jump(remainder, moved)


def _least_distance(side: Array, turn: Array, drift: Array, kappa: Array) -> Array:
    """Return min over u ∈ [0, 1] of side + (1 − u)·turn − drift·(u^κ − u), (B, m, n).

    As κ < 1 the function is convex; its derivative vanishes at u^(κ−1) = (drift − turn)/(κ·drift).
    """
    xp = array_namespace(side)
    one = xp.ones_like(drift)
    moving = (drift > turn) & (drift > 0)
    ratio = xp.where(moving, (drift - turn) / xp.where(moving, kappa * drift, one), one)
    at = xp.where(ratio > 1, ratio, one) ** (-1 / (1 - kappa))
    value = side + (1 - at) * turn - drift * (at**kappa - at)
    return xp.where(value < side, value, side)


def jump_to_limit(problem: Problem, slopes: Slopes, mask: Array, residual: Array) -> Jump:
    """Return the jump for residuals r, (B, n), on masks C, (B, n), where M must be regular."""
    change = _remaining_change(problem, slopes, mask, residual)
    return Jump(change, _image(problem, slopes, change)[0])


def _remaining_change(problem: Problem, slopes: Slopes, mask: Array, residual: Array) -> Array:
    """Return q with M_CC q_C = r_C and q = 0 off C, (B, n). Of one neuron M is D G D."""
    if problem.neurons > 1:
        matrix = slopes.interaction(problem.gram)
        return solve_on(matrix, mask, residual[:, :, None])[:, :, 0]
    if not slopes.below:
        return problem.inner_products.solve_on(mask, residual[:, None, :])[:, 0, :]
    numbers = slopes.numbers(residual)
    solution = problem.inner_products.solve_on(mask, residual[:, None, :] / numbers)
    return (solution / numbers)[:, 0, :]


def _image(problem: Problem, slopes: Slopes, values: Array) -> tuple[Array, Array]:
    """Return s_k G D_k q, (B, m, n), and Mq on C, (B, n), of values q on C, (B, n)."""
    there = problem.inner_products.times(slopes.times(values[:, None, :]))
    return problem.signs[:, :, None] * there, over_neurons(slopes.times(there))


def _rounded(problem: Problem, values: Array) -> Array:
    """Return a bound on the norm of the rounding error of Mq, (B,), of values q, (B, n)."""
    terms = rounding_of_products(problem, values[:, None, :])[:, 0, :]
    return (problem.neurons + 1) * norm(terms)


def _on(mask: Array, values: Array) -> Array:
    """Return `values` where the mask is set and 0 elsewhere."""
    return array_namespace(values).where(mask, values, 0 * values)


def promising_by_length(problem: Problem, state: State) -> Array:
    """Return the mask of problems, (B,), that `certify_by_length` may certify, in O(mn).

    A covered example that is active has the reach √G_ii ≥ √λ_min(G), so that its prediction may
    move by ‖r_C‖₂ at least, as far as that certificate knows; or by that over the least S_ii, where
    this is above 1.
    """
    size = norm(_covered_residual(state))
    if state.slope_below and problem.neurons > 1:
        crowd = state.slopes.least_crowd(size)
        size = size / array_namespace(size).where(crowd > 1, crowd, 0 * crowd + 1)
    return size <= _room(problem, state)


def promising_by_limit(problem: Problem, state: State, line: Line) -> Array:
    """Return the mask of problems, (B,), that `certify_by_limit` seems worth its cost for.

    A covered example that is active may stray from the line by about the largest u^κ − u times
    the smaller of ‖r_C‖₂ and ‖Er‖₂/b, as far as that certificate knows.
    """
    xp = array_namespace(state.speed)
    kappa = line.exponent
    largest = kappa ** (kappa / (1 - kappa)) * (1 - kappa)
    size = xp.minimum(norm(_covered_residual(state)), norm(line.departure) / line.spread)
    return line.applies & (largest * size <= _room(problem, state))


def _room(problem: Problem, state: State) -> Array:
    """Return the least of max(|β|, |y|) over the active examples, of one neuron over those that it
    has a slope on, (B,)."""
    xp = array_namespace(state.pattern)
    room = xp.maximum(xp.abs(state.predictions), xp.abs(problem.labels)[:, None, :])
    mask = state.slopes.somewhere if problem.neurons == 1 else state.pattern
    return xp.min(xp.where(mask, room, xp.full_like(room, xp.inf)), axis=(1, 2))


def certify_by_energy(problem: Problem, state: State) -> tuple[Certificate, Jump]:
    """Certify with the spectrum of M, in O(n³): sharper, and sound where M is singular.

    Prediction (k, i) moves by at most κ ‖(D_k G)_{C,i}‖ · ‖r_C‖, both in the norm of M⁺; the
    part of r in the kernel of M moves no weights (D_k X annihilates it for every k) and
    stays. Eigenvalues within rounding of zero count as zero: data that differ from singular
    ones by less than that cannot be told from them.

    Returns the certificate, and the jump to the limit, with q = M⁺r.
    """
    xp = array_namespace(problem.gram)
    mask = state.slopes.covered
    values, vectors = xp.linalg.eigh(state.slopes.interaction(problem.gram))
    highest = values[:, -1:]
    zero = xp.abs(values) <= _singular_below(problem, state) * problem.examples * highest
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
    size = norm(_covered_residual(state))
    blur = norm(state.residual_rounding)[:, None] + tilt * size[:, None]
    energy = norm((xp.abs(coordinates) + blur) * xp.sqrt(inverse))
    slopes = state.slopes.numbers(problem.gram)
    rows = slopes[:, :, None, :] * problem.gram[:, None, :, :]
    rotated = xp.abs(rows @ vectors[:, None, :, :]) + relative * norm(rows)[..., None]
    reach = norm(rotated * xp.sqrt(inverse)[:, None, None, :])
    clear = xp.all(zero | kept, axis=-1)
    speed = problem.step_size * highest[:, 0] * (1 + relative)
    applies = (clear & (speed < 2)) | ~xp.any(mask, axis=-1)
    drift = (_kappa(speed) * energy)[:, None, None] * reach
    jump = Jump(solution, _image(problem, state.slopes, solution)[0])
    return _judge(problem, state, drift, size[:, None], applies), jump


def _singular_below(problem: Problem, state: State) -> Array | float:
    """Return the multiple of n·λ_max(M) up to which eigenvalues of M count as zero, (B, 1).

    As for G; but where γ > 0 M is singular only if G is, and an eigenvalue that is small for γ² is
    none of zero: nothing counts as zero where G is regular, or γ² itself within rounding.
    """
    if not state.slope_below:
        return SINGULAR_BELOW
    crowd = state.slopes.least_crowd(problem.labels)
    gram = problem.inner_products
    possible = (gram.smallest <= REGULAR_ABOVE * gram.largest) & (crowd > REGULAR_ABOVE)
    scale = array_namespace(crowd).where(crowd < 1, crowd, 0 * crowd + 1)
    return array_namespace(crowd).where(possible, SINGULAR_BELOW * scale, 0 * scale - 1)[:, None]


def certify_by_rows(problem: Problem, state: State) -> Certificate:
    """Certify with row sums of |I − ηM|, weighted by the labels: O(mn²), no eigenvalues.

    The weighted ∞-norm bound of theory §4 with v = |y| on C, of one leaky neuron v_i = |y_i|γ/d_i,
    as what is below the kink moves slowly and pulls little: κ = max_i Σ_j |I−ηM|_ij v_j/v_i
    must be below 1, and prediction (k, i) moves by at most
    η/(1−κ) · Σ_{j∈C} |G_ij| d_{k,j} v_j · max_{j∈C} |r_j|/v_j.
    """
    xp = array_namespace(problem.gram)
    mask = state.slopes.covered
    size = xp.abs(problem.labels)
    weight = xp.where(mask & (size > 0), size, xp.ones_like(size))
    if state.slope_below and problem.neurons == 1:
        weight = weight * state.slope_below / state.slopes.numbers(size)[:, 0, :]
    inside = mask[:, :, None] & mask[:, None, :]
    identity = xp.eye(problem.examples, dtype=problem.gram.dtype, device=problem.gram.device)
    step = problem.step_size[:, None, None]
    contraction = xp.abs(identity - step * state.slopes.interaction(problem.gram))
    contraction = xp.where(inside, contraction, xp.zeros_like(contraction))
    rows = (contraction @ weight[:, :, None])[:, :, 0] / weight
    kappa = xp.max(rows, axis=-1) + 4 * summation(problem.examples, rows)
    worst = xp.max(_covered_residual(state) / weight, axis=-1)
    applies = (kappa < 1) & xp.all(~mask | (size > 0), axis=-1)
    kappa = xp.where(applies, kappa, 0 * kappa)
    slopes = state.slopes.numbers(problem.gram) * weight[:, None, :]
    drift = (problem.step_size * worst / (1 - kappa))[:, None, None] * (
        slopes @ xp.abs(problem.gram)
    )
    return _judge(problem, state, drift, weight * worst[:, None], applies)


def _covered_residual(state: State) -> Array:
    """Return a bound on |r| on the covered examples, rounding included, 0 elsewhere, (B, n)."""
    xp = array_namespace(state.residual)
    return _on(state.slopes.covered, xp.abs(state.residual) + state.residual_rounding)


def _kappa(speed: Array) -> Array:
    """Return max(1, ηλ_max(M)), (B,)."""
    return array_namespace(speed).where(speed > 1, speed, 0 * speed + 1)


def _judge(
    problem: Problem, state: State, drift: Array, residual_bound: Array, applies: Array
) -> Certificate:
    """Turn bounds on all later movement into a certificate.

    drift: (B, m, n) or broadcastable, on |β_{k,i}(later) − β_{k,i}(now)|.
    residual_bound: (B, n) or broadcastable, on every later |r_i|. An example that one neuron covers
    alone has d_{k,i} β_{k,i} = s_k (y_i + r_i): on the side of s_k y_i at |y_i| − |r_i| at least.

    Both are about descent from the computed state. Exact descent, which is within
    `state.error` of it in weights, stays so: with one pattern and ηλ_max(M) < 2 the distance
    does not grow.
    """
    xp = array_namespace(drift)
    error = state.uncertainty
    slopes, there = state.slopes, state.slopes.somewhere
    alone = over_neurons(xp.astype(there, problem.labels.dtype))[:, None, :] == 1
    wanted = problem.signs[:, :, None] * problem.labels[:, None, :]
    by_drift = xp.abs(state.predictions) - drift * (1 + summation(problem.examples, drift))
    by_label = xp.abs(problem.labels)[:, None, :] - residual_bound[:, None, :]
    if slopes.below:
        by_label = by_label / slopes.numbers(by_label)
        wanted = xp.where(state.pattern, wanted, -wanted)
    better = there & alone & (wanted > 0) & (by_label > by_drift)
    slack = xp.where(better, by_label + 0 * by_drift, by_drift) - error
    return _certificate(problem, state, slack, applies)


def _certificate(problem: Problem, state: State, slack: Array, applies: Array) -> Certificate:
    """Return what slacks (B, m, n) of the predictions certify, where the bound applies, (B,)."""
    xp = array_namespace(slack)
    strict = ~state.pattern if problem.slope_at_zero else state.pattern
    safe = xp.where(strict, slack > 0, slack >= 0)
    least = xp.min(slack, axis=(1, 2))
    return Certificate(
        frozen=applies & xp.all(safe, axis=(1, 2)),
        slack=xp.where(applies, least, xp.full_like(least, -xp.inf)),
    )
