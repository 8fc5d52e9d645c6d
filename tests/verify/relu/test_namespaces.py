"""The kernels give the same numbers on every array library, and whatever the batch is."""

import numpy as np
import pytest

from tests.verify.relu.oracle import draw
from verify.arrays import backend, to_numpy
from verify.errors import BackendUnavailable
from verify.relu import descent, gap, least_norm
from verify.relu import gram as gram_module
from verify.relu import minimum_norm as minimum_norm_module
from verify.relu import problem as problem_module
from verify.relu.approach import approach
from verify.relu.certificate import certify_by_energy, certify_by_length, certify_by_rows
from verify.relu.descent import descend, gradient_step, start
from verify.relu.minimum_norm import minimum_norm
from verify.relu.nearest_minimum import nearest_minimum
from verify.relu.plain import descend_plainly
from verify.relu.problem import Problem

SEED = 20260310
SAME = 1e-12

BACKENDS = ["array-api-strict", "array-api-strict:device1", "torch", "cupy"]
"""The second device of array-api-strict refuses every hidden copy to the host."""


@pytest.fixture(params=BACKENDS)
def other(request):
    """A backend other than numpy; skipped where a trial allocation fails."""
    if request.param == "torch":
        pytest.importorskip("torch")
    try:
        return backend(request.param)
    except BackendUnavailable as reason:
        pytest.skip(str(reason))


def one_neuron():
    """Problems with one neuron: certified after few steps, after many, late flips, n₊ = 0."""
    sample = draw(np.random.default_rng(SEED), 12, 6, 60, outside=True, relative_step=(0.05, 1.2))
    sample.labels[0] = -abs(sample.labels[0])
    return Problem.from_features(**sample.arguments)


def pair(examples=6, dimension=60):
    """Problems with two neurons of opposite sign; with few dimensions they seldom decouple."""
    sample = draw(
        np.random.default_rng([SEED, 2]), 12, examples, dimension, neurons=2, outside=True,
        relative_step=(0.3, 1.2),
    )  # fmt: skip
    return Problem.from_features(**sample.arguments)


def coupled_pair():
    """Pairs whose minimum norm is found by trying all modes."""
    return pair(examples=4, dimension=5)


def three_neurons():
    """Problems with three neurons: the certificate by energy, large steps, near ties."""
    sample = draw(
        np.random.default_rng([SEED, 3]), 12, 6, 60, neurons=3, start="random", outside=True,
        slope_at_zero=1, relative_step=(0.3, 2.5),
    )  # fmt: skip
    return Problem.from_features(**sample.arguments)


def assert_same(found, expected, what, tolerance=SAME):
    found, expected = to_numpy(found), to_numpy(expected)
    assert found.shape == expected.shape, what
    if expected.dtype.kind != "f":
        np.testing.assert_array_equal(found, expected, err_msg=what)
        return
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(expected), err_msg=what)
    finite = np.isfinite(expected)
    size = np.abs(expected[finite]).max(initial=1e-300)
    error = np.abs(found[finite] - expected[finite]).max(initial=0.0) / size
    assert error <= tolerance, f"{what}: relative error {error}"


def assert_on(array, problem, what):
    """Hold `array` to the namespace and device of the problem."""
    assert type(array) is type(problem.gram), what
    assert array.device == problem.gram.device, what


RUN = ("status", "steps", "last_flip", "near_ties", "freeze_margin", "certified")
ARRAYS = ("duals", "predictions", "pattern_after_first_step", "final_pattern")


@pytest.mark.parametrize("make", [one_neuron, three_neurons])
def test_descent_is_the_same_on_every_backend(make, other):
    problem = make()
    moved = problem.to(other)
    expected, found = descend(problem, max_steps=512), descend(moved, max_steps=512)
    assert expected.certified.sum() > 0
    for name in ARRAYS:
        assert_on(getattr(found, name), moved, name)
    for name in RUN + ARRAYS:
        assert_same(getattr(found, name), getattr(expected, name), name)


def test_from_descent_to_gap_the_host_is_told_once(other, monkeypatch):
    """Statuses, counts and margins of the runs; whatever else is large stays where it is."""
    moved, transfers = one_neuron().to(other), []
    for module in (descent, gap, gram_module, minimum_norm_module, least_norm, problem_module):
        if hasattr(module, "to_numpy"):
            monkeypatch.setattr(module, "to_numpy", lambda a: transfers.append(a) or to_numpy(a))
    run = descent.descend(moved)
    best = minimum_norm(moved)
    found = gap.implicit_bias_gap(run, best)
    assert_on(found, moved, "gap")
    assert [tuple(array.shape) for array in transfers] == [(5, moved.batch)]


