"""What instances say: of the assumption that is dropped, and of every claim without it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from properties.ablation.question import Question
from verify.blame import blaming
from verify.claims import Assumption, Claim
from verify.counterexample import Kind
from verify.engine.evaluate import draw_trial, margin_of
from verify.engine.plan import Cell
from verify.errors import InputError, TheoremError
from verify.margin import Margin
from verify.space import Coordinate, Point
from verify.trial import Trial
from verify.verdict import IN_SCOPE, OUT_OF_SCOPE, SCOPE_UNKNOWN

HOLDS, VIOLATED, UNDECIDED = "holds", "violated", "undecided"
REFUSED = "refused"
"""The claim could not be evaluated: a comparator refused the instance (InputError), or there is no
inequality (`Margin.unstated`)."""
REST_FAILED, REST_UNKNOWN = "rest failed", "rest unknown"
"""Another assumption of the claim is violated, or not decided."""

Host = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Told:
    """What B instances say of one claim: outcomes, (B,), and margins, (B,), NaN where none."""

    outcomes: Host
    margins: Host


@dataclass(frozen=True, eq=False)
class Judged:
    """What B instances say of a question.

    states, margins: of the assumption that is dropped, (B,); at the baseline it "holds" with
    margin NaN.   claims: by id.
    """

    states: Host
    margins: Host
    claims: Mapping[str, Told]


def judge(question: Question, trial: Trial) -> Judged:
    """Evaluate a question on a trial; all claims share its run.

    A claim is evaluated only where some instance has the rest of its scope. Raises TheoremError
    where a function of the theorem misbehaves.
    """
    count = trial.trials
    known: dict[Assumption, Margin] = {}

    def of(assumption: Assumption) -> Margin:
        if assumption not in known:
            known[assumption] = margin_of(assumption.inequality, trial, "assumption")
        return known[assumption]

    if question.dropped is None:
        states, margins = np.full(count, HOLDS), np.full(count, np.nan)
    else:
        margin = of(question.dropped)
        states = _outcomes(margin, count)
        margins = np.broadcast_to(margin.value, (count,))
    told = {}
    for claim, scope in question.scopes.items():
        rest = np.full(count, IN_SCOPE)
        for assumption in scope:
            if (rest == OUT_OF_SCOPE).all():
                break
            margin = of(assumption)
            unknown = np.where(margin.holds, IN_SCOPE, SCOPE_UNKNOWN)
            rest = np.minimum(rest, np.where(margin.violated, OUT_OF_SCOPE, unknown))
        told[claim.id] = _told(claim, trial, rest)
    return Judged(states, margins, told)


def _told(claim: Claim, trial: Trial, rest: Host) -> Told:
    outcomes, margins = np.full(trial.trials, REFUSED), np.full(trial.trials, np.nan)
    if (rest == IN_SCOPE).any():
        try:
            margin = margin_of(claim.inequality, trial)
        except TheoremError:
            raise
        except InputError:
            pass
        else:
            outcomes = np.where(margin.unstated, REFUSED, _outcomes(margin, trial.trials))
            margins = np.broadcast_to(margin.value, (trial.trials,))
    outcomes = np.where(rest == OUT_OF_SCOPE, REST_FAILED, outcomes)
    outcomes = np.where(rest == SCOPE_UNKNOWN, REST_UNKNOWN, outcomes)
    return Told(outcomes, np.where(rest == IN_SCOPE, margins, np.nan))


def _outcomes(margin: Margin, count: int) -> Host:
    found = np.where(margin.holds, HOLDS, np.where(margin.violated, VIOLATED, UNDECIDED))
    return np.broadcast_to(found, (count,))


@dataclass(frozen=True)
class Looked:
    """What one instance says of a question.

    kind, recipe: how it is made again, as of a `Counterexample`: "seeded" or "drawn".
    state, margin: of the assumption that is dropped.   outcomes, margins: by claim id.
    """

    kind: Kind
    recipe: Mapping[str, Any]
    state: str
    margin: float
    outcomes: Mapping[str, str] = field(default_factory=dict)
    margins: Mapping[str, float] = field(default_factory=dict)

    @property
    def point(self) -> Mapping[str, Coordinate]:
        """Where it was drawn."""
        point: Mapping[str, Coordinate] = self.recipe["point"]
        return point

    def tests(self, claim: str, state: str = VIOLATED) -> bool:
        """Say whether the instance tests a claim where the dropped assumption is in this state: it
        is, and the rest of the claim's scope holds."""
        untested = (REST_FAILED, REST_UNKNOWN)
        return self.state == state and self.outcomes.get(claim, REST_FAILED) not in untested

    def violates(self, claim: str, state: str = VIOLATED) -> bool:
        """Say whether the instance violates a claim where the dropped assumption is in this state:
        "holds" makes it a violation with nothing dropped."""
        return self.state == state and self.outcomes.get(claim) == VIOLATED


def look(question: Question, point: Mapping[str, Coordinate], seed: int) -> list[Looked]:
    """Draw one instance and evaluate a question on it; none where none can be drawn there.

    Raises TheoremError, which names the instance, where a function of the theorem misbehaves.
    """
    theorem, recipe = question.theorem, {"point": dict(point), "seed": seed}
    try:
        here = Point(**point)
        with blaming("draw", theorem.draw):
            problem = theorem.draw(here, np.random.default_rng(seed), 1)
        return _looked("seeded", [recipe], judge(question, Trial(theorem, here, problem, 1)))
    except TheoremError as reason:
        raise TheoremError(f"{reason} (at {dict(point)}, seed {seed})") from reason
    except InputError:
        return []


def look_at_block(
    question: Question, point: Mapping[str, Coordinate], root_seed: int, block: int
) -> list[Looked]:
    """Draw a whole block of i.i.d. instances at a point and evaluate a question on each; none where
    it cannot be drawn. Raises TheoremError where a function of the theorem misbehaves."""
    theorem = question.theorem
    claims = tuple(claim.id for claim in question.scopes)
    cell = Cell(Point(**point), "", claims, theorem.block)
    try:
        judged = judge(question, draw_trial(theorem, cell, root_seed, block))
    except TheoremError:
        raise
    except InputError:
        return []
    where = {"point": dict(point), "root_seed": root_seed, "block": block}
    return _looked("drawn", [{**where, "trial": k} for k in range(theorem.block)], judged)


def _looked(kind: Kind, recipes: list[dict[str, Any]], judged: Judged) -> list[Looked]:
    """Return what each instance says, in their order."""
    return [
        Looked(
            kind,
            recipe,
            str(judged.states[k]),
            float(judged.margins[k]),
            {name: str(told.outcomes[k]) for name, told in judged.claims.items()},
            {name: float(told.margins[k]) for name, told in judged.claims.items()},
        )
        for k, recipe in enumerate(recipes)
    ]
