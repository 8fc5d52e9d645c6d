"""What the theorems of Lai, Wang, Tao and Muthukumar (COLT 2026) share: problems and assumptions.

Coordinates of a point (defaults in `DEFAULTS`): n examples; d features, or d_over_n, or
aspect = d/n²; c = η‖λ‖₁, the relative step; spectrum and features as `Spectrum.named` and
`entry_law` read them, or in their place spectrum_exponent, spike_height and degrees_of_freedom;
positives, a fraction or "random"; labels in [y_min, y_max]; start, the kind, with predictions up
to start_high (from start_low, for "positive"), or start_scale, which is start_high and ten times
start_low; outside_span = ‖w_0^⊥‖ of each neuron. All dimensionless.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from verify.arrays import Backend, array_namespace, to_numpy
from verify.claims import Assumption, Status
from verify.explicit import Explicit, Field
from verify.margin import Margin
from verify.relu.certificate import certify_by_length, certify_by_rows
from verify.relu.descent import Run, descend, gradient_step, start
from verify.relu.effective_dimensions import (
    dimensions_of,
    freezing_probability,
    gram_deviation,
    regime_index,
    relative_step,
    solve_error,
)
from verify.relu.ensemble import Ensemble, Labels, Start
from verify.relu.gap import outside_span
from verify.relu.minimum_norm import MinimumNorm, minimum_norm
from verify.relu.plain import PlainRun, descend_plainly
from verify.relu.problem import Problem
from verify.relu.slopes import Slopes
from verify.relu.spectra import Spectrum
from verify.space import Axis, Point
from verify.tolerances import IDENTITY, REGULAR_ABOVE
from verify.trial import Trial

CITATION = (
    "Lai, Wang, Tao, Muthukumar: How Does the ReLU Activation Affect the Implicit Bias of Gradient "
    "Descent on High-dimensional Neural Network Regression? COLT 2026, PMLR 336; arXiv 2603.04895"
)

PAIR = (1, -1)
"""Output signs of the neurons w⊕ and w⊖."""

DEFAULTS: Mapping[str, Any] = {
    "c": 0.5,
    "spectrum": "isotropic",
    "features": "gaussian",
    "positives": 0.5,
    "y_min": 0.5,
    "y_max": 1.0,
    "start": "positive",
    "start_low": 1e-3,
    "start_high": 1e-2,
    "outside_span": 0.0,
}

SYMBOLS: Mapping[str, str] = {
    "f, φ": "the model f(x) = φ(w·x), φ(z) = max(z, 0), with φ'(0) = 0",
    "η": "step size of full-batch gradient descent on the loss ½ Σ_i (f(x_i) − y_i)²",
    "G": "XXᵀ, the (n, n) Gram matrix of the features",
    "S₊, S₋": "the examples of positive label, and the others; n₊, n₋ their numbers",
    "λ, τ": "eigenvalues of the features' covariance, and their sum τ = ‖λ‖₁",
    "d_2, d_∞": "effective dimensions ‖λ‖₁²/‖λ‖₂² and ‖λ‖₁/‖λ‖_∞ (both d if isotropic)",
    "c": "the relative step ητ",
    "w_0, β⁰": "starting weights and predictions β⁰ = Xw_0; w_0 = Xᵀα⁰ + w_0^⊥, X w_0^⊥ = 0",
    "w_∞, w⋆": "limit of gradient descent; global minimum of least ℓ2 norm, with duals α⋆",
    "H": "c² d_2 y_min² / (n log n (1 + c²) mean(y²)), an index of the regime: our heuristic",
}

PAIR_SYMBOLS: Mapping[str, str] = {
    **SYMBOLS,
    "f, φ": "the model f(x) = φ(w⊕·x) − φ(w⊖·x), φ(z) = max(z, 0), with φ'(0) = 0",
    "w⊕, w⊖": "the neurons of output sign +1 and −1; their label classes are S₊ and S₋",
    "w_0, β⁰": "starting weights and predictions β_k⁰ = Xw_k, for k = ⊕, ⊖; w_k = Xᵀα_k⁰ + w_k^⊥",
    "w_∞, w⋆": "limits of gradient descent; global minimum of least ‖w⊕‖² + ‖w⊖‖², with duals α⋆",
}

AXES = (
    Axis("n", 2, 12, "integer", meaning="examples"),
    Axis("aspect", 4.0, 1e4, "log", simplest=1e4, meaning="features over squared examples, d/n²"),
    Axis("c", 0.2, 1.2, simplest=0.5, meaning="relative step size η‖λ‖₁"),
    Axis(
        "spectrum",
        scale="choice",
        choices=("isotropic", "isotropic:4", "levels:4x0.5,1x0.5", "spiked:3x1"),
        meaning="eigenvalues of the features' covariance",
    ),
    Axis("positives", 0.1, 0.9, simplest=0.5, meaning="share of positive labels"),
    Axis("y_min", 0.2, 1.0, simplest=1.0, meaning="least |y| (the largest is 1)"),
    Axis("start_high", 1e-6, 1e-2, "log", meaning="largest starting prediction"),
)


WIDE_AXES = (
    Axis("n", 2, 2_000, "integer", inside=(2, 12), meaning="examples"),
    Axis("d_over_n", 1.05, 1e4, "log", simplest=5e3, inside=(5e3, 1e4), meaning="d/n"),
    Axis("d", 2, 10**7, "integer", instead_of="d_over_n", meaning="features"),
    Axis("c", 5e-3, 10.0, "log", simplest=0.5, inside=(0.25, 1.2), meaning="step size η‖λ‖₁"),
    Axis(
        "start",
        scale="choice",
        choices=("positive", "constant", "random_sign", "zero"),
        inside=("positive", "constant"),
        meaning="kind of start",
    ),
    Axis(
        "start_scale",
        1e-6,
        10.0,
        "log",
        inside=(1e-6, 0.02),
        overrides=("start_low", "start_high"),
        meaning="largest β⁰",
    ),
    Axis("y_min", 1e-4, 1.0, "log", simplest=1.0, inside=(0.5, 1.0), meaning="y_min/y_max"),
    Axis("positives", 0.0, 1.0, simplest=0.5, inside=(0.1, 0.9), meaning="fraction positive"),
    Axis(
        "spectrum",
        scale="choice",
        choices=(
            "isotropic",
            "isotropic:4",
            "levels:4x0.5,1x0.5",
            "spiked:3x1",
            "spiked:10000x1",
            "power:1",
            "power:2",
        ),
        inside=("isotropic", "isotropic:4", "levels:4x0.5,1x0.5", "spiked:3x1"),
        meaning="eigenvalues of the features' covariance",
    ),
    Axis(
        "spectrum_exponent",
        0.0,
        3.0,
        instead_of="spectrum",
        meaning="a, of eigenvalues λ_j = j^−a",
    ),
    Axis(
        "spike_height",
        1.0,
        1e6,
        "log",
        instead_of="spectrum",
        meaning="one eigenvalue, over the others",
    ),
    Axis(
        "features",
        scale="choice",
        choices=(
            "gaussian",
            "rademacher",
            "uniform",
            "student_t:8",
            "student_t:3",
            "student_t:2.1",
        ),
        inside=("gaussian", "rademacher", "uniform", "student_t:8"),
        meaning="law of the features' entries",
    ),
    Axis(
        "degrees_of_freedom",
        2.05,
        100.0,
        "log",
        simplest=100.0,
        instead_of="features",
        meaning="of Student's t, the law of the features' entries",
    ),
    Axis("outside_span", 0.0, 10.0, inside=(0.0, 0.0), meaning="‖w_0^⊥‖, outside the data span"),
)
"""Whatever can be moved, beyond what the theorems assume (`hypotheses`)."""

BIAS_WIDE_AXES = tuple(
    replace(axis, inside=(6, 10)) if axis.name == "n" else axis for axis in WIDE_AXES
)
"""The same for theorems 2 and 4, whose bands are stated with high probability over the data: with
two or three examples they hold less often, whatever d is."""


def ensemble_at(point: Point, signs: tuple[int, ...] = (1,)) -> Ensemble:
    """Return the law of problems at a point, with neurons of these output signs."""
    at = {**DEFAULTS, **point}
    n = int(at["n"])
    return Ensemble(
        examples=n,
        spectrum=Spectrum.named(_spectrum(at), _dimension(at, n)),
        entries=_features(at),
        labels=Labels(at["positives"], (at["y_min"], at["y_max"])),
        start=_start(at),
        relative_step=at["c"],
        signs=signs,
    )


def _dimension(at: Mapping[str, Any], n: int) -> float:
    """Return d, whole where it is given by a ratio or an axis of real numbers below 2⁵³."""
    if "d" in at:
        return float(at["d"])
    ratio = at["d_over_n"] * n if "d_over_n" in at else at["aspect"] * n * n
    return float(max(n + 1, round(ratio)))


def _spectrum(at: Mapping[str, Any]) -> str:
    if "spectrum_exponent" in at:
        return f"power:{at['spectrum_exponent']:g}" if at["spectrum_exponent"] else "isotropic"
    return f"spiked:{at['spike_height']:g}x1" if "spike_height" in at else str(at["spectrum"])


def _features(at: Mapping[str, Any]) -> str:
    if "degrees_of_freedom" in at:
        return f"student_t:{at['degrees_of_freedom']:g}"
    return str(at["features"])


def _start(at: Mapping[str, Any]) -> Start:
    if "start_scale" in at:
        return Start(at["start"], at["start_scale"] / 10, at["start_scale"])
    return Start(at["start"], min(at["start_low"], at["start_high"]), at["start_high"])


def draw(point: Point, generator: np.random.Generator, trials: int) -> Problem:
    """Draw i.i.d. problems of one neuron at a point."""
    return _draw(point, generator, trials, (1,))


def draw_pair(point: Point, generator: np.random.Generator, trials: int) -> Problem:
    """Draw i.i.d. problems of two neurons, of output signs +1 and −1, at a point."""
    return _draw(point, generator, trials, PAIR)


def _draw(
    point: Point, generator: np.random.Generator, trials: int, signs: tuple[int, ...]
) -> Problem:
    """Draw problems, with parts of the starts outside the span that are orthogonal."""
    problem = ensemble_at(point, signs).draw(generator, trials)
    size = float({**DEFAULTS, **point}["outside_span"])
    if not size:
        return problem
    outside = np.tile(size**2 * np.eye(len(signs)), (trials, 1, 1))
    return replace(problem, perpendicular_gram=outside)


GIVEN_UP = 1_000
"""Steps after which a run is left undecided where only its pattern matters: certified runs take a
few dozen, and one that chatters at a kink would take as many as it is given."""


def descend_to_a_pattern(problem: Problem) -> Run:
    """Run gradient descent until the pattern is certain, for `GIVEN_UP` steps at most."""
    return descend(problem, GIVEN_UP)


GIVEN_UP_LIMIT = 2_000
"""The same where limits matter: the slowest certified run of the theorems' cells takes 512 (n = 20,
c = .005)."""


def descend_to_a_limit(problem: Problem) -> Run:
    """Run gradient descent until its limit is certain, for `GIVEN_UP_LIMIT` steps at most."""
    return descend(problem, GIVEN_UP_LIMIT)


def place(problem: Problem, backend: Backend) -> Problem:
    """Move problems to an array backend."""
    return problem.to(backend)


def describe(problem: Problem, index: int) -> dict[str, Any]:
    """Return what a person needs to recognise one problem, and its data where they are small."""
    one = problem.select(np.asarray([index]))
    known = dimensions_of(one)
    facts: dict[str, Any] = {
        "examples": one.examples,
        "dimension": float(np.ravel(known.dimension)[0]),
        "d_2": float(np.ravel(known.d_2)[0]),
        "relative_step": float(relative_step(one)[0]),
        "step_size": float(to_numpy(one.step_size)[0]),
        "regime_index_H": float(regime_index(one)[0]),
        "gram_deviation": float(gram_deviation(one)[0]),
        "labels": to_numpy(one.labels)[0],
        "starting_predictions": to_numpy(one.starting_predictions)[0],
    }
    if (facts["starting_predictions"] > 0).all():
        facts["predicted_freezing_probability"] = float(freezing_probability(one)[0])
    if one.features is not None:
        facts["features"] = to_numpy(one.features)[0]
    elif one.examples <= 64:
        facts["gram"] = to_numpy(one.gram)[0]
    return facts


def _build_explicit(values: Mapping[str, Any]) -> Problem:
    n = values["n"]
    features = np.concatenate([values["diagonal"] * np.eye(n), values["block"]], axis=1)
    start = values["start"]
    return Problem.from_features(
        features,
        values["labels"],
        starting_predictions=start.reshape(-1, n),
        step_size=values["c"] / values["diagonal"] ** 2,
        signs=PAIR if start.ndim == 2 else (1,),
    )


def _explicit(neurons: tuple[str, ...], sizes: Mapping[str, tuple[int, int]]) -> Explicit:
    """Return features X = [K·I | a block of small integers], labels in quarters, c in sixteenths.

    neurons: the leading axes of the start.
    """
    return Explicit(
        sizes={"n": (2, 6), "k": (1, 3), **sizes},
        fields={
            "diagonal": Field(32, 96),
            "block": Field(-3, 3, shape=("n", "k")),
            "labels": Field(-4, 4, shape=("n",), denominator=4, nonzero=True, symbol="y"),
            "start": Field(1, 8, shape=(*neurons, "n"), denominator=1024, symbol="β⁰"),
            "c": Field(4, 16, denominator=16),
        },
        build=_build_explicit,
    )


EXPLICIT = _explicit((), {})
"""Small problems of one neuron."""


def _build_small(values: Mapping[str, Any]) -> Problem:
    features, start = values["features"], values["start"]
    return Problem.from_features(
        features,
        values["labels"],
        starting_predictions=start.reshape(-1, values["n"]),
        step_size=step_of(values["c"], features),
        signs=PAIR if start.ndim == 2 else (1,),
    )


def step_of(c: Any, features: Any) -> Any:
    """Return the step size η = c·n/‖X‖_F², so that c = η·tr(G)/n; η = c·n where X is zero."""
    return c * len(features) / max((features**2).sum(), 1)


def _small(neurons: tuple[str, ...], sizes: Mapping[str, tuple[int, int]]) -> Explicit:
    """Return features of small integers, integer labels, starting predictions and c in sixteenths.

    A start at the kink of the ReLU, where what descent does hinges on φ'(0), is the least simple
    one.   neurons: the leading axes of the start.
    """
    return Explicit(
        sizes={"n": (2, 4), "d": (1, 5), **sizes},
        fields={
            "features": Field(-4, 4, shape=("n", "d"), symbol="X"),
            "labels": Field(-6, 6, shape=("n",), symbol="y"),
            "start": Field(-8, 8, (*neurons, "n"), denominator=16, zero_last=True, symbol="β⁰"),
            "c": Field(1, 64, denominator=16),
        },
        build=_build_small,
    )


SMALL = _small((), {})
"""The simplest problems of one neuron, within the theorems' scope or not."""

