"""How severe a violation is: what is said of it must be what the instance and the trials are."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from tests.verify.engine.toys import (
    ALWAYS_MET,
    HERE,
    NEVER_MET,
    OFTEN_MET,
    UNKNOWN,
    below_nine_tenths,
    rate,
    theorem_of,
)
from verify import Assumption, Axis, Control, Margin, Point, Theorem, Trial, Universal, check
from verify.errors import InputError, TheoremError, UnknownName
from verify.severity import (
    Assumed,
    rate_words,
    scope_words,
    severity_of,
    violation_rate,
    words,
)
from verify.verdict import Verdict

U = np.asarray([0.2, 0.95, 0.4])
"""The toys' problem: below_nine_tenths is violated at position 1."""


def at_most_a_tenth_of_n(trial: Trial) -> Margin:
    """u is at most n/10."""
    n = 1 if trial.point is None else trial.point.get("n", 1)
    return Margin(trial.problem, 0.1 * n, scale=0.5)


BY_N = Assumption(at_most_a_tenth_of_n, axes=("n",))


def severity(theorem: Theorem, position: int = 1, point: Point | None = HERE, without: Any = ()):
    claim = theorem.all_claims[-1]
    trial = Trial(theorem, point, U.copy(), U.size)
    return severity_of(theorem, claim, trial, position, without)


def claiming(*given: Assumption, **changes: Any) -> Theorem:
    return theorem_of(Universal(below_nine_tenths, given=given), **changes)


def test_the_margin_is_that_of_the_instance_and_its_scope_is_told_one_by_one() -> None:
    found = severity(claiming(ALWAYS_MET, OFTEN_MET))
    assert found.margin == pytest.approx(-0.05)
    assert found.in_scope is False
    assert [(a.assumption, a.state, a.role) for a in found.assumptions] == [
        ("at_least_zero", "holds", "scope"),
        ("below_a_half", "violated", "scope"),
    ]
    assert [a.margin for a in found.assumptions] == pytest.approx([0.95, -0.45])
    assert found.first_step is None
    assert found.rate is None


@pytest.mark.parametrize(
    ("given", "in_scope"),
    [
        ((), True),
        ((ALWAYS_MET,), True),
        ((ALWAYS_MET, UNKNOWN), None),
        ((NEVER_MET, UNKNOWN), False),
    ],
)
def test_a_scope_is_met_missed_or_not_known(given: Any, in_scope: bool | None) -> None:
    assert severity(claiming(*given)).in_scope is in_scope


def test_what_was_dropped_puts_the_instance_out_of_scope_by_how_much_it_fails() -> None:
    theorem = claiming(ALWAYS_MET, OFTEN_MET)
    found = severity(theorem, without=("below_a_half",))
    assert found.in_scope is False
    dropped = [a for a in found.assumptions if a.role == "dropped"]
    assert [(a.assumption, a.state) for a in dropped] == [("below_a_half", "violated")]
    assert scope_words(found.to_json()) == "out of scope: below_a_half, by 0.45"
    inside = severity(theorem, position=2, without=("below_a_half",))
    assert inside.in_scope is True, "it was dropped, and holds all the same"
    with pytest.raises(UnknownName, match="no assumption 'another' to drop"):
        severity(theorem, without=("another",))


def test_the_theorems_hypotheses_stand_beside_and_do_not_change_the_scope() -> None:
    found = severity(claiming(ALWAYS_MET, hypotheses=(ALWAYS_MET, OFTEN_MET)))
    assert found.in_scope is True
    assert [(a.assumption, a.role) for a in found.assumptions] == [
        ("at_least_zero", "scope"),
        ("below_a_half", "hypothesis"),
    ]
    assert scope_words(found.to_json()) == (
        "in scope of the claim, outside the theorem's: below_a_half, by 0.45"
    )


def test_a_dropped_hypothesis_leaves_the_other_hypotheses_as_the_scope() -> None:
    theorem = claiming(UNKNOWN, hypotheses=(ALWAYS_MET, OFTEN_MET))
    found = severity(theorem, without=("below_a_half",))
    assert [(a.assumption, a.role) for a in found.assumptions] == [
        ("at_least_zero", "scope"),
        ("below_a_half", "dropped"),
    ]
    assert found.in_scope is False


