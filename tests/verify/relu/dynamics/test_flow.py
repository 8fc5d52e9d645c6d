"""Gradient flow against integration in weight space, descent with small steps, and closed forms."""

import array_api_strict
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from verify.arrays import to_numpy
from verify.errors import InputError
from verify.relu.descent import descend
from verify.relu.dynamics.activation import RELU, Activation
from verify.relu.dynamics.flow import flow
from verify.relu.nearest_minimum import nearest_minimum
from verify.relu.problem import Problem

THEOREM_3 = {0: (-1e-9, 1e-9), 1: (-0.045, -0.035), 2: (-0.12, -0.10), 5: (-0.22, -0.20)}
"""Vardi and Shamir 2021, theorem 3: the published intervals of s by γ (theory §8)."""


def theorem_3(gamma, scale=1.0, step_size=1e-3):
    features = np.asarray([[3, -1, 0], [4, 2, 0], [0, gamma, gamma]], dtype=float)
    labels = scale * np.asarray([16, 18, 0])
    keep = 3 if gamma else 2
    problem = Problem.from_features(
        features[:keep], labels[:keep], starting_weights=np.zeros((1, 3)),
        step_size=step_size, slope_at_zero=1,
    )  # fmt: skip
    return features[:keep], problem


def drawn(rng, n, d, *, neurons=1, labels="both", start=0.5, slope_at_zero=0, signs=None):
    """Return features, weights and the problem, of one draw."""
    features = rng.normal(size=(n, d))
    magnitudes = rng.uniform(0.5, 1, n)
    choices = {"both": [-1, 1], "not negative": [0, 1], "positive": [1]}[labels]
    y = magnitudes * rng.choice(choices, n)
    weights = start * rng.normal(size=(neurons, d)) / d**0.5
    signs = signs or [(-1) ** k for k in range(neurons)]
    problem = Problem.from_features(
        features, y, starting_weights=weights, signs=signs, step_size=0.1 / d,
        slope_at_zero=slope_at_zero,
    )  # fmt: skip
    return features, weights, problem


def limit_weights(run, features, weights):
    change = run.duals[0] - run.problem.starting_duals[0]
    return weights + change @ features


def integrated(features, weights, problem, time, slope_below=0.0):
    """Return the weights at a time, by scipy in weight space."""
    labels, signs = problem.labels[0], problem.signs[0]

    def velocity(_time, flat):
        w = flat.reshape(weights.shape)
        predictions = w @ features.T
        active = predictions >= 0 if problem.slope_at_zero else predictions > 0
        slopes = np.where(active, 1.0, slope_below)
        residual = signs @ (slopes * predictions) - labels
        return (-(signs[:, None] * slopes * residual) @ features).ravel()

    found = solve_ivp(velocity, (0, time), weights.ravel(), "LSODA", rtol=1e-10, atol=1e-12)
    return found.y[:, -1].reshape(weights.shape)


@pytest.mark.parametrize("scale", [1.0, 3.0])
@pytest.mark.parametrize("gamma", THEOREM_3)
def test_theorem_3_ends_in_the_published_intervals(gamma, scale):
    features, problem = theorem_3(gamma, scale)
    run = flow(problem)
    assert run.certified.all()
    limit = limit_weights(run, features, np.zeros((1, 3)))[0] / scale
    np.testing.assert_allclose(limit[:2], [5, -1], atol=1e-10)
    low, high = THEOREM_3[gamma]
    assert low < limit[2] < high
    independent = integrated(features, np.zeros((1, 3)), problem, 60.0)[0] / scale
    np.testing.assert_allclose(limit, independent, atol=1e-7)


def test_descent_approaches_the_flow_of_theorem_3_in_proportion_to_its_step():
    features, problem = theorem_3(2)
    exact = limit_weights(flow(problem), features, np.zeros((1, 3)))
    apart = []
    for step_size in (4e-3, 2e-3, 1e-3):
        run = descend(theorem_3(2, step_size=step_size)[1])
        assert run.certified.all()
        apart.append(np.abs(limit_weights(run, features, np.zeros((1, 3))) - exact).max())
    np.testing.assert_allclose(np.divide(apart[:-1], apart[1:]), 2.0, rtol=0.1)


