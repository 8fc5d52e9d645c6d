"""Columns of the features that tell the labels on their own: the labels themselves, left among the
features, or what they were made from."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from math import exp, lgamma, log
from typing import Any

import numpy as np

CHANCE = 1e-3
"""Expected number of columns of chance that tell as much, up to which one is told of [H]."""

FEWEST_ROWS = 4
MOST_VALUES = 20

_LINEAR = 1e-6
"""Residual, relative to the column's own spread, of a column that counts as linear in the labels:
what is left where a table has few decimals."""

_COMPARED = 6
"""Rows of two labels that are compared before columns are sorted, which takes longer."""

_ENTRIES = 1 << 22
"""Entries that are looked at together."""

Floats = np.ndarray[Any, Any]
Masks = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Telling:
    """A column of the features, by number from 1, and how it tells the labels."""

    column: int
    how: str


def telling_columns(X: Floats, y: Floats) -> tuple[Telling, ...]:
    """Return the columns of X, (n, d), that tell the labels y, (n,), and hardly by chance.

    Such a column is linear in the labels, or they are a monotone function of it, or it has few
    values and each of them one label.
    """
    if len(y) < FEWEST_ROWS or (y == y[0]).all():
        return ()
    width = max(1, _ENTRIES // len(y))
    blocks = [X[:, first : first + width] for first in range(0, X.shape[1], width)]
    suspects = np.concatenate([_suspects(block, y) for block in blocks])
    if not suspects.any():
        return ()
    values = np.concatenate([_distinct(block) for block in blocks])
    found = []
    for place in np.flatnonzero(suspects):
        alike = 1 + int((~suspects & (values <= values[place])).sum())
        how = _how(X[:, place], y, int(values[place]), alike)
        if how:
            found.append(Telling(int(place) + 1, how))
    return tuple(found)


def _suspects(block: Floats, y: Floats) -> Masks:
    """Return the mask of the columns that tell the labels, by chance or not."""
    few = _few_whole(block, y)
    mask = _rises(block, y) | _rises(-block, y) | _is_linear(block, y)
    mask[few] |= np.array([_each_has_one_label(column, y) for column in block[:, few].T], bool)
    return np.asarray(mask & (block != block[0]).any(axis=0))


def _rises(block: Floats, y: Floats) -> Masks:
    """Whether every row of a larger label has a larger value than every row of a smaller one."""
    order = np.argsort(y, kind="stable")
    starts = np.flatnonzero(np.diff(y[order], prepend=-np.inf))
    low = np.minimum.reduceat(block[order], starts, axis=0)
    high = np.maximum.reduceat(block[order], starts, axis=0)
    return np.asarray((high[:-1] < low[1:]).all(axis=0))


def _is_linear(block: Floats, y: Floats) -> Masks:
    """Whether a column is a·y + b."""
    spread, centred = block - block.mean(axis=0), y - y.mean()
    slope = centred @ spread / (centred @ centred)
    missed = np.linalg.norm(spread - np.outer(centred, slope), axis=0)
    return np.asarray(missed <= _LINEAR * np.linalg.norm(spread, axis=0))


def _few_whole(block: Floats, y: Floats) -> Floats:
    """Return the places of the columns of few whole numbers, as codes of classes are, but for most
    of those of which a value has two labels."""
    one = np.flatnonzero(y == y[0])[:_COMPARED]
    other = np.flatnonzero(y != y[0])[:_COMPARED]
    left = np.ones(block.shape[1], dtype=bool)
    for i, j in itertools.product(one, other):
        left &= block[i] != block[j]
    whole = np.flatnonzero(left)
    whole = whole[(block[:, whole] == np.round(block[:, whole])).all(axis=0)]
    few = _distinct(block[:, whole]) <= min(MOST_VALUES, len(block) // 2)
    return np.asarray(whole[few])


def _distinct(block: Floats) -> Floats:
    """Return how many values each column has."""
    return np.asarray(1 + (np.diff(np.sort(block, axis=0), axis=0) != 0).sum(axis=0))


def _each_has_one_label(column: Floats, y: Floats) -> bool:
    _, first, group = np.unique(column, return_index=True, return_inverse=True)
    return bool((y[first][group] == y).all())


def _how(column: Floats, y: Floats, values: int, alike: int) -> str:
    """Say how a column tells the labels; "" where chance may do as well.

    values: how many it has.   alike: how many columns have as many at most, with this one and
    without others that tell the labels.
    """
    linear = bool(_is_linear(column[:, None], y)[0])
    in_order = linear or bool((_rises(column[:, None], y) | _rises(-column[:, None], y))[0])
    levels, counts = np.unique(y, return_counts=True)
    # Of all arrangements of the labels: two are in order, and so many constant on every value.
    fitting = 2.0 if in_order else float(len(levels)) ** values
    arrangements = lgamma(len(y) + 1) - sum(lgamma(count + 1) for count in counts)
    by_chance = exp(min(0.0, log(alike * fitting) - arrangements))
    no_chance = linear and (alike == 1 or values == len(y))
    if not (no_chance or by_chance <= CHANCE):
        return ""
    if (column == y).all():
        return "equals the labels"
    if linear and np.linalg.norm(column - column @ y / (y @ y) * y) <= _LINEAR * np.linalg.norm(y):
        return "is a multiple of the labels"
    if linear and len(levels) > 2:
        return "is the labels times a number plus another"
    if in_order and len(levels) == len(y):
        return "has the order of the labels"
    return "tells every label" + (" by a threshold" * (in_order and len(levels) == 2))
