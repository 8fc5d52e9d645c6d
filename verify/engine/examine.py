"""A theorem on one given instance: which assumptions hold, what the claims come to there, and
which links of its proof hold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from verify.claims import Assumption, Claim, Probable, Rate, name_of, statement_of
from verify.engine.evaluate import margin_of, scope_of
from verify.margin import Margin
from verify.theorem import Theorem
from verify.trial import Trial, freeze
from verify.verdict import OUT_OF_SCOPE, SCOPE_UNKNOWN, Conclusion


@dataclass(frozen=True)
class Met:
    """An assumption on one instance: "holds", "violated" or "unknown", and its margin."""

    assumption: Assumption
    state: str
    margin: float


@dataclass(frozen=True)
class Examined:
    """A claim on one instance.

    conclusion: certified (in scope, and the inequality holds beyond rounding), refuted, vacuous
    (an assumption is not met) or undecided; None for a with-probability claim in scope, which
    one instance neither supports nor refutes.   state: what its inequality does here, in scope or
    not: "holds", "violated" or "unknown".   margin: dimensionless.
    """

    claim: Claim
    conclusion: Conclusion | None
    state: str
    margin: float


@dataclass(frozen=True)
class Linked:
    """A link of a theorem's chain on one instance: "holds", "violated" or "unknown", and its
    margin."""

    link: str
    statement: str
    state: str
    margin: float


def examine(theorem: Theorem, problem: Any) -> tuple[list[Met], list[Examined]]:
    """Judge a theorem's assumptions and claims on a problem with B = 1.

    A with-probability claim is judged by its inequality on this instance. Rates, which need
    many instances, and controls are left out. The caller's arrays stay as they are, and writable.
    """
    return examine_with_run(theorem, problem)[:2]


def examine_with_run(theorem: Theorem, problem: Any) -> tuple[list[Met], list[Examined], Any]:
    """Judge as `examine` does, and also return the run that was looked at, None if none was."""
    claims = [claim for claim in theorem.claims if not isinstance(claim, Rate)]
    assumptions = dict.fromkeys(a for claim in claims for a in claim.given)
    with _lent(problem):
        trial = Trial(theorem, None, problem, 1)
        margins = {a: margin_of(a.inequality, trial, "assumption") for a in assumptions}
        met = [Met(a, _state(margin), _number(margin)) for a, margin in margins.items()]
        examined = [_examined(claim, trial, margins) for claim in claims]
        return met, examined, trial.run if trial.run_was_looked_at else None


def examine_chain(theorem: Theorem, problem: Any) -> list[Linked]:
    """Judge the links of a theorem's chain on a problem with B = 1; none without a chain.

    The caller's arrays stay as they are, and writable.
    """
    if theorem.chain is None:
        return []
    with _lent(problem):
        return chain_of(theorem, Trial(theorem, None, problem, 1))


def chain_of(theorem: Theorem, trial: Trial, position: int = 0) -> list[Linked]:
    """Judge the links of a theorem's chain, in order, on one instance of a trial; none without
    a chain."""
    found = []
    for link in theorem.chain.links if theorem.chain is not None else ():
        margin = margin_of(link, trial, "link")
        value, rounding = (
            np.broadcast_to(side, (trial.trials,))[position]
            for side in (margin.value, margin.uncertainty)
        )
        here = Margin(0.0, value, 1.0, rounding)
        found.append(Linked(name_of(link), statement_of(link), _state(here), _number(here)))
    return found


@contextmanager
def _lent(problem: Any) -> Iterator[None]:
    """Make the caller's arrays read-only for a while."""
    frozen = freeze(problem)
    try:
        yield
    finally:
        for array in frozen:
            array.flags.writeable = True


def _examined(claim: Claim, trial: Trial, margins: dict[Assumption, Margin]) -> Examined:
    scope = scope_of(claim, trial, margins)[0]
    margin = margin_of(claim.inequality, trial)
    state = _state(margin)
    conclusion: Conclusion | None = _CONCLUSIONS[state]
    if scope == OUT_OF_SCOPE:
        conclusion = Conclusion.VACUOUS
    elif scope == SCOPE_UNKNOWN:
        conclusion = Conclusion.UNDECIDED
    elif isinstance(claim, Probable) and state != "unknown":
        conclusion = None
    return Examined(claim, conclusion, state, _number(margin))


_CONCLUSIONS = {
    "holds": Conclusion.CERTIFIED,
    "violated": Conclusion.REFUTED,
    "unknown": Conclusion.UNDECIDED,
}


def _state(margin: Margin) -> str:
    if bool(np.all(margin.holds)):
        return "holds"
    return "violated" if bool(np.all(margin.violated)) else "unknown"


def _number(margin: Margin) -> float:
    return float(np.ravel(margin.value)[0])
