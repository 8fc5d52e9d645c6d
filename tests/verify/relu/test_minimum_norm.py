"""The minimum-norm global minimum is the one that an independent solver finds, and says so."""

import numpy as np
import pytest
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from verify.errors import InputError
from verify.relu.factor import Factor
from verify.relu.gram import Gram
from verify.relu.least_norm import LeastNorm
from verify.relu.minimum_norm import minimum_norm, optimality_residuals
from verify.relu.problem import Problem
from verify.relu.sampling import wishart_factor

SEED = 20260306
SAME_NORM, KKT = 1e-9, 1e-10


def problem_of(gram, labels, neurons=1, signs=(1,)):
    """Return the problem with these data; start and step do not matter here."""
    start = np.zeros((neurons, np.shape(labels)[-1]))
    return Problem.from_gram(gram, labels, starting_predictions=start, step_size=1.0, signs=signs)


def least_squares(gram, labels):
    """Return α⋆ of one problem by non-negative least squares on the Schur complement (theory §5).

    With S = LLᵀ the complementarity problem Su − b ≥ 0, u ≥ 0 is min ‖Lᵀu − L⁻¹b‖ over u ≥ 0.
    """
    positive = labels > 0
    above, below = np.flatnonzero(positive), np.flatnonzero(~positive)
    duals = np.zeros(len(labels))
    if not above.size:
        return duals
    block = gram[np.ix_(above, above)]
    between = gram[np.ix_(below, above)]
    if below.size:
        schur = gram[np.ix_(below, below)] - between @ np.linalg.solve(block, between.T)
        factor = np.linalg.cholesky((schur + schur.T) / 2)
        right = between @ np.linalg.solve(block, labels[above])
        u, _ = nnls(factor.T, solve_triangular(factor, right, lower=True), maxiter=50 * len(labels))
        duals[below] = -u
    duals[above] = np.linalg.solve(block, labels[above] - between.T @ duals[below])
    return duals


def random_labels(rng, *shape):
    return rng.uniform(0.1, 1, shape) * rng.choice([-1, 1], shape)


def check(problem):
    """Hold every problem of the batch to the independent solver; return the worst error."""
    best = minimum_norm(problem)
    assert best.certified.all(), best.kkt.max(axis=0)
    assert (best.kkt <= KKT).all(), best.kkt.max(axis=0)
    worst = 0.0
    for gram, labels, norm in zip(problem.gram, problem.labels, best.norm, strict=True):
        duals = least_squares(gram, labels)
        expected = np.sqrt(duals @ gram @ duals)
        error = abs(norm - expected) / (expected if expected > 0 else 1.0)
        assert error <= SAME_NORM, f"norm={norm}, but should be {expected}"
        worst = max(worst, error)
    return worst


@pytest.mark.parametrize("ratio", [1.1, 1.5, 4, 50])
@pytest.mark.parametrize(("n", "batch"), [(1, 10), (2, 100), (3, 100), (8, 50), (30, 15), (100, 3)])
def test_norm_agrees_with_nonnegative_least_squares(n, batch, ratio):
    rng = np.random.default_rng([SEED, n, int(10 * ratio)])
    features = rng.normal(size=(batch, n, int(np.ceil(n * ratio)) + (n == 1)))
    worst = check(problem_of(features @ features.swapaxes(1, 2), random_labels(rng, batch, n)))
    print(f"worst relative error {worst:.1e}")


@pytest.mark.parametrize("d", [1_100, 5_000])
def test_a_thousand_examples_are_solved(d):
    rng = np.random.default_rng([SEED, d])
    features = rng.normal(size=(1_000, d))
    check(problem_of(features @ features.T, random_labels(rng, 1_000)))


def test_without_positive_labels_the_minimum_is_zero():
    rng = np.random.default_rng(SEED)
    features = rng.normal(size=(6, 9))
    best = minimum_norm(problem_of(features @ features.T, -rng.uniform(0.1, 1, 6)))
    assert best.certified.all()
    assert (best.norm, abs(best.duals).max()) == (0.0, 0.0)


def test_without_negative_labels_the_minimum_is_the_interpolant():
    rng = np.random.default_rng(SEED)
    features, labels = rng.normal(size=(6, 9)), rng.uniform(0.1, 1, 6)
    best = minimum_norm(problem_of(features @ features.T, labels))
    interpolant = np.linalg.pinv(features) @ labels
    np.testing.assert_allclose(best.duals[0, 0] @ features, interpolant, rtol=1e-12)
    assert best.certified.all()


