"""Small problems of one size, the simplest numbers first."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from properties.seeking.simplicity import simplest_first
from properties.strategies import Recipe
from verify.explicit import Explicit, Field

_FEW = 6
"""Of the simplest numbers, from which half of all entries are drawn."""


def sizes_of(problem: Explicit) -> Iterator[dict[str, int]]:
    """Yield the sizes that a problem can have, in lexicographic order of its own."""
    ranges = (range(low, high + 1) for low, high in problem.sizes.values())
    for sizes in itertools.product(*ranges):
        yield dict(zip(problem.sizes, sizes, strict=True))


def of_size(problem: Explicit, sizes: Mapping[str, int]) -> st.SearchStrategy[Recipe]:
    """Draw problems of just these sizes: the recipes of "small" and "explicit" counterexamples.

    Every other entry is one of the simplest numbers, and every other field has equal entries, or
    two to choose from: problems that people would write down are met more often than by chance.
    """
    entries = {
        name: _array(field, [sizes[size] for size in field.shape])
        for name, field in problem.fields.items()
    }
    return st.fixed_dictionaries(entries).map(lambda drawn: {"values": {**sizes, **drawn}})


def _array(field: Field, shape: list[int]) -> st.SearchStrategy[Any]:
    entry, count = _entry(field), math.prod(shape)
    if not shape:
        return entry
    equal = entry.map(lambda number: [number] * count)
    two = st.tuples(entry, entry).flatmap(lambda pair: _lists(st.sampled_from(pair), count))
    return st.one_of(equal, _lists(entry, count), two).map(lambda flat: nested(flat, shape))


def _lists(entry: st.SearchStrategy[int], count: int) -> st.SearchStrategy[list[int]]:
    return st.lists(entry, min_size=count, max_size=count)


def _entry(field: Field) -> st.SearchStrategy[int]:
    """Draw an entry: one of the simplest, or any; each an integer that a search can step along."""
    known = simplest_first(field)
    return st.sampled_from(known[:_FEW]) | st.sampled_from(sorted(known))


def nested(flat: Sequence[int], shape: Sequence[int]) -> Any:
    """Return the entries of an array, in C order, as nested lists; of shape (), as the entry."""
    if not shape:
        return flat[0]
    if len(shape) == 1:
        return list(flat)
    step = len(flat) // shape[0]
    return [nested(flat[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]
