"""The document of a shallow ReLU problem in an exact counterexample, taken apart for printing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Matrix = list[list[str]]


@dataclass(frozen=True)
class Network:
    """A recorded problem, rationals as strings.

    features: (n, d), or None.   gram: (n, n).   labels: n.   start: (m, n), predictions.
    outside: (m, m).   steps: predictions (m, n) at steps 0, 1, ….
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

    @property
    def neurons(self) -> list[str]:
        """What tells the neurons apart: nothing where there is one, ⊕ and ⊖ where there are two."""
        return [""] if len(self.signs) == 1 else ["⊕" if sign > 0 else "⊖" for sign in self.signs]


def network_of(exact: Mapping[str, Any]) -> Network | None:
    """Return the ReLU problem that an "exact" entry documents, or None where it is something else:
    another theorem's problem, or one whose sizes do not fit."""
    problem, steps = exact.get("problem"), exact.get("steps")
    if not isinstance(problem, dict) or not isinstance(steps, list) or not steps:
        return None
    found = Network(**{name: problem.get(name) for name in _ENTRIES}, steps=steps)
    return found if _fits(found) else None


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
