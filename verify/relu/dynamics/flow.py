"""Gradient flow to its limit, exact from event to event (theory §2–4) [D].

    w_k' = −∂L/∂w_k,  in Gram space α_k' = −s_k φ'(β_k) r,  β_k = Gα_k

for activations that are linear on either side of zero. Between events, when examples cross a kink,
stop there or leave it, the flow is linear and known in closed form (`regime`); the next event is
the first zero of sums of exponentials, of which none is missed (`exponentials`). The flow is in its
last regime when these never have a zero again, and then its limit is one solve: no time limit, step
or tolerance decides.

An example on the kink that the flow pushes back to it from both sides is held there (`regime`): the
common fate of negative labels. Adaptive solvers stall on it, and gradient descent chatters. Median
times on one core, and largest errors of the limit's weights, for labels of order 1 (n=8, d=24; six
problems of one neuron with labels ≥ 0, five with labels of both signs, five of two neurons):

                              labels ≥ 0         both signs         two neurons
    this                      12 ms              27 ms              59 ms
    scipy LSODA, rtol 1e-9    18 ms, 2e-10       stalls in 4 of 5   stalls in 5 of 5
    scipy DOP853              28 ms, 2e-10       stalls in 4 of 5   stalls in 5 of 5
    descent, η = .01/λ_max    365 ms, 3e-5       380 ms, 7e-4       640 ms, 3e-4
    descent, η = .001/λ_max   4.1 s, 3e-6        4.0 s, 8e-5        6.6 s, 4e-5

(stalls: over 60,000 evaluations). On the data of theory §8 with γ=2 scipy's Radau ends .012 away.
Of 460 other flows (n=6, d=24, one to four neurons) 459 are certified; descent at η = .002/λ_max
ends within 7e-4 of them, five times nearer than at .01/λ_max. Undecided stay 0 to 5% with one
neuron and n ≤ 20, 10 to 20% with eight at n=20, d=400, and four of four at n=100, d=20,000 with
labels of both signs (60 to 70 events, seconds each): events so late that rounding hides which way
they go.

Every problem is followed by itself, on the host in numpy; limits come back on the library of the
problem.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from verify.arrays import Array, array_namespace, device
from verify.errors import InputError
from verify.relu.descent import CERTIFIED, UNDECIDED
from verify.relu.dynamics.activation import RELU, Activation
from verify.relu.dynamics.departures import CROSSES, LEAVES, Resolved, depart, resolve
from verify.relu.dynamics.exponentials import Sums, Zeros, first_zeros
from verify.relu.dynamics.regime import (
    Modes,
    Point,
    Regime,
    Setting,
    point,
    regime,
    rounding,
    weight_norms,
)
from verify.relu.dynamics.rest import come_to_rest
from verify.relu.dynamics.spreading import after_event
from verify.relu.dynamics.watched import holding, predictions_apart
from verify.relu.problem import Problem, require_problem

Host = np.ndarray[Any, Any]

MAX_EVENTS = 1_000
"""Events after which a flow is left undecided: a limit on cost, never evidence."""


@dataclass(frozen=True, eq=False)
class Path:
    """The flow of one problem from start to limit, or to where it was lost.

    Its last regime may be one that holds all examples near a kink (`rest`); the exact path is then
    within the error of the run from there on.

    starts: (S,), the times at which its regimes begin, in units of one over features squared.
    regimes: the S linear flows.   end: the time of the end, ∞ where the last regime is for ever.
    lost: why it is not certain how the flow goes on after `end`; empty where it is.
    """

    starts: Host
    regimes: tuple[Regime, ...]
    end: float
    lost: str

    def __repr__(self) -> str:
        return f"Path({len(self.regimes)} regimes, end={self.end:g}, lost={self.lost!r})"

    def change(self, time: float) -> Host:
        """Return what the coefficients gained since the start, (m, n), at a time ≤ `end`."""
        flow, since = self._at(time)
        return flow.change(since)

    def residual(self, time: float) -> Host:
        """Return outputs less labels, (n,), at a time ≤ `end`."""
        flow, since = self._at(time)
        return flow.residual(since)

    def distances(self, target: Host, times: Host) -> Host:
        """Return ‖w(t) − w‖ at times (T,), for weights w = w_0 + Xᵀc of change c (m, n), (T,)."""
        apart = np.stack([self.change(time) for time in times]) - target
        return weight_norms(self.regimes[0].setting, apart)

    def times(self, per_regime: int = 16) -> Host:
        """Return times from start to end, `per_regime` in each regime and all events.

        A last regime for ever is told until all that decays is below e^{−36}.
        """
        times = []
        for number, (begin, flow) in enumerate(zip(self.starts, self.regimes, strict=True)):
            last = number + 1 == len(self.regimes)
            end = self.end if last else self.starts[number + 1]
            rates = flow.rates[flow.rates > 0]
            if np.isfinite(end):
                times.append(np.linspace(begin, end, per_regime, endpoint=False))
            elif rates.size:
                grid = np.geomspace(0.01 / rates.max(), 36 / rates.min(), per_regime - 1)
                times.append(begin + np.concatenate([[0.0], grid]))
            else:
                times.append(np.asarray([begin]))
        return np.concatenate([*times, [self.end]])

    def _at(self, time: float) -> tuple[Regime, float]:
        if not 0 <= time <= self.end:
            raise InputError(
                f"time={time!r}, expected a time from 0 to the path's end={self.end:g}"
            )
        number = int(np.searchsorted(self.starts, time, side="right")) - 1
        return self.regimes[number], float(time - self.starts[number])


@dataclass(frozen=True, eq=False, repr=False)
class FlowRun:
    """What gradient flow does on each of B problems.

    problem, activation: what was followed; the problem's step size plays no part.
    status: (B,) of "certified" (the limit is known up to `error`: no example meets a kink any more,
        or what still does is too little to matter, see `rest`) or "undecided" (an event that
        rounding cannot settle, or too many; `paths` say why). The loss never rises, so no flow
        diverges.
    events: (B,), how many times examples changed their mode, as far as can be told.
    last_event: (B,), the time when they last did, 0 if never.
    duals, predictions: (B, m, n), data-span coefficients and predictions of the limit; those of
        the last known point where a flow is undecided.
    final_pattern: (B, m, n), mask of the examples above the kink at the end.
    held: (B, m, n), mask of those held at it (see `regime`), with prediction zero.
    error: (B,), a bound to first order on the distance in weights from the exact limit, or from the
        exact path where a flow is undecided.
    paths: B paths.
    """

    problem: Problem
    activation: Activation
    status: Host
    events: Host
    last_event: Host
    duals: Array
    predictions: Array
    final_pattern: Array
    held: Array
    error: Host
    paths: tuple[Path, ...]

    def __repr__(self) -> str:
        certified = int(self.certified.sum())
        return f"FlowRun({certified} certified, {self.status.size - certified} undecided)"

    @property
    def certified(self) -> Host:
        """Mask of the certified flows, (B,)."""
        return np.asarray(self.status == CERTIFIED)


def flow(problem: Problem, activation: Activation = RELU, max_events: int = MAX_EVENTS) -> FlowRun:
    """Follow gradient flow on every problem of the batch to its limit.

    max_events: at least 1; flows with more are "undecided".   Raises InputError for less, and for
    what is no Problem.
    """
    require_problem(problem)
    if not isinstance(max_events, int | np.integer) or max_events < 1:
        raise InputError(f"max_events={max_events!r}, expected a whole number of at least 1")
    ends = [
        _follow(setting, problem.slope_at_zero, max_events)
        for setting in Setting.each(problem, activation)
    ]
    xp = array_namespace(problem.gram)

    def there(rows: list[Host]) -> Array:
        return xp.asarray(np.stack(rows), device=device(problem.gram))

    return FlowRun(
        problem=problem,
        activation=activation,
        status=np.asarray([UNDECIDED if end.path.lost else CERTIFIED for end in ends]),
        events=np.asarray([len(end.path.regimes) - 1 for end in ends]),
        last_event=np.asarray([end.path.starts[-1] for end in ends]),
        duals=problem.starting_duals + there([end.limit.change for end in ends]),
        predictions=there([end.limit.predictions for end in ends]),
        final_pattern=there([end.modes.active & ~end.modes.held for end in ends]),
        held=there([end.modes.held for end in ends]),
        error=np.asarray([end.distance for end in ends]),
        paths=tuple(end.path for end in ends),
    )


@dataclass(frozen=True, eq=False)
class _End:
    path: Path
    limit: Point
    modes: Modes
    distance: float


def _follow(setting: Setting, slope_at_zero: int, max_events: int) -> _End:
    """Follow one flow, event by event."""
    nowhere = np.zeros(setting.start.shape, dtype=bool)
    at_start = Modes(setting.start > 0, nowhere)
    here = point(setting, np.zeros_like(setting.start), at_start)
    state = depart(setting, here, slope_at_zero)
    current = regime(setting, state.modes, here)
    starts, regimes, time, lost = [0.0], [current], 0.0, state.lost
    while not lost:
        sums, order = _watched(current, state)
        zeros = first_zeros(sums, order)
        ended = np.isinf(zeros.time)
        full = not ended and len(regimes) > max_events
        lost = zeros.lost or (f"more than max_events={max_events} events" if full else "")
        if lost:
            break
        modes, meeting = state.modes, _meeting(state.modes, zeros)
        here, time = _advance(current, zeros.time, meeting == CROSSES), time + zeros.time
        if ended:
            break
        try:
            state = resolve(setting, modes, here, meeting, state.resting)
            here = after_event(setting, here, modes, state.modes, meeting == CROSSES)
            current = regime(setting, state.modes, here)
        except np.linalg.LinAlgError:
            lost = "examples held at the kink are linearly dependent"
            break
        lost = state.lost
        if not lost:
            starts.append(time)
            regimes.append(current)
    if lost and (resting := come_to_rest(setting, here)):
        current, distance = resting
        starts.append(time)
        regimes.append(current)
        limit = point(setting, current.change(np.inf), current.modes)
        path = Path(np.asarray(starts), tuple(regimes), np.inf, "")
        return _End(path, limit, current.modes, distance)
    path = Path(np.asarray(starts), tuple(regimes), time, lost)
    return _End(path, here, state.modes, here.distance(setting))


def _watched(current: Regime, state: Resolved) -> tuple[Sums, Host]:
    """Return the functions whose zeros are events, and with which derivative they leave zero."""
    distances = predictions_apart(current, state.order)
    if not current.modes.held.any():
        return distances, state.order.ravel()
    holds = holding(current)
    names = [field.name for field in fields(Sums) if field.name != "rates"]
    joined = {
        name: np.concatenate([getattr(distances, name), getattr(holds, name)]) for name in names
    }
    order = np.concatenate([state.order.ravel(), np.zeros(holds.constant.size, dtype=np.int64)])
    return Sums(rates=current.rates, **joined), order


def _meeting(modes: Modes, zeros: Zeros) -> Host:
    """Return what happens to which example, (m, n), in the terms of `resolve`."""
    meeting = np.zeros(modes.active.shape, dtype=np.int64)
    where = np.argwhere(modes.held)
    for number in zeros.which:
        if number < meeting.size:
            meeting.flat[number] = CROSSES
            continue
        above, held = divmod(int(number) - meeting.size, len(where))
        meeting[tuple(where[held])] = LEAVES if above else -LEAVES
    return meeting


def _advance(current: Regime, time: float, crossing: Host) -> Point:
    """Return the point `time` from the regime's origin, where the examples `crossing` do."""
    setting, change = current.setting, current.change(time)
    displaced = (
        rounding(setting, change)[crossing]
        / np.broadcast_to(setting.lengths, crossing.shape)[crossing]
    )
    error = current.origin.error + current.rounding(time) + float(displaced.sum())
    return point(setting, change, current.modes, error, current.spread(time))
