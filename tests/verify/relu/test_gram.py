"""What is known of Gram matrices, as matrices and through factors, and how they are solved with."""

import numpy as np
import pytest

from verify.arrays import backend, to_numpy
from verify.relu.factor import Factor
from verify.relu.gram import Gram
from verify.relu.sampling import wishart_factor
from verify.relu.slopes import Slopes

SEED = 20261201


def factored(n, dimension, batch=4):
    """Return Gram matrices through factors, the same as matrices, and their leading examples."""
    rng = np.random.default_rng([SEED, n, int(dimension)])
    lower = wishart_factor(rng, n, dimension, batch)
    leads = rng.random((batch, n)) < 0.5
    order = np.argsort(~leads, axis=-1, kind="stable")
    factor = Factor(lower, order, leads.sum(axis=-1))
    return Gram(factor=factor), Gram(factor.product), leads


CASES = [(1, 5.0), (6, 6.5), (20, 25.0), (20, 2e4), (60, 120.0), (60, 1e12)]


@pytest.mark.parametrize(("n", "dimension"), CASES)
def test_a_factor_says_what_its_product_says(n, dimension):
    gram, same, leads = factored(n, dimension)
    rows = np.random.default_rng(SEED).normal(size=(4, 3, n))
    condition = same.eigenvalues[:, -1].max() / same.eigenvalues[:, 0].min()
    close = {"rtol": 1e-12 * condition, "atol": 1e-13 * condition * abs(rows).max()}
    np.testing.assert_allclose(gram.diagonal, same.diagonal, rtol=1e-13)
    np.testing.assert_allclose(gram.lengths, same.lengths, rtol=1e-13)
    np.testing.assert_allclose(gram.times(rows) / dimension, same.times(rows) / dimension, **close)
    np.testing.assert_allclose(gram.norms(rows), same.norms(rows), rtol=1e-12)
    inverse = np.linalg.solve(same.dense, rows.swapaxes(1, 2)).swapaxes(1, 2)
    for solved in (gram.solve(rows), same.solve(rows)):
        np.testing.assert_allclose(solved * dimension, inverse * dimension, **close)
    chosen = gram.take(np.array([2, 0]))
    np.testing.assert_array_equal(chosen.dense, gram.dense[[2, 0]])
    np.testing.assert_array_equal(gram.dense, same.dense)
    assert leads.shape == gram.factor.leads.shape
    np.testing.assert_array_equal(gram.factor.leads, leads)


@pytest.mark.parametrize(("n", "dimension"), CASES)
def test_cheap_bounds_hold_all_eigenvalues(n, dimension):
    gram, same, _ = factored(n, dimension)
    values = np.linalg.eigvalsh(same.dense)
    for known in (gram, same):
        low, high = known.range
        assert (low <= values[:, 0]).all()
        assert (high >= values[:, -1]).all()
        assert (known.size >= values[:, -1]).all()
        assert (known.smallest == low).all()
    if dimension > 1e3 * n:
        assert (same.range[0] > 0.5 * values[:, 0]).all()


def test_bounds_of_a_factor_hold_where_its_diagonal_does_not_prevail():
    """‖N‖_F of L = D(I + N) is above one here, so that the comparison matrix has to say it."""
    gram, same, _ = factored(60, 600.0)
    values = np.linalg.eigvalsh(same.dense)
    low, high = gram.factor.range
    assert (low > 0).all()
    assert (low <= values[:, 0]).all()
    assert (high >= values[:, -1]).all()


def test_what_is_computed_is_kept_and_used():
    _, same, _ = factored(20, 25.0)
    values = same.eigenvalues
    low, high = same.range
    np.testing.assert_allclose(low, values[:, 0], rtol=1e-9)
    np.testing.assert_allclose(high, values[:, -1], rtol=1e-9)
    np.testing.assert_array_equal(same.take(np.array([1])).eigenvalues, values[[1]])


@pytest.mark.parametrize("rough", [False, True])
@pytest.mark.parametrize(("n", "dimension"), CASES)
def test_solving_on_sets_is_solving_with_principal_submatrices(n, dimension, rough):
    gram, same, leads = factored(n, dimension)
    rng = np.random.default_rng([SEED, 1])
    rows = rng.normal(size=(4, 2, n))
    nothing, some = np.zeros((4, n), dtype=bool), rng.random((4, n)) < 0.6
    for mask in (leads, leads | some, some, nothing, ~nothing):
        for known in (gram, same):
            found = known.solve_on(mask, rows, rough=rough)
            for b in range(4):
                on = np.flatnonzero(mask[b])
                matrix = same.dense[b][np.ix_(on, on)]
                expected = np.zeros((2, n))
                expected[:, on] = np.linalg.solve(matrix, rows[b][:, on].T).T if on.size else 0.0
                error = np.abs(found[b] - expected).max(initial=0.0)
                condition = np.linalg.cond(matrix) if on.size else 1.0
                allowed = (1e-4 if rough else 1e-13) * condition
                assert error <= allowed * np.abs(expected).max(initial=0.0), (b, rough)


