"""What theorems 2 and 4 assert of the gap ‖w_∞ − w⋆‖, for neurons that each keep to a label class.

Everything is computed for one neuron and for two of opposite sign alike; the claims that state
formulas in the paper's notation are in `theorem2` and `theorem4`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from properties.lai2026.setting import equal_up_to_solving, trace
from verify.arrays import array_namespace, device, to_numpy
from verify.claims import Assumption, Status, Sweep
from verify.margin import Margin
from verify.relu.effective_dimensions import dimensions_of, relative_step, solve_error
from verify.relu.gap import deductive_bounds, implicit_bias_gap, leading_order, schur_gap
from verify.relu.minimum_norm import MinimumNorm, optimality_residuals
from verify.relu.problem import Problem
from verify.space import Point, geometric
from verify.tolerances import KKT
from verify.trial import Trial

Host = np.ndarray[Any, Any]

SMALL_START = {"n": 20, "start_low": 1e-5, "start_high": 1e-4}
EQUAL_LABELS = {"start_low": 1e-5, "start_high": 1e-4, "y_min": 1.0}
"""Labels ±1, so that a sweep of n varies nothing else: the mean of y² does not fluctuate."""

GAP = "gap ‖w_∞ − w⋆‖₂"


def gap(trial: Trial) -> Host:
    """Return the implicit-bias gap ‖w_∞ − w⋆‖₂ over all neurons, (B,)."""
    return np.asarray(to_numpy(implicit_bias_gap(trial.run, trial.reference("minimum_norm"))))


def comparator_is_optimal(trial: Trial) -> Margin:
    """The comparator w⋆ satisfies the optimality conditions of the minimum-norm global minimum,
    neuron by neuron: all four relative KKT residuals, recomputed from the problem, are at most
    1e-10."""
    best: MinimumNorm = trial.reference("minimum_norm")
    residuals = to_numpy(optimality_residuals(trial.problem, best.duals))
    return Margin(residuals.max(axis=-1), KKT, KKT, solve_error(trial.problem) / KKT)


def gap_schur_identity(trial: Trial) -> Margin:
    """The gap satisfies gap² = Σ_k ‖w_k^⊥‖² + Δ_kᵀS_kΔ_k, with Δ_k = α_k¹ − α_k⋆ off the label
    class of neuron k and S_k the Schur complement there (one neuron: on S₋)."""
    best: MinimumNorm = trial.reference("minimum_norm")
    found, expected = gap(trial), to_numpy(schur_gap(trial.problem, best))
    # Both sides are roots of differences of squares of the size of ‖w⋆‖².
    known = expected > 0
    ratio = to_numpy(best.norm) / np.where(known, expected, 1.0)
    amplified = np.where(known, np.maximum(1.0, ratio**2), np.inf)
    return equal_up_to_solving(trial.problem, np.abs(found - expected), expected, amplified)


def gap_deductive_bounds(trial: Trial) -> Margin:
    """The gap lies within √(1−δ)(P−e)₊/√τ and √(1+δ)(P+e)/√τ: no hidden constant."""
    low, high = (to_numpy(b) for b in deductive_bounds(trial.problem, trace_beside(trial.problem)))
    found = gap(trial)
    scale = np.where(found > 0, found, 1.0)
    rounding = 1e-12 + solve_error(trial.problem)
    return Margin.worst(Margin(low, found, scale, rounding), Margin(found, high, scale, rounding))


# Bands: all constants are ours [D].


def unit(trial: Trial) -> Host:
    """√(n₋/‖λ‖₁) for one neuron, √(n/‖λ‖₁) for two: the examples off each neuron's class."""
    problem: Problem = trial.problem
    labelled = to_numpy(problem.labels)[:, None, :] != 0
    outside = (~to_numpy(problem.label_classes) & labelled).sum(axis=(1, 2))
    return np.asarray(np.sqrt(outside / trace(problem)))


def relative_error(trial: Trial) -> Host:
    """Return ε = (√(n/d_2) + n/d_∞)/c, (B,) [D]."""
    n, c = trial.problem.examples, relative_step(trial.problem)
    return np.asarray((np.sqrt(n / dimension(trial, "d_2")) + n / dimension(trial, "d_inf")) / c)


def dimension(trial: Trial, name: str) -> Host:
    """Return one of the effective dimensions, (B,)."""
    found = np.asarray(getattr(dimensions_of(trial.problem), name), dtype=float)
    return np.broadcast_to(found, (trial.trials,))


def upper_band(trial: Trial) -> Host:
    """Return (1+ε)·(c·y_max + (c−1)₊·β⁰_max)·unit, (B,) [D]."""
    c, _, y_max, start = _sizes(trial)
    most = c * y_max + np.maximum(c - 1, 0.0) * start
    return np.asarray((1 + relative_error(trial)) * most * unit(trial))


def lower_band(trial: Trial) -> Host:
    """Return (1−ε)·(c·y_min − b·β⁰_max)₊·unit, (B,) [D]: b = (1−c)₊ for one neuron, max(1, c)
    for two, whose model's output at the start may have either sign."""
    c, y_min, _, start = _sizes(trial)
    weight = np.maximum(1 - c, 0.0) if trial.problem.neurons == 1 else np.maximum(1.0, c)
    least = np.maximum(c * y_min - weight * start, 0.0)
    return np.asarray((1 - relative_error(trial)) * least * unit(trial))


