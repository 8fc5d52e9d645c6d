"""Which of two problems of exact numbers is the simpler: a total order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from verify.explicit import Explicit, Field


def height(number: Fraction) -> int:
    """Return |p| + q − 1 of a number p/q in lowest terms: |p| of an integer, q of 1/q."""
    return abs(number.numerator) + number.denominator - 1


def simplicity(problem: Explicit, integers: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the key of a total order of the problems of one family; the least is the simplest.

    Compared are, one after the other: the sizes, in the family's order; how many entries are 0
    where that is the least simple number (`Field.zero_last`); the sum of the heights of all
    entries; in how many entries the fields differ from having equal ones (their different
    values, counted field by field); how many entries are negative; and the entries themselves in
    the family's order, the larger the simpler: (1, 0) before (0, 1), (1, −1) before (−1, 1).
    """
    numbers = {name: list(_numbers(problem, name, integers)) for name in problem.fields}
    every = [number for entries in numbers.values() for number in entries]
    return (
        tuple(integers[size] for size in problem.sizes),
        sum(
            not number
            for name, field in problem.fields.items()
            if field.zero_last
            for number in numbers[name]
        ),
        sum(map(height, every)),
        sum(len(set(entries)) for entries in numbers.values()),
        sum(number < 0 for number in every),
        tuple(-number for number in every),
    )


def simplest_first(field: Field) -> list[int]:
    """Return the integers that a field allows, those of the simplest numbers first."""
    known = [i for i in range(field.low, field.high + 1) if i or not field.nonzero]

    def rank(integer: int) -> tuple[Any, ...]:
        last = field.zero_last and integer == 0
        return (last, *_rank(Fraction(integer, field.denominator)))

    return sorted(known, key=rank)


def _rank(number: Fraction) -> tuple[int, bool, int]:
    return height(number), number < 0, number.denominator


def _numbers(problem: Explicit, name: str, integers: Mapping[str, Any]) -> Iterator[Fraction]:
    for integer in flat(integers[name]):
        yield Fraction(integer, problem.fields[name].denominator)


def flat(entries: Any) -> list[int]:
    """Return the entries of nested lists, or of one number, in C order."""
    if isinstance(entries, list | tuple):
        return [number for one in entries for number in flat(one)]
    return [entries]
