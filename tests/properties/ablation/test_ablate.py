"""Ablation finds what an assumption is for, on a theorem where that is known."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from properties.ablate import ablate
from properties.ablation.findings import (
    LOAD_BEARING,
    NEEDED_TO_STATE,
    NOT_NEEDED,
    VACUOUS,
    Found,
    find,
)
from properties.ablation.looking import UNDECIDED, look
from properties.ablation.question import Question, certificates, droppable
from properties.ablation.rates import Sampled, refutes, sample
from properties.ablation.searching import search
from properties.catalogue import find_theorem
from verify.claims import Assumption, Probable, Universal
from verify.counterexample import Counterexample, replay
from verify.engine.executors import ProcessPool
from verify.engine.store import Store
from verify.errors import InputError, TheoremError
from verify.loading import load_file
from verify.margin import Margin
from verify.severity import ViolationRate

from . import toy

EXAMPLES = 60


@pytest.fixture(scope="module")
def found() -> dict[str, Found]:
    return {one.dropped: one for one in ablate(toy.theorem, examples=EXAMPLES)}


def verdicts(found: Found) -> dict[str, str]:
    return {one.claim: one.verdict for one in found.claims}


def test_what_is_dropped_are_the_hypotheses_and_never_a_certificate() -> None:
    assert [a.id for a in droppable(toy.theorem)] == [
        "a_is_small",
        "b_is_small",
        "z_is_small",
        "q_is_zero",
        "u_is_small",
    ]
    assert certificates(toy.theorem) == [toy.CERTIFICATE]
    assert toy.CERTIFICATE not in Question(toy.theorem).scopes[toy.theorem.claims[0]]


def test_without_hypotheses_it_is_what_the_claims_are_given() -> None:
    claims = (
        Universal(toy.sum_is_small, given=(toy.A, toy.B, toy.CERTIFICATE)),
        Universal(toy.ratio_is_small, given=(toy.Q,)),
    )
    bare = replace(toy.theorem, hypotheses=(), claims=claims)
    assert droppable(bare) == [toy.A, toy.B, toy.Q]
    assert Question(bare, toy.A).scopes == {claims[0]: (toy.B,)}
    assert Question(bare).scopes == {claims[0]: (toy.A, toy.B), claims[1]: (toy.Q,)}


def test_only_the_axes_of_the_dropped_assumption_leave_what_is_assumed() -> None:
    ranges = {axis.name: (axis.low, axis.high) for axis in Question(toy.theorem, toy.A).axes}
    assert ranges == {"a": (0, 2), "b": (0, 0.5), "z": (0, 0.5), "q": (0, 0)}


def test_every_kind_of_assumption_is_told(found: dict[str, Found]) -> None:
    assert verdicts(found["a_is_small"]) == {
        "sum_is_small": LOAD_BEARING,
        "ratio_is_small": NOT_NEEDED,
        "usually": LOAD_BEARING,
    }
    assert verdicts(found["b_is_small"])["sum_is_small"] == LOAD_BEARING
    assert set(verdicts(found["z_is_small"]).values()) == {NOT_NEEDED}
    assert verdicts(found["q_is_zero"])["ratio_is_small"] == LOAD_BEARING
    assert set(verdicts(found["u_is_small"]).values()) == {VACUOUS}
    assert {name: one.verdict() for name, one in found.items() if name} == {
        "a_is_small": LOAD_BEARING,
        "b_is_small": LOAD_BEARING,
        "z_is_small": NOT_NEEDED,
        "q_is_zero": LOAD_BEARING,
        "u_is_small": VACUOUS,
    }


def test_nothing_is_violated_with_nothing_dropped(found: dict[str, Found]) -> None:
    assert set(verdicts(found[""]).values()) == {NOT_NEEDED}
    assert found[""].tested == found[""].examples > EXAMPLES
    assert all(one.in_scope is None for each in found.values() for one in each.claims)


def test_the_nearest_violation_is_next_to_what_is_assumed(found: dict[str, Found]) -> None:
    (claim,) = [one for one in found["a_is_small"].claims if one.claim == "sum_is_small"]
    assert claim.nearest is not None
    assert claim.worst is not None
    assert -0.1 < claim.nearest.outside < 0
    assert claim.worst.example.margin == pytest.approx(-1.5)
    assert claim.worst.outside == pytest.approx(-1.5)


def test_a_violation_is_a_counterexample_that_replays(found: dict[str, Found]) -> None:
    for name, each in found.items():
        for shown in (s for one in each.claims for s in (one.worst, one.nearest) if s):
            example = shown.example
            assert example.without == (name,)
            assert example.seed == 0
            today = replay(toy.theorem, example)
            assert today.violated
            assert today.same


def test_severity_says_how_far_outside_when_and_how_often(found: dict[str, Found]) -> None:
    (claim,) = [one for one in found["a_is_small"].claims if one.claim == "sum_is_small"]
    assert claim.worst is not None
    severity = claim.worst.example.severity
    assert severity["in_scope"] is False
    failing = [one for one in severity["assumptions"] if one["state"] == "violated"]
    assert [(one["assumption"], one["role"]) for one in failing] == [("a_is_small", "dropped")]
    assert severity["first_step"] == 3
    rate = severity["rate"]
    assert (rate["violated"], rate["in_scope"]) == (200, 200)
    assert rate["low"] == pytest.approx(0.025 ** (1 / 200))


def test_a_probability_bears_only_where_it_is_measured_to_be_too_low(
    found: dict[str, Found],
) -> None:
    (claim,) = [one for one in found["a_is_small"].claims if one.claim == "usually"]
    assert claim.nearest is not None
    for shown in (claim.nearest, claim.worst):
        assert shown is not None
        assert shown.example.recipe["point"]["a"] - 0.5 > 0.1
    assert all(rate.in_scope >= 200 for rate in claim.rates)


def test_where_a_claim_cannot_be_stated_the_assumption_is_needed_for_that() -> None:
    narrow = replace(
        toy.theorem,
        wide_axes=tuple(
            replace(axis, scale="choice", choices=(0, 1), inside=(0,)) if axis.name == "q" else axis
            for axis in toy.AXES
        ),
    )
    one = find(Question(narrow, toy.Q), EXAMPLES, 0)
    told = {claim.claim: claim for claim in one.claims}
    assert told["ratio_is_small"].verdict == NEEDED_TO_STATE
    assert told["ratio_is_small"].refused == told["ratio_is_small"].tested > 0
    assert told["sum_is_small"].verdict == NOT_NEEDED
    assert one.verdict() == NEEDED_TO_STATE


def test_where_an_inequality_has_no_value_the_assumption_is_needed_to_state_it() -> None:
    def ratio_has_a_bound(trial):
        """1 ≤ 1/(½ − a), for a < ½."""
        without = trial.problem["a"] > 0.5
        bound = 1 / np.where(without, 1.0, 0.5000001 - trial.problem["a"])
        return Margin(1.0, bound).unstated_where(without)

    theorem = replace(toy.theorem, claims=(Universal(ratio_has_a_bound),), controls=())
    (claim,) = find(Question(theorem, toy.A), EXAMPLES, 0).claims
    assert claim.verdict == NEEDED_TO_STATE
    assert claim.refused == claim.tested > 0 == claim.undecided


def test_a_claim_that_nothing_decides_is_undecided() -> None:
    def open_(trial):
        """Nobody knows."""
        return Margin(0.0, 1.0, rounding=np.full(trial.trials, np.inf))

    theorem = replace(toy.theorem, claims=(Universal(open_),), controls=())
    assert find(Question(theorem, toy.A), 20, 0).verdict() == UNDECIDED


def false_(trial):
    """a ≤ ¼, false in scope."""
    return Margin(trial.problem["a"], 0.25)


def test_a_violation_in_scope_is_found_at_the_baseline_and_by_the_way() -> None:
    theorem = replace(toy.theorem, claims=(Universal(false_),), controls=())
    (claim,) = find(Question(theorem), 40, 0).claims
    assert claim.worst is not None
    assert claim.worst.example.margin == pytest.approx(-0.25)
    assert replay(theorem, claim.worst.example).violated
    (other,) = find(Question(theorem, toy.A), 40, 0).claims
    assert other.in_scope is not None
    assert other.in_scope.example.severity["in_scope"] is True
    (unrelated,) = find(Question(theorem, toy.Z), 40, 0).claims
    assert unrelated.in_scope is not None


def test_rare_violations_are_met_in_whole_blocks() -> None:
    def rarely(trial):
        """u ≤ .97 where a > ½; three in a hundred violate it, and its margin tells nothing."""
        problem = trial.problem
        return Margin(np.where((problem["u"] > 0.97) & (problem["a"] > 0.5), 2.0, 0.0), 1.0)

    theorem = replace(toy.theorem, claims=(Universal(rarely),), controls=())
    met = search(Question(theorem, toy.A), 8, 0)
    assert {one.kind for one in met.looks} == {"seeded", "drawn"}
    violations = met.violations("rarely")
    assert violations
    example = Counterexample(
        "toy", "rarely", "", violations[0].kind, violations[0].recipe, -1.0, without=("a_is_small",)
    )
    assert replay(theorem, example).violated


def test_points_where_nothing_can_be_drawn_are_counted_apart(found: dict[str, Found]) -> None:
    assert found["b_is_small"].not_drawn > 0
    assert look(Question(toy.theorem, toy.B), {"a": 0, "b": 9.5, "z": 0, "q": 0}, 0) == []


def test_a_theorem_that_misbehaves_is_an_error_and_no_refusal() -> None:
    def broken(trial):
        """Broken."""
        return trial.problem["nothing"]

    theorem = replace(toy.theorem, claims=(Universal(broken),), controls=())
    with pytest.raises(TheoremError, match="nothing"):
        ablate(theorem, examples=5)


def test_the_same_seed_finds_the_same_and_another_does_not(found: dict[str, Found]) -> None:
    again = find(Question(toy.theorem, toy.A), EXAMPLES, 0)
    assert repr(again) == repr(found["a_is_small"])
    assert repr(find(Question(toy.theorem, toy.A), EXAMPLES, 1)) != repr(again)


def test_workers_and_records_give_the_same(tmp_path, found: dict[str, Found]) -> None:
    theorem = load_file(toy.HERE)
    steps: list[tuple[int, int, str]] = []
    with Store(tmp_path / "records.sqlite") as store, ProcessPool(2) as pool:
        first = ablate(
            theorem,
            examples=EXAMPLES,
            executor=pool,
            store=store,
            progress=lambda *step: steps.append(step),
        )
        assert [step[:2] for step in steps] == [(k, 6) for k in range(1, 7)]
        again = ablate(theorem, examples=EXAMPLES, store=store, progress=searched)
    assert repr(again) == repr(first)
    counts = {one.dropped: one.claims[0].violated for one in first}
    assert counts == {name: one.claims[0].violated for name, one in found.items()}


def searched(*_: object) -> None:
    pytest.fail("what is recorded was searched again")


def test_unusable_arguments_are_told_apart() -> None:
    with pytest.raises(InputError, match="no axes"):
        ablate(replace(toy.theorem, axes=(), wide_axes=()))
    nothing = replace(
        toy.theorem, hypotheses=(), claims=(Universal(toy.sum_is_small),), controls=()
    )
    with pytest.raises(InputError, match="assumes nothing"):
        ablate(nothing)
    with pytest.raises(InputError, match="examples=0"):
        ablate(toy.theorem, examples=0)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0.2, 0.3, True), (0.0, 0.05, False), (0.05, 0.2, None)],
)
def test_a_rate_refutes_a_probability_only_beyond_its_interval(
    low: float, high: float, expected: bool | None
) -> None:
    rate = ViolationRate(1, 0, 10, 10, low, high, 0.95, {})
    assert refutes(Probable(toy.usually, probability=0.9), rate) is expected
    assert refutes(Probable(toy.usually, probability=0.9), None) is None


def test_samples_count_undecided_trials_for_the_upper_bound_alone() -> None:
    rate = Sampled(violated=0, undecided=5, in_scope=10, trials=20).rate({})
    assert rate is not None
    assert rate.low == 0
    assert rate.high > 0.5
    assert Sampled(0, 0, 0, 20).rate({}) is None


def test_samples_are_fresh_and_second_ones_too() -> None:
    question = Question(toy.theorem, toy.A)
    point = {"a": 0.9, "b": 0.0, "z": 0.0, "q": 0.0}
    first, second = (sample(question, point, 0, again)["usually"] for again in (False, True))
    assert (first.in_scope, second.in_scope) == (200, 1000)
    assert first.violated / 200 == pytest.approx(0.4, abs=0.12)
    assert second.violated / 1000 == pytest.approx(0.4, abs=0.06)


def test_the_positive_start_of_theorem_1_bears_its_claims() -> None:
    theorem = find_theorem("theorem1")
    start = theorem.assumption("start_is_positive")
    one = find(Question(theorem, start), 20, 0)
    told = {claim.claim: claim for claim in one.claims}
    assert told["pattern_freezes_after_step_one"].verdict == LOAD_BEARING
    assert all(claim.in_scope is None for claim in one.claims)
    assert math.isfinite(one.furthest)


def test_a_baseline_of_theorem_2_has_no_violation_of_universal_claims() -> None:
    theorem = find_theorem("theorem2")
    one = find(Question(theorem), 20, 0)
    universal = {claim.id for claim in theorem.claims if isinstance(claim, Universal)}
    assert {c.verdict for c in one.claims if c.claim in universal} == {NOT_NEEDED}


def test_bands_of_zero_decide_nothing() -> None:
    theorem = find_theorem("theorem2")
    signs = theorem.assumption("both_signs_occur")
    assert isinstance(signs, Assumption)
    point = {"n": 2, "d_over_n": 1e4, "positives": 1.0, "start_scale": 1e-6, "y_min": 1.0}
    outcomes = [look(Question(theorem, signs), point, seed)[0].outcomes for seed in range(10)]
    for name in ("gap_upper_band", "gap_leading_constant"):
        assert {one[name] for one in outcomes} == {UNDECIDED}
