"""What is measured along the road, for gradient flow and for descent at several steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from properties.between import gaps
from properties.between.gaps import GIVEN, drawn_at, flow_gap, gap, least_norm, place
from properties.lai2026.setting import trace
from verify.claims import Status
from verify.margin import Margin
from verify.measures import Frequency, Measure, Quantiles
from verify.relu.effective_dimensions import regime_index
from verify.space import Point
from verify.trial import Trial

Host = np.ndarray[Any, Any]

STEPS = (0.1, 0.3, 0.9)
"""Relative steps c of descent."""

PLACES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 0.85, 0.95, 1.0)
FLOW_PLACES = (0.0, 0.2, 0.6, 0.85, 0.95, 1.0)
"""Places where gradient flow is followed: it costs a hundred times what descent does."""

DESCENTS = tuple(Point(correlation=rho, c=c) for c in STEPS for rho in PLACES)
FLOWS = tuple(Point(correlation=rho, c=0.0) for rho in FLOW_PLACES)
NEAR_ORTHOGONAL = tuple(
    Point(correlation=round(ratio * c, 4), c=c)
    for c in STEPS
    for ratio in (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
    if ratio * c <= 0.5
)
"""Places up to half of the road, beside the step."""

SAME_DATA = tuple(Point(correlation=rho, c=STEPS[1]) for rho in PLACES)
"""Of what the step has no part in."""

FINEST = 1e-5
"""Relative gap below which nothing is told: some of it is what the start left."""

ROAD = "the road between"
"""The figure in which the measures of the road stand above one another."""


def flows(trial: Trial) -> bool:
    """Whether a point is about gradient flow: c = 0."""
    return bool(drawn_at(trial)["c"] == 0)


def relative_gap(trial: Trial) -> Host:
    """‖w_∞ − w⋆‖₂/‖w⋆‖₂ of descent, and of gradient flow where c = 0; 1e-5 where it is less, which
    is left of the start."""
    found = flow_gap(trial) if flows(trial) else gap(trial)
    return np.maximum(found / least_norm(trial), FINEST)  # NaN stays NaN


def gap_over_root_n(trial: Trial) -> Host:
    """‖w_∞ − w⋆‖₂ over √(n/‖λ‖₁), which is the same all along, of descent, and of gradient flow
    where c = 0; 1e-5 where it is less."""
    found = flow_gap(trial) if flows(trial) else gap(trial)
    return np.maximum(found / root_n_over_trace(trial), FINEST)


def closed_form_over_root_n(trial: Trial) -> Host:
    """The closed form of orthogonal examples over √(n/‖λ‖₁), ‖c|y₋| − (1−c)β⁰₋‖/√n; without a value
    for gradient flow, of which it says 0, and where it is less than 1e-5."""
    if flows(trial):
        return np.full(trial.trials, np.nan)
    expected = gaps.closed_form(trial.problem) / root_n_over_trace(trial)
    return np.where(expected < FINEST, np.nan, expected)


def root_n_over_trace(trial: Trial) -> Host:
    """√(n/‖λ‖₁)"""
    return np.asarray(np.sqrt(trial.problem.examples / trace(trial.problem)))


def frozen(trial: Trial) -> Margin:
    """From step one on, for ever, the active examples are S₊."""
    return gaps.pattern_freezes_near_orthogonality(trial)


def moves(trial: Trial) -> Margin:
    """The active examples are not S₊ for ever from step one on."""
    return gaps.pattern_moves_near_the_fixture(trial)


def departs_from_the_closed_form(trial: Trial) -> Margin:
    """The gap of descent differs from the closed form of orthogonal examples by more than 10%."""
    near = gaps.within(trial, gaps.AT_ONCE)
    known = near.holds | near.violated
    return Margin(0.0, np.where(near.violated, 1.0, -1.0)).undecided_where(~known)


def flow_is_at_the_minimum_norm(trial: Trial) -> Margin:
    """Gradient flow ends at the minimum norm: the relative gap is at most 1e-4."""
    return gaps.flow_ends_at_the_minimum_norm(trial)


def norm_over_root_n(trial: Trial) -> Host:
    """‖w⋆‖₂ over √(n/‖λ‖₁)."""
    return least_norm(trial) / root_n_over_trace(trial)


def index_of_regime(trial: Trial) -> Host:
    """Regime index H, ours, with d_2 as realised; without a value where it is infinite or 0."""
    index = np.asarray(regime_index(trial.problem))
    return np.where(np.isfinite(index) & (index > 0), index, np.nan)


MEASURES: tuple[Measure, ...] = (
    Quantiles(
        relative_gap,
        given=GIVEN,
        at=(*FLOWS, *DESCENTS),
        against=place,
        by="c",
        axis="max(‖w_∞ − w⋆‖/‖w⋆‖, 1e-5), flow and descent",
        status=Status.DERIVED,
        figure=ROAD,
    ),
    Quantiles(
        gap_over_root_n,
        given=GIVEN,
        at=(*FLOWS, *DESCENTS),
        against=place,
        by="c",
        prediction=closed_form_over_root_n,
        axis="max(gap/√(n/‖λ‖₁), 1e-5), flow and descent",
        status=Status.DERIVED,
        figure=ROAD,
    ),
    Frequency(
        frozen,
        given=GIVEN,
        at=DESCENTS,
        against=place,
        by="c",
        axis="frequency of freezing at S₊ after step one",
        status=Status.DERIVED,
        figure=ROAD,
    ),
    Quantiles(
        norm_over_root_n,
        given=GIVEN,
        at=SAME_DATA,
        against=place,
        axis="minimum norm ‖w⋆‖ over √(n/‖λ‖₁)",
        status=Status.DERIVED,
        figure=ROAD,
    ),
    Quantiles(
        gaps.greatest_cosine,
        at=SAME_DATA,
        against=place,
        axis="greatest |cosine| between examples",
        status=Status.DERIVED,
        figure=ROAD,
    ),
    Quantiles(
        index_of_regime,
        at=DESCENTS,
        against=place,
        by="c",
        axis="regime index H",
        status=Status.HEURISTIC,
        figure=ROAD,
    ),
    Frequency(
        moves,
        given=GIVEN,
        at=DESCENTS,
        against=place,
        by="c",
        levels=(0.1, 0.5),
        axis="frequency of moving after step one",
        status=Status.DERIVED,
        name="where_freezing_ends",
    ),
    Frequency(
        frozen,
        given=GIVEN,
        at=tuple(point for point in DESCENTS if point["correlation"] > 0),
        against=index_of_regime,
        by="c",
        levels=(0.5, 0.9),
        axis="frequency of freezing at S₊ after step one",
        status=Status.HEURISTIC,
        name="freezing_by_regime_index",
    ),
    Frequency(
        departs_from_the_closed_form,
        given=GIVEN,
        at=NEAR_ORTHOGONAL,
        against=gaps.place_over_step,
        by="c",
        levels=(0.1, 0.5),
        axis="frequency of a gap 10% off the closed form",
        status=Status.DERIVED,
        name="where_the_closed_form_ends",
    ),
    Frequency(
        flow_is_at_the_minimum_norm,
        given=GIVEN,
        at=FLOWS,
        against=place,
        axis="frequency of a flow that ends at the minimum norm",
        status=Status.DERIVED,
        name="flow_at_the_minimum_norm",
    ),
)
