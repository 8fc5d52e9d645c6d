"""Effective dimensions and what they predict, against hand computation and plain descent."""

import math
from dataclasses import replace

import numpy as np
import pytest

from verify.arrays import backend
from verify.errors import InputError
from verify.relu.effective_dimensions import (
    EffectiveDimensions,
    coherence,
    conditioning,
    dimensions_of,
    freezing_probability,
    gram_deviation,
    realised,
    regime_index,
    regime_index_from,
    relative_step,
)
from verify.relu.ensemble import Ensemble, Labels, Start
from verify.relu.problem import Problem
from verify.relu.spectra import Spectrum

GRAM = np.asarray([[2.0, 1.0], [1.0, 4.0]])


def problem_of(gram, labels=None, start=None, **given) -> Problem:  # type: ignore[no-untyped-def]
    n = np.shape(gram)[-1]
    return Problem.from_gram(
        np.asarray(gram, dtype=np.float64),
        np.ones(n) if labels is None else np.asarray(labels),
        starting_predictions=np.zeros((1, n)) if start is None else np.asarray([start]),
        **{"step_size": 0.1, **given},
    )


def law(d_2: float, trace: float = 1.0) -> EffectiveDimensions:
    return EffectiveDimensions(dimension=d_2, trace=trace, d_2=d_2, d_inf=d_2)


def upper_tail(z: float) -> float:
    return 0.5 * math.erfc(z / math.sqrt(2.0))


def stays_at_positives(problem: Problem, steps: int = 100) -> np.ndarray:
    """Say which of B problems have the pattern S+ at every step from one to `steps`."""
    duals, predictions = problem.starting_duals[:, 0], problem.starting_predictions[:, 0]
    held = np.full(problem.batch, True)
    for _ in range(steps):
        residual = np.maximum(predictions, 0.0) - problem.labels
        duals = duals - problem.step_size[:, None] * (predictions > 0) * residual
        predictions = np.einsum("bij,bj->bi", problem.gram, duals)
        held &= np.all((predictions > 0) == problem.positives, axis=-1)
    return held


def test_select_picks_arrays_and_keeps_shared_floats() -> None:
    sizes = EffectiveDimensions(8.0, np.asarray([1.0, 2.0, 3.0]), 7.0, np.asarray([4.0, 5.0, 6.0]))
    chosen = sizes.select(np.asarray([2, 0]))
    assert (chosen.dimension, chosen.d_2) == (8.0, 7.0)
    assert chosen.trace.tolist() == [3.0, 1.0]
    assert chosen.d_inf.tolist() == [6.0, 4.0]
    assert sizes.select(np.asarray([], dtype=int)).trace.shape == (0,)
    assert sizes.broadcast(3).dimension.tolist() == [8.0] * 3


def test_realised_dimensions_are_the_plug_ins_of_theory_1() -> None:
    sizes = realised(problem_of(GRAM))
    np.testing.assert_allclose(sizes.trace, [3.0])
    np.testing.assert_allclose(sizes.d_2, [9.0])
    np.testing.assert_allclose(sizes.d_inf, [6.0 / (3.0 + math.sqrt(2.0))])
    assert np.isnan(sizes.dimension).all()


@pytest.mark.parametrize("name", ["isotropic:4", "levels:4x0.5,1x0.5", "spiked:10x5"])
def test_realised_dimensions_agree_with_the_law_they_were_drawn_from(name: str) -> None:
    ensemble = Ensemble(30, Spectrum.named(name, 3000))
    sizes, known = realised(ensemble.draw(np.random.default_rng(1), 200)), ensemble.spectrum
    np.testing.assert_allclose(np.mean(sizes.trace), known.trace, rtol=0.002)
    np.testing.assert_allclose(np.median(sizes.d_2), known.d_2, rtol=0.02)
    assert np.all(sizes.d_inf <= 30)  # a rough bound: never above n, whatever d_∞ is


def test_realised_dimensions_of_features_know_d() -> None:
    X = np.random.default_rng(1).standard_normal((5, 70))
    problem = Problem.from_features(
        X, np.ones(5), step_size=0.1, starting_predictions=np.zeros((1, 5))
    )
    assert realised(problem).dimension.tolist() == [70.0]


