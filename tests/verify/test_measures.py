"""Measures and chains: what they refuse, and what they mean by what they accept."""

import numpy as np
import pytest

import verify
from tests.verify.engine.toys import (
    ALWAYS_MET,
    HERE,
    at_least_zero,
    below_a_half,
    below_nine_tenths,
    n_of,
    theorem_of,
)
from verify.claims import Control, Status, Universal
from verify.errors import TheoremError, UnknownName
from verify.margin import Margin
from verify.measures import Chain, Frequency, Quantiles
from verify.space import Point
from verify.theorem import points_of

CLAIM = Universal(at_least_zero)
THERE = Point(n=2)


def undocumented(trial):
    return Margin(0, 1)


def u_of(trial):
    """The number u that was drawn."""
    return trial.problem


def measured(*measures, **changes):
    return theorem_of(CLAIM, measures=measures, **changes)


@pytest.mark.parametrize(
    ("measures", "message"),
    [
        (Frequency(below_a_half), r"is a Frequency, expected a tuple: \(Frequency\("),
        ((CLAIM,), "measures holds Universal"),
        ((below_a_half,), r"measures holds .*, expected a Measure; write Frequency\(below_a_half"),
        ((Frequency(undocumented),), "'undocumented' has no docstring"),
        ((Frequency(below_a_half), Quantiles(u_of, name="below_a_half")), "occur twice"),
        ((Frequency(at_least_zero),), r"claims and measures \['at_least_zero'\] occur twice"),
        ((Frequency(below_a_half, at=HERE),), "measure 'below_a_half': at is a Point"),
        ((Frequency(below_a_half, given=ALWAYS_MET),), "'below_a_half': given is a Assumption"),
        ((Frequency(below_a_half, status="H"),), "'below_a_half': status='H', expected a Status"),
        ((Frequency(below_a_half, by="m"),), r"by='m' is no coordinate of Point\(n=1\); .* of n"),
        (
            (Frequency(at_least_zero, name="often", given=(ALWAYS_MET,)),),
            "measure 'often' is given 'at_least_zero': it assumes what it measures",
        ),
    ],
)
def test_a_measure_that_says_nothing_checkable_is_refused(measures, message):
    with pytest.raises(TheoremError, match=message):
        theorem_of(CLAIM, measures=measures)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Quantiles(u_of, levels=(0.5, 1.0)), r"levels=\(0.5, 1.0\), expected each in"),
        (lambda: Quantiles(u_of, levels=(0.5, 0.5)), "expected none twice"),
        (lambda: Quantiles(u_of, levels=0.5), "levels is a float, expected a tuple"),
        (lambda: Frequency(below_a_half, levels=(0.5,)), "without an abscissa; say with against="),
        (lambda: Frequency(below_a_half, against=3), "against=3, expected a function of the trial"),
        (lambda: Quantiles(u_of, prediction=0.5), "prediction=0.5, expected a function"),
        (lambda: Quantiles("u"), "expected a function"),
        (lambda: Chain(links=below_a_half), "expected a tuple of functions"),
        (lambda: Chain(links=()), r"links=\(\), expected a tuple of functions"),
        (lambda: Chain(links=(below_a_half, below_a_half)), r"\['below_a_half'\] occur twice"),
        (lambda: Chain(links=(undocumented,)), "link 'undocumented' has no docstring"),
        (lambda: Chain(links=(below_a_half,), at=HERE), "at is a Point, expected a tuple"),
        (lambda: Chain(links=("first",)), "'first' is called '', expected a function"),
    ],
)
def test_what_can_be_told_wrong_at_once_is_refused_at_once(make, message):
    with pytest.raises(TheoremError, match=message):
        make()


def test_a_chain_is_a_chain_and_its_name_is_taken():
    with pytest.raises(TheoremError, match=r"chain=\(<function .*expected Chain\(links="):
        theorem_of(CLAIM, chain=(below_a_half,))
    taken = Frequency(below_nine_tenths, name="chain")
    with pytest.raises(TheoremError, match=r"\['chain'\] occur twice"):
        measured(taken, chain=Chain(links=(below_a_half,)))
    assert measured(taken).entry("chain") is taken


def test_something_sampled_nowhere_is_refused():
    elsewhere = Universal(at_least_zero, at=(HERE,))
    for unplaced, what in (
        ({"measures": (Frequency(below_a_half),)}, "measure 'below_a_half'"),
        ({"chain": Chain(links=(below_a_half,))}, "the chain"),
    ):
        with pytest.raises(TheoremError, match=f"{what} is sampled nowhere"):
            theorem_of(elsewhere, cells=(), **unplaced)


def test_a_measure_is_told_by_its_function():
    measure = Frequency(below_a_half, against=n_of, by="n")
    assert (measure.id, measure.kind, measure.unit) == (
        "below_a_half",
        "frequency",
        "dimensionless",
    )
    assert measure.statement == "u is below one half."
    assert (measure.ordinate, measure.abscissa, measure.line_of(THERE)) == ("below a half", "n", 2)
    plain = Quantiles(u_of, axis="u", unit="m", name="drawn")
    assert (plain.id, plain.kind, plain.ordinate, plain.unit) == ("drawn", "quantiles", "u", "m")
    assert (plain.abscissa, plain.line_of(THERE), plain.levels) == ("", None, (0.05, 0.5, 0.95))


def test_measures_share_the_error_and_are_found_by_name():
    control = Control(Universal(below_a_half), because="it is not")
    chain = Chain(links=(at_least_zero, below_a_half))
    often = Frequency(below_nine_tenths, given=(ALWAYS_MET,), status=Status.HEURISTIC)
    theorem = measured(often, controls=(control,), chain=chain)
    assert theorem.registered == 3
    assert [a.id for a in theorem.assumptions] == ["at_least_zero"]
    assert theorem.status_of(often) is Status.HEURISTIC
    assert theorem.entry("below_nine_tenths") is often
    assert theorem.entry("below_a_half") is control.claim
    assert theorem.entry("chain") is chain
    known = "at_least_zero, below_a_half, below_nine_tenths, chain"
    with pytest.raises(UnknownName, match=f"'toy' has no claim or measure 'other'; it has {known}"):
        theorem.entry("other")


def test_a_chain_looks_where_the_theorem_does_and_where_its_controls_run_the_true_simulator():
    links = (at_least_zero, below_a_half)
    controls = (
        Control(Universal(below_a_half, at=(THERE,)), because="it is not"),
        Control(
            Universal(below_nine_tenths, at=(Point(n=3),)),
            because="all are doubled",
            simulate=np.array,
        ),
    )
    theorem = measured(controls=controls, chain=Chain(links=links))
    assert points_of(theorem, theorem.chain) == (HERE, THERE)
    elsewhere = measured(controls=controls, chain=Chain(links=links, at=(Point(n=4),)))
    assert points_of(elsewhere, elsewhere.chain) == (Point(n=4),)


def test_the_vocabulary_is_public():
    assert verify.Frequency is Frequency
    assert verify.Quantiles is Quantiles
    assert verify.Chain is Chain
