"""A counterexample as a block of LaTeX: for a bare article with amsmath, ASCII alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from reports.counterexamples.displays import (
    MOST_COLUMNS,
    by_columns,
    decimals,
    display,
    equal,
    itemized,
    matrix,
    rational,
    relation,
    vector,
)
from reports.counterexamples.floating import floating, sentence
from reports.counterexamples.network import WIDEST, Network, network_of
from reports.counterexamples.numbers import is_long, rounded, small
from reports.counterexamples.sides import sides_of
from reports.counterexamples.tex import prose, typewriter
from verify.counterexample import Counterexample
from verify.theorem import Theorem


def latex(example: Counterexample, theorem: Theorem) -> str:
    """Return a block that compiles within \\begin{document} of an article with amsmath.

    theorem: the example's.   Of a counterexample that is known in floating point alone it tells
    the problem and both sides of the inequality, as `floating` does.   Raises UnknownName for an
    assumption that the theorem does not have.
    """
    return "\n".join(_block(example, theorem)) + "\n"


def _block(example: Counterexample, theorem: Theorem) -> Iterator[str]:
    yield "% needs \\usepackage{amsmath}"
    yield "\\begingroup\\sloppy\\allowdisplaybreaks"
    yield f"\\paragraph{{Counterexample}} to {typewriter(example.claim)}"
    yield f"({typewriter(example.theorem)}; {prose(theorem.citation.rstrip('.'))})."
    exact = example.exact
    yield from _claimed(example, theorem)
    if exact is None:
        yield from floating(example, theorem)
        yield "\\par\\endgroup"
        return
    network = network_of(exact)
    if network is not None:
        yield from _data(network)
        yield from _steps(network)
        yield from _ends(network)
    yield from _violated(exact["claim"])
    yield from _assumptions(example, theorem, exact)
    yield "\\par\\endgroup"


def _claimed(example: Counterexample, theorem: Theorem) -> Iterator[str]:
    """Yield what is claimed. A control is claimed of its own ensemble, which the instance need not
    be of: where the inequality is known, that alone is told."""
    reads = "" if example.exact is None else example.exact["claim"]["reads"]
    if reads and any(control.id == example.claim for control in theorem.controls):
        yield f"The statement, a control that is known to be false, is {prose(reads)}."
    else:
        yield prose(example.statement)


def _data(network: Network) -> Iterator[str]:
    """Yield the problem as one display."""
    wide = network.features is None or len(network.features[0]) > WIDEST
    rows = network.gram if wide else network.features or []
    if len(rows[0]) > MOST_COLUMNS:
        yield f"\\setcounter{{MaxMatrixCols}}{{{len(rows[0])}}}"
    parts = ["G = XX^{\\top}"] if wide else []
    parts += [*by_columns("G" if wide else "X", rows), vector("y", network.labels)]
    names = zip(_neurons(network), _names(network), network.start, strict=True)
    for neuron, one, start in names:
        parts.append(vector(f"\\beta{neuron}^{{(0)}} = X {_at(one, '0')}", start))
    parts.append(equal("\\eta", network.step_size))
    parts.append(f"\\varphi'(0) = {network.slope_at_zero}")
    yield from display(parts)
    if any(entry != "0" for row in network.outside for entry in row):
        yield "Inner products of the starts' parts outside the span of the data:"
        yield from display([matrix(network.outside)])


def _steps(network: Network) -> Iterator[str]:
    """Yield the predictions after each step."""
    yield "Predictions after the first steps of gradient descent:"
    for place, neuron in enumerate(_neurons(network)):
        yield from display(
            [
                vector(f"\\beta{neuron}^{{({number})}}", step[place])
                for number, step in enumerate(network.steps)
            ]
        )


def _neurons(network: Network) -> list[str]:
    return [f"_{{{name}}}" if name else "" for name in _names(network)]


def _names(network: Network) -> list[str]:
    """Return what tells neurons apart within a subscript."""
    if len(network.signs) == 1:
        return [""]
    return ["\\oplus" if sign > 0 else "\\ominus" for sign in network.signs]


def _at(name: str, time: str) -> str:
    """Return the weights at a time, w_0 or w_{\\oplus,\\infty}."""
    return f"w_{{{f'{name},' if name else ''}{time}}}"


def _ends(network: Network) -> Iterator[str]:
    """Yield where descent ends and what it is compared with, as weights or as predictions."""
    best, limit, start = network.comparator_duals, network.limit_duals, network.starting_duals
    if best is None:
        return
    names, neurons = _names(network), _neurons(network)
    known = []
    if network.comparator == "nearest_minimum":
        meant = "the global minimum nearest to the start"
        known.append(([_at(name, "0") for name in names], start))
        symbols = [f"\\tilde{{w}}{neuron}" for neuron in neurons]
    else:
        meant = "the minimum-norm global minimum"
        symbols = [f"w{neuron}^{{\\star}}" for neuron in neurons]
    known += [([_at(name, "\\infty") for name in names], limit), (symbols, best)]
    yield f"{'With' if limit is None else 'With the limit of descent and'} {meant}:"
    product = "" if network.has_weights else "X "
    yield from display(
        [
            vector(product + symbol, row)
            for symbols, duals in known
            if duals is not None
            for symbol, row in zip(symbols, network.vectors(duals), strict=True)
        ]
    )


def _violated(claim: Mapping[str, Any]) -> Iterator[str]:
    reads = f", {prose(claim['reads'])}," if claim["reads"] else ""
    yield f"Here the inequality{reads} is violated:"
    unless = "\\not<" if claim["strict"] else "\\not\\le"
    left, right = claim["left"], claim["right"]
    sides = f"{rational(left)} {unless} {rational(right)}"
    if not (is_long(left) or is_long(right)):
        fractions = any("/" in side and small(side) is None for side in (left, right))
        values = f"{decimals(rounded(left))} > {decimals(rounded(right))}"
        close = rounded(left) == rounded(right)
        about = [f"\\text{{about }} {values}"] if fractions and not close else []
        yield from display([sides, *about])
        return
    by = f"\\text{{by about }} {decimals(rounded(abs(Fraction(left) - Fraction(right))))}"
    yield from display([f"{sides} \\ (\\approx)", by])


def _assumptions(
    example: Counterexample, theorem: Theorem, exact: Mapping[str, Any]
) -> Iterator[str]:
    """Yield lists of what holds, of what was dropped, and of what is not exact."""
    known = exact["assumptions"]
    recorded = {one["id"] for one in known}
    lists = {
        "These assumptions hold:": [_told(theorem, one) for one in known if not one["dropped"]],
        "These assumptions hold in floating point, beyond rounding, and have no exact form:": [
            sentence(theorem, name) for name in exact["not_exact"]
        ],
        "Dropped:": [_told(theorem, one) for one in known if one["dropped"]],
        "Dropped, without exact value:": [
            sentence(theorem, name) for name in example.without if name not in recorded
        ],
    }
    for heading, items in lists.items():
        yield from itemized(heading, items)


def _told(theorem: Theorem, one: Mapping[str, Any]) -> str:
    """Return an assumption's sentence, and both of its sides on the instance."""
    sides = sides_of(one)
    sign = {"≤": "\\le", "<": "<", "≥": "\\ge", ">": ">"}[sides.relation]
    quantity = _side(sides.quantity_name, sides.quantity)
    bound = _side(sides.bound_name, sides.bound)
    when = f" {sides.when}" if sides.when else ""
    if one["holds"]:
        told = f"{quantity} ${sign}$ {bound}{when}"
    else:
        told = f"{quantity}, where ${sign}$ {bound} is required{when}"
    return f"{sentence(theorem, one['id'])} Here {told}."


def _side(name: str, number: str) -> str:
    """Return "name = number" in running text; the number alone where there is no name."""
    value = f"{relation(number)} {rational(number)}"
    return f"{_quantity(name)} ${value}$" if name else f"${value.removeprefix('= ')}$"


def _quantity(name: str) -> str:
    """Return what a side is called, the letters that stand alone in it as mathematics."""
    return re.sub(r"(?<![A-Za-z\\{_])[A-Za-z](?![A-Za-z_}])", r"\\ensuremath{\g<0>}", prose(name))
