"""Laws of random problems: what a draw contains, and what depends on which random numbers."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from verify.arrays import backend
from verify.errors import InputError, UnknownName
from verify.relu.descent import descend
from verify.relu.ensemble import MANY, Ensemble, Labels, Start
from verify.relu.gap import implicit_bias_gap
from verify.relu.gram import Gram
from verify.relu.minimum_norm import minimum_norm
from verify.relu.problem import Problem
from verify.relu.spectra import Spectrum

ISOTROPIC = Spectrum.isotropic(300)
SEED = 20261201


def draw(trials: int = 20, seed: int = 1, **given) -> Problem:  # type: ignore[no-untyped-def]
    ensemble = Ensemble(**{"examples": 10, "spectrum": ISOTROPIC, **given})
    return ensemble.draw(np.random.default_rng(seed), trials)


def test_a_draw_is_a_valid_problem_with_its_law_attached() -> None:
    problem = draw(7, signs=(1, -1), relative_step=0.5, slope_at_zero=1)
    assert problem.gram.shape == (7, 10, 10)
    assert problem.labels.shape == (7, 10)
    assert problem.starting_predictions.shape == (7, 2, 10)
    assert problem.signs.tolist() == [[1.0, -1.0]] * 7
    assert problem.step_size.tolist() == [0.5 / 300] * 7
    assert problem.slope_at_zero == 1
    assert not problem.perpendicular_gram.any()
    assert problem.law is not None
    assert problem.law.d_2.shape == (7,)
    np.testing.assert_allclose(problem.law.d_2, 300, rtol=1e-14)
    again = Problem.from_gram(
        problem.gram,
        problem.labels,
        starting_predictions=problem.starting_predictions,
        step_size=problem.step_size,
        signs=problem.signs,
        perpendicular_gram=problem.perpendicular_gram,
    )
    np.testing.assert_allclose(again.starting_duals, problem.starting_duals, rtol=1e-12)
    assert problem.select(np.asarray([3, 1])).law.trace.tolist() == [300.0, 300.0]


def test_equal_seeds_give_equal_problems_and_a_second_draw_gives_others() -> None:
    ensemble = Ensemble(10, ISOTROPIC)
    generator = np.random.default_rng(1)
    first, second = ensemble.draw(generator, 3), ensemble.draw(generator, 3)
    again = ensemble.draw(np.random.default_rng(1), 3)
    for name in ("gram", "labels", "starting_predictions"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
        assert np.all(np.any(getattr(first, name) != getattr(second, name), axis=-1))


def test_features_labels_and_start_do_not_disturb_each_other() -> None:
    reference = draw()
    for other in (draw(labels=Labels(0.3, (2.0, 3.0))), draw(start=Start("zero"))):
        np.testing.assert_array_equal(other.gram, reference.gram)
    np.testing.assert_array_equal(draw(start=Start("random_sign")).labels, reference.labels)
    changed = draw(spectrum=Spectrum.power_law(300, 1), labels=Labels(0.3))
    np.testing.assert_array_equal(changed.starting_predictions, reference.starting_predictions)
    louder = draw(labels=Labels(magnitude=(5.0, 6.0)))
    np.testing.assert_array_equal(np.sign(louder.labels), np.sign(reference.labels))


@pytest.mark.parametrize(
    ("fraction", "n", "expected"),
    [
        (0.0, 10, 0),
        (0.25, 12, 3),
        (0.5, 10, 5),
        (1.0, 10, 10),
        (0.01, 10, 1),
        (0.99, 10, 9),
        (0.5, 2, 1),
        (0, 3, 0),
        (1, 1, 1),
        (0.3, 1, 0),
    ],
)
def test_a_fraction_of_positives_is_exact(fraction: float, n: int, expected: int) -> None:
    labels = Labels(fraction)
    y = labels.draw(np.random.default_rng(1), n, 50)
    assert labels.positives(n) == expected
    assert np.sum(y > 0, axis=-1).tolist() == [expected] * 50


def test_positives_stand_at_random_positions() -> None:
    y = Labels(0.25).draw(np.random.default_rng(1), 8, 4000)
    standard_error = np.sqrt(0.25 * 0.75 / 4000)
    np.testing.assert_allclose(np.mean(y > 0, axis=0), 0.25, atol=5 * standard_error)


def test_random_signs_are_fair_and_independent() -> None:
    y = np.sign(Labels("random").draw(np.random.default_rng(1), 6, 4000))
    covariance = y.T @ y / 4000
    np.testing.assert_allclose(covariance, np.eye(6), atol=5 / np.sqrt(4000))
    np.testing.assert_allclose(np.mean(y, axis=0), 0.0, atol=5 / np.sqrt(4000))


def test_magnitudes_are_uniform_or_constant() -> None:
    y = np.abs(Labels("random", (0.5, 1.0)).draw(np.random.default_rng(1), 50, 400))
    assert y.min() >= 0.5
    assert y.max() <= 1.0
    np.testing.assert_allclose(np.mean(y), 0.75, atol=5 * 0.5 / np.sqrt(12 * y.size))
    np.testing.assert_allclose(np.mean(y**2), Labels("random", (0.5, 1.0)).mean_square, rtol=0.01)
    constant = np.abs(Labels(0.5, (0.7, 0.7)).draw(np.random.default_rng(1), 50, 4))
    assert np.all(constant == 0.7)


def test_starts_are_what_they_are_called() -> None:
    positive = draw(start=Start("positive", 0.0, 0.01)).starting_predictions
    assert np.all((positive > 0) & (positive <= 0.01))
    assert np.all(draw(start=Start("constant", high=0.02)).starting_predictions == 0.02)
    assert not draw(start=Start("zero")).starting_predictions.any()
    signs = np.sign(draw(start=Start("random_sign", high=0.02)).starting_predictions)
    assert abs(np.mean(signs)) <= 5 / np.sqrt(200)


@pytest.mark.parametrize("d", [12, 300])
def test_a_random_sign_start_is_normal_with_covariance_proportional_to_the_gram_matrix(
    d: int,
) -> None:
    problem = draw(500, spectrum=Spectrum.isotropic(d), start=Start("random_sign", high=0.02))
    # β⁰ᵀG⁻¹β⁰·τ/high² = ‖g‖² is chi-square with n degrees of freedom whatever G is
    squares = problem.starting_predictions[:, 0] * problem.starting_duals[:, 0]
    sizes = np.sum(squares, axis=-1) * d / 0.02**2
    np.testing.assert_allclose(np.mean(sizes), 10, atol=5 * np.sqrt(20 / 500))
    np.testing.assert_allclose(np.var(sizes), 20, rtol=0.5)


@pytest.mark.parametrize("kind", ["positive", "constant", "random_sign", "zero"])
@pytest.mark.parametrize("entries", ["gaussian", "rademacher"])
def test_every_start_is_attained_by_weights_even_in_fewer_dimensions_than_examples(
    kind: str, entries: str
) -> None:
    problem = draw(examples=12, spectrum=Spectrum.isotropic(5), start=Start(kind), entries=entries)
    attained = problem.starting_duals @ problem.gram
    np.testing.assert_allclose(attained, problem.starting_predictions, atol=1e-14)
    assert (kind == "zero") == (not problem.starting_predictions.any())


def test_positive_starts_are_kept_as_drawn_where_the_gram_matrix_is_regular() -> None:
    # d = 30 is near enough to n = 10 for the rank to be looked at, d = 300 is not
    near, far = draw(spectrum=Spectrum.isotropic(30)), draw()
    np.testing.assert_array_equal(near.starting_predictions, far.starting_predictions)


def test_the_regime_index_of_a_law_is_that_of_its_least_label() -> None:
    ensemble = Ensemble(20, ISOTROPIC, labels=Labels(magnitude=(0.5, 1.0)), relative_step=0.5)
    mean_square = (0.25 + 0.5 + 1.0) / 3
    expected = 0.25 * 300 * 0.25 / (20 * np.log(20) * 1.25 * mean_square)
    np.testing.assert_allclose(ensemble.regime_index, expected, rtol=1e-14)
    with pytest.raises(InputError, match="n=1"):
        _ = Ensemble(1, ISOTROPIC).regime_index


def test_an_ensemble_is_a_value() -> None:
    one, other = Ensemble(10, ISOTROPIC, signs=[1, -1]), Ensemble(10, ISOTROPIC, signs=(1, -1))  # type: ignore[arg-type]
    assert one == other
    assert hash(one) == hash(other)
    assert pickle.loads(pickle.dumps(one)) == other
    assert one != Ensemble(10, ISOTROPIC)
    assert one.effective_dimensions.dimension == 300


def test_a_single_example_can_be_drawn() -> None:
    assert draw(3, examples=1).gram.shape == (3, 1, 1)


def test_a_draw_can_be_moved_to_another_backend() -> None:
    pytest.importorskip("array_api_strict")
    strict = backend("array-api-strict")
    problem = Ensemble(4, ISOTROPIC).draw(np.random.default_rng(1), 2, strict)
    host = Ensemble(4, ISOTROPIC).draw(np.random.default_rng(1), 2)
    assert type(problem.gram).__module__.startswith("array_api_strict")
    assert np.array_equal(np.asarray(problem.gram), host.gram)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Labels(1.5), "signs=1.5"),
        (lambda: Labels(-0.1), "signs=-0.1"),
        (lambda: Labels(float("nan")), "signs=nan"),
        (lambda: Labels("fair"), "signs='fair'"),
        (lambda: Labels("random", (1.0, 0.5)), "magnitude=(1.0, 0.5)"),
        (lambda: Labels("random", (-1.0, 0.5)), "magnitude=(-1.0, 0.5)"),
        (lambda: Labels("random", (0.0, 0.0)), "magnitude=(0.0, 0.0)"),
        (lambda: Start("positive", 0.1, 0.01), "low=0.1"),
        (lambda: Start("constant", high=0.0), "high=0.0"),
        (lambda: Start("random_sign", high=float("nan")), "high=nan"),
        (lambda: Ensemble(0, ISOTROPIC), "examples=0"),
        (lambda: Ensemble(2.5, ISOTROPIC), "examples=2.5"),  # type: ignore[arg-type]
        (lambda: Ensemble(4, ISOTROPIC, relative_step=0.0), "relative_step=0.0"),
        (lambda: Ensemble(4, ISOTROPIC, relative_step=float("nan")), "relative_step=nan"),
        (lambda: Ensemble(4, ISOTROPIC, signs=()), "signs=()"),
        (lambda: Ensemble(4, ISOTROPIC, signs=(2,)), "signs=(2,)"),
        (lambda: Ensemble(4, ISOTROPIC, slope_at_zero=2), "slope_at_zero=2"),
        (lambda: Ensemble(4, ISOTROPIC, entries="student_t:1"), "student_t:1"),
        (lambda: Ensemble(4, Spectrum.isotropic(9.5), entries="uniform"), "multiplicity 9.5"),
        (lambda: draw(0), "trials=0"),
    ],
)
def test_bad_input_is_refused_by_name(make, said: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError) as refused:
        make()
    assert said in str(refused.value)


def test_an_unknown_start_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="random_sign"):
        Start("gaussian")


# Many examples: a factor in place of the Gram matrix


@pytest.mark.parametrize("start", ["positive", "random_sign", "zero"])
@pytest.mark.parametrize("sign", [1, -1])
def test_through_a_factor_everything_is_as_with_the_matrix(start, sign):
    ensemble = Ensemble(
        examples=MANY, spectrum=Spectrum.isotropic(500.0 * MANY, 2.0), signs=(sign,),
        start=Start(start), relative_step=0.4,
    )  # fmt: skip
    problem = ensemble.draw(np.random.default_rng(SEED), 2)
    gram = problem.inner_products
    np.testing.assert_array_equal(gram.factor.leads, sign * problem.labels > 0)
    dense = replace(problem, inner_products=Gram(gram.factor.product))
    run, same = descend(problem), descend(dense)
    assert run.certified.all()
    np.testing.assert_array_equal(run.final_pattern, same.final_pattern)
    np.testing.assert_array_equal(run.last_flip, same.last_flip)
    np.testing.assert_allclose(run.predictions, same.predictions, atol=1e-11)
    best, expected = minimum_norm(problem), minimum_norm(dense)
    assert best.certified.all()
    np.testing.assert_allclose(best.norm, expected.norm, rtol=1e-12)
    gap, wanted = implicit_bias_gap(run, best), implicit_bias_gap(same, expected)
    np.testing.assert_allclose(gap, wanted, rtol=1e-10)
    assert "dense" not in gram.__dict__


def test_a_random_start_through_a_factor_has_the_covariance_of_the_gram_matrix():
    """β⁰ = σXw/√τ given X: whitened by the factor's rows it is standard normal."""
    ensemble = Ensemble(
        examples=MANY, spectrum=Spectrum.isotropic(2.0 * MANY), start=Start("random_sign", high=0.5)
    )
    problem = ensemble.draw(np.random.default_rng(SEED), 3)
    rows = problem.inner_products.factor.in_order
    white = np.linalg.solve(rows, problem.starting_predictions.swapaxes(1, 2))[:, :, 0]
    white *= np.sqrt(2.0 * MANY) / 0.5
    assert abs(white.mean()) < 4 / np.sqrt(white.size)
    assert abs(white.var() - 1) < 4 * np.sqrt(2 / white.size)
