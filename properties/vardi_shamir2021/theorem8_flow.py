"""Theorem 8 of Vardi and Shamir (COLT 2021), for gradient flow: at most twice the distance.

Coordinates of a point: those of `setting`, without speed and c, which a flow knows nothing of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from properties.vardi_shamir2021 import setting
from properties.vardi_shamir2021.setting import NONNEGATIVE, REGULAR
from verify.arrays import to_numpy
from verify.claims import Assumption, Control, Status, Universal
from verify.margin import Margin
from verify.measures import Quantiles
from verify.relu.dynamics.flow import flow
from verify.relu.effective_dimensions import solve_error
from verify.relu.nearest_minimum import NearestMinimum
from verify.relu.problem import Problem
from verify.space import Point
from verify.theorem import Theorem
from verify.tolerances import IDENTITY
from verify.trial import Trial

Host = np.ndarray[Any, Any]

PER_REGIME = 8
"""Times between two events at which the distance is looked at."""


@dataclass(frozen=True, eq=False)
class Followed:
    """B paths: what the claims look at.

    changes: B arrays (T, n), what the data-span coefficients gained by each of T times from 0 to
        the end; T differs from path to path.
    certified: (B,), whether the last of them is the limit.   error: (B,), a bound on the distance
        in weights of each from the exact path.   why: (B,), why a limit is not known.
    """

    changes: tuple[Host, ...]
    certified: Host
    error: Host
    why: tuple[str, ...]


def follow(problem: Problem) -> Followed:
    """Follow gradient flow to its limit, and look at it at times between all events."""
    run = flow(problem)
    changes = tuple(
        np.stack([path.change(time)[0] for time in path.times(PER_REGIME)]) for path in run.paths
    )
    return Followed(changes, run.certified, run.error, tuple(path.lost for path in run.paths))


def distances(problem: Problem, run: Followed, to: Host) -> tuple[Host, ...]:
    """Return ‖w(t) − w‖ at the times of each path, for w = w_0 + Xᵀc of change c, (B, n)."""
    gram = to_numpy(problem.gram)
    apart = (changes - to[b] for b, changes in enumerate(run.changes))
    squares = (np.einsum("ti,ij,tj->t", gap, gram[b], gap) for b, gap in enumerate(apart))
    return tuple(np.sqrt(np.maximum(square, 0.0)) for square in squares)


# Assumptions and claims.


def flow_comes_to_rest(trial: Trial) -> Margin:
    """The limit w_∞ of the flow is known: no event that is still to come can matter."""
    run: Followed = trial.run
    return Margin(1, run.certified.astype(int))


def flow_fits_the_data(trial: Trial) -> Margin:
    """The loss is 0 in the limit: every residual is at most 1e-10 of the largest label."""
    problem: Problem = trial.problem
    run: Followed = trial.run
    last = np.stack([changes[-1] for changes in run.changes])[:, None, :]
    limit = to_numpy(problem.starting_predictions) + last @ to_numpy(problem.gram)
    misfit = np.abs(np.maximum(limit[:, 0], 0.0) - to_numpy(problem.labels)).max(axis=-1)
    size = np.abs(to_numpy(problem.labels)).max(axis=-1)
    unit = np.where(size > 0, size, 1.0)
    lengths = np.sqrt(np.diagonal(to_numpy(problem.gram), axis1=1, axis2=2)).max(axis=-1)
    margin = Margin(misfit, IDENTITY * unit, unit, lengths * run.error / unit)
    return margin.undecided_where(~run.certified)


AT_REST = Assumption(flow_comes_to_rest, Status.READ)
FITTED = Assumption(flow_fits_the_data, Status.READ, axes=("start",))

GIVEN = (NONNEGATIVE, REGULAR, AT_REST, FITTED)
ALONG_THE_WAY = (NONNEGATIVE, REGULAR)


def flow_at_most_doubles_the_distance(trial: Trial) -> Margin:
    """The limit of the flow is at most twice as far from the start as the nearest zero-loss point
    w̃: ‖w_∞ − w_0‖ ≤ 2‖w̃ − w_0‖."""
    best: NearestMinimum = trial.reference("nearest")
    travelled, far, unit = _travelled(trial), to_numpy(best.distance), _unit(best)
    error = solve_error(trial.problem) * (travelled + 2 * far) + trial.run.error
    return _known(trial, Margin(travelled, 2 * far, unit, error / unit))


def flow_never_leads_away(trial: Trial) -> Margin:
    """‖w(t) − w̃‖ never increases along the flow, from any of the times looked at to the next,
    beyond 1e-10 of ‖w_0 − w̃‖."""
    best: NearestMinimum = trial.reference("nearest")
    far, unit = to_numpy(best.distance), _unit(best)
    seen = distances(trial.problem, trial.run, to_numpy(best.change))
    increase = np.asarray([np.diff(path).max(initial=0.0) for path in seen])
    error = solve_error(trial.problem) * 2 * far + 2 * trial.run.error
    margin = Margin(increase, IDENTITY * far, unit, error / unit)
    return _unless_cut_short(trial, margin)


def flow_never_leads_away_with_negative_labels(trial: Trial) -> Margin:
    """With negative labels too the flow never leads away from the global minimum w̃ nearest to the
    start: where β_i > 0 > y_i, both β_i − y_i and β_i − (Xw̃)_i are positive. (Steps of descent do:
    they go beyond the kink.)"""
    return flow_never_leads_away(trial)


def _travelled(trial: Trial) -> Host:
    """Return ‖w_∞ − w_0‖, (B,)."""
    nowhere = np.zeros(trial.problem.labels.shape)
    return np.asarray([path[-1] for path in distances(trial.problem, trial.run, nowhere)])


def _unit(best: NearestMinimum) -> Host:
    """Return ‖w̃ − w_0‖, 1 where that is zero, (B,)."""
    far = to_numpy(best.distance)
    return np.where(far > 0, far, 1.0)


def _known(trial: Trial, margin: Margin) -> Margin:
    """Return the margin, undecided where the limit or w̃ is not certified."""
    best: NearestMinimum = trial.reference("nearest")
    return margin.undecided_where(~(trial.run.certified & best.certified))


def _unless_cut_short(trial: Trial, margin: Margin) -> Margin:
    """Return the margin of the times seen: undecided where more would follow, unless violated."""
    best: NearestMinimum = trial.reference("nearest")
    unseen = ~trial.run.certified & ~margin.violated
    return margin.undecided_where(~best.certified | unseen)


def distance_of_the_flow_over_the_nearest(trial: Trial) -> Host:
    """‖w_∞ − w_0‖/‖w̃ − w_0‖ of the flow, which is 2 at most."""
    best: NearestMinimum = trial.reference("nearest")
    far = to_numpy(best.distance)
    known = trial.run.certified & best.certified & (far > 0)
    return np.where(known, _travelled(trial) / np.where(known, far, 1.0), np.nan)


# False statements, and a broken dynamic, for the controls.


def flow_ends_at_the_nearest(trial: Trial) -> Margin:
    """The limit of the flow, if its loss is 0, is the zero-loss point nearest to the start."""
    best: NearestMinimum = trial.reference("nearest")
    left = distances(trial.problem, trial.run, to_numpy(best.change))
    apart = np.asarray([path[-1] for path in left])
    unit = _unit(best)
    return _known(trial, Margin(apart, 1e-6 * unit, unit, trial.run.error / unit))


INERTIA, _ROUNDS, _STEPS = 0.2, 40.0, 2_000
"""Friction over √λ_max(G), and how long the flow with inertia is followed, over 1/√λ_max(G)."""


def with_inertia(problem: Problem) -> Followed:
    """Follow w'' + κw' = −∂L/∂w in place of w' = −∂L/∂w, from rest, by a symplectic Euler scheme:
    a neuron that keeps its momentum. It reports itself certified, as a solver with a mistake would.
    """
    gram, labels = to_numpy(problem.gram), to_numpy(problem.labels)
    start = to_numpy(problem.starting_predictions)[:, 0]
    pace = 1 / np.sqrt(to_numpy(problem.eigenvalues)[:, -1:])
    step = pace * _ROUNDS / _STEPS
    change, velocity = np.zeros_like(labels), np.zeros_like(labels)
    seen = [change]
    for _ in range(_STEPS):
        predictions = start + np.einsum("bij,bj->bi", gram, change)
        pull = np.where(predictions >= 0, predictions - labels, 0.0)
        velocity = (1 - INERTIA * step / pace) * velocity - step * pull
        change = change + step * velocity
        seen.append(change)
    paths = np.stack(seen, axis=1)[:, ::20]
    sure = np.ones(problem.batch, dtype=bool)
    return Followed(tuple(paths), sure, np.zeros(problem.batch), ("",) * problem.batch)


_OF_A_STEP = ("speed", "c")

DEFAULTS: Mapping[str, Any] = {
    name: value for name, value in setting.DEFAULTS.items() if name not in _OF_A_STEP
}

CELLS = (
    Point(n=4, d_over_n=3.0),
    Point(n=5, d_over_n=3.0, start="random_sign", spectrum="spiked:10x1"),
)

NEGATIVE = (Point(n=3, d_over_n=3.0, positives=0.3, others="negative", start="random_sign"),)

AXES = tuple(
    replace(axis, high=6.0) if axis.name == "n" else axis
    for axis in setting.AXES
    if axis.name not in _OF_A_STEP
)
"""Those of `setting`, for fewer examples: what a flow costs grows with their number."""

theorem = Theorem(
    id="vardi_shamir2021.theorem8_flow",
    title="One ReLU neuron: the flow ends at most twice as far away as the nearest zero-loss point",
    citation=f"{setting.CITATION}; Theorem 8.",
    status=Status.READ,
    statement=(
        "A single neuron with φ'(0) = 1 and data that it can fit, no label negative: if gradient "
        "flow converges to w_∞ of zero loss, ‖w_∞ − w_0‖ ≤ 2‖w̃ − w_0‖ with w̃ the zero-loss point "
        "nearest to w_0, and along the way ‖w(t) − w̃‖ never increases."
    ),
    method=(
        "The flow is exact from event to event, and its limit one solve once no event is left. It "
        f"is looked at {PER_REGIME} times between two events. w̃ comes from block pivoting."
    ),
    symbols={
        **{name: setting.SYMBOLS[name] for name in ("φ", "G", "w̃")},
        "w_0, w_∞": "the starting weights and the limit of the flow; w(t) those at time t",
    },
    defaults=DEFAULTS,
    axes=AXES,
    wide_axes=tuple(axis for axis in setting.WIDE_AXES if axis.name not in _OF_A_STEP),
    hypotheses=GIVEN,
    cells=CELLS,
    draw=setting.draw,
    simulate=follow,
    references={"nearest": setting.nearest},
    describe=setting.describe,
    measures=(
        Quantiles(
            distance_of_the_flow_over_the_nearest,
            given=GIVEN,
            levels=(0.05, 0.5, 0.95),
            axis="‖w_∞ − w_0‖/‖w̃ − w_0‖",
            status=Status.DERIVED,
        ),
    ),
    claims=(
        Universal(flow_at_most_doubles_the_distance, given=GIVEN),
        Universal(flow_never_leads_away, given=ALONG_THE_WAY),
        Universal(
            flow_never_leads_away_with_negative_labels,
            given=(REGULAR,),
            at=NEGATIVE,
            status=Status.DERIVED,
        ),
    ),
    controls=(
        Control(
            Universal(flow_ends_at_the_nearest, given=GIVEN, at=(CELLS[1],), status=Status.FALSE),
            because="the ReLU is not strictly monotone, as Theorem 1 needs: what the flow "
            "gained on an example of label 0 while that was active stays",
        ),
        Control(
            Universal(
                flow_never_leads_away,
                given=ALONG_THE_WAY,
                at=(CELLS[0],),
                status=Status.FALSE,
                name="broken_dynamics_with_inertia",
            ),
            because="a neuron that keeps its momentum runs past the zero-loss point",
            simulate=with_inertia,
        ),
    ),
)
