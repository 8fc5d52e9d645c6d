"""How plain gradient descent of one neuron moves with respect to a global minimum (theory §8) [D].

For output sign +1, a step w ← w − ηg with g = X_Dᵀr_D, D the active examples, changes the squared
distance to z by

    ‖w − ηg − z‖² − ‖w − z‖² = η(η r_DᵀG_DD r_D − 2 r_D·(β − Xz)_D).

That is how it is computed: differences of distances would lose all digits near the limit. Where z
has zero loss, (β − Xz)_i = r_i if y_i > 0, and (β − Xz)_i ≥ r_i ≥ 0 if y_i = 0: the change is then
−η(2 − ηλ_max(G))‖r_D‖² at most, and no step with ηλ_max(G) ≤ 2 leads away from z.

The walk shares no code with `descent` or `certificate`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from verify.arrays import Array, array_namespace, to_numpy
from verify.errors import InputError
from verify.relu.nearest_minimum import NearestMinimum
from verify.tolerances import MONOTONE, summation

Host = np.ndarray[Any, Any]

_HELD = 1e100
"""Size of the residual, and of the next step's, at which a walk that diverges stays put, before it
overflows."""


@dataclass(frozen=True, eq=False)
class Approach:
    """B plain walks, and how they approach the global minimum w̃ that is nearest to the start.

    change: (B, n), what the data-span coefficients gained by the last step.
    travelled, left: (B,), ‖w − w_0‖ and ‖w − w̃‖ at the last step, in units of weights.
    increase, increase_rounding: (B,), the largest change of ‖w − w̃‖ in a step, −∞ without a step,
        and a bound on the error of each; in units of weights.
    excess, excess_rounding: (B,), the largest sum of the change of ‖w − w̃‖² in a step and
        η(2 − ηλ_max(G))‖r_D‖², and a bound on the error of each; in squared units of weights.
    first_increase: (B,), the first step that adds more to ‖w − w̃‖ than its error bound and
        `MONOTONE`·‖w̃ − w_0‖, 0 if none does.
    settled: (B,), whether the residual of the active examples fell below the tolerance; if not,
        the last step is not the limit (a walk that diverges is held before it overflows).
    steps: (B,), the steps taken.
    """

    change: Array
    travelled: Host
    left: Host
    increase: Host
    increase_rounding: Host
    excess: Host
    excess_rounding: Host
    first_increase: Host
    settled: Host
    steps: Host


SETTLED = 1e-13
"""Residual over the largest label or starting prediction at which a walk ends."""


def approach(
    nearest: NearestMinimum, max_steps: int = 2_000, tolerance: float = SETTLED
) -> Approach:
    """Take gradient steps from the start and look at the distance to w̃ at each.

    Until the residual of the active examples is below `tolerance` times the largest label or
    starting prediction; what is kept does not grow with the number of steps.

    Raises InputError for max_steps below 1, and a tolerance that is not in [0, 1).
    """
    if not isinstance(max_steps, int | np.integer) or max_steps < 1:
        raise InputError(f"max_steps={max_steps!r}, expected a whole number of at least 1")
    if not 0 <= tolerance < 1:
        raise InputError(f"tolerance={tolerance!r}, expected a number in [0, 1)")
    problem = nearest.problem
    frame, xp = _Frame.of(nearest), array_namespace(problem.gram)
    size = xp.abs(problem.labels) + xp.abs(frame.start)
    small = tolerance * to_numpy(xp.max(size, axis=-1))
    allowed = MONOTONE * to_numpy(nearest.distance)
    worst = {
        "increase": np.full(problem.batch, -np.inf),
        "increase_rounding": np.zeros(problem.batch),
        "excess": np.full(problem.batch, -np.inf),
        "excess_rounding": np.zeros(problem.batch),
    }
    first, steps = np.zeros((2, problem.batch), dtype=np.int64)
    change = xp.zeros_like(problem.labels)
    for step in range(1, max_steps + 2):
        here = _look(frame, change)
        settled = here.residual <= small
        moving = ~settled & here.bounded
        if step > max_steps or not moving.any():
            break
        worst = {
            name: np.where(moving, np.maximum(most, getattr(here, name)), most)
            for name, most in worst.items()
        }
        away = moving & (here.increase > allowed + here.increase_rounding)
        first = np.where(away & (first == 0), step, first)
        steps = steps + moving
        mobile = xp.asarray(moving, device=problem.gram.device)[:, None]
        change = change - xp.where(mobile, here.move, 0 * here.move)
    square = to_numpy(xp.sum(change * _times(change, problem.gram), axis=-1))
    return Approach(
        change=change,
        travelled=np.sqrt(np.maximum(square, 0.0)),
        left=here.left,
        **worst,
        first_increase=first,
        settled=settled,
        steps=steps,
    )


@dataclass(frozen=True, eq=False)
class _Frame:
    """What does not change along a walk; labels are those to which output sign +1 reduces, s·y.

    absolute: (B, n, n), |G|.   step, highest: (B,), η and λ_max(G).
    blur: (B,), a bound on ‖X(w̃ as computed) − X(a global minimum)‖.
    """

    nearest: NearestMinimum
    start: Array
    labels: Array
    absolute: Array
    step: Host
    highest: Host
    blur: Host

    @staticmethod
    def of(nearest: NearestMinimum) -> _Frame:
        problem = nearest.problem
        xp = array_namespace(problem.gram)
        start, labels = problem.starting_predictions[:, 0, :], problem.signs * problem.labels
        absolute = xp.abs(problem.gram)
        found, zero = nearest.predictions, 0 * labels
        misfit = xp.where(labels > 0, xp.abs(found - labels), xp.where(found > 0, found, zero))
        blurred = misfit + _error(start, absolute, nearest.change)
        return _Frame(
            nearest=nearest,
            start=start,
            labels=labels,
            absolute=absolute,
            step=to_numpy(problem.step_size),
            highest=to_numpy(problem.eigenvalues[:, -1]),
            blur=to_numpy(xp.linalg.vector_norm(blurred, axis=-1)),
        )


@dataclass(frozen=True, eq=False)
class _Look:
    """Where the walks are, and what their next steps do: see `Approach`.

    move: (B, n), what the step takes from the coefficients.   residual: (B,), ‖r_D‖.
    bounded: (B,), where no number is about to overflow; nothing is known of steps elsewhere.
    """

    move: Array
    residual: Host
    bounded: Host
    left: Host
    increase: Host
    increase_rounding: Host
    excess: Host
    excess_rounding: Host


def _look(frame: _Frame, change: Array) -> _Look:
    """Look at the walks whose coefficients have gained `change`, (B, n)."""
    problem, nearest, eta = frame.nearest.problem, frame.nearest, frame.step
    xp = array_namespace(change)
    predictions = frame.start + _times(change, problem.gram)
    active = predictions >= 0 if problem.slope_at_zero else predictions > 0
    residual = xp.where(active, predictions - frame.labels, 0 * change)
    apart = predictions - nearest.predictions
    error = _error(frame.start, frame.absolute, change)
    pairs = (
        (residual, residual),
        (apart, apart),
        (error, error),
        (residual, _times(residual, problem.gram)),
        (residual, apart),
        (change - nearest.change, apart),
    )
    products = to_numpy(xp.sum(xp.stack([one * other for one, other in pairs]), axis=-1))
    length, far, blurred = np.sqrt(products[:3])
    curvature, pull, square = products[3:]
    speed = eta * frame.highest
    bounded = np.maximum(1.0, speed) * length <= _HELD
    size, curvature, pull = np.where(bounded, (length, curvature, pull), 0.0)
    by = eta * (eta * curvature - 2 * pull)
    # A product loses its digits where w is almost at w̃, but ‖w − w̃‖ ≥ ‖X(w − w̃)‖/√λ_max.
    left = np.sqrt(np.maximum(square, far * far / frame.highest))
    both = left + np.sqrt(np.maximum(left * left + by, 0.0))
    both = np.where(both > 0, both, 1.0)

    rounding = 2 * eta * ((far + (3 + speed) * size) * blurred + size * frame.blur)
    gamma = summation(problem.examples, change)
    rounding += gamma * eta * size * ((4 + speed) * size + 2 * far)
    return _Look(
        move=problem.step_size[:, None] * residual,
        residual=length,
        bounded=bounded,
        left=left,
        increase=by / both,
        increase_rounding=rounding / both,
        excess=by + eta * (2 - speed) * size * size,
        excess_rounding=rounding,
    )


def _times(rows: Array, gram: Array) -> Array:
    """Return G a for rows a, (B, n)."""
    return (rows[:, None, :] @ gram)[:, 0, :]


def _error(start: Array, absolute: Array, change: Array) -> Array:
    """Return a bound on the rounding error of β⁰ + Ga for a = `change`, (B, n)."""
    xp = array_namespace(change)
    terms = xp.abs(start) + _times(xp.abs(change), absolute)
    return summation(int(change.shape[-1]), change) * terms
