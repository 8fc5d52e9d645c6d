"""Proposition 4 of Frei et al.: linear boundaries, the sharper ratio, one KKT point."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from properties.catalogue import find_theorem
from properties.frei2023 import networks, proposition4
from properties.frei2023.critical import Task, critical, normal_of, stopped_early
from verify import Point, Trial
from verify.engine.evaluate import scope_of
from verify.errors import InputError
from verify.relu.dynamics.activation import Activation
from verify.relu.dynamics.network import Network
from verify.verdict import IN_SCOPE, OUT_OF_SCOPE

THEOREM = find_theorem("frei2023.proposition4")
SMALL = {"n": 3, "m": 2, "aspect": 1e6}


@cache
def trial_at(**coordinates: Any) -> Trial:
    point = Point(**coordinates)
    return Trial(THEOREM, point, THEOREM.draw(point, np.random.default_rng(4), 10), 10)


def with_run(trial: Trial, **changes: Any) -> Trial:
    run = replace(trial.run, **changes)
    return Trial(THEOREM, trial.point, trial.problem, trial.trials, simulate=lambda _p: run)


def with_reference(trial: Trial, name: str, value: Any) -> Trial:
    theorem = replace(
        THEOREM, references={**THEOREM.references, name: lambda _problem, _run: value}
    )
    return Trial(theorem, trial.point, trial.problem, trial.trials)


def margin(claim: str, trial: Trial) -> Any:
    return THEOREM.claim(claim).inequality(trial)


def orthogonal(leak: float, labels: tuple[int, ...], outputs: tuple[float, ...]) -> Trial:
    """Return the trial of orthogonal examples of length 1."""
    n, m = len(labels), len(outputs)
    network = Network.from_gram(
        np.eye(n),
        np.asarray(labels, float),
        starting_predictions=np.full((m, n), 1e-3),
        output_weights=np.asarray(outputs),
        activation=Activation(leak),
    )
    task = Task(network, np.ones((1, 1, n)), np.zeros((1, 2, m, n), dtype=int))
    return Trial(THEOREM, None, task, 1)


@pytest.mark.parametrize("outputs", ["balanced", "random", "one_sign"])
def test_every_claim_holds_whatever_the_output_weights(outputs: str) -> None:
    trial = trial_at(**SMALL, outputs=outputs)
    np.testing.assert_allclose((trial.problem.network.output_weights**2).sum(axis=-1), 1)
    for claim in THEOREM.claims:
        assert (scope_of(claim, trial) == IN_SCOPE).all()
        assert claim.inequality(trial).holds.all(), claim.id


def test_where_all_outputs_have_one_sign_the_ratio_is_one_over_gamma() -> None:
    """Orthogonal: y f(x) = λ for its own class and γ²λ for the other, so s = 1 and 1/γ."""
    trial = orthogonal(0.5, (1, -1), (1.0,))
    np.testing.assert_allclose(proposition4.coefficient_ratio(trial), [2.0])
    assert margin("boundary_is_more_uniform", trial).value[0] == pytest.approx(1e-10, abs=1e-12)
    assert margin("boundary_is_as_uniform_as_the_maximum_margin", trial).violated.all()
    balanced = orthogonal(0.5, (1, -1), (2**-0.5, -(2**-0.5)))
    np.testing.assert_allclose(proposition4.coefficient_ratio(balanced), [1.0])


def test_of_all_sides_of_the_kinks_one_has_a_kkt_point() -> None:
    """All 3⁴ sides of two neurons on two examples."""
    trial = trial_at(n=2, m=2, aspect=1e6, outputs="random")
    network = trial.problem.network.select(np.asarray([0]))
    sides = np.asarray(list(product((0, 1, 2), repeat=4))).reshape(-1, 2, 2)
    residuals = np.asarray([critical(network, one[None]).residual[0] for one in sides])
    found = sides[residuals <= 1e-10]
    np.testing.assert_array_equal(found, networks.own_sides(network).astype(int))
    assert np.sort(residuals)[1] > 1e-3


def test_scope_is_three_over_gamma_cubed() -> None:
    claim = THEOREM.claims[0]
    cosine = 1 / (2 * 3 / 0.5**3)
    for off, expected in ((0.999, IN_SCOPE), (1.001, OUT_OF_SCOPE)):
        trial = orthogonal(0.5, (1, 1), (1.0,))
        gram = np.asarray([[[1.0, off * cosine], [off * cosine, 1.0]]])
        task = replace(trial.problem, network=replace(trial.problem.network, gram=gram))
        assert scope_of(claim, Trial(THEOREM, None, task, 1))[0] == expected
    assert scope_of(claim, orthogonal(0.0, (1, 1), (1.0,)))[0] == OUT_OF_SCOPE, "a ReLU"


def test_neurons_of_one_sign_that_are_not_parallel_have_a_bent_boundary() -> None:
    trial = trial_at(**{**SMALL, "m": 4})
    duals = trial.run.duals.copy()
    duals[:, 0, 0] *= 3
    assert margin("boundary_is_linear", with_run(trial, duals=duals)).violated.all()


def test_a_claim_is_violated_where_what_it_looks_at_is_moved() -> None:
    trial = trial_at(**SMALL)
    duals = trial.run.duals
    longer = duals * np.asarray([1.0, 1.0, 50.0])
    for claim in ("boundary_is_uniform", "boundary_is_more_uniform"):
        assert margin(claim, with_run(trial, duals=longer)).violated.all()
        assert margin(claim, with_run(trial, duals=-duals)).violated.all(), "s < 0"
    assert margin("training_ends_there", with_run(trial, duals=longer)).violated.all()
    also = with_reference(trial, "elsewhere", np.asarray([[1.0, 0.0]] * 10))
    assert margin("no_other_sides_are_critical", also).violated.all()


def test_the_trained_weights_are_looked_at_too() -> None:
    trial = trial_at(**SMALL)
    run = trial.reference("trained")
    assert (run.status == "certified").all()
    off = replace(run, change=run.change * np.asarray([1.0, 1.0, 2.0]))
    assert margin("training_ends_there", with_reference(trial, "trained", off)).violated.all()
    unsure = replace(run, status=np.full(10, "undecided"), duals=np.full_like(run.duals, np.nan))
    found = margin("training_ends_there", with_reference(trial, "trained", unsure))
    assert not (found.holds | found.violated).any()


def test_nothing_is_decided_where_there_is_no_kkt_point() -> None:
    trial = with_run(trial_at(**SMALL), residual=np.full(10, 1e-3))
    for claim in THEOREM.claims:
        found = claim.inequality(trial)
        assert not (found.holds | found.violated).any(), claim.id


def test_output_weights_are_of_the_kind_that_is_named() -> None:
    def drawn(kind: str) -> np.ndarray[Any, Any]:
        return networks.output_weights(kind, 6, np.random.default_rng(0), 200)

    for kind in ("balanced", "random", "one_sign"):
        np.testing.assert_allclose(np.linalg.norm(drawn(kind), axis=-1), 1.0)
    assert (np.sign(drawn("balanced")) == np.tile([1, -1], 3)).all()
    np.testing.assert_allclose(drawn("one_sign"), 6**-0.5)
    random = drawn("random")
    assert abs(np.sign(random).mean()) < 0.1
    ratio = np.abs(random).max(axis=-1) / np.abs(random).min(axis=-1)
    assert ratio.max() <= 2.0
    assert np.median(ratio) > 1.5
    with pytest.raises(InputError, match="outputs='some', expected one of"):
        drawn("some")


def test_without_a_slope_below_there_is_no_bound() -> None:
    assert np.isinf(proposition4.sharper_bound(orthogonal(0.0, (1, 1), (1.0,)).problem.network))


def test_wrong_sides_differ_from_the_right_ones() -> None:
    task = trial_at(**SMALL).problem
    wrong = task.others != networks.own_sides(task.network)[:, None].astype(int)
    np.testing.assert_array_equal(wrong[:, 0].sum(axis=(1, 2)), 1)
    assert wrong[:, 1].any(axis=(1, 2)).all()


def test_stopped_early_the_neurons_are_not_parallel() -> None:
    task = trial_at(**{**SMALL, "m": 6}).problem
    early = Trial(THEOREM, None, task, 10, simulate=stopped_early)
    assert margin("boundary_is_linear", early).violated.sum() >= 8


def test_the_normal_is_the_sum_of_the_weights_times_the_outputs() -> None:
    trial = orthogonal(0.5, (1, -1), (0.6, -0.8))
    duals = np.asarray([[[1.0, 2.0], [3.0, 4.0]]])
    np.testing.assert_allclose(normal_of(trial.problem.network, duals), [[-1.8, -2.0]])


def test_what_is_said_of_a_problem_can_be_read() -> None:
    facts = THEOREM.describe(trial_at(**SMALL).problem, 1)
    assert (facts["coefficients"] > 0).all()
    assert facts["kkt_residual"] < 1e-10
