"""Full-batch gradient descent to its limit: step until certified, then jump (theory §2–4)."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import array_api_compat
import numpy as np

from verify.arrays import Array, array_namespace, to_numpy
from verify.errors import InputError
from verify.linear_algebra import solve_on
from verify.relu.certificate import (
    Certificate,
    State,
    certify_by_energy,
    certify_by_length,
    covered,
    interaction,
    observe,
    residual_rounding,
    uncertainty,
)
from verify.relu.problem import Problem
from verify.tolerances import epsilon

Host = np.ndarray[Any, Any]

CERTIFIED, UNDECIDED, DIVERGED = "certified", "undecided", "diverged"

MAX_STEPS = 10_000
"""Steps after which an uncertified run is left undecided: a limit on cost, never evidence."""

_FIRST_ENERGY_STEP = 8
"""The O(n³) certificate is tried at this step and whenever the count of steps has doubled."""

_BLOW_UP = 1e8
"""Growth of the residual over labels and start from which a run counts as diverged."""

_LOST = 1e-4
"""Error of the predictions, over labels and start, from which a path cannot be followed."""


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """What gradient descent does on each of B problems.

    problem: what was run.
    status: (B,) of "certified" (the final pattern can never change again and the limit is
        exact up to rounding), "undecided" (no certificate: slow, try more steps; or a sign
        within rounding of zero, chattering at a kink, and no steps will help) or "diverged".
    steps: (B,), the step at which the run was certified or given up.
    duals, predictions: (B, m, n), data-span coefficients and predictions of the limit; those
        of the last step where the run is not certified.
    pattern_after_first_step, final_pattern: (B, m, n), masks of active examples.
    last_flip: (B,), the last step that changed the pattern, 0 if none did.
    freeze_margin: (B,), in units of the labels: how far every prediction stays on its own
        side of zero from step one for ever (for certified runs a guaranteed lower bound);
        negative: how far one had crossed over by the last step.
    near_ties: (B,), how many predictions were met within their error bound of zero, where
        the sign, and with it the computed path, is not certain. The bound includes what
        earlier rounding has grown to: much, where ηλ_max(M) > 2 for many steps.
    """

    problem: Problem
    status: Host
    steps: Host
    duals: Array
    predictions: Array
    pattern_after_first_step: Array
    final_pattern: Array
    last_flip: Host
    freeze_margin: Host
    near_ties: Host

    def __repr__(self) -> str:
        counts = (
            f"{(self.status == status).sum()} {status}"
            for status in (CERTIFIED, UNDECIDED, DIVERGED)
        )
        return f"Run({', '.join(counts)}; at most {self.steps.max()} steps)"

    @property
    def certified(self) -> Host:
        """Mask of the certified runs, (B,)."""
        return np.asarray(self.status == CERTIFIED)


def start(problem: Problem) -> State:
    """Return the state before the first step."""
    xp = array_namespace(problem.gram)
    return observe(problem, xp.zeros_like(problem.starting_predictions))


def gradient_step(problem: Problem, state: State) -> State:
    """Take one step: α_k ← α_k − η s_k D_k r, with predictions from the Gram matrix (theory §2)."""
    xp = array_namespace(problem.gram)
    scale = problem.step_size[:, None, None] * problem.signs[:, :, None]
    gradient = scale * state.residual[:, None, :]
    change = state.change - xp.where(state.pattern, gradient, xp.zeros_like(gradient))
    return observe(problem, change, _error_after(problem, state, change), state)


def _error_after(problem: Problem, state: State, change: Array) -> Array:
    """Return the bound on the error in weights, (B,), after the step that led to `change`.

    While all signs are right, a step turns the error e into (I − ηJᵀJ)e with JJᵀ = M, which
    is longer by the factor max(1, ηλ_max(M) − 1) at most; its own rounding comes on top.
    """
    xp = array_namespace(change)
    eps = epsilon(change)
    eta = problem.step_size[:, None]
    blur = eta * (residual_rounding(problem, state) + 4 * eps * xp.abs(state.residual))
    blur = xp.where(state.pattern, blur[:, None, :], 0 * change) + eps * xp.abs(change)
    length = xp.sqrt(problem.eigenvalues[:, -1] * xp.sum(blur * blur, axis=(1, 2)))
    growth = xp.where(state.speed > 2, state.speed - 1, xp.ones_like(state.speed))
    return growth * state.error + length


def descend(problem: Problem, max_steps: int = MAX_STEPS) -> Run:
    """Run gradient descent on every problem of the batch until its limit is certain.

    Steps are taken in Gram space, O(mn²) each whatever the dimension is. As soon as a
    certificate says that the pattern can never change again, the limit is reached in one
    solve. Nothing is certified because it "has not changed for a while".

    max_steps: at least 1; problems without a certificate by then are "undecided".
    Raises InputError for max_steps below 1.
    """
    if not isinstance(max_steps, int | np.integer) or max_steps < 1:
        raise InputError(f"max_steps={max_steps!r}, expected a whole number of at least 1")
    running = _begin(problem)
    outcomes: list[_Outcome] = []
    for step in range(1, max_steps + 1):
        running = _advance(running, step)
        running = _retire(running, step, step == max_steps, outcomes)
        if not running.position.size:
            break
    return _assemble(problem, outcomes)


@dataclass(frozen=True, eq=False)
class _Running:
    """The problems still without an outcome, and what is folded over their steps."""

    problem: Problem
    state: State
    first_pattern: Array
    scale: Array
    position: Host
    last_flip: Host
    freeze_margin: Host
    near_ties: Host

    def take(self, mask: Host) -> _Running:
        """Return the running problems where `mask`, (B,), is set."""
        xp = array_namespace(self.first_pattern)
        index = xp.asarray(np.flatnonzero(mask), device=self.problem.gram.device)

        def rows(array: Array) -> Array:
            return xp.take(array, index, axis=0)

        state = State(*(rows(getattr(self.state, field.name)) for field in fields(State)))
        return _Running(
            self.problem.select(index),
            state,
            rows(self.first_pattern),
            rows(self.scale),
            self.position[mask],
            self.last_flip[mask],
            self.freeze_margin[mask],
            self.near_ties[mask],
        )


@dataclass(frozen=True, eq=False)
class _Outcome:
    """Problems that ended together: where they stood in the batch, and their runs."""

    position: Host
    run: Run


def _begin(problem: Problem) -> _Running:
    xp = array_namespace(problem.gram)
    state = start(problem)
    norm = xp.linalg.vector_norm
    scale = norm(state.residual, axis=-1) + norm(problem.labels, axis=-1)
    return _Running(
        problem=problem.without_features(),
        state=state,
        first_pattern=state.pattern,
        scale=scale,
        position=np.arange(problem.batch),
        last_flip=np.zeros(problem.batch, dtype=np.int64),
        freeze_margin=np.full(problem.batch, np.inf),
        near_ties=np.zeros(problem.batch, dtype=np.int64),
    )


def _advance(running: _Running, step: int) -> _Running:
    """Take step number `step` and fold what it shows into the history."""
    xp = array_namespace(running.first_pattern)
    problem, before = running.problem, running.state
    state = gradient_step(problem, before)
    first = state.pattern if step == 1 else running.first_pattern
    flipped = to_numpy(xp.any(state.pattern != before.pattern, axis=(1, 2)))
    side = xp.where(first, state.predictions, -state.predictions)
    margin = to_numpy(xp.min(side, axis=(1, 2)))
    near = xp.abs(state.predictions) < uncertainty(problem, state)
    ties = to_numpy(xp.sum(xp.astype(near, xp.int64), axis=(1, 2)))
    return replace(
        running,
        state=state,
        first_pattern=first,
        last_flip=np.where(flipped, step, running.last_flip),
        freeze_margin=np.minimum(running.freeze_margin, margin),
        near_ties=running.near_ties + ties,
    )


def _retire(running: _Running, step: int, last: bool, outcomes: list[_Outcome]) -> _Running:
    """Move the problems whose outcome is known to `outcomes`; return the others."""
    certificate = certify_by_length(running.problem, running.state)
    running = _freeze(running, step, to_numpy(certificate.frozen), certificate, outcomes)
    doubled = step >= _FIRST_ENERGY_STEP and step & (step - 1) == 0
    due = _beyond_help(running) | last
    if running.position.size and (doubled or due.any()):
        certificate, solution = certify_by_energy(running.problem, running.state)
        frozen = to_numpy(certificate.frozen) & (due | doubled)
        running = _freeze(running, step, frozen, certificate, outcomes, solution)
        due = due[~frozen]
    size = array_namespace(running.scale).linalg.vector_norm(running.state.residual, axis=-1)
    diverged = to_numpy(~(size <= _BLOW_UP * running.scale))
    for mask, status in ((diverged, DIVERGED), (due & ~diverged, UNDECIDED)):
        if mask.any():
            given_up = running.take(mask)
            nothing = 0 * given_up.state.residual
            outcomes.append(_outcome(given_up, status, step, nothing, np.inf))
    ended = diverged | due
    return running.take(~ended) if ended.any() else running


def _beyond_help(running: _Running) -> Host:
    """Return the mask of the problems that more steps cannot decide, (B,).

    The residual has vanished up to rounding, or rounding errors may have grown too large.
    """
    xp = array_namespace(running.scale)
    problem, state = running.problem, running.state
    norm = xp.linalg.vector_norm
    size = norm(xp.where(covered(state), state.residual, 0 * state.residual), axis=-1)
    at_rest = size <= norm(residual_rounding(problem, state), axis=-1)
    lost = state.error * xp.sqrt(problem.eigenvalues[:, -1]) > _LOST * running.scale
    return to_numpy(at_rest | lost)


def _freeze(
    running: _Running,
    step: int,
    frozen: Host,
    certificate: Certificate,
    outcomes: list[_Outcome],
    solution: Array | None = None,
) -> _Running:
    """Move the problems `frozen`, (B,), to `outcomes`, at their limits; return the others.

    solution: (B, n), what is left to change in the coefficients, where it is known already.
    """
    if not frozen.any():
        return running
    settled = running.take(frozen)
    if solution is None:
        remainder = _remaining_change(settled.problem, settled.state)
    else:
        xp = array_namespace(solution)
        index = xp.asarray(np.flatnonzero(frozen), device=settled.problem.gram.device)
        remainder = xp.take(solution, index, axis=0)
    slack = to_numpy(certificate.slack)[frozen]
    outcomes.append(_outcome(settled, CERTIFIED, step, remainder, slack))
    return running.take(~frozen)


def _remaining_change(problem: Problem, state: State) -> Array:
    """Return q with M_CC q_C = r_C and q = 0 elsewhere, (B, n), for regular M_CC."""
    matrix = interaction(problem, state.pattern)
    return solve_on(matrix, covered(state), state.residual[:, :, None])[:, :, 0]


def _outcome(
    ended: _Running, status: str, step: int, remainder: Array, slack: Host | float
) -> _Outcome:
    """Close the runs `ended`: α_k^∞ = α_k − s_k D_k q for the `remainder` q (theory §3)."""
    xp = array_namespace(remainder)
    problem, state = ended.problem, ended.state
    jump = problem.signs[:, :, None] * remainder[:, None, :]
    change = state.change - xp.where(state.pattern, jump, xp.zeros_like(jump))
    count = ended.position.size
    run = Run(
        problem=problem,
        status=np.full(count, status),
        steps=np.full(count, step),
        duals=problem.starting_duals + change,
        predictions=problem.starting_predictions + change @ problem.gram,
        pattern_after_first_step=ended.first_pattern,
        final_pattern=state.pattern,
        last_flip=ended.last_flip,
        freeze_margin=np.minimum(ended.freeze_margin, slack),
        near_ties=ended.near_ties,
    )
    return _Outcome(ended.position, run)


def _assemble(problem: Problem, outcomes: list[_Outcome]) -> Run:
    """Put the runs back into the order of the batch."""
    order = np.argsort(np.concatenate([outcome.position for outcome in outcomes]))

    def merged(name: str) -> Any:
        parts = [getattr(outcome.run, name) for outcome in outcomes]
        xp = array_namespace(*parts)
        index = xp.asarray(order, device=array_api_compat.device(parts[0]))
        return xp.take(xp.concat(parts, axis=0), index, axis=0)

    names = [field.name for field in fields(Run) if field.name != "problem"]
    return Run(problem=problem, **{name: merged(name) for name in names})
