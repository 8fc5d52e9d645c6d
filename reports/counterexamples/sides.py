"""Both sides of an exact statement, by what they are called: "min|y| = 3 ≥ ½ max|y| = 3/2"."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from verify.counterexample import SIDES, Counterexample


@dataclass(frozen=True)
class Sides:
    """A statement, said of one of its sides: the quantity is `relation` the bound.

    quantity, bound: numbers as recorded.   quantity_name, bound_name: what they are, in the words
    of the statement; "" for a plain number, and where the statement has no words.
    relation: "≤", "<", "≥" or ">".   when: "at step 2", or "" where the statement is of no step.
    """

    quantity_name: str
    quantity: str
    relation: str
    bound_name: str
    bound: str
    when: str = ""


def sides_of(statement: Mapping[str, Any]) -> Sides:
    """Return a recorded statement as one says it, in terms of what is bounded.

    The bound is the side that is a number; without one, that which has a number in it, as ½ max|y|
    and 5000 n have; else the left one.
    """
    reads, at, step = statement["reads"].partition(" at step ")
    when = f"{at}{step}".strip()
    names = re.split(" [≤<] ", reads)
    left, right = names if len(names) == 2 else ("", "")
    at_most, at_least = ("<", ">") if statement["strict"] else ("≤", "≥")
    lower, upper = (_name(left), statement["left"]), (_name(right), statement["right"])
    if _rank(right) > _rank(left):
        return Sides(*lower, at_most, *upper, when)
    return Sides(*upper, at_least, *lower, when)


def _name(name: str) -> str:
    return "" if _is_number(name) else name


def _is_number(name: str) -> bool:
    return not any(character.isalpha() or character == "…" for character in name)


def _rank(name: str) -> int:
    return 2 if name and _is_number(name) else int(bool(re.search(r"[0-9¼½¾]", name)))


def sides_in_floating_point(example: Counterexample) -> tuple[str, str] | None:
    """Return both sides of the inequality left ≤ right that fails, to six significant digits, or
    to as many as tell them apart; None where they are not recorded."""
    sides = example.facts.get(SIDES)
    if not isinstance(sides, Mapping):
        return None
    left, right = sides.get("left"), sides.get("right")
    if not (_is_finite(left) and _is_finite(right)):
        return None
    short = f"{left:.6g}", f"{right:.6g}"
    return short if short[0] != short[1] else (f"{left:.17g}", f"{right:.17g}")


def _is_finite(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)
