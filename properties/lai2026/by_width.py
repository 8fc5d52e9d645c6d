"""What is measured of many neurons against their number: success, coverage, chattering, dead
examples, and when patterns come to rest."""

from __future__ import annotations

from typing import Any

import numpy as np

from properties.lai2026.wide_networks import covered_at_the_start, reaches
from verify.arrays import to_numpy
from verify.claims import Assumption, Status
from verify.margin import Margin
from verify.measures import Frequency, Measure, Quantiles
from verify.space import Point
from verify.trial import Trial

Host = np.ndarray[Any, Any]

WIDTHS = (1, 2, 4, 8, 16, 32, 64)

AT = tuple(Point(n=n, d=100 * n, m=m) for n in (10, 20, 40) for m in WIDTHS)


def reaches_a_global_minimum(trial: Trial) -> Margin:
    """Gradient descent from a random start ends at a global minimum (of the certified runs; those
    that chatter at a kink are counted apart). One neuron is no narrower pair: its minima fit the
    positive labels alone, so m = 1 may do better than m = 2."""
    return reaches(trial.run)


def all_covered(trial: Trial) -> Margin:
    """At the start every example has an active neuron of its own sign."""
    missing = (~covered_at_the_start(trial.problem)).sum(axis=-1)
    return Margin(missing, 0.0, scale=trial.problem.examples)


def chatters(trial: Trial) -> Margin:
    """No certificate within 1000 steps: the run chatters at a kink, or is too slow."""
    return Margin(1.0, np.where(trial.run.certified, 0.0, 1.0))


def dead_examples(trial: Trial) -> Host:
    """Share of the examples on which no neuron is active at the end."""
    dead = ~to_numpy(trial.run.final_pattern).any(axis=1)
    return np.where(trial.run.certified, dead.mean(axis=-1), np.nan)


def last_change_of_the_pattern(trial: Trial) -> Host:
    """Step at which the pattern changes for the last time, among certified runs."""
    return np.where(trial.run.certified, trial.run.last_flip.astype(float), np.nan)


def neurons(trial: Trial) -> float:
    """Number m of neurons."""
    return float(trial.problem.neurons)


def predicted_coverage(trial: Trial) -> Host:
    """(1 − 2^(−m₊))^n₊·(1 − 2^(−m₋))^n₋, m± neurons of each sign: each sees an example with
    probability ½, treated as independent [D]."""
    problem = trial.problem
    labels, signs = to_numpy(problem.labels)[:, None, :], to_numpy(problem.signs)
    of_its_sign = (signs[:, :, None] * labels > 0).sum(axis=1)
    return np.asarray(np.prod(1 - 0.5**of_its_sign, axis=-1))


def measures(given: tuple[Assumption, ...], settled: tuple[Assumption, ...]) -> tuple[Measure, ...]:
    """Return all of them.   given: of every run.   settled: of those that do not chatter."""
    return (
        Frequency(
            reaches_a_global_minimum,
            given=settled,
            at=AT,
            against=neurons,
            by="n",
            levels=(0.5, 0.9),
            axis="frequency of reaching a global minimum",
            status=Status.HEURISTIC,
            name="success_by_width",
        ),
        Frequency(
            all_covered,
            given=given,
            at=AT,
            against=neurons,
            by="n",
            prediction=predicted_coverage,
            axis="frequency of coverage at the start",
            status=Status.DERIVED,
            name="coverage_by_width",
        ),
        Frequency(
            chatters,
            given=given,
            at=AT,
            against=neurons,
            by="n",
            axis="frequency of chattering",
            status=Status.HEURISTIC,
            name="chattering_by_width",
        ),
        Quantiles(
            dead_examples,
            given=settled,
            at=AT,
            against=neurons,
            by="n",
            axis="share of examples dead at the end",
            status=Status.HEURISTIC,
            name="dead_examples_by_width",
        ),
        Quantiles(
            last_change_of_the_pattern,
            given=settled,
            at=AT,
            against=neurons,
            by="n",
            axis="last change of the pattern",
            unit="steps",
            status=Status.HEURISTIC,
            name="last_change_by_width",
        ),
    )
