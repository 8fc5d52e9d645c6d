"""From a counterexample of exact numbers to a smaller and simpler one: a greedy descent."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from properties.seeking.problems import nested
from properties.seeking.simplicity import flat, simplest_first, simplicity
from verify.explicit import Explicit

Integers = Mapping[str, Any]
Move = Callable[[Explicit, Integers], Iterator[Integers]]

LOOKS = 2_000
"""Problems looked at for one descent, at most."""

_NEAR = 3
"""Of the simplest numbers, which a pair of entries takes."""


def simplified(
    problem: Explicit,
    integers: Integers,
    violates: Callable[[Integers], bool],
    looks: int = LOOKS,
    over: Callable[[], bool] = lambda: False,
) -> Integers:
    """Return the simplest counterexample that steps to ever simpler ones lead to.

    violates: whether a problem is a counterexample, of which `integers` is one. A step leaves out
    what belongs to one index along a size, changes one entry, makes a field's entries equal,
    exchanges or negates what belongs to one index, or changes two entries, in this order, the
    simplest numbers first; it is taken where the problem becomes simpler (`simplicity`) and stays a
    counterexample. Deterministic; it ends where no step is left, or after `looks` problems, or
    when `over`. What it returns may not be the simplest of all: only steps are tried.
    """
    found = integers
    known: dict[str, bool] = {}

    def simpler(candidate: Integers) -> bool:
        if simplicity(problem, candidate) >= simplicity(problem, found):
            return False
        key = json.dumps(candidate, sort_keys=True)
        if key not in known:
            if len(known) >= looks or over():
                return False
            known[key] = violates(candidate)
        return known[key]

    while True:
        before = found
        while (shorter := next(filter(simpler, _shorter(problem, found)), None)) is not None:
            found = shorter
        for moves in _places(problem, found):
            found = next(filter(simpler, moves(problem, found)), found)
        if found is before:
            pairs = _pairs(problem, found)
            found = next(filter(simpler, pairs), found)
        if found is before:
            return found


def _places(problem: Explicit, integers: Integers) -> Iterator[Move]:
    """Yield what can be changed: each entry, each field, each index along each size."""
    for name, field in problem.fields.items():
        if field.shape:
            yield partial(_equal, name=name)
        for place in range(len(flat(integers[name]))):
            yield partial(_entry, name=name, place=place)
    for size in problem.sizes:
        for index in range(integers[size]):
            yield partial(_exchanged, size=size, index=index)
            yield partial(_negated, size=size, index=index)


def _shorter(problem: Explicit, integers: Integers) -> Iterator[Integers]:
    """Yield the problem without what belongs to one index along a size."""
    for size, (low, _) in problem.sizes.items():
        for index in range(integers[size] if integers[size] > low else 0):

            def without(part: list[Any], index: int = index) -> list[Any]:
                return part[:index] + part[index + 1 :]

            yield {**_along(problem, integers, size, without), size: integers[size] - 1}


def _entry(problem: Explicit, integers: Integers, name: str, place: int) -> Iterator[Integers]:
    """Yield the problem with one entry replaced, by the simplest numbers first."""
    entries = flat(integers[name])
    for number in simplest_first(problem.fields[name]):
        if number == entries[place]:
            return
        yield _with(problem, integers, {name: [*entries[:place], number, *entries[place + 1 :]]})


def _equal(problem: Explicit, integers: Integers, name: str) -> Iterator[Integers]:
    """Yield the problem with all entries of a field equal."""
    count = len(flat(integers[name]))
    for number in simplest_first(problem.fields[name]):
        yield _with(problem, integers, {name: [number] * count})


def _exchanged(problem: Explicit, integers: Integers, size: str, index: int) -> Iterator[Integers]:
    """Yield the problem with an index along a size exchanged with each later one."""
    for other in range(index + 1, integers[size]):
        order = list(range(integers[size]))
        order[index], order[other] = other, index

        def exchanged(part: list[Any], order: list[int] = order) -> list[Any]:
            return [part[i] for i in order]

        yield _along(problem, integers, size, exchanged)


def _negated(problem: Explicit, integers: Integers, size: str, index: int) -> Iterator[Integers]:
    """Yield the problem with the entries at an index along a size negated, field by field or in
    all fields that have it."""

    def negative(part: list[Any]) -> list[Any]:
        return [_minus(one) if i == index else one for i, one in enumerate(part)]

    having = [name for name, field in problem.fields.items() if size in field.shape]
    for names in ([having] if len(having) > 1 else []) + [[name] for name in having]:
        candidate = _along(problem, integers, size, negative, names)
        if _allowed(problem, candidate):
            yield candidate


def _pairs(problem: Explicit, integers: Integers) -> Iterator[Integers]:
    """Yield the problem with two entries replaced, by simple numbers or their neighbours."""
    places = [(name, i) for name in problem.fields for i in range(len(flat(integers[name])))]
    for (name, i), (other, j) in itertools.combinations(places, 2):
        first = _near(problem, integers, name, i)
        second = _near(problem, integers, other, j)
        for one, two in itertools.product(first, second):
            changed = {name: flat(integers[name])} | {other: flat(integers[other])}
            changed[name] = [one if k == i else number for k, number in enumerate(changed[name])]
            changed[other] = [two if k == j else number for k, number in enumerate(changed[other])]
            yield _with(problem, integers, changed)


def _near(problem: Explicit, integers: Integers, name: str, place: int) -> list[int]:
    """Return numbers for one entry: the simplest, its neighbours, its negative, and its half."""
    field, now = problem.fields[name], flat(integers[name])[place]
    wanted = {*simplest_first(field)[:_NEAR], now - 1, now + 1, -now, now // 2, 2 * now} - {now}
    return [number for number in simplest_first(field) if number in wanted]


def _with(
    problem: Explicit, integers: Integers, changed: Mapping[str, list[int]]
) -> dict[str, Any]:
    """Return the problem with the entries of some fields, in C order, replaced."""
    shaped = {
        name: nested(entries, [integers[size] for size in problem.fields[name].shape])
        for name, entries in changed.items()
    }
    return {**integers, **shaped}


def _along(
    problem: Explicit,
    integers: Integers,
    size: str,
    change: Callable[[list[Any]], list[Any]],
    names: list[str] | None = None,
) -> dict[str, Any]:
    """Return the problem with every field, or those of `names`, changed along a size."""
    having = [name for name, field in problem.fields.items() if size in field.shape]
    chosen = having if names is None else names
    changed = {
        name: _at_depth(integers[name], problem.fields[name].shape.index(size), change)
        for name in chosen
    }
    return {**integers, **changed}


def _at_depth(entries: Any, depth: int, change: Callable[[list[Any]], list[Any]]) -> Any:
    if depth == 0:
        return change(entries)
    return [_at_depth(one, depth - 1, change) for one in entries]


def _minus(entries: Any) -> Any:
    return [_minus(one) for one in entries] if isinstance(entries, list) else -entries


def _allowed(problem: Explicit, integers: Integers) -> bool:
    allowed = {name: set(simplest_first(field)) for name, field in problem.fields.items()}
    return all(set(flat(integers[name])) <= allowed[name] for name in problem.fields)
