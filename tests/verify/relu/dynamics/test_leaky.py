"""Descent with a leaky ReLU to its limit, against plain descent in weight space."""

import array_api_strict
import numpy as np
import pytest

from verify.arrays import to_numpy
from verify.errors import InputError
from verify.relu.descent import descend
from verify.relu.dynamics.activation import RELU, Activation
from verify.relu.dynamics.flow import flow
from verify.relu.dynamics.leaky import leaky_descent
from verify.relu.problem import Problem


def drawn(rng, batch, n, d, *, neurons=1, relative_step=0.5, slope_at_zero=0):
    features = rng.normal(size=(batch, n, d))
    labels = rng.uniform(0.5, 1, (batch, n)) * rng.choice([-1, 1], (batch, n))
    weights = 0.5 * rng.normal(size=(batch, neurons, d)) / d**0.5
    problem = Problem.from_features(
        features, labels, starting_weights=weights, step_size=relative_step / d / neurons,
        signs=[(-1) ** k for k in range(neurons)], slope_at_zero=slope_at_zero,
    )  # fmt: skip
    return features, weights, problem


def plainly(features, weights, problem, slope_below, steps):
    """Return the weights after plain steps in weight space, (B, m, d), and the last flips (B,)."""
    signs, step = problem.signs[:, :, None], problem.step_size[:, None, None]
    flips, before = np.zeros(problem.batch, dtype=int), None
    for number in range(steps):
        predictions = weights @ features.swapaxes(1, 2)
        active = predictions > 0
        if before is not None:
            flips[(active != before).any(axis=(1, 2))] = number
        before = active
        slopes = np.where(active, 1.0, slope_below)
        residual = (signs * slopes * predictions).sum(axis=1) - problem.labels
        weights = weights - step * (signs * slopes * residual[:, None, :]) @ features
    return weights, flips


@pytest.mark.parametrize(
    ("neurons", "slope_below", "n", "d"), [(1, 0.5, 8, 24), (1, 0.3, 12, 200), (3, 0.5, 6, 48)]
)
def test_limits_are_those_of_plain_descent(neurons, slope_below, n, d):
    features, weights, problem = drawn(np.random.default_rng(0), 12, n, d, neurons=neurons)
    run = leaky_descent(problem, Activation(slope_below))
    assert run.certified.sum() >= 10, run
    plain, flips = plainly(features, weights, problem, slope_below, 4_000)
    limit = weights + (run.duals - problem.starting_duals) @ features
    known = run.certified
    np.testing.assert_allclose(limit[known], plain[known], atol=1e-11)
    assert (run.last_flip[known] == flips[known]).all()
    np.testing.assert_allclose(run.predictions, limit @ features.swapaxes(1, 2), atol=1e-10)


def test_the_guaranteed_margin_is_kept_by_plain_descent():
    features, weights, problem = drawn(np.random.default_rng(1), 40, 6, 400, relative_step=0.9)
    run = leaky_descent(problem, Activation(0.5))
    assert run.certified.all()
    worst = np.full(problem.batch, np.inf)
    for steps in range(1, 60):
        plain, _ = plainly(features, weights, problem, 0.5, steps)
        predictions = plain @ features.swapaxes(1, 2)
        side = np.where(run.pattern_after_first_step, predictions, -predictions)
        worst = np.minimum(worst, side.min(axis=(1, 2)))
    promised = run.freeze_margin > 0
    assert promised.sum() >= 5
    assert (run.freeze_margin <= worst + 1e-12)[promised].all()
    assert (worst < 0)[~promised].all()


def test_it_comes_to_the_flow_as_the_step_vanishes():
    _, _, problem = drawn(np.random.default_rng(2), 10, 6, 24, relative_step=0.02)
    exact = flow(problem, Activation(0.5))
    run = leaky_descent(problem, Activation(0.5))
    known = exact.certified & run.certified
    assert known.sum() >= 9
    np.testing.assert_allclose(run.predictions[known], exact.predictions[known], atol=1e-10)


@pytest.mark.parametrize("slope_at_zero", [0, 1])
def test_a_start_at_zero_takes_the_slope_there(slope_at_zero):
    problem = Problem.from_gram(
        np.eye(1), [1.0], starting_predictions=[[0.0]], step_size=0.5, slope_at_zero=slope_at_zero
    )
    run = leaky_descent(problem, Activation(0.25), max_steps=1)
    assert run.predictions[0, 0, 0] == pytest.approx(1.0 if run.certified[0] else 0.5)
    assert run.final_pattern.all()
    stepped = leaky_descent(problem, Activation(0.25))
    assert stepped.last_flip.tolist() == [1 - slope_at_zero]


