"""Theorem 8 of Vardi and Shamir (COLT 2021), for gradient descent: at most twice the distance."""

from __future__ import annotations

from typing import Any

import numpy as np

from properties import broken_solvers
from properties.lai2026.setting import place
from properties.vardi_shamir2021 import setting
from properties.vardi_shamir2021.exact import THEOREM8
from properties.vardi_shamir2021.setting import (
    AT_REST,
    NONNEGATIVE,
    REGULAR,
    SHORT_STEP,
    ZERO_LOSS,
)
from properties.vardi_shamir2021.witnesses import (
    certain,
    error_of_limit,
    in_span,
    known_limit,
    left_of_walk,
    moved,
    unit_of,
    unless_cut_short,
)
from verify.arrays import to_numpy
from verify.claims import Control, Status, Universal
from verify.margin import Margin
from verify.measures import Frequency, Quantiles
from verify.relu.approach import Approach
from verify.relu.descent import Run
from verify.relu.effective_dimensions import solve_error
from verify.relu.nearest_minimum import NearestMinimum, nearness_residuals
from verify.relu.problem import Problem
from verify.space import Point
from verify.theorem import Theorem
from verify.tolerances import IDENTITY, KKT, MONOTONE
from verify.trial import Trial

Host = np.ndarray[Any, Any]

GIVEN = (NONNEGATIVE, REGULAR, SHORT_STEP, AT_REST)

ALL_ACTIVE = Point(n=8, d=200, speed=1.5, positives=1.0, start="positive", start_scale=0.01)
"""Every label positive, and every example active at the start."""

MANY_NEGATIVES = (
    Point(
        n=40,
        d=16_000,
        c=0.5,
        positives=0.025,
        others="negative",
        start="positive",
        start_scale=0.01,
    ),
)
"""One positive label and 39 negative ones, outside the theorem's scope."""

FROM_ZERO = Point(n=8, d=200, speed=1.5, positives=1.0)
"""From w_0 = 0, where φ'(0) = 1 alone makes a neuron move."""

NEARLY_TWICE = (Point(n=8, d=80_000, speed=1.999, positives=0.0, start="positive"),)
"""Every label 0 and every example active on data that are nearly orthogonal: one step leads across
the kink on each, to nearly twice the distance. At ηλ_max = 2 itself rounding leaves the scope open.
"""

_APPLYING_THE_STEP_TWICE = tuple(each for each in broken_solvers.ALL if each[0] == "steps_twice")
"""The others of those solvers lead no further away, or to nowhere near twice the distance."""

_APART = 1e-6
"""‖w_∞ − w̃‖/‖w̃ − w_0‖ up to which w_∞ counts as w̃."""

CELLS = (
    Point(n=8, d=24, speed=1.5),
    Point(n=8, d=24, speed=1.9, start="random_sign"),
    Point(n=10, d=100, speed=1.5, start="random_sign", spectrum="spiked:10x1"),
    Point(n=20, d=400, speed=1.5, positives=1.0, start="positive", start_scale=0.01),
    Point(n=12, d=12_000, speed=1.0, positives=0.25, start="random_sign", start_scale=3.0),
    *NEARLY_TWICE,
)


def distance_at_most_doubles(trial: Trial) -> Margin:
    """The limit is at most twice as far from the start as the nearest zero-loss point w̃:
    ‖w_∞ − w_0‖ ≤ 2‖w̃ − w_0‖."""
    return distance_is_at_most(trial, 2)


def distance_is_at_most(trial: Trial, factor: float) -> Margin:
    """Return the margin of: ‖w_∞ − w_0‖ ≤ factor·‖w̃ − w_0‖."""
    best: NearestMinimum = trial.reference("nearest")
    plain: Approach = trial.reference("walk")
    far, unit = to_numpy(best.distance), unit_of(best)

    def at_most(travelled: Host) -> Margin:
        error = solve_error(trial.problem) * (travelled + factor * far) / unit
        return Margin(travelled, factor * far, unit, error + error_of_limit(trial) / unit)

    by_run = np.where(trial.run.certified, in_span(trial, moved(trial)), -np.inf)
    margin = Margin.worst(
        at_most(plain.travelled).undecided_where(~plain.settled),
        known_limit(at_most, by_run),
    )
    return certain(trial, margin)


def distance_never_increases(trial: Trial) -> Margin:
    """No step leads away from the nearest zero-loss point: ‖w(t) − w̃‖ never increases, beyond
    1e-12 of ‖w_0 − w̃‖, and w_∞ is no further from w̃ than w_0."""
    best: NearestMinimum = trial.reference("nearest")
    plain: Approach = trial.reference("walk")
    far, unit = to_numpy(best.distance), unit_of(best)
    increase = np.where(plain.steps > 0, plain.increase, 0.0)
    by_step = Margin(increase, MONOTONE * far, unit, plain.increase_rounding / unit)

    def no_further(left: Host) -> Margin:
        error = (solve_error(trial.problem) * (left + far) + error_of_limit(trial)) / unit
        return Margin(left, (1 + IDENTITY) * far, unit, error)

    left = in_span(trial, moved(trial) - best.change[:, None, :])
    by_run = known_limit(no_further, np.where(trial.run.certified, left, -np.inf))
    margin = Margin.worst(unless_cut_short(trial, by_step), by_run)
    return certain(trial, margin, plain.first_increase)


