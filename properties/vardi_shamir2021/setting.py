"""What theorems of Vardi and Shamir (COLT 2021) on one neuron share: problems and assumptions.

Coordinates of a point (defaults in `DEFAULTS`): n examples; d features, or d_over_n; speed =
ηλ_max(G), or c = η‖λ‖₁ in its place; spectrum as `Spectrum.named` reads it, of Gaussian features;
positives, the share of positive labels, uniform in [y_min, 1], and what the others are: "zero", or
"negative", of the same size; start, the kind, with predictions up to start_scale (from a tenth of
it, for "positive"). All dimensionless. φ'(0) = 1 throughout.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from properties.lai2026.setting import gram_is_regular, label_scale, step_of
from verify.arrays import array_namespace, device, to_numpy
from verify.claims import Assumption, Status
from verify.errors import InputError, UnknownName
from verify.explicit import Explicit, Field
from verify.margin import Margin
from verify.relu.approach import Approach, approach
from verify.relu.descent import Run, descend
from verify.relu.ensemble import Ensemble, Labels, Start
from verify.relu.nearest_minimum import NearestMinimum, nearest_minimum
from verify.relu.problem import Problem
from verify.relu.spectra import Spectrum
from verify.space import Axis, Point
from verify.tolerances import IDENTITY, REGULAR_ABOVE
from verify.trial import Trial

CITATION = (
    "Vardi, Shamir: Implicit Regularization in ReLU Networks with the Square Loss. COLT 2021, "
    "PMLR 134; arXiv 2012.05156"
)

DEFAULTS: Mapping[str, Any] = {
    "speed": 1.0,
    "spectrum": "isotropic",
    "positives": 0.5,
    "others": "zero",
    "y_min": 0.5,
    "start": "zero",
    "start_scale": 1.0,
}

OTHERS = ("zero", "negative")

SYMBOLS: Mapping[str, str] = {
    "φ": "the activation φ(z) = max(z, 0) of the model f(x) = φ(w·x), with φ'(0) = 1",
    "η": "step size of full-batch gradient descent on the loss ½ Σ_i (f(x_i) − y_i)²",
    "G": "XXᵀ, the (n, n) Gram matrix of the features, of largest eigenvalue λ_max",
    "w_0, w_∞": "the starting weights and the limit of descent; w(t) those after t steps",
    "w̃": "the global minimum nearest to w_0: it interpolates the positive labels and predicts 0 on "
    "the others, so its loss is 0 where no label is negative",
    "D, r_D": "the active examples, w·x_i ≥ 0, and the residuals f(x_i) − y_i there",
}

AXES = (
    Axis("n", 1, 12, "integer", meaning="examples"),
    Axis("d_over_n", 2.0, 1e3, "log", simplest=10.0, meaning="d/n"),
    Axis("speed", 0.5, 1.9, simplest=1.0, meaning="step size ηλ_max(G)"),
    Axis(
        "spectrum",
        scale="choice",
        choices=("isotropic", "spiked:10x1", "spiked:100x1", "power:1"),
        meaning="eigenvalues of the features' covariance",
    ),
    Axis("positives", 0.0, 1.0, simplest=0.5, meaning="share of positive labels, others are 0"),
    Axis("y_min", 0.01, 1.0, "log", simplest=1.0, meaning="least positive label (largest is 1)"),
    Axis(
        "start",
        scale="choice",
        choices=("zero", "positive", "random_sign"),
        meaning="kind of start",
    ),
    Axis("start_scale", 1e-3, 10.0, "log", simplest=1.0, meaning="largest starting prediction"),
)

WIDE_AXES = (
    Axis("n", 1, 200, "integer", inside=(1, 12), meaning="examples"),
    Axis("d_over_n", 0.5, 1e4, "log", simplest=10.0, inside=(2.0, 1e3), meaning="d/n"),
    Axis("d", 2, 1e6, "log", instead_of="d_over_n", meaning="features"),
    Axis("speed", 0.05, 8.0, "log", simplest=1.0, inside=(0.5, 1.9), meaning="step ηλ_max(G)"),
    Axis("c", 1e-3, 4.0, "log", simplest=0.5, instead_of="speed", meaning="step size η‖λ‖₁"),
    *(axis for axis in AXES if axis.name not in ("n", "d_over_n", "speed")),
    Axis(
        "others",
        scale="choice",
        choices=OTHERS,
        inside=("zero",),
        meaning="labels that are not positive",
    ),
)
"""Whatever can be moved, beyond what the theorem assumes."""


def draw(point: Point, generator: np.random.Generator, trials: int) -> Problem:
    """Draw i.i.d. problems of one neuron at a point."""
    at = {**DEFAULTS, **point}
    n, scale = int(point["n"]), at["start_scale"]
    d = float(at["d"]) if "d" in at else _dimension(point["d_over_n"], n)
    others, speed = one_of("others", at["others"], OTHERS), positive("speed", at["speed"])
    problem = Ensemble(
        examples=n,
        spectrum=Spectrum.named(at["spectrum"], d),
        labels=Labels(at["positives"], (at["y_min"], 1.0)),
        start=Start(at["start"], scale / 10, scale),
        relative_step=at.get("c", 1.0),
        slope_at_zero=1,
    ).draw(generator, trials)
    if others == "zero":
        problem = replace(problem, labels=np.maximum(problem.labels, 0.0))
    if "c" not in at:
        problem = replace(problem, step_size=speed / problem.eigenvalues[:, -1])
    return problem


def one_of(name: str, value: Any, known: Iterable[str]) -> str:
    """Return a coordinate that is one of the names `known`. Raises UnknownName for another."""
    if value not in (names := tuple(known)):
        raise UnknownName(f"{name}={value!r} is unknown: use one of {', '.join(names)}")
    return str(value)


def positive(name: str, value: Any) -> float:
    """Return a coordinate that is a positive number. Raises InputError for another."""
    if not isinstance(value, int | float) or not 0 < value < np.inf:
        raise InputError(f"{name}={value!r}, expected a positive number")
    return float(value)


def _dimension(ratio: float, examples: int) -> float:
    """Return d, whole: above n where the ratio is at least 1, and G is regular; else n at most."""
    return float(max(examples + 1 if ratio >= 1 else 1, round(ratio * examples)))


GIVEN_UP, RUN_GIVEN_UP = 1_000, 16
"""Steps after which a walk, and a run, is left undecided: certified runs take a few, and those
that keep examples of label 0 active would take as many as they are given."""


def run_to_the_limit(problem: Problem) -> Run:
    """Run gradient descent to its limit, for `RUN_GIVEN_UP` steps at most."""
    return descend(problem, RUN_GIVEN_UP)


def nearest(problem: Problem, _run: Any = None) -> NearestMinimum:
    """Return the global minima nearest to the starts; where the Gram matrix is not positive
    definite, and so out of scope, NaN and not certified."""
    low, high = (to_numpy(problem.eigenvalues)[:, end] for end in (0, -1))
    regular = low > REGULAR_ABOVE * high
    if regular.all():
        return nearest_minimum(problem)
    xp, place = array_namespace(problem.gram), device(problem.gram)
    change = np.full(tuple(problem.labels.shape), np.nan)
    kkt = np.full((problem.batch, 4), np.inf)
    predictions, distance = change.copy(), change[:, 0].copy()
    if regular.any():
        index = xp.asarray(np.flatnonzero(regular), device=place)
        known = nearest_minimum(problem.select(index))
        change[regular], predictions[regular] = to_numpy(known.change), to_numpy(known.predictions)
        distance[regular], kkt[regular] = to_numpy(known.distance), to_numpy(known.kkt)
    found = (xp.asarray(each, device=place) for each in (change, predictions, distance, kkt))
    return NearestMinimum(problem, *found)


def walk(problem: Problem, _run: Run) -> Approach:
    """Return plain gradient descent, and how far it is from the nearest minimum at each step."""
    return approach(nearest(problem), GIVEN_UP)


def first_departure(problem: Problem, index: int) -> int | None:
    """Return the first step, of 1000, that leads away from the global minimum nearest to the
    start; None if there is none."""
    one = problem.select(np.asarray([index]))
    return int(approach(nearest_minimum(one), GIVEN_UP).first_increase[0]) or None


def describe(problem: Problem, index: int) -> dict[str, Any]:
    """Return what a person needs to recognise one problem, and its data where they are small."""
    one = problem.select(np.asarray([index]))
    best, step = nearest_minimum(one), float(to_numpy(one.step_size)[0])
    facts: dict[str, Any] = {
        "examples": one.examples,
        "step_size": step,
        "step_times_largest_eigenvalue": step * float(to_numpy(one.eigenvalues)[0, -1]),
        "distance_to_the_nearest_minimum": float(to_numpy(best.distance)[0]),
        "distance_travelled": float(approach(best, GIVEN_UP).travelled[0]),
        "labels": to_numpy(one.labels)[0],
        "starting_predictions": to_numpy(one.starting_predictions)[0],
    }
    if one.features is not None:
        facts["features"] = to_numpy(one.features)[0]
    elif one.examples <= 64:
        facts["gram"] = to_numpy(one.gram)[0]
    return facts


def _build_explicit(values: Mapping[str, Any]) -> Problem:
    features = np.concatenate([values["diagonal"] * np.eye(values["n"]), values["block"]], axis=1)
    return _problem(features, values["labels"], values["start"], values["c"] / (features**2).sum())


def _build_small(values: Mapping[str, Any]) -> Problem:
    step = step_of(values["c"], values["features"])
    return _problem(values["features"], values["labels"], values["start"], step)


def _problem(features: Any, labels: Any, start: Any, step: Any) -> Problem:
    return Problem.from_features(
        features,
        labels,
        starting_predictions=start[None, :],
        step_size=step,
        slope_at_zero=1,
    )


EXPLICIT = Explicit(
    sizes={"n": (1, 5), "k": (1, 3)},
    fields={
        "diagonal": Field(1, 4),
        "block": Field(-3, 3, shape=("n", "k")),
        "labels": Field(0, 6, shape=("n",), symbol="y"),
        "start": Field(-8, 8, shape=("n",), denominator=4, symbol="β⁰"),
        "c": Field(4, 31, denominator=16),
    },
    build=_build_explicit,
)
"""Features X = [K·I | a block of small integers], labels ≥ 0, and η = c/‖X‖_F² < 2/λ_max(G)."""

SMALL = Explicit(
    sizes={"n": (1, 4), "d": (1, 5)},
    fields={
        "features": Field(-4, 4, shape=("n", "d"), symbol="X"),
        "labels": Field(-9, 9, shape=("n",), symbol="y"),
        "start": Field(-8, 8, ("n",), denominator=16, zero_last=True, symbol="β⁰"),
        "c": Field(1, 64, denominator=16),
    },
    build=_build_small,
)
"""The simplest problems, within the theorem's scope or not; η = c·n/‖X‖_F². A start at
the kink of the ReLU, where what descent does hinges on φ'(0), is the least simple one."""


