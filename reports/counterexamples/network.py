"""The document of a shallow ReLU problem in an exact counterexample, taken apart for printing."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

Matrix = list[list[str]]
Duals = list[list[Fraction]]

WIDEST = 20
"""Features of the widest data whose weights are printed, and in LaTeX the data."""


@dataclass(frozen=True)
class Network:
    """A recorded problem, rationals as strings.

    features: (n, d), or None.   gram: (n, n).   labels: n.   start: (m, n), predictions.
    outside: (m, m).   steps: predictions (m, n) at steps 0, 1, ….   starting_duals, limit_duals,
    comparator_duals: (m, n), α of w_0, w_∞ and of the comparator, or None where one is not known.
    comparator: "minimum_norm", "nearest_minimum", or "" where there is none.
    """

    features: Matrix | None
    gram: Matrix
    labels: list[str]
    start: Matrix
    signs: list[int]
    step_size: str
    slope_at_zero: int
    outside: Matrix
    steps: list[Matrix]
    starting_duals: Duals | None = None
    limit_duals: Duals | None = None
    comparator_duals: Duals | None = None
    comparator: str = ""

    @property
    def neurons(self) -> list[str]:
        """What tells the neurons apart: nothing where there is one, ⊕ and ⊖ where there are two."""
        return [""] if len(self.signs) == 1 else ["⊕" if sign > 0 else "⊖" for sign in self.signs]

    @property
    def has_weights(self) -> bool:
        """Whether duals give all of the weights, w = Xᵀα, and these are few enough to print."""
        if self.features is None or len(self.features[0]) > WIDEST:
            return False
        return all(entry == "0" for row in self.outside for entry in row)

    def vectors(self, duals: Duals) -> Duals:
        """Return the weights w = Xᵀα of duals α, (m, d), if it `has_weights`; else their
        predictions Gα, (m, n)."""
        columns = self.features if self.has_weights and self.features else self.gram
        known = [[Fraction(entry) for entry in row] for row in columns]
        return [
            [
                sum(map(operator.mul, alpha, column), start=Fraction())
                for column in zip(*known, strict=True)
            ]
            for alpha in duals
        ]


def network_of(exact: Mapping[str, Any]) -> Network | None:
    """Return the ReLU problem that an "exact" entry documents, or None where it is something else:
    another theorem's problem, or one whose sizes do not fit."""
    problem, steps = exact.get("problem"), exact.get("steps")
    if not isinstance(problem, dict) or not isinstance(steps, list) or not steps:
        return None
    entries: dict[str, Any] = {name: problem.get(name) for name in _ENTRIES}
    found = Network(**entries, steps=steps)
    return replace(found, **_ends(found, exact)) if _fits(found) else None


def _ends(network: Network, exact: Mapping[str, Any]) -> dict[str, Any]:
    """Return the duals of start, limit and comparator, as far as they are recorded."""
    start = _duals(network, exact["problem"].get("starting_duals"))
    if start is None:
        return {}
    known: dict[str, Any] = {"starting_duals": start}
    if isinstance(final := exact.get("final"), dict):
        change = _duals(network, final.get("limit_change"))
        known["limit_duals"] = None if change is None else _sum(start, change)
    if isinstance(best := exact.get("comparator"), dict) and best.get("name") in COMPARATORS:
        duals = _duals(network, best.get("duals"))
        if duals is not None and best["name"] == "nearest_minimum":  # those of w̃ − w_0
            duals = _sum(start, duals)
        known |= {"comparator": best["name"], "comparator_duals": duals}
    return known


COMPARATORS = ("minimum_norm", "nearest_minimum")


def _duals(network: Network, entries: Any) -> Duals | None:
    if not _is_matrix(entries, len(network.signs), len(network.labels)):
        return None
    return [list(map(Fraction, row)) for row in entries]


def _sum(one: Duals, other: Duals) -> Duals:
    return [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(one, other, strict=True)]


_ENTRIES = (
    "features",
    "gram",
    "labels",
    "start",
    "signs",
    "step_size",
    "slope_at_zero",
    "outside",
)


def _fits(network: Network) -> bool:
    """Say whether all entries are there and of the sizes that `Network` states."""
    if not _is_row(network.labels) or not isinstance(network.signs, list):
        return False
    n, m = len(network.labels), len(network.signs)
    tables = [(network.gram, n, n), (network.start, m, n), (network.outside, m, m)]
    tables += [(step, m, n) for step in network.steps]
    return (
        all(type(sign) is int and sign in (-1, 1) for sign in network.signs)
        and all(_is_matrix(entries, rows, columns) for entries, rows, columns in tables)
        and (network.features is None or _is_matrix(network.features, n))
        and type(network.step_size) is str
        and network.slope_at_zero in (0, 1)
    )


def _is_row(entries: Any) -> bool:
    return isinstance(entries, list) and bool(entries) and all(type(e) is str for e in entries)


def _is_matrix(entries: Any, rows: int, columns: int | None = None) -> bool:
    """Say whether these are so many rows, at least one, of equal length."""
    if not isinstance(entries, list) or len(entries) != rows or not all(map(_is_row, entries)):
        return False
    widths = {len(row) for row in entries}
    return widths == {columns} if columns is not None else len(widths) == 1
