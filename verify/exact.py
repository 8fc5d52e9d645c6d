"""A theorem's statements over the rational numbers, where a violation is certain or is none.

Floating point finds candidates; what is called a counterexample is decided here. Numbers are
`fractions.Fraction` or `int`, or flint's `fmpq` or `fmpz`, which are the same and faster; no other
type is taken for exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Rational = Any
"""`Fraction`, `int`, `fmpq` or `fmpz`: exact +, −, · and comparisons."""


@dataclass(frozen=True)
class ExactMargin:
    """Both sides of a statement left ≤ right (left < right if strict), over the rationals.

    Square roots do not occur: where the statement compares lengths, both sides are squares.
    reads: the inequality as it is compared, for people: "‖w_∞ − w⋆‖² ≤ 0".
    """

    left: Rational
    right: Rational
    strict: bool = False
    reads: str = ""

    @property
    def holds(self) -> bool:
        """Whether the inequality holds: there is no third answer."""
        return bool(self.left < self.right if self.strict else self.left <= self.right)


class NotDecided(Exception):
    """Raised by an exact statement where no finite computation it makes decides it: a run whose
    pattern is not certified to be final within the steps that it takes, say."""


@dataclass(frozen=True)
class Exact:
    """A theorem over the rationals.

    build: from `Explicit.exact_values` of a small problem to the same problem over the rationals.
    from_floats(problem, index): instance number `index` of a batch, its floating-point numbers
    taken for the rationals that they are; None where there is no such thing.
    statements: by the ids of claims and assumptions, both sides on an exact problem; they raise
    NotDecided where they cannot tell.
    document(problem): JSON-able facts of an exact problem, rationals as strings "p/q": the problem
    itself, and whatever a checker needs to derive both sides again. Other strings stand only in
    entries called "name", other numbers are whole.
    checker: the text of a stand-alone Python file, standard library only, that checks such a
    document: its one line `RECORD = None` gets the text of the counterexample's file in place of
    None, and it ends with 0 only if it derives every number again. None if there is none.
    """

    build: Callable[[Mapping[str, Any]], Any]
    statements: Mapping[str, Callable[[Any], ExactMargin]]
    document: Callable[[Any], Mapping[str, Any]]
    from_floats: Callable[[Any, int], Any] | None = None
    checker: str | None = field(default=None, repr=False)
