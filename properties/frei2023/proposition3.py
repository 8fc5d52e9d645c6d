"""Proposition 3 of Frei, Vardi, Bartlett and Srebro (COLT 2023): the maximum margin of nearly
orthogonal data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from properties.frei2023 import setting
from properties.frei2023.setting import p_of
from properties.lai2026.setting import place
from verify.arrays import to_numpy
from verify.claims import Assumption, Control, Status, Universal
from verify.explicit import Explicit, Field
from verify.margin import Margin
from verify.measures import Frequency, Quantiles
from verify.relu.dynamics.margin import LinearMargin, linear_margin, near_orthogonality
from verify.relu.effective_dimensions import solve_error
from verify.relu.linear import minimum_norm_interpolant
from verify.relu.problem import Problem
from verify.space import Axis, Point
from verify.theorem import Theorem
from verify.tolerances import IDENTITY, KKT
from verify.trial import Trial

Host = np.ndarray[Any, Any]

LEAST_P = 3.0

DEFAULTS: Mapping[str, Any] = setting.DEFAULTS

_STEPS = 1_000
"""Passes of the perceptron over the data; nearly orthogonal data take it two or three."""


def separate(problem: Problem) -> LinearMargin:
    """Return the linear classifiers of least norm with margin 1."""
    return linear_margin(problem.gram, problem.labels)


def interpolant(problem: Problem, _found: LinearMargin) -> Host:
    """Return the coefficients s of the w of least norm with w·x_i = y_i, (B, n)."""
    duals = to_numpy(minimum_norm_interpolant(problem))
    return np.asarray(to_numpy(problem.labels) * duals)


def margins(problem: Problem, found: LinearMargin) -> Host:
    """Return y_i w·x_i, (B, n), recomputed from the coefficients."""
    labels = to_numpy(problem.labels)
    duals = labels * to_numpy(found.coefficients)
    return np.asarray(labels * np.einsum("bij,bj->bi", to_numpy(problem.gram), duals))


def _solved(margin: Margin, found: LinearMargin) -> Margin:
    """Return the margin, undecided where the program's optimality conditions are not met."""
    return margin.undecided_where(~(to_numpy(found.kkt).max(axis=-1) <= KKT))


# Assumptions and claims.


def data_are_p_orthogonal(trial: Trial) -> Margin:
    """The data are p-orthogonal with p ≥ 3: min‖x_i‖² ≥ 3R²·n·max_{i≠j}|x_i·x_j|."""
    return setting.at_least(p_of(trial.problem.gram), LEAST_P)


P_ORTHOGONAL = Assumption(data_are_p_orthogonal, Status.READ, axes=("aspect", "d", "lengths"))
GIVEN = (P_ORTHOGONAL,)


def every_coefficient_is_positive(trial: Trial) -> Margin:
    """The maximum-margin w is Σ_i s_i y_i x_i with every s_i > 0."""
    found: LinearMargin = trial.run
    s = to_numpy(found.coefficients)
    beyond = margins(trial.problem, found) - 1
    # An example without a coefficient is as far from having one as it lies beyond the margin.
    share = np.where(s > 0, s / s.max(axis=-1, keepdims=True), -np.maximum(beyond, IDENTITY))
    return _solved(Margin(0.0, share.min(axis=-1), rounding=solve_error(trial.problem)), found)


def coefficient_ratio_is_bounded(trial: Trial) -> Margin:
    """The coefficients are alike: max s_i/min s_i ≤ R²(1 + 2/(pR² − 2)), to 1e-10."""
    return _ratio_at_most(trial, to_numpy(near_orthogonality(trial.problem.gram).ratio_bound))


def _ratio_at_most(trial: Trial, bound: Host) -> Margin:
    error = 2 * solve_error(trial.problem)
    margin = setting.ratio_at_most(to_numpy(trial.run.ratio), bound, error)
    return _solved(margin, trial.run).unstated_where(margin.unstated)