@pytest.mark.parametrize(("n", "dimension"), CASES)
def test_the_trailing_block_is_a_factor_of_the_schur_complement_of_what_leads(n, dimension):
    gram, same, leads = factored(n, dimension)
    for b in range(4):
        rest, others = gram.factor.trailing(b), gram.factor.others(b)
        on = np.flatnonzero(leads[b])
        between = same.dense[b][np.ix_(others, on)]
        expected = same.dense[b][np.ix_(others, others)]
        if on.size:
            expected = expected - between @ np.linalg.solve(
                same.dense[b][np.ix_(on, on)], between.T
            )
        scale = abs(same.dense[b]).max()
        np.testing.assert_allclose(rest.product[0] / scale, expected / scale, atol=1e-12)
        low, high = rest.range
        if others.size:
            values = np.linalg.eigvalsh(expected)
            assert low[0] <= values[0] * (1 + 1e-9)
            assert values[-1] <= high[0] * (1 + 1e-9)


def test_a_guess_and_the_batch_change_rounding_at_most():
    _, gram, leads = factored(20, 2e4)
    rows = np.random.default_rng(SEED).normal(size=(4, 1, 20))
    found = gram.solve_on(leads, rows)
    near = gram.solve_on(leads, rows, start=found * 1.001)
    np.testing.assert_allclose(near, found, rtol=1e-11, atol=1e-20)
    alone = gram.take(np.array([2])).solve_on(leads[2:3], rows[2:3])
    np.testing.assert_array_equal(alone[0], found[2])


def test_well_and_badly_conditioned_matrices_share_a_batch():
    """Conjugate gradients would need hundreds of steps for one of the two."""
    spread = np.diag(np.geomspace(1.0, 1e6, 12))
    gram = Gram(np.stack([np.eye(12) * 2.0, spread]))
    assert gram.iterative.tolist() == [True, False]
    rows = np.ones((2, 1, 12))
    everything = np.ones((2, 12), dtype=bool)
    found = gram.solve_on(everything, rows)
    np.testing.assert_allclose(found[0, 0], np.full(12, 0.5), rtol=1e-15)
    np.testing.assert_allclose(found[1, 0], 1 / np.diag(spread), rtol=1e-13)


@pytest.mark.parametrize(("n", "dimension"), [(6, 8.0), (20, 2e4), (40, 80.0)])
def test_no_prediction_moves_further_than_its_reach(n, dimension):
    """Movements D_k X(…) with residuals on C, of length one in the norm of M⁻¹."""
    gram, same, leads = factored(n, dimension)
    rng = np.random.default_rng([SEED, 2])
    for mask in (leads, leads & (rng.random((4, n)) < 0.7), rng.random((4, n)) < 0.5):
        for known in (gram, same):
            reach = known.reach(Slopes(mask[:, None, :]), mask)[:, 0, :]
            for b in range(4):
                on = np.flatnonzero(mask[b])
                inside = same.dense[b][np.ix_(on, on)]
                moved = np.linalg.solve(inside, same.dense[b][on])
                exact = np.sqrt(np.einsum("ji,ji->i", same.dense[b][on], moved))
                assert (reach[b] >= exact * (1 - 1e-12)).all()
                assert (reach[b] <= same.lengths[b] * (1 + 1e-12)).all()


@pytest.mark.parametrize("name", ["array-api-strict", "array-api-strict:device1"])
def test_a_factor_becomes_a_matrix_elsewhere(name):
    gram, same, _ = factored(20, 2e4)
    there = backend(name)
    moved = gram.to(there)
    assert moved.factor is None
    assert moved.given.device == there.asarray(np.zeros(1)).device
    np.testing.assert_allclose(to_numpy(moved.dense), same.dense, rtol=1e-14)
    assert gram.to(backend("numpy")) is gram


def test_a_factor_is_solved_with_as_it_is_however_large_its_numbers_are():
    """Conjugate gradients need no matrix; at 1e18 adding one to a number changes nothing."""
    gram, _, leads = factored(20, 1e18)
    assert gram.iterative.all()
    gram.solve_on(~leads, np.ones((4, 1, 20)))
    assert "dense" not in gram.__dict__
