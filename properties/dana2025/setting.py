"""Random networks on weakly correlated data, as Dana, Pillaud-Vivien and Bach (2025) have them.

Coordinates of a point (defaults in `DEFAULTS`): n examples; aspect = d/n², or d features, isotropic
and Gaussian; m neurons of fair random output sign and Gaussian weights, or miss = ε, in whose place
m = ⌈log(n/ε)/log(4/3)⌉; c = ητ·⌈m/2⌉, the relative step of all the neurons of one sign; y_min, the
least |y_i|, uniform in [y_min, 1], of random sign; start_scale, the size of the starting
predictions. All dimensionless.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from properties.lai2026.setting import descend_to_a_pattern
from properties.lai2026.wide_networks import covered_at_the_start
from verify.arrays import to_numpy
from verify.claims import Assumption, Status
from verify.errors import InputError
from verify.margin import Margin
from verify.relu.descent import Run
from verify.relu.effective_dimensions import coherence
from verify.relu.ensemble import Ensemble, Labels, Start
from verify.relu.problem import Problem
from verify.relu.spectra import Spectrum
from verify.space import Point
from verify.trial import Trial

MISS = 0.01
"""ε, the probability with which some example is not covered at most."""

DEFAULTS: Mapping[str, Any] = {
    "aspect": 20.0,
    "miss": MISS,
    "c": 0.5,
    "y_min": 0.5,
    "start_scale": 1e-3,
}


def width(examples: int, miss: float) -> int:
    """Return ⌈log(n/ε)/log(4/3)⌉, the neurons that cover all n examples with probability 1 − ε."""
    if not (examples >= 1 and miss > 0):
        raise InputError(f"n={examples}, miss={miss:g}, expected n ≥ 1 and miss > 0; try miss=0.01")
    return max(1, math.ceil(math.log(examples / miss) / math.log(4 / 3)))


def draw(point: Point, generator: np.random.Generator, trials: int) -> Problem:
    """Draw i.i.d. problems of many neurons, of random output signs, at a point."""
    at = {**DEFAULTS, **point}
    n = int(at["n"])
    m = int(at["m"]) if "m" in at else width(n, at["miss"])
    if m < 1:
        raise InputError(f"m={m}, expected at least one neuron")
    d = float(at["d"]) if "d" in at else float(max(n + 1, round(at["aspect"] * n * n)))
    problem = Ensemble(
        examples=n,
        spectrum=Spectrum.isotropic(d),
        labels=Labels("random", (at["y_min"], 1.0)),
        start=Start("random_sign", high=at["start_scale"]),
        relative_step=at["c"] / math.ceil(m / 2),
        signs=(1,) * m,
    ).draw(generator, trials)
    return replace(problem, signs=np.where(generator.random((trials, m)) < 0.5, 1.0, -1.0))


def untrained(problem: Problem) -> Problem:
    """Return the networks that are to be trained; whether they cover the data shows at once."""
    return problem


def train(_problem: Problem, network: Problem) -> Run:
    """Run gradient descent until the pattern is certain."""
    return descend_to_a_pattern(network)


def describe(problem: Problem, index: int) -> dict[str, Any]:
    """Return what a person needs to recognise one problem."""
    one = problem.select(np.asarray([index]))
    return {
        "examples": one.examples,
        "neurons": one.neurons,
        "step_size": float(to_numpy(one.step_size)[0]),
        "covered_at_the_start": int(covered_at_the_start(one).sum()),
        "labels": to_numpy(one.labels)[0],
        "output_signs": to_numpy(one.signs)[0],
    }


# Assumptions.


def width_is_logarithmic(trial: Trial) -> Margin:
    """The network has m ≥ log(n/ε)/log(4/3) neurons, ε = .01."""
    problem: Problem = trial.problem
    return Margin(width(problem.examples, MISS), float(problem.neurons), problem.neurons)


def data_are_weakly_correlated(trial: Trial) -> Margin:
    """Examples are weakly correlated: every cosine between two is at most 1/(2√n) (ours; the
    abstract says "low correlation")."""
    n = trial.problem.examples
    return Margin(to_numpy(coherence(trial.problem)), 0.5 / math.sqrt(n), rounding=1e-12)


def every_example_is_covered(trial: Trial) -> Margin:
    """At the start every example has an active neuron of its own output sign."""
    missing = (~covered_at_the_start(trial.problem)).sum(axis=-1)
    return Margin(missing, 0.0, trial.problem.examples)


WIDE = Assumption(width_is_logarithmic, Status.DERIVED, axes=("miss", "m"))
WEAKLY_CORRELATED = Assumption(data_are_weakly_correlated, Status.SUMMARY, axes=("aspect", "d"))
COVERED = Assumption(every_example_is_covered, Status.DERIVED, axes=("miss", "m"))
SUFFICES = (WIDE, WEAKLY_CORRELATED)
TRAINS = (*SUFFICES, COVERED)