def test_a_label_of_zero_counts_as_negative():
    """Its prediction may be anything up to zero: that is a global minimum too."""
    rng = np.random.default_rng(SEED)
    features = rng.normal(size=(40, 6, 9))
    labels = random_labels(rng, 40, 6)
    labels[:, 1] = 0.0
    problem = problem_of(features @ features.swapaxes(1, 2), labels)
    check(problem)
    predictions = (minimum_norm(problem).duals @ problem.gram)[:, 0, :]
    assert (predictions[:, 1] < -1e-3).any(), "never strictly negative: treated as an equality"
    assert (predictions[:, 1] <= 1e-10).all()


def test_all_labels_zero_give_zero():
    best = minimum_norm(problem_of(np.eye(3), np.zeros(3)))
    assert best.certified.all()
    assert best.norm == 0.0


def test_orthogonal_examples_are_solved_by_hand():
    """w⋆ interpolates the positives, w⋆ = Σ y_i x_i/‖x_i‖², and is orthogonal to all others."""
    sizes, labels = np.array([1.0, 4.0, 9.0, 2.0]), np.array([1.0, -1.0, 3.0, 0.0])
    best = minimum_norm(problem_of(np.diag(sizes), labels))
    np.testing.assert_allclose(best.duals[0, 0], [1, 0, 1 / 3, 0], atol=1e-15)
    assert best.norm[0] == pytest.approx(np.sqrt(2), rel=1e-14)


# Matrices made to fool it


def gaussian_kernel(n):
    grid = np.linspace(-1, 1, n)
    return np.exp(-n * (grid[:, None] - np.linspace(-1.2, 1.2, n + 2)) ** 2)


NASTY = {
    "d = n + 1": lambda rng, n: rng.normal(size=(n, n + 1)),
    "a large mean": lambda rng, n: rng.normal(size=(n, 2 * n)) + 30,
    "a power law": lambda rng, n: rng.normal(size=(n, 3 * n)) / np.arange(1, 3 * n + 1),
    "lengths over four decades": lambda rng, n: (
        rng.normal(size=(n, n + 2)) * 10 ** rng.uniform(-2, 2, (n, 1))
    ),
    "pairs nearly equal": lambda rng, n: (
        np.repeat(rng.normal(size=(n, 2 * n)), 2, axis=0)[:n] + 0.003 * rng.normal(size=(n, 2 * n))
    ),
    "ties between integers": lambda rng, n: rng.integers(-1, 2, (n, 3 * n)).astype(float),
    "Murty's triangle": lambda _, n: np.tril(2 * np.ones((n, n)), -1) + np.eye(n),
    "a smooth kernel": lambda _, n: gaussian_kernel(n),
}


@pytest.mark.parametrize("n", [2, 5, 20, 60, 200])
@pytest.mark.parametrize("kind", NASTY)
def test_pivoting_ends_and_is_never_wrong_about_its_success(kind, n):
    rng = np.random.default_rng([SEED, n])
    well_conditioned = 0
    for _ in range(12 if n <= 20 else 2):
        features, labels = NASTY[kind](rng, n), random_labels(rng, n)
        if "integers" in kind:
            labels = rng.integers(-2, 3, n).astype(float)
        problem = problem_of(features @ features.T, labels)
        condition = problem.eigenvalues[0, -1] / max(problem.eigenvalues[0, 0], 1e-300)
        if not 0 < condition < 1e9:
            with pytest.raises(InputError, match="singular"):
                minimum_norm(problem)
        elif condition < 1e6:
            check(problem)
            well_conditioned += 1
        else:
            best = minimum_norm(problem)
            duals = least_squares(problem.gram[0], problem.labels[0])
            expected = np.sqrt(duals @ problem.gram[0] @ duals)
            if best.certified[0]:
                assert best.norm[0] == pytest.approx(expected, rel=1e-6)
    if n <= 5:
        assert well_conditioned > 0


# The check can fail


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ([1.1, 0, 0], [0.1, 0, 0, 0]),
        ([1, 0.1, 0], [0, 0.1, 0.1, 0.01]),
        ([1, -0.1, 0], [0, 0, 0, 0.01]),
        ([2, -0.1, 0], [1, 0, 0, 0.005]),
    ],
    ids=["equality", "inequality and dual sign", "complementarity", "relative to the duals"],
)
def test_each_optimality_residual_is_what_it_says(wrong, expected):
    """Orthogonal examples, where (Gα)_i = α_i: the right duals are (1, 0, 0)."""
    problem = problem_of(np.eye(3), np.array([1.0, -1.0, -1.0]))
    assert (optimality_residuals(problem, np.array([[[1.0, 0, 0]]])) == 0).all()
    residuals = optimality_residuals(problem, np.array([[wrong]], dtype=float))[0]
    np.testing.assert_allclose(residuals, expected, atol=1e-15)


