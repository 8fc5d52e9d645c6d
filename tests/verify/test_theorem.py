"""The vocabulary refuses what it cannot mean, and means one thing by what it accepts."""

import functools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
from verify.errors import InputError, TheoremError, UnknownName
from verify.explicit import Explicit, Field
from verify.margin import Margin
from verify.space import Axis, Point, geometric
from verify.theorem import points_of
from verify.trial import Trial

quickly = settings(max_examples=200, deadline=None, derandomize=True, database=None)


# Points


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Point(n=1), Point(n=1.0)),
        (Point(a=1, b="x"), Point(b="x", a=1)),
        (Point(n=np.int64(3)), Point(n=3)),
        (Point(n=np.float64(0.5)), Point(n=0.5)),
        (Point(c=np.float32(0.5)), Point(c=0.5)),
        (Point(c=-0.0), Point(c=0.0)),
        (Point(s=np.str_("iso")), Point(s="iso")),
    ],
)
def test_points_of_equal_coordinates_are_one_point(one, other):
    assert one == other
    assert hash(one) == hash(other)
    assert one.canonical == other.canonical


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Point(n=1), Point(n="1")),
        (Point(n=1), Point(m=1)),
        (Point(n=1), Point(n=1, m=1)),
        (Point(n=2**53), Point(n=2**53 + 1)),
        (Point(c=0.1), Point(c=np.nextafter(0.1, 1))),
    ],
)
def test_points_of_different_coordinates_differ(one, other):
    assert one != other


def test_a_point_holds_plain_numbers():
    point = Point(n=np.int64(3), c=np.float32(0.5), s=np.str_("iso"))
    assert [type(value) for value in dict(point).values()] == [float, int, str]
    assert repr(point) == "Point(c=0.5, n=3, s='iso')"


@pytest.mark.parametrize(
    "value", [True, np.True_, None, math.nan, math.inf, -np.inf, [1], np.ones(1), 1j, b"x"]
)
def test_a_point_refuses_what_is_no_finite_number_or_string(value):
    with pytest.raises(
        TheoremError, match=r"n=.* in a Point, expected a finite number or a string"
    ):
        Point(n=value)


def test_a_point_is_a_mapping():
    point = Point(n=3, self=1)
    assert point["n"] == 3
    assert point.get("n") == 3
    assert point.get("m", 7) == 7
    assert point.get("m") is None
    assert "m" not in point
    assert {**{"n": 1, "m": 2}, **point} == {"n": 3, "m": 2, "self": 1}
    assert point.moved(n=4, self=2) == Point(n=4, self=2)
    with pytest.raises(TheoremError, match="no coordinate 'm' in Point"):
        point["m"]


@given(st.dictionaries(st.text(min_size=1), st.integers() | st.floats(-1e300, 1e300) | st.text()))
@quickly
def test_a_point_survives_pickling_and_its_own_coordinates(coordinates):
    point = Point(**coordinates)
    assert pickle.loads(pickle.dumps(point)) == point
    assert Point(**dict(point)) == point


# Axes


@pytest.mark.parametrize(
    ("axis", "message"),
    [
        ({"low": 2, "high": 1}, "low <= high"),
        ({"low": math.nan}, "finite numbers"),
        ({"high": math.inf}, "finite numbers"),
        ({"low": 0, "scale": "log"}, "low=0, expected > 0 on a log scale"),
        ({"scale": "cubic"}, "scale='cubic', expected linear, log, integer or choice"),
        ({"scale": "choice"}, "give choices for scale='choice'"),
        ({"choices": ("a",)}, "give choices for scale='choice' and for no other"),
        ({"scale": "choice", "choices": ("a", "b"), "simplest": "c"}, "simplest='c' is no choice"),
        ({"low": 0.5, "high": 3, "scale": "integer"}, "whole numbers"),
        ({"simplest": 2.0}, "simplest=2.0 is not between low=0.0 and high=1.0"),
        ({"simplest": "x"}, "simplest='x' is not between"),
    ],
)
def test_an_axis_that_means_nothing_is_refused(axis, message):
    with pytest.raises(TheoremError, match=message):
        Axis("c", **axis)


def test_an_axis_may_be_a_single_value():
    assert Axis("n", 3, 3, "integer", simplest=3).low == 3


# Margins

MARGINS = st.sampled_from([-math.inf, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, math.inf, math.nan])
ROUNDINGS = st.sampled_from([0.0, 0.5, 1.0, math.inf, math.nan])


def margin_of(value, rounding):
    return Margin(0.0, np.array([value]), 1.0, np.array([rounding]))


