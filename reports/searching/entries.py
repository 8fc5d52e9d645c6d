"""A counterexample in one line: its numbers, and the inequality that it violates."""

from __future__ import annotations

from reports.counterexamples.instances import instance
from reports.counterexamples.numbers import exactly
from verify.counterexample import Counterexample
from verify.theorem import Theorem


def entry(theorem: Theorem, example: Counterexample) -> str:
    """Return one line: "n=2, d=2: X=[[1, 0], [0, 1]], y=(1, -1), … → the violated inequality"."""
    return f"{instance(theorem, example)} → {violation(example)}"


def violation(example: Counterexample) -> str:
    """Return the inequality that is violated, by its exact sides where they are known."""
    if example.exact is None:
        return f"margin {example.margin:.4g} (floating point)"
    claim = example.exact["claim"]
    fails = ">=" if claim["strict"] else ">"
    sides = f"{exactly(claim['left'])} {fails} {exactly(claim['right'])}"
    reads = f"not {claim['reads']}: " if claim["reads"] else ""
    return f"{reads}{sides} (exact)"
