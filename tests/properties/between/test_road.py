"""The road from orthogonal data to the fixture: what it is, and what is claimed along it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import array_api_strict
import numpy as np
import pytest

from properties.between import along, family, gaps
from properties.catalogue import find_theorem
from properties.vardi_shamir2021 import theorem3
from verify import Margin, Point, Trial
from verify.arrays import to_numpy
from verify.errors import InputError
from verify.relu import Problem, minimum_norm
from verify.relu.dynamics.flow import flow
from verify.relu.effective_dimensions import coherence

SEED = 20261201
TRIALS = 40

THEOREM = find_theorem("between.road")

Change = Callable[[Any], Any]


def draw(trials: int = TRIALS, **coordinates: Any) -> Problem:
    return family.draw(Point(**coordinates), np.random.default_rng(SEED), trials)


@cache
def trial_at(rho: float, c: float, trials: int = TRIALS) -> Trial:
    point = Point(correlation=rho, c=c)
    return Trial(THEOREM, point, draw(trials, correlation=rho, c=c), trials)


def changed(there: Trial, what: str, change: Change) -> Trial:
    """Return the same batch with its run, or the reference called `what`, changed."""
    run = change(there.run) if what == "run" else there.run
    references: dict[str, Any] = {
        name: lambda _problem, _run, name=name: there.reference(name) for name in THEOREM.references
    }
    if what != "run":
        references[what] = lambda _problem, _run: change(there.reference(what))
    perturbed = replace(THEOREM, references=references)
    return Trial(perturbed, there.point, there.problem, there.trials, lambda _problem: run)


def margin(claim: str, trial: Trial) -> Margin:
    found: Margin = THEOREM.claim(claim).inequality(trial)
    return found


# The road.


def test_the_road_begins_with_orthogonal_examples_of_one_length() -> None:
    problem = draw(correlation=0.0)
    assert np.array_equal(problem.gram, np.tile(np.eye(6), (TRIALS, 1, 1)))
    assert gaps.examples_are_orthogonal(trial_at(0.0, 0.3)).holds.all()
    assert gaps.examples_are_orthogonal(trial_at(0.05, 0.3)).violated.all()


@pytest.mark.parametrize("gamma", [1.0, 2.0, 5.0])
def test_the_road_ends_at_the_fixture(gamma: float) -> None:
    """Blocks of the features themselves, up to a scale of features and labels."""
    problem = draw(3, correlation=1.0, gamma=gamma)
    rows = theorem3.features(gamma)
    features = np.kron(np.eye(2), rows)
    scale = (features**2).sum() / 6
    assert np.allclose(problem.gram, features @ features.T / scale, rtol=0, atol=1e-15)
    assert np.allclose(18 * problem.labels, [16, 18, 0, 16, 18, 0], rtol=0, atol=1e-14)
    trial = Trial(THEOREM, Point(correlation=1.0, c=0.0, gamma=gamma), problem, 3)
    assert gaps.data_are_the_fixture(trial).holds.all()
    assert margin("end_is_the_fixture", trial).holds.all()


def test_the_same_problem_is_followed_once_and_told_every_time() -> None:
    """Of six problems two are the same twice; each has the flow that it has alone."""
    problem = draw(4, correlation=0.6, blocks=1).select(np.asarray([2, 0, 3, 2, 1, 0]))
    for library in (np, array_api_strict):
        there = Problem.from_gram(
            library.asarray(problem.gram),
            library.asarray(problem.labels),
            starting_predictions=library.asarray(problem.starting_predictions),
            step_size=0.3,
            slope_at_zero=1,
        )
        found = family.follow(there, None)
        alone = [flow(problem.select(np.asarray([index]))) for index in range(6)]
        assert len(found.paths) == 6
        assert found.paths[0] is found.paths[3]
        assert found.paths[0] is not found.paths[1]
        for name in ("status", "events", "last_event", "duals", "predictions", "held", "error"):
            expected = np.concatenate([to_numpy(getattr(one, name)) for one in alone])
            assert np.array_equal(to_numpy(getattr(found, name)), expected), name


def test_the_third_weight_is_that_of_the_fixture_itself() -> None:
    """From the features and labels as published, without the road's scales."""
    problem = theorem3.problem_of(2.0, np.ones(1))
    weights = flow(problem).duals[0, 0] @ problem.features[0]
    trial = trial_at(1.0, 0.0, 2)
    s = trial.reference("flow").duals[0, 0, 2] * 2 * 18 / (38 / 3)
    assert weights[2] == pytest.approx(-0.1107, abs=1e-4)
    assert s == pytest.approx(weights[2], abs=1e-5)


