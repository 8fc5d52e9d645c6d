"""Numbers, matrices and displays in LaTeX, none wider than a line of an article."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from reports.counterexamples.numbers import Rational, is_long, rounded, small
from reports.counterexamples.tex import scientific

MOST_COLUMNS = 10
"""What amsmath's matrices have, unless MaxMatrixCols says otherwise."""


def display(parts: list[str]) -> Iterator[str]:
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
    part = re.sub(r"\\renewcommand\{\\arraystretch\}\{1.4\}", "", part)
    rows = re.sub(r"\\(?:begin|end)\{bmatrix\}", "", part).split("\\\\")
    return 4 + max(map(_length, rows))


def _length(row: str) -> int:
    """Return about how many digits a row takes: a fraction those of its longer part."""
    row = re.sub(r"\\tfrac\{(\d+)\}\{(\d+)\}", lambda f: max(f[1], f[2], key=len), row)
    return len(re.sub(r"\\[a-z]+|[{}^_ ]", "", row.replace("&", "&" * _BETWEEN)))


def by_columns(name: str, rows: Sequence[Sequence[Rational]]) -> Iterator[str]:
    """Yield "name = matrix"; of one wider than a line, so many columns at a time as have room."""
    sizes = [
        _BETWEEN + max(_length(rational(row[column])) for row in rows)
        for column in range(len(rows[0]))
    ]
    blocks: list[list[int]] = [[]]
    for column, size in enumerate(sizes):
        if blocks[-1] and sum(sizes[other] for other in blocks[-1]) + size > _ROOM:
            blocks.append([])
        blocks[-1].append(column)
    for block in blocks:
        columns = f"_{{\\cdot, {block[0] + 1} \\ldots {block[-1] + 1}}}" if len(blocks) > 1 else ""
        yield equation(f"{name}{columns}", [[row[column] for column in block] for row in rows])


_BETWEEN = 2
"""Digits that the space between two columns takes, about."""


def equation(name: str, rows: Sequence[Sequence[Rational]]) -> str:
    """Return "name = matrix", with an approximate sign where an entry is rounded."""
    sign = "\\approx" if any(is_long(entry) for row in rows for entry in row) else "="
    return f"{name} {sign} {matrix(rows)}"


def vector(name: str, entries: Sequence[Rational]) -> str:
    """Return "name = column"."""
    return equation(name, [[entry] for entry in entries])


def equal(name: str, number: Rational) -> str:
    """Return "name = number", with an approximate sign where it is rounded."""
    return f"{name} {relation(number)} {rational(number)}"


def relation(number: Rational) -> str:
    """Return the sign in front of a number: an approximate one where it is rounded."""
    return "\\approx" if is_long(number) else "="


def matrix(rows: Sequence[Sequence[Rational]]) -> str:
    """Return a matrix, its lines further apart where there are fractions."""
    lines = " \\\\ ".join(" & ".join(map(rational, row)) for row in rows)
    shown = f"\\begin{{bmatrix}} {lines} \\end{{bmatrix}}"
    apart = "\\tfrac" in lines and len(rows) > 1
    return f"{{\\renewcommand{{\\arraystretch}}{{1.4}}{shown}}}" if apart else shown


def rational(number: Rational) -> str:
    """Return a rational as a fraction or a power of ten; a long one as decimals."""
    if is_long(number):
        return decimals(rounded(number))
    if (found := small(number)) is not None:
        return scientific(*found)
    value = Fraction(number)
    sign = "-" if value < 0 else ""
    size = abs(value)
    if size.denominator == 1:
        return f"{sign}{size}"
    return f"{sign}\\tfrac{{{size.numerator}}}{{{size.denominator}}}"


def decimals(text: str) -> str:
    """Return decimals with the power of ten as one writes it: 10^{-12}, 2 \\cdot 10^{-5}."""
    mantissa, _, power = text.partition("e")
    return scientific(mantissa, power) if power else mantissa


def itemized(heading: str, items: Sequence[str]) -> Iterator[str]:
    """Yield a heading and the items of a list under it; nothing where there are none."""
    if items:
        yield heading
        yield "\\begin{itemize}"
        yield from (f"  \\item {item}" for item in items)
        yield "\\end{itemize}"
