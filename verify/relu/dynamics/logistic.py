"""Logistic loss, first layer trained: rescaled flow and descent to a certified direction.

f(x) = Σ_k v_k φ(w_k·x), v fixed, loss (1/n) Σ_i log(1 + exp(−y_i f(x_i))), y_i = ±1. Weights grow
like log t; in the time that advances by Σ_i σ(−y_i f(x_i))/n they grow linearly, on the same path:

    dW/dt = Σ_i p_i y_i ∇f(x_i),   p_i = σ(−y_i f(x_i)) / Σ_j σ(−y_j f(x_j)).

Descent takes steps η of this field, gradient descent with steps ηn/Σ_i σ(−y_i f(x_i)). A direction
is accepted for what `direction` says of it, never for having stopped to change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from verify.errors import InputError
from verify.relu.descent import CERTIFIED, UNDECIDED
from verify.relu.dynamics.direction import Direction, direction
from verify.relu.dynamics.kinks import ABOVE, BELOW, HELD, Motion
from verify.relu.dynamics.margin import require_signs, stable_rank
from verify.relu.dynamics.margin_points import settle_kinks
from verify.relu.dynamics.network import Network, require_network
from verify.relu.dynamics.network_flow import Flowing, flow
from verify.relu.dynamics.two_layers import CONVERGED

Host = np.ndarray[Any, Any]

_LOOK_EVERY = 20
"""Steps between looks at where a network is going ..."""

_LOOK_SHARE = 8
"""... or for descent a share 1/8 of those that it has taken, where that is more."""


_COARSEST = 1e-6
"""Largest error of a step of the flow: beyond, kinks are crossed that are not there."""

_LONGEST = 1e100
"""Longest step of descent, beyond which numbers overflow before anything else shows."""


@dataclass(frozen=True, eq=False, repr=False)
class DirectionRun:
    """Where training takes the direction of W for each of B networks.

    network: what was trained.
    status: (B,) of "certified" (W/‖W‖ tends to that of the KKT point `duals`), "converged" (it is
        within the tolerance of that of a KKT point now), or "undecided".
    change: (B, m, n), coefficients gained.   predictions: (B, m, n).   time, steps: (B,).
    duals: (B, m, n), coefficients of the KKT point, of margin 1; NaN where undecided.
    multipliers: (B, n), its λ.   kkt: (B,), its largest relative residual.
    distance: (B,), from W/‖W‖ to its direction, dimensionless; ∞ where undecided.
    """

    network: Network
    status: Host
    change: Host
    predictions: Host
    time: Host
    steps: Host
    duals: Host
    multipliers: Host
    kkt: Host
    distance: Host

    def __repr__(self) -> str:
        states = (CERTIFIED, CONVERGED, UNDECIDED)
        counts = ((int((self.status == state).sum()), state) for state in states)
        listed = ", ".join(f"{count} {state}" for count, state in counts if count)
        return f"DirectionRun({listed}; at most {self.steps.max()} steps)"

    @property
    def decided(self) -> Host:
        """Mask of the runs whose direction is known, (B,)."""
        return np.asarray(self.status != UNDECIDED)

    @property
    def margins(self) -> Host:
        """y_i f(x_i)/‖W‖_F at the end of the run, (B, n)."""
        norm = np.sqrt(self.network.squared_norms(self.change).sum(axis=-1))
        outputs = self.network.output(self.predictions)
        return np.asarray(self.network.labels * outputs / norm[:, None])

    @property
    def limit_margins(self) -> Host:
        """y_i f(x_i)/‖W‖_F in the limit, (B, n); NaN where undecided."""
        outputs = self.network.output(self.duals @ self.network.gram)
        norm = np.sqrt(np.sum(self.duals * (self.duals @ self.network.gram), axis=(1, 2)))
        return np.asarray(self.network.labels * outputs / norm[:, None])

    def limit_stable_rank(self, sign: int | None = None) -> Host:
        """Return ‖W‖_F²/‖W‖₂² of the limit direction, (B,); NaN where undecided, or W is zero.

        sign: that of the output weights of the neurons to look at; by default all of them.
        """
        return self._rank(self.duals, np.zeros_like(self.network.perpendicular_gram), sign)

    def stable_rank(self, sign: int | None = None) -> Host:
        """Return ‖W‖_F²/‖W‖₂² at the end of the run, (B,); sign as in `limit_stable_rank`."""
        duals = self.network.starting_duals + self.change
        return self._rank(duals, self.network.perpendicular_gram, sign)

    def _rank(self, duals: Host, outside: Host, sign: int | None) -> Host:
        if sign is not None:
            mine = sign * self.network.output_weights > 0
            duals = np.where(mine[:, :, None], duals, 0.0)
            outside = np.where(mine[:, :, None] & mine[:, None, :], outside, 0.0)
        known = np.asarray(np.isfinite(duals).all(axis=(1, 2)))
        duals = np.where(known[:, None, None], duals, 0.0)
        found = stable_rank(duals @ self.network.gram @ duals.swapaxes(1, 2) + outside)
        return np.where(known, found, np.nan)


def rescaled_pull(outputs: Host, labels: Host) -> Host:
    """Return −y_i p_i, (B, n): the pull of the logistic loss in the time that is told above."""
    logs = -np.logaddexp(0.0, labels * outputs)
    weights = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(-labels * weights / weights.sum(axis=-1, keepdims=True))


def flow_logistic(
    network: Network, max_steps: int = 4_000, *, tolerance: float = 1e-8
) -> DirectionRun:
    """Follow the rescaled flow of the first layer until its direction is certain.

    tolerance: error allowed in a step, as a share of each neuron's length.
    Raises InputError for what is no Network, labels other than ±1, an example of length zero,
    max_steps below 1, or a tolerance that is not above 0 and at most 1e-6.
    """
    _require(network, max_steps)
    if not 0 < tolerance <= _COARSEST:
        raise InputError(
            f"tolerance={tolerance!r}, expected a number above 0 and of at most {_COARSEST:g}"
        )
    motion = Motion(network, rescaled_pull, trains_outputs=False)

    def arrived(moving: Flowing) -> Host:
        net, done = moving.motion.network, np.zeros(moving.time.size, dtype=bool)
        margins = net.labels * net.output(moving.look.predictions)
        positive = np.asarray((margins > 0).all(axis=-1))
        for one in np.flatnonzero(positive & (moving.steps % _LOOK_EVERY == 0)):
            index = np.asarray([one])
            state, sides = moving.state[one, :, :-1], moving.sides[one]
            done[one] = direction(net.select(index), state, sides).certified
        return done

    run = _Collected(network)
    for position, moving, _ in flow(motion, arrived, max_steps, tolerance):
        for row, place in enumerate(position):
            one = moving.select(np.asarray([row]))
            here = direction(one.motion.network, one.state[0, :, :-1], one.sides[0])
            run.put(int(place), one.state[0, :, :-1], float(one.time[0]), int(one.steps[0]), here)
    return run.closed()


def descend_logistic(
    network: Network,
    step_size: float,
    max_steps: int = 4_000,
    *,
    near: float = 5e-3,
    slope_at_zero: int = 0,
) -> DirectionRun:
    """Take steps η of the rescaled field until every direction is certain.

    Where neurons chatter at kinks no certificate holds for a step of finite length: such a run is
    "converged" once its direction is within `near` of that of a KKT point, and any other that is
    at its last step.

    step_size: η, in units of 1/(v_k²‖x‖²); certificates need η ≤ 2/max_i‖∇f(x_i)‖².
    Raises InputError for what is no Network, labels other than ±1, an example of length zero,
    max_steps below 1, a step that is not positive or beyond any use, or `near` below 0.
    """
    _require(network, max_steps)
    if not step_size > 0:
        raise InputError(f"step_size={step_size!r} is not positive; try 0.5 / Σ v_k² max‖x‖²")
    if not step_size <= _LONGEST:
        raise InputError(f"step_size={step_size!r} is too long; try 0.5 / Σ v_k² max‖x‖²")
    if not near >= 0:
        raise InputError(f"near={near!r}, expected a distance of at least 0; try 5e-3")
    run = _Collected(network)
    going = np.arange(network.batch)
    change = np.zeros_like(network.starting_predictions)
    signed = network.output_weights[:, :, None]
    nearly = 2 * step_size * np.abs(signed) * (network.lengths**2)[:, None, :]
    look = _LOOK_EVERY
    for step in range(1, max_steps + 1):
        net = network if going.size == network.batch else network.select(going)
        predictions = net.predictions(change[going])
        slopes = net.activation.slope(predictions, slope_at_zero)
        pull = rescaled_pull(net.output(predictions), net.labels)
        change[going] -= step_size * signed[going] * slopes * pull[:, None, :]
        if step < min(look, max_steps):
            continue
        look = step + max(_LOOK_EVERY, step // _LOOK_SHARE)
        predictions = net.predictions(change[going])
        fits = (net.labels * net.output(predictions) > 0).all(axis=-1)
        ended = np.zeros(going.size, dtype=bool)
        for row in np.flatnonzero(fits):
            place = int(going[row])
            sides = np.where(predictions[row] > 0, ABOVE, BELOW)
            one = net.select(np.asarray([row]))
            here = direction(one, change[place], sides, step_size)
            loose = np.abs(predictions[row]) <= nearly[place]
            loose &= signed[place] * network.labels[place] < 0
            if loose.any() and not here.certified:
                sides = settle_kinks(one, predictions[row], loose)
                held = direction(one, change[place], sides, step_size)
                here = held if held.distance < here.distance else here
            chatters = (here.point.sides == HELD).any()
            ended[row] = here.certified or (chatters and here.distance <= near)
            if ended[row] or step == max_steps:
                run.put(place, change[place], step * step_size, step, here, near)
        for row in np.flatnonzero(~fits & (step == max_steps)):
            run.put(int(going[row]), change[going[row]], step * step_size, step, None)
        going = going[~ended]
        if not going.size:
            break
    return run.closed()


class _Collected:
    """Runs put down one by one, in any order."""

    def __init__(self, network: Network) -> None:
        self._network = network
        shape, batch = network.starting_predictions.shape, network.batch
        self._status = np.full(batch, UNDECIDED, dtype=f"<U{len(CERTIFIED)}")
        self._change, self._duals = np.zeros(shape), np.full(shape, np.nan)
        self._multipliers = np.full((batch, network.examples), np.nan)
        self._kkt, self._distance = np.full((2, batch), np.inf)
        self._time, self._steps = np.zeros(batch), np.zeros(batch, dtype=np.int64)

    def put(
        self,
        place: int,
        change: Host,
        time: float,
        steps: int,
        here: Direction | None,
        near: float = 0.0,
    ) -> None:
        """Put down the run of the network at `place`; `here` is None where it does not fit."""
        self._change[place], self._time[place], self._steps[place] = change, time, steps
        if here is None or not (here.certified or here.distance <= near):
            return
        self._status[place] = CERTIFIED if here.certified else CONVERGED
        self._duals[place], self._multipliers[place] = here.point.duals, here.point.multipliers
        self._kkt[place], self._distance[place] = here.point.residual, here.distance

    def closed(self) -> DirectionRun:
        """Return all runs."""
        return DirectionRun(
            network=self._network,
            status=self._status,
            change=self._change,
            predictions=self._network.predictions(self._change),
            time=self._time,
            steps=self._steps,
            duals=self._duals,
            multipliers=self._multipliers,
            kkt=self._kkt,
            distance=self._distance,
        )


def _require(network: Network, max_steps: int) -> None:
    require_network(network)
    require_signs(network.labels)
    if not (network.lengths > 0).all():
        raise InputError("an example has length 0, so that its margin is 0 for ever; drop it")
    if not isinstance(max_steps, int | np.integer) or max_steps < 1:
        raise InputError(f"max_steps={max_steps!r}, expected a whole number of at least 1")
