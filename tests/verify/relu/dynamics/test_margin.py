"""Near-orthogonality, linear maximum margins and stable ranks, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from verify.errors import InputError
from verify.relu.dynamics.margin import linear_margin, near_orthogonality, stable_rank

SEED = 20261302


def draw(rng, batch, n, d):
    features = rng.normal(size=(batch, n, d)) * rng.uniform(0.8, 1.2, (batch, n, 1))
    return features, features @ features.swapaxes(1, 2), rng.choice([-1.0, 1.0], (batch, n))


def test_near_orthogonality_is_what_its_definition_says():
    features, gram, _ = draw(np.random.default_rng(SEED), 5, 4, 30)
    found = near_orthogonality(gram)
    for b, X in enumerate(features):
        squares = [x @ x for x in X]
        worst = max(abs(X[i] @ X[j]) for i in range(4) for j in range(4) if i != j)
        spread = max(squares) / min(squares)
        assert np.isclose(found.spread[b], spread, rtol=1e-13)
        assert np.isclose(found.p[b], min(squares) / (spread * 4 * worst), rtol=1e-12)


def test_bounds_are_those_of_the_source():
    found = near_orthogonality(np.asarray([[[1.0, 0.1], [0.1, 2.0]]]))
    # R² = 2, p = 1/(2·2·.1) = 2.5
    assert np.allclose([found.spread[0], found.p[0]], [2.0, 2.5])
    assert np.allclose(found.ratio_bound, 2 * (1 + 2 / 3))
    assert np.allclose(found.uniformity_bound(0.5), 2 / 0.25 * (1 + 2 / 0.5))
    assert np.isinf(found.uniformity_bound(0.0)).all()
    orthogonal = near_orthogonality(np.eye(3)[None])
    assert np.isinf(orthogonal.p).all()
    assert np.isinf(orthogonal.uniformity_bound(0.0)).all()
    assert np.allclose(near_orthogonality(np.eye(3)[None]).ratio_bound, 1.0)


def test_an_example_of_length_zero_is_refused():
    with pytest.raises(InputError, match=r"‖x‖²=0, expected lengths above zero"):
        near_orthogonality(np.zeros((1, 2, 2)))


def test_lengths_that_are_no_numbers_or_out_of_all_proportion_are_refused():
    for value in (np.nan, np.inf):
        with pytest.raises(InputError, match="gram has values that are NaN or infinite"):
            near_orthogonality(np.asarray([[[value, 0.0], [0.0, 1.0]]]))
    with pytest.raises(InputError, match=r"another has a ‖x‖² more than 1e\+100 times as large"):
        near_orthogonality(np.asarray([[[1e90, 0.0], [0.0, 1e-90]]]))


def test_orthogonal_examples_have_the_inverse_squares_as_coefficients():
    squares = np.asarray([1.0, 4.0, 0.25])
    found = linear_margin(np.diag(squares)[None], np.asarray([[1.0, -1.0, 1.0]]))
    assert np.allclose(found.coefficients, 1 / squares, rtol=1e-14)
    assert np.allclose(found.margin, np.sum(1 / squares) ** -0.5)
    assert np.allclose(found.ratio, 16.0)


def test_the_margin_is_that_of_an_independent_solver():
    from scipy.optimize import minimize

    features, gram, labels = draw(np.random.default_rng(SEED + 1), 4, 5, 6)
    found = linear_margin(gram, labels)
    assert (found.kkt < 1e-12).all()
    assert (found.coefficients == 0).any(), "expected an example off the margin, or this tests less"
    for b in range(4):
        rows = labels[b][:, None] * features[b]
        start = np.linalg.pinv(rows) @ np.ones(5)
        best = minimize(
            lambda w: w @ w / 2,
            start,
            jac=lambda w: w,
            constraints={
                "type": "ineq",
                "fun": lambda w, A=rows: A @ w - 1,
                "jac": lambda w, A=rows: A,
            },
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        assert np.isclose(found.margin[b], 1 / np.linalg.norm(best.x), rtol=1e-7)
        weights = (found.coefficients[b] * labels[b]) @ features[b]
        assert np.isclose(1 / np.linalg.norm(weights), found.margin[b], rtol=1e-12)


def test_coefficients_of_nearly_orthogonal_data_are_positive_and_within_their_ratio():
    _, gram, labels = draw(np.random.default_rng(SEED + 2), 340, 4, 6_000)
    near = near_orthogonality(gram)
    kept = near.p >= 3
    assert kept.sum() >= 300
    found = linear_margin(gram[kept], labels[kept])
    assert (found.coefficients > 0).all()
    assert (found.ratio <= near.ratio_bound[kept]).all()


def test_stable_rank_is_that_of_the_singular_values():
    weights = np.random.default_rng(SEED).normal(size=(3, 4, 6))
    found = stable_rank(weights @ weights.swapaxes(1, 2))
    values = np.linalg.svd(weights, compute_uv=False)
    assert np.allclose(found, np.sum(values**2, axis=-1) / values[:, 0] ** 2, rtol=1e-12)
    assert np.isnan(stable_rank(np.zeros((1, 2, 2)))).all()
    assert np.isclose(stable_rank(np.ones((1, 3, 3)))[0], 1.0)


def test_labels_other_than_signs_are_refused():
    with pytest.raises(InputError, match="labels has a value other than"):
        linear_margin(np.eye(2)[None], np.asarray([[1.0, 0.5]]))
