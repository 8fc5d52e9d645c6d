"""A problem is what gradient descent can see; what cannot be used is refused with a reason."""

from dataclasses import fields

import numpy as np
import pytest

from verify.arrays import backend
from verify.errors import InputError
from verify.relu.effective_dimensions import EffectiveDimensions
from verify.relu.problem import Problem

SEED = 20260309


def data(n=4, d=6, m=2, batch=None):
    """Return features, labels and starting weights."""
    rng = np.random.default_rng(SEED)
    shape = () if batch is None else (batch,)
    return rng.normal(size=(*shape, n, d)), rng.normal(size=(*shape, n)), rng.normal(size=(m, d))


def from_gram(**changes):
    """Build a valid problem with n = 3 and m = 2, but for the arguments in `changes`."""
    arguments = {
        "gram": np.diag([1.0, 2, 3]),
        "labels": np.array([1.0, -1, 2]),
        "starting_predictions": np.ones((2, 3)),
        "step_size": 0.1,
        "signs": (1, -1),
    } | changes
    return Problem.from_gram(arguments.pop("gram"), arguments.pop("labels"), **arguments)


# What it holds


def test_a_single_problem_is_a_batch_of_one():
    problem = from_gram()
    assert (problem.batch, problem.examples, problem.neurons) == (1, 3, 2)
    shapes = {name: getattr(problem, name).shape for name in ("gram", "labels", "signs")}
    assert shapes == {"gram": (1, 3, 3), "labels": (1, 3), "signs": (1, 2)}
    assert problem.starting_predictions.shape == (1, 2, 3)
    assert problem.step_size.shape == (1,)
    assert problem.perpendicular_gram.shape == (1, 2, 2)


ARRAYS = ["gram"] + [
    field.name
    for field in fields(Problem)
    if field.name not in ("inner_products", "slope_at_zero", "law")
]


@pytest.mark.parametrize(
    "batched",
    ["gram", "labels", "starting_predictions", "signs", "step", "perpendicular_gram"],
)
def test_whichever_argument_has_a_batch_axis_the_others_follow(batched):
    five = {
        "gram": {"gram": np.stack([np.diag([1.0, 2, 3]) * k for k in range(1, 6)])},
        "labels": {"labels": np.arange(15.0).reshape(5, 3)},
        "starting_predictions": {"starting_predictions": np.arange(30.0).reshape(5, 2, 3)},
        "signs": {"signs": np.array([[1, 1], [1, -1], [-1, 1], [-1, -1], [1, 1]])},
        "step": {"step_size": np.arange(1.0, 6)},
        "perpendicular_gram": {"perpendicular_gram": np.arange(20.0).reshape(5, 2, 2)},
    }[batched]
    problem = from_gram(**five)
    assert problem.batch == 5
    sizes = {name: getattr(problem, name) for name in ARRAYS}
    for name in ("gram", "labels", "starting_predictions", "signs", "step_size"):
        assert sizes[name].shape[0] == 5, name
    assert problem.perpendicular_gram.shape == (5, 2, 2)
    (name, values) = five.popitem()
    np.testing.assert_array_equal(sizes[name], values)


def test_features_and_their_gram_matrix_give_the_same_problem():
    features, labels, weights = data()
    predictions = weights @ features.T
    explicit = Problem.from_features(
        features, labels, starting_predictions=predictions, step_size=0.1, signs=(1, -1)
    )
    implicit = Problem.from_gram(
        features @ features.T, labels, starting_predictions=predictions, step_size=0.1,
        signs=(1, -1),
    )  # fmt: skip
    for name in ("gram", "labels", "starting_predictions", "signs", "step_size"):
        np.testing.assert_allclose(getattr(explicit, name), getattr(implicit, name), rtol=1e-14)
    np.testing.assert_allclose(explicit.starting_duals, implicit.starting_duals, rtol=1e-12)
    np.testing.assert_array_equal(explicit.perpendicular_gram, 0)
    assert implicit.features is None
    np.testing.assert_array_equal(explicit.features[0], features)


def test_starting_weights_split_into_a_part_in_the_span_and_one_outside():
    features, labels, weights = data()
    problem = Problem.from_features(
        features, labels, starting_weights=weights, step_size=0.1, signs=(1, -1)
    )
    inside = weights @ np.linalg.pinv(features) @ features
    np.testing.assert_allclose(problem.starting_duals[0] @ features, inside, rtol=1e-10)
    outside = weights - inside
    np.testing.assert_allclose(problem.perpendicular_gram[0], outside @ outside.T, atol=1e-12)
    np.testing.assert_allclose(problem.starting_predictions[0], weights @ features.T, rtol=1e-13)


