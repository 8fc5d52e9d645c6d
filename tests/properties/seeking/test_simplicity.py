"""Which problem is the simpler, and that the descent ends at the simplest that steps lead to."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from properties.seeking.problems import nested, of_size, sizes_of
from properties.seeking.simplicity import flat, height, simplest_first, simplicity
from properties.seeking.simplify import simplified
from verify import Explicit, Field

MATRIX = Explicit(
    sizes={"n": (1, 3), "d": (1, 2)},
    fields={
        "X": Field(-4, 4, shape=("n", "d")),
        "y": Field(-6, 6, shape=("n",), denominator=2, nonzero=True),
        "c": Field(1, 8, denominator=8),
    },
    build=dict,
)


@pytest.mark.parametrize(
    ("number", "expected"),
    [("0", 0), ("1", 1), ("-1", 1), ("2", 2), ("1/2", 2), ("-3/4", 6), ("1/16", 16), ("7", 7)],
)
def test_the_height_of_a_number(number, expected):
    assert height(Fraction(number)) == expected


def test_the_simplest_numbers_come_first():
    eighths = [str(Fraction(i, 8)) for i in simplest_first(MATRIX.fields["c"])]
    assert eighths == ["1", "1/2", "1/4", "3/4", "1/8", "3/8", "5/8", "7/8"]
    assert simplest_first(Field(-2, 2)) == [0, 1, -1, 2, -2]
    assert simplest_first(Field(-2, 2, nonzero=True)) == [1, -1, 2, -2]
    assert simplest_first(Field(-2, 2, zero_last=True)) == [1, -1, 2, -2, 0]


IN_ORDER = [
    {"n": 1, "d": 2, "X": [[4, 4]], "y": [6], "c": 7},
    {"n": 2, "d": 1, "X": [[1], [0]], "y": [2, 2], "c": 8},
    {"n": 2, "d": 1, "X": [[0], [1]], "y": [2, 2], "c": 8},
    {"n": 2, "d": 1, "X": [[0], [-1]], "y": [2, 2], "c": 8},
    {"n": 2, "d": 1, "X": [[1], [0]], "y": [2, -2], "c": 8},
    {"n": 2, "d": 1, "X": [[1], [0]], "y": [-2, 2], "c": 8},
    {"n": 2, "d": 1, "X": [[1], [1]], "y": [2, 2], "c": 8},
    {"n": 2, "d": 2, "X": [[0, 0], [0, 0]], "y": [2, 2], "c": 8},
]


def test_problems_in_the_order_of_their_simplicity():
    """Sizes first, then the sum of heights, then different values, then signs, then order."""
    keys = [simplicity(MATRIX, problem) for problem in IN_ORDER]
    expected = sorted(range(len(keys)), key=lambda place: keys[place])
    told = [IN_ORDER[place] for place in expected]
    assert told[0] == IN_ORDER[0]
    assert told[-1] == IN_ORDER[-1]
    for one, other in pairwise(IN_ORDER[1:4]):
        assert simplicity(MATRIX, one) < simplicity(MATRIX, other)
    assert simplicity(MATRIX, IN_ORDER[4]) < simplicity(MATRIX, IN_ORDER[5])
    assert simplicity(MATRIX, IN_ORDER[1]) < simplicity(MATRIX, IN_ORDER[6]), "1 < 2"


def test_sizes_come_in_lexicographic_order():
    assert [tuple(sizes.values()) for sizes in sizes_of(MATRIX)] == [
        (1, 1),
        (1, 2),
        (2, 1),
        (2, 2),
        (3, 1),
        (3, 2),
    ]


@given(st.lists(st.integers(), min_size=6, max_size=6))
def test_entries_survive_being_nested_and_flattened(entries):
    for shape in ([6], [2, 3], [3, 2], [1, 6], [1, 2, 3]):
        assert flat(nested(entries, shape)) == entries


@given(of_size(MATRIX, {"n": 2, "d": 2}))
def test_what_is_drawn_is_a_problem_of_that_size(recipe):
    values = MATRIX.values(recipe["values"])
    assert (values["n"], values["d"]) == (2, 2)


@given(of_size(MATRIX, {"n": 3, "d": 2}))
def test_the_order_is_total(recipe):
    problem = recipe["values"]
    other = {**problem, "c": 9 - problem["c"]}
    assert (simplicity(MATRIX, problem) == simplicity(MATRIX, other)) == (problem == other)


# The descent.


def sum_exceeds_three(values):
    return sum(values["y"]) / 2 > 3


FIXED = replace(MATRIX, sizes={"n": (3, 3), "d": (2, 2)})
START = {"n": 3, "d": 2, "X": [[4, -3], [2, 2], [-1, 0]], "y": [5, -3, 6], "c": 7}


def test_a_descent_ends_at_fewer_examples_first():
    found = simplified(MATRIX, START, sum_exceeds_three)
    assert found == {"n": 2, "d": 1, "X": [[0], [0]], "y": [4, 4], "c": 8}, "one is at most 3"


def test_the_descent_ends_at_a_simple_problem():
    found = simplified(FIXED, START, sum_exceeds_three)
    assert found["X"] == [[0, 0], [0, 0], [0, 0]]
    assert found["c"] == 8
    assert sum_exceeds_three(found)
    assert found["y"] == [4, 2, 2], "2 + 1 + 1 is the simplest sum of three that exceeds 3"


@settings(max_examples=10)
@given(of_size(MATRIX, {"n": 2, "d": 2}))
def test_every_descent_ends_at_a_counterexample_that_is_no_less_simple(recipe):
    start = recipe["values"]

    def alike(values):
        return (sum(flat(values["X"])) - sum(flat(start["X"]))) % 3 == 0

    found = simplified(MATRIX, start, alike)
    assert alike(found)
    assert simplicity(MATRIX, found) <= simplicity(MATRIX, start)
    assert simplified(MATRIX, found, alike) == found, "nothing is left to do"


def test_two_entries_that_hang_together_change_together():
    """No single entry of y can change alone where their sum must be 0."""
    start = {**START, "n": 2, "X": [[0, 0], [0, 0]], "y": [6, -6], "c": 8}
    found = simplified(MATRIX, start, lambda values: sum(values["y"]) == 0)
    assert found["y"] == [2, -2], "1 − 1"


def test_what_belongs_to_an_index_moves_together():
    """Rows of X and y are exchanged together: the negative label comes last."""

    def paired(values):
        return sorted(zip(map(tuple, values["X"]), values["y"], strict=True)) == [
            ((0, 1), -2),
            ((1, 0), 2),
        ]

    start = {"n": 2, "d": 2, "X": [[0, 1], [1, 0]], "y": [-2, 2], "c": 8}
    found = simplified(MATRIX, start, paired)
    assert found == {**start, "X": [[1, 0], [0, 1]], "y": [2, -2]}


def test_a_descent_looks_at_no_more_problems_than_it_may():
    looked = []

    def violates(values):
        looked.append(values)
        return sum_exceeds_three(values)

    simplified(FIXED, START, violates, looks=10)
    assert len(looked) == 10
    simplified(FIXED, START, violates, over=lambda: len(looked) >= 15)
    assert len(looked) == 15
