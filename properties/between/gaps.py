"""What is claimed and measured of the gap ‖w_∞ − w⋆‖ along the road, of descent and of flow."""

from __future__ import annotations

from typing import Any

import numpy as np

from properties.between.family import DEFAULTS, fixture_gram, relative_gap_at_the_end
from properties.lai2026.setting import (
    POSITIVE_START,
    REGULAR,
    classes_from_step_one,
    label_scale,
    trace,
)
from properties.vardi_shamir2021.theorem3 import PUBLISHED
from verify.arrays import to_numpy
from verify.claims import Assumption, Status
from verify.margin import Margin
from verify.relu.dynamics.flow import FlowRun
from verify.relu.effective_dimensions import coherence, conditioning, solve_error
from verify.relu.gap import implicit_bias_gap, leading_order
from verify.relu.minimum_norm import MinimumNorm
from verify.relu.problem import Problem
from verify.space import Point
from verify.tolerances import IDENTITY
from verify.trial import Trial

Host = np.ndarray[Any, Any]

AT_ONCE = 0.1
"""Relative difference from the closed form from which it no longer describes the gap."""

LEFT = 1e-4
"""Relative gap up to which a flow counts as ending at w⋆: far above what a start of 1e-6 leaves."""

_FITTED = 1e-9
"""Largest misfit, over the largest label, of a limit that is a global minimum."""


def gap(trial: Trial) -> Host:
    """Return ‖w_∞ − w⋆‖₂ of descent, (B,); NaN where the limit is not certified."""
    found = to_numpy(implicit_bias_gap(trial.run, trial.reference("minimum_norm")))
    return np.where(trial.run.certified, found, np.nan)


def flow_gap(trial: Trial) -> Host:
    """Return ‖w_∞ − w⋆‖₂ of gradient flow, (B,); NaN where the limit is not certified."""
    followed: FlowRun = trial.reference("flow")
    best: MinimumNorm = trial.reference("minimum_norm")
    apart = trial.problem.inner_products.norms(followed.duals - best.duals)
    return np.where(followed.certified, to_numpy(apart)[:, 0], np.nan)


def least_norm(trial: Trial) -> Host:
    """Return ‖w⋆‖₂, (B,)."""
    return np.asarray(to_numpy(trial.reference("minimum_norm").norm))


def closed_form(problem: Problem) -> Host:
    """Return ‖c|y₋| − (1−c)β⁰₋‖₂/√τ, (B,): the gap of descent on orthogonal examples of length √τ,
    of which those off S₊ are inactive after step one."""
    return np.asarray(to_numpy(leading_order(problem, trace(problem))))


# Assumptions.


def examples_are_orthogonal(trial: Trial) -> Margin:
    """The examples are orthogonal and of one length: ‖G/τ − I‖_max ≤ 1e-12."""
    gram = to_numpy(trial.problem.gram) / trace(trial.problem)[:, None, None]
    return Margin(np.abs(gram - np.eye(trial.problem.examples)).max(axis=(1, 2)), 1e-12)


