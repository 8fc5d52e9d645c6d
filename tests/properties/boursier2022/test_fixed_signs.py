"""Orthogonal inputs, fixed output signs: the closed form, what claims look at, where bounds lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from properties.boursier2022 import fixed_signs, setting, single_neuron
from properties.catalogue import find_theorem
from verify import Margin, Point, Trial
from verify.arrays import backend
from verify.engine.evaluate import scope_of
from verify.relu import Problem
from verify.verdict import IN_SCOPE, OUT_OF_SCOPE

SEED, TRIALS = 20261201, 20
THEOREM = find_theorem("boursier2022.fixed_signs")
LINEAR = "gap_is_linear_in_the_step"
FLOW = "flow_limit_is_the_minimum_norm"
CLOSED, BOUND = "gap_is_the_closed_form", "gap_is_at_most_linear_in_the_step"

Change = Callable[[Any], Any]


@cache
def trial_at(point: Point) -> Trial:
    problem = THEOREM.draw(point, np.random.default_rng(SEED), TRIALS)
    return Trial(THEOREM, point, problem, TRIALS)


def changed(point: Point, what: str, change: Change) -> Trial:
    """Return the same batch with its run, or the reference called `what`, changed."""
    there = trial_at(point)
    references: dict[str, Any] = {
        name: lambda _problem, _run, name=name: there.reference(name) for name in THEOREM.references
    }
    run = there.run
    if what == "run":
        run = change(run)
    else:
        references[what] = lambda _problem, _run: change(there.reference(what))
    perturbed = replace(THEOREM, references=references)
    return Trial(perturbed, point, there.problem, TRIALS, simulate=lambda _problem: run)


def margin(claim: str, trial: Trial) -> Margin:
    found: Margin = THEOREM.claim(claim).inequality(trial)
    return found


def scaled_off_class(factor: float) -> Change:
    """Let the run leave so many times as much on the negative labels."""

    def change(run: Any) -> Any:
        factors = np.where(run.problem.labels < 0, factor, 1.0)[:, None, :]
        return replace(run, duals=run.duals * factors)

    return change


def every(name: str, value: Any) -> Change:
    return lambda found: replace(found, **{name: np.full(TRIALS, value)})


def in_rationals(square: Fraction, y: Fraction, start: Fraction, step: Fraction) -> Fraction:
    """Return (β^∞)²/‖x‖² of one negative label, by steps of descent in rational arithmetic."""
    prediction = start
    while prediction > 0:
        prediction -= step * square * (prediction - y)
    return prediction**2 / square


def test_the_closed_form_is_what_steps_in_rational_arithmetic_come_to() -> None:
    squares, labels = (1, 2, 5, 3), (-1, -3, -2, 4)
    start, step = (Fraction(1, 3), Fraction(2), Fraction(1, 50), Fraction(1, 7)), Fraction(1, 11)
    total = sum(
        in_rationals(Fraction(g), Fraction(y), b, step)
        for g, y, b in zip(squares, labels, start, strict=True)
        if y < 0
    )
    problem = Problem.from_gram(
        np.diag(np.asarray(squares, float)),
        np.asarray(labels, float),
        starting_predictions=[[float(b) for b in start]],
        step_size=float(step),
        perpendicular_gram=[[0.25]],
    )
    expected = float(total + Fraction(1, 4)) ** 0.5
    assert single_neuron.closed_form(problem)[0] == pytest.approx(expected, rel=1e-14)
    trial = Trial(THEOREM, None, problem, 1)
    assert fixed_signs.gap(trial)[0] == pytest.approx(expected, rel=1e-13)


def test_a_negative_label_that_comes_to_zero_exactly_rests_there() -> None:
    """β⁰ = 1, y = −1 and ηG = ½: the first step ends at 0, where φ'(0) = 0."""
    problem = Problem.from_gram(
        np.diag([1.0, 1.0]), [-1.0, 1.0], starting_predictions=[[1.0, 0.5]], step_size=0.5
    )
    assert single_neuron.closed_form(problem)[0] == 0
    trial = Trial(THEOREM, None, problem, 1)
    assert fixed_signs.gap(trial)[0] < 1e-14


def test_an_input_of_zero_is_not_orthogonal() -> None:
    gram = np.diag([1.0, 0.0])
    problem = Problem.from_gram(gram, [1.0, -1.0], starting_predictions=[[0.5, 0.0]], step_size=0.5)
    assert setting.inputs_are_orthogonal(Trial(THEOREM, None, problem, 1)).violated.all()


