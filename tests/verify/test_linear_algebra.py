"""Positive definite solves agree with numpy's, on the whole matrix and on masked parts."""

import numpy as np
import pytest

from verify.arrays import backend, to_numpy
from verify.errors import BackendUnavailable, InputError
from verify.linear_algebra import (
    conjugate_gradients,
    conjugate_gradients_of_one,
    masked,
    solve_on,
    solve_positive_definite,
)

SEED = 20260311


def positive_definite(batch, n, ratio=3):
    features = np.random.default_rng([SEED, batch, n]).normal(size=(batch, n, ratio * n))
    return features @ features.swapaxes(1, 2)


def right_sides(batch, n, columns):
    return np.random.default_rng([SEED, columns]).normal(size=(batch, n, columns))


BACKENDS = ["numpy", "array-api-strict", "array-api-strict:device1", "torch"]


def available(name):
    try:
        return backend(name)
    except BackendUnavailable as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize(("batch", "n"), [(1, 1), (5, 4), (3, 60)])
def test_solutions_agree_with_numpy(batch, n, columns, name):
    there = available(name)
    matrix, right = positive_definite(batch, n), right_sides(batch, n, columns)
    solution = solve_positive_definite(there.asarray(matrix), there.asarray(right))
    expected = np.linalg.solve(matrix, right)
    np.testing.assert_allclose(to_numpy(solution), expected, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("condition", [1e3, 1e8])
def test_the_residual_is_at_rounding_whatever_the_condition_number(condition):
    rng = np.random.default_rng(SEED)
    basis = np.linalg.qr(rng.normal(size=(30, 30)))[0]
    matrix = (basis * np.geomspace(1, 1 / condition, 30)) @ basis.T
    matrix = (matrix + matrix.T)[None] / 2
    right = rng.normal(size=(1, 30, 1))
    solution = solve_positive_definite(matrix, right)
    residual = np.abs(matrix @ solution - right).max()
    assert residual <= 1e-14 * np.abs(solution).max()


def test_inputs_are_left_as_they_were():
    matrix, right = positive_definite(2, 5), right_sides(2, 5, 1)
    copies = matrix.copy(), right.copy()
    solve_positive_definite(matrix, right)
    np.testing.assert_array_equal(matrix, copies[0])
    np.testing.assert_array_equal(right, copies[1])


@pytest.mark.parametrize("layout", ["transposed", "reversed", "broadcast"])
def test_the_layout_in_memory_does_not_matter(layout):
    matrix, right = positive_definite(3, 6), right_sides(3, 6, 2)
    expected = np.linalg.solve(matrix, right)
    if layout == "transposed":
        matrix, right = matrix.swapaxes(1, 2), np.asfortranarray(right)
    elif layout == "reversed":
        matrix = matrix[:, ::-1, ::-1].copy()[:, ::-1, ::-1]
    else:
        matrix = np.broadcast_to(matrix[:1], matrix.shape)
        expected = np.linalg.solve(matrix, right)
    np.testing.assert_allclose(solve_positive_definite(matrix, right), expected, rtol=1e-10)


def test_a_matrix_that_is_not_positive_definite_is_named():
    matrix = np.stack([np.eye(3), np.diag([1.0, -1, 1]), np.eye(3)])
    with pytest.raises(InputError, match=r"matrix number 1 .* not positive definite .*minor 2"):
        solve_positive_definite(matrix, np.ones((3, 3, 1)))


# Masks


def test_a_masked_matrix_is_the_matrix_on_the_mask_and_diagonal_elsewhere():
    matrix = positive_definite(2, 4)
    mask = np.array([[True, False, True, True], [False] * 4])
    found = masked(matrix, mask)
    on = np.flatnonzero(mask[0])
    np.testing.assert_array_equal(found[0][np.ix_(on, on)], matrix[0][np.ix_(on, on)])
    np.testing.assert_array_equal(found[0][1, on], 0)
    np.testing.assert_array_equal(found[0], found[0].T)
    size = np.trace(matrix[1]) / 4
    np.testing.assert_allclose(found[1], size * np.eye(4), rtol=1e-15)


def test_solving_a_masked_batch_solves_each_submatrix():
    rng = np.random.default_rng(SEED)
    matrix, right = positive_definite(20, 8), right_sides(20, 8, 1)
    mask = rng.random((20, 8)) < 0.5
    solution = solve_positive_definite(masked(matrix, mask), right * mask[:, :, None])
    assert (solution[~mask] == 0).all()
    for b, on in enumerate(mask):
        expected = np.linalg.solve(matrix[b][np.ix_(on, on)], right[b][on])
        np.testing.assert_allclose(solution[b][on], expected, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("name", BACKENDS)
def test_solving_on_a_mask_solves_each_submatrix_and_leaves_the_rest_zero(name):
    there = available(name)
    rng = np.random.default_rng(SEED)
    matrix, right = positive_definite(20, 8), right_sides(20, 8, 2)
    mask = rng.random((20, 8)) < 0.5
    mask[0] = False
    solution = to_numpy(solve_on(*(there.asarray(array) for array in (matrix, mask, right))))
    assert (solution[~mask] == 0).all()
    for b, on in enumerate(mask):
        expected = np.linalg.solve(matrix[b][np.ix_(on, on)], right[b][on])
        np.testing.assert_allclose(solution[b][on], expected, rtol=1e-11, atol=1e-14)


def test_solving_on_a_mask_refuses_what_is_not_positive_definite_there():
    matrix = np.diag([1.0, -1.0, 1.0])[None]
    solve_on(matrix, np.array([[True, False, True]]), np.ones((1, 3, 1)))
    with pytest.raises(InputError, match="not positive definite"):
        solve_on(matrix, np.array([[True, True, False]]), np.ones((1, 3, 1)))


@pytest.mark.parametrize("size", [0.0, 1e-200, 1e200])
def test_a_masked_matrix_can_be_solved_whatever_its_size(size):
    """A matrix of zeros with nothing on the mask has nothing to solve, and no scale of its own."""
    matrix = size * np.eye(3)[None]
    mask = np.array([[size > 0, False, False]])
    right = np.array([[[size], [0], [0]]])
    solution = solve_positive_definite(masked(matrix, mask), right)
    np.testing.assert_allclose(solution[0, :, 0], [size > 0, 0, 0], rtol=1e-14)


@pytest.mark.parametrize("tolerance", [None, 1e-7])
@pytest.mark.parametrize("guess", [False, True])
def test_conjugate_gradients_find_the_same_alone_as_in_a_batch(guess, tolerance):
    matrix = positive_definite(6, 30, ratio=100)
    rng = np.random.default_rng(SEED)
    rows, mask = rng.normal(size=(6, 1, 30)), rng.random((6, 30)) < 0.6
    mask[0] = False
    largest = np.linalg.eigvalsh(matrix)[:, -1]
    start = rng.normal(size=(6, 1, 30)) / largest.mean() if guess else None
    together, ended = conjugate_gradients(
        lambda a: (matrix @ a.swapaxes(1, 2)).swapaxes(1, 2), mask, rows, largest, start, tolerance
    )
    assert ended.all()
    for b in range(6):
        alone, ended = conjugate_gradients_of_one(
            matrix[b].__matmul__, mask[b], rows[b, 0], largest[b],
            None if start is None else start[b, 0], tolerance,
        )  # fmt: skip
        assert ended
        np.testing.assert_allclose(alone, together[b, 0], rtol=1e-10, atol=1e-18)
        on = np.flatnonzero(mask[b])
        expected = np.linalg.solve(matrix[b][np.ix_(on, on)], rows[b, 0, on])
        close = 1e-13 if tolerance is None else 1e-6
        np.testing.assert_allclose(alone[on], expected, rtol=0, atol=close / 100)
        assert not alone[~mask[b]].any()


def test_conjugate_gradients_that_do_not_come_to_an_end_say_so():
    matrix, everything = np.diag(np.geomspace(1.0, 1e12, 80)), np.ones((2, 80), dtype=bool)
    rows, largest = np.ones((2, 1, 80)), np.full(2, 1e12)
    assert not conjugate_gradients(lambda a: a @ matrix, everything, rows, largest)[1].any()
    assert not conjugate_gradients_of_one(matrix.__matmul__, everything[0], rows[0, 0], 1e12)[1]
