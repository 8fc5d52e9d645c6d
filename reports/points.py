"""How many points something was measured at, in the same words in every report."""

from __future__ import annotations

from collections.abc import Sequence

from reports.typography import Part


def has_value(cell: Part) -> bool:
    """Say whether anything was measured at a point: a frequency, or a quantity of some trial."""
    return cell.get("frequency") is not None or cell["in_scope"] > cell["unknown"]


def at_points(cells: Sequence[Part]) -> str:
    """Return "at 14 points, 7 of them without a value"."""
    return f"at {len(cells)} point{'s' * (len(cells) > 1)}{_without_value(cells)}"


def count_of_points(cells: Sequence[Part]) -> str:
    """Return "14, 7 of them without a value"."""
    return f"{len(cells)}{_without_value(cells)}"


def _without_value(cells: Sequence[Part]) -> str:
    without = sum(not has_value(cell) for cell in cells)
    if without == len(cells):
        return ", without a value" if len(cells) == 1 else ", all of them without a value"
    return f", {without} of them without a value" * bool(without)
