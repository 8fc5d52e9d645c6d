"""What a counterexample is: an instance by its recipe, and what is known of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

Kind = Literal["drawn", "seeded", "explicit", "small"]
KINDS: tuple[Kind, ...] = get_args(Kind)

EXACT = "exact"
FLOATING = "floating point, beyond its rounding bound"
"""How a violation is known (`Counterexample.evidence`)."""


@dataclass(frozen=True)
class Counterexample:
    """An instance that violates a claim, and how to make it again.

    kind: "drawn" (a trial of a block: point, root_seed, block, trial), "seeded" (one instance
    drawn at a point from a seed: point, seed), "explicit" or "small" (the integers of the
    theorem's problem of that name: values).   recipe: those entries.   control: id of the control
    whose broken simulator runs, or "".   margin: dimensionless, negative, in floating point.
    facts: what helps a person to read it.   evidence: how the violation is known, `EXACT` or
    `FLOATING`.   theorem_file: absolute path of a user's theorem, which `theorem` names as it was
    given, or "".   without: assumptions that were dropped, so that its scope is
    `theorem.scope(claim, without)`.   seed: that of the search which found it, if a search did.
    severity: `Severity.to_json()`, or empty.   exact: the problem and both sides of every statement
    over the rationals (`verify.confirm`), or None.
    """

    theorem: str
    claim: str
    statement: str
    kind: Kind
    recipe: Mapping[str, Any]
    margin: float
    control: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    evidence: str = FLOATING
    theorem_file: str = ""
    without: tuple[str, ...] = ()
    seed: int | None = None
    severity: Mapping[str, Any] = field(default_factory=dict)
    exact: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "without", tuple(self.without))  # JSON has lists
