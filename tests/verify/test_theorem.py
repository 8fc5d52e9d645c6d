"""A theorem refuses what it cannot mean, and means one thing by what it accepts."""

import functools
import math

import numpy as np
import pytest

from tests.verify.engine.toys import (
    ALWAYS_MET,
    HERE,
    at_least_zero,
    below_a_half,
    n_of,
    rate,
    rising,
    theorem_of,
)
from verify.claims import Assumption, Control, Probable, Rate, Status, Sweep, Universal
from verify.errors import TheoremError, UnknownName
from verify.margin import Margin
from verify.space import Axis, Point
from verify.theorem import points_of
from verify.trial import Trial


def no_docstring(trial):
    return Margin(0, 1)


CLAIM = Universal(at_least_zero)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"claims": ()}, "claims nothing"),
        ({"claims": (CLAIM, CLAIM)}, r"claim ids \['at_least_zero'\] occur twice"),
        ({"controls": (Control(CLAIM, "it is not false"),)}, "occur twice"),
        ({"claims": (Universal(no_docstring),)}, "'no_docstring' has no docstring"),
        (
            {"claims": (Universal(at_least_zero, given=(Assumption(no_docstring),)),)},
            "'no_docstring' has no docstring",
        ),
        ({"cells": ()}, "'at_least_zero' is sampled nowhere"),
        ({"claims": CLAIM}, "claims is a Universal, expected a tuple"),
        ({"claims": [CLAIM]}, "claims is a list, expected a tuple"),
        ({"cells": HERE}, r"cells is a Point, expected a tuple: \(Point\(…\),\) with its comma"),
        ({"cells": ({"n": 1},)}, r"cells holds \{'n': 1\}, expected a Point"),
        ({"claims": (Universal(at_least_zero, at=HERE),)}, "at is a Point, expected a tuple"),
        ({"claims": (Universal(at_least_zero, given=ALWAYS_MET),)}, "given is a Assumption"),
        ({"axes": (Axis("c"), Axis("c"))}, r"axes \['c'\] occur twice"),
        ({"block": 0}, "block=0, expected at least 1"),
        ({"status": "F"}, "status='F', expected a Status, such as Status.FOLKLORE"),
        ({"status": None}, "status=None, expected a Status"),
        (
            {"claims": (Universal(at_least_zero, status="F"),)},
            "'at_least_zero': status='F', expected",
        ),
        (
            {"claims": (Universal(below_a_half, given=(Assumption(at_least_zero, "D"),)),)},
            "'at_least_zero': status='D', expected a Status",
        ),
        (
            {"controls": (Control(Universal(below_a_half, status="X"), "it is false"),)},
            "'below_a_half': status='X'",
        ),
        (
            {"claims": (Universal(at_least_zero, given=(ALWAYS_MET,)),)},
            "claim 'at_least_zero' is given 'at_least_zero': it assumes what it claims",
        ),
        (
            {"claims": (Universal(at_least_zero, name="x", given=(ALWAYS_MET,)),)},
            "claim 'x' is given 'at_least_zero': it assumes what it claims",
        ),
        (
            {"claims": (Universal(at_least_zero, rests_on=("lemma",)),)},
            r"rests on \['lemma'\], which are none of its claims at_least_zero",
        ),
        (
            {"claims": (Universal(lambda trial: Margin(0, 1)),)},
            r"called '<lambda>', expected a function",
        ),
        ({"claims": (Universal(at_least_zero, name="a.b"),)}, "called 'a.b', expected a function"),
        ({"claims": (Universal(at_least_zero, name="x"), Universal("x"))}, "expected a function"),
    ],
)
def test_a_theorem_that_says_nothing_checkable_is_refused(changes, message):
    with pytest.raises(TheoremError, match=message):
        theorem_of(**{"claims": (CLAIM,), **changes})


