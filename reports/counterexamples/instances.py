"""The numbers of an instance in one line: "n=2, d=2: X=[[1, 0], [0, 1]], y=(1, -1)"."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from verify.counterexample import Counterexample
from verify.explicit import Explicit
from verify.space import Point
from verify.theorem import Theorem


def instance(theorem: Theorem, example: Counterexample) -> str:
    """Return the numbers of an instance, or the point and the seed that it is drawn from."""
    recipe = dict(example.recipe)
    family = family_of(theorem, example)
    if family is not None:
        return _numbers(family, recipe["values"])
    point = Point(**recipe.pop("point"))
    told = ", ".join(f"{name}={value}" for name, value in recipe.items())
    return f"drawn at {point} ({told})"


def family_of(theorem: Theorem, example: Counterexample) -> Explicit | None:
    """Return the problems of exact numbers that an example is of, None where it was drawn."""
    return {"small": theorem.small, "explicit": theorem.explicit}.get(example.kind)


def _numbers(family: Explicit, integers: Mapping[str, Any]) -> str:
    sizes = ", ".join(f"{name}={integers[name]}" for name in family.sizes)
    numbers = ", ".join(
        f"{field.symbol or name}={_written(integers[name], field.denominator)}"
        for name, field in family.fields.items()
    )
    return f"{sizes}: {numbers}" if sizes else numbers


def _written(integers: Any, denominator: int) -> str:
    """Return a number, (a, vector) or [[a], [matrix]], of fractions in lowest terms."""
    if not isinstance(integers, list | tuple):
        return str(Fraction(integers, denominator))
    if not any(isinstance(one, list | tuple) for one in integers):
        return f"({', '.join(str(Fraction(one, denominator)) for one in integers)})"
    rows = [_written(one, denominator) for one in integers]
    return f"[{', '.join(f'[{row[1:-1]}]' for row in rows)}]"