@pytest.mark.parametrize("make", [one_neuron, three_neurons])
@pytest.mark.parametrize(
    "certify",
    [certify_by_length, certify_by_rows, lambda p, s: certify_by_energy(p, s)[0]],
    ids=["length", "rows", "energy"],
)
def test_certificates_are_the_same_on_every_backend(make, certify, other):
    problem = make()
    moved = problem.to(other)
    state, state_there = start(problem), start(moved)
    for step in range(1, 9):
        state, state_there = gradient_step(problem, state), gradient_step(moved, state_there)
        expected, found = certify(problem, state), certify(moved, state_there)
        assert_on(found.frozen, moved, "frozen")
        assert_same(found.frozen, expected.frozen, f"frozen at step {step}")
        assert_same(found.slack, expected.slack, f"slack at step {step}")


@pytest.mark.parametrize("make", [one_neuron, three_neurons])
def test_plain_descent_is_the_same_on_every_backend(make, other):
    problem = make()
    moved = problem.to(other)
    expected = descend_plainly(problem, max_steps=200)
    found = descend_plainly(moved, max_steps=200)
    for name in ("change", "predictions", "change_after_first_step"):
        assert_on(getattr(found, name), moved, name)
    sure = expected.settled
    for name in ("settled", "steps", "last_flip", "change", "predictions"):
        there = to_numpy(getattr(found, name))
        assert_same(there[sure], getattr(expected, name)[sure], name)


def test_the_nearest_minimum_and_the_way_to_it_are_the_same_on_every_backend(other):
    problem = one_neuron()
    moved = problem.to(other)
    expected, found = nearest_minimum(problem), nearest_minimum(moved)
    for name in ("change", "predictions", "distance"):
        assert_on(getattr(found, name), moved, name)
        assert_same(getattr(found, name), getattr(expected, name), name, 1e-10)
    assert expected.certified.all()
    assert found.certified.all()
    expected, found = approach(expected, 200), approach(found, 200)
    assert_on(found.change, moved, "change")
    assert expected.settled.any()
    for name in ("settled", "first_increase", "change", "travelled", "left", "increase", "excess"):
        assert_same(getattr(found, name), getattr(expected, name), name, 1e-9)


@pytest.mark.parametrize("make", [one_neuron, pair, coupled_pair])
def test_minimum_norm_and_gaps_are_the_same_on_every_backend(make, other):
    problem = make()
    moved = problem.to(other)
    expected, found = minimum_norm(problem), minimum_norm(moved)
    for name in ("duals", "norm", "bracket"):
        assert_on(getattr(found, name), moved, name)
        assert_same(getattr(found, name), getattr(expected, name), name)
    np.testing.assert_array_equal(found.decoupled, expected.decoupled)
    assert (to_numpy(found.agreement) >= 0).all() == (make is not coupled_pair)
    assert found.certified.all()
    assert to_numpy(found.kkt).max() <= 1e-12

    trace = np.full(problem.batch, 60.0)
    values = {
        "gap": lambda p, b, t: gap.implicit_bias_gap(descend(p), b),
        "schur gap": lambda p, b, t: gap.schur_gap(p, b),
        "nearest interpolant": lambda p, b, t: gap.nearest_interpolant(p),
        "leading order": lambda p, b, t: gap.leading_order(p, t),
        "lower bound": lambda p, b, t: gap.deductive_bounds(p, t)[0],
        "upper bound": lambda p, b, t: gap.deductive_bounds(p, t)[1],
        "outside the span": lambda p, b, t: gap.outside_span(p),
        "norm": lambda p, b, t: gap.norm_in_span(p.gram, b.duals),
    }
    for name, value in values.items():
        there = value(moved, found, other.asarray(trace))
        assert_on(there, moved, name)
        assert_same(there, value(problem, expected, trace), name)


@pytest.mark.parametrize("given", ["starting_weights", "starting_predictions"])
def test_a_problem_can_be_built_on_every_backend(given, other):
    sample = draw(np.random.default_rng(SEED), 3, 4, 9, neurons=2, outside=True)
    start_there = {
        "starting_weights": sample.weights,
        "starting_predictions": sample.predictions,
    }[given]

    def build(move):
        return Problem.from_features(
            move(sample.features), move(sample.labels), step_size=0.01, signs=(1, -1),
            **{given: move(start_there)},
        )  # fmt: skip

    expected, found = build(np.asarray), build(other.asarray)
    for name in ("gram", "labels", "starting_predictions", "perpendicular_gram", "signs"):
        assert_on(getattr(found, name), found, name)
        assert_same(getattr(found, name), getattr(expected, name), name)
    assert_same(found.starting_duals, expected.starting_duals, "starting duals")
    assert_same(found.eigenvalues, expected.eigenvalues, "eigenvalues")
    assert_same(found.select(to_index(other, [1])).labels, expected.labels[[1]], "selection")


