"""The measured statements of theory §5–9 on pairs, many neurons, selection and the lemma chain."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from properties.catalogue import find_theorem
from properties.lai2026 import by_width, constants, lemmas, many_neurons, setting, wide_networks
from verify import Assumption, Axis, Margin, Point, Theorem, Trial
from verify.engine.examine import chain_of, examine
from verify.relu import Problem, descend
from verify.relu.effective_dimensions import freezing_probability
from verify.relu.linear import descend_linearly
from verify.verdict import Conclusion

SEED = 20261130

PAIR_THEOREMS = ("lai2026.theorem3", "lai2026.theorem4")


def trial_at(theorem: Theorem, point: Point, count: int = 50, seed: int = SEED) -> Trial:
    """Return a batch at a point, drawn and run as the engine does."""
    problem = theorem.draw(point, np.random.default_rng(seed), count)
    return Trial(theorem, point, problem, count)


# Pairs.


def test_a_pair_decouples_in_99_percent_of_draws_at_n_50_and_d_5000() -> None:
    theorem = find_theorem("lai2026.theorem3")
    trial = trial_at(theorem, Point(n=50, d=5_000), 400)
    decoupled = setting.patterns_are_the_label_classes_from_step_one(trial).holds
    assert decoupled.mean() >= 0.99


@pytest.mark.parametrize("name", PAIR_THEOREMS)
def test_a_zero_label_puts_a_pair_out_of_every_scope(name: str) -> None:
    theorem = find_theorem(name)
    problem = Problem.from_gram(
        np.eye(4),
        np.array([1.0, -1.0, 0.0, 1.0]),
        starting_predictions=np.full((2, 4), 1e-3),
        step_size=0.5,
        signs=setting.PAIR,
    )
    trial = Trial(theorem, None, problem, 1)
    for claim in theorem.claims:
        nonzero = next(a for a in claim.given if a.id == "labels_are_nonzero")
        assert nonzero.inequality(trial).violated.all()


def test_the_comparator_duals_disagree_where_sharing_examples_costs_less() -> None:
    """At n = 5, d = 6 trying all choices finds less norm than the neurons solved alone."""
    theorem = find_theorem("lai2026.theorem4")
    agrees = margin_of(theorem, "comparator_duals_agree")
    trial = trial_at(theorem, Point(n=5, d=6), 100)
    best = trial.reference("minimum_norm")
    assert 20 <= (~best.decoupled).sum() <= 90
    assert (agrees(trial).violated[~best.decoupled]).all()
    assert best.certified.all()


@pytest.mark.parametrize("factor", [1 - 1e-6, 1 + 1e-6])
def test_a_relaxation_of_another_value_is_noticed(factor: float) -> None:
    """Below it leaves a gap; above it is no lower bound, which is a mistake somewhere."""
    theorem = find_theorem("lai2026.theorem4")
    relaxed = theorem.references["relaxation"]
    wrong = replace(
        theorem,
        references={
            **theorem.references,
            "relaxation": lambda problem, run: factor * relaxed(problem, run),
        },
    )
    for name in ("comparator_bracket_is_tight", "agreement_certifies_the_comparator"):
        claim = theorem.claim(name).inequality
        assert claim(trial_at(theorem, Point(n=20, d=2_000), 20)).holds.all()
        assert claim(trial_at(wrong, Point(n=20, d=2_000), 20)).violated.all()


def test_a_neuron_trained_alone_after_another_step_ends_elsewhere() -> None:
    """The claim that neurons decouple can fail: here they share examples."""
    theorem = find_theorem("lai2026.theorem3")
    trial = trial_at(theorem, Point(n=20, d=40, c=0.9))
    decouples = theorem.claim("neurons_decouple").inequality(trial)
    assert decouples.violated.sum() >= 10


def test_the_predicted_frequency_of_freezing_is_near_for_pairs() -> None:
    """Root-mean-square error at most .12 over the points of the report's figure, pairs and not."""
    for name in ("lai2026.theorem1", "lai2026.theorem3"):
        theorem = find_theorem(name)
        errors = []
        for point in constants.AGAINST_PREDICTION:
            trial = trial_at(theorem, point, 100)
            frozen = setting.classes_from_step_one(trial).holds.mean()
            errors.append(frozen - freezing_probability(trial.problem).mean())
        print(name, np.round(errors, 2))
        assert np.sqrt(np.mean(np.square(errors))) <= 0.12


