"""A counterexample as a block of LaTeX: for a bare article with amsmath, ASCII alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from reports.counterexamples.network import Network, network_of
from reports.counterexamples.numbers import LONGEST, exactly
from reports.counterexamples.tex import prose, typewriter
from verify.confirm import decimal
from verify.counterexample import Counterexample

_WIDEST = 20
"""Columns of the widest matrix that is printed; the Gram matrix stands for wider features."""

_MOST_COLUMNS = 10
"""What amsmath's matrices have, unless MaxMatrixCols says otherwise."""


def latex(example: Counterexample) -> str:
    """Return a block that compiles within \\begin{document} of an article with amsmath.

    Of a counterexample without exact numbers it tells the claim and the margin.
    """
    return "\n".join(_block(example)) + "\n"


def _block(example: Counterexample) -> Iterator[str]:
    yield "% needs \\usepackage{amsmath}"
    name, theorem = typewriter(example.claim), typewriter(example.theorem)
    yield f"\\paragraph{{Counterexample to {name}}} ({theorem})."
    yield prose(example.statement)
    exact = example.exact
    if exact is None:
        yield f"Known in floating point, with margin ${_decimal(f'{example.margin:.6g}')}$."
        return
    network = network_of(exact)
    if network is not None:
        yield from _data(network)
        yield from _steps(network)
    yield from _violated(exact["claim"])
    for heading, dropped in (("It holds that", False), ("Dropped:", True)):
        entries = [one for one in exact["assumptions"] if one["dropped"] is dropped]
        if entries:
            yield f"{heading} {'; '.join(map(_assumption, entries))}."


def _data(network: Network) -> Iterator[str]:
    """Yield the problem as one display."""
    wide = network.features is None or len(network.features[0]) > _WIDEST
    name, rows = ("G = XX^{\\top}", network.gram) if wide else ("X", network.features or [])
    columns = max(len(rows[0]), len(network.labels))
    if columns > _MOST_COLUMNS:
        yield f"\\setcounter{{MaxMatrixCols}}{{{columns}}}"
    parts = [f"{name} = {_matrix(rows)}", f"y = {_column(network.labels)}"]
    for neuron, start in zip(_neurons(network), network.start, strict=True):
        parts.append(f"\\beta{neuron}^{{(0)}} = X w{neuron}^{{(0)}} = {_column(start)}")
    parts.append(f"\\eta = {_number(network.step_size)}")
    parts.append(f"\\varphi'(0) = {network.slope_at_zero}")
    yield from _display(parts)
    if any(entry != "0" for row in network.outside for entry in row):
        yield "Inner products of the starts' parts outside the span of the data:"
        yield from _display([_matrix(network.outside)])


def _steps(network: Network) -> Iterator[str]:
    """Yield the predictions after each step."""
    yield "Predictions after the first steps of gradient descent:"
    for place, neuron in enumerate(_neurons(network)):
        yield from _display(
            [
                f"\\beta{neuron}^{{({number})}} = {_column(step[place])}"
                for number, step in enumerate(network.steps)
            ]
        )


def _neurons(network: Network) -> list[str]:
    if len(network.signs) == 1:
        return [""]
    return ["_{\\oplus}" if sign > 0 else "_{\\ominus}" for sign in network.signs]


def _violated(claim: Mapping[str, Any]) -> Iterator[str]:
    reads = f": {prose(claim['reads'])}" if claim["reads"] else ""
    yield f"The inequality is violated{reads}:"
    unless = "\\not<" if claim["strict"] else "\\not\\le"
    sides = f"{_number(claim['left'])} {unless} {_number(claim['right'])}"
    values = f"{_decimal(decimal(claim['left']))} > {_decimal(decimal(claim['right']))}"
    close = decimal(claim["left"]) == decimal(claim["right"])
    yield from _display([sides] if close else [sides, f"\\text{{about }} {values}"])


def _assumption(one: Mapping[str, Any]) -> str:
    sign = "<" if one["strict"] else "\\le"
    unless = "" if one["holds"] else "\\not"
    sides = f"{_number(one['left'])} {unless}{sign} {_number(one['right'])}"
    return f"{typewriter(one['id'])}, ${sides}$"


def _display(parts: list[str]) -> Iterator[str]:
    """Yield parts as one display, as many on a line as have room."""
    lines: list[list[str]] = [[]]
    for part in parts:
        if lines[-1] and sum(map(_room, lines[-1])) + _room(part) > _ROOM:
            lines.append([])
        lines[-1].append(part)
    yield "\\begin{gather*}"
    yield ", \\\\\n".join("  " + ", \\quad ".join(line) for line in lines) + "."
    yield "\\end{gather*}"


_ROOM = 50
"""Digits that a line of an article has room for, about."""


def _room(part: str) -> int:
    """Return about how many digits the longest row of a part takes."""
    part = re.sub(r"\\tfrac\{(\d+)\}\{(\d+)\}", lambda f: max(f[1], f[2], key=len), part)
    rows = re.sub(r"\\(?:begin|end)\{bmatrix\}", "", part).split("\\\\")
    return 4 + max(len(re.sub(r"\\[a-z]+|[{}^_ ]", "", row)) for row in rows)


def _matrix(rows: list[list[str]]) -> str:
    lines = " \\\\ ".join(" & ".join(map(_number, row)) for row in rows)
    return f"\\begin{{bmatrix}} {lines} \\end{{bmatrix}}"


def _column(entries: list[str]) -> str:
    return _matrix([[entry] for entry in entries])


def _number(text: str) -> str:
    """Return a recorded rational as a fraction; a long one as decimals, marked as approximate."""
    if len(text) > LONGEST:
        return f"{{\\approx}} {_decimal(exactly(text).removeprefix('≈'))}"
    sign, numerator, denominator = re.fullmatch(r"(-?)(\d+)(?:/(\d+))?", text).groups()  # type: ignore[union-attr]
    return f"{sign}\\tfrac{{{numerator}}}{{{denominator}}}" if denominator else text


def _decimal(text: str) -> str:
    """Return decimals with the power of ten as one writes it."""
    mantissa, _, power = text.partition("e")
    return f"{mantissa} \\cdot 10^{{{int(power)}}}" if power else mantissa