PAIR_SMALL = _small(("m",), {"m": (2, 2)})
"""The simplest problems of two neurons of opposite sign."""

PAIR_EXPLICIT = _explicit(("m",), {"m": (2, 2)})
"""Small problems of two neurons of opposite sign."""


def best(problem: Problem, _run: Run) -> MinimumNorm:
    """Return the minimum-norm global minima."""
    return minimum_norm(problem)


def plain(problem: Problem, _run: Run) -> PlainRun:
    """Return plain gradient descent, which shares no code with the jump to the limit."""
    return descend_plainly(problem)


def label_scale(problem: Problem) -> np.ndarray[Any, Any]:
    """Return max|y|, (B,); 1 where every label is zero."""
    size = np.abs(to_numpy(problem.labels)).max(axis=-1)
    return np.where(size > 0, size, 1.0)


def equal_up_to_solving(problem: Problem, error: Any, size: Any, amplified: Any = 1.0) -> Margin:
    """Return the margin of error ≤ IDENTITY·size, for what comes from solutions of Gα = b.

    amplified: factor by which errors of solutions, relative to them, grow relative to size.
    Undecided where these are not so accurate: the condition number of G decides.
    """
    allowed = IDENTITY * np.asarray(size)
    unit = np.where(allowed > 0, allowed, 1.0)
    return Margin(error, allowed, unit, amplified * solve_error(problem) / IDENTITY)


