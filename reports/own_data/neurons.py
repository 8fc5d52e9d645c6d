"""Which theorems are about one neuron, which about two of opposite sign, and which about others."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

import numpy as np

from properties.catalogue import full_id, is_built_in
from reports.own_data.request import SIGNS, Request
from verify.arrays import to_numpy
from verify.errors import InputError
from verify.relu.problem import Problem
from verify.theorem import Theorem

THEOREMS = {
    1: ("lai2026.theorem1", "lai2026.theorem2"),
    2: ("lai2026.theorem3", "lai2026.theorem4"),
}
"""The built-in theorems about one neuron, and about two of opposite sign."""

NEURONS = {
    1: (
        *THEOREMS[1],
        "between.road",
        "boursier2022.fixed_signs",
        "vardi_shamir2021.theorem8",
        "vardi_shamir2021.theorem8_flow",
    ),
    2: THEOREMS[2],
}
"""The built-in theorems that are about so many neurons and no others."""


def names(request: Request) -> tuple[str, ...]:
    """Return the theorems to examine. Raises InputError for a built-in one about other neurons."""
    if request.theorem is None:
        return THEOREMS[request.neurons]
    for neurons, about in NEURONS.items():
        if neurons != request.neurons and full_id(request.theorem) in about:
            raise InputError(
                f"--theorem {request.theorem} with --neurons {request.neurons}, expected "
                f"--neurons {neurons}, which that theorem is about"
            )
    return (request.theorem,)


def require_these_neurons(request: Request, theorem: Theorem) -> None:
    """Raise InputError where the problems that a user's theorem draws have other neurons than those
    asked for, as far as a problem of each of its cells tells."""
    if request.theorem is None or is_built_in(theorem):
        return
    drawn = []
    for signs in _drawn_signs(theorem):
        if signs is None or signs == SIGNS[request.neurons]:
            return
        drawn.append(signs)
    if not drawn:
        return
    other = [neurons for neurons, signs in SIGNS.items() if signs in drawn]
    expected = (
        f"expected --neurons {other[0]}, which that theorem is about"
        if other
        else "expected a theorem about one neuron of sign +1, or two of signs +1 and −1; verify it "
        f"with `relu-verify run {shlex.quote(request.theorem)}`"
    )
    spelled = ", ".join(f"{sign:+d}".replace("-", "−") for sign in drawn[0])
    noun = "neuron of sign" if len(drawn[0]) == 1 else "neurons of signs"
    raise InputError(
        f"--theorem {request.theorem} with --neurons {request.neurons}: its problems have "
        f"{len(drawn[0])} {noun} {spelled}, {expected}"
    )


def _drawn_signs(theorem: Theorem) -> Iterator[tuple[int, ...] | None]:
    """Yield the output signs in a problem of every cell; None where they cannot be known."""
    for cell in theorem.cells:
        try:
            problem: Any = theorem.draw(cell, np.random.default_rng(0), 1)
        except Exception:  # a draw is not what is looked at here: `run` tells what is wrong with it
            yield None
            continue
        if not isinstance(problem, Problem):
            yield None
            continue
        yield tuple(int(sign) for sign in to_numpy(problem.signs)[0])