@pytest.mark.parametrize("size", [1e-6, 1e-3])
def test_optimality_residuals_of_a_perturbed_solution_are_not_small(size):
    rng = np.random.default_rng(SEED)
    features = rng.normal(size=(50, 10, 30))
    problem = problem_of(features @ features.swapaxes(1, 2), random_labels(rng, 50, 10))
    duals = minimum_norm(problem).duals
    shaken = duals * (1 + size * rng.choice([-1, 1], duals.shape))
    residuals = optimality_residuals(problem, shaken).max(axis=-1)
    assert (residuals > KKT).all(), residuals.min()
    assert (residuals > 0.01 * size).all(), residuals.min()


def test_the_interpolant_of_the_positives_alone_is_not_taken_for_optimal():
    rng = np.random.default_rng(SEED)
    features = rng.normal(size=(30, 10, 30))
    problem = problem_of(features @ features.swapaxes(1, 2), random_labels(rng, 30, 10))
    failed = 0
    for gram, labels in zip(problem.gram, problem.labels, strict=True):
        positive = labels > 0
        duals = np.zeros(10)
        duals[positive] = np.linalg.solve(gram[np.ix_(positive, positive)], labels[positive])
        residuals = optimality_residuals(problem_of(gram, labels), duals[None, None])[0]
        failed += (gram @ duals)[~positive].max(initial=0) > 1e-3
        assert (residuals[1] > 1e-4) == ((gram @ duals)[~positive].max(initial=0) > 1e-3)
    assert failed >= 20


# What it refuses


def singular(why):
    features = np.random.default_rng(SEED).normal(size=(5, 9))
    if why == "n > d":
        return features[:, :3]
    if why == "centred":
        return features - features.mean(axis=0)
    features[0] = features[1] if why == "repeated" else 0
    return features


@pytest.mark.parametrize("why", ["n > d", "repeated", "zero", "centred"])
def test_a_singular_gram_matrix_is_refused_with_what_to_do(why):
    features = singular(why)
    problem = problem_of(features @ features.T, np.ones(len(features)))
    with pytest.raises(InputError, match=r"problem 0 is singular.*drop duplicates, do not centre"):
        minimum_norm(problem)


def test_the_singular_problem_of_a_batch_is_named():
    gram = np.stack([np.eye(2), np.ones((2, 2)), np.eye(2)])
    with pytest.raises(InputError, match="problem 1 is singular"):
        minimum_norm(problem_of(gram, np.array([1.0, -1.0])))


@pytest.mark.parametrize("signs", [(1, 1), (-1, -1), (1, -1, 1)])
def test_neurons_that_share_a_sign_are_refused(signs):
    problem = problem_of(np.eye(2), np.array([1.0, -1.0]), neurons=len(signs), signs=signs)
    with pytest.raises(InputError, match=r"expected one, or two with signs .* share the norm"):
        minimum_norm(problem)


def test_a_neuron_of_sign_minus_one_fits_the_negative_labels():
    rng = np.random.default_rng(SEED)
    features = rng.normal(size=(20, 6, 9))
    gram, labels = features @ features.swapaxes(1, 2), random_labels(rng, 20, 6)
    flipped, best = (
        minimum_norm(problem_of(gram, -labels)),
        minimum_norm(problem_of(gram, labels, signs=(-1,))),
    )
    np.testing.assert_array_equal(best.duals, flipped.duals)
    assert best.certified.all()


@pytest.mark.parametrize("dimension", [45.0, 90.0, 4e4])
@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_eliminating_the_class_of_a_factor_changes_rounding_at_most(dimension, share):
    """Also where no example, or every one, is of the class."""
    rng = np.random.default_rng([SEED, int(dimension), int(10 * share)])
    lower = wishart_factor(rng, 40, dimension, 5)
    side = np.where(rng.random((5, 40)) < share, 1.0, -1.0)
    labels = side * rng.uniform(0.5, 1.5, (5, 40))
    order = np.argsort(labels < 0, axis=-1, kind="stable")
    gram = Gram(factor=Factor(lower, order, (labels > 0).sum(axis=-1)))
    dense = Gram(gram.factor.product)
    known = {"bound": np.maximum(labels, 0.0), "equality": labels > 0, "inequality": labels <= 0}
    found = LeastNorm(gram, side, **known).solve()
    expected = LeastNorm(dense, side, **known).solve()
    np.testing.assert_array_equal(found != 0, expected != 0)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12 * abs(expected).max())
    assert (LeastNorm(dense, side, **known).residuals(found) < 1e-11).all()
