"""What helps a person to read a counterexample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from verify.arrays import to_numpy
from verify.blame import blaming, whereabouts
from verify.claims import Claim
from verify.counterexample.example import Counterexample, Kind
from verify.counterexample.replaying import realise
from verify.engine.evaluate import margin_of
from verify.engine.examine import chain_of
from verify.errors import ReluVerifyError, TheoremError
from verify.severity import severity_of
from verify.theorem import Theorem, paths_of
from verify.trial import Trial
from verify.writing import jsonable


def facts_of(theorem: Theorem, problem: Any, position: int) -> dict[str, Any]:
    """Return the theorem's description of one instance as JSON-able values.

    Without a `describe`, the entries of the problem's arrays that belong to the instance. A
    `describe` that fails is told in place of its facts: a verdict does not depend on it.
    """
    if theorem.describe is None:
        try:
            return _slices(problem, position)
        except Exception:  # a problem may be of any type whatever
            return {}
    try:
        with blaming("describe", theorem.describe):
            facts = theorem.describe(problem, position)
            if not isinstance(facts, Mapping):
                raise TheoremError(
                    f"{whereabouts('describe', theorem.describe)} returned "
                    f"{type(facts).__name__}, expected a dict"
                )
            return {str(name): jsonable(value) for name, value in facts.items()}
    except ReluVerifyError as reason:
        return {"describe": str(reason)}


def _slices(problem: Any, position: int) -> dict[str, Any]:
    """Return entry `position` of every array of a problem that is not large."""
    if isinstance(problem, Mapping):
        parts = dict(problem)
    elif isinstance(problem, tuple):
        parts = {str(number): part for number, part in enumerate(problem)}
    else:
        parts = dict(getattr(problem, "__dict__", None) or {"problem": problem})
    arrays = {name: part for name, part in parts.items() if np.ndim(part) > 0}
    return {
        str(name): jsonable(np.asarray(to_numpy(part))[position])
        for name, part in arrays.items()
        if len(part) > position and np.size(part[position]) <= _LARGEST_FACT
    }


_LARGEST_FACT = 4_096
"""Numbers of one entry above which a counterexample file leaves it out: the recipe is there."""


def captured(
    theorem: Theorem,
    claim: Claim,
    kind: Kind,
    recipe: Mapping[str, Any],
    margin: float,
    control: str = "",
    without: Sequence[str] = (),
    seed: int | None = None,
) -> Counterexample:
    """Return the counterexample with that recipe, described by making it again, and its severity
    but for the rate.

    without: the assumptions that were dropped.   seed: that of the search which found it.
    """
    bare = Counterexample(
        theorem.address,
        claim.id,
        claim.statement,
        kind,
        dict(recipe),
        margin,
        control,
        theorem_file=file_of(theorem),
        without=tuple(without),
        seed=seed,
    )
    trial, position = realise(theorem, bare)
    facts = facts_of(theorem, trial.problem, position)
    if not control:
        facts |= _broken_link(theorem, trial, position)
    facts |= _both_sides(claim, trial, position) | _perhaps_rounding(claim, trial, position)
    severity = severity_of(theorem, claim, trial, position, without)
    return replace(bare, facts=facts, severity=severity.to_json())


def _broken_link(theorem: Theorem, trial: Trial, position: int) -> dict[str, str]:
    """Return, as a fact, the first link of the theorem's chain that does not hold on an instance.

    A link that fails to run is told in place of it: a verdict does not depend on the chain.
    """
    if theorem.chain is None:
        return {}
    try:
        links = chain_of(theorem, trial, position)
    except ReluVerifyError as reason:
        return {"first_broken_link": str(reason)}
    broken = next((link for link in links if link.state != "holds"), None)
    if broken is None:
        return {"first_broken_link": "none: every link of the chain holds"}
    state = "" if broken.state == "violated" else f" ({broken.state})"
    return {"first_broken_link": f"{broken.link}{state}: {broken.statement}"}


SIDES = "sides"
"""The fact that tells both sides of the inequality left ≤ right that is violated."""


def _both_sides(claim: Claim, trial: Trial, position: int) -> dict[str, dict[str, float]]:
    """Return, as a fact, both sides of a violated inequality in floating point, as the claim gives
    them; nothing where they are not finite, or alike in floating point."""
    with blaming("claim", claim.inequality):
        margin = claim.inequality(trial)
        left, right = (
            float(np.broadcast_to(to_numpy(side), (trial.trials,))[position])
            for side in (margin.left, margin.right)
        )
    if not -np.inf < right < left < np.inf:
        return {}
    return {SIDES: {"left": left, "right": right}}


CLOSE = 1e-12
"""Margins nearer to 0 than this, in units of their claim's scale, are easily rounding alone."""


def _perhaps_rounding(claim: Claim, trial: Trial, position: int) -> dict[str, str]:
    """Return, as a fact, that a violation is so small that rounding alone can make it, where its
    claim bounds no rounding."""
    margin = margin_of(claim.inequality, trial)
    value, rounding = (
        float(np.broadcast_to(side, (trial.trials,))[position])
        for side in (margin.value, margin.uncertainty)
    )
    if rounding > 0 or not -CLOSE < value < 0:
        return {}
    return {
        "rounding": f"the margin is within {CLOSE:g} of 0, and the claim bounds no rounding, which "
        "can make such a violation alone: give its Margin rounding=…, or a tolerance"
    }


def file_of(theorem: Theorem) -> str:
    """Return the absolute path of a theorem from a user's file, "" for any other."""
    return paths_of(theorem.origin)[0]
