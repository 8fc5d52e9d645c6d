"""Exact numbers as people read them: fractions where they are short, else decimals."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

from verify.confirm import decimal

Rational = str | Fraction
"""A number, or how it is recorded: "p/q", or "p" where whole."""

LONGEST = 24
"""Characters of the longest fraction that is printed; a longer one is printed as a decimal."""

_LARGE = 10**6
"""Denominators beyond which a number may be written as a multiple of a power of ten."""

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def is_long(number: Rational) -> bool:
    """Say whether a number is printed rounded."""
    if isinstance(number, str):
        return len(number) > LONGEST
    digits = number.numerator.bit_length() + number.denominator.bit_length()
    return digits > 4 * LONGEST or len(str(number)) > LONGEST


def rounded(number: Rational) -> str:
    """Return six significant digits, in scientific notation beyond six places: "1e-12"."""
    value = Fraction(number)
    with localcontext() as context:
        context.prec = 30
        # Unlike str(), this takes integers of however many digits.
        return decimal(Decimal(value.numerator) / Decimal(value.denominator))


def small(number: Rational) -> tuple[str, str] | None:
    """Return ("1.25", "-13") where a number, not a long one, is exactly 1.25·10⁻¹³, of at most six
    digits and smaller than 10⁻⁶; else None."""
    value = Fraction(number)
    if is_long(number) or value.denominator < _LARGE:
        return None
    mantissa, e, power = (text := rounded(value)).partition("e")
    return (mantissa, power) if e and Fraction(text) == value else None


def exactly(number: Rational) -> str:
    """Return a rational as it is, or as 10⁻¹² where it is small; "≈" and six digits of a long
    one."""
    if is_long(number):
        return f"≈{rounded(number)}"
    if (found := small(number)) is None:
        return str(number)
    mantissa, power = found
    factor = {"1": "", "-1": "-"}.get(mantissa, f"{mantissa}·")
    return f"{factor}10{str(int(power)).translate(_RAISED)}"


def equal(name: str, number: Rational) -> str:
    """Return "name = number", with "≈" where the number is rounded."""
    return f"{name} ≈ {rounded(number)}" if is_long(number) else f"{name} = {exactly(number)}"


def both(text: str) -> str:
    """Return a recorded rational as `exactly` does; a fraction with its decimals."""
    if is_long(text):
        digits = max(map(len, text.split("/")))
        return f"≈{rounded(text)} (of {digits} digits)"
    if "/" not in text or small(text) is not None:
        return exactly(text)
    shown = rounded(text)
    return f"{text} {'=' if Fraction(shown) == Fraction(text) else '≈'} {shown}"


def by_how_much(left: str, right: str) -> str:
    """Return |right − left|, exact where that is short."""
    return exactly(abs(Fraction(right) - Fraction(left)))


def grid(rows: list[list[str]], width: int, names: list[str] | None = None) -> list[str]:
    """Return the rows of a matrix with its columns aligned, at most `width` characters wide.

    Columns beyond that follow below, after a line that says which they are.   names: of the rows,
    in front of them each time.
    """
    heads = [f"{name}  " for name in names] if names else [""] * len(rows)
    room = width - max(map(len, heads))
    sizes = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    groups: list[list[int]] = [[]]
    for column, size in enumerate(sizes):
        used = sum(sizes[other] + 2 for other in groups[-1])
        if groups[-1] and used + size > room:
            groups.append([])
        groups[-1].append(column)
    lines: list[str] = []
    for group in groups:
        if len(groups) > 1:
            lines.append(f"columns {group[0] + 1} to {group[-1] + 1}:")
        for head, row in zip(heads, rows, strict=True):
            lines.append(head + "  ".join(row[column].rjust(sizes[column]) for column in group))
    return lines
