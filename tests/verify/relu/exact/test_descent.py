"""Gradient descent over the rationals, against descent in the weights themselves."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tests.verify.relu.exact.problems import descend_in_weights, draw, fraction, fractions
from verify.exact import NotDecided
from verify.relu.exact import ExactProblem, descend, descent, first_departure
from verify.relu.exact.certificate import covered
from verify.relu.exact.descent import MOST_BITS, MOST_STEPS, observe, state_at


def test_two_orthogonal_examples_by_hand():
    """X = I, y = (1, −1), β⁰ = 1/16, η = ½: β_1 = (17/32, −15/32), and the second stays there."""
    start = [[Fraction(1, 16)] * 2]
    problem = ExactProblem.from_features([[1, 0], [0, 1]], [1, -1], start=start, step_size=0.5)
    run = descend(problem)
    assert [fractions(step) for step in run.steps] == [
        [[Fraction(1, 16), Fraction(1, 16)]],
        [[Fraction(17, 32), Fraction(-15, 32)]],
    ]
    assert fractions(run.predictions) == [[Fraction(1), Fraction(-15, 32)]]
    assert fractions(run.change) == [[Fraction(15, 16), Fraction(-17, 32)]]
    assert (run.final.step, run.final.kind, run.first_departure) == (1, "rows", None)
    assert run.pattern == ((True, False),)


def test_every_step_is_that_of_the_weights():
    rng = np.random.default_rng(0)
    for _ in range(120):
        small = draw(rng)
        problem = small.exact()
        path = descend_in_weights(small, 6)
        assert [fractions(state_at(problem, t).predictions) for t in range(7)] == path


def test_where_it_is_certified_the_pattern_stays_and_the_limit_is_a_stationary_point(monkeypatch):
    monkeypatch.setattr(descent, "MOST_STEPS", 60)
    rng, kinds, late = np.random.default_rng(1), set(), 0
    for _ in range(150):
        problem = draw(rng).exact()
        run = descend(problem)
        if run.final is None:
            continue
        kinds.add(run.final.kind)
        last = run.states[-1]
        late += last.step > 1
        assert all(
            state_at(problem, last.step + t).pattern == run.pattern for t in (1, 2, 3, 5, 8, 13, 20)
        )
        limit = observe(problem, 0, run.change)
        assert limit.predictions == run.predictions
        for i in covered(run.pattern):
            reached = sum(
                problem.signs[k] * run.predictions[k, i]
                for k, active in enumerate(run.pattern)
                if active[i]
            )
            assert reached == problem.labels[i]
        moved = [abs(step - end) for step, end in _pairs(problem, last.step + 20, run)]
        before = [abs(step - end) for step, end in _pairs(problem, last.step, run)]
        assert sum(moved) <= sum(before)
    assert kinds == {"rest", "rows", "energy"}
    assert late > 30


def _pairs(problem, step, run):
    here = state_at(problem, step).predictions.entries()
    return zip(map(fraction, here), map(fraction, run.predictions.entries()), strict=True)


@pytest.mark.parametrize(("slope", "active"), [(0, False), (1, True)])
def test_a_prediction_of_exactly_zero_is_active_as_the_slope_says(slope, active):
    """β_1 = 1/16 − η(1/16 + 1) = 0 at η = 1/17."""
    problem = ExactProblem.from_gram(
        [[1]], [-1], start=[[Fraction(1, 16)]], step_size=Fraction(1, 17), slope_at_zero=slope
    )
    state = state_at(problem, 1)
    assert state.predictions[0, 0] == 0
    assert state.pattern == ((active,),)
    assert first_departure(problem) == (1 if active else None)


def test_a_run_that_tends_to_a_kink_is_given_up():
    """y = 0: the prediction is halved for ever, and no finite step says so by our bounds."""
    problem = ExactProblem.from_gram([[1]], [0], start=[[1]], step_size=0.5)
    run = descend(problem)
    assert run.final is None
    assert len(run.states) == MOST_STEPS + 1
    for read in (lambda: run.change, lambda: run.predictions, lambda: run.pattern):
        with pytest.raises(NotDecided, match=f"no certificate within {MOST_STEPS} steps"):
            read()
    assert run.first_departure == 1


def test_a_run_whose_numbers_grow_too_long_is_given_up():
    step = Fraction(10**40 + 1, 2 * 10**40)
    run = descend(ExactProblem.from_gram([[1]], [0], start=[[1]], step_size=step))
    assert run.final is None
    assert len(run.states) < 100
    with pytest.raises(NotDecided, match=f"where numbers have {MOST_BITS} bits"):
        _ = run.change


def test_a_departure_is_found_without_the_limit():
    problem = ExactProblem.from_gram([[1]], [0], start=[[1]], step_size=0.5)
    assert first_departure(problem) == 1
    assert len(problem.known["walk"].states) == 2


def test_a_late_departure_is_found():
    """A small step: the negative example is left only when its prediction has come down to 0."""
    problem = ExactProblem.from_gram(
        [[1, 0], [0, 1]], [1, -1], start=[[Fraction(1, 2)] * 2], step_size=Fraction(1, 10)
    )
    stays = [t for t in range(1, 8) if state_at(problem, t).pattern == ((True, True),)]
    assert stays == [1, 2, 3]
    assert first_departure(problem) == 1
    assert descend(problem).final.step == 4


def test_neither_limit_nor_departure_known_is_not_decided():
    """η = 2: the prediction is 3/2, 1/2, 3/2, … for ever, and ηλ_max = 2 certifies nothing."""
    problem = ExactProblem.from_gram([[1]], [1], start=[[Fraction(3, 2)]], step_size=2)
    with pytest.raises(NotDecided, match="no certificate"):
        first_departure(problem)


def test_a_run_is_computed_once():
    problem = ExactProblem.from_gram([[1]], [1], start=[[1]], step_size=0.5)
    one, two = descend(problem), descend(problem)
    assert all(a is b for a, b in zip(one.states, two.states, strict=True))
    assert one.final is two.final
