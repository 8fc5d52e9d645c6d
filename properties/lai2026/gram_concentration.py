"""Gram concentration: in high dimension G/‖λ‖₁ is near the identity (Lai et al., COLT 2026)."""

from __future__ import annotations

from typing import Any

import numpy as np

from properties.lai2026 import bias, setting
from properties.lai2026.setting import trace
from verify.arrays import to_numpy
from verify.claims import Control, Probable, Rate, Status, Sweep
from verify.margin import Margin
from verify.measures import Quantiles
from verify.relu.effective_dimensions import gram_deviation
from verify.relu.problem import Problem
from verify.space import Axis, Point
from verify.theorem import Theorem
from verify.trial import Trial

Host = np.ndarray[Any, Any]

OPERATOR, OFF_DIAGONAL = 3.0, 3.5
"""Constants of the bounds: ours, measured at the cells and rounded up."""

CELLS = (
    Point(n=20, d=400),
    Point(n=50, d=5_000),
    Point(n=100, d=1_000),
    Point(n=20, d=4_000, spectrum="levels:4x0.5,1x0.5"),
    Point(n=20, d=4_000, spectrum="spiked:20x1"),
    Point(n=20, d=4_000, spectrum="power:1"),
    Point(n=20, d=4_000, features="rademacher"),
    Point(n=20, d=4_000, features="student_t:8"),
)

TOWARDS_THE_LIMIT = tuple(Point(n=20, d=10.0**k) for k in range(3, 11))

BY_EXAMPLES = tuple(Point(n=n, d=100 * n) for n in (10, 20, 40, 80, 160))


def nothing(_problem: Problem) -> None:
    """Run nothing: the claims are about the Gram matrix alone."""


def deviation(trial: Trial) -> Host:
    """Return δ = ‖G/‖λ‖₁ − I‖₂, (B,)."""
    return np.asarray(gram_deviation(trial.problem))


def rate(trial: Trial) -> Host:
    """√(n/d_2) + n/d_∞."""
    n = trial.problem.examples
    d_2, d_inf = bias.dimension(trial, "d_2"), bias.dimension(trial, "d_inf")
    return np.asarray(np.sqrt(n / d_2) + n / d_inf)


def off_diagonals(trial: Trial) -> Host:
    """Return |G_ij|/‖λ‖₁ over i < j, (B, n(n−1)/2)."""
    rows, columns = np.triu_indices(trial.problem.examples, 1)
    gram = to_numpy(trial.problem.gram)
    return np.asarray(np.abs(gram[:, rows, columns]) / trace(trial.problem)[:, None])


def dimension_d_2(trial: Trial) -> Host:
    """d_2."""
    return bias.dimension(trial, "d_2")


def examples_over_d_2(trial: Trial) -> Host:
    """n/d_2."""
    return np.asarray(trial.problem.examples / bias.dimension(trial, "d_2"))


# Claims.


def operator_norm_is_bounded(trial: Trial) -> Margin:
    """δ = ‖G/‖λ‖₁ − I‖₂ is at most 3·(√(n/d_2) + n/d_∞): the order is the paper's, the constant
    and the probability are ours."""
    scale = rate(trial)
    return Margin(deviation(trial), OPERATOR * scale, scale)


def off_diagonals_are_bounded(trial: Trial) -> Margin:
    """The largest |G_ij|/‖λ‖₁ with i ≠ j is at most 3.5·√(log n/d_2): constant and probability
    are ours."""
    n = trial.problem.examples
    scale = np.sqrt(np.log(n) / bias.dimension(trial, "d_2"))
    return Margin(off_diagonals(trial).max(axis=-1), OFF_DIAGONAL * scale, scale)


def operator_norm_scales_as_root_n_over_d_2(trial: Trial) -> Host:
    """δ falls as √(n/d_2) along d at fixed n, isotropic (the tolerance ±.02 is ours)."""
    return deviation(trial)


def off_diagonals_scale_as_one_over_root_d_2(trial: Trial) -> Host:
    """The root mean square of G_ij/‖λ‖₁ over i ≠ j falls as 1/√d_2 (the tolerance ±.02 is ours)."""
    return np.asarray(np.sqrt((off_diagonals(trial) ** 2).mean(axis=-1)))


# False statements, for the controls.


def operator_norm_falls_as_n_over_d_2(trial: Trial) -> Host:
    """δ falls as n/d_2."""
    return deviation(trial)


def operator_norm_is_bounded_by_the_dimension(trial: Trial) -> Margin:
    """δ is at most 3·√(n/d), whatever the spectrum is."""
    scale = np.sqrt(trial.problem.examples / bias.dimension(trial, "dimension"))
    return Margin(deviation(trial), OPERATOR * scale, scale)


