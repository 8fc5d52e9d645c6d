"""An instance made again from its recipe, and what it does today."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from verify.blame import blaming
from verify.claims import Rate
from verify.counterexample.example import Counterexample
from verify.engine.evaluate import draw_trial, margin_of, scope_of, simulator
from verify.engine.plan import Cell, broken_by, whole
from verify.errors import InputError, ReluVerifyError
from verify.explicit import Explicit
from verify.space import Point
from verify.theorem import Theorem
from verify.trial import Trial
from verify.verdict import IN_SCOPE


@dataclass(frozen=True)
class Replayed:
    """What a stored counterexample does today.

    violated: the claim fails again, in scope and beyond rounding.   same: the margin is the
    stored one to 1e-6 relative.   margin: today's, dimensionless.
    """

    violated: bool
    in_scope: bool
    margin: float
    same: bool


def realise(theorem: Theorem, example: Counterexample) -> tuple[Trial, int]:
    """Return the batch that holds the instance, simulated, and its position there.

    Raises InputError where the recipe does not fit the theorem.
    """
    recipe = example.recipe
    _require_control(theorem, example)
    try:
        if example.kind == "drawn":
            point = Point(**recipe["point"])
            root_seed, block, position = (
                _whole(recipe, name) for name in ("root_seed", "block", "trial")
            )
            if position >= theorem.block:
                raise InputError(f"trial={position}, expected 0 to {theorem.block - 1}")
            cell = Cell(point, example.control, (example.claim,), theorem.block)
            return draw_trial(theorem, cell, root_seed, block), position
        if example.kind == "seeded":
            point = Point(**recipe["point"])
            generator = np.random.default_rng(_whole(recipe, "seed"))
            with blaming("draw", theorem.draw):
                problem = theorem.draw(point, generator, 1)
            return Trial(theorem, point, problem, 1, simulator(theorem, example.control)), 0
        problem = build(explicit_of(theorem, example), recipe["values"])
        return Trial(theorem, None, problem, 1, simulator(theorem, example.control)), 0
    except ReluVerifyError:
        raise
    except (LookupError, TypeError, ValueError, ArithmeticError) as reason:
        raise InputError(
            f"the counterexample's recipe does not fit theorem {theorem.address!r} "
            f"({type(reason).__name__}: {reason}); was the theorem changed?"
        ) from reason


def explicit_of(theorem: Theorem, example: Counterexample) -> Explicit:
    """Return the theorem's problems of exact numbers that an example's integers are of.

    Raises InputError where the theorem has none.
    """
    known = theorem.small if example.kind == "small" else theorem.explicit
    if known is None:
        raise InputError(f"theorem {theorem.address!r} has no {example.kind} problems (any more)")
    return known


def build(explicit: Explicit, integers: Any) -> Any:
    """Return the problem of these integers, in floating point."""
    values = explicit.values(integers)
    with blaming("explicit build", explicit.build):
        return explicit.build(values)


def _require_control(theorem: Theorem, example: Counterexample) -> None:
    """Raise InputError unless the example runs the simulator that its claim is about."""
    expected = broken_by(theorem, theorem.claim(example.claim))
    if example.control != expected:
        raise InputError(
            f"control={example.control!r}, expected {expected!r} for the claim {example.claim!r} "
            f"of theorem {theorem.address!r}; was the file or the theorem changed?"
        )


def _whole(recipe: Mapping[str, Any], name: str) -> int:
    """Return a seed or a number of a recipe. Raises InputError unless it is whole and from 0."""
    value = recipe[name]
    if isinstance(value, bool):
        raise InputError(f"{name}={value!r}, expected a whole number of at least 0")
    number = whole(name, value, 0)
    if number.bit_length() > 63 and name != "root_seed":
        raise InputError(f"{name}={number}, expected a whole number below 2**63")
    return number


def replay(theorem: Theorem, example: Counterexample) -> Replayed:
    """Run a counterexample again and say whether it still violates its claim."""
    claim = theorem.claim(example.claim)
    if isinstance(claim, Rate):
        raise InputError(f"claim {claim.id!r} is a rate: no single instance violates it")
    trial, position = realise(theorem, example)
    margin = margin_of(claim.inequality, trial)
    value = float(np.broadcast_to(margin.value, (trial.trials,))[position])
    violated = bool(np.broadcast_to(margin.violated, (trial.trials,))[position])
    scoped = replace(claim, given=theorem.scope(claim, example.without))
    in_scope = bool(scope_of(scoped, trial)[position] == IN_SCOPE)
    stored = example.margin
    same = value == stored or bool(
        abs(value - stored) <= 1e-6 * max(abs(value), abs(stored)) < math.inf
    )
    return Replayed(violated and in_scope, in_scope, value, same)