def test_a_large_common_mean_shows_up_as_a_small_d_2() -> None:
    X = np.random.default_rng(1).standard_normal((20, 2000))
    assert realised(problem_of(X @ X.T)).d_2 > 1500
    assert realised(problem_of((X + 1.0) @ (X + 1.0).T)).d_2 < 5


def test_orthogonal_examples_have_an_infinite_d_2() -> None:
    assert realised(problem_of(3.0 * np.eye(4))).d_2.tolist() == [math.inf]


def test_realised_dimensions_need_two_examples() -> None:
    with pytest.raises(InputError, match="n=1"):
        realised(problem_of([[2.0]]))


def test_the_law_is_preferred_where_the_problem_knows_it() -> None:
    assert dimensions_of(problem_of(GRAM, law=law(50.0))).d_2.tolist() == [50.0]
    np.testing.assert_allclose(dimensions_of(problem_of(GRAM)).d_2, [9.0])


def test_coherence_is_the_largest_cosine() -> None:
    gram = np.asarray([[4.0, -3.0, 0.0], [-3.0, 9.0, 0.0], [0.0, 0.0, 0.0]])
    np.testing.assert_allclose(coherence(problem_of(gram)), [0.5])
    assert coherence(problem_of([[2.0]])).tolist() == [0.0]
    np.testing.assert_allclose(coherence(problem_of(np.ones((3, 3)))), [1.0])


def test_conditioning_is_infinite_exactly_where_the_gram_matrix_is_singular() -> None:
    np.testing.assert_allclose(
        conditioning(problem_of(GRAM)), (3 + math.sqrt(2)) / (3 - math.sqrt(2))
    )
    X = np.random.default_rng(1).standard_normal((6, 4))
    assert conditioning(problem_of(X @ X.T)).tolist() == [math.inf]
    assert conditioning(problem_of(np.zeros((2, 2)))).tolist() == [math.inf]


def test_relative_step_is_step_size_times_trace() -> None:
    np.testing.assert_allclose(relative_step(problem_of(GRAM, step_size=0.1)), [0.3])
    np.testing.assert_allclose(
        relative_step(problem_of(GRAM, step_size=0.1, law=law(9.0, trace=5.0))), [0.5]
    )


def test_gram_deviation_is_the_largest_shift_of_an_eigenvalue() -> None:
    np.testing.assert_allclose(gram_deviation(problem_of(GRAM)), [math.sqrt(2) / 3])
    np.testing.assert_allclose(
        gram_deviation(problem_of(GRAM, law=law(9.0, trace=5.0))), [1 - (3 - math.sqrt(2)) / 5]
    )


def test_isotropic_gram_deviation_is_at_the_edge_of_marchenko_and_pastur() -> None:
    n, d = 100, 10_000
    problem = Ensemble(n, Spectrum.isotropic(d)).draw(np.random.default_rng(1), 20)
    edge = 2 * math.sqrt(n / d) + n / d
    np.testing.assert_allclose(np.mean(gram_deviation(problem)), edge, rtol=0.05)


def test_regime_index_against_hand_computation() -> None:
    problem = problem_of(GRAM, labels=[1.0, -2.0], step_size=0.5, law=law(100.0))
    expected = 0.25 * 100 * 1 / (2 * math.log(2) * 1.25 * 2.5)
    np.testing.assert_allclose(regime_index(problem), [expected], rtol=1e-14)
    np.testing.assert_allclose(regime_index_from(2, 100.0, 0.5, 1.0, 2.5), expected, rtol=1e-14)


def test_freezing_probability_against_hand_computation() -> None:
    problem = problem_of(np.eye(3), [1.0, -0.2, 0.5], [0.1, 0.05, 0.2], step_size=0.5, law=law(4.0))
    above, below = 1.25, 0.04
    inactive = 2 * (0.5 * 0.2 - 0.5 * 0.05) / math.sqrt(above + 0.25 * below)
    norm = math.sqrt(above + below)
    expected = (
        (1 - upper_tail(inactive))
        * (1 - upper_tail(2 * 1.0 / norm))
        * (1 - upper_tail(2 * 0.5 / norm))
    )
    np.testing.assert_allclose(freezing_probability(problem), [expected], rtol=1e-12)


