"""Theorem 8 of Vardi and Shamir: what its claims look at, where its bounds lie, what is outside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from properties.catalogue import find_theorem
from properties.vardi_shamir2021 import setting, theorem8
from verify import Margin, Point, Trial, check
from verify.engine.evaluate import scope_of
from verify.errors import InputError
from verify.exact import NotDecided
from verify.relu import Problem
from verify.relu.approach import approach
from verify.relu.exact import descend
from verify.relu.nearest_minimum import nearest_minimum
from verify.verdict import IN_SCOPE, OUT_OF_SCOPE

SEED = 20261209
TRIALS = 20

THEOREM = find_theorem("vardi_shamir2021.theorem8")
CERTIFIED = theorem8.ALL_ACTIVE
"""A point where every run is certified, so that both witnesses speak."""
PLAIN = Point(n=6, d=18, speed=1.5, start="random_sign")
"""A point where examples of label 0 stay active, so that most runs are not."""

Change = Callable[[Any], Any]


@cache
def trial_at(point: Point, trials: int = TRIALS) -> Trial:
    problem = THEOREM.draw(point, np.random.default_rng(SEED), trials)
    return Trial(THEOREM, point, problem, trials)


def changed(point: Point, what: str, change: Change) -> Trial:
    """Return the same batch with its run, or the reference called `what`, changed."""
    there = trial_at(point)
    run = change(there.run) if what == "run" else there.run
    references: dict[str, Any] = {
        name: lambda _problem, _run, name=name: there.reference(name) for name in THEOREM.references
    }
    if what != "run":
        references[what] = lambda _problem, _run: change(there.reference(what))
    perturbed = replace(THEOREM, references=references)
    return Trial(perturbed, point, there.problem, TRIALS, simulate=lambda _problem: run)


def margin(claim: str, trial: Trial) -> Margin:
    found: Margin = THEOREM.claim(claim).inequality(trial)
    return found


def times(name: str, factor: float) -> Change:
    return lambda found: replace(found, **{name: getattr(found, name) * factor})


def every(name: str, value: Any) -> Change:
    return lambda found: replace(found, **{name: np.full(TRIALS, value)})


def both(first: Change, second: Change) -> Change:
    return lambda found: second(first(found))


def gone_too_far(factor: float) -> Change:
    """Let the limit of the run be so many times as far from the start, along the same line."""

    def change(run: Any) -> Any:
        start = run.problem.starting_duals
        return replace(run, duals=start + factor * (run.duals - start))

    return change


def at_distance(ratio: float) -> Change:
    """Let the walk end at so many times the distance of the nearest minimum."""
    far = trial_at(CERTIFIED).reference("nearest").distance
    return lambda walk: replace(walk, travelled=ratio * far)


def grown_by(name: str, power: int, share: float) -> Change:
    """Let a step add so much of the first distance, to this power."""
    far = trial_at(CERTIFIED).reference("nearest").distance
    return lambda walk: replace(walk, **{name: share * far**power})


# Claims can fail, and their bounds lie where they say.

CASES: tuple[tuple[str, str, Callable[[], Change]], ...] = (
    ("distance_at_most_doubles", "walk", lambda: at_distance(2 + 1e-6)),
    ("distance_at_most_doubles", "run", lambda: gone_too_far(2 + 1e-6)),
    ("distance_never_increases", "walk", lambda: grown_by("increase", 1, 2e-12)),
    ("plain_steps_end_where_the_run_does", "walk", lambda: times("change", 1 + 1e-5)),
    ("plain_steps_end_where_the_run_does", "run", lambda: gone_too_far(1 - 1e-5)),
    ("distance_never_increases", "run", lambda: gone_too_far(2 + 1e-6)),
    ("distance_never_increases", "run", lambda: gone_too_far(-1e-6)),
    ("distance_falls_with_the_loss", "walk", lambda: grown_by("excess", 2, 2e-10)),
    ("nearest_minimum_is_optimal", "nearest", lambda: times("change", 1 + 1e-6)),
    ("nearest_minimum_is_optimal", "nearest", lambda: times("change", 1 - 1e-6)),
)


@pytest.mark.parametrize(("claim", "what", "change"), CASES)
def test_a_claim_that_holds_is_violated_where_a_witness_is_perturbed(
    claim: str, what: str, change: Callable[[], Change]
) -> None:
    assert trial_at(CERTIFIED).run.certified.all()
    assert margin(claim, trial_at(CERTIFIED)).holds.all()
    assert margin(claim, changed(CERTIFIED, what, change())).violated.all()


@pytest.mark.parametrize(
    ("claim", "what", "change"),
    [
        ("distance_at_most_doubles", "walk", lambda: at_distance(2 - 1e-6)),
        ("distance_at_most_doubles", "run", lambda: gone_too_far(2 - 1e-6)),
        ("distance_never_increases", "walk", lambda: grown_by("increase", 1, 0.5e-12)),
        ("plain_steps_end_where_the_run_does", "run", lambda: gone_too_far(1 - 0.5e-6)),
        ("distance_never_increases", "run", lambda: gone_too_far(2 - 1e-6)),
        ("distance_falls_with_the_loss", "walk", lambda: grown_by("excess", 2, 0.5e-10)),
    ],
)
def test_just_within_its_bound_a_claim_holds(
    claim: str, what: str, change: Callable[[], Change]
) -> None:
    """(All labels are positive here, so the run ends at w̃ itself: at twice that, as far beyond.)"""
    assert margin(claim, changed(CERTIFIED, what, change())).holds.all()


@pytest.mark.parametrize(
    ("claim", "what", "spoilt"),
    [
        (
            "distance_at_most_doubles",
            "walk",
            both(times("travelled", 9.0), every("settled", False)),
        ),
        ("distance_at_most_doubles", "walk", every("settled", False)),
        ("distance_never_increases", "walk", every("settled", False)),
        ("distance_falls_with_the_loss", "walk", every("settled", False)),
        ("plain_steps_end_where_the_run_does", "walk", every("settled", False)),
        ("plain_steps_end_where_the_run_does", "run", every("status", "undecided")),
        ("plain_steps_end_where_the_run_does", "run", every("near_ties", 1)),
        ("limit_is_the_nearest_minimum", "walk", both(times("left", 9.0), every("settled", False))),
        *(
            (claim, "nearest", lambda best: replace(best, kkt=best.kkt + 1.0))
            for claim in (
                "distance_at_most_doubles",
                "distance_never_increases",
                "distance_falls_with_the_loss",
            )
        ),
    ],
)
def test_a_witness_that_did_not_settle_decides_nothing(
    claim: str, what: str, spoilt: Change
) -> None:
    found = margin(claim, changed(CERTIFIED, what, spoilt))
    assert not (found.holds | found.violated).any()


def test_a_step_that_leads_away_counts_however_the_walk_ends() -> None:
    change = both(grown_by("increase", 1, 0.1), every("settled", False))
    assert margin("distance_never_increases", changed(CERTIFIED, "walk", change)).violated.all()


@pytest.mark.parametrize(
    ("claim", "grown"),
    [
        ("distance_never_increases", grown_by("increase", 1, 0.1)),
        ("distance_falls_with_the_loss", grown_by("excess", 2, 0.1)),
        ("distance_at_most_doubles", at_distance(3.0)),
    ],
)
def test_a_violation_on_a_path_of_uncertain_signs_is_none(claim: str, grown: Change) -> None:
    there = changed(CERTIFIED, "walk", grown)
    known = {name: there.reference(name) for name in THEOREM.references}
    tied = Trial(
        replace(
            THEOREM,
            references={name: lambda _p, _r, name=name: known[name] for name in known},
        ),
        CERTIFIED,
        there.problem,
        TRIALS,
        simulate=lambda _problem: every("near_ties", 1)(there.run),
    )
    assert margin(claim, there).violated.all()
    assert not (margin(claim, tied).violated | margin(claim, tied).holds).any()


@pytest.mark.parametrize(
    ("claim", "grown"),
    [
        ("distance_never_increases", grown_by("increase", 1, 0.1)),
        ("distance_at_most_doubles", at_distance(3.0)),
    ],
)
def test_a_run_cut_short_is_followed_further_where_something_is_violated(
    claim: str, grown: Change
) -> None:
    there = changed(CERTIFIED, "walk", both(grown, every("first_increase", 3)))
    known = {name: there.reference(name) for name in THEOREM.references}
    cut_short = both(every("status", "undecided"), every("steps", 1))
    short = Trial(
        replace(
            THEOREM,
            references={name: lambda _p, _r, name=name: known[name] for name in known},
        ),
        CERTIFIED,
        there.problem,
        TRIALS,
        simulate=lambda _problem: cut_short(there.run),
    )
    assert margin(claim, short).violated.all()


def test_without_a_certificate_the_plain_steps_decide_alone() -> None:
    trial = trial_at(PLAIN)
    uncertified = ~trial.run.certified
    assert uncertified.sum() >= 5
    assert theorem8.setting.descent_comes_to_rest(trial).holds.all()
    wrong = changed(PLAIN, "run", gone_too_far(5.0))
    for claim in ("distance_at_most_doubles", "distance_never_increases"):
        assert margin(claim, trial).holds.all()
        found = margin(claim, wrong)
        assert found.holds[uncertified].all(), "the last step of such a run is no limit"
    assert margin("distance_never_increases", wrong).violated[~uncertified].any()


# Assumptions.


def small_integers(features: Any, labels: Any, start: Any, c: Any) -> dict[str, Any]:
    """Return the integers of a problem of `setting.SMALL`: start and c in sixteenths."""
    sizes = {"n": len(features), "d": len(features[0])}
    return sizes | {"features": features, "labels": labels, "start": start, "c": c}


def small(features: Any, labels: Any, start: Any, c: Any) -> Problem:
    """Return a problem of `setting.SMALL`: start and c in sixteenths."""
    values = small_integers(features, labels, start, c)
    found: Problem = setting.SMALL.build(setting.SMALL.values(values))
    return found


def exactly(features: Any, labels: Any, start: Any, c: Any) -> Any:
    """Return the same over the rationals."""
    values = small_integers(features, labels, start, c)
    return THEOREM.exact.build(setting.SMALL.exact_values(values))


@pytest.mark.parametrize(
    ("labels", "c", "inside"),
    [([1, 0], 8, True), ([1, -1], 8, False), ([1, 0], 31, True), ([1, 0], 33, False)],
)
def test_labels_and_step_put_a_problem_in_scope(labels: Any, c: int, inside: bool) -> None:
    """X = I₂: λ_max = 1 and η = (c/16)·2/‖X‖_F² = c/16, 2 at most for c ≤ 32."""
    trial = Trial(THEOREM, None, small([[1, 0], [0, 1]], labels, [0, 0], c), 1)
    scope = scope_of(THEOREM.claim("distance_never_increases"), trial)
    assert (scope == (IN_SCOPE if inside else OUT_OF_SCOPE)).all()


def test_a_run_that_goes_on_for_ever_is_out_of_scope() -> None:
    gone_on = changed(CERTIFIED, "walk", every("settled", False))
    assert setting.descent_comes_to_rest(gone_on).holds.all(), "certified all the same"
    neither = Trial(
        replace(THEOREM, references={"walk": lambda _p, _r: gone_on.reference("walk")}),
        CERTIFIED,
        gone_on.problem,
        TRIALS,
        simulate=lambda _problem: every("status", "undecided")(gone_on.run),
    )
    assert setting.descent_comes_to_rest(neither).violated.all()


def test_the_loss_vanishes_where_every_example_is_fitted_in_the_limit() -> None:
    """x = 1, y = 1: from w_0 = 0, which is active, the label is learnt; from −½ nothing is."""
    for start, vanishes in ((0, True), (-8, False)):
        trial = Trial(THEOREM, None, small([[1]], [1], [start], 8), 1)
        found = setting.loss_vanishes(trial)
        assert (found.holds.all(), found.violated.all()) == (vanishes, not vanishes)
        exact = THEOREM.exact.statements["loss_vanishes"](exactly([[1]], [1], [start], 8))
        assert exact.holds == vanishes
    unsettled = setting.loss_vanishes(changed(CERTIFIED, "walk", every("settled", False)))
    assert not (unsettled.holds | unsettled.violated).any()


def test_every_problem_has_slope_one_at_zero_and_the_axes_can_be_drawn() -> None:
    assert small([[1]], [1], [0], 8).slope_at_zero == 1
    for axis in THEOREM.wide_axes:
        for end in axis.choices or (axis.low, axis.high):
            value = round(float(end)) if axis.scale == "integer" else end
            point = Point(**{"n": 2, "d_over_n": 5.0, axis.name: value})
            problem = THEOREM.draw(point, np.random.default_rng(0), 2)
            assert problem.slope_at_zero == 1
            trial = Trial(THEOREM, point, problem, 2)
            singular = setting.gram_is_regular(trial).violated
            assert (singular == (axis.name == "d_over_n" and value < 1)).all()
            assert (problem.labels < 0).any() == (point.get("others") == "negative")
            if axis.name != "c":
                speed = problem.step_size * problem.eigenvalues[:, -1]
                np.testing.assert_allclose(speed, point.get("speed", 1.0), rtol=1e-12)


def test_where_the_gram_matrix_is_singular_nothing_is_known_and_the_rest_of_a_batch_is() -> None:
    row = np.asarray([1.0, 2.0, 0.0])
    pairs = np.stack([[row, row], [row, row[::-1]], [row, -row]])
    problem = Problem.from_features(
        pairs, [1.0, 0.0], starting_weights=np.ones((1, 3)), step_size=0.1, slope_at_zero=1
    )
    trial = Trial(THEOREM, None, problem, 3)
    known = np.asarray([False, True, False])
    assert (setting.nearest(problem).certified == known).all()
    assert (setting.gram_is_regular(trial).holds == known).all()
    for claim in THEOREM.claims:
        found = claim.inequality(trial)
        assert not (found.holds | found.violated)[~known].any(), claim.id
        assert (scope_of(claim, trial) != IN_SCOPE)[~known].all(), claim.id
    assert margin("distance_never_increases", trial).holds[known].all()


def test_unknown_names_and_steps_that_are_none_are_refused() -> None:
    generator = np.random.default_rng(0)
    for odd, message in (
        ({"others": "foo"}, "others='foo' is unknown: use one of zero, negative"),
        ({"speed": 0.0}, "speed=0.0, expected a positive number"),
        ({"speed": -1.0}, "speed=-1.0"),
        ({"start": "foo"}, "use one of"),
    ):
        with pytest.raises(InputError, match=message):
            THEOREM.draw(Point(n=2, d=5, **odd), generator, 2)


# Outside the scope.


def test_with_negative_labels_the_distance_more_than_triples() -> None:
    """1 positive, 39 negatives, d = 16000, c = ½: ratio about 3.4, 2.5 to 5.1 (theory §8)."""
    (point,) = THEOREM.claim("at_most_doubles_with_negative_labels").at
    trial = trial_at(point, 100)
    ratio = theorem8.distance_over_the_nearest(trial)
    assert trial.run.certified.all()
    assert 2.4 < ratio.min() < 2.8, ratio.min()
    assert 3.2 < np.median(ratio) < 3.7, np.median(ratio)
    assert 4.5 < ratio.max() < 5.5, ratio.max()
    assert margin("at_most_doubles_with_negative_labels", trial).violated.all()
    assert setting.labels_are_nonnegative(trial).violated.all(), "assumption not met"


def test_descent_attains_twice_the_distance_at_two_over_lambda_max() -> None:
    """x = 1, y = 0, w_0 = ½, η = 2: one step to −½, where the loss is 0, and w̃ = 0 (theory §8)."""
    one = exactly([[1]], [0], [8], 32)
    assert descend(one).change[0, 0] == -1
    found = THEOREM.exact.statements["distance_at_most_doubles"](one)
    assert found.holds
    assert found.left == found.right == 1
    assert THEOREM.exact.statements["loss_vanishes"](one).holds
    assert THEOREM.exact.statements["step_is_at_most_two_over_lambda_max"](one).holds


def test_the_factor_two_is_nearly_attained_in_a_cell_of_its_claim() -> None:
    """Labels 0, all examples active, ηλ_max = 1.999: one step across the kink of every example."""
    (point,) = theorem8.NEARLY_TWICE
    assert point in THEOREM.cells
    trial = trial_at(point, 100)
    ratio = theorem8.distance_over_the_nearest(trial)
    assert 1.9 < ratio.min() < ratio.max() < 2, (ratio.min(), ratio.max())
    assert all(assumption.inequality(trial).holds.all() for assumption in theorem8.GIVEN)
    assert margin("distance_at_most_doubles", trial).holds.all()
    assert margin("distance_is_less_than_doubled", trial).violated.all()


def test_the_ratio_is_that_of_runs_that_end_at_zero_loss() -> None:
    """A run that leaves a positive label unseen ends nearer than any zero-loss point."""
    trial = trial_at(theorem8.CELLS[1], 200)
    ratio = theorem8.distance_over_the_nearest(trial)
    assert ratio.min() < 0.5, "with loss left"
    measure = next(one for one in THEOREM.measures if one.id == "distance_over_the_nearest")
    fitted = np.all([one.inequality(trial).holds for one in measure.given], axis=0)
    assert 10 < fitted.sum() < 100
    assert 1 - 1e-9 <= ratio[fitted].min() <= ratio[fitted].max() <= 2


def test_a_longer_step_leads_away_in_most_draws() -> None:
    (point,) = THEOREM.claim("never_increases_at_a_longer_step").at
    trial = trial_at(point, 100)
    assert (trial.problem.starting_predictions > 0).all()
    assert (trial.problem.labels > 0).all()
    violated = margin("never_increases_at_a_longer_step", trial).violated
    assert violated.mean() >= 0.9, violated.mean()
    assert margin("distance_falls_with_the_loss", trial).violated.sum() == 0, "for any step"


def test_no_step_leads_away_in_ten_thousand_realizable_problems() -> None:
    """n = 5, d = 11, starts of every kind, features with a part in common or without, η up to
    2/λ_max itself: no step adds 1e-12 of ‖w_0 − w̃‖, as none would without rounding."""
    generator, seen = np.random.default_rng(SEED), 0
    for start in ("zero", "random_sign", "positive"):
        for spectrum in ("isotropic", "spiked:10x1"):
            for speed, trials in ((1.0, 500), (1.9, 600), (2.0, 600)):
                point = Point(n=5, d=11, speed=speed, start=start, spectrum=spectrum)
                problem = THEOREM.draw(point, generator, trials)
                best = nearest_minimum(problem)
                increase = approach(best, 300).increase
                moved = best.distance > 0
                assert best.certified.all()
                assert (increase[moved] <= 1e-12 * best.distance[moved]).all(), point
                seen += int(moved.sum())
    assert seen >= 10_000


def test_how_often_no_step_leads_away_is_measured_across_the_bound() -> None:
    """All examples active, all labels positive: always at ηλ_max = 1.5 and 1.9,
    hardly ever at 2.2 (at 2 itself a walk goes on for ever)."""
    measured = check(THEOREM, claims=["never_leads_away"], trials=100, root_seed=1).measured[0]
    held = {cell.point["speed"]: cell.holds for cell in measured.cells}
    assert held[1.5] == held[1.9] == 100
    assert held[2.2] <= 20
    assert theorem8.speed(trial_at(CERTIFIED)) == pytest.approx(1.5)


def test_the_first_step_that_leads_away_is_told() -> None:
    assert setting.first_departure(small([[1]], [-1], [0], 8), 0) == 1
    assert setting.first_departure(small([[1]], [1], [0], 8), 0) is None


# Over the rationals.


def test_one_negative_label_is_the_smallest_counterexample_by_hand() -> None:
    """x = 1, y = −1, w_0 = 0, η = ½: active at 0, so w_1 = −½ for ever; but w̃ = w_0."""
    problem = exactly([[1]], [-1], [0], 8)
    found = THEOREM.exact.statements["distance_at_most_doubles"](problem)
    assert (str(found.left), str(found.right), found.holds) == ("1/4", "0", False)
    assert not THEOREM.exact.statements["labels_are_nonnegative"](problem).holds
    assert THEOREM.exact.statements["step_is_at_most_two_over_lambda_max"](problem).holds
    assert THEOREM.exact.statements["gram_is_regular"](problem).holds
    away = THEOREM.exact.statements["distance_never_increases"](problem)
    assert (str(away.left), str(away.right)) == ("1/4", "0")
    assert away.reads == "‖w(1) − w̃‖² ≤ ‖w(0) − w̃‖²"


def test_the_ratio_is_exact_with_a_positive_label_too() -> None:
    """X = I₂, y = (1, −3), w_0 = 0, η = ½: w_∞ = (1, −3/2), w̃ = (1, 0): 13/4 against 4; with
    y = (1, −4): 5 against 4."""
    for y, square, holds in ((-3, Fraction(13, 4), True), (-4, Fraction(5), False)):
        problem = exactly([[1, 0], [0, 1]], [1, y], [0, 0], 8)
        found = THEOREM.exact.statements["distance_at_most_doubles"](problem)
        assert (str(found.left), str(found.right), found.holds) == (str(square), "4", holds)
        trial = Trial(THEOREM, None, small([[1, 0], [0, 1]], [1, y], [0, 0], 8), 1)
        decided = margin("distance_at_most_doubles", trial)
        assert decided.holds.all() == holds
        assert decided.violated.all() != holds


def test_the_matrix_of_theorem_3_ends_elsewhere_than_at_the_nearest_minimum() -> None:
    """X₁ = [[3, −1, 0], [4, 2, 0], [0, 1, 1]], y = (16, 18, 0)/2, w_0 = 0: w̃ = (5, −1, 0)/2, and
    w_∞ = (5, −1, s)/2 with s < 0; in scope, and within twice the distance."""
    problem = exactly([[3, -1, 0], [4, 2, 0], [0, 1, 1]], [8, 9, 0], [0, 0, 0], 8)
    for name in ("labels_are_nonnegative", "gram_is_regular", "loss_vanishes",
                 "distance_at_most_doubles",
                 "step_is_at_most_two_over_lambda_max", "distance_never_increases"):  # fmt: skip
        assert THEOREM.exact.statements[name](problem).holds, name
    found = THEOREM.exact.statements["limit_is_the_nearest_minimum"](problem)
    assert not found.holds
    weights = descend(problem).change * problem.features
    assert [str(weights[0, i]) for i in range(2)] == ["5/2", "-1/2"]
    assert weights[0, 2] < 0
    assert found.left == weights[0, 2] ** 2


def test_what_never_comes_to_rest_exactly_is_not_decided() -> None:
    """x₁·x₂ < 0, y = 0: both predictions fall to 0 and stay active; no certificate says so."""
    problem = exactly([[1, -1, 0], [0, 1, -1]], [0, 0], [8, 8], 8)
    for name in ("distance_at_most_doubles", "distance_never_increases"):
        with pytest.raises(NotDecided, match="no certificate"):
            THEOREM.exact.statements[name](problem)


def integers(generator: np.random.Generator, explicit: Any) -> dict[str, Any]:
    sizes = {
        name: int(generator.integers(*ends, endpoint=True)) for name, ends in explicit.sizes.items()
    }
    return sizes | {
        name: generator.integers(
            each.low, each.high, [sizes[size] for size in each.shape], endpoint=True
        ).tolist()
        for name, each in explicit.fields.items()
    }


@pytest.mark.parametrize(
    ("explicit", "problems"),
    [(setting.SMALL, 60), (setting.EXPLICIT, 15)],
    ids=["small", "explicit"],
)
def test_exact_and_floating_point_statements_agree_wherever_both_decide(
    explicit: Any, problems: int
) -> None:
    generator = np.random.default_rng(SEED)
    inequalities = {claim.id: claim.inequality for claim in THEOREM.claims}
    inequalities |= {each.id: each.inequality for each in THEOREM.assumptions}
    both_say = {name: [0, 0] for name in inequalities}
    for _ in range(problems):
        values = integers(generator, explicit)
        try:
            trial = Trial(THEOREM, None, explicit.build(explicit.values(values)), 1)
            trial.reference("nearest")
        except InputError:
            continue
        problem = THEOREM.exact.build(explicit.exact_values(values))
        for name in set(inequalities) & set(THEOREM.exact.statements):
            found = inequalities[name](trial)
            if not (found.holds | found.violated).all():
                continue
            try:
                exact = THEOREM.exact.statements[name](problem).holds
            except NotDecided:
                continue
            assert found.holds.all() == exact, (name, values)
            both_say[name][exact] += 1
    assert both_say["distance_at_most_doubles"][True] >= 8
    assert both_say["distance_never_increases"][True] >= 8
    if explicit is setting.SMALL:
        for name in ("labels_are_nonnegative", "step_is_at_most_two_over_lambda_max",
                     "distance_at_most_doubles", "distance_never_increases"):  # fmt: skip
            assert both_say[name][False] >= 3, name
    else:
        refuted = {name for name, (no, _) in both_say.items() if no}
        assert refuted <= {"loss_vanishes"}, "all of them are in scope of theorem 8"


def test_the_control_that_has_an_exact_form_of_its_own_agrees_too() -> None:
    generator, agreed = np.random.default_rng(SEED), 0
    statement = THEOREM.exact.statements["limit_is_the_nearest_minimum"]
    for _ in range(30):
        values = integers(generator, setting.SMALL)
        try:
            trial = Trial(THEOREM, None, setting.SMALL.build(setting.SMALL.values(values)), 1)
            found = margin("limit_is_the_nearest_minimum", trial)
        except InputError:
            continue
        problem = THEOREM.exact.build(setting.SMALL.exact_values(values))
        if descend(problem).final is not None and found.violated.all():
            assert not statement(problem).holds
            agreed += 1
    assert agreed >= 8


def test_what_is_said_of_a_problem_can_be_read() -> None:
    facts = setting.describe(small([[1, 0], [0, 1]], [1, -4], [0, 0], 8), 0)
    assert facts["distance_to_the_nearest_minimum"] == pytest.approx(1)
    assert facts["distance_travelled"] == pytest.approx(5**0.5)
    assert facts["step_times_largest_eigenvalue"] == pytest.approx(0.5)
    assert "features" in facts
    drawn = setting.describe(trial_at(PLAIN).problem, 3)
    assert np.shape(drawn["gram"]) == (6, 6)


@pytest.mark.parametrize("apart", [1e-2, 1e-6, 1e-8, 1e-10, 1e-13, 0.0])
@pytest.mark.parametrize("cell", THEOREM.cells[:3])
def test_a_start_next_to_the_nearest_point_violates_nothing(cell: Point, apart: float) -> None:
    """Tolerances are relative to how far it is; rounding, and what a walk leaves, are not."""
    problem = THEOREM.draw(cell, np.random.default_rng(3), TRIALS)
    moved = np.asarray(nearest_minimum(problem).change)[:, None, :] @ np.asarray(problem.gram)
    near = Problem.from_gram(
        problem.gram,
        problem.labels,
        starting_predictions=problem.starting_predictions + (1 - apart) * moved,
        step_size=problem.step_size,
        slope_at_zero=problem.slope_at_zero,
    )
    trial = Trial(THEOREM, cell, near, TRIALS)
    for claim in THEOREM.claims:
        violated = claim.inequality(trial).violated & (scope_of(claim, trial) == IN_SCOPE)
        assert not violated.any(), claim.id
