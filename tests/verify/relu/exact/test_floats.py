"""Floating-point problems over the rationals: the numbers that they are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tests.verify.relu.exact.problems import fraction, fractions
from verify.errors import InputError
from verify.exact import NotDecided
from verify.relu import Problem, descend
from verify.relu.effective_dimensions import EffectiveDimensions
from verify.relu.ensemble import Ensemble, Labels, Start
from verify.relu.exact import descend as descend_exactly
from verify.relu.exact import from_floats
from verify.relu.spectra import Spectrum


def drawn(batch=8, n=5, d=60.0):
    law = Ensemble(
        examples=n,
        spectrum=Spectrum.named("isotropic", d),
        labels=Labels(0.5, (0.5, 1.0)),
        start=Start("positive", 1e-3, 1e-2),
        relative_step=0.5,
        signs=(1, -1),
    )
    return law.draw(np.random.default_rng(0), batch)


def test_every_number_is_the_dyadic_rational_that_it_is():
    problem = drawn()
    exact = from_floats(problem, 3)
    assert fractions(exact.gram) == [[Fraction(x) for x in row] for row in problem.gram[3].tolist()]
    assert [fraction(y) for y in exact.labels] == [Fraction(y) for y in problem.labels[3].tolist()]
    assert fraction(exact.step_size) == Fraction(float(problem.step_size[3]))
    assert exact.signs == (1, -1)
    assert (exact.dimension, exact.trace, exact.features) == (60, 60, None)


def test_the_limit_is_the_one_of_floating_point():
    problem = drawn()
    run = descend(problem)
    for index in range(problem.batch):
        exact = descend_exactly(from_floats(problem, index))
        found = np.array(fractions(exact.predictions), float)
        assert found == pytest.approx(run.predictions[index], abs=1e-12)
        assert exact.pattern == tuple(map(tuple, run.final_pattern[index].tolist()))


def test_features_without_a_law_give_the_exact_gram_matrix():
    features, start = [[0.1, 0.2], [0.3, -0.1]], [[0.5, 0.25]]
    problem = Problem.from_features(features, [1.0, -1.0], starting_predictions=start, step_size=1)
    exact = from_floats(problem, 0)
    assert fraction(exact.gram[0, 0]) == Fraction(0.1) ** 2 + Fraction(0.2) ** 2
    assert exact.dimension == 2
    weights = Problem.from_features([[1.0, 0.0]], [1.0], starting_weights=[[0.5, 2.0]], step_size=1)
    assert from_floats(weights, 0).outside[0, 0] == 4


def test_where_the_law_is_known_it_counts_and_the_gram_matrix_is_the_computed_one():
    law = EffectiveDimensions(dimension=1e6, trace=3.0, d_2=np.inf, d_inf=4.0)
    problem = Problem.from_features(
        [[0.1]], [1.0], starting_predictions=[[0.5]], step_size=1, law=law
    )
    exact = from_floats(problem, 0)
    assert (exact.dimension, exact.trace, exact.features) == (10**6, 3, None)
    assert (exact.law.d_2, exact.law.d_inf) == (None, 4)
    assert fraction(exact.gram[0, 0]) == Fraction(0.1 * 0.1) != Fraction(0.1) ** 2


def test_a_gram_matrix_that_rounding_made_indefinite_is_refused():
    below = [[1.0, 1.0], [1.0, float(np.nextafter(1.0, 0.0))]]
    problem = Problem.from_gram(below, [1.0, 1.0], starting_predictions=[[0.0, 0.0]], step_size=1)
    with pytest.raises(InputError, match="gram is not symmetric and positive semi-definite"):
        from_floats(problem, 0)


def test_many_examples_are_left_to_floating_point():
    assert from_floats(drawn(n=12), 0).examples == 12
    with pytest.raises(NotDecided, match="n=13 examples of floating-point numbers"):
        from_floats(drawn(n=13), 0)
