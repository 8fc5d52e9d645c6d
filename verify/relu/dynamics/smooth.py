"""Gradient flow of one neuron with a smooth, strictly monotone activation (theory §8) [D].

f(x) = s φ(w·x), s = ±1. The flow w' = −XᵀΦ r s, Φ = diag φ'(β), shortens the residual at the rate
‖r‖' = −‖w'‖²/‖r‖, and ‖w'‖ ≥ √λ_min(G) μ ‖r‖ where all φ' ≥ μ. So once φ' ≥ μ on everything within

    ℓ = ‖r‖ / (μ √λ_min(G))

of the weights, the flow stays there: what is left of its path is at most ℓ long, and it ends at
zero loss. In the start plus the span of the data only one point has none, β = φ⁻¹(sy): the limit is
known in closed form, not by waiting. Until then the flow is integrated (scipy's LSODA, relative
tolerance 1e-10); the certificate leaves room for a thousand times that error. On numpy only.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from verify.arrays import array_namespace, device, to_numpy
from verify.errors import InputError
from verify.linear_algebra import solve_on
from verify.relu.descent import CERTIFIED, UNDECIDED
from verify.relu.dynamics.activation import SmoothActivation
from verify.relu.minimum_norm import require_regular
from verify.relu.problem import Problem, require_problem

Host = np.ndarray[Any, Any]

_TOLERANCE = 1e-10
"""Relative tolerance of the integration, absolute beside the size of labels and start ..."""

_ROOM = 1e-7
"""... and the error that the certificate allows for, relative to the length of the path."""

_DOUBLINGS = 48
"""Doublings of the time, from 1/λ_max(G) on, after which a flow is left undecided; at about each
of them the certificate is tried."""


@dataclass(frozen=True, eq=False, repr=False)
class SmoothRun:
    """What gradient flow does on each of B problems of one neuron.

    problem, activation: what was followed; the problem's step size plays no part.
    status: (B,) of "certified" (the flow ends at zero loss, and the limit is exact up to rounding)
        or "undecided" (`why` says why).
    time: (B,), until when the flow was integrated, in units of one over features squared.
    integrated: (B, 1, n), what the coefficients gained until then.
    left: (B,), ℓ, in units of weights: the limit lies within it; ∞ where undecided.
    duals, predictions: (B, 1, n), data-span coefficients and predictions of the limit; of the last
        point where a flow is undecided.
    """

    problem: Problem
    activation: SmoothActivation
    status: Host
    why: tuple[str, ...]
    time: Host
    integrated: Host
    left: Host
    duals: Host
    predictions: Host

    def __repr__(self) -> str:
        certified = int(self.certified.sum())
        return f"SmoothRun({certified} certified, {self.status.size - certified} undecided)"

    @property
    def certified(self) -> Host:
        """Mask of the certified flows, (B,)."""
        return np.asarray(self.status == CERTIFIED)


def smooth_flow(problem: Problem, activation: SmoothActivation) -> SmoothRun:
    """Follow gradient flow until its limit is certain.

    Raises InputError for what is no Problem, more than one neuron, arrays that are not numpy's, and
    a Gram matrix that is not positive definite.
    """
    require_problem(problem)
    if problem.neurons != 1:
        raise InputError(f"problem has m={problem.neurons} neurons, expected one")
    if not isinstance(problem.gram, np.ndarray):
        raise InputError(
            f"problem is on {array_namespace(problem.gram).__name__} ({device(problem.gram)}), "
            "expected numpy; move it with problem.to(backend('numpy'))"
        )
    require_regular(problem)
    ends = [_follow(problem, b, activation) for b in range(problem.batch)]
    integrated = np.stack([end.change for end in ends])[:, None, :]
    status = np.asarray([UNDECIDED if end.why else CERTIFIED for end in ends])
    start = to_numpy(problem.starting_predictions)
    reached = start + integrated @ problem.gram
    limit = activation.inverse(problem.signs * problem.labels)[:, None, :]
    known = (status == CERTIFIED)[:, None, None]
    predictions = np.where(known, limit, reached)
    everything = np.ones(problem.labels.shape, dtype=bool)
    moved = solve_on(problem.gram, everything, (predictions - start).swapaxes(1, 2))
    change = np.where(known, moved.swapaxes(1, 2), integrated)
    return SmoothRun(
        problem=problem,
        activation=activation,
        status=status,
        why=tuple(end.why for end in ends),
        time=np.asarray([end.time for end in ends]),
        integrated=integrated,
        left=np.asarray([end.left for end in ends]),
        duals=problem.starting_duals + change,
        predictions=predictions,
    )


@dataclass(frozen=True, eq=False)
class _End:
    change: Host
    time: float
    left: float
    why: str


def _follow(problem: Problem, b: int, activation: SmoothActivation) -> _End:
    """Integrate one flow until what is left of it is certain."""
    from scipy.integrate import LSODA

    gram, start = problem.gram[b], problem.starting_predictions[b, 0]
    target = problem.signs[b, 0] * problem.labels[b]
    lowest, highest = (float(problem.eigenvalues[b, i]) for i in (0, -1))
    change = np.zeros_like(start)
    if not np.isfinite(activation.inverse(target)).all():
        return _End(
            change, 0.0, np.inf, f"a label is outside the range of φ(z) = {activation.name}"
        )

    def velocity(_time: float, change: Host) -> Host:
        predictions = start + change @ gram
        misfit = activation.value(predictions) - target
        return np.asarray(-activation.derivative(predictions) * misfit)

    scale = (np.linalg.norm(target) + np.linalg.norm(start)) / highest
    solver = LSODA(
        velocity, 0.0, change, 2.0**_DOUBLINGS / highest,
        rtol=_TOLERANCE, atol=_TOLERANCE * scale,
    )  # fmt: skip
    look = 0.0
    while True:
        change, time = solver.y, float(solver.t)
        if time >= look:
            left = _left(activation, gram, start + change @ gram, target, change, lowest)
            if np.isfinite(left):
                return _End(change, time, left, "")
            look = max(2 * time, 1 / highest)
        if solver.status != "running":
            return _End(change, time, np.inf, f"no certificate up to the time {time:.3g}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # what it says is in the message
            message = solver.step()
        if solver.status == "failed":
            return _End(change, time, np.inf, f"the integration failed: {message}")


def _left(
    activation: SmoothActivation, gram: Host, predictions: Host, target: Host, change: Host,
    lowest: float,
) -> float:  # fmt: skip
    """Return ℓ where φ' is at least μ, half its least value here, within ℓ; else ∞.

    Room is left for paths that are off by a share of the way so far.
    """
    lengths = np.sqrt(np.diagonal(gram))
    off = _ROOM * np.sqrt(max(float(change @ gram @ change), 0.0))
    slope = activation.derivative(predictions)
    steepest = max(float(slope.max()), 1.0)
    size = np.linalg.norm(activation.value(predictions) - target)
    size += 2 * steepest * off * np.sqrt(np.trace(gram))
    least = 0.5 * float(slope.min())
    if least <= 0:
        return np.inf
    left = float(size / (least * np.sqrt(lowest)))
    reach = lengths * (left + off)
    within = activation.least_slope(predictions - reach, predictions + reach)
    return left if (within >= least).all() else np.inf
