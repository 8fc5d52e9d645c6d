"""Theorem 1 of Vardi and Shamir: what its claims look at, and that they can fail."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from properties.catalogue import find_theorem
from properties.vardi_shamir2021 import neurons, theorem1
from properties.vardi_shamir2021.theorem1 import CELLS, STRICT_ONES
from verify import Point, Trial
from verify.engine.evaluate import scope_of
from verify.errors import InputError
from verify.relu import Problem
from verify.verdict import IN_SCOPE, OUT_OF_SCOPE

TRIALS = 10
THEOREM = find_theorem("vardi_shamir2021.theorem1")
NEAREST = "flow_ends_at_the_nearest_zero_loss_point"


@cache
def trial_at(point: Point) -> Trial:
    problem = THEOREM.draw(point, np.random.default_rng(17), TRIALS)
    return Trial(THEOREM, point, problem, TRIALS)


def at(name: str) -> Trial:
    return trial_at(Point(n=3, d=9, activation=name))


def with_run(trial: Trial, **changes: Any) -> Trial:
    run = replace(trial.run, **changes)
    return Trial(THEOREM, trial.point, trial.problem, TRIALS, simulate=lambda _problem: run)


def with_reference(trial: Trial, name: str, found: Any) -> Trial:
    known = {each: trial.reference(each) for each in THEOREM.references} | {name: found}
    references = {each: lambda _p, _r, each=each: known[each] for each in known}
    theorem = replace(THEOREM, references=references)
    return Trial(theorem, trial.point, trial.problem, TRIALS, simulate=lambda _p: trial.run)


def margin(claim: str, trial: Trial) -> Any:
    return THEOREM.claim(claim).inequality(trial)


@pytest.mark.parametrize("name", STRICT_ONES)
def test_every_claim_holds_for_every_strictly_monotone_activation(name: str) -> None:
    trial = at(name)
    for claim in THEOREM.claims:
        assert (scope_of(claim, trial) == IN_SCOPE).all(), claim.id
        found = claim.inequality(trial)
        slow = name == "leaky_tenth" and claim.id == "integrated_weights_end_there_too"
        assert not found.violated.any(), claim.id
        assert found.holds.any() if slow else found.holds.all(), claim.id


@pytest.mark.parametrize("apart", [1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-13, 0.0])
@pytest.mark.parametrize("name", STRICT_ONES)
def test_a_start_next_to_the_nearest_point_violates_nothing(name: str, apart: float) -> None:
    """Tolerances are relative to how far it is; rounding, and what an integration leaves, are not.
    A search for counterexamples went there."""
    trial = at(name)
    neuron: neurons.Neuron = trial.problem
    end = trial.reference("nearest")
    problem = Problem.from_features(
        neuron.features,
        neuron.labels,
        starting_weights=(end + apart * (neuron.start - end))[:, None, :],
        step_size=1.0,
        slope_at_zero=1,
    )
    near = Trial(THEOREM, trial.point, neurons.Neuron(problem, name), TRIALS)
    for claim in THEOREM.claims:
        assert not claim.inequality(near).violated.any(), claim.id
        if apart >= 1e-2 and name != "leaky_tenth":
            assert claim.inequality(near).holds.all(), claim.id


@pytest.mark.parametrize("name", ["softplus", "tanh", "bent_line", "leaky_half"])
def test_the_flow_of_the_weights_by_another_solver_ends_at_the_same_point(name: str) -> None:
    neuron, best = at(name).problem, at(name).reference("nearest")

    def velocity(_time: float, weights: np.ndarray) -> np.ndarray:
        predictions = neuron.features[0] @ weights
        pull = neuron.slope(predictions) * (neuron.value(predictions) - neuron.labels[0])
        return -pull @ neuron.features[0]

    span = (0, 400 / neuron.eigenvalues[0, 0])
    found = solve_ivp(velocity, span, neuron.start[0], "LSODA", rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found.y[:, -1], best[0], atol=1e-6)


def test_the_nearest_point_by_lagranges_multipliers_in_another_way() -> None:
    """w̃ = w_0 + X⁺(φ⁻¹(y) − Xw_0), here with the pseudo-inverse."""
    for name in ("tanh", "leaky_tenth"):
        neuron = at(name).problem
        gap = neuron.inverse(neuron.labels) - neuron.predictions(neuron.start)
        moved = np.einsum("bji,bi->bj", np.linalg.pinv(neuron.features), gap)
        np.testing.assert_allclose(at(name).reference("nearest"), neuron.start + moved, atol=1e-10)


@pytest.mark.parametrize("part", ["limit", "reached"])
def test_weights_off_the_nearest_point_violate(part: str) -> None:
    trial = at("softplus")
    off = getattr(trial.run, part) + (2 * trial.run.left.max() + 1e-3)
    assert margin(NEAREST, with_run(trial, **{part: off})).violated.all()
    unsure = with_run(trial, **{part: off}, certified=np.zeros(TRIALS, dtype=bool))
    found = margin(NEAREST, unsure)
    assert not (found.violated | found.holds).any()


def test_the_bound_on_the_limit_lies_where_it_says() -> None:
    trial = at("bent_line")
    best, unit = trial.reference("nearest"), theorem1._unit(trial)[:, None]
    along = np.zeros_like(best)
    along[:, 0] = 1.0
    for share, holds in ((0.9e-9, True), (1.1e-9, False)):
        found = margin(NEAREST, with_run(trial, limit=best + share * unit * along))
        assert (found.holds if holds else found.violated).all()


def test_an_integration_that_ends_elsewhere_violates_and_one_unsettled_decides_nothing() -> None:
    trial = at("tanh")
    claim = "integrated_weights_end_there_too"
    walk = trial.reference("integrated")
    inside = trial.reference("nearest") - trial.problem.start
    moved = replace(walk, weights=walk.weights + 1e-4 * inside)
    assert margin(claim, with_reference(trial, "integrated", moved)).violated.all()
    unsettled = replace(moved, settled=np.zeros(TRIALS, dtype=bool))
    found = margin(claim, with_reference(trial, "integrated", unsettled))
    assert not (found.violated | found.holds).any()


def test_a_part_outside_the_span_violates_settled_or_not() -> None:
    trial = at("tanh")
    walk = trial.reference("integrated")
    noise = 1e-8 * np.random.default_rng(0).normal(size=walk.weights.shape)
    for settled in (True, False):
        off = replace(walk, weights=walk.weights + noise, settled=np.full(TRIALS, settled))
        found = margin("integrated_weights_end_there_too", with_reference(trial, "integrated", off))
        assert found.violated.all()


def test_a_point_that_is_not_the_nearest_is_not_optimal() -> None:
    trial = at("bent_line")
    best, claim = trial.reference("nearest"), "nearest_point_is_optimal"
    kernel = np.linalg.svd(trial.problem.features)[2][:, -1]
    for other in (best + 1e-6 * kernel, 1.000001 * best):
        assert margin(claim, with_reference(trial, "nearest", other)).violated.all()


def test_what_is_out_of_scope() -> None:
    relu = at("relu")
    for claim in THEOREM.claims:
        assert (scope_of(claim, relu) == OUT_OF_SCOPE).all(), claim.id
    assert (relu.problem.labels == 0).any()
    trial = at("bent_line")
    missed = with_run(trial, limit=trial.problem.start)
    assert theorem1.flow_converges_to_zero_loss(missed).violated.all()
    unreachable = replace(trial.problem.problem, labels=np.full((TRIALS, 3), -0.5))
    neuron = neurons.Neuron(unreachable, "softplus")
    assert not neurons.follow(neuron).certified.any(), "a label outside the range of φ"


def test_the_integration_of_the_weights_is_of_order_four() -> None:
    """A step h of w' = −λw multiplies w by the Taylor polynomial of e^{−hλ} of degree 4."""
    rates = np.asarray([[0.3, 1.0, 2.0]])
    weights, step = np.ones((1, 3)), np.asarray([[0.5]])
    found = weights + neurons._increment(lambda w: -rates * w, weights, step)
    z = -0.5 * rates
    np.testing.assert_allclose(found, 1 + z + z**2 / 2 + z**3 / 6 + z**4 / 24, rtol=1e-14)