@pytest.mark.parametrize(
    ("axes", "point", "told"),
    [
        (
            (Axis("n", 1, 90, inside=(5, 50)),),
            Point(n=1),
            "n = 1, outside the range tested, 5 to 50",
        ),
        (
            (Axis("n", 1, 90, inside=(0.1 + 1, 2)),),
            Point(n=3.5),
            "n = 3.5, outside the range tested, 1.1 to 2",
        ),
        ((Axis("n", 0, 90, inside=(5, 5)),), Point(n=1), "n = 1, outside the range tested, 5"),
        ((Axis("n", 1, 90, inside=(1, 5)),), Point(n=3), ""),
        ((Axis("n", 1, 90, inside=(3, 5)),), Point(n=3), ""),
        ((Axis("n", 1, 90, inside=(1, 3)),), Point(n=3), ""),
        ((Axis("n", 1, 90),), Point(n=3), "n = 3"),
        ((), Point(n=3), ""),
        ((Axis("n", 1, 90, inside=(5, 50)),), Point(), "n = 2, outside the range tested, 5 to 50"),
        ((Axis("n", 1, 90, inside=(5, 50)),), None, ""),
        (
            (Axis("n", 1, 90, inside=(5, 50)), Axis("n_over_two", 1, 9, instead_of="n")),
            Point(n_over_two=1.5),
            "n_over_two = 1.5",
        ),
        (
            (Axis("n", scale="choice", choices=(1, 2, 3, 4), inside=(2, 3, 4)),),
            Point(n=1),
            "n = 1, outside the range tested, 2, 3 or 4",
        ),
        ((Axis("n", scale="choice", choices=(1, 2), inside=(1,)),), Point(n=1), ""),
    ],
)
def test_a_coordinate_tells_why_an_assumption_is_violated(
    axes: tuple[Axis, ...], point: Point | None, told: str
) -> None:
    theorem = claiming(BY_N, wide_axes=axes, defaults={"n": 2})
    (found,) = severity(theorem, point=point).assumptions
    assert (found.state, found.coordinate) == ("violated", told)


def test_of_an_assumption_that_holds_no_coordinate_is_told() -> None:
    theorem = claiming(BY_N, axes=(Axis("n", 1, 90, inside=(20, 50)),))
    (found,) = severity(theorem, point=Point(n=10)).assumptions
    assert (found.state, found.coordinate) == ("holds", "")


def test_the_first_step_is_that_of_the_instance() -> None:
    theorem = claiming(first_departure=lambda problem, index: int(10 * problem[index]))
    assert severity(theorem, position=0).first_step == 2
    assert severity(theorem, position=2).first_step == 4
    assert severity(claiming(first_departure=lambda problem, index: None)).first_step is None


def test_a_first_step_that_cannot_be_told_is_the_theorems_mistake() -> None:
    def departs(problem: Any, index: int) -> Any:
        return problem[99]

    with pytest.raises(TheoremError, match="in first_departure departs raised IndexError"):
        severity(claiming(first_departure=departs))
    with pytest.raises(TheoremError, match="raised TypeError"):
        severity(claiming(first_departure=lambda problem, index: 1.5))


def test_of_a_broken_solver_neither_hypotheses_nor_a_first_step_are_told() -> None:
    false = Universal(below_nine_tenths, name="broken", given=(ALWAYS_MET,))
    parts = {"hypotheses": (OFTEN_MET,), "first_departure": lambda problem, index: 3}
    for simulate, roles, step in (
        (lambda problem: problem, ["scope"], None),
        (None, ["scope", "hypothesis"], 3),
    ):
        control = Control(false, because="it is not", simulate=simulate)
        found = severity(claiming(controls=(control,), **parts))
        assert [a.role for a in found.assumptions] == roles
        assert found.first_step == step


def test_a_rate_has_no_instance_that_violates_it() -> None:
    with pytest.raises(InputError, match="is a rate"):
        severity(theorem_of(rate()))