@pytest.mark.parametrize(("slope_below", "labels"), [(0.0, "not negative"), (0.3, "positive")])
def test_without_holds_it_is_what_integration_in_weight_space_says(slope_below, labels):
    rng = np.random.default_rng(1)
    for _ in range(4):
        features, weights, problem = drawn(rng, 6, 24, labels=labels)
        run = flow(problem, Activation(slope_below))
        (path,) = run.paths
        assert not path.lost
        assert not any(regime.modes.held.any() for regime in path.regimes)
        for time in (0.5 * path.starts[-1], path.starts[-1] + 0.02):
            there = integrated(features, weights, problem, time, slope_below)
            np.testing.assert_allclose(weights + path.change(time) @ features, there, atol=1e-8)


@pytest.mark.parametrize(
    ("neurons", "slope_below", "start"),
    [(1, 0.0, 0.5), (1, 0.0, 0.0), (2, 0.0, 0.5), (3, 0.5, 0.5)],
)
def test_with_holds_descent_comes_nearer_in_proportion_to_its_step(neurons, slope_below, start):
    rng = np.random.default_rng(2)
    drawn_ones = [
        drawn(rng, 5, 40, neurons=neurons, start=start, slope_at_zero=int(start == 0))
        for _ in range(12)
    ]
    problem = Problem.from_features(
        np.stack([features for features, *_ in drawn_ones]),
        np.concatenate([one.labels for *_, one in drawn_ones]),
        starting_weights=np.stack([weights for _, weights, _ in drawn_ones]),
        signs=drawn_ones[0][2].signs[0], step_size=1.0, slope_at_zero=int(start == 0),
    )  # fmt: skip
    run = flow(problem, Activation(slope_below))
    assert run.certified.sum() >= 10
    held = [any(regime.modes.held.any() for regime in path.regimes) for path in run.paths]
    assert sum(held) >= 2
    apart = []
    for pace in (1e-2, 2.5e-3):
        change = descended(problem, slope_below, pace, 60 if slope_below == 0 else 150)
        off = problem.starting_duals + change - run.duals
        square = (off * (off @ problem.gram)).sum(axis=(1, 2))
        apart.append(np.sqrt(np.maximum(square, 0))[run.certified])
    assert (apart[1] < 1e-3).all(), apart[1]
    assert np.median(apart[1]) < 0.4 * np.median(apart[0])


def descended(problem, slope_below, pace, duration):
    """Return the change after plain descent at η = pace/λ_max, for duration/pace steps."""
    gram, signs = problem.gram, problem.signs[:, :, None]
    step = (pace / problem.eigenvalues[:, -1])[:, None, None]
    change = np.zeros_like(problem.starting_predictions)
    for _ in range(int(duration / pace)):
        predictions = problem.starting_predictions + change @ gram
        active = predictions >= 0 if problem.slope_at_zero else predictions > 0
        slopes = np.where(active, 1.0, slope_below)
        residual = (signs * slopes * predictions).sum(axis=1) - problem.labels
        change -= step * signs * slopes * residual[:, None, :]
    return change


def one_example(slope_below):
    problem = Problem.from_gram(
        np.eye(1), [-1.0], starting_predictions=[[1.0]], step_size=0.1, slope_at_zero=0
    )
    return flow(problem, Activation(slope_below))


def test_a_negative_label_alone_stops_at_the_kink():
    """β = 2e^{−t} − 1 meets zero at log 2, and the ReLU's flow ends there."""
    run = one_example(0.0)
    assert run.certified.all()
    assert run.events.tolist() == [1]
    assert run.last_event[0] == pytest.approx(np.log(2), rel=1e-13)
    assert run.predictions[0, 0, 0] == pytest.approx(0.0, abs=1e-15)


def test_a_leaky_one_goes_on_to_its_label():
    """Below the kink β/2 = −1 is the label's prediction; the time constant is 1/γ²."""
    run = one_example(0.5)
    assert run.certified.all()
    assert run.predictions[0, 0, 0] == pytest.approx(-2.0, rel=1e-13)
    after = run.paths[0].change(np.log(2) + 1.0)[0, 0]
    assert 1.0 + after == pytest.approx(-2 * (1 - np.exp(-0.25)), rel=1e-12)


