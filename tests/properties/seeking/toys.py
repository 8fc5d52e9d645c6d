"""Theorems about a few numbers, small and exact: it is known what their smallest violations are."""

from fractions import Fraction

import numpy as np

from verify import (
    Assumption,
    Axis,
    Control,
    Explicit,
    Field,
    InputError,
    Margin,
    Point,
    Probable,
    Status,
    Theorem,
    Universal,
)
from verify.exact import Exact, ExactMargin

ROUNDING = 1e-9


def draw(point, generator, trials):
    """Draw n numbers uniform between low and 1, (B, n)."""
    return generator.uniform(point.get("low", 0.25), 1.0, size=(trials, int(point["n"])))


def squared_sum(numbers):
    """Return the square of the sum."""
    return numbers.sum(axis=-1) ** 2


def all_are_positive(trial):
    """All numbers are positive."""
    least = trial.problem.min(axis=-1)
    return Margin(0.0, np.where(least > 0, least, least - 1e-3))


def all_are_at_most_two(trial):
    """All numbers are at most 2."""
    return Margin(trial.problem.max(axis=-1), 2.0)


def squares_are_subadditive(trial):
    """The sum of the squares is at most the square of the sum."""
    return Margin((trial.problem**2).sum(axis=-1), trial.run, rounding=ROUNDING)


def squares_are_bounded(trial):
    """The square of the sum is at most n times the sum of the squares."""
    squares = trial.problem.shape[-1] * (trial.problem**2).sum(axis=-1)
    return Margin(trial.run, squares, rounding=ROUNDING)


def sum_is_small(trial):
    """The square of the sum is at most 4."""
    return Margin(trial.run, 4.0, rounding=ROUNDING)


def exactly_positive(numbers):
    return ExactMargin(Fraction(0), min(numbers), strict=True, reads="0 < min x")


def exactly_subadditive(numbers):
    return ExactMargin(sum(x * x for x in numbers), sum(numbers) ** 2, reads="Σx² ≤ (Σx)²")


def exactly_bounded(numbers):
    return ExactMargin(sum(numbers) ** 2, len(numbers) * sum(x * x for x in numbers))


def exactly_small(numbers):
    return ExactMargin(sum(numbers) ** 2, Fraction(4), reads="(Σx)² ≤ 4")


def build_exactly(values):
    return values["numbers"]


def from_floats(problem, index):
    return [Fraction(float(number)) for number in problem[index]]


def document(numbers):
    return {"problem": {"numbers": [str(number) for number in numbers]}}


EXACT = Exact(
    build=build_exactly,
    statements={
        "all_are_positive": exactly_positive,
        "squares_are_subadditive": exactly_subadditive,
        "squares_are_bounded": exactly_bounded,
        "sum_is_small": exactly_small,
    },
    document=document,
    from_floats=from_floats,
)


def build(values):
    """Return the numbers as a batch of one. Raises InputError for all zeros."""
    numbers = values["numbers"]
    if not numbers.any():
        raise InputError("all numbers are zero")
    return numbers[None]


SMALL = Explicit(
    sizes={"n": (1, 4)},
    fields={"numbers": Field(-12, 12, shape=("n",), denominator=4, symbol="x")},
    build=build,
)

POSITIVE = Assumption(all_are_positive, axes=("low",))
BOUNDED = Assumption(all_are_at_most_two)


def halved(numbers):
    """Return a quarter of the square of the sum: a broken simulator."""
    return squared_sum(numbers) / 4


def numbers_theorem(**changes):
    """Return a theorem about a few numbers, with claims that hold for positive ones."""
    given = {
        "id": "numbers",
        "title": "A few numbers",
        "citation": "none",
        "status": Status.DERIVED,
        "draw": draw,
        "simulate": squared_sum,
        "cells": (Point(n=2),),
        "axes": (Axis("n", 1, 5, "integer"),),
        "wide_axes": (
            Axis("n", 1, 5, "integer"),
            Axis("low", -1.0, 0.9, simplest=0.5, inside=(0.25, 0.9)),
        ),
        "small": SMALL,
        "exact": EXACT,
        "claims": (
            Universal(squares_are_subadditive, given=(POSITIVE, BOUNDED)),
            Universal(squares_are_bounded),
            Probable(sum_is_small, given=(POSITIVE,), name="sum_is_often_small", probability=0.1),
        ),
        "controls": (
            Control(Universal(sum_is_small, given=(POSITIVE,)), because="numbers can be large"),
            Control(
                Universal(squares_are_subadditive, given=(POSITIVE,), name="halved_is_enough"),
                because="a quarter of it is less",
                simulate=halved,
            ),
        ),
    }
    return Theorem(**{**given, **changes})


# A claim that only rounding violates.


def tenths_add_up(trial):
    """Two tenths add up to their sum in tenths: a margin that forgets its rounding."""
    one, other = trial.problem[:, 0] / 10, trial.problem[:, 1] / 10
    return Margin(one + other, (trial.problem[:, 0] + trial.problem[:, 1]) / 10)


def exact_tenths(pair):
    return ExactMargin(sum(pair) / 10, sum(pair) / 10)


def tenths_theorem():
    """Return a true theorem whose claim floating point violates, at 0.1 + 0.2 ≤ 0.3 say."""
    return Theorem(
        id="tenths",
        title="Tenths",
        citation="none",
        status=Status.DERIVED,
        draw=lambda point, generator, trials: generator.integers(1, 9, size=(trials, 2)),
        simulate=lambda numbers: numbers,
        cells=(Point(n=2),),
        axes=(Axis("n", 2, 2, "integer"),),
        small=Explicit(
            sizes={"n": (2, 2)},
            fields={"tenths": Field(1, 9, shape=("n",))},
            build=lambda values: values["tenths"][None],
        ),
        exact=Exact(
            build=lambda values: values["tenths"],
            statements={"tenths_add_up": exact_tenths},
            document=lambda pair: {"problem": {"tenths": [str(one) for one in pair]}},
            from_floats=lambda problem, index: [Fraction(int(one)) for one in problem[index]],
        ),
        claims=(Universal(tenths_add_up),),
    )