def test_starting_weights_are_accepted_where_the_gram_matrix_is_singular():
    features, labels, weights = data(n=7, d=3)
    problem = Problem.from_features(
        features, labels, starting_weights=weights, step_size=0.1, signs=(1, -1)
    )
    np.testing.assert_allclose(problem.starting_duals[0] @ features, weights, rtol=1e-9)
    np.testing.assert_allclose(problem.perpendicular_gram, 0, atol=1e-14)


def test_duals_are_the_shortest_ones_where_the_gram_matrix_is_singular():
    gram = np.array([[1.0, 1, 0], [1, 1, 0], [0, 0, 2]])
    problem = from_gram(gram=gram, starting_predictions=np.array([[2.0, 2, 4]]), signs=(1,))
    np.testing.assert_allclose(problem.starting_duals[0, 0], [1, 1, 2], rtol=1e-12)


@pytest.mark.parametrize("exponent", [-9, -8, -7, -6])
def test_predictions_of_weights_are_attainable_however_close_two_examples_are(exponent):
    rng = np.random.default_rng([SEED, -exponent])
    features = rng.normal(size=(6, 9))
    features[1] = features[0] + 10.0**exponent * rng.normal(size=9)
    weights = rng.normal(size=(1, 9))
    problem = from_gram(
        gram=features @ features.T, labels=np.ones(6), signs=(1,),
        starting_predictions=weights @ features.T,
    )  # fmt: skip
    assert problem.batch == 1


def test_eigenvalues_are_those_of_the_gram_matrix():
    np.testing.assert_allclose(from_gram().eigenvalues, [[1, 2, 3]], rtol=1e-14)


def test_positives_are_the_labels_above_zero():
    assert from_gram(labels=np.array([1.0, -1, 0])).positives.tolist() == [[True, False, False]]


@pytest.mark.parametrize("kind", [int, np.float32])
def test_other_types_are_converted_to_double_precision(kind):
    """Every tolerance is made for it: a weight of .5 must survive features of integers."""
    features = np.array([[3, -1, 0], [4, 2, 0], [0, 1, 1]], dtype=kind)
    weights = np.array([[0.5, 0.5, 0.25]])
    problem = Problem.from_features(
        features, np.array([16, 18, 0], dtype=kind), starting_weights=weights, step_size=0.01
    )
    assert {array.dtype for array in (problem.gram, problem.labels, problem.signs)} == {
        np.dtype(np.float64)
    }
    np.testing.assert_array_equal(problem.starting_predictions[0, 0], [1, 3, 0.75])
    np.testing.assert_allclose(problem.starting_duals[0] @ features, weights, rtol=1e-12)
    gram = from_gram(gram=np.diag([1, 2, 3]).astype(kind))
    assert gram.gram.dtype == np.float64


def test_a_gram_matrix_that_is_symmetric_up_to_rounding_is_made_so():
    gram = np.diag([1.0, 2, 3])
    gram[0, 1] = 1e-16
    problem = from_gram(gram=gram)
    np.testing.assert_array_equal(problem.gram, problem.gram.swapaxes(1, 2))


# Selecting and moving


def batch_of_four():
    features, labels, weights = data(batch=4)
    law = EffectiveDimensions(6.0, np.arange(4.0), 6.0, np.arange(4.0) + 1)
    return Problem.from_features(
        features, labels, starting_weights=weights, step_size=np.arange(1.0, 5) / 100,
        signs=(1, -1), law=law,
    )  # fmt: skip


@pytest.mark.parametrize("cached", [False, True])
def test_select_keeps_everything_of_the_problems_asked_for(cached):
    problem = batch_of_four()
    if cached:
        assert problem.eigenvalues.shape == (4, 4)
        assert problem.starting_duals.shape == (4, 2, 4)
    chosen = problem.select(np.array([2, 0]))
    assert chosen.batch == 2
    for name in [*ARRAYS, "eigenvalues", "starting_duals"]:
        expected = getattr(problem, name)[[2, 0]]
        np.testing.assert_allclose(getattr(chosen, name), expected, rtol=1e-12, err_msg=name)
    assert chosen.law.trace.tolist() == [2.0, 0.0]
    assert chosen.law.d_2 == 6.0