def to_index(other, positions):
    return other.asarray(np.array(positions))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gram": np.diag([1.0, -1])}, "gram has the eigenvalue -1"),
        ({"gram": np.array([[1.0, 0.5], [0, 1]])}, "gram is not symmetric"),
        ({"gram": np.ones((2, 2))}, "cannot be attained"),
        ({"labels": np.array([1.0, np.nan])}, "NaN or infinite"),
        ({"step_size": -1.0}, "not positive"),
    ],
)
def test_input_errors_are_the_same_on_every_backend(changes, message, other):
    arguments = {
        "gram": np.eye(2), "labels": np.ones(2), "step_size": 0.1,
        "starting_predictions": np.array([[1.0, 2.0]]),
    } | changes  # fmt: skip
    moved = {
        name: other.asarray(value) if isinstance(value, np.ndarray) else value
        for name, value in arguments.items()
    }
    with pytest.raises(ValueError, match=message):
        Problem.from_gram(moved.pop("gram"), moved.pop("labels"), **moved)


def test_a_singular_gram_matrix_is_refused_on_every_backend(other):
    problem = Problem.from_gram(
        np.ones((2, 2)), np.array([1.0, -1]), starting_predictions=np.ones((1, 2)), step_size=0.1
    )
    with pytest.raises(ValueError, match="problem 0 is singular"):
        minimum_norm(problem.to(other))


# The batch does not matter


def certified_by_both():
    """Problems of which some are certified by length at the step when energy is tried, 8."""
    sample = draw(np.random.default_rng(0), 40, 10, 60, relative_step=(0.4, 0.4))
    return Problem.from_features(**sample.arguments)


@pytest.mark.parametrize("make", [one_neuron, three_neurons, certified_by_both])
def test_a_problem_runs_alone_as_it_does_in_its_batch(make):
    problem = make()
    whole = descend(problem, max_steps=512)
    for b in range(problem.batch):
        alone = descend(problem.select(np.array([b])), max_steps=512)
        for name in ("status", "steps", "last_flip", "near_ties", "certified"):
            assert getattr(alone, name)[0] == getattr(whole, name)[b], f"{name} of problem {b}"
        for name in ("pattern_after_first_step", "final_pattern"):
            np.testing.assert_array_equal(getattr(alone, name)[0], getattr(whole, name)[b])
        for name in ("duals", "predictions", "freeze_margin"):
            what = f"{name} of problem {b}"
            assert_same(getattr(alone, name)[0], getattr(whole, name)[b], what, 1e-13)


@pytest.mark.parametrize("make", [one_neuron, three_neurons])
def test_plain_descent_of_a_problem_does_not_depend_on_its_batch(make):
    problem = make()
    whole = descend_plainly(problem, max_steps=300)
    for b in range(problem.batch):
        alone = descend_plainly(problem.select(np.array([b])), max_steps=300)
        for name in ("settled", "steps", "last_flip"):
            assert getattr(alone, name)[0] == getattr(whole, name)[b], f"{name} of problem {b}"
        for name in ("change", "predictions", "contraction"):
            what = f"{name} of problem {b}"
            assert_same(getattr(alone, name)[0], getattr(whole, name)[b], what, 1e-13)


@pytest.mark.parametrize("make", [one_neuron, pair, coupled_pair])
def test_a_minimum_of_a_problem_does_not_depend_on_its_batch(make):
    problem = make()
    whole = minimum_norm(problem)
    for b in range(problem.batch):
        alone = minimum_norm(problem.select(np.array([b])))
        for name in ("duals", "norm", "bracket"):
            what = f"{name} of problem {b}"
            assert_same(getattr(alone, name)[0], getattr(whole, name)[b], what, 1e-13)


def test_read_only_arrays_move_to_every_backend(other):
    """Signs given once are spread over the batch as a read-only view."""
    problem = Problem.from_gram(
        np.stack([np.eye(2), 2 * np.eye(2)]),
        np.array([1.0, -1.0]),
        starting_predictions=np.ones((2, 2)),
        step_size=0.5,
        signs=(1, -1),
    )
    assert not problem.signs.flags.writeable
    np.testing.assert_array_equal(to_numpy(problem.to(other).signs), problem.signs)


def test_a_batch_in_another_order_gives_the_same_runs():
    problem = three_neurons()
    order = np.random.default_rng(SEED).permutation(problem.batch)
    whole, shuffled = descend(problem), descend(problem.select(order))
    for name in RUN + ARRAYS:
        assert_same(getattr(shuffled, name), getattr(whole, name)[order], name, 1e-13)