def test_freezing_probability_of_many_examples_does_not_underflow_in_between() -> None:
    n = 400
    problem = problem_of(np.eye(n), [1.0] * n, [0.1] * n, step_size=0.5, law=law(5.0 * n))
    expected = math.exp(n * math.log1p(-upper_tail(math.sqrt(5.0))))
    np.testing.assert_allclose(freezing_probability(problem), [expected], rtol=1e-10)


def test_labels_that_are_all_zero_have_no_prediction() -> None:
    problem = problem_of(np.eye(3), [0.0] * 3, [0.1] * 3, law=law(4.0))
    assert np.isnan(freezing_probability(problem)).all()
    assert np.isnan(regime_index(problem)).all()


@pytest.mark.parametrize("c", [0.2, 0.5, 0.9])
def test_freezing_becomes_more_frequent_as_the_regime_index_rises(c: float) -> None:
    # 200 trials a cell: the standard error of a frequency is at most .035, of .97 it is .012
    n, labels, frequencies = 20, Labels(magnitude=(1.0, 1.0)), []
    for H in (0.25, 1.0, 4.0):
        d = H * n * math.log(n) * (1 + c * c) / (c * c)
        ensemble = Ensemble(n, Spectrum.isotropic(d), labels=labels, relative_step=c)
        np.testing.assert_allclose(ensemble.regime_index, H, rtol=1e-12)
        problem = ensemble.draw(np.random.default_rng(2), 200)
        np.testing.assert_allclose(regime_index(problem), H, rtol=1e-12)
        frequency = np.mean(stays_at_positives(problem))
        frequencies.append(frequency)
        # theory §7: largest error of P̂ .22, and three standard errors
        assert abs(frequency - np.mean(freezing_probability(problem))) <= 0.22 + 3 * 0.035
    assert frequencies[0] < frequencies[1] - 0.1 < frequencies[2] - 0.1
    assert frequencies[1] >= 0.45
    assert frequencies[2] >= 0.97


@pytest.mark.parametrize("predict", [regime_index, freezing_probability])
def test_predictions_about_freezing_refuse_other_models(predict) -> None:  # type: ignore[no-untyped-def]
    for signs in ((1, 1), (1, -1, 1)):
        ensemble = Ensemble(4, Spectrum.isotropic(50), signs=signs)
        with pytest.raises(InputError, match=r"expected one, or two with signs \(1, -1\)"):
            predict(ensemble.draw(np.random.default_rng(1), 2))


def test_orthogonal_examples_with_a_zero_label_are_predicted_nothing() -> None:
    """d_2 is infinite and y_min zero: NaN, without a warning."""
    problem = Problem.from_gram(
        np.eye(3),
        np.array([1.0, -1.0, 0.0]),
        starting_predictions=np.full((1, 3), 1e-3),
        step_size=0.5,
    )
    assert np.isnan(regime_index(problem)).all()
    certain = replace(problem, labels=np.array([[1.0, -1.0, 0.5]]))
    assert np.isinf(regime_index(certain)).all()
    assert (freezing_probability(certain) == 1).all()


def test_freezing_probability_refuses_a_start_that_is_not_positive() -> None:
    ensemble = Ensemble(4, Spectrum.isotropic(50), start=Start("zero"))
    with pytest.raises(InputError, match="expected positive ones"):
        freezing_probability(ensemble.draw(np.random.default_rng(1), 2))


def test_the_regime_index_needs_two_examples() -> None:
    with pytest.raises(InputError, match="n=1"):
        regime_index(problem_of([[2.0]], law=law(3.0)))


@pytest.mark.parametrize("name", ["array-api-strict", "array-api-strict:device1", "torch"])
def test_every_number_is_the_same_on_other_backends(name: str) -> None:
    pytest.importorskip(name.partition(":")[0].replace("-", "_"))
    problem = Ensemble(6, Spectrum.isotropic(90)).draw(np.random.default_rng(1), 3)
    moved = problem.to(backend(name))
    for number in (
        lambda p: realised(p).d_2,
        lambda p: realised(p).d_inf,
        lambda p: realised(p).trace,
        coherence,
        conditioning,
        relative_step,
        gram_deviation,
        regime_index,
        freezing_probability,
    ):
        result = number(moved)
        assert isinstance(result, np.ndarray)
        np.testing.assert_allclose(result, number(problem), rtol=1e-12)