def data_are_the_fixture(trial: Trial) -> Margin:
    """The data are copies of the fixture X_γ, y = (16, 18, 0), γ ∈ {1, 2, 5}, up to their scale and
    1e-12, with the start within 1e-5 of 0."""
    problem: Problem = trial.problem
    gram, labels = to_numpy(problem.gram), to_numpy(problem.labels)
    if problem.examples % 3:
        return Margin(1, np.zeros(trial.trials))
    copies = np.eye(problem.examples // 3)
    apart = np.min(
        [
            np.abs(gram / trace(problem)[:, None, None] - np.kron(copies, fixture_gram(gamma))).max(
                axis=(1, 2)
            )
            for gamma in (1.0, 2.0, 5.0)
        ],
        axis=0,
    )
    wanted = np.tile([16 / 18, 1.0, 0.0], len(copies))
    off = np.abs(labels / label_scale(problem)[:, None] - wanted).max(axis=-1)
    start = np.abs(to_numpy(problem.starting_predictions)).max(axis=(1, 2)) / label_scale(problem)
    return Margin(np.maximum(np.maximum(apart, off) / 1e-12, start / 1e-5), 1.0)


def limit_is_a_global_minimum(trial: Trial) -> Margin:
    """Descent ends at a global minimum: it fits S₊, and predicts at most 0 elsewhere, up to 1e-9 of
    the largest label."""
    return _is_global_minimum(trial, trial.run)


def limit_of_the_flow_is_a_global_minimum(trial: Trial) -> Margin:
    """The flow ends at a global minimum: it fits S₊, and predicts at most 0 elsewhere, up to 1e-9
    of the largest label."""
    return _is_global_minimum(trial, trial.reference("flow"))


def _is_global_minimum(trial: Trial, run: Any) -> Margin:
    problem: Problem = trial.problem
    predictions, labels = to_numpy(run.predictions)[:, 0], to_numpy(problem.labels)
    missed = np.where(labels > 0, np.abs(predictions - labels), np.maximum(predictions, 0.0))
    return Margin(missed.max(axis=-1) / label_scale(problem), _FITTED).undecided_where(
        ~run.certified
    )


ORTHOGONAL = Assumption(examples_are_orthogonal, Status.READ, axes=("correlation",))
FIXTURE = Assumption(data_are_the_fixture, Status.READ, axes=("correlation",))
GLOBAL = Assumption(limit_is_a_global_minimum, Status.DERIVED, axes=("correlation", "c"))
FLOW_GLOBAL = Assumption(
    limit_of_the_flow_is_a_global_minimum, Status.DERIVED, axes=("correlation",)
)
GIVEN = (REGULAR, POSITIVE_START)


# Claims about descent.


def gap_begins_at_the_closed_form(trial: Trial) -> Margin:
    """On orthogonal examples the gap of descent is ‖c|y₋| − (1−c)β⁰₋‖₂/√τ, to 1e-12."""
    found, expected = gap(trial), closed_form(trial.problem)
    unsure = ~np.isfinite(found)
    apart = np.abs(np.where(unsure, expected, found) - expected)
    return Margin(apart, 1e-12 * expected, 1e-12 * expected).undecided_where(unsure)


def gap_keeps_to_the_closed_form(trial: Trial) -> Margin:
    """Up to ρ = .2c the gap of descent is within 25% of the closed form of orthogonal examples,
    ‖c|y₋| − (1−c)β⁰₋‖₂/√τ: with probability at least .9 for n = 6 (constants are ours)."""
    return within(trial, 0.25)


def within(trial: Trial, share: float) -> Margin:
    """Return the margin of: the gap of descent is the closed form up to this share of it."""
    found, expected = gap(trial), closed_form(trial.problem)
    unsure = ~np.isfinite(found)
    return Margin.equal(
        np.where(unsure, expected, found), expected, scale=expected, tolerance=share
    ).undecided_where(unsure)


def gap_grows_as_root_n(trial: Trial) -> Host:
    """The gap of descent is Θ(√(n/‖λ‖₁)) along the road, while the correlations of each place stay
    what they are: it grows as √n."""
    return gap(trial)


def gap_vanishes_with_the_step(trial: Trial) -> Host:
    """At ρ = .3 the gap of descent is of the order of its step, as on orthogonal examples: slope 1
    in c, from c = .05 to .4, for n = 24."""
    return gap(trial)


def gap_stays_as_the_step_vanishes(trial: Trial) -> Host:
    """At the fixture the gap of descent does not vanish with its step: slope 0 in c, from c = .02
    to .1."""
    return gap(trial)


def pattern_freezes_near_orthogonality(trial: Trial) -> Margin:
    """While the road is nearly orthogonal the active examples are S₊ from step one on, for ever:
    with probability at least .9 up to ρ = .15 at c = .3, and .35 at c = .9, for n = 6."""
    return classes_from_step_one(trial)


def pattern_moves_near_the_fixture(trial: Trial) -> Margin:
    """Near the fixture the active examples are not S₊ for ever from step one on, whatever the step
    is: with probability at least .9 at ρ = .95, c from .1 to .9, for n = 6."""
    frozen = classes_from_step_one(trial)
    known = frozen.holds | frozen.violated
    return Margin(0.0, np.where(frozen.violated, 1.0, -1.0)).undecided_where(~known)


def what_is_let_go_bounds_the_gap(trial: Trial) -> Margin:
    """Where descent ends at a global minimum, ‖w_∞ − w⋆‖² ≤ Σ_{S₋} (α_iβ_i + max(α_i, 0)|β⋆_i|),
    w_∞ = Xᵀα and β = Xw_∞: only an example off S₊ that has a coefficient, and has left the kink,
    leads away from the minimum norm. Up to 1e-10 of ‖w⋆‖²."""
    return _bounded_by_what_is_let_go(trial, trial.run.duals, gap(trial), 0.0)


def what_the_flow_lets_go_bounds_its_gap(trial: Trial) -> Margin:
    """Where gradient flow ends at a global minimum, the same bound holds of it: an example that it
    holds at the kink to the end (β_i = 0) costs nothing."""
    followed: FlowRun = trial.reference("flow")
    error = np.where(followed.certified, followed.error, 0.0)
    return _bounded_by_what_is_let_go(trial, followed.duals, flow_gap(trial), error)


def _bounded_by_what_is_let_go(trial: Trial, duals: Any, found: Host, error: Any) -> Margin:
    problem: Problem = trial.problem
    gram, best = problem.inner_products, trial.reference("minimum_norm")
    alpha, beta = (to_numpy(each)[:, 0] for each in (duals, gram.times(duals)))
    least = to_numpy(gram.times(best.duals))[:, 0]
    terms = alpha * beta + np.maximum(alpha, 0.0) * np.abs(least)
    bound = np.where(to_numpy(problem.positives), 0.0, terms).sum(axis=-1)
    size = np.maximum(least_norm(trial), 1e-300) ** 2
    unsure = ~np.isfinite(found)
    square = np.where(unsure, 0.0, found) ** 2
    # A limit that is off by `error` moves αᵀβ by 2√κ‖w‖ times it, and gap² by less.
    lost = 4 * np.sqrt(conditioning(problem)) * (error / np.sqrt(size))
    rounding = (solve_error(problem) + lost) / IDENTITY
    return Margin(square, bound + IDENTITY * size, IDENTITY * size, rounding).undecided_where(
        unsure
    )


# Claims about the flow.


def flow_ends_at_the_minimum_norm(trial: Trial) -> Margin:
    """Gradient flow ends at the minimum norm also where the examples are correlated: at ρ = .2 the
    relative gap is at most 1e-4, with probability at least .8 for n = 6 (what is left of the start
    is below it). Examples off S₊ are held at the kink, and so pay for what they hold back."""
    found = flow_gap(trial)
    return Margin(found, LEFT * least_norm(trial), least_norm(trial))


def flow_leaves_the_minimum_norm(trial: Trial) -> Margin:
    """At ρ = .85 and .95 gradient flow ends away from the minimum norm, by more than 1e-3 of it:
    with probability at least .9 for n = 6."""
    return Margin(1e-3 * least_norm(trial), flow_gap(trial), least_norm(trial))


def gap_is_wider_before_the_fixture(trial: Trial) -> Margin:
    """The fixture is not where the flow ends furthest from the minimum norm: at ρ = .95 the gap,
    relative to that norm, is wider, with probability at least .9 for n = 6."""
    at = {**DEFAULTS, **(trial.point or {})}
    there = relative_gap_at_the_end(float(at["gamma"]), float(at["start"]))
    return Margin(there * least_norm(trial), flow_gap(trial), least_norm(trial))


def end_is_the_fixture(trial: Trial) -> Margin:
    """At the end of the road gradient flow ends at (5, −1, s) in every block, with s in the
    interval that Vardi and Shamir publish for their γ."""
    problem: Problem = trial.problem
    if not data_are_the_fixture(trial).holds.any():
        return Margin(0.0, 0.0).undecided_where(np.ones(trial.trials, dtype=bool))
    followed: FlowRun = trial.reference("flow")
    gram = to_numpy(problem.gram)
    # G_33/G_11 = 2γ²/10; s is the third dual times γ, in the fixture's units.
    gammas = np.sqrt(5 * gram[:, 2, 2] / gram[:, 0, 0])
    known = np.asarray([min(PUBLISHED, key=lambda each: abs(each - one)) for one in gammas])
    low, high = (np.asarray([PUBLISHED[one][side] for one in known]) for side in (0, 1))
    unit = (10 + 20 + 2 * known**2) / 3 / trace(problem)
    third = to_numpy(followed.duals)[:, 0, 2::3] / label_scale(problem)[:, None]
    s = third * (18 * known / unit)[:, None]
    width = high - low
    width = np.where(width > 0, width, 1.0)
    return Margin.worst(
        Margin(low, s.min(axis=-1), width), Margin(s.max(axis=-1), high, width)
    ).undecided_where(~followed.certified)


# False statements, for the controls.


def closed_form_holds_all_along(trial: Trial) -> Margin:
    """The gap of descent is within 10% of the closed form of orthogonal examples at every place."""
    return within(trial, AT_ONCE)


def flow_is_always_at_the_minimum_norm(trial: Trial) -> Margin:
    """Gradient flow ends at the minimum norm at the fixture too."""
    return flow_ends_at_the_minimum_norm(trial)


def pattern_freezes_all_along(trial: Trial) -> Margin:
    """The active examples are S₊ from step one on, for ever, near the fixture too."""
    return classes_from_step_one(trial)


def gap_vanishes_with_the_step_at_the_fixture(trial: Trial) -> Host:
    """At the fixture too the gap of descent is of the order of its step."""
    return gap(trial)


def half_of_what_is_let_go_bounds_the_gap(trial: Trial) -> Margin:
    """The gap satisfies ‖w_∞ − w⋆‖² ≤ ½ Σ_{S₋} α_iβ_i."""
    alpha, beta = to_numpy(trial.run.duals)[:, 0], to_numpy(trial.run.predictions)[:, 0]
    terms = np.where(to_numpy(trial.problem.positives), 0.0, alpha * beta)
    return Margin(gap(trial) ** 2, 0.5 * terms.sum(axis=-1), least_norm(trial) ** 2, 1e-12)


# Abscissae and other quantities.


def drawn_at(trial: Trial) -> Point:
    """Return the point that a trial was drawn at."""
    assert trial.point is not None, "measures and rates are sampled at points"
    return trial.point


def place(trial: Trial) -> float:
    """ρ, the place on the road"""
    return float(drawn_at(trial)["correlation"])


def place_over_step(trial: Trial) -> float:
    """ρ/c, the place on the road over the relative step"""
    return float(drawn_at(trial)["correlation"] / drawn_at(trial)["c"])


def greatest_cosine(trial: Trial) -> Host:
    """Greatest |cosine| between two examples."""
    return np.asarray(coherence(trial.problem))