# Assumptions.


def labels_are_nonnegative(trial: Trial) -> Margin:
    """No label is negative, so that zero loss can be reached."""
    problem: Problem = trial.problem
    return Margin(0.0, to_numpy(problem.labels).min(axis=-1) / label_scale(problem))


def step_is_at_most_two_over_lambda_max(trial: Trial) -> Margin:
    """The step is at most 2/λ_max(G): ηλ_max(G) ≤ 2."""
    largest = to_numpy(trial.problem.eigenvalues)[:, -1]
    return Margin(to_numpy(trial.problem.step_size) * largest, 2.0, rounding=1e-12)


def descent_comes_to_rest(trial: Trial) -> Margin:
    """Gradient descent comes to rest, so that w_∞ is known: its pattern is certified to be final,
    or the residuals of the active examples fall to 1e-13 of labels and start."""
    settled = trial.run.certified
    if not settled.all():
        settled = settled | trial.reference("walk").settled
    return Margin(1, settled.astype(int))


def loss_vanishes(trial: Trial) -> Margin:
    """The loss is 0 in the limit: every residual is at most 1e-10 of the largest label."""
    problem: Problem = trial.problem
    plain: Approach = trial.reference("walk")
    limit = problem.starting_predictions + plain.change[:, None, :] @ problem.gram
    misfit = np.abs(to_numpy(problem.output(limit) - problem.labels)).max(axis=-1)
    size = label_scale(problem)
    return Margin(misfit, IDENTITY * size, size).undecided_where(~plain.settled)


NONNEGATIVE = Assumption(labels_are_nonnegative, Status.READ, axes=("others",))
REGULAR = Assumption(gram_is_regular, Status.DERIVED, axes=("d_over_n",))
SHORT_STEP = Assumption(step_is_at_most_two_over_lambda_max, Status.DERIVED, axes=("speed",))
AT_REST = Assumption(descent_comes_to_rest, Status.READ, axes=("speed",))
ZERO_LOSS = Assumption(loss_vanishes, Status.READ, axes=("start",))