def _sizes(trial: Trial) -> tuple[Host, Host, Host, Host]:
    """Return c, y_min, y_max and β⁰_max, (B,) each."""
    labels = np.abs(to_numpy(trial.problem.labels))
    start = to_numpy(trial.problem.starting_predictions).max(axis=(1, 2))
    return relative_step(trial.problem), labels.min(axis=-1), labels.max(axis=-1), start


def below_upper_band(trial: Trial) -> Margin:
    """Return the margin of: the gap is at most its upper band. Undecided where that is zero for
    want of examples off the classes: only rounding is left of the gap there."""
    size = unit(trial)
    return Margin(gap(trial), upper_band(trial), size).undecided_where(size == 0)


def above_lower_band(trial: Trial) -> Margin:
    """Return the margin of: the gap is at least its lower band."""
    return Margin(lower_band(trial), gap(trial), unit(trial))


def near_leading_order(trial: Trial) -> Margin:
    """Return the margin of: the gap is its leading order to relative error ε. Undecided where
    that is zero."""
    leading = to_numpy(leading_order(trial.problem, trace_beside(trial.problem)))
    epsilon, known = relative_error(trial), leading > 0
    ratio = np.where(known, gap(trial) / np.where(known, leading, 1.0), np.inf)
    return Margin(np.abs(ratio - 1), epsilon, scale=epsilon).undecided_where(~known)


def off_the_minimum_norm(trial: Trial) -> Margin:
    """Return the margin of: w_∞ = w⋆, which is false."""
    norm = to_numpy(trial.reference("minimum_norm").norm)
    return Margin(gap(trial), 1e-6 * norm, norm)


def relative_gap(trial: Trial) -> Host:
    """Return ‖w_∞ − w⋆‖/‖w⋆‖, (B,)."""
    return np.asarray(gap(trial) / to_numpy(trial.reference("minimum_norm").norm))


def gap_over_root_negatives(trial: Trial) -> Host:
    """The gap over √(n₋/‖λ‖₁): the constant of the Θ, to compare with a proof's."""
    return _gap_over_unit(trial)


def gap_over_root_examples(trial: Trial) -> Host:
    """The gap of the pair over √(n/‖λ‖₁): the constant of the Θ, to compare with a proof's."""
    return _gap_over_unit(trial)


def _gap_over_unit(trial: Trial) -> Host:
    """Return gap over unit where both limit and comparator are certified, NaN elsewhere, (B,)."""
    return np.where(settled(trial), gap(trial) / unit(trial), np.nan)


def gap_over_leading_order(trial: Trial) -> Host:
    """The gap over its leading order as n/d → 0, which includes the start's correction."""
    leading = to_numpy(leading_order(trial.problem, trace_beside(trial.problem)))
    return np.where(settled(trial), gap(trial) / leading, np.nan)


def settled(trial: Trial) -> Host:
    """Return where limit and comparator are both certified, (B,)."""
    return np.asarray(trial.run.certified & trial.reference("minimum_norm").certified)


def trace_beside(problem: Problem) -> Any:
    """Return ‖λ‖₁ on the namespace of the problem, (B,)."""
    gram = problem.gram
    tau = np.array(trace(problem))
    return array_namespace(gram).asarray(tau, dtype=gram.dtype, device=device(gram))


def band_is_narrow(trial: Trial) -> Margin:
    """The bands say something: ε = (√(n/d_2) + n/d_∞)/c is below 1."""
    return Margin(relative_error(trial), 1.0)


NARROW_BAND = Assumption(band_is_narrow, Status.DERIVED, axes=("aspect", "c"))


# Sweeps.


def n_over_trace(trial: Trial) -> Host:
    """n/‖λ‖₁."""
    return np.asarray(trial.problem.examples / trace(trial.problem))


def number_of_examples(trial: Trial) -> Host:
    """n."""
    return np.full(trial.trials, float(trial.problem.examples))


SWEEPS = (
    Sweep(
        "d at n=20",
        tuple(Point(**SMALL_START, d=10.0**k) for k in range(3, 13)),
        n_over_trace,
        0.5,
    ),
    Sweep(
        "n at d=1e9",
        tuple(Point(n=n, d=1e9, **EQUAL_LABELS) for n in (10, 20, 40, 80, 160, 320)),
        n_over_trace,
        0.5,
    ),
    Sweep(
        "trace at d=1e6",
        tuple(
            Point(**SMALL_START, d=1e6, spectrum=f"isotropic:{scale:g}")
            for scale in geometric(1e-2, 1e2, 5)
        ),
        n_over_trace,
        0.5,
    ),
    Sweep(
        "n at fixed n/trace=1e-4",
        tuple(Point(n=n, d=1e4 * n, **EQUAL_LABELS) for n in (10, 20, 40, 80, 160)),
        number_of_examples,
        0.0,
    ),
)
