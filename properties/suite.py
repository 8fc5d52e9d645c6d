"""The property suite of a theorem: a search for each universal claim, a verdict on every claim.

What `pytest --theorem` runs for a user's theorem, and the tests of this folder for the built-in.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from hypothesis.database import ExampleDatabase

from properties.kept import keep, still_violating
from properties.parts import Hunt
from properties.search import drawn, hunt
from verify.blame import whereabouts
from verify.claims import Claim
from verify.counterexample import Counterexample
from verify.engine.check import check
from verify.engine.plan import PROFILES
from verify.severity import words
from verify.space import Point
from verify.theorem import Theorem
from verify.verdict import Conclusion, Verdict

_LONGEST = 200
"""Characters of a fact that are printed."""


class ClaimFails(AssertionError):
    """A claim came out otherwise than expected; the message is for readers, several lines."""


def require_no_counterexample(
    theorem: Theorem,
    claim: Claim,
    examples: int,
    seed: int,
    database: ExampleDatabase | None = None,
    parts: Sequence[int] | None = None,
) -> None:
    """Search a universal claim and raise ClaimFails at a counterexample.

    examples: of each kind of instance that the theorem offers.   database: what earlier searches
    found is in it and comes first, and what this one finds is kept there.   parts: of the search
    (`properties.search.hunt`), where not all are wanted. Skips where nothing was decided.
    """
    if database is not None:
        again = still_violating(database, theorem, claim)
        if again is not None:
            raise ClaimFails(_told_of_kept(theorem, claim, again, examples, seed))
    found = hunt(theorem, claim, examples, seed, parts)
    if found.smallest is not None:
        if database is not None:
            keep(database, theorem, found.smallest)
        raise ClaimFails(_told_of_search(theorem, claim, found, examples, seed))
    hunted = found.hunted
    if hunted.in_scope == hunted.undecided:
        what = "in scope of its assumptions" if not hunted.in_scope else "decided"
        pytest.skip(f"none of {hunted.examples} examples was {what}, so nothing was tested")


def require_expected_verdict(theorem: Theorem, claim: Claim, profile: str, seed: int) -> None:
    """Sample a claim or control and raise ClaimFails unless the verdict is the expected one."""
    verdict: Verdict = check(theorem, claims=[claim.id], profile=profile, root_seed=seed)[claim.id]
    if not verdict.as_expected:
        raise ClaimFails(_told_of_verdict(theorem, claim, verdict, profile, seed))


def _told_of_kept(
    theorem: Theorem, claim: Claim, again: Counterexample, examples: int, seed: int
) -> str:
    lines = [
        f"refuted by the search: {claim.statement}",
        "an earlier search found this, and it still violates it (kept in .hypothesis/examples)",
        *_instance(again, "smallest"),
    ]
    return "\n".join([*lines, *_where_to_go(theorem, claim, _profile(examples), seed)])


def _told_of_search(theorem: Theorem, claim: Claim, found: Hunt, examples: int, seed: int) -> str:
    hunted = found.hunted
    lines = [
        f"refuted by the search: {claim.statement}",
        f"{hunted.violated} of {hunted.in_scope} examples in scope violate it "
        f"({hunted.examples} examples, seed {seed})",
    ]
    if found.smallest is not None:
        lines += _instance(found.smallest, "smallest")
    return "\n".join([*lines, *_where_to_go(theorem, claim, _profile(examples), seed)])


def _profile(examples: int) -> str:
    """Return the first profile that searches so many examples."""
    return next((p.name for p in PROFILES.values() if p.hunted >= examples), "nightly")


def _told_of_verdict(
    theorem: Theorem, claim: Claim, verdict: Verdict, profile: str, seed: int
) -> str:
    lines = [
        f"{verdict.verdict}, expected {verdict.expected}: {claim.statement}",
        f"{verdict.detail} (profile {profile}, seed {seed})",
    ]
    if verdict.verdict is Conclusion.REFUTED and verdict.instance is not None:
        lines += _instance(drawn(theorem, claim, verdict, seed), "worst")
    return "\n".join([*lines, *_where_to_go(theorem, claim, profile, seed)])


def _instance(example: Counterexample, which: str) -> Iterator[str]:
    """Yield the lines of a counterexample: how it is made again, its severity and its facts."""
    yield f"{which} counterexample, margin {example.margin:.4g}:"
    recipe = {**example.recipe}
    if (point := recipe.pop("point", None)) is not None:
        yield f"  at {Point(**point)} ({_named(recipe)})"
    else:
        yield f"  from the integers {_named(recipe['values'])}"
    yield from (f"  {line}" for line in words(example.severity, example.kind != "drawn"))
    for name, value in example.facts.items():
        text = str(value)
        yield f"  {name}: {text if len(text) <= _LONGEST else text[:_LONGEST] + ' …'}"


def _named(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())


def _where_to_go(theorem: Theorem, claim: Claim, profile: str, seed: int) -> Iterator[str]:
    yield f"claim: {whereabouts('claim', claim.inequality)}"
    address = shlex.quote(theorem.address)
    yield f"go on: relu-verify run {address} --profile {profile} --seed {seed}"
