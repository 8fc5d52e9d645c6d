"""Full-batch gradient descent to its limit: step until certified, then jump (theory §2–4)."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from verify.arrays import Array, array_namespace, flatnonzero, placed, to_numpy
from verify.errors import InputError
from verify.relu.certificate import (
    Jump,
    certify_by_energy,
    certify_by_length,
    certify_by_limit,
    certify_by_rows,
    jump_to_limit,
    promising_by_length,
    promising_by_limit,
    straight_line,
)
from verify.relu.problem import Problem, require_problem
from verify.relu.slopes import Slopes
from verify.relu.state import State, norm, observe
from verify.tolerances import REGULAR_ABOVE, epsilon

Host = np.ndarray[Any, Any]

CERTIFIED, UNDECIDED, DIVERGED = "certified", "undecided", "diverged"

MAX_STEPS = 10_000
"""Steps after which an uncertified run is left undecided: a limit on cost, never evidence."""

_FIRST_ENERGY_STEP, _FIRST_WHERE_REGULAR = 8, 64
"""The O(n³) certificate is tried at this step and whenever the count of steps has doubled; where
G is far from singular the cheap one is almost as sharp, and it is tried later."""

_SELDOM = 4
"""Steps between two looks at which runs more steps cannot decide."""

_LEAST_SLOPE = 1e-30
"""Least γ that is not zero: what goes with γ⁻⁴ must stay in the range of doubles."""

_BLOW_UP = 1e8
"""Growth of the residual over labels and start from which a run counts as diverged."""

_LOST = 1e-4
"""Error of the predictions, over labels and start, or over the residual where that is larger, from
which a path cannot be followed."""


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """What gradient descent does on each of B problems.

    problem: what was run.
    status: (B,) of "certified" (the final pattern can never change again and the limit is
        exact up to rounding; eigenvalues within rounding of zero count as zero, see
        `certify_by_energy`), "undecided" (no certificate: slow, try more steps; or a sign
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
    slope_below: γ of φ(z) = max(z, γz): 0, the ReLU, but for a run of `dynamics.leaky_descent`.
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
    slope_below: float = 0.0

    def __repr__(self) -> str:
        counts = (
            f"{(self.status == status).sum()} {status}"
            for status in (CERTIFIED, UNDECIDED, DIVERGED)
        )
        leaky = f"; slope_below={self.slope_below:g}" if self.slope_below else ""
        return f"Run({', '.join(counts)}; at most {self.steps.max()} steps{leaky})"

    @property
    def certified(self) -> Host:
        """Mask of the certified runs, (B,)."""
        return np.asarray(self.status == CERTIFIED)


def start(problem: Problem, slope_below: float = 0.0) -> State:
    """Return the state before the first step.   slope_below: γ; 0 is the ReLU."""
    return observe(problem, slope_below=slope_below)


def gradient_step(problem: Problem, state: State) -> State:
    """Take one step: α_k ← α_k − η s_k D_k r, with predictions from the Gram matrix (theory §2)."""
    scale = problem.step_size[:, None, None] * problem.signs[:, :, None]
    gradient = scale * state.residual[:, None, :]
    change = state.change - state.slopes.times(gradient)
    return observe(problem, change, _error_after(problem, state, change), state)


def _error_after(problem: Problem, state: State, change: Array) -> Array:
    """Return the bound on the error in weights, (B,), after the step that led to `change`.

    While all signs are right, a step turns the error e into (I − ηJᵀJ)e with JJᵀ = M, which
    is longer by the factor max(1, ηλ_max(M) − 1) at most; its own rounding comes on top.
    """
    xp = array_namespace(change)
    eps = epsilon(change)
    eta = problem.step_size[:, None]
    blur = eta * (state.residual_rounding + 4 * eps * xp.abs(state.residual))
    blur = state.slopes.times(blur[:, None, :]) + eps * xp.abs(change)
    length = xp.sqrt(problem.inner_products.largest * xp.sum(blur * blur, axis=(1, 2)))
    growth = xp.where(state.speed > 2, state.speed - 1, xp.ones_like(state.speed))
    return growth * state.error + length


def descend(problem: Problem, max_steps: int = MAX_STEPS, *, slope_below: float = 0.0) -> Run:
    """Run gradient descent on every problem of the batch until its limit is certain.

    Steps are taken in Gram space, O(mn²) each whatever the dimension is. As soon as a
    certificate says that the pattern can never change again, the limit is reached in one
    solve. Nothing is certified because it "has not changed for a while".

    Everything stays where the problem's arrays are; what the host has to know comes at the end.

    max_steps: at least 1; problems without a certificate by then are "undecided".
    slope_below: γ of φ(z) = max(z, γz), see `dynamics.leaky_descent`; 0 is the ReLU.
    Raises InputError for max_steps below 1, γ that is neither 0 nor in [1e-30, 1), and for what is
    no Problem.
    """
    require_problem(problem)
    if not isinstance(max_steps, int | np.integer) or max_steps < 1:
        raise InputError(f"max_steps={max_steps!r}, expected a whole number of at least 1")
    if slope_below != 0 and not _LEAST_SLOPE <= slope_below < 1:
        raise InputError(
            f"slope_below={slope_below!r}, expected 0 (ReLU) or a number in [{_LEAST_SLOPE:g}, 1)"
        )
    running = _begin(problem, slope_below)
    ended: list[_Ended] = []
    for step in range(1, max_steps + 1):
        left = _retire(_advance(running, step), step, step == max_steps, ended)
        if left is None:
            break
        running = left
    return _assembled(problem, ended, slope_below)


_STATUSES = (CERTIFIED, UNDECIDED, DIVERGED)
"""Statuses by the number that stands for them on a device."""


@dataclass(frozen=True, eq=False)
class _Running:
    """The problems of which some are still without an outcome, and what is folded over steps.

    open: (B,), those without an outcome. The others wait to be dropped: a batch is copied
    together only when half of it has ended.
    """

    problem: Problem
    state: State
    first_pattern: Array
    scale: Array
    position: Array
    last_flip: Array
    freeze_margin: Array
    near_ties: Array
    open: Array

    def take(self, index: Array) -> _Running:
        """Return the running problems at the integer positions `index`, (K,)."""
        others = (_taken(getattr(self, field.name), index) for field in fields(_Running)[2:])
        return _Running(self.problem.select(index), self.state.take(index), *others)


@dataclass(frozen=True, eq=False)
class _Ended:
    """K problems that ended together, and where they stood in the batch.

    status: (K,), the place in `_STATUSES`.   change, predictions: (K, m, n), at the limit where
    that is known, else at the last step.   jumps: (K,), whether the limit has to be solved for.
    """

    position: Array
    status: Array
    steps: Array
    change: Array
    predictions: Array
    residual: Array
    pattern_after_first_step: Array
    final_pattern: Array
    last_flip: Array
    freeze_margin: Array
    near_ties: Array
    jumps: Array


def _taken(array: Array, index: Array) -> Array:
    return array_namespace(array).take(array, index, axis=0)


def _begin(problem: Problem, slope_below: float) -> _Running:
    xp = array_namespace(problem.labels)
    state = start(problem, slope_below)
    where = problem.labels.device
    counts = xp.zeros(problem.batch, dtype=xp.int64, device=where)
    near = xp.abs(state.predictions) < state.rounding
    scale = norm(state.residual) + norm(problem.labels)
    return _Running(
        problem=problem.without_features(),
        state=state,
        first_pattern=state.pattern,
        scale=scale,
        position=xp.arange(problem.batch, device=where),
        last_flip=counts,
        freeze_margin=xp.full_like(scale, xp.inf),
        near_ties=xp.sum(xp.astype(near, xp.int64), axis=(1, 2)),
        open=counts == 0,
    )


def _advance(running: _Running, step: int) -> _Running:
    """Take step number `step` and fold what it shows into the history."""
    xp = array_namespace(running.first_pattern)
    problem, before = running.problem, running.state
    state = gradient_step(problem, before)
    first = state.pattern if step == 1 else running.first_pattern
    flipped = xp.any(state.pattern != before.pattern, axis=(1, 2))
    side = xp.where(first, state.predictions, -state.predictions)
    near = xp.abs(state.predictions) < state.uncertainty
    return replace(
        running,
        state=state,
        first_pattern=first,
        last_flip=xp.where(flipped, xp.full_like(running.last_flip, step), running.last_flip),
        freeze_margin=xp.minimum(running.freeze_margin, xp.min(side, axis=(1, 2))),
        near_ties=running.near_ties + xp.sum(xp.astype(near, xp.int64), axis=(1, 2)),
    )


def _retire(running: _Running, step: int, last: bool, ended: list[_Ended]) -> _Running | None:
    """Move the problems whose outcome is known to `ended`; return the others, None without any."""
    xp = array_namespace(running.scale)
    left = running.open
    problem, state = running.problem, running.state
    if _limit_is_due(running, step):
        line = straight_line(problem, state)
        if bool(xp.any(left & promising_by_limit(problem, state, line))):
            certificate, jump = certify_by_limit(problem, state, line)
            frozen = left & certificate.frozen
            if bool(xp.any(frozen)):
                ended.append(_ending(running, frozen, step, CERTIFIED, certificate.slack, jump))
                left = left & ~frozen
                if not bool(xp.any(left)):
                    return None
    if _length_is_due(step) and bool(xp.any(left & promising_by_length(problem, state))):
        certificate = certify_by_length(problem, state)
        frozen = left & certificate.frozen
        if bool(xp.any(frozen)):
            ended.append(_ending(running, frozen, step, CERTIFIED, certificate.slack))
        left = left & ~frozen
    if _rows_are_due(running, step):
        certificate = certify_by_rows(problem, state)
        frozen = left & certificate.frozen
        if bool(xp.any(frozen)):
            ended.append(_ending(running, frozen, step, CERTIFIED, certificate.slack))
        left = left & ~frozen
    given_up = left
    if not last:
        given_up = left & _beyond_help(running) if step % _SELDOM == 0 else left & ~left
    tried = given_up | (left & _energy_is_due(running, step))
    if bool(xp.any(tried)):
        settled = _settled_by_energy(running, tried, step, ended)
        left, given_up = left & ~settled, given_up & ~settled
    size = norm(state.residual)
    diverged = left & ~(size <= _BLOW_UP * running.scale)
    undecided = given_up & ~diverged
    lost = bool(xp.any(diverged | undecided))
    if lost:
        for mask, status in ((diverged, DIVERGED), (undecided, UNDECIDED)):
            ended.append(_ending(running, mask, step, status))
    return _compacted(replace(running, open=left & ~(diverged | undecided)), now=lost)


def _compacted(running: _Running, now: bool) -> _Running | None:
    """Drop the problems that have ended, once they are half of the batch or where it must be now:
    a path that is not certified may overflow later."""
    xp = array_namespace(running.open)
    count = int(xp.sum(xp.astype(running.open, xp.int64)))
    if not count:
        return None
    if count == running.problem.batch or not (now or 2 * count <= running.problem.batch):
        return running
    return running.take(flatnonzero(running.open))


def _limit_is_due(running: _Running, step: int) -> bool:
    """Say whether the certificate that costs a solve is tried: whenever the steps have doubled,
    of many neurons, which seldom settle at once, somewhat later."""
    return step & (step - 1) == 0 and step >= (1 if running.problem.neurons <= 2 else 4)


def _length_is_due(step: int) -> bool:
    """Say whether the cheap certificate is tried: at every step at first, then at eight of as many
    as there were so far."""
    return step % max(1, 1 << step.bit_length() >> 4) == 0


def _rows_are_due(running: _Running, step: int) -> bool:
    """Say whether the certificate by row sums is tried: of one leaky neuron, whose examples below
    the kink are fitted γ² times as slowly as the others, whenever the steps have doubled."""
    alone = running.problem.neurons == 1 and running.state.slope_below > 0
    return alone and step & (step - 1) == 0


def _energy_is_due(running: _Running, step: int) -> Array:
    """Return the mask of the problems on which the O(n³) certificate is tried at `step`, (B,)."""
    nowhere = running.scale < 0
    if step < _FIRST_ENERGY_STEP or step & (step - 1):
        return nowhere
    gram = running.problem.inner_products
    return (
        ~nowhere if step >= _FIRST_WHERE_REGULAR else gram.smallest <= REGULAR_ABOVE * gram.largest
    )


def _beyond_help(running: _Running) -> Array:
    """Return the mask of the problems that more steps cannot decide, (B,).

    The residual has vanished up to rounding, or rounding errors may have grown too large.
    """
    xp = array_namespace(running.scale)
    problem, state = running.problem, running.state
    size = norm(xp.where(state.slopes.covered, state.residual, 0 * state.residual))
    at_rest = size <= norm(state.residual_rounding)
    blurred = state.error * xp.sqrt(problem.inner_products.largest)
    lost = blurred > _LOST * xp.maximum(running.scale, norm(state.residual))
    return at_rest | lost


def _settled_by_energy(running: _Running, tried: Array, step: int, ended: list[_Ended]) -> Array:
    """Try the O(n³) certificate where `tried`, (B,), and return where it settled the limit."""
    xp = array_namespace(running.scale)
    part = running.take(flatnonzero(tried))
    certificate, jump = certify_by_energy(part.problem, part.state)
    if bool(xp.any(certificate.frozen)):
        ended.append(_ending(part, certificate.frozen, step, CERTIFIED, certificate.slack, jump))
    return placed(tried, certificate.frozen, tried & ~tried)


def _ending(
    running: _Running,
    mask: Array,
    step: int,
    status: str,
    slack: Array | None = None,
    jump: Jump | None = None,
) -> _Ended:
    """Return the problems where `mask`, (B,), is set, as they end.

    slack: (B,), what their certificate guarantees.   jump: the one to the limit, where it is known
    already.
    """
    xp = array_namespace(running.scale)
    state, margin, position = running.state, running.freeze_margin, running.position
    change, predictions = state.change, state.predictions
    if jump is not None:
        change, predictions = _after(running.problem, state.slopes, change, predictions, jump)
    ended = _Ended(
        position=position,
        status=xp.full_like(position, _STATUSES.index(status)),
        steps=xp.full_like(position, step),
        change=change,
        predictions=predictions,
        residual=state.residual,
        pattern_after_first_step=running.first_pattern,
        final_pattern=state.pattern,
        last_flip=running.last_flip,
        freeze_margin=margin if slack is None else xp.minimum(margin, slack),
        near_ties=running.near_ties,
        jumps=xp.full_like(position, status == CERTIFIED and jump is None),
    )
    return ended if bool(xp.all(mask)) else _each(ended, flatnonzero(mask))


def _each(ended: _Ended, index: Array) -> _Ended:
    """Return the problems at the integer positions `index`, (K,)."""
    return _Ended(*(_taken(getattr(ended, field.name), index) for field in fields(_Ended)))


def _after(
    problem: Problem, slopes: Slopes, change: Array, predictions: Array, jump: Jump
) -> tuple[Array, Array]:
    """Return the change of the coefficients, and the predictions, (B, m, n) each, after a jump."""
    step = slopes.times(problem.signs[:, :, None] * jump.coefficients[:, None, :])
    return change - step, predictions - jump.predictions


def _assembled(problem: Problem, ended: list[_Ended], slope_below: float) -> Run:
    """Put the problems back into the order of the batch, at their limits."""
    xp = array_namespace(problem.labels)
    whole = ended[0] if len(ended) == 1 else _joined(ended)
    pattern, change, predictions = whole.final_pattern, whole.change, whole.predictions
    slopes = Slopes(pattern, slope_below)
    mask = slopes.covered & (whole.jumps > 0)[:, None]
    if bool(xp.any(mask)):
        jump = jump_to_limit(problem, slopes, mask, whole.residual)
        change, predictions = _after(problem, slopes, change, predictions, jump)
    margin = whole.freeze_margin
    counts = (whole.status, whole.steps, whole.last_flip, whole.near_ties)
    told = to_numpy(xp.stack([*(xp.astype(each, margin.dtype) for each in counts), margin]))
    status, steps, last_flip, near_ties = told[:4].astype(np.int64)
    return Run(
        problem=problem.without_features(),
        status=np.asarray(_STATUSES)[status],
        steps=steps,
        duals=problem.starting_duals + change,
        predictions=predictions,
        pattern_after_first_step=whole.pattern_after_first_step,
        final_pattern=pattern,
        last_flip=last_flip,
        freeze_margin=told[4],
        near_ties=near_ties,
        slope_below=slope_below,
    )


def _joined(ended: list[_Ended]) -> _Ended:
    """Return problems that ended at several times together, in the order of the batch."""
    xp = array_namespace(ended[0].position)
    names = [field.name for field in fields(_Ended)]
    joined = _Ended(*(xp.concat([getattr(one, name) for one in ended], axis=0) for name in names))
    return _each(joined, xp.argsort(joined.position))
