"""What LaTeX tells of a counterexample that is known in floating point alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from reports.counterexamples.displays import (
    MOST_COLUMNS,
    by_columns,
    decimals,
    display,
    equal,
    itemized,
    vector,
)
from reports.counterexamples.instances import family_of, instance
from reports.counterexamples.network import WIDEST
from reports.counterexamples.readable import TRIED
from reports.counterexamples.sides import sides_in_floating_point
from reports.counterexamples.tex import prose, typewriter
from reports.typography import fact_name
from verify.counterexample import SIDES, Counterexample
from verify.explicit import Explicit
from verify.theorem import Theorem

Rows = list[list[Fraction]]


def floating(example: Counterexample, theorem: Theorem) -> Iterator[str]:
    """Yield lines on the instance, on both sides of the inequality, and on the assumptions.

    The numbers of a small problem are exact, and what is made of them is not: both are told. Of
    what is drawn, point and seed are told, and the data where they are small.
    """
    family, facts = family_of(theorem, example), example.facts
    if family is None:
        told = instance(theorem, example)
        yield f"{prose(told[:1].upper() + told[1:])}."
    else:
        yield "The problem is made of these numbers, which are exact:"
        integers = example.recipe["values"]
        yield from display(list(_entered(family, integers)))
        facts = {n: fact for n, fact in facts.items() if not _is_entered(family, integers, n, fact)}
    yield from _facts(facts)
    yield from _violated(example)
    yield from _assumptions(example, theorem)


def sentence(theorem: Theorem, name: str) -> str:
    """Return an assumption's name and statement. Raises UnknownName where there is none."""
    return f"{typewriter(name)}: {prose(theorem.assumption(name).statement)}"


def _entered(family: Explicit, integers: Mapping[str, Any]) -> Iterator[str]:
    """Yield "name = value" of the sizes and entries of a problem of exact numbers."""
    for size in family.sizes:
        yield equal(_symbol(size), Fraction(integers[size]))
    for name, field in family.fields.items():
        yield from _equations(_symbol(field.symbol or name), integers[name], field.denominator)


def _is_entered(family: Explicit, integers: Mapping[str, Any], name: str, fact: Any) -> bool:
    """Say whether a fact tells an entry of the problem again, under its name."""
    field = family.fields.get(name)
    if field is None:
        return name in family.sizes and fact == integers[name]
    entered = np.asarray(integers[name]) / field.denominator
    return bool(np.array_equal(entered, np.asarray(fact, dtype=object)))


