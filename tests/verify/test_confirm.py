"""Confirming over the rationals: what is exact, what is contradicted, and what nobody can tell."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpz

from reports.counterexamples.compare import compared
from tests.verify.engine.toys import theorem_of
from verify.claims import Assumption, Control, Universal
from verify.confirm import confirm, decimal, told
from verify.counterexample import (
    EXACT,
    Counterexample,
    captured,
    content_of,
    digest_of,
    realise,
)
from verify.counterexample.entries import check_exact
from verify.errors import InputError, TheoremError, UnknownName
from verify.exact import Exact, ExactMargin, NotDecided
from verify.explicit import Explicit, Field
from verify.margin import Margin
from verify.severity import scope_words

TENTH = Fraction(1, 10)


def sums_are_small(trial):
    """u + 1/10 is at most 3/10."""
    return Margin(trial.problem + 0.1, 0.3)


def is_positive(trial):
    """u is positive."""
    return Margin(0.0, np.where(trial.problem > 0, trial.problem, -1.0))


def is_below_one(trial):
    """u is at most 1."""
    return Margin(trial.problem, 1.0)


def is_bright(trial):
    """u is at most 9/10, as far as floating point tells."""
    return Margin(trial.problem, 0.9)


def claim_exactly(u):
    return ExactMargin(u + TENTH, 3 * TENTH, reads="u + 1/10 ≤ 3/10")


def positive_exactly(u):
    return ExactMargin(Fraction(0), u, strict=True, reads="0 < u")


def below_one_exactly(u):
    if u == 1:
        raise NotDecided("nobody knows about one")
    return ExactMargin(u, Fraction(1))


STATEMENTS = {
    "sums_are_small": claim_exactly,
    "is_positive": positive_exactly,
    "is_below_one": below_one_exactly,
}
SMALL = Explicit(
    {},
    {"u": Field(-20, 20, denominator=10)},
    lambda values: np.reshape(values["u"], 1),
)


def doubled(problem):
    """Simulate wrongly."""
    return 2 * problem


def theorem(document=lambda u: {"problem": {"u": str(u)}}, **changes):
    """Return a theorem with an exact form, parts of which are changed."""
    parts = {
        "build": lambda values: values["u"],
        "statements": STATEMENTS,
        "document": document,
        "from_floats": lambda problem, index: Fraction(float(problem[index])),
        **changes,
    }
    given = tuple(map(Assumption, (is_positive, is_below_one, is_bright)))
    return theorem_of(
        Universal(sums_are_small, given=given),
        Universal(is_bright),
        controls=(Control(Universal(is_positive), because="it is broken", simulate=doubled),),
        small=SMALL,
        exact=Exact(**parts),
    )


def example(tenths, claim="sums_are_small", without=(), **changes):
    """Return a counterexample at u, in tenths."""
    recipe = {"values": {"u": tenths}}
    parts = {"margin": -1.0, "without": tuple(without), **changes}
    return Counterexample("toy", claim, "", "small", recipe, **parts)


def test_a_violation_is_recorded_with_both_sides_of_everything():
    found = confirm(theorem(), example(5))
    assert found.outcome == "exact"
    assert found.reason == "exactly the claim fails: u + 1/10 ≤ 3/10, that is 0.6 ≤ 0.3 is false"
    assert found.example.evidence == EXACT
    reads = {"strict": False, "reads": ""}
    kept = {"holds": True, "dropped": False}
    assert found.example.exact == {
        "problem": {"u": "1/2"},
        "claim": {
            "id": "sums_are_small",
            "left": "3/5",
            "right": "3/10",
            "strict": False,
            "reads": "u + 1/10 ≤ 3/10",
            "violated": True,
        },
        "assumptions": [
            {"id": "is_positive", "left": "0", "right": "1/2", "strict": True, "reads": "0 < u"}
            | kept,
            {"id": "is_below_one", "left": "1/2", "right": "1", **reads, **kept},
        ],
        "not_exact": ["is_bright"],
    }
    content = content_of(found.example)
    assert content["digest"] == digest_of(content)


@pytest.mark.parametrize("without", [(), ("at_most_nine_tenths",)])
@pytest.mark.parametrize(("tenths", "holds"), [(9, True), (10, False)])
def test_what_exact_arithmetic_decides_of_the_scope_stands_in_the_severity(tenths, holds, without):
    def at_most_nine_tenths(trial):
        """u is at most 9/10, which rounding hides near 9/10."""
        return Margin(trial.problem, 0.9, rounding=0.2)

    exactly = {**STATEMENTS, "at_most_nine_tenths": lambda u: ExactMargin(u, 9 * TENTH)}
    known = replace(theorem(statements=exactly), hypotheses=())
    claim = Universal(sums_are_small, given=(Assumption(at_most_nine_tenths),))
    known = replace(known, claims=(claim, *known.claims[1:]))
    recipe = {"values": {"u": tenths}}
    rounded = captured(known, claim, "small", recipe, 0.2 - tenths / 10, without=without)
    assert rounded.severity["in_scope"] is None
    found = confirm(known, rounded)
    if not holds and not without:
        assert found.contradicted
        return
    assert found.outcome == "exact"
    (one,) = found.example.severity["assumptions"]
    assert one["state"] == ("holds" if holds else "violated")
    assert found.example.severity["in_scope"] is holds
    assert compared(known, found.example, found).other == ()
    assert compared(known, rounded, found).other == (), "a file from before it was decided"
    told = "in scope" if holds else "out of scope: at_most_nine_tenths"
    assert scope_words(found.example.severity).partition(", by")[0] == told


def test_a_violation_that_is_only_rounding_is_contradicted():
    assert 0.1 + 0.2 > 0.3
    found = confirm(theorem(), example(2))
    assert (found.outcome, found.contradicted) == ("undecided", True)
    assert found.reason == ("exactly the claim holds: u + 1/10 ≤ 3/10, that is 0.3 ≤ 0.3")
    assert found.example == example(2)


def test_an_assumption_that_fails_contradicts():
    found = confirm(theorem(), example(12))
    assert (found.outcome, found.contradicted) == ("undecided", True)
    assert found.reason == "exactly the assumption is_below_one fails: 1.2 ≤ 1"


def test_a_dropped_assumption_is_recorded_as_it_is():
    found = confirm(theorem(), example(12, without=["is_below_one", "is_bright"]))
    assert found.outcome == "exact"
    recorded = {one["id"]: one for one in found.example.exact["assumptions"]}
    assert recorded["is_below_one"]["dropped"]
    assert not recorded["is_below_one"]["holds"]
    assert found.example.exact["not_exact"] == []
    within = confirm(theorem(), example(5, without=["is_below_one"])).example.exact
    assert within["assumptions"][1] | {"holds": True, "dropped": True} == within["assumptions"][1]


def test_what_is_not_decided_is_said():
    found = confirm(theorem(), example(10, without=["is_bright"]))
    assert (found.outcome, found.contradicted) == ("undecided", False)
    assert found.reason == "is_below_one is not decided: nobody knows about one"
    dropped = confirm(theorem(), example(10, without=["is_below_one", "is_bright"]))
    assert dropped.outcome == "exact"
    assert [one["id"] for one in dropped.example.exact["assumptions"]] == ["is_positive"]


def test_an_assumption_that_fails_outweighs_what_is_not_decided():
    def unsure(u):
        raise NotDecided("nobody knows")

    known = theorem(statements={**STATEMENTS, "sums_are_small": unsure})
    assert confirm(known, example(5)).reason == "sums_are_small is not decided: nobody knows"
    assert confirm(known, example(-5)).contradicted


def test_an_assumption_without_exact_form_must_hold_in_floating_point():
    found = confirm(theorem(), example(10, without=["is_below_one"]))
    assert (found.outcome, found.contradicted) == ("undecided", False)
    assert "is_bright, which has no exact form, does not hold beyond rounding" in found.reason


@pytest.mark.parametrize(
    ("known", "one", "reason"),
    [
        (replace(theorem(), exact=None), example(5), "theorem 'toy' has no exact form"),
        (theorem(), example(5, "is_bright"), "'is_bright' has no exact form"),
        (
            theorem(),
            example(5, "is_positive", control="is_positive"),
            "'is_positive' is about a broken simulator",
        ),
        (
            theorem(from_floats=None),
            replace(example(5), kind="seeded", recipe={"point": {"n": 1}, "seed": 1}),
            "drawn problems have no exact form",
        ),
    ],
)
def test_without_an_exact_form_it_says_so(known, one, reason):
    found = confirm(known, one)
    assert (found.outcome, found.reason) == ("no exact form", reason)
    assert found.example == one


def test_drawn_numbers_are_the_rationals_that_they_are():
    confirmed = []
    for trial in range(10):
        recipe = {"point": {"n": 1}, "root_seed": 0, "block": 0, "trial": trial}
        drawn = replace(example(0), kind="drawn", recipe=recipe)
        found = confirm(theorem(), drawn)
        u = Fraction(float(realise(theorem(), drawn)[0].problem[trial]))
        assert (found.outcome == "exact") == (2 * TENTH < u <= 0.9)
        if found.outcome == "exact":
            assert found.example.exact["problem"]["u"] == str(u)
            check_exact(found.example.exact, "sums_are_small", ())
            confirmed.append(u)
    assert 0 < len(confirmed) < 10


def test_a_problem_that_is_none_over_the_rationals_is_undecided():
    def build(values):
        raise InputError("no weights attain this start")

    found = confirm(theorem(build=build), example(5))
    assert (found.outcome, found.contradicted) == ("undecided", False)
    assert "over the rationals there is no such problem" in found.reason


@pytest.mark.parametrize(
    "changes",
    [
        {"document": lambda u: {"problem": {"u": "7" * 4_001}}},
        {"build": lambda values: Fraction(7**5_000, 3)},
        {"build": lambda values: Fraction(1 + 7**5_000, 7**5_000)},
    ],
)
def test_numbers_too_long_to_be_recorded_are_undecided(changes):
    without = ["is_below_one", "is_bright"]
    found = confirm(theorem(**changes), example(5, without=without))
    assert (found.outcome, found.contradicted) == ("undecided", False)
    assert found.reason == "its exact numbers have more than 4000 digits"


def sides(left, right, **words):
    """Return changes of a theorem whose claim has these sides."""
    return {"statements": {"sums_are_small": lambda u: ExactMargin(left, right, **words)}}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (sides(True, 0), "left=True of type bool, expected a Fraction"),
        (sides(1, Decimal(0)), r"right=Decimal\('0'\) of type Decimal"),
        (sides(0.5, 0), "left=0.5 of type float"),
        (sides(1, 0.0), "right=0.0 of type float"),
        (sides(np.int64(1), 0), "of type int64"),
        (sides(np.float64(1), 0), "of type float64"),
        (sides("b", "a"), "left='b' of type str"),
        (sides(None, 0), "left=None of type NoneType"),
        (sides(1, 0, strict="yes"), "strict='yes', expected bool"),
        (sides(1, 0, reads=None), "reads=None, expected str"),
    ],
)
def test_sides_that_are_not_exact_are_refused(changes, said):
    with pytest.raises(TheoremError, match=rf"test_confirm\.py:\d+ in exact form.*{said}"):
        confirm(theorem(**changes), example(5, without=["is_below_one"]))


@pytest.mark.parametrize("left", [Fraction(1, 2), 1, fmpq(1, 2), fmpz(1)])
def test_sides_of_every_exact_kind_are_taken(left):
    found = confirm(theorem(**sides(left, 0)), example(5, without=["is_below_one"]))
    assert found.outcome == "exact"
    assert found.example.exact["claim"]["left"] == str(left)


def test_forms_that_do_not_say_the_same_are_told_apart_from_rounding():
    """At u = 1/10 the claim holds in floating point by a tenth."""
    known = theorem(**sides(Fraction(1), Fraction(0)))
    with pytest.raises(TheoremError, match=r"'sums_are_small' disagree at .*exactly 1 ≤ 0 is fal"):
        confirm(known, example(1))
    assert confirm(theorem(**sides(Fraction(0), Fraction(1))), example(5)).contradicted


def test_forms_that_differ_by_rounding_agree():
    """0.1 + 0.4 is 0.5 in floating point: a margin that holds by nothing."""

    def half(trial):
        """u + 1/10 is at most 1/2."""
        return Margin(trial.problem + 0.1, 0.5)

    slightly = sides(Fraction(1, 2) + Fraction(1, 10**20), Fraction(1, 2))
    claims = (Universal(half, name="sums_are_small", given=(Assumption(is_positive),)),)
    known = replace(theorem(**slightly), claims=claims)
    assert confirm(known, example(4)).outcome == "exact"


def raises(u):
    return 1 / 0


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"statements": {"sums_are_small": raises}},
            "in exact form raises raised ZeroDivisionError",
        ),
        ({"statements": {"sums_are_small": lambda u: u > 0}}, "returned bool, expected an ExactM"),
        ({"build": raises}, "in exact form raises raised ZeroDivisionError"),
        ({"document": raises}, "in exact form raises raised ZeroDivisionError"),
        ({"document": lambda u: [u]}, "returned list, expected a dict"),
        ({"document": lambda u: {"u": 0.5}}, "exact: u is 0.5, expected a whole number"),
        ({"document": lambda u: {"u": "half"}}, "exact: u='half', expected a rational"),
    ],
)
def test_functions_that_misbehave_are_named(changes, said):
    with pytest.raises(TheoremError, match=rf"test_confirm\.py:\d+ .*{said}"):
        confirm(theorem(**changes), example(5, without=["is_below_one"]))


def test_a_recipe_or_an_assumption_that_is_unknown_is_refused():
    with pytest.raises(InputError, match="u=21 has entries outside"):
        confirm(theorem(), example(21))
    with pytest.raises(UnknownName, match="has no assumption 'gravity' to drop"):
        confirm(theorem(), example(5, without=["gravity"]))


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (Fraction(0), "0"),
        (Fraction(1, 3), "0.333333"),
        (Fraction(-22, 7), "-3.14286"),
        (Fraction(10**40), "1e+40"),
        (Fraction(1, 10**400), "1e-400"),
        (Fraction(2 * 10**3000 + 1, 3), "6.66667e+2999"),
        ("225/1024", "0.219727"),
    ],
)
def test_decimals(number, expected):
    assert decimal(number) == expected


def test_an_inequality_is_told_with_its_sign():
    assert told(ExactMargin(Fraction(1), Fraction(2), strict=True)) == "1 < 2"
    assert told(ExactMargin(Fraction(1), Fraction(2), reads="a ≤ b")) == "a ≤ b, that is 1 ≤ 2"