def test_too_long_a_step_diverges():
    _, _, problem = drawn(np.random.default_rng(3), 5, 6, 24, relative_step=60.0)
    assert set(leaky_descent(problem, Activation(0.5)).status) == {"diverged"}


def test_a_label_of_zero_is_never_certified():
    problem = Problem.from_gram(
        np.asarray([[2.0, 1.0], [1.0, 2.0]]), [1.0, 0.0], starting_predictions=[[0.1, 0.1]],
        step_size=0.2,
    )  # fmt: skip
    run = leaky_descent(problem, Activation(0.5))
    assert run.status.tolist() == ["undecided"]
    np.testing.assert_allclose(run.predictions[0, 0], [1, 0], atol=1e-12)


def test_it_runs_on_any_array_library_and_device():
    _, _, here = drawn(np.random.default_rng(4), 4, 6, 48, neurons=2)
    device = array_api_strict.Device("device1")
    there = Problem.from_gram(
        *(array_api_strict.asarray(part, device=device) for part in (here.gram, here.labels)),
        starting_predictions=array_api_strict.asarray(here.starting_predictions, device=device),
        step_size=float(here.step_size[0]), signs=(1, -1),
    )  # fmt: skip
    run, expected = leaky_descent(there, Activation(0.5)), leaky_descent(here, Activation(0.5))
    assert run.duals.device == device
    assert run.status.tolist() == expected.status.tolist()
    np.testing.assert_allclose(to_numpy(run.predictions), expected.predictions, atol=1e-12)


def alone(start, label, step_size, *, gram=((1.0,),), slope_below=0.5):
    """Run neurons of output sign 1 that start at predictions (m, n) on one problem."""
    start = np.asarray(start, float)
    problem = Problem.from_gram(
        gram, label, starting_predictions=start, step_size=step_size, signs=(1,) * len(start)
    )
    return leaky_descent(problem, Activation(slope_below), 2_000)


def test_an_unstable_step_is_not_certified():
    """From .1 to 2.35, of residual 1.35, and in the next step across the kink."""
    run = alone([[0.1]], [1.0], 2.5)
    assert not run.certified[0]
    assert run.last_flip[0] > 0


def test_what_a_label_guarantees_of_one_neuron_below_its_kink():
    """Label −1 at γ = ½ and ηG = 7: outputs −.95, −1.0375, −.971875 …, of residuals that change
    sign. From step one on the label says |β| ≥ (1 − .0375)/γ = 1.925, and the drift 1.94375, which
    is the least there is."""
    run = alone([[-1.9]], [-1.0], 7.0)
    assert run.certified[0]
    assert run.steps[0] == 1
    assert run.freeze_margin[0] == pytest.approx(1.94375, rel=1e-12)


def test_a_label_guarantees_nothing_of_one_of_two_neurons():
    """Residual .2 is shared: the first neuron goes from .05 to −.1 on the way, not to its label."""
    run = alone([[0.05], [1.15]], [1.0], 0.1)
    assert run.certified[0]
    assert run.final_pattern[0].tolist() == [[False], [True]]
    assert run.last_flip[0] > 1


def test_the_energy_certificate_does_not_come_before_a_crossing():
    """The first neuron ends half the residual, .2, below its start of .15; at step 8, where it is
    tried first, it is still above the kink."""
    run = alone([[0.15], [0.8]], [0.55], 0.005)
    assert run.certified[0]
    assert run.last_flip[0] > 8
    assert run.final_pattern[0].tolist() == [[False], [True]]


def test_a_path_along_a_line_is_certified_at_once():
    """Two examples almost along one another: what is left points along both of them, and shrinks
    by the same factor every step."""
    gram = [[1.0, 0.999], [0.999, 1.0]]
    run = alone([[0.05, 0.05], [0.05, 0.05]], [1.0, 1.0], 0.01, gram=gram)
    assert run.certified[0]
    assert run.steps[0] == 1


def test_a_limit_within_the_rounding_of_its_path_is_not_certified():
    """From 1 to 1e-17: what the steps have rounded away is more than that."""
    run = alone([[1.0]], [1e-17], 0.5)
    assert run.status[0] == "undecided"


