"""Dana, Pillaud-Vivien and Bach (2025): logarithmic width covers the data, and suffices.

Data and networks are those of `setting`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from properties.dana2025.setting import (
    DEFAULTS,
    SUFFICES,
    TRAINS,
    WIDE,
    describe,
    draw,
    every_example_is_covered,
    train,
    untrained,
)
from properties.lai2026.setting import label_scale, place, plain
from properties.lai2026.wide_networks import FITTED
from verify.arrays import array_namespace, to_numpy
from verify.claims import Control, Probable, Rate, Status, Sweep
from verify.margin import Margin
from verify.measures import Frequency, Quantiles
from verify.relu.descent import Run
from verify.relu.plain import PlainRun
from verify.relu.problem import Problem
from verify.relu.slopes import Slopes
from verify.space import Axis, Point
from verify.theorem import Theorem
from verify.trial import Trial

Host = np.ndarray[Any, Any]

_APART = 0.03
"""How far from its expectation the covered share of 64 neurons and 50 examples may be: four to
five standard deviations."""


# Claims.


def a_neuron_covers_a_quarter(trial: Trial) -> Margin:
    """A random neuron covers an example, with the output sign of its label and active on it, with
    probability ¼: of 64 × 50 pairs a share of ¼ ± .03 is, with probability at least .95 (number
    and probability are ours)."""
    return share_is(trial, 0.25)


def share_is(trial: Trial, expected: float) -> Margin:
    problem: Problem = trial.problem
    active = to_numpy(problem.starting_predictions) > 0
    share = (active & to_numpy(problem.label_classes)).mean(axis=(1, 2))
    return Margin(np.abs(share - expected), _APART, _APART)


def logarithmic_width_covers(trial: Trial) -> Margin:
    """With m ≥ log(n/ε)/log(4/3) neurons, ε = .01, every example is covered at the start, with
    probability at least .9 (the union bound says 1 − ε)."""
    return every_example_is_covered(trial)


def logarithmic_width_suffices(trial: Trial) -> Margin:
    """With a width of order log n training ends at zero loss: with m ≥ log(n/ε)/log(4/3) neurons, ε
    = .01, every residual is at most 1e-8 of the largest label, with probability at least .8 (all
    numbers are ours)."""
    run: Run = trial.reference("trained")
    problem: Problem = trial.problem
    output = to_numpy(run.problem.output(run.predictions))
    misfit = np.abs(output - to_numpy(problem.labels)).max(axis=-1) / label_scale(problem)
    return Margin(misfit, FITTED).undecided_where(~run.certified)


def loss_falls_at_a_rate_of_order_one_over_n(trial: Trial) -> Host:
    """At logarithmic width the exponential rate of training, on the loss averaged over examples, is
    of order 1/n: log(‖r_0‖/‖r_T‖)/(Tητn), T the steps in which plain descent has the residual at
    1e-13, has slope −1 ± .4 in n (the tolerance is ours, and that one layer alone is trained)."""
    time = to_numpy(trial.problem.step_size) * _trace(trial)
    return np.asarray(_measured_rate(trial) / time / trial.problem.examples)


# Measures.


def examples(trial: Trial) -> float:
    """Number n of examples."""
    return float(trial.problem.examples)


def neurons(trial: Trial) -> float:
    """Number m of neurons."""
    return float(trial.problem.neurons)


def all_are_covered(trial: Trial) -> Margin:
    """Every example is covered at the start."""
    return logarithmic_width_covers(trial)


def predicted_coverage(trial: Trial) -> float:
    """(1 − (¾)^m)^n, as if examples were covered independently [D]."""
    return float((1 - 0.75**trial.problem.neurons) ** trial.problem.examples)


def _trace(trial: Trial) -> Host:
    """Return τ of the law, 1 where there is none."""
    law = trial.problem.law
    return np.asarray(1.0 if law is None else law.trace, dtype=float)


def _measured_rate(trial: Trial) -> Host:
    """Return log(‖r_0‖/‖r_T‖)/T of plain descent, (B,); NaN where it does not come to zero loss."""
    problem: Problem = trial.problem
    steps: PlainRun = trial.reference("plain")
    labels = to_numpy(problem.labels)
    first = to_numpy(problem.output(problem.starting_predictions)) - labels
    last = to_numpy(problem.output(steps.predictions)) - labels
    fits = steps.settled & (np.abs(last).max(axis=-1) <= FITTED * label_scale(problem))
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = np.log(np.linalg.norm(first, axis=-1) / np.linalg.norm(last, axis=-1)) / steps.steps
    return np.where(fits & np.isfinite(rate), rate, np.nan)


def _curvature(trial: Trial) -> tuple[Host, Host]:
    """Return the extreme eigenvalues of M = Σ_k D_k G D_k in the final pattern, (B,); NaN where
    that is not certain, or an example is on no active side."""
    run: Run = trial.reference("trained")
    problem: Problem = trial.problem
    pattern = to_numpy(run.final_pattern)
    values = np.linalg.eigvalsh(to_numpy(Slopes(run.final_pattern).interaction(problem.gram)))
    known = run.certified & pattern.any(axis=1).all(axis=-1)
    return np.where(known, values[:, 0], np.nan), np.where(known, values[:, -1], np.nan)


def rate_over_that_of_the_final_pattern(trial: Trial) -> Host:
    """The measured exponential rate log(‖r_0‖/‖r_T‖)/T over that of theory §3 in the final
    pattern, −log max|1 − ηλ(M)|; T, at which plain descent has the residual at 1e-13."""
    least, most = _curvature(trial)
    eta = to_numpy(trial.problem.step_size)
    slowest = np.maximum(np.abs(1 - eta * least), np.abs(1 - eta * most))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = _measured_rate(trial) / -np.log(slowest)
    return np.where(np.isfinite(ratio), ratio, np.nan)


def curvature_of_the_final_pattern(trial: Trial) -> Host:
    """λ_min(M)/τ in the final pattern, the rate of the flow in units of τ; with the loss averaged
    over the examples in place of summed, the rate is this over n."""
    return np.asarray(_curvature(trial)[0] / _trace(trial))


# False statements, for the controls.


def loss_falls_at_a_rate_of_order_one_over_root_n(trial: Trial) -> Host:
    """The exponential rate of the loss, averaged over the examples, is of order 1/√n."""
    return loss_falls_at_a_rate_of_order_one_over_n(trial)


def a_neuron_covers_half(trial: Trial) -> Margin:
    """A random neuron covers an example with probability ½."""
    return share_is(trial, 0.5)


def four_neurons_cover(trial: Trial) -> Margin:
    """Four neurons cover every one of twenty examples."""
    return logarithmic_width_covers(trial)


def of_one_sign(problem: Problem) -> Problem:
    """Return the networks with every output sign set to +1."""
    xp = array_namespace(problem.signs)
    return replace(problem, signs=xp.ones_like(problem.signs))


CELLS = (Point(n=5), Point(n=20))
SHARES = (Point(n=50, m=64),)
ALONG = tuple(Point(n=n, m=m) for n in (5, 20) for m in (2, 4, 8, 16, 32))
RATES = tuple(Point(n=n) for n in (5, 10, 20))
_BY_N = ("n from 5 to 20", RATES, examples)

theorem = Theorem(
    id="dana2025.coverage",
    title="Many ReLU neurons at random: logarithmic width covers the data, and suffices",
    citation=(
        "Dana, Pillaud-Vivien, Bach: Convergence of Shallow ReLU Networks on Weakly Interacting "
        "Data. 2025; arXiv 2502.16977; abstract."
    ),
    status=Status.SUMMARY,
    statement=(
        "On data of low correlation a width of order log n suffices: gradient flow of a network "
        "with random weights reaches zero loss with high probability, at an exponential rate of "
        "order 1/n."
    ),
    method=(
        "The abstract alone has been read, and constants are ours: a neuron covers an example at "
        "the start with probability ¼, so that m ≥ log(n/ε)/log(4/3) neurons cover all of them "
        "with probability 1 − ε. Output signs are drawn and kept; the first layer is trained by "
        "descent with steps well below the stable ones, since the flow of so many neurons is "
        "seldom certified. Beside the rate of order 1/n, the measured rate is compared with that "
        "of theory §3."
    ),
    symbols={
        "n, m, d": "examples, neurons, features",
        "covered": "an example on which a neuron with the output sign of its label is active",
        "M": "Σ_k D_k G D_k, D_k the examples on which neuron k is active, G = XXᵀ",
        "τ": "the mean squared length of an example",
        "η": "the step size",
    },
    defaults=DEFAULTS,
    axes=(
        Axis("n", 2, 20, "integer", meaning="examples"),
        Axis("aspect", 10.0, 1e4, "log", simplest=20.0, meaning="d/n²"),
        Axis("miss", 1e-3, 1e-2, "log", simplest=1e-2, meaning="ε, of the width"),
        Axis("y_min", 0.1, 1.0, "log", simplest=1.0, meaning="least |label| (largest is 1)"),
    ),
    wide_axes=(
        Axis("n", 1, 200, "integer", inside=(2, 20), meaning="examples"),
        Axis("aspect", 0.1, 1e6, "log", simplest=20.0, inside=(10.0, 1e4), meaning="d/n²"),
        Axis("d", 2, 1e9, "log", instead_of="aspect", meaning="features"),
        Axis("miss", 1e-6, 100.0, "log", simplest=1e-2, inside=(1e-3, 1e-2), meaning="ε"),
        Axis("m", 1, 128, "integer", instead_of="miss", meaning="neurons"),
        Axis("c", 0.01, 4.0, "log", simplest=0.5, inside=(0.1, 1.0), meaning="relative step"),
        Axis("y_min", 0.01, 1.0, "log", simplest=1.0, inside=(0.1, 1.0), meaning="least |label|"),
        Axis("start_scale", 1e-6, 10.0, "log", inside=(1e-5, 1e-2), meaning="size of the start"),
    ),
    hypotheses=SUFFICES,
    cells=CELLS,
    draw=draw,
    simulate=untrained,
    references={"trained": train, "plain": plain},
    place=place,
    describe=describe,
    claims=(
        Probable(a_neuron_covers_a_quarter, at=SHARES, status=Status.DERIVED),
        Probable(logarithmic_width_covers, given=(WIDE,), probability=0.9, status=Status.DERIVED),
        Probable(logarithmic_width_suffices, given=SUFFICES, probability=0.8),
        Rate(
            loss_falls_at_a_rate_of_order_one_over_n,
            given=TRAINS,
            sweeps=(Sweep(*_BY_N, -1.0),),
            tolerance=0.4,
            quantity="rate over nτ",
        ),
    ),
    controls=(
        Control(
            Probable(a_neuron_covers_half, at=SHARES, probability=0.5, status=Status.FALSE),
            because="the output sign is that of the label half of the time only",
        ),
        Control(
            Probable(
                four_neurons_cover,
                at=(Point(n=20, m=4),),
                probability=0.5,
                status=Status.FALSE,
            ),
            because="each example is missed with probability (¾)⁴, about a third",
        ),
        Control(
            Rate(
                loss_falls_at_a_rate_of_order_one_over_root_n,
                given=TRAINS,
                sweeps=(Sweep(*_BY_N, -0.5),),
                tolerance=0.25,
                quantity="rate over nτ",
                status=Status.FALSE,
            ),
            because="that is the fastest that the abstract has, for orthogonal data and long times",
        ),
        Control(
            Probable(
                logarithmic_width_suffices,
                given=SUFFICES,
                at=CELLS[1:],
                probability=0.5,
                status=Status.FALSE,
                name="broken_dynamics_of_one_sign",
            ),
            because="neurons whose output signs are all +1 never learn a negative label",
            simulate=of_one_sign,
        ),
    ),
    measures=(
        Frequency(
            all_are_covered,
            at=ALONG,
            against=neurons,
            by="n",
            prediction=predicted_coverage,
            axis="frequency of coverage at the start",
            status=Status.DERIVED,
        ),
        Quantiles(
            rate_over_that_of_the_final_pattern,
            at=RATES,
            against=examples,
            axis="rate, measured over theory §3",
            status=Status.DERIVED,
        ),
        Quantiles(
            curvature_of_the_final_pattern,
            at=RATES,
            against=examples,
            axis="λ_min(M)/τ",
            status=Status.DERIVED,
        ),
    ),
)