def margin_of(theorem: Theorem, name: str) -> Any:
    """Return the function of the assumption called `name`."""
    found: Assumption = next(a for a in theorem.assumptions if a.id == name)
    return found.inequality


# Many neurons.


def reached(m: int, count: int = 100) -> np.ndarray:
    """Return which draws end at a global minimum at n = 20, d = 2000, certified runs only."""
    theorem = find_theorem("lai2026.many_neurons")
    trial = trial_at(theorem, Point(n=20, d=2_000, m=m), count)
    margin: Margin = by_width.reaches_a_global_minimum(trial)
    return margin.holds


def test_two_neurons_essentially_never_reach_a_global_minimum_and_sixteen_mostly_do() -> None:
    assert reached(2).mean() <= 0.05
    assert reached(16).mean() >= 0.9


def test_the_first_neurons_are_a_network_of_their_own() -> None:
    """With c over the number of neurons of one sign: what `draw` would make of fewer."""
    point = Point(n=6, d=100, m=8)
    problem = wide_networks.draw(point, np.random.default_rng(SEED), 5)
    first = wide_networks.first(problem, 2)
    alone = wide_networks.draw(point.moved(m=2), np.random.default_rng(SEED), 5)
    np.testing.assert_array_equal(first.gram, alone.gram)
    np.testing.assert_array_equal(first.labels, alone.labels)
    np.testing.assert_array_equal(first.signs, alone.signs)
    np.testing.assert_allclose(first.step_size, alone.step_size, rtol=1e-15)
    np.testing.assert_array_equal(
        first.starting_predictions, problem.starting_predictions[:, :2, :]
    )


def test_one_neuron_is_at_a_global_minimum_where_the_positives_are_fitted_and_others_zero() -> None:
    problem = Problem.from_gram(
        np.eye(2), np.array([1.0, -1.0]), starting_predictions=np.ones((1, 2)), step_size=0.5
    )
    assert wide_networks.misfit(descend(problem)) == pytest.approx(0, abs=1e-12)
    dead = Problem.from_gram(
        np.eye(2), np.array([1.0, -1.0]), starting_predictions=-np.ones((1, 2)), step_size=0.5
    )
    assert wide_networks.misfit(descend(dead)) == pytest.approx(1)


def test_coverage_is_predicted_by_independence() -> None:
    theorem = find_theorem("lai2026.many_neurons")
    for m in (4, 8, 16):
        trial = trial_at(theorem, Point(n=20, d=2_000, m=m), 400)
        found = by_width.all_covered(trial).holds.mean()
        expected = float(np.mean(by_width.predicted_coverage(trial)))
        assert found == pytest.approx(expected, abs=0.08)


@pytest.mark.parametrize("axis", many_neurons.WIDE_AXES, ids=lambda axis: axis.name)
def test_networks_can_be_drawn_along_every_axis_from_end_to_end(axis: Axis) -> None:
    ends = axis.choices or (axis.low, min(axis.high, 200) if axis.name == "n" else axis.high)
    own = {axis.name, axis.instead_of}
    base = {k: v for k, v in {"n": 4, "m": 4, "d_over_n": 100.0}.items() if k not in own}
    drawn = [
        wide_networks.draw(Point(**base, **{axis.name: end}), np.random.default_rng(SEED), 3)
        for end in ends
    ]
    assert all(np.isfinite(problem.starting_predictions).all() for problem in drawn)
    if axis.name == "m":
        assert [problem.neurons for problem in drawn] == [2, 64]
    else:
        one, other = drawn[0], drawn[-1]
        parts = [(p.gram, p.labels, p.starting_predictions, p.step_size) for p in (one, other)]
        assert not all(map(np.array_equal, *parts)), "the axis moves something"