def test_weights_and_features_follow_the_batch_of_the_labels():
    features, _, weights = data()
    labels = np.random.default_rng(SEED).normal(size=(3, 4))
    problem = Problem.from_features(
        features, labels, starting_weights=weights, step_size=0.1, signs=(1, -1)
    )
    last = problem.select(np.array([2]))
    np.testing.assert_array_equal(last.starting_weights[0], weights)
    np.testing.assert_array_equal(last.features[0], features)
    np.testing.assert_array_equal(last.labels[0], labels[2])


def test_a_batch_of_starting_weights_spreads_the_features():
    features, labels, _ = data()
    weights = np.random.default_rng(SEED).normal(size=(5, 2, 6))
    problem = Problem.from_features(
        features, labels, starting_weights=weights, step_size=0.1, signs=(1, -1)
    )
    assert problem.batch == 5
    expected = weights @ features.T
    np.testing.assert_allclose(problem.starting_predictions, expected, rtol=1e-13)


def test_moving_to_another_backend_changes_the_arrays_and_nothing_else():
    problem = batch_of_four()
    moved = problem.to(backend("array-api-strict"))
    assert type(moved.gram).__module__.startswith("array_api_strict")
    back = moved.to(backend("numpy"))
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(back, name), getattr(problem, name), err_msg=name)
    assert back.law is problem.law


# What it refuses


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gram": np.ones(3)}, r"gram has shape \(3,\), expected \(n, n\)"),
        ({"gram": np.ones((1, 1, 3, 3))}, "gram has shape"),
        ({"gram": np.ones((2, 3))}, "gram has shape .* expected .B, n, n. with n >= 1"),
        ({"gram": np.ones((0, 0))}, "n >= 1"),
        ({"labels": np.ones(4)}, "labels has n=4, expected n=3"),
        ({"labels": np.ones((1, 1, 3))}, "labels has shape"),
        ({"starting_predictions": np.ones((2, 4))}, r"predictions have m=2, n=4, expected .* n=3"),
        ({"starting_predictions": np.ones((0, 3)), "signs": ()}, "predictions have m=0, n=3"),
        ({"starting_predictions": np.ones(3)}, "starting_predictions has shape"),
        ({"signs": (1,)}, "signs has m=1, expected m=2"),
        ({"signs": (1, 2)}, "signs has a value other than -1 and"),
        ({"signs": (1, 0)}, "signs has a value other than -1 and"),
        ({"step_size": 0.0}, "step_size=0.0 is not positive; try"),
        ({"step_size": -1.0}, "step_size=-1.0 is not positive"),
        ({"step_size": np.array([0.1, 0.0])}, "is not positive"),
        ({"step_size": np.nan}, "step_size has values that are NaN or infinite"),
        ({"gram": np.diag([1.0, np.nan, 1])}, "gram has values that are NaN or infinite"),
        ({"labels": np.array([1.0, np.inf, 1])}, "labels has values that are NaN or infinite"),
        (
            {"starting_predictions": np.full((2, 3), np.nan)},
            "starting_predictions has values that are NaN or infinite",
        ),
        ({"perpendicular_gram": np.full((2, 2), np.inf)}, "perpendicular_gram has values that are"),
        ({"perpendicular_gram": np.ones(2)}, "perpendicular_gram has shape"),
        ({"perpendicular_gram": np.ones((3, 3))}, r"perpendicular_gram has shape .* with m=2"),
        ({"slope_at_zero": 2}, "slope_at_zero=2, expected 0 or 1"),
        ({"slope_at_zero": 0.5}, "slope_at_zero=0.5, expected 0 or 1"),
        (
            {"gram": np.array([[1.0, 0.5, 0], [0.4, 1, 0], [0, 0, 1]])},
            r"gram is not symmetric; pass X @ X.T",
        ),
        ({"gram": np.diag([1.0, 1, -0.5])}, "gram has the eigenvalue -0.5, expected a positive"),
        ({"gram": np.diag([1.0, 1, 0])}, "starting_predictions cannot be attained"),
        (
            {"labels": np.ones((2, 3)), "step_size": np.ones(3)},
            "labels has a batch of 2, expected 1 or 3",
        ),
        ({"labels": np.ones((2, 3)), "gram": np.ones((3, 3, 3))}, "a batch of 2, expected 1 or 3"),
    ],
)
def test_what_does_not_make_a_problem_is_refused(changes, message):
    with pytest.raises(InputError, match=message):
        from_gram(**changes)


