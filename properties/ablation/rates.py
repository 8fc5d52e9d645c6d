"""How often claims are violated at a point without an assumption: fresh trials, exact bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from properties.ablation.looking import (
    HOLDS,
    REFUSED,
    REST_FAILED,
    REST_UNKNOWN,
    UNDECIDED,
    VIOLATED,
    judge,
)
from properties.ablation.question import Question
from verify.claims import Probable
from verify.engine.evaluate import draw_trial
from verify.engine.plan import Cell
from verify.errors import InputError, TheoremError
from verify.severity import ViolationRate
from verify.space import Coordinate, Point

TRIALS, MORE_TRIALS = 200, 1_000
"""Fresh trials at a point, at least, and those of a second sample where these leave it open whether
a claim's probability is reached; whole blocks are drawn."""


@dataclass(frozen=True)
class Sampled:
    """What fresh trials at a point say of one claim: counts.

    in_scope: the trials in which the dropped assumption is violated (at the baseline, all holds)
    and the rest of the claim's scope holds, or is not decided.
    """

    violated: int
    undecided: int
    in_scope: int
    trials: int

    def rate(self, where: Mapping[str, Coordinate], copies: str = "") -> ViolationRate | None:
        """Return the rate of violations in scope with exact two-sided bounds; None without one
        trial in scope.   copies: as `Theorem.copies_at` tells them."""
        if not self.in_scope:
            return None
        return ViolationRate.of(
            self.violated, self.undecided, self.in_scope, self.trials, where, copies=copies
        )


def sample(
    question: Question, point: Mapping[str, Coordinate], root_seed: int, again: bool = False
) -> dict[str, Sampled]:
    """Draw `TRIALS` i.i.d. trials at a point that share no randomness with the search, and count
    what each claim comes to, by its id.

    again: a second sample, of `MORE_TRIALS` that share nothing with the first.

    A block that cannot be drawn counts for no claim; one on which a claim cannot be evaluated is
    undecided there.
    """
    theorem, here = question.theorem, Point(**point)
    blocks = range(math.ceil(TRIALS / theorem.block))
    if again:
        blocks = range(len(blocks), len(blocks) + math.ceil(MORE_TRIALS / theorem.block))
    cell = Cell(here, "", tuple(claim.id for claim in question.scopes), theorem.block)
    counted = {claim.id: Sampled(0, 0, 0, 0) for claim in question.scopes}
    wanted = HOLDS if question.dropped is None else VIOLATED
    for block in blocks:
        try:
            judged = judge(question, draw_trial(theorem, cell, root_seed, block))
        except TheoremError:
            raise
        except InputError:
            continue
        outside = judged.states == wanted
        unsure = judged.states == UNDECIDED
        for name, told in judged.claims.items():
            tested = (outside | unsure) & (told.outcomes != REST_FAILED)
            known = outside & ~np.isin(told.outcomes, (REST_UNKNOWN, REFUSED, UNDECIDED))
            before = counted[name]
            counted[name] = Sampled(
                before.violated + int((known & (told.outcomes == VIOLATED)).sum()),
                before.undecided + int((tested & ~known).sum()),
                before.in_scope + int(tested.sum()),
                before.trials + len(outside),
            )
    return counted


def refutes(claim: Probable, rate: ViolationRate | None) -> bool | None:
    """Say whether a rate puts the probability that a claim holds below what it states; False if
    it puts it there or above, None if its interval leaves that open."""
    if rate is None:
        return None
    if 1.0 - rate.low < claim.probability:
        return True
    return False if 1.0 - rate.high >= claim.probability else None
