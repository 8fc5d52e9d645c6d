"""Certificates over the rationals that an activation pattern never changes again (theory §4) [D].

Three kinds, all of them a finite computation in rational numbers:

- "rest": no example is covered, or every covered one is fitted exactly: nothing moves.
- "rows": the weighted ∞-norm, κ = max_i Σ_j |I − ηM|_ij v_j/v_i < 1 on the covered examples C.
- "energy": the norm of M⁻¹, where M_CC is positive definite and ηλ_max(M_CC) < 2; lengths are
  compared by their squares, and κ is a rational number with κI − ηM_CC positive semi-definite.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flint import fmpq, fmpq_mat

from verify.relu.exact.definite import smallest_pivot
from verify.relu.exact.problem import ExactProblem, Mask
from verify.relu.exact.rational import block, column, identity

if TYPE_CHECKING:
    from verify.relu.exact.descent import ExactState

_ITERATIONS = (1, 2, 4, 16)
"""Powers of |I − ηM| applied to the first weights, to find others."""

_WEIGHT_DENOMINATOR = 64
"""Other weights are multiples of one over this, the largest being 1."""

_BOUNDS = tuple(fmpq(quarters, 4) for quarters in range(4, 9))
"""Tried in turn as bounds κ ≥ max(1, ηλ_max(M)); the last always is one where ηλ_max(M) < 2."""


@dataclass(frozen=True, eq=False)
class Frozen:
    """A state from which no neuron ever changes the examples on which it is active.

    step: when.   kind: "rest", "rows" or "energy".
    weights: v, one an example, 0 off C; None but for "rows".   kappa: κ; None for "rest".
    remainder: q, one an example: M_CC q_C = r_C, and 0 off C.
    """

    step: int
    kind: str
    weights: tuple[fmpq, ...] | None
    kappa: fmpq | None
    remainder: tuple[fmpq, ...]


@dataclass(frozen=True, eq=False)
class _Fixed:
    """What the bounds need of a pattern, whatever the predictions are.

    covered: C.   matrix: M_CC.   inverse: of it, or None where it is singular.
    rows: pairs of weights v (one an example, 0 off C) and κ < 1.
    kappa: of the energy norm, or None where ηλ_max(M_CC) ≥ 2.   reach: (m, n), the squares of
    ‖(D_k G)_{C,i}‖ in the norm of M⁻¹, or None with kappa.
    """

    covered: tuple[int, ...]
    matrix: fmpq_mat
    inverse: fmpq_mat | None
    rows: tuple[tuple[tuple[fmpq, ...], fmpq], ...]
    kappa: fmpq | None
    reach: tuple[tuple[fmpq, ...], ...] | None


def certify(problem: ExactProblem, state: ExactState) -> Frozen | None:
    """Return a certificate that the pattern of `state` is final, or None where none of ours says
    so: perhaps a later step, whose residual is smaller."""
    nothing = (fmpq(0),) * problem.examples
    if all(state.residual[i] == 0 for i in covered(state.pattern)):
        return Frozen(state.step, "rest", None, None, nothing)
    fixed = _fixed(problem, state.pattern)
    if fixed.inverse is None:
        return None
    kind, weights, kappa = "rows", None, None
    for weights, kappa in fixed.rows:
        if _safe_by_rows(problem, state, weights, kappa):
            break
    else:
        if fixed.kappa is None or not _safe_by_energy(problem, state, fixed):
            return None
        kind, weights, kappa = "energy", None, fixed.kappa
    solution = fixed.inverse * column([state.residual[i] for i in fixed.covered])
    remainder = list(nothing)
    for place, example in enumerate(fixed.covered):
        remainder[example] = solution[place, 0]
    return Frozen(state.step, kind, weights, kappa, tuple(remainder))


def covered(pattern: Mask) -> tuple[int, ...]:
    """Return the examples on which at least one neuron is active, C."""
    return tuple(i for i in range(len(pattern[0])) if any(active[i] for active in pattern))


def interaction(gram: fmpq_mat, pattern: Mask, examples: tuple[int, ...]) -> fmpq_mat:
    """Return M = Σ_k D_k G D_k on these examples, of which there is at least one."""
    shared = [[sum(a[i] and a[j] for a in pattern) for j in examples] for i in examples]
    rows = [
        [gram[i, j] * shared[p][q] for q, j in enumerate(examples)] for p, i in enumerate(examples)
    ]
    return fmpq_mat(rows)


def contraction(problem: ExactProblem, pattern: Mask, weights: tuple[fmpq, ...]) -> fmpq:
    """Return κ = max_i Σ_j |I − ηM|_ij v_j/v_i over the covered examples; 0 without any.

    weights: v, one an example, positive on the covered ones.
    """
    examples = covered(pattern)
    if not examples:
        return fmpq(0)
    return _kappa(
        _moved(problem, interaction(problem.gram, pattern, examples)), _on(weights, examples)
    )


def slacks_by_rows(
    problem: ExactProblem, state: ExactState, weights: tuple[fmpq, ...], kappa: fmpq
) -> list[list[fmpq]]:
    """Return, for each neuron and example, (m, n), how far from zero the prediction is certain to
    stay on its present side, in units of the labels; negative where nothing is.

    weights, kappa: v, positive on C, and κ < 1. By |β_{k,i}| less the drift
    η/(1−κ) · Σ_{j∈C} |G_ij| D_{k,j} v_j · max_j |r_j|/v_j; or by |y_i| − v_i · max_j |r_j|/v_j
    for an active example that one neuron covers alone, with s_k y_i > 0.
    """
    examples = covered(state.pattern)
    worst = max((abs(state.residual[j]) / weights[j] for j in examples), default=fmpq(0))
    factor = problem.step_size / (1 - kappa) * worst
    found = []
    for k, active in enumerate(state.pattern):
        mobile = [j for j in examples if active[j]]
        line = []
        for i in range(problem.examples):
            drift = sum((abs(problem.gram[i, j]) * weights[j] for j in mobile), start=fmpq(0))
            slack = abs(state.predictions[k, i]) - factor * drift
            if _keeps_its_label(problem, state.pattern, k, i):
                slack = max(slack, abs(problem.labels[i]) - weights[i] * worst)
            line.append(slack)
        found.append(line)
    return found


def _safe_by_rows(
    problem: ExactProblem, state: ExactState, weights: tuple[fmpq, ...], kappa: fmpq
) -> bool:
    slacks = slacks_by_rows(problem, state, weights, kappa)
    return all(
        slack > 0 if _strictly(problem, active) else slack >= 0
        for line, pattern in zip(slacks, state.pattern, strict=True)
        for slack, active in zip(line, pattern, strict=True)
    )


def _safe_by_energy(problem: ExactProblem, state: ExactState, fixed: _Fixed) -> bool:
    """Say whether no prediction moves as far as zero: β² against κ² · reach² · energy²."""
    assert fixed.inverse is not None
    assert fixed.kappa is not None
    assert fixed.reach is not None
    residual = column([state.residual[i] for i in fixed.covered])
    energy = (residual.transpose() * fixed.inverse * residual)[0, 0]
    size = (residual.transpose() * residual)[0, 0]
    for k, active in enumerate(state.pattern):
        for i in range(problem.examples):
            if _keeps_its_label(problem, state.pattern, k, i) and size < problem.labels[i] ** 2:
                continue
            drift = fixed.kappa**2 * fixed.reach[k][i] * energy
            here = state.predictions[k, i] ** 2
            if not (here > drift if _strictly(problem, active[i]) else here >= drift):
                return False
    return True


def _strictly(problem: ExactProblem, active: bool) -> bool:
    """Say whether the prediction must stay off zero itself to stay on its side."""
    return not active if problem.slope_at_zero else active


def _keeps_its_label(problem: ExactProblem, pattern: Mask, neuron: int, example: int) -> bool:
    """Say whether β_{k,i} = |y_i| + s_k r_i: active, covered by this neuron alone, s_k y_i > 0."""
    return (
        pattern[neuron][example]
        and problem.label_classes[neuron][example]
        and sum(active[example] for active in pattern) == 1
    )


def _fixed(problem: ExactProblem, pattern: Mask) -> _Fixed:
    """Return what the bounds need of a pattern, computed once."""
    cache = problem.known.setdefault("patterns", {})
    if pattern not in cache:
        cache[pattern] = _computed(problem, pattern)
    found: _Fixed = cache[pattern]
    return found


def _computed(problem: ExactProblem, pattern: Mask) -> _Fixed:
    examples = covered(pattern)
    matrix = interaction(problem.gram, pattern, examples)
    if smallest_pivot(matrix) <= 0:
        return _Fixed(examples, matrix, None, (), None, None)
    inverse = matrix.inv()
    size = len(examples)
    stable = smallest_pivot(2 * identity(size) - problem.step_size * matrix) > 0
    kappa = reach = None
    if stable:
        kappa = next(
            k
            for k in _BOUNDS
            if smallest_pivot(k * identity(size) - problem.step_size * matrix) >= 0
        )
        reach = tuple(_reach(problem, active, examples, inverse) for active in pattern)
    return _Fixed(examples, matrix, inverse, _weights(problem, examples, matrix), kappa, reach)


def _reach(
    problem: ExactProblem, active: tuple[bool, ...], examples: tuple[int, ...], inverse: fmpq_mat
) -> tuple[fmpq, ...]:
    """Return the squares of ‖(D_k G)_{C,i}‖ in the norm of M⁻¹, one an example."""
    everything = range(problem.examples)
    rows = block(problem.gram, everything, examples)
    for place, j in enumerate(examples):
        if not active[j]:
            for i in everything:
                rows[i, place] = fmpq(0)
    image = rows * inverse
    return tuple(
        sum((rows[i, p] * image[i, p] for p in range(len(examples))), start=fmpq(0))
        for i in everything
    )


def _weights(
    problem: ExactProblem, examples: tuple[int, ...], matrix: fmpq_mat
) -> tuple[tuple[tuple[fmpq, ...], fmpq], ...]:
    """Return weights v with κ < 1: |y| (1 if one is zero), and what powers of |I − ηM| make of
    them with the least κ. That of all weights is its largest eigenvalue, at the Perron vector."""
    moved = _moved(problem, matrix)
    labels = [abs(problem.labels[i]) for i in examples]
    first = labels if all(labels) else [fmpq(1)] * len(examples)
    others = [(_kappa(moved, weights), weights) for weights in _iterated(moved, first)]
    best = [(_kappa(moved, first), first), *sorted(others, key=lambda pair: pair[0])[:1]]
    found = []
    for kappa, weights in best:
        full = [fmpq(0)] * problem.examples
        for place, example in enumerate(examples):
            full[example] = weights[place]
        if kappa < 1:
            found.append((tuple(full), kappa))
    return tuple(found)


def _iterated(moved: list[list[fmpq]], first: list[fmpq]) -> list[list[fmpq]]:
    """Return powers of |I − ηM| applied to weights, rounded to simple positive numbers."""
    found, weights = [], first
    for power in range(1, _ITERATIONS[-1] + 1):
        image = [
            sum((a * v for a, v in zip(line, weights, strict=True)), start=fmpq(0))
            for line in moved
        ]
        largest = max(image)
        if largest == 0:
            break
        weights = [
            fmpq(max(_whole(value / largest * _WEIGHT_DENOMINATOR), 1), _WEIGHT_DENOMINATOR)
            for value in image
        ]
        if power in _ITERATIONS:
            found.append(weights)
    return found


def _whole(value: fmpq) -> int:
    """Return a positive number rounded down to an integer."""
    return int(value.numerator) // int(value.denominator)


def _moved(problem: ExactProblem, matrix: fmpq_mat) -> list[list[fmpq]]:
    """Return |I − ηM| in absolute values, entry by entry."""
    size = matrix.nrows()
    difference = identity(size) - problem.step_size * matrix
    return [[abs(difference[i, j]) for j in range(size)] for i in range(size)]


def _kappa(moved: list[list[fmpq]], weights: list[fmpq]) -> fmpq:
    return max(
        sum((a * v for a, v in zip(line, weights, strict=True)), start=fmpq(0)) / weights[i]
        for i, line in enumerate(moved)
    )


def _on(weights: tuple[fmpq, ...], examples: tuple[int, ...]) -> list[fmpq]:
    return [weights[i] for i in examples]