def operator_norm_is_bounded_by_d_2_alone(trial: Trial) -> Margin:
    """δ is at most 3·√(n/d_2) also without the term n/d_∞."""
    scale = np.sqrt(trial.problem.examples / bias.dimension(trial, "d_2"))
    return Margin(deviation(trial), OPERATOR * scale, scale)


# Measures.


def operator_constant(trial: Trial) -> Host:
    """δ over √(n/d_2) + n/d_∞: the constant of the operator-norm bound."""
    return deviation(trial) / rate(trial)


def off_diagonal_constant(trial: Trial) -> Host:
    """The largest |G_ij|/‖λ‖₁ with i ≠ j, over √(log n/d_2): the constant of its bound."""
    n = trial.problem.examples
    bound = np.sqrt(np.log(n) / bias.dimension(trial, "d_2"))
    return np.asarray(off_diagonals(trial).max(axis=-1) / bound)


def number_of_examples(trial: Trial) -> float:
    """Number n of examples."""
    return float(trial.problem.examples)


ALONG_D = Sweep("d at n=20", TOWARDS_THE_LIMIT, examples_over_d_2, 0.5)

theorem = Theorem(
    id="lai2026.gram_concentration",
    title="Gram concentration: G/‖λ‖₁ is near the identity",
    citation=f"{setting.CITATION}; the concentration that its proofs rest on.",
    status=Status.SUMMARY,
    statement=(
        "For independent sub-Gaussian features with covariance eigenvalues λ, G/‖λ‖₁ is near the "
        "identity: in operator norm to order √(n/d_2) + n/d_∞, entry by entry to order 1/√d_2 off "
        "the diagonal. Self-interaction then dominates the dynamics. The constants below are ours."
    ),
    symbols=setting.SYMBOLS,
    defaults=setting.DEFAULTS,
    axes=(
        Axis("n", 2, 100, "integer", meaning="examples"),
        Axis("d", 100, 1e6, "log", simplest=1e6, meaning="features"),
    ),
    cells=CELLS,
    draw=setting.draw,
    simulate=nothing,
    place=setting.place,
    describe=setting.describe,
    claims=(
        Probable(operator_norm_is_bounded, probability=0.95, status=Status.SUMMARY),
        Probable(off_diagonals_are_bounded, probability=0.95, at=CELLS[:5], status=Status.SUMMARY),
        Rate(
            operator_norm_scales_as_root_n_over_d_2,
            sweeps=(ALONG_D,),
            tolerance=0.02,
            quantity="δ = ‖G/‖λ‖₁ − I‖₂",
            status=Status.SUMMARY,
        ),
        Rate(
            off_diagonals_scale_as_one_over_root_d_2,
            sweeps=(Sweep("d at n=20", TOWARDS_THE_LIMIT, dimension_d_2, -0.5),),
            tolerance=0.02,
            quantity="root mean square of G_ij/‖λ‖₁, i ≠ j",
            status=Status.SUMMARY,
        ),
    ),
    controls=(
        Control(
            Rate(
                operator_norm_falls_as_n_over_d_2,
                sweeps=(Sweep("d at n=20", TOWARDS_THE_LIMIT, examples_over_d_2, 1.0),),
                tolerance=0.1,
                quantity="δ = ‖G/‖λ‖₁ − I‖₂",
                status=Status.FALSE,
            ),
            because="the slope is ½ in n/d_2, not 1",
        ),
        Control(
            Probable(
                operator_norm_is_bounded_by_the_dimension,
                probability=0.95,
                at=(Point(n=20, d=4_000, spectrum="power:1"),),
                status=Status.FALSE,
            ),
            because="a few directions carry the trace: the effective dimensions count, not d",
        ),
        Control(
            Probable(
                operator_norm_is_bounded_by_d_2_alone,
                probability=0.95,
                at=(Point(n=100, d=1e6, spectrum="spiked:1000x1"),),
                status=Status.FALSE,
            ),
            because="one spike adds n·λ₁/‖λ‖₁ = n/d_∞ to the operator norm",
        ),
    ),
    measures=(
        Quantiles(
            operator_constant,
            at=(*CELLS, *BY_EXAMPLES),
            axis="δ over √(n/d_2) + n/d_∞",
            status=Status.DERIVED,
        ),
        Quantiles(
            off_diagonal_constant,
            at=BY_EXAMPLES,
            against=number_of_examples,
            axis="max |G_ij|/‖λ‖₁ over √(log n/d_2)",
            status=Status.DERIVED,
        ),
    ),
)