@pytest.mark.parametrize(
    ("gram", "labels", "limit"),
    [
        ([[1.0, 1.0], [1.0, 1.0]], [1.0, 1.0], [1.0, 1.0]),
        ([[1.0, 1.0], [1.0, 1.0]], [1.0, -0.5], [0.25, 0.25]),
        ([[1.0, 1.0], [1.0, 1.0]], [-1.0, -0.5], [-1.5, -1.5]),
        ([[1.0, 0.0], [0.0, 0.0]], [1.0, 1.0], [1.0, 0.0]),
    ],
)
def test_dependent_examples_end_at_the_least_squares(gram, labels, limit):
    """The O(n³) certificate is sound where G is singular: what is left of r moves no weights."""
    start = [[0.1, 0.1 * gram[0][1]]]
    problem = Problem.from_gram(gram, labels, starting_predictions=start, step_size=0.3)
    run = leaky_descent(problem, Activation(0.5), 500)
    assert run.certified[0]
    assert run.steps[0] >= 8
    np.testing.assert_allclose(run.predictions[0, 0], limit, atol=1e-12)


def test_dependent_examples_whose_limit_is_on_the_kink_are_not_certified():
    gram, start = [[1.0, 1.0], [1.0, 1.0]], [[0.1, 0.1]]
    problem = Problem.from_gram(gram, [1.0, -1.0], starting_predictions=start, step_size=0.3)
    run = leaky_descent(problem, Activation(0.5), 500)
    assert run.status.tolist() == ["undecided"]
    np.testing.assert_allclose(run.predictions, 0, atol=1e-12)


@pytest.mark.parametrize("slope_below", [1e-3, 1e-6, 1e-9, 1e-30])
@pytest.mark.parametrize("neurons", [1, 2, 3])
def test_next_to_the_relu_nothing_is_solved_that_is_singular(neurons, slope_below):
    """What is below the kink moves on, γ² as fast as the rest: that has a limit far away, and is
    not at rest: a certified run fits its labels."""
    rng = np.random.default_rng(6)
    problem = drawn(rng, 30, 6, 200, neurons=neurons)[2]
    run = leaky_descent(problem, Activation(slope_below), max_steps=400)
    limit = run.duals @ problem.gram
    residual = (problem.signs[:, :, None] * np.where(limit > 0, limit, slope_below * limit)).sum(1)
    misfit = abs(residual - problem.labels).max(axis=-1)
    assert (misfit[run.certified] < 1e-6).all()


@pytest.mark.parametrize("slope_below", [0.2, 0.01, 1e-4])
def test_one_neuron_is_certified_early_however_slowly_it_ends(slope_below):
    """Below the kink a residual takes 1/(cγ²) steps; that no sign changes is known long before."""
    other = drawn(np.random.default_rng(7), 30, 10, 2_000)[2]
    problem = Problem.from_gram(
        other.gram, other.labels, starting_predictions=np.full((30, 1, 10), 0.003),
        step_size=other.step_size,
    )  # fmt: skip
    run = leaky_descent(problem, Activation(slope_below))
    assert run.certified.all()
    assert run.steps.max() <= 128
    inverse = np.where(problem.labels > 0, problem.labels, problem.labels / slope_below)
    np.testing.assert_allclose(run.predictions[:, 0], inverse, rtol=1e-9)


@pytest.mark.parametrize(("neurons", "relative_step"), [(1, 60), (1, 200), (2, 200), (2, 1e4)])
def test_a_path_that_grows_is_said_to_diverge_and_not_lost(neurons, relative_step):
    problem = drawn(np.random.default_rng(8), 20, 10, 1_000, neurons=neurons,
                    relative_step=relative_step)[2]  # fmt: skip
    assert set(leaky_descent(problem, Activation(0.2)).status) == {"diverged"}


def test_the_relu_and_no_steps_are_refused():
    _, _, problem = drawn(np.random.default_rng(5), 1, 3, 12)
    with pytest.raises(InputError, match="slope_below=0"):
        leaky_descent(problem, RELU)
    with pytest.raises(InputError, match="slope_below=1e-200"):
        leaky_descent(problem, Activation(1e-200))
    with pytest.raises(InputError, match="max_steps=0"):
        leaky_descent(problem, Activation(0.5), max_steps=0)


@pytest.mark.parametrize("slope_below", [0.0, 0.2])
@pytest.mark.parametrize("relative_step", [2, 3, 10, 1e10, 1e98])
def test_steps_too_long_warn_of_nothing(relative_step, slope_below):
    """Bounds on rounding grow past the range of doubles where a run cycles; warnings are errors."""
    features, weights, _ = drawn(np.random.default_rng(0), 8, 3, 6)
    features[::2, 0] = 0  # an example that no error reaches
    labels = np.full((8, 3), 0.7)
    problem = Problem.from_features(
        features, labels, starting_weights=weights, step_size=relative_step / 6
    )
    run = descend(problem, max_steps=2_000, slope_below=slope_below)
    assert slope_below == 0 or not run.certified.all()
    assert not np.isnan(run.freeze_margin).any()
