"""Empirical constants of theorems 1 to 4: what one compares with the constants of a proof.

Where the pattern freezes, as a multiple of n·log n and of the regime index H, and how well P̂
predicts it; how far the gap is from √(n/‖λ‖₁) and from its leading order.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from properties.lai2026 import bias
from properties.lai2026.setting import classes_from_step_one
from verify.arrays import array_namespace, device, to_numpy
from verify.claims import Assumption, Quantity, Status
from verify.margin import Margin
from verify.measures import Frequency, Measure, Quantiles
from verify.relu.effective_dimensions import freezing_probability, regime_index
from verify.space import Point, geometric
from verify.trial import Trial

Host = np.ndarray[Any, Any]

SMALL = {"start_low": 1e-4, "start_high": 1e-3}

LEVELS = (0.5, 0.9)
"""Frequencies whose thresholds are reported: failure probabilities δ of ½ and .1."""

AXIS = "frequency of freezing at the label classes after step one"


def at_multiples_of_n_log_n(sizes: tuple[int, ...], multiples: tuple[float, ...]) -> Any:
    """Return points at d = C·n·log n, c = .9, for each n and each C."""
    return tuple(
        Point(n=n, d=max(n + 1, round(multiple * n * math.log(n))), c=0.9, **SMALL)
        for n in sizes
        for multiple in multiples
    )


MULTIPLES = tuple(round(value, 2) for value in geometric(1.0, 10.0, 7))

AGAINST_DIMENSION = at_multiples_of_n_log_n((10, 20, 40, 80), MULTIPLES)

AGAINST_INDEX = tuple(
    Point(n=20, d=round(d), spectrum=spectrum, **SMALL)
    for spectrum in ("isotropic", "levels:4x0.5,1x0.5", "spiked:5x1")
    for d in geometric(200, 8_000, 7)
)

AGAINST_PREDICTION = tuple(
    Point(n=n, d=round(multiple * n * math.log(n) * scale), c=c, **SMALL)
    for n, c, scale in ((10, 0.5, 2.0), (40, 0.5, 3.0), (20, 0.9, 1.0), (40, 0.25, 12.0))
    for multiple in geometric(0.5, 4.0, 5)
)


def frozen_from_step_one(trial: Trial) -> Margin:
    """From step one on, for ever, every neuron is active exactly on its label class."""
    return classes_from_step_one(trial)


def dimension_over_n_log_n(trial: Trial) -> Host:
    """C in d = C·n·log n."""
    n = trial.problem.examples
    return np.asarray(bias.dimension(trial, "dimension") / (n * math.log(n)))


def index_of_regime(trial: Trial) -> Host:
    """Regime index H, ours."""
    return np.asarray(regime_index(trial.problem))


def predicted_frequency(trial: Trial) -> Host:
    """P̂, the predicted probability of freezing, ours."""
    problem = trial.problem
    positive = (to_numpy(problem.starting_predictions) > 0).all(axis=(1, 2))
    predicted = np.full(trial.trials, np.nan)  # it says nothing about other starts
    if positive.any():
        index = array_namespace(problem.gram).asarray(
            np.flatnonzero(positive), device=device(problem.gram)
        )
        predicted[positive] = freezing_probability(problem.select(index))
    return predicted


def freezing(given: tuple[Assumption, ...]) -> tuple[Measure, ...]:
    """Return the measures of where patterns freeze: along C, along H, and against P̂."""
    return (
        Frequency(
            frozen_from_step_one,
            given=given,
            at=AGAINST_DIMENSION,
            against=dimension_over_n_log_n,
            by="n",
            prediction=predicted_frequency,
            levels=LEVELS,
            axis=AXIS,
            status=Status.HEURISTIC,
            name="freezing_by_dimension",
        ),
        Frequency(
            frozen_from_step_one,
            given=given,
            at=AGAINST_INDEX,
            against=index_of_regime,
            by="spectrum",
            levels=LEVELS,
            axis=AXIS,
            status=Status.HEURISTIC,
            name="freezing_by_regime_index",
        ),
        Frequency(
            frozen_from_step_one,
            given=given,
            at=AGAINST_PREDICTION,
            against=predicted_frequency,
            by="n",
            prediction=predicted_frequency,
            axis=AXIS,
            status=Status.HEURISTIC,
            name="freezing_against_prediction",
        ),
    )


TOWARDS_THE_LIMIT = tuple(Point(n=50, d=d, **SMALL) for d in (2e3, 5e3, 2e4, 1e5, 1e6, 1e8))


def dimension(trial: Trial) -> Host:
    """d."""
    return bias.dimension(trial, "dimension")


def first_order(trial: Trial) -> Host:
    """1 − Σ_k ‖y_C‖‖y_off‖₁/(√(2πd_2)·c·Σ_k ‖y_off‖²), first order (docs/theory.md §6)."""
    problem = trial.problem
    classes, labels = to_numpy(problem.label_classes), to_numpy(problem.labels)[:, None, :]
    own, off = np.where(classes, labels, 0.0), np.where(classes, 0.0, labels)
    pull = (np.linalg.norm(own, axis=-1) * np.abs(off).sum(axis=-1)).sum(axis=-1)
    c = to_numpy(problem.step_size) * bias.dimension(trial, "trace")
    square = (off**2).sum(axis=(1, 2))
    return np.asarray(1 - pull / (np.sqrt(2 * np.pi * bias.dimension(trial, "d_2")) * c * square))


def gaps(
    constant: Quantity, axis: str, given: tuple[Assumption, ...], at: tuple[Point, ...]
) -> tuple[Measure, ...]:
    """Return the measures of the gap: its constant at some points, and its way to the limit."""
    return (
        Quantiles(
            constant,
            given=given,
            at=at,
            axis=axis,
            status=Status.DERIVED,
            name="gap_constant",
        ),
        Quantiles(
            bias.gap_over_leading_order,
            given=given,
            at=TOWARDS_THE_LIMIT,
            against=dimension,
            prediction=first_order,
            axis="gap over its leading order",
            status=Status.DERIVED,
            name="gap_over_leading_order",
        ),
    )