def test_as_json_it_is_what_it_was_and_infinities_are_null() -> None:
    found = severity(claiming(ALWAYS_MET, first_departure=lambda problem, index: 1))
    told = json.loads(json.dumps(replace(found, margin=-math.inf).to_json(), allow_nan=False))
    assert told["margin"] is None
    assert (told["in_scope"], told["first_step"], told["rate"]) == (True, 1, None)
    assert [Assumed(**entry) for entry in told["assumptions"]] == list(found.assumptions)


@pytest.fixture(scope="module")
def verdict() -> Verdict:
    cells = (HERE, Point(n=2), Point(n=3))
    return check(claiming(cells=cells), trials=120)[0]


def test_a_rate_is_of_the_trials_at_its_point_with_an_exact_interval(verdict: Verdict) -> None:
    for cell in verdict.cells:
        found = violation_rate(verdict, cell.point)
        assert found is not None
        assert (found.violated, found.in_scope, found.trials) == (cell.tally.violated, 120, 120)
        assert 0 < found.violated < 40
        interval = binomtest(found.violated, 120).proportion_ci(1 - 0.05 / 3, "exact")
        assert (found.low, found.high) == pytest.approx((interval.low, interval.high), rel=1e-9)
        assert found.confidence == 0.95
        assert found.where == cell.point


def test_undecided_trials_widen_the_interval_on_both_sides(verdict: Verdict) -> None:
    (first, *_) = verdict.cells
    tally = replace(first.tally, violated=5, undecided=7, holds=28, in_scope=40)
    one = replace(verdict, cells=(replace(first, tally=tally),))
    found = violation_rate(one, first.point)
    assert found is not None
    assert found.low == pytest.approx(binomtest(5, 40).proportion_ci(0.95, "exact").low)
    assert found.high == pytest.approx(binomtest(12, 40).proportion_ci(0.95, "exact").high)
    assert "violated in 5 of 40 in scope, 7 undecided at n = 1: " in rate_words(found.to_json())


def test_there_is_no_rate_where_nothing_was_violated_or_sampled(verdict: Verdict) -> None:
    (first, *_) = verdict.cells
    clean = replace(first, tally=replace(first.tally, violated=0, holds=120))
    assert violation_rate(replace(verdict, cells=(clean,)), first.point) is None
    assert violation_rate(verdict, {"n": 4}) is None
    assert violation_rate(verdict, {"n": 1.0}) == violation_rate(verdict, {"n": 1})


def test_printed_bounds_are_rounded_outwards(verdict: Verdict) -> None:
    found = violation_rate(verdict, {"n": 1})
    assert found is not None
    told = rate_words(replace(found, low=0.12365, high=0.12431).to_json())
    assert told.endswith("probability 0.123 to 0.125 at confidence 0.95")


def test_the_words_are_short_and_all_there(verdict: Verdict) -> None:
    axis = Axis("n", 1, 90, inside=(5, 50))
    theorem = claiming(BY_N, UNKNOWN, axes=(axis,), first_departure=lambda problem, index: 7)
    found = severity(theorem)
    assert words(replace(found, rate=violation_rate(verdict, {"n": 1})).to_json())[:2] == [
        "out of scope: n = 1, outside the range tested, 5 to 50 (at_most_a_tenth_of_n, by 1.7)",
        "first departs from the theorem at step 7",
    ]
    assert words(severity(claiming()).to_json(), searched=True) == ["in scope", "searched, no rate"]
    assert words(severity(claiming()).to_json()) == ["in scope"]
    assert words({}) == []
    undecided = severity(claiming(ALWAYS_MET, UNKNOWN)).to_json()
    assert scope_words(undecided) == "scope not decided: never_decided"


def test_an_infinite_margin_is_told_without_a_number() -> None:
    def never(trial: Trial) -> Margin:
        """Infinity is at most 0."""
        return Margin(np.full(trial.trials, np.inf), 0.0)

    told = severity(claiming(Assumption(never))).to_json()
    assert scope_words(told) == "out of scope: never"
