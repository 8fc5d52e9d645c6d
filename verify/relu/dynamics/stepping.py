"""Gradient descent in steps so small that taking each of them is too slow, exactly [D].

While no example crosses its kink, t steps from a residual r lead to (theory §3)

    r(t) = (I − ηM)^t r = Σ_j e^{−μ_j t} (v_j·r) v_j,   μ_j = −log(1 − ηλ_j),

with λ_j, v_j the spectrum of M and ηλ_j < 1: a sum of decaying exponentials of t, as a flow's is,
with other rates. So the first t > 0 at which a prediction meets its kink is found as for `flow`,
none missed; the first whole t after it is reached in one solve, and the pattern there is looked at.
What the number of steps is does not matter to the cost: one eigendecomposition for each change of
the pattern.

On the data of theory §8 with γ = 2 and η = 1e-5: 3 ms, where plain steps take about 10 s.
Every problem is followed by itself, on the host in numpy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from verify.arrays import array_namespace, device, to_numpy
from verify.errors import InputError
from verify.relu.descent import CERTIFIED, UNDECIDED
from verify.relu.dynamics.activation import RELU, Activation
from verify.relu.dynamics.exponentials import first_zeros
from verify.relu.dynamics.regime import Modes, Point, Regime, Setting, point, regime, rounding
from verify.relu.dynamics.watched import predictions_apart
from verify.relu.problem import Problem, require_problem

Host = np.ndarray[Any, Any]

MAX_JUMPS = 1_000
"""Jumps after which a run is left undecided: a limit on cost, never evidence."""


@dataclass(frozen=True, eq=False, repr=False)
class SteppingRun:
    """What gradient descent in small steps does on each of B problems.

    problem, activation: what was run.
    status: (B,) of "certified" (no prediction ever crosses its kink again, and the limit is known
        up to `error`) or "undecided" (`why` says why: a sign within rounding of zero, or more than
        the jumps allowed).
    last_flip: (B,), the last step that changed the pattern, 0 if none did, as far as can be told.
    duals, predictions: (B, m, n), data-span coefficients and predictions of the limit; of the last
        known step where a run is undecided.
    final_pattern: (B, m, n), mask of the active examples there.
    error: (B,), a bound to first order on the distance in weights from the exact limit, or step.
    """

    problem: Problem
    activation: Activation
    status: Host
    why: tuple[str, ...]
    last_flip: Host
    duals: Any
    predictions: Any
    final_pattern: Any
    error: Host

    def __repr__(self) -> str:
        certified = int(self.certified.sum())
        return f"SteppingRun({certified} certified, {self.status.size - certified} undecided)"

    @property
    def certified(self) -> Host:
        """Mask of the certified runs, (B,)."""
        return np.asarray(self.status == CERTIFIED)


def descend_in_small_steps(
    problem: Problem, activation: Activation = RELU, max_jumps: int = MAX_JUMPS
) -> SteppingRun:
    """Run gradient descent on every problem of the batch to its limit, however small the step is.

    max_jumps: at least 1; runs with more are "undecided".
    Raises InputError for less, for what is no Problem, and where ηλ_max(M) reaches 1 (then
    `descend` is fast).
    """
    require_problem(problem)
    if not isinstance(max_jumps, int | np.integer) or max_jumps < 1:
        raise InputError(f"max_jumps={max_jumps!r}, expected a whole number of at least 1")
    steps = to_numpy(problem.step_size).tolist()
    ends = [
        _Descent(setting, activation, step, problem.slope_at_zero).follow(max_jumps)
        for setting, step in zip(Setting.each(problem, activation), steps, strict=True)
    ]
    xp = array_namespace(problem.gram)

    def there(rows: list[Host]) -> Any:
        return xp.asarray(np.stack(rows), device=device(problem.gram))

    return SteppingRun(
        problem=problem,
        activation=activation,
        status=np.asarray([UNDECIDED if end.lost else CERTIFIED for end in ends]),
        why=tuple(end.lost for end in ends),
        last_flip=np.asarray([end.last_flip for end in ends]),
        duals=problem.starting_duals + there([end.here.change for end in ends]),
        predictions=there([end.here.predictions for end in ends]),
        final_pattern=there([end.modes.active for end in ends]),
        error=np.asarray([end.here.error for end in ends]),
    )


@dataclass(frozen=True, eq=False)
class _End:
    here: Point
    modes: Modes
    last_flip: int
    lost: str


@dataclass(frozen=True, eq=False)
class _Descent:
    """One problem, and how steps are taken on it."""

    setting: Setting
    activation: Activation
    step: float
    slope_at_zero: int

    def follow(self, max_jumps: int) -> _End:
        """Step from jump to jump until no prediction ever crosses its kink again."""
        here = self._at(np.zeros_like(self.setting.start), 0.0)
        modes, steps, last_flip = self._modes(here), 0, 0
        for _ in range(max_jumps):
            current = self._regime(modes, here)
            ahead, lost = self._unchanged(current)
            if lost:
                return _End(here, modes, last_flip, lost)
            if np.isinf(ahead):
                return _End(self._ahead(current, np.inf), modes, last_flip, "")
            before, after = self._ahead(current, ahead - 1), self._ahead(current, ahead)
            if (ahead > 1 and self._blurred(before)) or self._blurred(after):
                return _End(before, modes, last_flip, "a step ends within rounding of a kink")
            here, steps = after, steps + int(ahead)
            reached = self._modes(here)
            last_flip = steps if (reached.active != modes.active).any() else last_flip
            modes = reached
        return _End(here, modes, last_flip, f"more than max_jumps={max_jumps} jumps")

    def _unchanged(self, current: Regime) -> tuple[float, str]:
        """Return the first step at which the pattern may change, ∞ for none, or why there is no
        answer.

        At the kink the agreement on φ'(0) decides, which sums of exponentials know nothing of: from
        there one step is taken, unless nothing moves at all.
        """
        at_kink = current.origin.predictions == 0
        if (at_kink & (current.rows != 0).any(axis=-1)).any():
            moves = (self._ahead(current, 1).change != current.origin.change).any()
            return (1.0 if moves else np.inf), ""
        order = np.zeros(current.origin.predictions.shape, dtype=np.int64)
        sums = predictions_apart(current, order)
        zeros = first_zeros(replace(sums, rates=self._decay(current)), order.ravel())
        return float(np.ceil(zeros.time)), zeros.lost

    def _at(self, change: Host, error: float) -> Point:
        predictions = self.setting.start + change @ self.setting.gram
        active = self.activation.active(predictions, self.slope_at_zero)
        return point(self.setting, change, Modes(active, np.zeros_like(active)), error)

    def _modes(self, here: Point) -> Modes:
        active = self.activation.active(here.predictions, self.slope_at_zero)
        return Modes(active, np.zeros_like(active))

    def _regime(self, modes: Modes, here: Point) -> Regime:
        current = regime(self.setting, modes, here)
        speed = self.step * float(current.rates.max(initial=0.0))
        if speed >= 1:
            raise InputError(
                f"step_size={self.step!r} times λ_max(M) is {speed:.3g}, expected below 1; for "
                "such steps, descend"
            )
        return current

    def _decay(self, current: Regime) -> Host:
        """Return the μ_j, (n,): what a step leaves of a mode is e^{−μ_j}."""
        return np.asarray(-np.log1p(-self.step * current.rates))

    def _ahead(self, current: Regime, steps: float) -> Point:
        """Return where so many steps lead from the regime's origin; ∞ is allowed."""
        if steps == 0:
            return current.origin
        decay, moving = self._decay(current), current.rates > 0
        rates = np.where(moving, current.rates, 1.0)
        gone = -np.expm1(-decay * steps) if np.isfinite(steps) else np.ones_like(rates)
        taken = current.coordinates * np.where(moving, gone / rates, 0.0)
        moved = current.steering @ taken
        change = current.origin.change - self.setting.signs[:, None] * moved
        return self._at(change, current.origin.error + current.rounding_of(taken, change))

    def _blurred(self, here: Point) -> bool:
        """Say whether a prediction that moved is within rounding of its kink."""
        doubt = rounding(self.setting, here.change) + self.setting.lengths * here.error
        moved = np.abs(here.change) @ np.abs(self.setting.gram) > 0
        return bool(((np.abs(here.predictions) <= doubt) & moved).any())