def every_example_is_a_support_vector(trial: Trial) -> Margin:
    """Every example lies on the margin: y_i w·x_i = 1, recomputed, and w is the interpolant of the
    labels of least norm, whose coefficients are one solve; both to 1e-10."""
    found: LinearMargin = trial.run
    s, other = to_numpy(found.coefficients), trial.reference("interpolant")
    size = np.abs(other).max(axis=-1)
    error = 2 * solve_error(trial.problem) / IDENTITY
    apart = np.abs(s - other).max(axis=-1)
    on_margin = np.abs(margins(trial.problem, found) - 1).max(axis=-1)
    return Margin.worst(
        Margin(on_margin, IDENTITY, IDENTITY, error),
        Margin(apart, IDENTITY * size, IDENTITY * size, error),
    )


# Measures.


def ratio_over_its_bound(trial: Trial) -> Host:
    """max s_i/min s_i over its bound R²(1 + 2/(pR² − 2)); no number where there is no bound."""
    bound = to_numpy(near_orthogonality(trial.problem.gram).ratio_bound)
    return setting.ratio_over(to_numpy(trial.run.ratio), bound)


# False statements, for the controls.


def every_coefficient_is_positive_whatever_p(trial: Trial) -> Margin:
    """The maximum-margin w has every s_i > 0, whatever p is."""
    return every_coefficient_is_positive(trial)


def ratio_is_at_most_the_spread(trial: Trial) -> Margin:
    """The coefficients differ no more than the squared lengths: max s_i/min s_i ≤ R²."""
    return _ratio_at_most(trial, to_numpy(near_orthogonality(trial.problem.gram).spread))


def perceptron(problem: Problem) -> LinearMargin:
    """Run the perceptron until it errs no more, and scale its w to a margin of 1: a classifier,
    but not that of most margin. It reports itself optimal, as a solver with a mistake would."""
    labels = to_numpy(problem.labels)
    signed = labels[:, :, None] * to_numpy(problem.gram) * labels[:, None, :]
    s = np.zeros_like(labels)
    for _ in range(_STEPS):
        before = s.copy()
        for i in range(problem.examples):
            s[:, i] += np.einsum("bj,bj->b", signed[:, i], s) <= 0
        if (s == before).all():
            break
    least = np.einsum("bij,bj->bi", signed, s).min(axis=-1)
    s = s / least[:, None]
    square = np.einsum("bi,bij,bj->b", s, signed, s)
    return LinearMargin(s, np.zeros((problem.batch, 4)), 1 / np.sqrt(square))


def describe(problem: Problem, index: int) -> dict[str, Any]:
    """Return what a person needs to recognise one problem."""
    one = problem.select(np.asarray([index]))
    known, found = near_orthogonality(one.gram), separate(one)
    return {
        "examples": one.examples,
        "p": float(to_numpy(known.p)[0]),
        "spread": float(to_numpy(known.spread)[0]),
        "ratio_bound": float(to_numpy(known.ratio_bound)[0]),
        "coefficients": to_numpy(found.coefficients)[0],
        "labels": to_numpy(one.labels)[0],
        "gram": to_numpy(one.gram)[0],
    }


def _build(values: Mapping[str, Any]) -> Problem:
    rows = np.concatenate([values["diagonal"] * np.eye(values["n"]), values["block"]], axis=1)
    return setting.problem_of((rows @ rows.T)[None], np.sign(values["labels"])[None])


EXPLICIT = Explicit(
    sizes={"n": (1, 5), "k": (1, 3)},
    fields={
        "diagonal": Field(1, 40),
        "block": Field(-3, 3, shape=("n", "k")),
        "labels": Field(-1, 1, shape=("n",), nonzero=True, symbol="y"),
    },
    build=_build,
)
"""Features X = [K·I | a block of small integers], labels ±1."""

CELLS = (
    Point(n=4, aspect=100),
    Point(n=10, aspect=300),
    Point(n=10, aspect=1e4, lengths=1.5),
    Point(n=30, aspect=1e3, positives=0.1),
    Point(n=10, aspect=1e4, spectrum="spiked:10x1"),
)