def test_small_correlations_are_those_of_gaussian_features_in_2n_over_rho_squared_dimensions() -> (
    None
):
    rho, n = 0.01, 24
    gram = draw(400, correlation=rho, blocks=n // 3).gram
    off = gram[:, ~np.eye(n, dtype=bool)]
    assert off.std() == pytest.approx(rho / np.sqrt(2 * n), rel=0.03)
    assert abs(off.mean()) < 1e-3 * rho + 1e-4


def test_nothing_but_correlations_and_labels_changes_along_the_road() -> None:
    places = np.linspace(0, 1, 21)
    problems = [draw(correlation=rho, blocks=4) for rho in places]
    trace = np.asarray([np.trace(p.gram, axis1=1, axis2=2) / 12 for p in problems])
    assert np.allclose(trace, 1.0, rtol=0, atol=1e-14)
    assert min(p.eigenvalues.min() for p in problems) > 0.01
    off = ~np.eye(12, dtype=bool)
    squares = np.asarray([(p.gram[:, off] ** 2).mean() for p in problems])
    assert (np.diff(squares) > 0).all()
    expected = places**2 * ((1 - places) ** 2 / 24 + places**2 * squares[-1])
    assert np.allclose(squares[1:-1], expected[1:-1], rtol=0.15)
    greatest = np.asarray([np.median(coherence(p)) for p in problems])
    assert (np.diff(greatest) > 0).all()
    assert greatest[-1] == pytest.approx(1 / np.sqrt(2))


@pytest.mark.parametrize(
    "wrong", [{"correlation": 1.5}, {"correlation": -0.1}, {"y_min": 2.0}, {"gamma": 0.0}]
)
def test_places_off_the_road_are_refused(wrong: dict[str, float]) -> None:
    (name, value), *_ = wrong.items()
    with pytest.raises(InputError, match=rf"{name}={value:g}, expected a number from"):
        draw(2, **{"correlation": 0.5, **wrong})


def test_labels_move_along_a_straight_line_to_those_of_the_fixture() -> None:
    begin, end = draw(correlation=0.0).labels, draw(correlation=1.0).labels
    assert (np.sign(begin) == np.tile([1, 1, -1], 2)).all()
    for rho in (0.2, 0.7):
        expected = (1 - rho) * begin + rho * end
        assert np.allclose(draw(correlation=rho).labels, expected, rtol=0, atol=1e-15)


def test_draws_of_one_seed_are_the_same_roads_everywhere() -> None:
    start, later = draw(correlation=0.2), draw(correlation=0.6, c=0.9)
    end = np.kron(np.eye(2), family.fixture_gram(2.0))
    found = [
        (p.gram - (1 - rho) * np.eye(6) - rho**2 * end) / (rho * (1 - rho))
        for p, rho in ((start, 0.2), (later, 0.6))
    ]
    assert np.allclose(found[0], found[1], rtol=0, atol=1e-12)


# What is claimed.


def test_the_gap_at_the_beginning_is_that_of_plain_steps() -> None:
    """One example after the other: they do not know of one another."""
    trial = trial_at(0.0, 0.3)
    for gap, labels in zip(gaps.gap(trial), trial.problem.labels, strict=True):
        square = 0.0
        for label in labels[labels < 0]:
            prediction = 1e-6
            while prediction > 0:
                prediction -= 0.3 * (prediction - label)
            square += prediction**2
        assert gap == pytest.approx(np.sqrt(square), rel=1e-12)


@pytest.mark.parametrize(("rho", "c"), [(0.2, 0.3), (0.7, 0.9)])
def test_the_gap_is_bounded_by_what_is_let_go_for_other_global_minima_too(
    rho: float, c: float
) -> None:
    """The inequality is about global minima: here random ones, found by no dynamics."""
    trial = trial_at(rho, c)
    problem, best = trial.problem, minimum_norm(trial.problem)
    generator = np.random.default_rng(1)
    below = np.where(problem.labels > 0, problem.labels, -generator.exponential(1, (TRIALS, 6)))
    duals = np.linalg.solve(problem.gram, below[:, :, None])[:, None, :, 0]
    other = replace(trial.run, duals=duals, predictions=below[:, None, :])
    assert (problem.inner_products.norms(duals - best.duals)[:, 0] > 0.05).all()
    assert (
        margin("what_is_let_go_bounds_the_gap", changed(trial, "run", lambda _: other))
        .holds[gaps.limit_is_a_global_minimum(trial).holds]
        .all()
    )


@pytest.mark.parametrize("dual", [-0.5, 0.2])
def test_the_bound_by_what_is_let_go_by_hand(dual: float) -> None:
    """Two examples of cosine −.4, labels 1 and −1: w⋆ = x_1, and β⋆_2 = −.4. Another global minimum
    is w = (1 + .4a)x_1 + ax_2 with a prediction of −.4(1 + .4a) + a on the second."""
    cosine = 0.4
    problem = Problem.from_gram(
        [[1.0, -cosine], [-cosine, 1.0]],
        [1.0, -1.0],
        starting_predictions=[[1e-6, 1e-6]],
        step_size=0.3,
        slope_at_zero=1,
    )
    trial = Trial(THEOREM, None, problem, 1)
    second = -cosine * (1 + cosine * dual) + dual
    found = replace(
        trial.run,
        status=np.asarray(["certified"]),
        duals=np.asarray([[[1 + cosine * dual, dual]]]),
        predictions=np.asarray([[[1.0, second]]]),
    )
    value = margin("what_is_let_go_bounds_the_gap", changed(trial, "run", lambda _: found)).value
    bound = dual * second + max(dual, 0.0) * cosine
    square = dual**2 * (1 - cosine**2)
    assert second <= 0
    assert value[0] * 1e-10 == pytest.approx(bound - square + 1e-10, abs=1e-13)


def times(name: str, factor: float) -> Change:
    return lambda found: replace(found, **{name: factor * getattr(found, name)})


@pytest.mark.parametrize(
    ("claim", "rho", "c", "what", "change"),
    [
        ("gap_begins_at_the_closed_form", 0.0, 0.3, "run", times("duals", 1 + 1e-9)),
        ("gap_begins_at_the_closed_form", 0.0, 0.3, "minimum_norm", times("duals", 1 + 1e-6)),
        ("gap_keeps_to_the_closed_form", 0.06, 0.3, "run", times("duals", 3.0)),
        ("what_is_let_go_bounds_the_gap", 0.0, 0.3, "minimum_norm", times("duals", 1.01)),
        ("what_the_flow_lets_go_bounds_its_gap", 0.2, 0.0, "flow", times("duals", 1.01)),
        ("flow_ends_at_the_minimum_norm", 0.2, 0.0, "flow", times("duals", 1 + 2e-4)),
        ("flow_leaves_the_minimum_norm", 0.2, 0.0, "flow", times("duals", 1.0)),
        ("gap_is_wider_before_the_fixture", 0.6, 0.0, "flow", times("duals", 1.0)),
        ("end_is_the_fixture", 1.0, 0.0, "flow", times("duals", 1.2)),
        ("end_is_the_fixture", 1.0, 0.0, "flow", times("duals", 0.8)),
        ("comparator_is_optimal", 0.3, 0.9, "minimum_norm", times("duals", 1 + 1e-6)),
        ("pattern_moves_near_the_fixture", 0.0, 0.3, "run", times("duals", 1.0)),
        ("pattern_freezes_near_orthogonality", 1.0, 0.3, "run", times("duals", 1.0)),
    ],
)
def test_a_claim_can_fail(claim: str, rho: float, c: float, what: str, change: Change) -> None:
    assert margin(claim, changed(trial_at(rho, c), what, change)).violated.mean() > 0.9


@pytest.mark.parametrize(
    ("claim", "what"),
    [
        ("gap_keeps_to_the_closed_form", "run"),
        ("what_is_let_go_bounds_the_gap", "run"),
        ("flow_ends_at_the_minimum_norm", "flow"),
        ("what_the_flow_lets_go_bounds_its_gap", "flow"),
    ],
)
def test_what_is_not_certified_decides_nothing(claim: str, what: str) -> None:
    def lost(found: Any) -> Any:
        return replace(found, status=np.full(TRIALS, "undecided"))

    found = margin(claim, changed(trial_at(0.2, 0.3), what, lost))
    assert not (found.holds | found.violated).any()


def test_what_may_still_move_has_not_moved_and_is_not_frozen() -> None:
    def lost(found: Any) -> Any:
        return replace(found, status=np.full(TRIALS, "undecided"))

    for claim in ("pattern_moves_near_the_fixture", "pattern_freezes_near_orthogonality"):
        found = margin(claim, changed(trial_at(0.0, 0.3), "run", lost))
        assert not (found.holds | found.violated).any()


def test_the_flow_that_holds_examples_ends_at_the_minimum_norm_exactly() -> None:
    """From the start 0 nothing is left of it, and φ'(0) = 1 lets the neuron leave."""
    problem = draw(20, correlation=0.05, blocks=1, start=0.0)
    followed, best = flow(problem), minimum_norm(problem)
    apart = problem.inner_products.norms(followed.duals - best.duals)[:, 0]
    constrained = np.abs(best.duals[:, 0, 2]) > 1e-6
    assert 5 < constrained.sum() < 15, "of a constraint in about half of the draws"
    assert followed.held[constrained, 0, 2].all()
    assert (apart[followed.certified] < 1e-12).all()
    assert followed.certified.mean() > 0.9


def test_the_end_has_the_gap_of_the_fixture_itself() -> None:
    """w⋆ = (5, −1, 0) and w_∞ = (5, −1, s), in the features' own units: |s|/√26."""
    for gamma, s in ((1.0, -0.0408), (2.0, -0.1107), (5.0, -0.2091)):
        expected = abs(s) / 26**0.5
        assert family.relative_gap_at_the_end(gamma, 1e-6) == pytest.approx(expected, rel=2e-3)
    trial = trial_at(1.0, 0.0)
    same = margin("gap_is_wider_before_the_fixture", trial)
    np.testing.assert_allclose(same.value, 0.0, atol=1e-9)


def test_smaller_steps_help_near_orthogonality_and_not_at_the_fixture() -> None:
    near = [np.median(gaps.gap(trial_at(0.1, c))) for c in (0.1, 0.3, 0.9)]
    assert near[0] < near[1] / 2 < near[2] / 4
    end = [gaps.gap(trial_at(1.0, c))[0] for c in (0.02, 0.1)]
    by_flow = gaps.flow_gap(trial_at(1.0, 0.0))[0]
    assert end[0] == pytest.approx(by_flow, rel=0.05)
    assert end[0] < end[1] < 1.2 * by_flow


# What is measured.


def test_a_gap_of_the_flow_is_measured_where_the_step_is_zero() -> None:
    descent, followed = trial_at(1.0, 0.1), trial_at(1.0, 0.0)
    norm = gaps.least_norm(followed)
    assert np.allclose(along.relative_gap(followed), gaps.flow_gap(followed) / norm)
    assert np.allclose(along.relative_gap(descent), gaps.gap(descent) / norm)
    assert (along.relative_gap(trial_at(0.0, 0.0)) == 1e-5).all()
    assert np.isnan(along.closed_form_over_root_n(followed)).all()


def test_moving_is_the_opposite_of_freezing() -> None:
    trial = trial_at(0.5, 0.3)
    frozen, moves = along.frozen(trial), along.moves(trial)
    assert np.array_equal(frozen.holds, moves.violated)
    assert np.array_equal(frozen.violated, moves.holds)
    assert 0 < frozen.holds.sum() < TRIALS


def test_measures_of_the_road_share_a_figure() -> None:
    shared = [measure.id for measure in THEOREM.measures if measure.figure == along.ROAD]
    assert len(shared) == 6
    assert all(measure.against is gaps.place for measure in THEOREM.measures if measure.figure)