def distance_falls_with_the_loss(trial: Trial) -> Margin:
    """Each step lowers ‖w(t) − w̃‖² by η(2 − ηλ_max)‖r_D‖² at least, beyond rounding (1e-10 of
    ‖w_0 − w̃‖²)."""
    best: NearestMinimum = trial.reference("nearest")
    plain: Approach = trial.reference("walk")
    square = to_numpy(best.distance) ** 2
    unit = np.where(square > 0, square, 1.0)
    excess = np.where(plain.steps > 0, plain.excess, 0.0)
    margin = Margin(excess, IDENTITY * square, unit, plain.excess_rounding / unit)
    return certain(trial, unless_cut_short(trial, margin))


def nearest_minimum_is_optimal(trial: Trial) -> Margin:
    """w̃ satisfies the optimality conditions of the global minimum nearest to w_0: all four relative
    KKT residuals, recomputed from the problem, are at most 1e-10."""
    best: NearestMinimum = trial.reference("nearest")
    residuals = to_numpy(nearness_residuals(trial.problem, best.change))
    return Margin(residuals.max(axis=-1), KKT, KKT, solve_error(trial.problem) / KKT)


def plain_steps_end_where_the_run_does(trial: Trial) -> Margin:
    """Plain steps, whose distances are looked at, end where a certified run does, which shares no
    code with them: to 1e-6 of ‖w̃ − w_0‖."""
    plain: Approach = trial.reference("walk")
    run: Run = trial.run
    best: NearestMinimum = trial.reference("nearest")
    unit = unit_of(best)
    apart = in_span(trial, moved(trial) - plain.change[:, None, :])
    error = error_of_limit(trial) + left_of_walk(trial.problem)
    margin = Margin(apart, _APART * unit, unit, error / unit)
    known = run.certified & (run.near_ties == 0) & plain.settled & best.certified
    return margin.undecided_where(~known)


def distance_over_the_nearest(trial: Trial) -> Host:
    """‖w_∞ − w_0‖/‖w̃ − w_0‖ of the runs that end at zero loss, between 1 and 2. Others, which leave
    an example of positive label inactive, may end nearer than w̃."""
    best: NearestMinimum = trial.reference("nearest")
    plain: Approach = trial.reference("walk")
    far = to_numpy(best.distance)
    known = plain.settled & best.certified & (far > 0)
    return np.where(known, plain.travelled / np.where(known, far, 1.0), np.nan)


def never_leads_away(trial: Trial) -> Margin:
    """‖w(t) − w̃‖ never increases, whatever the step is: beyond ηλ_max = 2, where all labels are
    positive and every example starts active, in few draws."""
    return distance_never_increases(trial)


def distance_with_negative_labels(trial: Trial) -> Host:
    """‖w_∞ − w_0‖/‖w̃ − w_0‖ with negative labels, which the theorem says nothing of: w̃ is then the
    global minimum nearest to w_0, and the ratio above 2."""
    return distance_over_the_nearest(trial)


def speed(trial: Trial) -> Host:
    """ηλ_max(G)."""
    problem: Problem = trial.problem
    return np.asarray(to_numpy(problem.step_size) * to_numpy(problem.eigenvalues)[:, -1])


# False statements, for the controls.


def at_most_doubles_with_negative_labels(trial: Trial) -> Margin:
    """The limit is at most twice as far from the start as the nearest global minimum also where
    labels are negative."""
    return distance_at_most_doubles(trial)


def distance_is_less_than_doubled(trial: Trial) -> Margin:
    """The limit is at most 1.9 times as far from the start as the nearest zero-loss point."""
    return distance_is_at_most(trial, 1.9)


def never_increases_at_a_longer_step(trial: Trial) -> Margin:
    """No step leads away from the nearest zero-loss point also at η = 2.2/λ_max."""
    return distance_never_increases(trial)


def limit_is_the_nearest_minimum(trial: Trial) -> Margin:
    """The limit w_∞, if its loss is 0, is the zero-loss point w̃ nearest to the start."""
    best: NearestMinimum = trial.reference("nearest")
    plain: Approach = trial.reference("walk")
    margin = Margin(plain.left, _APART * to_numpy(best.distance), unit_of(best))
    return certain(trial, margin.undecided_where(~plain.settled))


