"""The stand-alone checker of one counterexample: its theorem's, with the record put into it."""

from __future__ import annotations

import json

from verify.counterexample import Counterexample, content_of
from verify.errors import TheoremError
from verify.theorem import Theorem

PLACE = "RECORD = None\n"
"""The line of a checker that gives way to the record."""


def require_checker(theorem: Theorem) -> None:
    """Raise TheoremError where a theorem has a checker with no place for the record."""
    source = None if theorem.exact is None else theorem.exact.checker
    if source is None:
        return
    if not isinstance(source, str):
        raise TheoremError(
            f"theorem {theorem.address!r}: the checker is {type(source).__name__}, expected the "
            "text of a Python file"
        )
    if source.count(f"\n{PLACE}") != 1:
        raise TheoremError(
            f"theorem {theorem.address!r}: the checker has {source.count(chr(10) + PLACE)} lines "
            f"{PLACE.strip()!r}, expected one, where the record is put in place of None"
        )


def checker_of(theorem: Theorem, example: Counterexample) -> tuple[str, str]:
    """Return the checker's source and "", or "" and the reason why there is none.

    Raises TheoremError where the theorem's checker has no place for the record.
    """
    if example.exact is None:
        return "", "the counterexample is not exact: only floating point knows it"
    if theorem.exact is None or theorem.exact.checker is None:
        return "", f"theorem {theorem.address!r} has no stand-alone checker (Exact.checker)"
    require_checker(theorem)
    # A raw string: in JSON no quotation mark follows two others, and nothing but ASCII is left.
    record = json.dumps(content_of(example), indent=1, allow_nan=False)
    source = theorem.exact.checker.replace(f"\n{PLACE}", f'\nRECORD = r"""\n{record}\n"""\n')
    return source, ""