def test_an_example_that_is_held_takes_no_part():
    """x_1 = (1, 0), x_2 = (½, 1), y = (1, −1), β⁰ = (½, 0). Held is x_2, the flow of w orthogonal
    to it: β_1 = 1 − ½e^{−4t/5}, limit β = (1, 0)."""
    gram = np.asarray([[1.0, 0.5], [0.5, 1.25]])
    problem = Problem.from_gram(
        gram, [1.0, -1.0], starting_predictions=[[0.5, 0.0]], step_size=0.1, slope_at_zero=1
    )
    run = flow(problem)
    assert run.certified.all()
    assert run.held.tolist() == [[[False, True]]]
    np.testing.assert_allclose(run.predictions[0, 0], [1, 0], atol=1e-14)
    np.testing.assert_allclose(gram @ run.paths[0].change(1.0)[0], [0.5 - 0.5 * np.exp(-0.8), 0])


@pytest.mark.parametrize("neurons", [1, 2])
def test_on_orthogonal_data_the_limit_is_the_least_norm(neurons):
    """Examples of the other sign come to rest at zero exactly (theory §8)."""
    rng = np.random.default_rng(3)
    lengths, labels = rng.uniform(1, 3, 6), np.asarray([1, -1, 0.5, -2, 1.5, -0.7])
    start = rng.uniform(0.01, 0.1, (neurons, 6))
    problem = Problem.from_gram(
        np.diag(lengths), labels, starting_predictions=start, step_size=0.1, signs=[1, -1][:neurons]
    )
    run = flow(problem)
    assert run.certified.all()
    wanted = np.stack([np.maximum(labels, 0), np.maximum(-labels, 0)])[:neurons]
    np.testing.assert_allclose(run.predictions[0], wanted, atol=1e-14)


def test_paths_obey_the_equation_of_the_flow():
    """Differences of the coefficients are −s_k φ'(β_k) r, where no example is held."""
    rng = np.random.default_rng(4)
    _, _, problem = drawn(rng, 6, 24, neurons=2)
    (path,) = flow(problem).paths
    h, checked = 1e-6, 0
    ends = [*path.starts[1:], np.inf]
    for begin, end, regime in zip(path.starts, ends, path.regimes, strict=True):
        time = begin + min(1e-3, (end - begin) / 2)
        if end - begin < 4 * h:
            continue
        predictions = problem.starting_predictions[0] + path.change(time) @ problem.gram[0]
        held, active = regime.modes.held, predictions > 1e-12
        residual = problem.signs[0] @ np.where(active, predictions, 0) - problem.labels[0]
        velocity = -problem.signs[0][:, None] * active * residual
        difference = (path.change(time + h) - path.change(time - h)) / (2 * h)
        np.testing.assert_allclose(difference[~held], velocity[~held], atol=1e-6)
        np.testing.assert_allclose(path.residual(time), residual, atol=1e-12)
        checked += 1
    assert checked >= 3


@pytest.mark.parametrize("labels", ["not negative", "both"])
def test_neither_the_loss_nor_the_distance_to_the_nearest_minimum_increases(labels):
    """Theorem 8 of Vardi and Shamir; of the flow also with negative labels, where global minima
    predict at most 0, so that −r_i(β − β̃)_i ≤ 0 on every example active or held [D]."""
    rng = np.random.default_rng(5)
    followed = strayed = 0
    for _ in range(30):
        _, _, problem = drawn(rng, 6, 18, labels=labels, slope_at_zero=1)
        best, (path,) = nearest_minimum(problem), flow(problem).paths
        if path.lost:
            continue
        followed += 1
        times = path.times(40)
        along = path.distances(best.change, times)
        assert (np.diff(along) <= 1e-12 * along[0]).all()
        loss = np.asarray([0.5 * (path.residual(time) ** 2).sum() for time in times])
        assert (np.diff(loss) <= 1e-14 * loss[0]).all()
        strayed += (np.diff(path.distances(-best.change, times)) > 1e-3 * along[0]).any()
    assert followed > 25
    assert strayed > 10  # from another point at the same distance


def test_errors_add_up_along_the_path():
    """The bound at the end is at least the rounding of every regime on the way, and grows."""
    rng = np.random.default_rng(9)
    seen = 0
    for _ in range(12):
        _, _, problem = drawn(rng, 6, 24, labels="not negative")
        run = flow(problem)
        (path,) = run.paths
        if path.lost or not np.isinf(path.end) or len(path.regimes) < 2:
            continue
        if path.regimes[-1].modes.held.any():
            continue
        setting = path.regimes[0].setting
        before = [regime.origin.distance(setting) for regime in path.regimes]
        lengths = [*np.diff(path.starts), np.inf]
        rounding = [r.rounding(t) for r, t in zip(path.regimes, lengths, strict=True)]
        errors = [*before, run.error[0]]
        assert before[0] == 0
        for old, own, new in zip(before, rounding, errors[1:], strict=True):
            assert new >= own
            assert new >= 0.5 * old, "no event of these shortens what is off by half"
        assert errors[-1] >= max(rounding)
        seen += 1
    assert seen >= 4