def first_departure(problem: Problem, index: int) -> int | None:
    """Return the first step from 1 on, of 1000, after which some neuron is not active exactly on
    its label class; None if there is none."""
    one = problem.select(np.asarray([index]))
    classes, state = to_numpy(one.label_classes), start(one)
    for step in range(1, GIVEN_UP + 1):
        state = gradient_step(one, state)
        if (to_numpy(state.pattern) != classes).any():
            return step
        if to_numpy(certify_by_length(one, state).frozen).all():
            return None
    return None


# Assumptions.

_NOT_EVEN_ZERO = 1e-12


def _positive(values: np.ndarray[Any, Any]) -> Margin:
    """Return the margin of the strict inequality 0 < values, which 0 itself violates."""
    return Margin(0.0, np.where(values > 0, values, values - _NOT_EVEN_ZERO))


def labels_are_nonzero(trial: Trial) -> Margin:
    """No label is zero."""
    labels = np.abs(to_numpy(trial.problem.labels))
    return _positive(labels.min(axis=-1) / np.maximum(labels.max(axis=-1), 1e-300))


def both_signs_occur(trial: Trial) -> Margin:
    """There is at least one positive and one negative label."""
    labels = to_numpy(trial.problem.labels)
    return Margin(1, np.minimum((labels > 0).sum(axis=-1), (labels < 0).sum(axis=-1)))


