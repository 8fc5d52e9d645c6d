"""Certificates over the rationals: sound on every state, and each kind where it is needed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq

from tests.verify.relu.exact.problems import draw
from verify.relu.exact import ExactProblem, descend, descent
from verify.relu.exact.certificate import certify, contraction, covered, slacks_by_rows
from verify.relu.exact.descent import state_at

LATER = 30


def test_no_state_before_a_change_of_pattern_is_certified():
    rng, changed = np.random.default_rng(3), 0
    for _ in range(200):
        problem = draw(rng).exact()
        states = [state_at(problem, t) for t in range(LATER)]
        flips = [t for t in range(1, LATER) if states[t].pattern != states[t - 1].pattern]
        if flips:
            changed += 1
            assert all(certify(problem, state) is None for state in states[: flips[-1]])
    assert changed > 100


def test_predictions_keep_the_distance_from_zero_that_the_rows_promise():
    rng, promised = np.random.default_rng(4), 0
    for _ in range(150):
        problem = draw(rng).exact()
        state = state_at(problem, int(rng.integers(0, 3)))
        weights = tuple(abs(y) or fmpq(1) for y in problem.labels)
        kappa = contraction(problem, state.pattern, weights)
        slacks = slacks_by_rows(problem, state, weights, kappa) if kappa < 1 else [[fmpq(-1)]]
        if min(min(line) for line in slacks) < 0:
            continue
        promised += 1
        for t in range(state.step, state.step + LATER):
            later = state_at(problem, t)
            assert later.pattern == state.pattern
            for k, line in enumerate(slacks):
                assert all(abs(later.predictions[k, i]) >= slack for i, slack in enumerate(line))
    assert promised > 20


def test_nothing_covered_is_at_rest():
    problem = ExactProblem.from_gram([[1]], [1], start=[[-1]], step_size=1)
    found = certify(problem, state_at(problem, 0))
    assert (found.kind, found.step, found.remainder) == ("rest", 0, (0,))
    assert covered(state_at(problem, 0).pattern) == ()


def test_an_exact_fit_is_at_rest_even_where_the_matrix_is_singular():
    problem = ExactProblem.from_gram([[1, 1], [1, 1]], [2, 2], start=[[2, 2]], step_size=1)
    assert certify(problem, state_at(problem, 0)).kind == "rest"
    moved = ExactProblem.from_gram([[1, 1], [1, 1]], [2, 2], start=[[1, 1]], step_size=0.25)
    assert certify(moved, state_at(moved, 0)) is None


def correlated(step, start):
    rows = [[1 if i == j else Fraction(9, 10) for j in range(3)] for i in range(3)]
    return ExactProblem.from_gram(rows, [1, 1, 1], start=[start], step_size=step)


def test_row_sums_above_one_leave_it_to_the_energy():
    """|I − G/2| has row sums 1.4 and every eigenvalue of I − G/2 is within ±.95."""
    problem = correlated(0.5, [1, 1, Fraction(4, 5)])
    state = state_at(problem, 0)
    assert contraction(problem, state.pattern, (fmpq(1),) * 3) == fmpq(7, 5)
    found = certify(problem, state)
    assert (found.kind, found.kappa, found.weights) == ("energy", fmpq(3, 2), None)


@pytest.mark.parametrize(("step", "stable"), [(Fraction(5, 7), True), (Fraction(4, 5), False)])
def test_an_unstable_step_is_never_certified(step, stable):
    """λ_max(G) = 2.8: ηλ_max is exactly 2 at η = 5/7, which must fail too, and 2.24 at 4/5."""
    problem = correlated(step, [1, 1, Fraction(99, 100)])
    assert certify(problem, state_at(problem, 0)) is None
    slower = correlated(step - Fraction(1, 7) - Fraction(1, 10), [1, 1, Fraction(99, 100)])
    assert certify(slower, state_at(slower, 0)) is not None


def test_an_example_that_two_neurons_share_does_not_keep_its_label():
    """Both give way by r/2 = .255: the smaller prediction, .01, falls below zero."""
    start = [[Fraction(1, 100)], [Fraction(3, 2)]]
    problem = ExactProblem.from_gram([[1]], [1], start=start, step_size=0.25, signs=(1, 1))
    assert certify(problem, state_at(problem, 0)) is None
    assert state_at(problem, 1).pattern == ((False,), (True,))


def test_other_weights_than_the_labels_are_found():
    """With v = |y| = (1, 100) the first row sum is 1/2 + 10; with the Perron vector it is < 1."""
    problem = ExactProblem.from_gram(
        [[1, Fraction(1, 5)], [Fraction(1, 5), 1]], [1, 100], start=[[1, 100]], step_size=0.5
    )
    state = state_at(problem, 0)
    moved = ExactProblem.from_gram(
        problem.gram, [1, 100], start=[[Fraction(9, 10), 100]], step_size=0.5
    )
    assert contraction(problem, state.pattern, problem.labels) > 1
    found = certify(moved, state_at(moved, 0))
    assert found.kind == "rows"
    assert found.kappa < 1
    assert found.kappa == contraction(moved, state.pattern, found.weights)


def test_the_remainder_solves_for_the_residual_on_the_covered_examples(monkeypatch):
    monkeypatch.setattr(descent, "MOST_STEPS", 60)
    rng = np.random.default_rng(5)
    for _ in range(60):
        problem = draw(rng, regular=True).exact()
        run = descend(problem)
        if run.final is None:
            continue
        state = run.states[-1]
        image = [
            sum(
                problem.gram[i, j] * run.final.remainder[j]
                for active in state.pattern
                if active[i]
                for j in range(problem.examples)
                if active[j]
            )
            for i in range(problem.examples)
        ]
        inside = covered(state.pattern)
        assert [image[i] for i in inside] == [state.residual[i] for i in inside]
        assert all(run.final.remainder[i] == 0 for i in range(problem.examples) if i not in inside)
