"""Global minima over the rationals, against trying every choice of tight examples."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from flint import fmpq

from tests.verify.relu.exact.problems import draw, fractions
from verify import relu
from verify.exact import NotDecided
from verify.relu.exact import ExactProblem, minimum, minimum_norm, nearest_minimum
from verify.relu.exact.rational import block, column, row, square


def drawn(count, seed=0):
    rng = np.random.default_rng(seed)
    return [draw(rng, regular=True).exact() for _ in range(count)]


def by_trying(problem, anchor, neuron):
    """Return the nearest feasible point's squared distance, over all choices of tight examples."""
    own, n = problem.label_classes[neuron], problem.examples
    best = None
    for choice in product((False, True), repeat=n):
        tight = [i for i in range(n) if own[i] or choice[i]]
        target = [abs(problem.labels[i]) if own[i] else fmpq(0) for i in tight]
        duals = [fmpq(0)] * n
        if tight:
            missing = column([t - anchor[i] for t, i in zip(target, tight, strict=True)])
            for place, entry in zip(
                tight, block(problem.gram, tight, tight).solve(missing).entries(), strict=True
            ):
                duals[place] = entry
        beta = [anchor[i] + sum(problem.gram[i, j] * duals[j] for j in range(n)) for i in range(n)]
        if any(beta[i] > 0 for i in range(n) if not own[i]):
            continue
        size = sum(duals[i] * (beta[i] - anchor[i]) for i in range(n))
        best = size if best is None else min(best, size)
    return best


@pytest.mark.parametrize("anchored", [False, True])
def test_nothing_feasible_is_nearer(anchored):
    solver = nearest_minimum if anchored else minimum_norm
    for problem in drawn(80):
        zero = [fmpq(0)] * problem.examples
        expected = sum(
            by_trying(problem, row(problem.start, k) if anchored else zero, k)
            for k in range(problem.neurons)
        )
        found = solver(problem)
        assert found.square == expected
        assert found.square == square(problem.gram, found.duals)


def test_it_is_what_floating_point_finds():
    for problem in drawn(40, seed=1):
        floating = relu.Problem.from_gram(
            np.array(fractions(problem.gram), float),
            np.array([float(y) for y in problem.labels]),
            starting_predictions=np.array(fractions(problem.start), float),
            step_size=1.0,
            signs=problem.signs,
        )
        expected = float(relu.minimum_norm(floating).decoupled_norm[0]) ** 2
        assert float(minimum_norm(problem).square) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("at_once", [0, 1])
def test_single_pivots_end_at_the_same_point(monkeypatch, at_once):
    expected = [minimum_norm(problem).duals for problem in drawn(60, seed=2)]
    monkeypatch.setattr(minimum, "_AT_ONCE", at_once)
    assert [minimum_norm(problem).duals for problem in drawn(60, seed=2)] == expected


def test_coefficients_that_are_not_optimal_are_seen():
    for problem in drawn(40, seed=3):
        target = [abs(label) for label in problem.labels]
        for k, own in enumerate(problem.label_classes):
            anchor = row(problem.start, k)
            duals = row(nearest_minimum(problem).duals, k)
            given = (problem.gram, anchor, target, list(own))
            assert minimum.is_optimal(*given, duals)
            for i in range(problem.examples):
                off = list(duals)
                off[i] += fmpq(1, 10**30)
                assert not minimum.is_optimal(*given, off) or not any(own)


def test_each_condition_of_optimality_counts():
    """One example off the class, G = 1: duals, anchor, and which condition they break."""
    gram = ExactProblem.from_gram([[1]], [-1], start=[[0]], step_size=1).gram

    def optimal(anchor, dual):
        return minimum.is_optimal(gram, [fmpq(anchor)], [fmpq(1)], [False], [fmpq(dual)])

    assert optimal(-1, 0)
    assert optimal(1, -1)
    assert not optimal(-1, 1)  # a positive dual
    assert not optimal(1, 0)  # a positive prediction
    assert not optimal(1, -2)  # neither is zero


def test_from_a_start_of_zero_the_nearest_is_the_least():
    problem = ExactProblem.from_gram([[2, 1], [1, 2]], [1, -1], start=[[0, 0]], step_size=1)
    assert nearest_minimum(problem).duals == minimum_norm(problem).duals
    assert minimum_norm(problem).square == fmpq(2, 3)


def test_a_pair_agrees_or_does_not():
    near = ExactProblem.from_gram(
        [[4, 1], [1, 4]], [1, -1], start=[[0, 0]] * 2, step_size=1, signs=(1, -1)
    )
    assert minimum_norm(near).agreement > 0
    apart = ExactProblem.from_gram(
        [[1, fmpq(9, 10)], [fmpq(9, 10), 1]],
        [1, -10],
        start=[[0, 0]] * 2,
        step_size=1,
        signs=(1, -1),
    )
    assert minimum_norm(apart).agreement < 0


def test_no_comparator_is_not_decided():
    singular = ExactProblem.from_gram([[1, 1], [1, 1]], [1, 1], start=[[1, 1]], step_size=1)
    with pytest.raises(NotDecided, match="the Gram matrix is singular"):
        minimum_norm(singular)
    twins = ExactProblem.from_gram([[1]], [1], start=[[1], [1]], step_size=1, signs=(1, 1))
    with pytest.raises(NotDecided, match="neurons of one sign share the norm"):
        nearest_minimum(twins)