def _facts(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield the facts: numbers in one display, words in sentences, and what has no room here."""
    parts: list[str] = []
    words: list[str] = []
    left_out: list[str] = []
    widest = 0
    for name, value in _worth_telling(facts):
        if isinstance(value, str):
            words.append(f"{prose(fact_name(name))}: {prose(value.rstrip('.'))}.")
            continue
        symbol, numbers = _named(name, value, facts)
        rows = _shown(numbers)
        if rows is None:
            left_out.append(name)
            continue
        widest = max(widest, len(rows[0]))
        parts += _equations(symbol, numbers)
    if widest > MOST_COLUMNS:
        yield f"\\setcounter{{MaxMatrixCols}}{{{widest}}}"
    if parts:
        yield "In floating point:"
        yield from display(parts)
    yield from words
    if left_out:
        yield f"Not shown here, and in its record: {', '.join(map(typewriter, left_out))}."


_SYMBOLS = {
    "features": "X",
    "gram": "G = XX^{\\top}",
    "labels": "y",
    "starting_predictions": "\\beta^{(0)} = X w_0",
    "step_size": "\\eta",
}
"""Of the facts of a ReLU problem."""


def _named(name: str, value: Any, facts: Mapping[str, Any]) -> tuple[str, Any]:
    """Return the symbol of a fact, and its numbers as they stand beside it."""
    if name not in _SYMBOLS or not _is_network(facts):
        return _symbol(name), value
    return _start(value) if name == "starting_predictions" else (_SYMBOLS[name], value)


def _start(value: Any) -> tuple[str, Any]:
    """Return what starting predictions (m, n) are called, and a column for each neuron."""
    rows = value if isinstance(value, list) else [value]
    if len(rows) == 1 or not all(isinstance(row, list) for row in rows):
        return _SYMBOLS["starting_predictions"], rows[0] if len(rows) == 1 else value
    lengths = {len(row) for row in rows}
    columns = [list(column) for column in zip(*rows, strict=True)] if len(lengths) == 1 else value
    return "\\bigl(X w_{k,0}\\bigr)_{k = 1, \\ldots, " + f"{len(rows)}}}", columns


def _is_network(facts: Mapping[str, Any]) -> bool:
    return "starting_predictions" in facts


def _worth_telling(facts: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the facts, data first, without those that say nothing beside the others."""
    network = _is_network(facts)
    data = [name for name in _SYMBOLS if network and name in facts]
    for name in (*data, *(name for name in facts if name not in data)):
        value = facts[name]
        implied = name == "gram" and _shown(facts.get("features")) is not None
        usual = (name == "perpendicular_gram" and not any(_flat(value))) or (
            name == "signs" and _flat(value) == [1.0]
        )
        nothing = value is None or value == [] or isinstance(value, Mapping)
        if name not in (TRIED, SIDES) and not (nothing or (network and (implied or usual))):
            yield name, value


def _shown(value: Any) -> Rows | None:
    """Return the rows of numbers that have room here, else None."""
    try:
        rows = _rows(value)
    except (TypeError, ValueError, OverflowError):  # no numbers, or not all of them
        return None
    return rows if max(len(rows), len(rows[0])) <= WIDEST else None


def _flat(value: Any) -> list[Any]:
    return [one for part in value for one in _flat(part)] if isinstance(value, list) else [value]


def _equations(symbol: str, value: Any, denominator: int = 1) -> Iterator[str]:
    """Yield "symbol = value" of a number, of a vector as a column, or of a matrix."""
    rows = [[entry / denominator for entry in row] for row in _rows(value)]
    if not isinstance(value, list):
        yield equal(symbol, rows[0][0])
    elif isinstance(value[0], list):
        yield from by_columns(symbol, rows)
    else:
        yield vector(symbol, rows[0])


def _rows(value: Any) -> Rows:
    """Return a number, a vector or a matrix as rows. Raises TypeError, ValueError or OverflowError
    for anything else."""
    table: Sequence[Any] = value if isinstance(value, list) else [value]
    rows = table if table and all(isinstance(row, list) for row in table) else [table]
    found = [[Fraction(entry) for entry in row] for row in rows]
    if not all(found) or len({len(row) for row in found}) > 1:
        raise ValueError("no matrix")
    return found


def _symbol(name: str) -> str:
    """Return a name within mathematics: a letter with its scripts as it is, words upright."""
    shown = prose(name)
    if len(name) == 1 or shown.startswith("\\ensuremath"):
        return shown
    return f"\\text{{{prose(fact_name(name))}}}"


def _violated(example: Counterexample) -> Iterator[str]:
    margin = decimals(f"{example.margin:.6g}")
    known = f"Known in floating point, with margin ${margin}$"
    sides = sides_in_floating_point(example)
    if sides is None:
        yield f"{known}."
        return
    left, right = map(decimals, sides)
    yield f"{known}: the inequality that is claimed is violated there, its sides being"
    yield from display([f"{left} \\not\\le {right}"])


def _assumptions(example: Counterexample, theorem: Theorem) -> Iterator[str]:
    """Yield lists of the assumptions that hold, and of those that were dropped."""
    known = example.severity.get("assumptions") or ()
    held = [one["assumption"] for one in known if (one["role"], one["state"]) == _HELD]
    lists = {
        "These assumptions hold in floating point, beyond rounding:": held,
        "Dropped:": example.without,
    }
    for heading, names in lists.items():
        yield from itemized(heading, [sentence(theorem, name) for name in names])


_HELD = ("scope", "holds")