def test_weights_moved_plainly_end_at_the_closed_form() -> None:
    rng = np.random.default_rng(SEED)
    basis, _ = np.linalg.qr(rng.normal(size=(9, 9)))
    lengths, labels = rng.uniform(0.5, 1, 6), np.asarray([1.0, -0.7, -0.5, 0.6, -1.0, -0.9])
    X, start = lengths[:, None] * basis[:6], rng.uniform(0.01, 0.3, 6)
    outside = 0.2 * basis[7]
    w = X.T @ (start / lengths**2) + outside
    best = X[labels > 0].T @ (labels / lengths**2)[labels > 0]
    for _ in range(1000):
        beta = X @ w
        w = w - 0.3 * X.T @ (np.where(beta > 0, beta - labels, 0.0))
    problem = Problem.from_gram(
        np.diag(lengths**2),
        labels,
        starting_predictions=start[None, :],
        step_size=0.3,
        perpendicular_gram=[[0.04]],
    )
    found = single_neuron.closed_form(problem)[0]
    assert np.linalg.norm(w - best) == pytest.approx(found, rel=1e-12)


@pytest.mark.parametrize("point", THEOREM.cells)
def test_the_closed_form_holds_and_breaks_just_beyond_its_tolerance(point: Point) -> None:
    assert margin(CLOSED, trial_at(point)).holds.all()
    factor = 1.3 if "outside_span" in point else 1 + 3e-12
    assert margin(CLOSED, changed(point, "run", scaled_off_class(factor))).violated.all()


def test_the_linear_bound_is_what_the_smallest_starts_come_to() -> None:
    """From β⁰ → 0 the one step that is taken goes all its length beyond zero."""
    point = Point(n=6, step=0.3, start_scale=1e-13)
    gap, bound = (
        fixed_signs.gap(trial_at(point)),
        single_neuron.linear_bound(trial_at(point).problem),
    )
    assert np.allclose(gap, bound, rtol=1e-10)
    there = trial_at(THEOREM.cells[0])
    ratio = single_neuron.linear_bound(there.problem) / fixed_signs.gap(there)
    above, below = float(ratio.max()) * (1 + 1e-9), float(ratio.min()) * (1 - 1e-9)
    broken = changed(THEOREM.cells[0], "run", scaled_off_class(above))
    assert margin(BOUND, broken).violated.all()
    assert margin(BOUND, changed(THEOREM.cells[0], "run", scaled_off_class(below))).holds.all()


def bent(power: float) -> Change:
    """Let the gaps of the shorter steps be off by these powers of 10, as another slope has them."""

    def change(runs: Any) -> Any:
        return tuple(
            scaled_off_class(10 ** (power * number))(run) for number, run in enumerate(runs)
        )

    return change


def test_a_slope_off_by_more_than_one_percent_violates_linearity() -> None:
    point = fixed_signs.SHORT
    assert margin(LINEAR, trial_at(point)).holds.all()
    assert margin(LINEAR, changed(point, "shortened", bent(0.005))).holds.all()
    assert margin(LINEAR, changed(point, "shortened", bent(0.015))).violated.all()
    assert margin(LINEAR, changed(point, "shortened", bent(-0.015))).violated.all()


def test_the_flow_that_ends_elsewhere_is_not_at_the_minimum_norm() -> None:
    point = fixed_signs.FLOW
    trial = trial_at(point)
    assert trial.reference("flow").certified.all()
    assert margin(FLOW, trial).holds.all()

    def elsewhere(found: Any) -> Any:
        return replace(found, duals=found.duals + 1e-9)

    assert margin(FLOW, changed(point, "flow", elsewhere)).violated.all()
    outside = replace(trial.problem, perpendicular_gram=np.full((TRIALS, 1, 1), 1e-16))
    assert margin(FLOW, Trial(THEOREM, point, outside, TRIALS)).violated.all()


def last_meets_a_tie(runs: Any) -> Any:
    return *runs[:2], every("near_ties", 1)(runs[2])