def gram_is_regular(trial: Trial) -> Margin:
    """The Gram matrix is positive definite: λ_min > 1e-9 λ_max."""
    values = to_numpy(trial.problem.eigenvalues)
    largest = np.where(values[:, -1] > 0, values[:, -1], 1.0)
    return Margin(REGULAR_ABOVE, values[:, 0] / largest)


def start_is_positive(trial: Trial) -> Margin:
    """Every example is active at the start: every starting prediction is positive."""
    predictions = to_numpy(trial.problem.starting_predictions)
    return _positive(predictions.min(axis=(1, 2)) / label_scale(trial.problem))


def start_is_in_the_span(trial: Trial) -> Margin:
    """The starting weights lie in the span of the data."""
    size = to_numpy(outside_span(trial.problem)) * np.sqrt(trace(trial.problem))
    return Margin(size, 1e-8, scale=label_scale(trial.problem))


def step_is_stable(trial: Trial) -> Margin:
    """The step is stable on every neuron's label class C (for one neuron, on the positive
    examples): η·λ_max(G_CC) < 2."""
    problem: Problem = trial.problem
    block = Slopes(problem.label_classes).interaction(problem.gram)
    largest = to_numpy(array_namespace(block).linalg.eigvalsh(block))[:, -1]
    return Margin(to_numpy(problem.step_size) * largest, 2.0, rounding=1e-12)