def test_a_dead_example_is_what_is_missed() -> None:
    theorem = find_theorem("lai2026.many_neurons")
    trial = trial_at(theorem, Point(n=20, d=2_000, m=4), 100)
    dead = by_width.dead_examples(trial) > 0
    missed = by_width.reaches_a_global_minimum(trial).violated
    assert (missed == (dead & trial.run.certified)).all()
    assert 20 <= missed.sum() <= 95


# Selection.


def test_linear_descent_ends_at_the_pseudo_inverse() -> None:
    rng = np.random.default_rng(SEED)
    features = rng.normal(size=(6, 20))
    labels = rng.normal(size=6)
    problem = Problem.from_features(
        features, labels, starting_predictions=0.01 * rng.normal(size=(1, 6)), step_size=0.02
    )
    run = descend_linearly(problem)
    assert run.settled.all()
    np.testing.assert_allclose(run.duals[0] @ features, np.linalg.pinv(features) @ labels)


def test_linear_descent_that_diverges_is_not_settled() -> None:
    problem = Problem.from_gram(
        np.eye(2), np.array([1.0, -1.0]), starting_predictions=np.ones((1, 2)), step_size=2.5
    )
    run = descend_linearly(problem)
    assert not run.settled.any()
    assert np.isfinite(run.duals).all()


# The chain.


@pytest.mark.parametrize(
    ("name", "point", "broken"),
    [
        ("lai2026.theorem1", Point(n=20, d=10_000), None),
        ("lai2026.theorem1", Point(n=40, d=8_000, spectrum="power:1"), "gram_concentrates"),
        ("lai2026.theorem1", Point(n=40, d=8_000, start="random_sign"), "step_one_sets_the_signs"),
        ("lai2026.theorem1", Point(n=20, d=10_000, c=2.2), "patterns_stay_for_ever"),
        ("lai2026.theorem2", Point(n=20, d=10_000), None),
        ("lai2026.theorem3", Point(n=20, d=20_000), None),
        ("lai2026.theorem3", Point(n=20, d=4_000, start="random_sign"), "step_one_sets_the_signs"),
        ("lai2026.theorem4", Point(n=20, d=20_000), None),
    ],
)
def test_where_a_theorem_fails_its_chain_says_which_link_breaks_first(
    name: str, point: Point, broken: str | None
) -> None:
    theorem = find_theorem(name)
    for position in range(5):
        links = chain_of(theorem, trial_at(theorem, point, 5), position)
        first = next((link.link for link in links if link.state != "holds"), None)
        assert first == broken


def test_the_chains_end_with_what_their_theorems_claim() -> None:
    assert lemmas.BIAS.links[:-1] == lemmas.DYNAMICS.links
    for name, chain in (
        ("lai2026.theorem1", lemmas.DYNAMICS),
        ("lai2026.theorem2", lemmas.BIAS),
        ("lai2026.theorem3", lemmas.DYNAMICS),
        ("lai2026.theorem4", lemmas.BIAS),
    ):
        assert find_theorem(name).chain is chain


# Numerics.


@pytest.mark.parametrize("apart", [2e-4, 1e-3, 1e-2])
@pytest.mark.parametrize("neurons", [1, 2])
def test_examples_that_nearly_coincide_refute_nothing(neurons: int, apart: float) -> None:
    """With condition numbers up to 1e8 solving with G loses digits: undecided, never refuted."""
    names = ("theorem1", "theorem2") if neurons == 1 else PAIR_THEOREMS
    conclusions = []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        rows = np.linalg.qr(rng.normal(size=(8, 8)))[0]
        features = rows[:4].copy()
        features[1] = features[0] + apart * rows[4]
        problem = Problem.from_features(
            features,
            np.array([-1, -1, 0.9, 0.5]),
            starting_predictions=np.full((neurons, 4), 1e-3),
            step_size=0.5 / np.mean(np.diag(features @ features.T)),
            signs=setting.PAIR[:neurons],
        )
        for name in names:
            conclusions += [each.conclusion for each in examine(find_theorem(name), problem)[1]]
    assert Conclusion.REFUTED not in conclusions
    assert Conclusion.UNDECIDED in conclusions or neurons == 2