FEATURES, LABELS, WEIGHTS = data()


@pytest.mark.parametrize(
    ("features", "arguments", "message"),
    [
        (FEATURES, {}, "expected exactly one of the two"),
        (
            FEATURES,
            {"starting_weights": WEIGHTS, "starting_predictions": np.ones((2, 4))},
            "expected exactly one of the two",
        ),
        (FEATURES, {"starting_weights": WEIGHTS[:, :5]}, "starting_weights has d=5, expected d=6"),
        (FEATURES, {"starting_weights": WEIGHTS[0]}, "starting_weights has shape"),
        (FEATURES, {"starting_weights": WEIGHTS * np.nan}, "starting_weights has values that are"),
        (FEATURES[0], {"starting_weights": WEIGHTS}, r"features has shape \(6,\)"),
        (FEATURES * np.nan, {"starting_weights": WEIGHTS}, "features has values that are NaN"),
        (FEATURES * np.inf, {"starting_predictions": np.ones((2, 4))}, "features has values"),
        (
            np.stack([FEATURES] * 3),
            {"starting_weights": np.stack([WEIGHTS] * 2)},
            "starting_weights has a batch of 2, expected 1 or 3",
        ),
        (FEATURES[:, :2], {"starting_predictions": np.eye(2, 4)}, "cannot be attained"),
    ],
)
def test_features_that_do_not_make_a_problem_are_refused(features, arguments, message):
    with pytest.raises(InputError, match=message):
        Problem.from_features(features, LABELS, step_size=0.1, signs=(1, -1), **arguments)


def test_a_message_for_a_singular_gram_matrix_says_what_to_do():
    with pytest.raises(InputError, match=r"duplicated or centred rows.*pass starting_weights"):
        from_gram(gram=np.ones((3, 3)), starting_predictions=np.array([[1.0, 2, 3]]), signs=(1,))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("labels", ["a", "b", "c", "d"], "labels cannot be read as numbers"),
        ("labels", None, "labels has"),
        ("step_size", "fast", "step_size cannot be read as numbers"),
        ("labels", np.array(["1", "2", "3", "4"]), "labels has dtype"),
        ("starting_predictions", np.ones((2, 4), complex), "expected real numbers"),
        ("labels", np.ma.masked_array(np.ones(4), [0, 1, 0, 0]), "labels is a masked array"),
        ("labels", LABELS * 1e-150, "labels has the size"),
        ("labels", LABELS * 1e150, "labels has the size"),
        ("step_size", 1e300, "step_size times gram has the size"),
    ],
)
def test_what_is_no_array_of_usable_numbers_is_refused_by_name(name, value, message):
    given = {"step_size": 0.1, "starting_predictions": np.ones((2, 4)), "labels": LABELS}
    given[name] = value
    labels = given.pop("labels")
    with pytest.raises(InputError, match=message):
        Problem.from_features(FEATURES, labels, signs=(1, -1), **given)


@pytest.mark.parametrize("size", [1e-120, 1e120])
def test_features_beyond_the_range_of_their_gram_matrix_are_told_to_rescale(size):
    with pytest.raises(InputError, match="rescale"):
        Problem.from_features(
            FEATURES * size, LABELS, starting_weights=WEIGHTS, step_size=1.0, signs=(1, -1)
        )


def test_lists_are_as_good_as_arrays():
    start = np.full((2, 4), 0.25)
    arguments = {"step_size": 0.1, "signs": [1, -1]}
    given = Problem.from_features(
        FEATURES.tolist(), LABELS.tolist(), starting_predictions=start.tolist(), **arguments
    )
    expected = Problem.from_features(FEATURES, LABELS, starting_predictions=start, **arguments)
    np.testing.assert_array_equal(given.gram, expected.gram)
    np.testing.assert_array_equal(given.labels, expected.labels)


@pytest.mark.parametrize("shape", [(0, 3, 4), (0, 4), (3, 0), (2, 0, 4), (2, 3, 0)])
def test_features_of_nothing_are_refused(shape):
    *batch, n, d = shape
    with pytest.raises(InputError, match="at least one problem, one example and one feature"):
        Problem.from_features(
            np.zeros(shape), np.ones((*batch, n)), starting_weights=np.zeros((1, d)), step_size=0.1
        )