theorem = Theorem(
    id="vardi_shamir2021.theorem8",
    title="One ReLU neuron: descent ends at most twice as far away as the nearest zero-loss point",
    citation=f"{setting.CITATION}; Theorem 8, and its form for gradient descent (ours).",
    status=Status.READ,
    statement=(
        "A single neuron with φ'(0) = 1 and data that it can fit, no label negative: if the limit "
        "w_∞ exists, ‖w_∞ − w_0‖ ≤ 2‖w̃ − w_0‖ with w̃ the zero-loss point nearest to w_0, and along "
        "the way ‖w(t) − w̃‖ never increases. The source says so of gradient flow; of gradient "
        "descent with η ≤ 2/λ_max(G) it is derived here, and that is what is checked."
    ),
    method=(
        "w̃ comes from block pivoting, with its optimality conditions recomputed. Every step of "
        "plain gradient descent is looked at until the residuals of the active examples are 1e-13 "
        "of labels and start, and the limit of a certified run besides, which shares no code with "
        "it. Examples of label 0 that stay active fall to 0, where rounding leaves no certificate: "
        "there the plain steps alone decide."
    ),
    symbols=setting.SYMBOLS,
    defaults=setting.DEFAULTS,
    axes=setting.AXES,
    wide_axes=setting.WIDE_AXES,
    hypotheses=GIVEN,
    cells=CELLS,
    draw=setting.draw,
    simulate=setting.run_to_the_limit,
    references={"nearest": setting.nearest, "walk": setting.walk},
    explicit=setting.EXPLICIT,
    small=setting.SMALL,
    exact=THEOREM8,
    first_departure=setting.first_departure,
    place=place,
    describe=setting.describe,
    measures=(
        Quantiles(
            distance_over_the_nearest,
            given=(*GIVEN, ZERO_LOSS),
            levels=(0.05, 0.5, 0.95),
            axis="‖w_∞ − w_0‖/‖w̃ − w_0‖",
            status=Status.DERIVED,
        ),
        Quantiles(
            distance_with_negative_labels,
            given=(REGULAR, SHORT_STEP, AT_REST),
            at=MANY_NEGATIVES,
            levels=(0.05, 0.5, 0.95),
            axis="‖w_∞ − w_0‖/‖w̃ − w_0‖",
            status=Status.DERIVED,
        ),
        Frequency(
            never_leads_away,
            given=(NONNEGATIVE, REGULAR),
            at=tuple(ALL_ACTIVE.moved(speed=speed) for speed in (1.5, 1.9, 2.2)),
            against=speed,
            axis="‖w(t) − w̃‖ never increases",
            status=Status.DERIVED,
        ),
    ),
    claims=(
        Universal(distance_at_most_doubles, given=GIVEN, status=Status.DERIVED),
        Universal(
            distance_never_increases,
            given=(NONNEGATIVE, REGULAR, SHORT_STEP),
            status=Status.DERIVED,
        ),
        Universal(
            distance_falls_with_the_loss, given=(NONNEGATIVE, REGULAR), status=Status.DERIVED
        ),
        Universal(nearest_minimum_is_optimal, given=(REGULAR,), status=Status.DERIVED),
        Universal(
            plain_steps_end_where_the_run_does,
            given=GIVEN,
            at=(CELLS[3], FROM_ZERO),
            status=Status.DERIVED,
        ),
    ),
    controls=(
        Control(
            Universal(
                at_most_doubles_with_negative_labels,
                given=(REGULAR, SHORT_STEP, AT_REST),
                at=MANY_NEGATIVES,
                status=Status.FALSE,
            ),
            because="no zero-loss point exists: the first step answers every negative label, and "
            "what that leaves on examples that are inactive from then on never moves again",
        ),
        Control(
            Universal(
                distance_is_less_than_doubled, given=GIVEN, at=NEARLY_TWICE, status=Status.FALSE
            ),
            because="where every label is 0 and every example active, one step of nearly 2/λ_max "
            "leads across the kink on each, nearly as far beyond w̃ as it was before",
        ),
        Control(
            Universal(
                never_increases_at_a_longer_step,
                given=(NONNEGATIVE, REGULAR),
                at=(ALL_ACTIVE.moved(speed=2.2),),
                status=Status.FALSE,
            ),
            because="along the leading eigenvector of G each step goes beyond the minimum by more "
            "than it was away from it",
        ),
        Control(
            Universal(
                limit_is_the_nearest_minimum,
                given=(*GIVEN, ZERO_LOSS),
                at=(CELLS[1],),
                status=Status.FALSE,
            ),
            because="the ReLU is not strictly monotone, as Theorem 1 needs: what descent gained on "
            "an example of label 0 while that was active stays",
        ),
        *broken_solvers.controls(
            distance_never_increases, GIVEN, (ALL_ACTIVE,), _APPLYING_THE_STEP_TWICE
        ),
    ),
)