def test_unknown_activations_and_singular_data_are_refused_by_name() -> None:
    generator = np.random.default_rng(0)
    with pytest.raises(InputError, match="activation='relux' is unknown: use one of softplus"):
        THEOREM.draw(Point(n=2, d=5, activation="relux"), generator, 2)
    for name in ("leaky_half", "tanh"):
        singular = THEOREM.draw(Point(n=3, d=2, activation=name), generator, 2)
        with pytest.raises(InputError, match="singular"):
            neurons.nearest(singular)


def test_the_broken_dynamic_ends_at_zero_loss_all_the_same() -> None:
    trial = at("bent_line")
    broken = theorem1.each_coordinate_at_its_own_rate(trial.problem)
    assert broken.certified.all()
    assert np.abs(trial.problem.residual(broken.limit)).max() < 1e-8
    off = with_run(trial, **{name: getattr(broken, name) for name in ("limit", "reached", "left")})
    assert theorem1.flow_converges_to_zero_loss(off).holds.all()
    assert margin(NEAREST, off).violated.all()


def test_from_the_origin_the_limit_is_the_least_norm_and_from_elsewhere_not() -> None:
    for scale, violated in ((0.0, False), (1.0, True)):
        trial = trial_at(Point(n=3, d=9, activation="bent_line", start_scale=scale))
        found = margin("it_ends_at_the_least_norm", trial)
        assert found.violated.all() == violated
        assert found.holds.all() != violated


def test_what_is_said_of_a_problem_can_be_read_and_the_axes_can_be_drawn() -> None:
    facts = neurons.describe(trial_at(CELLS[0]).problem, 2)
    assert facts["activation"] == "softplus"
    assert np.shape(facts["features"]) == (3, 12)
    for axis in THEOREM.wide_axes:
        for end in axis.choices or (axis.low, axis.high):
            value = round(float(end)) if axis.scale == "integer" else end
            point = Point(**{"n": 2, "activation": "tanh", axis.name: value})
            assert THEOREM.draw(point, np.random.default_rng(0), 2).problem.batch == 2