def certified_from_step_one(trial: Trial) -> Margin:
    """The step-one certificate holds: after one step every neuron is active exactly on its label
    class (for one neuron, on the examples of positive label), and the row-sum bound on all later
    movement lets no prediction cross zero."""
    return step_one_certificate(trial.problem)


def step_one_certificate(problem: Problem) -> Margin:
    """Return the margin of the step-one certificate, in units of the labels; −1 at least."""
    state = gradient_step(problem, start(problem))
    wrong = (to_numpy(state.pattern) != to_numpy(problem.label_classes)).any(axis=(1, 2))
    slack = to_numpy(certify_by_rows(problem, state).slack) / label_scale(problem)
    return Margin(0.0, np.where(wrong, -1.0, np.maximum(slack, -1.0)))


def pattern_is_the_positives_from_step_one(trial: Trial) -> Margin:
    """From step one on, for ever, the active examples are those of positive label."""
    return classes_from_step_one(trial)


def patterns_are_the_label_classes_from_step_one(trial: Trial) -> Margin:
    """From step one on, for ever, w⊕ is active exactly on S₊ and w⊖ exactly on S₋."""
    return classes_from_step_one(trial)


def classes_from_step_one(trial: Trial) -> Margin:
    """Return the margin of: from step one on, every neuron is active exactly on its label class."""
    run: Run = trial.run
    found, classes = run.pattern_after_first_step, trial.problem.label_classes
    wrong = (to_numpy(found) != to_numpy(classes)).mean(axis=(1, 2))
    margin = np.where(wrong > 0, -wrong, run.freeze_margin / label_scale(trial.problem))
    unsure = (~run.certified & (margin >= 0)) | (run.near_ties > 0)
    return Margin(0.0, margin).undecided_where(unsure)


def gram_is_near_identity(trial: Trial) -> Margin:
    """δ = ‖G/τ − I‖₂ is below 1."""
    return Margin(gram_deviation(trial.problem), 1.0, rounding=1e-12)


def trace(problem: Problem) -> np.ndarray[Any, Any]:
    """Return τ = ‖λ‖₁ of the law, or its plug-in tr(G)/n, (B,)."""
    return np.broadcast_to(np.asarray(dimensions_of(problem).trace, float), (problem.batch,))


NONZERO_LABELS = Assumption(labels_are_nonzero, Status.SUMMARY, axes=("y_min",))
BOTH_SIGNS = Assumption(both_signs_occur, Status.DERIVED, axes=("positives",))
REGULAR = Assumption(gram_is_regular, Status.DERIVED, axes=("aspect",))
POSITIVE_START = Assumption(start_is_positive, Status.SUMMARY, axes=("start",))
START_IN_SPAN = Assumption(start_is_in_the_span, Status.DERIVED, axes=("outside_span",))
STEP_ONE_CERTIFICATE = Assumption(
    certified_from_step_one, Status.DERIVED, axes=("aspect", "c"), certificate=True
)
STABLE_STEP = Assumption(step_is_stable, Status.DERIVED, axes=("c",))
FROZEN = Assumption(
    pattern_is_the_positives_from_step_one, Status.SUMMARY, axes=("aspect", "c", "start_high")
)
DECOUPLED = Assumption(
    patterns_are_the_label_classes_from_step_one,
    Status.SUMMARY,
    axes=("aspect", "c", "start_high"),
)
NEAR_IDENTITY = Assumption(gram_is_near_identity, Status.DERIVED, axes=("aspect",))