def rank(margin):
    """0 where violated, 1 where undecided, 2 where it holds."""
    return 0 if margin.violated[0] else 2 if margin.holds[0] else 1


@given(MARGINS, ROUNDINGS)
@quickly
def test_a_margin_holds_or_is_violated_or_undecided_and_nan_or_no_bound_is_undecided(value, bound):
    margin = margin_of(value, bound)
    assert not (margin.holds & margin.violated).any()
    if math.isnan(value) or math.isnan(bound) or bound == math.inf:
        assert rank(margin) == 1


@pytest.mark.parametrize(
    ("value", "rounding", "expected"),
    [(0.5, 0.5, 2), (-0.5, 0.5, 1), (0.49, 0.5, 1), (-0.51, 0.5, 0), (0.0, 0.0, 2)],
)
def test_on_the_rounding_bound_a_margin_holds_and_minus_it_is_undecided(value, rounding, expected):
    assert rank(margin_of(value, rounding)) == expected


@given(st.lists(st.tuples(MARGINS, ROUNDINGS), min_size=1, max_size=5))
@quickly
def test_worst_is_violated_before_undecided_before_smallest(parts):
    margins = [margin_of(*part) for part in parts]
    worst = Margin.worst(*margins)
    ranks = [rank(margin) for margin in margins]
    assert rank(worst) == min(ranks)
    rivals = [m.value[0] for m, r in zip(margins, ranks, strict=True) if r == min(ranks)]
    expected = np.nan if np.isnan(rivals).all() else np.nanmin(rivals)
    np.testing.assert_equal(worst.value[0], expected)


def test_worst_goes_instance_by_instance_and_broadcasts_numbers_and_arrays():
    worst = Margin.worst(
        Margin(0.0, np.array([3.0, -2.0, 5.0])), Margin(0.0, 1.0, rounding=np.array([0, 0, 9]))
    )
    np.testing.assert_array_equal(worst.value, [1.0, -2.0, 1.0])
    np.testing.assert_array_equal(worst.uncertainty, [0.0, 0.0, 9.0])
    np.testing.assert_array_equal(worst.violated, [False, True, False])
    np.testing.assert_array_equal(worst.holds, [True, False, False])


def test_worst_of_numbers_is_a_number():
    worst = Margin.worst(Margin(0, 2), Margin(0, 1))
    assert worst.value.shape == ()
    assert worst.value == 1


def test_equal_measures_in_multiples_of_the_tolerance():
    margin = Margin.equal([1.0, 1.0, 2.0], [1.0, 1.05, 1.0], [1.0, 1.0, 2.0], 0.1)
    np.testing.assert_allclose(margin.value, [1.0, 0.5, -4.0])


def test_equal_at_scale_zero_holds_for_the_same_number_only():
    margin = Margin.equal([0.0, 1e-300], [0.0, 0.0], 0.0, 1e-10)
    np.testing.assert_array_equal(margin.holds, [True, False])
    np.testing.assert_array_equal(margin.violated, [False, True])


def test_equal_decides_nothing_between_infinities_or_nan():
    margin = Margin.equal([np.inf, np.nan, 1.0], [np.inf, 1.0, 1.0], [1.0, 1.0, np.nan], 0.1)
    assert not (margin.holds | margin.violated).any()


def test_a_witness_that_disagrees_makes_a_margin_minus_one_at_most():
    margin = Margin(0.0, np.array([2.0, 2.0, -3.0, np.nan, np.inf]), rounding=[0, 9, 0, 0, np.inf])
    contradicted = margin.contradicted_where(np.ones(5, bool))
    np.testing.assert_array_equal(contradicted.value, [-1, -1, -3, -1, -1])
    assert contradicted.violated.all()
    untouched = margin.contradicted_where(np.zeros(5, bool))
    np.testing.assert_array_equal(untouched.value, margin.value)
    np.testing.assert_array_equal(untouched.holds, margin.holds)


def test_undecided_where_decides_nothing_even_about_an_infinite_margin():
    margin = Margin(0.0, np.array([np.inf, -np.inf, 1.0])).undecided_where([True, True, False])
    np.testing.assert_array_equal(margin.holds, [False, False, True])
    assert not margin.violated.any()


def test_a_scale_of_zero_keeps_the_sign_and_warns_of_nothing():
    margin = Margin(np.array([0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0]), scale=np.zeros(3))
    np.testing.assert_array_equal(margin.holds, [True, False, False])
    np.testing.assert_array_equal(margin.violated, [False, True, False])