@pytest.mark.parametrize(
    ("claim", "point", "what", "change"),
    [
        (CLOSED, THEOREM.cells[0], "run", every("status", "undecided")),
        (CLOSED, THEOREM.cells[0], "run", every("near_ties", 1)),
        (CLOSED, THEOREM.cells[0], "minimum_norm", every("kkt", 1.0)),
        (BOUND, THEOREM.cells[0], "run", every("status", "undecided")),
        (FLOW, fixed_signs.FLOW, "flow", every("status", "undecided")),
        (LINEAR, fixed_signs.SHORT, "shortened", last_meets_a_tie),
    ],
)
def test_a_limit_that_is_not_certain_decides_nothing(
    claim: str, point: Point, what: str, change: Change
) -> None:
    found = margin(claim, changed(point, what, change))
    assert not (found.holds | found.violated).any()


def scope(claim: str, point: Point) -> np.ndarray[Any, Any]:
    return np.asarray(scope_of(THEOREM.claim(claim), trial_at(point)))


@pytest.mark.parametrize(
    ("claim", "point"),
    [
        (CLOSED, Point(n=6, correlation=1e-6)),
        (CLOSED, Point(n=6, step=4.1)),
        (CLOSED, Point(n=50, step=1.3)),
        (CLOSED, Point(n=20, start="random_sign")),
        (LINEAR, fixed_signs.SHORT.moved(step=0.17)),
        (LINEAR, fixed_signs.SHORT.moved(start="fixed")),
        (LINEAR, fixed_signs.SHORT.moved(outside_span=0.01)),
        (FLOW, Point(n=3, outside_span=0.01)),
    ],
)
def test_what_is_not_assumed_is_out_of_scope(claim: str, point: Point) -> None:
    assert (scope(claim, point) == OUT_OF_SCOPE).all()


def test_what_is_assumed_is_in_scope() -> None:
    for claim in THEOREM.claims:
        points = claim.at or (claim.sweeps[0].points if claim.kind == "rate" else THEOREM.cells)
        for point in points:
            found = np.asarray(scope_of(claim, trial_at(point)))
            assert (found == IN_SCOPE).all(), (claim.id, point)


def test_starts_shrink_with_the_step_and_shares_are_below_a_half() -> None:
    shares = []
    for step in (1e-6, 1e-3):
        problem = trial_at(Point(n=50, step=step, start="with_step")).problem
        first = step * single_neuron.squares(problem) * np.abs(problem.labels)
        shares.append(problem.starting_predictions[:, 0] / first)
    low, high = np.min(shares), np.max(shares)
    assert 0 < low < 0.01
    assert 0.49 < high <= 0.5
    assert abs(np.mean(shares[0]) - np.mean(shares[1])) < 0.02, "the same law at every step"


def test_the_gap_has_no_closed_form_beyond_a_step_of_one_over_the_square() -> None:
    problem = trial_at(Point(n=6, step=4.1)).problem
    assert np.isnan(single_neuron.closed_form(problem)).all()
    facts = THEOREM.describe(problem, 0)
    assert "gap" not in facts
    assert "squared_lengths" in facts
    assert "gap" in THEOREM.describe(trial_at(THEOREM.cells[0]).problem, 0)
    assert "gram" in THEOREM.describe(trial_at(Point(n=6, correlation=0.1)).problem, 0)


def test_lengths_are_unequal_and_within_their_spread() -> None:
    problem = trial_at(Point(n=50, step=0.1, spread=16.0)).problem
    squares = single_neuron.squares(problem)
    assert squares.max() <= 1
    assert squares.min() >= 1 / 16
    assert squares.min() < 0.08
    assert squares.max() > 0.9
    point = Point(n=5, correlation=0.3)
    gram = setting.draw_data({**single_neuron.DEFAULTS, **point}, np.random.default_rng(0), 3)[0]
    lengths = np.sqrt(np.diagonal(gram, axis1=1, axis2=2))
    cosines = gram / (lengths[:, :, None] * lengths[:, None, :])
    assert np.allclose(cosines, 0.3 + 0.7 * np.eye(5))


@pytest.mark.parametrize("name", ["array-api-strict", "torch"])
def test_the_same_on_another_array_library(name: str) -> None:
    pytest.importorskip(name.replace("-", "_"))
    there = trial_at(THEOREM.cells[0])
    moved = THEOREM.place(there.problem, backend(name))
    trial = Trial(THEOREM, there.point, moved, TRIALS)
    for claim in (CLOSED, BOUND, FLOW):
        assert margin(claim, trial).holds.all()
