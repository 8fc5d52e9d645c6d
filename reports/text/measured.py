"""What a run prints of measures and chains, which are reported and not judged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from reports.points import at_points
from verify.verdict import Verdicts

SHOWN = 4
"""Lines of a figure whose thresholds are printed; the report has them all."""


def measured_lines(verdicts: Verdicts) -> list[str]:
    """Return one or two lines for each measure of a theorem, and one for its chain."""
    lines = []
    for found in verdicts.measured:
        part = found.to_json()
        told = _frequency if part["kind"] == "frequency" else _quantiles
        lines.append(f"{'measured':<13}{part['full_id']}  {told(part)}")
        if part["thresholds"]:
            lines.append(f"{'':<13}{_thresholds(part)}")
    if verdicts.chain is not None:
        lines.append(_chain(verdicts.chain.to_json()))
    return lines


def _frequency(part: dict[str, Any]) -> str:
    cells = [cell for cell in part["cells"] if cell["in_scope"]]
    if not cells:
        return "none in scope"
    bounds = [
        math.floor(min(cell["low"] for cell in cells) * 1e4) / 1e4,
        math.ceil(max(cell["high"] for cell in cells) * 1e4) / 1e4,
    ]
    known = _span([cell["frequency"] for cell in cells], ".4f")
    return f"{_counts(part, 'holds')}  P = {known} in [{bounds[0]:.4f}, {bounds[1]:.4f}]"


def _quantiles(part: dict[str, Any]) -> str:
    cells = [cell for cell in part["cells"] if cell["unknown"] < cell["in_scope"]]
    if not cells:
        return "none measured in scope"
    unit = "" if part["unit"] == "dimensionless" else f" {part['unit']}"
    told = [f"mean {_span([cell['mean'] for cell in cells])}{unit}"]
    for place, level in enumerate(quantile["level"] for quantile in cells[0]["quantiles"]):
        found = [cell["quantiles"][place] for cell in cells]
        text = f"{level:.4g}-quantile {_span([each['value'] for each in found])}"
        if len(cells) == 1:
            text += f" in [{_outward(found[0]['low'], -1)}, {_outward(found[0]['high'], 1)}]"
        told.append(text)
    return f"{_counts(part, 'measured')}  {', '.join(told)}"


def _counts(part: dict[str, Any], what: str) -> str:
    """Return the counts of one cell as verdict lines have them, or else the number of cells."""
    if len(part["cells"]) > 1:
        return at_points(part["cells"])
    (cell,) = part["cells"]
    count = cell["holds"] if what == "holds" else cell["in_scope"] - cell["unknown"]
    return f"{count}/{cell['in_scope']}/{cell['trials']}"


def _span(values: Sequence[float | None], form: str = ".4g") -> str:
    """Return the only value, or the least and the greatest; null where one is not finite."""
    known = sorted(value for value in values if value is not None)
    if len(known) < len(values):
        return "not finite"
    ends = dict.fromkeys((known[0], known[-1]))
    return " … ".join(format(end, form) for end in ends)


def _outward(bound: float | None, side: int) -> str:
    """Return a bound to four digits, rounded away from what it bounds, so that it stays true."""
    if bound is None:
        return "?"
    unit = 10.0 ** (math.floor(math.log10(abs(bound))) - 3) if bound else 1.0
    return f"{side * math.ceil(side * bound / unit) * unit:.4g}"


def _thresholds(part: dict[str, Any]) -> str:
    """Say where each line of the figure passes the levels."""
    by_line: dict[Any, list[str]] = {}
    for found in part["thresholds"]:
        by_line.setdefault(found["line"], []).append(_threshold(found))
    told = [
        f"{part['by']}={line}: {', '.join(found)}" if part["by"] else ", ".join(found)
        for line, found in by_line.items()
    ]
    more = [f"{len(told) - SHOWN} more in the report"] if len(told) > SHOWN else []
    return f"P passes, along {part['abscissa']}: {'; '.join(told[:SHOWN] + more)}"


def _threshold(found: dict[str, Any]) -> str:
    level, low, high = f"{found['level']:.4g}", found["low"], found["high"]
    if not found["monotone"]:
        return f"{level} nowhere (it falls)"
    if low is not None and high is not None:
        return f"{level} between {low:.4g} and {high:.4g}"
    if low is not None:
        return f"{level} above {low:.4g}"
    return f"{level} not located" if high is None else f"{level} at {high:.4g} or below"


def _chain(part: dict[str, Any]) -> str:
    """Say in how many trials the chain holds, at the theorem's cells and control by control."""
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for cell in part["cells"]:
        groups.setdefault(tuple(cell["controls"]), []).append(cell)
    told = []
    for controls, cells in sorted(groups.items()):
        total = sum(cell["trials"] for cell in cells)
        holds = sum(cell["holds"] for cell in cells)
        first = [sum(counts) for counts in zip(*(cell["first"] for cell in cells), strict=True)]
        broken = [
            f"{link['id']} breaks first in {count}"
            for link, count in zip(part["links"], first, strict=True)
            if count
        ]
        if undecided := sum(cell["undecided"] for cell in cells):
            broken.append(f"{undecided} undecided")
        where = f"at {', '.join(controls)} " if controls else ""
        told.append(", ".join([f"{where}all links hold in {holds}/{total}", *broken]))
    return f"{'chain':<13}{part['theorem']}  {'; '.join(told)}"