def test_a_start_at_zero_stays_or_goes_by_the_slope_there():
    gram, labels = np.asarray([[2.0, 1.0], [1.0, 2.0]]), [1.0, 0.5]
    for slope_at_zero, wanted in ((0, [0, 0]), (1, labels)):
        problem = Problem.from_gram(
            gram, labels, starting_predictions=[[0.0, 0.0]], step_size=0.1,
            slope_at_zero=slope_at_zero,
        )  # fmt: skip
        run = flow(problem)
        assert run.certified.all()
        np.testing.assert_allclose(run.predictions[0, 0], wanted, atol=1e-14)


def test_duplicates_that_would_be_held_together_are_undecided():
    problem = Problem.from_gram(
        np.asarray([[1.0, 1, 0.5], [1, 1, 0.5], [0.5, 0.5, 1]]), [-1.0, -1.0, 5.0],
        starting_predictions=[[0.5, 0.5, 0.5]], step_size=0.1,
    )  # fmt: skip
    run = flow(problem)
    assert run.status.tolist() == ["undecided"]
    assert "dependent" in run.paths[0].lost


def test_limits_come_back_on_the_library_of_the_problem():
    device = array_api_strict.Device("device1")
    _, here = theorem_3(1)
    there = Problem.from_gram(
        array_api_strict.asarray(here.gram, device=device),
        array_api_strict.asarray(here.labels, device=device),
        starting_predictions=array_api_strict.asarray(here.starting_predictions, device=device),
        step_size=1e-3, slope_at_zero=1,
    )  # fmt: skip
    run = flow(there)
    assert run.predictions.device == device
    assert run.held.device == device
    np.testing.assert_allclose(to_numpy(run.duals), flow(here).duals, atol=1e-14)


def test_more_events_than_allowed_are_undecided():
    rng = np.random.default_rng(7)
    while True:
        _, _, problem = drawn(rng, 8, 24, neurons=2)
        full = flow(problem, RELU)
        if full.certified.all() and full.events[0] >= 4:
            break
    short = flow(problem, max_events=2)
    assert short.status.tolist() == ["undecided"]
    assert "max_events=2" in short.paths[0].lost
    assert short.paths[0].starts.size == 3
    exactly = flow(problem, max_events=int(full.events[0]))
    assert exactly.certified.all()
    with pytest.raises(InputError, match="max_events=0"):
        flow(problem, max_events=0)


def test_times_beyond_the_end_are_refused():
    (path,) = flow(theorem_3(1)[1], max_events=1).paths
    with pytest.raises(InputError, match="time=-1"):
        path.change(-1.0)


def test_what_is_too_small_to_tell_apart_does_not_keep_the_limit_from_being_certain():
    """High-dimensional data with labels of zero: example after example meets zero where it is zero
    up to rounding already. Limits then lie within the error of where integration ends."""
    rng = np.random.default_rng(8)
    certified = settled = 0
    for _ in range(12):
        features, weights, problem = drawn(rng, 8, 800, labels="not negative", slope_at_zero=1)
        run = flow(problem)
        if not run.certified.all():
            continue
        certified += 1
        held = run.paths[0].regimes[-1].modes.held
        settled += held.any()
        assert run.error[0] < 1e-9
        end = integrated(features, weights, problem, 0.1)
        np.testing.assert_allclose(limit_weights(run, features, weights), end, atol=2e-8)
    assert certified >= 10
    assert settled >= 1


def test_an_example_of_its_own_label_near_the_kink_is_never_taken_to_rest_there():
    """β = 1e-13 and label 1: the example is about to be fitted, as slowly as it may look."""
    problem = Problem.from_gram(
        np.diag([1.0, 1.0]), [1.0, 1.0], starting_predictions=[[1e-13, 0.5]], step_size=0.1
    )
    run = flow(problem)
    assert run.certified.all()
    np.testing.assert_allclose(run.predictions[0, 0], [1, 1], atol=1e-14)
