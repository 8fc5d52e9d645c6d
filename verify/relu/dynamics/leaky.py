"""Gradient descent with a leaky ReLU to its limit: step until certified, then jump [D].

With slopes γ > 0 below the kink no example is ever uncovered. While no example crosses a kink,

    r ← (I − ηM) r,   M = Σ_k D_k G D_k = G ∘ S,   S_ij = Σ_k d_{k,i} d_{k,j},

with d the slopes, 1 or γ. By Schur's product theorem λ_min(M) ≥ λ_min(G)·min_i S_ii and λ_max(M) ≤
λ_max(G)·max_i S_ii. So M is positive definite where G is, and with ηλ_max(M) < 2 the residual
tends to zero; every later prediction stays within κ‖D_k G_·i‖·‖r‖ of its present value, both in the
norm of M⁻¹, κ = max(1, ηλ_max(M)) (theory §4 with slopes), hence within κ√G_ii ‖r‖₂/√λ_min(M). The
prediction of a single neuron is s(y_i + r_i)/d_i besides, so that it keeps the sign of its label
once ‖r‖₂ < |y_i|. Nothing here is specific to numpy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from verify.arrays import Array, array_namespace, to_numpy
from verify.errors import InputError
from verify.linear_algebra import solve_on
from verify.relu.certificate import rounding
from verify.relu.descent import CERTIFIED, DIVERGED, MAX_STEPS, UNDECIDED, Run
from verify.relu.dynamics.activation import Activation
from verify.relu.problem import Problem, require_problem
from verify.tolerances import REGULAR_ABOVE, epsilon, summation

Host = np.ndarray[Any, Any]

_BLOW_UP = 1e8
"""Growth of the residual over labels and start from which a run counts as diverged."""

_FIRST_ENERGY_STEP = 8
"""The O(n³) certificate is tried at this step and whenever the count of steps has doubled."""


def leaky_descent(problem: Problem, activation: Activation, max_steps: int = MAX_STEPS) -> Run:
    """Run gradient descent on every problem of the batch until its limit is certain.

    The run is told as `descend` tells its own; a pattern is where the slope is 1. A limit that lies
    on a kink, as that of an example of label zero of one neuron, is never certified, nor is one
    where G is singular.

    max_steps: at least 1; problems without a certificate by then are "undecided".
    Raises InputError for max_steps below 1, for the ReLU (`descend` is for that), and for what is
    no Problem.
    """
    require_problem(problem)
    if not isinstance(max_steps, int | np.integer) or max_steps < 1:
        raise InputError(f"max_steps={max_steps!r}, expected a whole number of at least 1")
    if activation.slope_below == 0:
        raise InputError(
            "activation has slope_below=0, expected a leaky one; for the ReLU, descend"
        )
    xp = array_namespace(problem.gram)
    change = xp.zeros_like(problem.starting_predictions)
    state = _observe(problem.without_features(), activation, change, 0 * problem.step_size)
    norm = xp.linalg.vector_norm
    scale = to_numpy(norm(state.residual, axis=-1) + norm(problem.labels, axis=-1))
    tally = _Tally(problem, activation)
    open_ = np.arange(problem.batch)
    for step in range(1, max_steps + 1):
        before, state = state, _step(state)
        tally.tell(open_, step, before, state)
        doubled = step >= _FIRST_ENERGY_STEP and step & (step - 1) == 0
        size = to_numpy(norm(state.residual, axis=-1))
        diverged = ~(size <= _BLOW_UP * scale[open_])
        due = (size <= to_numpy(norm(state.blur, axis=-1))) | (step == max_steps)
        slack = to_numpy(_slack(state, _drift_by_length(state)))
        if doubled or due.any():
            slack = np.maximum(slack, to_numpy(_slack(state, _drift_by_energy(state))))
        certified = (slack > 0) & ~diverged
        ended = certified | diverged | due
        if ended.any():
            lost = ended & ~certified & ~diverged
            outcomes = ((certified, CERTIFIED), (diverged, DIVERGED), (lost, UNDECIDED))
            for mask, status in outcomes:
                if mask.any():
                    tally.close(open_[mask], step, _rows(state, mask), status, slack[mask])
            open_, state = open_[~ended], _rows(state, ~ended)
        if not open_.size:
            break
    return tally.run()


@dataclass(frozen=True, eq=False)
class _State:
    """Descent at one step, of the problems still open.

    slopes: (B, m, n).   crowd: (B, n), S_ii.   blur: (B, n), a bound on the error of the residual.
    doubt: (B, m, n), a bound on the error of the predictions on the path.   error: (B,), on that of
    the weights.
    """

    problem: Problem
    activation: Activation
    change: Array
    predictions: Array
    active: Array
    slopes: Array
    residual: Array
    crowd: Array
    blur: Array
    doubt: Array
    error: Array


def _observe(problem: Problem, activation: Activation, change: Array, error: Array) -> _State:
    xp = array_namespace(change)
    predictions = problem.starting_predictions + change @ problem.gram
    active = activation.active(predictions, problem.slope_at_zero)
    slopes = activation.slope_on(active, predictions)
    output = xp.sum(problem.signs[:, :, None] * slopes * predictions, axis=1)
    evaluated = rounding(problem, change)
    terms = xp.sum(xp.abs(predictions), axis=1) + xp.abs(problem.labels)
    blur = xp.sum(evaluated, axis=1) + summation(problem.neurons, terms) * terms
    lengths = xp.sqrt(xp.linalg.diagonal(problem.gram))[:, None, :]
    doubt = evaluated + _times(error[:, None, None], lengths)
    return _State(
        problem, activation, change, predictions, active, slopes, output - problem.labels,
        xp.sum(slopes * slopes, axis=1), blur, doubt, error,
    )  # fmt: skip


def _step(state: _State) -> _State:
    """Take one step; the error in weights grows by max(1, ηλ_max(M) − 1), its rounding comes on."""
    xp = array_namespace(state.change)
    problem, eps = state.problem, epsilon(state.change)
    gradient = problem.signs[:, :, None] * state.slopes * state.residual[:, None, :]
    change = state.change - problem.step_size[:, None, None] * gradient
    own = state.slopes * (state.blur + 4 * eps * xp.abs(state.residual))[:, None, :]
    own = problem.step_size[:, None, None] * own + eps * xp.abs(change)
    length = xp.sqrt(problem.eigenvalues[:, -1] * xp.sum(own * own, axis=(1, 2)))
    speed = _speed(state)
    growth = xp.where(speed > 2, speed - 1, xp.ones_like(speed))
    with np.errstate(over="ignore"):  # of steps too long: a bound of ∞ certifies nothing
        return _observe(problem, state.activation, change, growth * state.error + length)


def _speed(state: _State) -> Array:
    """Return an upper bound on ηλ_max(M), (B,)."""
    xp = array_namespace(state.change)
    problem = state.problem
    rate = problem.step_size * (1 + summation(problem.examples, state.change))
    return rate * problem.eigenvalues[:, -1] * xp.max(state.crowd, axis=-1)


def _kappa(speed: Array) -> Array:
    """Return max(1, ηλ_max(M)), ∞ where that is not below 2, (B,)."""
    xp = array_namespace(speed)
    return xp.where(speed < 2, xp.where(speed > 1, speed, xp.ones_like(speed)), xp.inf)


def _drift_by_length(state: _State) -> Array:
    """Return κ√G_ii ‖r‖/√λ_min(M) with eigenvalues of G alone, (B, m, n); ∞ where none holds."""
    xp = array_namespace(state.change)
    problem = state.problem
    lowest, regular = _lowest(problem)
    floor = xp.where(regular, lowest, xp.ones_like(lowest)) * xp.min(state.crowd, axis=-1)
    size = xp.linalg.vector_norm(xp.abs(state.residual) + state.blur, axis=-1)
    bound = xp.where(regular, _kappa(_speed(state)) * size / xp.sqrt(floor), xp.inf)
    lengths = xp.sqrt(xp.linalg.diagonal(problem.gram))
    drift = _times(bound[:, None], lengths)
    return xp.broadcast_to(drift[:, None, :], state.change.shape)


def _lowest(problem: Problem) -> tuple[Array, Array]:
    """Return a lower bound on λ_min(G), and where it is positive beyond doubt, (B,)."""
    highest = problem.eigenvalues[:, -1]
    lowest = problem.eigenvalues[:, 0] - summation(problem.examples, highest) * highest
    return lowest, lowest > REGULAR_ABOVE * highest


def _drift_by_energy(state: _State) -> Array:
    """Return κ‖D_k G_·i‖·‖r‖ in the norm of M⁻¹, (B, m, n); ∞ where none holds."""
    xp = array_namespace(state.change)
    problem = state.problem
    values, vectors = xp.linalg.eigh(_interaction(state))
    relative = summation(problem.examples, values)
    highest = values[:, -1:]
    regular = values[:, :1] > REGULAR_ABOVE * highest
    lowered = xp.where(regular, values - relative * highest, xp.ones_like(values))
    tilt = relative * (1 + highest / lowered[:, :1])
    norm = xp.linalg.vector_norm
    coordinates = xp.abs((state.residual[:, None, :] @ vectors)[:, 0, :])
    blur = norm(state.blur, axis=-1, keepdims=True)
    blur = blur + tilt * norm(state.residual, axis=-1, keepdims=True)
    energy = norm((coordinates + blur) / xp.sqrt(lowered), axis=-1)
    rows = state.slopes[:, :, None, :] * problem.gram[:, None, :, :]
    rotated = xp.abs(rows @ vectors[:, None, :, :]) + relative * norm(rows, axis=-1, keepdims=True)
    reach = norm(rotated / xp.sqrt(lowered)[:, None, None, :], axis=-1)
    kappa = _kappa(problem.step_size * highest[:, 0] * (1 + relative))
    bound = xp.where(regular[:, 0], kappa * energy, xp.inf)
    return _times(bound[:, None, None], reach)


def _times(bound: Array, reach: Array) -> Array:
    """Return the product, ∞ wherever the bound is: a zero example has a reach of 0."""
    xp = array_namespace(bound)
    known = bound < xp.inf
    return xp.where(known, xp.where(known, bound, xp.zeros_like(bound)) * reach, xp.inf)


def _interaction(state: _State) -> Array:
    """Return M = G ∘ S, (B, n, n)."""
    xp = array_namespace(state.slopes)
    return state.problem.gram * (xp.matrix_transpose(state.slopes) @ state.slopes)


def _slack(state: _State, drift: Array) -> Array:
    """Return how far from zero every prediction stays on its side at least, (B,); −∞: unknown."""
    xp = array_namespace(drift)
    problem = state.problem
    size = xp.abs(state.predictions)
    away = size - drift * (1 + summation(problem.examples, size))
    if problem.neurons == 1:
        agrees = problem.signs[:, :, None] * problem.labels[:, None, :] * state.predictions > 0
        later = xp.linalg.vector_norm(xp.abs(state.residual) + state.blur, axis=-1)
        kept = (xp.abs(problem.labels) - later[:, None])[:, None, :] / state.slopes
        tends = (_speed(state) < 2) & _lowest(problem)[1]
        by_label = agrees & (kept > away) & tends[:, None, None]
        away = xp.where(by_label, kept, away)
    return xp.min(away - state.doubt, axis=(1, 2))


def _rows(state: _State, mask: Host) -> _State:
    xp = array_namespace(state.change)
    index = xp.asarray(np.flatnonzero(mask), device=state.problem.gram.device)

    def rows(array: Array) -> Array:
        return xp.take(array, index, axis=0)

    return _State(
        state.problem.select(index), state.activation, rows(state.change), rows(state.predictions),
        rows(state.active), rows(state.slopes), rows(state.residual), rows(state.crowd),
        rows(state.blur), rows(state.doubt), rows(state.error),
    )  # fmt: skip


class _Tally:
    """What is folded over the steps of every problem of the batch, and how each one ended."""

    def __init__(self, problem: Problem, activation: Activation) -> None:
        batch = problem.batch
        self._problem, self._activation = problem, activation
        self._first: Array = None
        self._last_flip = np.zeros(batch, dtype=np.int64)
        self._margin = np.full(batch, np.inf)
        self._ties = np.zeros(batch, dtype=np.int64)
        self._steps = np.zeros(batch, dtype=np.int64)
        self._status = np.full(batch, UNDECIDED)
        self._ends: list[tuple[Host, Array, Array, Array]] = []

    def tell(self, open_: Host, step: int, before: _State, state: _State) -> None:
        xp = array_namespace(state.change)
        if step == 1:
            self._first = state.active
        index = xp.asarray(open_, device=state.problem.gram.device)
        first = xp.take(self._first, index, axis=0)
        side = xp.where(first, state.predictions, -state.predictions)
        flipped = to_numpy(xp.any(state.active != before.active, axis=(1, 2)))
        near = xp.astype(xp.abs(state.predictions) < state.doubt, xp.int64)
        self._last_flip[open_[flipped]] = step
        worst = to_numpy(xp.min(side, axis=(1, 2)))
        self._margin[open_] = np.minimum(self._margin[open_], worst)
        self._ties[open_] += to_numpy(xp.sum(near, axis=(1, 2)))

    def close(self, where: Host, step: int, state: _State, status: str, slack: Host) -> None:
        """Close runs; the certified ones at their limits α_k − s_k D_k M⁻¹r."""
        xp = array_namespace(state.change)
        problem, change = state.problem, state.change
        predictions = state.predictions
        if status == CERTIFIED:
            everything = xp.ones_like(problem.labels) > 0
            left = solve_on(_interaction(state), everything, state.residual[:, :, None])[:, :, 0]
            change = change - problem.signs[:, :, None] * state.slopes * left[:, None, :]
            predictions = problem.starting_predictions + change @ problem.gram
            self._margin[where] = np.minimum(self._margin[where], slack)
        self._steps[where], self._status[where] = step, status
        duals = problem.starting_duals + change
        self._ends.append((where, duals, predictions, state.active))

    def run(self) -> Run:
        """Return the runs in the order of the batch."""
        xp = array_namespace(self._problem.gram)
        order = np.argsort(np.concatenate([where for where, *_ in self._ends]))
        index = xp.asarray(order, device=self._problem.gram.device)
        duals, predictions, pattern = (
            xp.take(xp.concat([end[part] for end in self._ends], axis=0), index, axis=0)
            for part in (1, 2, 3)
        )
        return Run(
            self._problem, self._status, self._steps, duals, predictions, self._first, pattern,
            self._last_flip, self._margin, self._ties, self._activation.slope_below,
        )  # fmt: skip