def test_the_axes_of_an_assumption_are_a_tuple_of_names():
    for axes in ("c", ["c"], (Axis("c"),)):
        with pytest.raises(TheoremError, match="assumption 'at_least_zero': axes"):
            Assumption(at_least_zero, axes=axes)


def test_two_assumptions_of_one_name_are_refused():
    def other():
        def at_least_zero(trial):
            """Something else of the same name."""
            return Margin(0, 1)

        return at_least_zero

    given = (ALWAYS_MET, Assumption(other()))
    with pytest.raises(TheoremError, match=r"assumption ids, .*\['at_least_zero'\] occur twice"):
        theorem_of(Universal(below_a_half, given=given))


def test_one_assumption_may_serve_claims_of_different_status():
    given = (ALWAYS_MET,), (Assumption(at_least_zero, Status.DERIVED),)
    theorem = theorem_of(
        Universal(below_a_half, given=given[0]), Universal(below_a_half, name="x", given=given[1])
    )
    assert [assumption.id for assumption in theorem.assumptions] == ["at_least_zero"] * 2


def test_a_partial_function_is_a_claim_under_a_name():
    def at_most(trial, bound):
        """u is at most a bound."""
        return Margin(trial.problem, bound)

    claim = Universal(functools.partial(at_most, bound=1), name="at_most_one")
    theorem = theorem_of(claim)
    assert theorem.claim("at_most_one").statement == "u is at most a bound."
    with pytest.raises(TheoremError, match="expected a function"):
        theorem_of(Universal(functools.partial(at_most, bound=1)))


def test_a_point_named_twice_is_sampled_once():
    theorem = theorem_of(CLAIM, cells=(Point(n=1), Point(n=1.0), Point(n=2)))
    assert points_of(theorem, CLAIM) == (Point(n=1), Point(n=2))


def test_a_claim_is_found_by_its_id_only():
    theorem = theorem_of(CLAIM, controls=(Control(Universal(below_a_half), "no"),))
    assert theorem.claim("below_a_half").id == "below_a_half"
    with pytest.raises(UnknownName, match="no claim 'nope'; it has at_least_zero, below_a_half"):
        theorem.claim("nope")


@pytest.mark.parametrize("probability", [0, 1, -0.5, math.nan])
def test_a_probability_is_strictly_between_zero_and_one(probability):
    with pytest.raises(TheoremError, match=r"expected in \(0, 1\)"):
        Probable(at_least_zero, probability=probability)


def test_a_rate_needs_sweeps_of_three_points_with_names_of_their_own():
    with pytest.raises(TheoremError, match="needs at least one Sweep"):
        Rate(rising)
    with pytest.raises(TheoremError, match="2 different points among 2, expected at least 3"):
        Sweep("n", (Point(n=1), Point(n=2)), n_of, 1.0)
    with pytest.raises(TheoremError, match=r"3 different points among 4, expected .* none twice"):
        Sweep("n", (Point(n=1), Point(n=1.0), Point(n=2), Point(n=3)), n_of, 1.0)
    with pytest.raises(TheoremError, match="two sweeps have the same name"):
        Rate(rising, sweeps=rate().sweeps * 2)
    with pytest.raises(TheoremError, match="tolerance=0, expected > 0"):
        rate(tolerance=0)
    with pytest.raises(TheoremError, match="leave out at="):
        rate(at=(HERE,))


def test_a_reference_is_built_once_and_unknown_ones_are_named():
    built = []
    theorem = theorem_of(CLAIM, references={"twice": lambda u, run: built.append(1) or 2 * u})
    trial = Trial(theorem, HERE, np.array([0.5]), 1)
    assert trial.reference("twice") is trial.reference("twice")
    assert built == [1]
    with pytest.raises(TheoremError, match=r"reference 'half' .*\(it has: twice\)"):
        trial.reference("half")


def test_every_status_has_a_meaning():
    assert len({status.meaning for status in Status}) == len(Status)
