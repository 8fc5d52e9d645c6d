"""The theorems of Lai et al. over the rationals say what they say in floating point."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import pytest

from properties.lai2026 import exact, setting, theorem1, theorem2, theorem3, theorem4
from verify.errors import InputError
from verify.exact import NotDecided
from verify.relu.exact import ExactLaw, ExactProblem, descent
from verify.relu.exact.rational import rational
from verify.relu.gram import Gram
from verify.space import Point
from verify.trial import Trial

THEOREMS = tuple(module.theorem for module in (theorem1, theorem2, theorem3, theorem4))

BY_ID = pytest.mark.parametrize("theorem", THEOREMS, ids=lambda theorem: theorem.id)

CANCELLED = ("gap_schur_identity", "certified_from_step_one")
"""At exactly zero the first divides rounding error by nothing, and the second takes it off."""


SIZES = {
    "small": ({"n": 2, "d": 2}, {"n": 2, "d": 5}, {"n": 3, "d": 3}, {"n": 4, "d": 5}),
    "explicit": ({"n": 3, "k": 2},),
}

EACH = 15
"""Problems of each size."""


def integers(rng, family, sizes):
    """Draw the integers of a small or explicit problem; half of the starts are not negative."""
    drawn = {name: sizes.get(name, low) for name, (low, _) in family.sizes.items()}
    for name, entry in family.fields.items():
        shape = tuple(drawn[size] for size in entry.shape)
        array = rng.integers(entry.low, entry.high + 1, size=shape)
        if name == "start" and rng.random() < 0.5:
            array = np.abs(array)
        if name == "c" and rng.random() < 0.5:
            array = array // 4 + 1
        if name == "labels" and rng.random() < 0.5:
            array = np.clip(2 * array + 1, entry.low, entry.high)
        if entry.nonzero:
            array = np.where(array == 0, 1, array)
        drawn[name] = array.tolist() if shape else int(array)
    return drawn


def drawn_together(theorem, rng, kind, sizes):
    """Return problems of one size as a batch, and each over the rationals."""
    family, floating, exactly = getattr(theorem, kind), [], []
    while len(floating) < EACH:
        drawn = integers(rng, family, sizes)
        try:
            floating.append(family.build(family.values(drawn)))
        except InputError:
            with pytest.raises(InputError):
                theorem.exact.build(family.exact_values(drawn))
            continue
        exactly.append(theorem.exact.build(family.exact_values(drawn)))
    arrays = {
        field.name: np.concatenate([getattr(one, field.name) for one in floating])
        for field in fields(floating[0])
        if isinstance(getattr(floating[0], field.name), np.ndarray)
    }
    together = Gram(np.concatenate([one.gram for one in floating]))
    return replace(floating[0], inner_products=together, **arrays), exactly


def inequalities(theorem):
    """Return what has an exact form, in floating point, by name."""
    stated = {claim.id: claim for claim in theorem.all_claims if hasattr(claim, "inequality")}
    stated |= {a.id: a for a in (*theorem.assumptions, *theorem.hypotheses)}
    return {name: stated[name].inequality for name in stated if name in theorem.exact.statements}


def compared(theorem, trial, exactly):
    """Compare every statement on every problem of a batch; count the pairs of answers."""
    tally = Counter()
    for name, inequality in inequalities(theorem).items():
        margin = inequality(trial)
        holds, violated = (
            np.broadcast_to(mask, (trial.trials,)) for mask in (margin.holds, margin.violated)
        )
        for index, problem in enumerate(exactly):
            floating = True if holds[index] else False if violated[index] else None
            try:
                sides = theorem.exact.statements[name](problem)
            except NotDecided:
                tally[name, floating, None] += 1
                continue
            if name in CANCELLED and sides.left == sides.right == 0:
                continue
            tally[name, floating, sides.holds] += 1
            assert floating in (None, sides.holds), (name, sides, problem.features)
    return tally


def answered(tally):
    """Return how often both decide."""
    return sum(count for key, count in tally.items() if None not in key)


@pytest.fixture(autouse=True)
def _few_steps(monkeypatch):
    monkeypatch.setattr(descent, "MOST_STEPS", 120)


ALWAYS = {
    "gram_is_regular": {True},
    "start_is_in_the_span": {True},
    "dimension_is_high": {False},
    "limit_is_the_minimum_norm": {False},
    "negatives_predicted_zero": {True},
}
"""What these problems never show the other side of; by hand below."""


@BY_ID
def test_wherever_both_decide_they_agree(theorem):
    rng, tally = np.random.default_rng(0), Counter()
    for kind, shapes in SIZES.items():
        for sizes in shapes:
            batch, exactly = drawn_together(theorem, rng, kind, sizes)
            tally += compared(theorem, Trial(theorem, None, batch, EACH), exactly)
    assert answered(tally) > 700
    for name in inequalities(theorem):
        seen = {key[2] for key in tally if key[0] == name and key[1] is not None} - {None}
        assert seen >= ALWAYS.get(name, {True, False}), name


@BY_ID
def test_every_statement_is_of_something_that_the_theorem_or_a_sibling_states(theorem):
    known = {
        entry.id
        for each in THEOREMS
        for entry in (*each.all_claims, *each.assumptions, *each.hypotheses)
    }
    assert set(theorem.exact.statements) - known == {"step_is_stable"}


def test_a_stable_step_is_the_one_of_floating_point():
    """No theorem assumes it at present."""
    theorem, tally = theorem3.theorem, Counter()
    batch, exactly = drawn_together(theorem, np.random.default_rng(5), "small", {"n": 3, "d": 3})
    margin = setting.step_is_stable(Trial(theorem, None, batch, EACH))
    for index, problem in enumerate(exactly):
        sides = exact.OF_EVERY_THEOREM["step_is_stable"](problem)
        assert sides.holds == margin.holds[index]
        assert sides.holds != margin.violated[index]
        tally[sides.holds] += 1
    assert min(tally[True], tally[False]) > 2


@BY_ID
def test_assumptions_without_an_exact_form_are_those_that_are_named(theorem):
    every = {a.id for a in (*theorem.assumptions, *theorem.hypotheses)}
    assert every - set(theorem.exact.statements) <= {"tails_are_light", "band_is_narrow"}


@pytest.mark.parametrize(
    ("theorem", "point"),
    [
        (theorem1.theorem, Point(n=6, d=60, c=0.5)),
        (theorem1.theorem, Point(n=4, d=6, c=0.5, spectrum="power:1")),
        (theorem2.theorem, Point(n=10, d=100, c=0.02, outside_span=0.1)),
        (theorem3.theorem, Point(n=8, d=100, start="random_sign")),
        (theorem4.theorem, Point(n=10, d=2000, c=0.9)),
    ],
    ids=["theorem1", "theorem1-harmonic", "theorem2", "theorem3", "theorem4"],
)
def test_drawn_problems_agree_too(theorem, point):
    drawn = theorem.draw(point, np.random.default_rng(0), 4)
    exactly = [theorem.exact.from_floats(drawn, index) for index in range(4)]
    assert answered(compared(theorem, Trial(theorem, point, drawn, 4), exactly)) > 40


# By hand.

TWO = {"n": 2, "d": 2, "features": [[1, 0], [0, 1]], "labels": [1, -1], "start": [1, 1], "c": 8}


def built(theorem=theorem2.theorem, **changed):
    family = theorem.small
    return theorem.exact.build(family.exact_values({**TWO, **changed}))


def test_the_gap_of_two_orthogonal_examples():
    """β¹₋ = 1/16 − ½·17/16 = −15/32 stays, and w⋆ has 0 there: gap² = (15/32)²."""
    sides = theorem2.theorem.exact.statements["limit_is_the_minimum_norm"](built())
    assert (sides.left, sides.right) == (rational("225/1024"), rational(Fraction(1, 10**12)))
    assert not sides.holds
    assert sides.reads == "‖w_∞ − w⋆‖² ≤ 10⁻¹² ‖w⋆‖²"
    scope = theorem2.theorem.claim("limit_is_the_minimum_norm").given
    assert all(theorem2.theorem.exact.statements[a.id](built()).holds for a in scope)


def test_sides_by_hand():
    """ŵ = (1, −15/32) on X = I, so ‖ŵ‖² = 1 + 225/1024; ηG₊₊ = ½; the unit is √(1/1)."""
    problem = built()
    nearest = exact.limit_is_nearest(problem)
    assert (nearest.left, nearest.right) == (0, rational(Fraction(1249, 1024 * 10**20)))
    assert exact.OF_EVERY_THEOREM["step_is_stable"](problem).right == rational("3/2")
    band = exact.gap_lower_band_without_step(problem)
    assert (band.left, band.right) == (rational("1/16"), rational("225/1024"))


def test_freezing_is_violated_by_two_examples():
    """Almost parallel examples of opposite label: step one moves the positive one down."""
    problem = built(theorem1.theorem, features=[[1, 1], [2, 1]], labels=[1, -1], c=1)
    sides = theorem1.theorem.exact.statements["pattern_freezes_after_step_one"](problem)
    assert not sides.holds
    assert sides.reads == "0 ≤ −β_2 at step 1"
    eta = Fraction(1, 16) * 2 / 7
    residuals = (Fraction(1, 16) - 1, Fraction(1, 16) + 1)
    expected = -(Fraction(1, 16) - eta * (3 * residuals[0] + 5 * residuals[1]))
    assert Fraction(str(sides.right)) == expected


def test_a_prediction_of_zero_is_no_member_and_departs():
    """β_1 = 0 exactly, on an example of positive label: inactive, so it must come out violated."""
    problem = ExactProblem.from_gram(
        [[1, 0], [0, 1]], [1, 1], start=[[0, 1]], step_size=Fraction(1, 2)
    )
    sides = exact.patterns_are_the_classes(problem)
    assert (sides.left, sides.right, sides.strict, sides.holds) == (0, 0, True, False)
    assert sides.reads == "0 < β_1 at step 1"
    negative = ExactProblem.from_gram([[1]], [-1], start=[[0]], step_size=1)
    assert exact.patterns_are_the_classes(negative).holds


def test_tolerances_are_the_decimals_that_are_written():
    problem = ExactProblem.from_gram(
        [[1, 0], [0, 1]], [1, -1], start=[[0.05, 0.05]], step_size=Fraction(6, 5)
    )
    small = exact.OF_EVERY_THEOREM["start_is_small"](problem)
    assert small.right == rational("1/20")
    assert not small.holds
    assert exact.OF_EVERY_THEOREM["step_is_bounded_above"](problem).holds


def test_the_law_counts_where_it_is_known():
    law = ExactLaw(rational(10_000), rational(100), rational(10_000), rational(2_400))
    given = {"start": [[1, 1]], "step_size": Fraction(1, 200)}
    problem = ExactProblem.from_gram([[1, 0], [0, 1]], [1, -1], law=law, **given)
    bare = ExactProblem.from_gram([[1, 0], [0, 1]], [1, -1], **given)
    statements = exact.OF_EVERY_THEOREM
    assert statements["dimension_is_high"](problem).holds
    assert not statements["spectrum_is_spread"](problem).holds
    assert statements["step_is_bounded_below"](problem).right == rational("1/2")
    assert statements["step_is_bounded_below"](bare).right == rational("1/200")
    for name in ("dimension_is_high", "spectrum_is_spread"):
        with pytest.raises(NotDecided, match="the dimension d is not known"):
            statements[name](bare)


def test_a_limit_that_is_the_minimum_norm_is_seen():
    """With two examples of positive label in two dimensions there is one interpolant."""
    problem = built(labels=[1, 2], features=[[1, 0], [0, 1]])
    sides = exact.limit_is_the_minimum_norm(problem)
    assert (sides.left, sides.holds) == (0, True)


def test_a_start_outside_the_span_and_a_singular_gram_matrix_are_seen():
    singular = ExactProblem.from_gram(
        [[1, 1], [1, 1]], [1, -1], start=[[1, 1]], step_size=1, outside=[[Fraction(1, 10**16)]]
    )
    assert not exact.OF_EVERY_THEOREM["gram_is_regular"](singular).holds
    assert exact.OF_EVERY_THEOREM["start_is_in_the_span"](singular).holds
    outside = ExactProblem.from_gram(
        [[1]], [1], start=[[1]], step_size=1, outside=[[Fraction(1, 10**15)]]
    )
    assert not exact.OF_EVERY_THEOREM["start_is_in_the_span"](outside).holds


def test_a_pair_that_does_not_decouple_is_not_decided():
    problem = ExactProblem.from_gram(
        [[1, 0.9], [0.9, 1]], [1, -10], start=[[1, 1]] * 2, step_size=0.5, signs=(1, -1)
    )
    assert not exact.OF_EVERY_THEOREM["comparator_duals_agree"](problem).holds
    with pytest.raises(NotDecided, match="the neurons alone are not"):
        exact.limit_is_the_minimum_norm(problem)
