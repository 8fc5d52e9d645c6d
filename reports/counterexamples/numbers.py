"""Exact numbers as people read them: fractions where they are short, else decimals."""

from __future__ import annotations

from fractions import Fraction

from verify.confirm import decimal

LONGEST = 24
"""Characters of the longest fraction that is printed; a longer one is printed as a decimal."""


def exactly(text: str) -> str:
    """Return a recorded rational: as it is, or "≈" and six digits where it is long."""
    return text if len(text) <= LONGEST else f"≈{decimal(text)}"


def both(text: str) -> str:
    """Return a recorded rational and, unless it is a whole number, its decimals."""
    if len(text) > LONGEST:
        digits = max(map(len, text.split("/")))
        return f"≈{decimal(text)} (of {digits} digits)"
    if "/" not in text:
        return text
    shown = decimal(text)
    return f"{text} {'=' if Fraction(shown) == Fraction(text) else '≈'} {shown}"


def by_how_much(left: str, right: str) -> str:
    """Return |right − left|, exact where that is short."""
    return exactly(str(abs(Fraction(right) - Fraction(left))))


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