@pytest.mark.parametrize(
    ("left", "right", "scale"),
    [
        (5.0, 1.0, np.inf),
        (1e-200, 0.0, 1e200),
        (1e-300, -1e-300, 1e300),
        (np.array([2**53 + 1]), np.array([2**53]), 1.0),
        (np.array([2**53 + 1]), np.array([2.0**53]), 1.0),
        (np.array([2**64 - 1], np.uint64), np.array([2.0**53]), 1.0),
        (np.array([2**64 - 1], np.uint64), np.array([2**63 - 1]), 1.0),
        (2**53 + 1, 2**53, 1.0),
        (2**70 + 1, 2**70, 1.0),
        (2**70 + 1, 2.0**70, 1.0),
        (np.longdouble(1) + np.longdouble(1e-18), np.longdouble(1), 1.0),
        (np.longdouble(1) + np.longdouble(1e-18), 1, 1.0),
        (np.array([2**53 + 1]), np.longdouble(2**53), 1.0),
        (np.uint64(5), np.uint64(3), 1.0),
        (np.uint64(5), -3, 1e300),
        (np.True_, np.False_, 1e300),
        (np.float16(1.001), np.float32(1.0), 1e300),
    ],
)
def test_no_inequality_is_lost_to_rounding_or_underflow(left, right, scale):
    assert Margin(left, right, scale).violated.all()
    assert not Margin(left, right, scale).holds.any()
    assert Margin(right, left, scale).holds.all()
    assert (Margin(right, left, scale).value > 0).all()


# Claims, assumptions, sweeps


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


# Explicit problems

EXPLICIT = Explicit(
    sizes={"n": (1, 3)},
    fields={
        "labels": Field(-2, 2, shape=("n",), denominator=2, nonzero=True),
        "block": Field(0, 9, shape=("n", "n")),
        "step": Field(1, 4, denominator=4),
    },
    build=dict,
)
VALUES = {"n": 2, "labels": [-2, 1], "block": [[0, 1], [2, 3]], "step": 3}


def test_explicit_values_are_the_integers_over_their_denominators():
    values = EXPLICIT.values(VALUES)
    assert values["n"] == 2
    np.testing.assert_array_equal(values["labels"], [-1.0, 0.5])
    assert values["block"].dtype == np.float64
    assert values["step"] == 0.75


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n": 4}, "n=4, expected 1 to 3"),
        ({"n": True}, "n=True, expected 1 to 3"),
        ({"n": 2.0}, "n=2.0, expected"),
        ({"labels": [1, 1, 1]}, r"labels is not an integer array of \(2,\)"),
        ({"labels": [1, 0]}, r"labels=\[1, 0\] has entries outside -2 to 2 without 0"),
        ({"labels": [1, 3]}, "entries outside -2 to 2"),
        ({"labels": [1.0, 2.0]}, "labels is not an integer array"),
        ({"labels": [True, True]}, "labels is not an integer array"),
        ({"labels": [1, [2]]}, "labels is not an integer array"),
        ({"labels": [1, 10**30]}, "entries outside"),
        ({"block": [[0, 1], [2]]}, "block is not an integer array"),
        ({"step": [3]}, r"step is not an integer array of \(\)"),
        ({"step": None}, "step is not an integer array"),
        ({"extra": 1}, r"names \['extra'\] are missing or unknown"),
    ],
)
def test_explicit_values_that_do_not_fit_are_refused(changes, message):
    with pytest.raises(InputError, match=message):
        EXPLICIT.values({**VALUES, **changes})


def test_a_missing_explicit_value_is_named():
    with pytest.raises(InputError, match=r"\['step'\] are missing"):
        EXPLICIT.values({name: value for name, value in VALUES.items() if name != "step"})


def test_a_field_allows_some_integer_and_its_shape_is_known():
    with pytest.raises(TheoremError, match="expected low <= high"):
        Field(2, 1)
    with pytest.raises(TheoremError, match="no integer is allowed"):
        Field(0, 0, nonzero=True)
    with pytest.raises(TheoremError, match="denominator >= 1"):
        Field(0, 1, denominator=0)
    with pytest.raises(TheoremError, match=r"the shapes name \['m'\], which are no sizes"):
        Explicit(sizes={}, fields={"a": Field(0, 1, shape=("m",))}, build=dict)


# Small things


def test_every_status_has_a_meaning():
    assert len({status.meaning for status in Status}) == len(Status)


def test_geometric_spans_its_range_evenly_in_logarithms():
    values = geometric(1e-2, 1e2, 5)
    np.testing.assert_allclose(values, [1e-2, 1e-1, 1, 1e1, 1e2], rtol=1e-12)
    for wrong in ((0, 1, 3), (2, 1, 3), (1, 2, 1)):
        with pytest.raises(InputError, match="expected 0 < low < high, count >= 2"):
            geometric(*wrong)
