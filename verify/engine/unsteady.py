"""Whose fault it is that a block comes out differently when it is computed twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from verify.blame import whereabouts
from verify.claims import name_of
from verify.engine.evaluate import draw_trial, evaluate_trial, simulator
from verify.engine.plan import Cell
from verify.measures import CHAIN
from verify.theorem import Theorem
from verify.trial import Trial


def unsteady(theorem: Theorem, cell: Cell, root_seed: int, block: int) -> str:
    """Say whose fault it is that a block came out differently when it was computed twice.

    That is the function that does so on one and the same trial; or else draw or simulate.
    """
    trial = draw_trial(theorem, cell, root_seed, block)
    one, other = (evaluate_trial(theorem, cell, trial) for _ in range(2))
    for series in one.differing(other):
        for name, role, function in _functions(theorem):
            if f"{series}.".startswith(f"{name}."):
                return f"{whereabouts(role, function)} {_UNSTEADY}"
    drawn, simulated = theorem.draw, simulator(theorem, cell.control) or theorem.simulate
    places = whereabouts("draw", drawn), whereabouts("simulate", simulated)
    return f"look at {' and '.join(places)}, and at what references compute"


_UNSTEADY = "gives different answers for the same problem"


def _functions(theorem: Theorem) -> Iterator[tuple[str, str, Callable[[Trial], Any]]]:
    """Yield what series begin with, the role and the function that computes them."""
    for assumption in theorem.assumptions:
        yield f"given.{assumption.id}", "assumption", assumption.inequality
    for link in theorem.chain.links if theorem.chain is not None else ():
        yield f"{CHAIN}.{name_of(link)}", "link", link
    for measure in theorem.measures:
        for what, function in (("against", measure.against), ("prediction", measure.prediction)):
            if function is not None:
                yield f"{measure.id}.{what}", what, function
        yield measure.id, "measure", measure.function
    for claim in theorem.all_claims:
        yield claim.id, "claim", claim.inequality