FAR = Point(n=20, d=25)
"""Data that are far from orthogonal."""

ALONG = tuple(Point(n=n, aspect=10.0**k) for n in (5, 20) for k in (-1, -0.5, 0, 1, 2, 3, 5))

theorem = Theorem(
    id="frei2023.proposition3",
    title="Nearly orthogonal data: the maximum margin leans on every example alike",
    citation=f"{setting.CITATION}; Proposition 3.",
    status=Status.READ,
    statement=(
        "If the data are p-orthogonal with p ≥ 3, min‖x_i‖² ≥ p·R²·n·max_{i≠j}|x_i·x_j|, the "
        "linear classifier of maximum margin is w = Σ_i s_i y_i x_i with every s_i > 0, and max "
        "s_i/min s_i ≤ R²(1 + 2/(pR² − 2))."
    ),
    method=(
        "The program min ‖w‖² with y_i w·x_i ≥ 1 is solved by block pivoting; margins are "
        "recomputed from the coefficients, and w is compared with the interpolant of the labels."
    ),
    symbols={**setting.SYMBOLS, "w": "the w of least norm with y_i w·x_i ≥ 1 for all i"},
    defaults=DEFAULTS,
    axes=(
        Axis("n", 1, 20, "integer", meaning="examples"),
        setting.ASPECT,
        setting.LENGTHS,
        setting.SPECTRUM.within,
        setting.POSITIVES,
    ),
    wide_axes=(
        Axis("n", 1, 100, "integer", inside=(1, 20), meaning="examples"),
        Axis("aspect", 0.1, 1e8, "log", simplest=1e3, inside=(30.0, 1e6), meaning="d/n²"),
        Axis("d", 128, 1e10, "log", instead_of="aspect", meaning="features"),
        Axis("lengths", 1.0, 10.0, inside=(1.0, 2.0), meaning=setting.LENGTHS.meaning),
        setting.SPECTRUM,
        setting.POSITIVES,
    ),
    hypotheses=GIVEN,
    cells=CELLS,
    draw=setting.draw_data,
    simulate=separate,
    references={"interpolant": interpolant},
    place=place,
    describe=describe,
    explicit=EXPLICIT,
    small=EXPLICIT,
    claims=(
        Universal(every_coefficient_is_positive, given=GIVEN),
        Universal(coefficient_ratio_is_bounded, given=GIVEN),
        Universal(
            every_example_is_a_support_vector,
            given=GIVEN,
            status=Status.DERIVED,
            rests_on=("every_coefficient_is_positive",),
        ),
    ),
    controls=(
        Control(
            Universal(every_coefficient_is_positive_whatever_p, at=(FAR,), status=Status.FALSE),
            because="with p far below 3 examples lie beyond the margin, and do not hold w up",
        ),
        Control(
            Universal(ratio_is_at_most_the_spread, given=GIVEN, at=CELLS[:2], status=Status.FALSE),
            because="inner products that are not zero make coefficients differ more than lengths",
        ),
        Control(
            Universal(
                every_example_is_a_support_vector,
                given=GIVEN,
                at=(CELLS[1],),
                status=Status.FALSE,
                name="broken_dynamics_perceptron",
            ),
            because="the perceptron stops at whatever separates the data first",
            simulate=perceptron,
        ),
    ),
    measures=(
        Quantiles(
            ratio_over_its_bound,
            given=GIVEN,
            at=ALONG,
            against=setting.orthogonality,
            by="n",
            levels=(0.05, 0.5, 0.95),
            axis="max s/min s over its bound",
            name="coefficient_ratio",
        ),
        Frequency(
            every_coefficient_is_positive,
            at=ALONG,
            against=setting.orthogonality,
            by="n",
            levels=(0.5,),
            axis="frequency of all s_i > 0",
            name="positive_by_p",
        ),
    ),
)
