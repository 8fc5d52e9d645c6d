"""The hunt: Hypothesis looks for the smallest and the worst counterexample to a claim."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

import numpy as np
import scipy
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings, target
from hypothesis import control as drawing
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers

from properties import strategies
from properties.parts import Hunt, joined, parts_of, share_of, simplest_known
from verify.claims import Claim, Universal
from verify.counterexample import Counterexample, Kind, captured, realise
from verify.engine.evaluate import margin_of
from verify.engine.executors import one_thread
from verify.engine.plan import broken_by
from verify.errors import InputError, TheoremError
from verify.loading import load_origin, package_digest, source_digest
from verify.severity import violation_rate
from verify.theorem import Theorem
from verify.verdict import Conclusion, Hunted, Verdict, counted, searched_violations

HOLDS, VIOLATED, UNDECIDED, OUT_OF_SCOPE = "holds", "violated", "undecided", "out of scope"
DECIDED = (HOLDS, VIOLATED)


@dataclass(frozen=True)
class Look:
    """What one instance says of a claim; `score` is what the search tries to raise.

    stated: whether there is an inequality at all (`Margin.unstated`).
    met: how far it is into the claim's scope, out of scope: the assumptions that it meets before
    the first that it violates, and a fraction that rises as it comes near to that one.
    """

    outcome: str
    margin: float
    met: float = math.inf
    stated: bool = True

    @property
    def score(self) -> float:
        """The negated margin, bounded so that the search does not chase infinities."""
        return float(np.clip(-self.margin, -1e6, 1e6)) if np.isfinite(self.margin) else -1e6


class Violation(AssertionError):
    """Raised inside Hypothesis at a counterexample, so that it shrinks it."""


def look_at(
    theorem: Theorem,
    claim: Claim,
    kind: Kind,
    recipe: dict[str, Any],
    without: tuple[str, ...] = (),
) -> Look:
    """Evaluate a claim on the instance of a recipe. A TheoremError names the recipe.

    without: assumptions that are dropped from its scope.   Where an assumption is violated, none
    after it is evaluated, nor the claim.
    """
    try:
        return _look_at(theorem, claim, kind, recipe, without)
    except TheoremError as reason:
        raise TheoremError(f"{reason} (at the {kind} instance {recipe})") from reason


def _look_at(
    theorem: Theorem,
    claim: Claim,
    kind: Kind,
    recipe: dict[str, Any],
    without: tuple[str, ...],
) -> Look:
    control = broken_by(theorem, claim)
    bare = Counterexample(
        theorem.address, claim.id, "", kind, recipe, 0.0, control, without=without
    )
    trial, position = realise(theorem, bare)

    def here(values: Any) -> Any:
        return np.broadcast_to(values, (trial.trials,))[position]

    known = True
    for number, assumption in enumerate(theorem.scope(claim, without)):
        margin = margin_of(assumption.inequality, trial, "assumption")
        if here(margin.violated):
            return Look(OUT_OF_SCOPE, np.inf, number + 1 / (1 - float(here(margin.value))))
        known = known and bool(here(margin.holds))
    margin = margin_of(claim.inequality, trial)
    value, stated = float(here(margin.value)), not here(margin.unstated)
    if not known:
        return Look(UNDECIDED, value, stated=stated)
    outcome = HOLDS if here(margin.holds) else VIOLATED if here(margin.violated) else UNDECIDED
    return Look(outcome, value, stated=stated)


def hunted_kinds(theorem: Theorem) -> list[tuple[Kind, st.SearchStrategy[dict[str, Any]]]]:
    """Return the kinds of instances that a theorem offers, with their strategies."""
    kinds: list[tuple[Kind, st.SearchStrategy[dict[str, Any]]]] = []
    if theorem.axes:
        kinds.append(("seeded", strategies.structured(theorem)))
    if theorem.explicit is not None:
        kinds.append(("explicit", strategies.explicit(theorem)))
    return kinds


@dataclass
class _Seen:
    """What a hunt has met so far: how often each outcome, and the least decided margin."""

    counts: Counter[str] = field(default_factory=Counter)
    least: float = math.nan

    def add(self, look: Look) -> None:
        self.counts[look.outcome] += 1
        if look.outcome in DECIDED:
            self.least = float(np.fmin(look.margin, self.least))


def hunt(
    theorem: Theorem,
    claim: Claim,
    examples: int,
    root_seed: int,
    parts: Sequence[int] | None = None,
) -> Hunt:
    """Search `examples` instances of each kind that the theorem offers.

    A hunt is made of parts (`parts_of`), each with a seed of its own, and so are its findings
    (`joined`).   parts: those to make, by number, where not all are wanted. The same arguments
    find the same.
    """
    chosen = range(parts_of(examples)) if parts is None else parts
    return joined(
        theorem, [hunt_part(theorem, claim, examples, root_seed, part) for part in chosen]
    )


def hunt_part(theorem: Theorem, claim: Claim, examples: int, root_seed: int, part: int) -> Hunt:
    """Make one part, counted from 0, of a hunt of `examples` instances of each kind.

    Its edges of the theorem's space come first (`strategies.edges`), then Hypothesis. A
    counterexample is shrunk to the smallest, explicit ones first (they are the readable ones),
    unless a simpler one was met (`simplest_known`); the worst is the one of lowest margin met
    anywhere.
    """
    seen = _Seen()
    found: list[tuple[float, Kind, dict[str, Any]]] = []
    smallest: tuple[float, Kind, dict[str, Any]] | None = None
    if theorem.axes:
        found += _at_the_edges(theorem, claim, examples, root_seed, part, seen)
        smallest = found[0] if found else None
    for kind, strategy in hunted_kinds(theorem):
        met = _search(theorem, claim, kind, strategy, examples, root_seed, part, seen)
        found += met
        if met:
            smallest = met[-1]  # Hypothesis ends by replaying the smallest

    if smallest is not None:
        known = {json.dumps(entry[1:], sort_keys=True): entry for entry in reversed(found)}
        best = simplest_known(theorem, smallest[1:], [entry[1:] for entry in found])
        smallest = known[json.dumps(best, sort_keys=True)]

    def capture(entry: tuple[float, Kind, dict[str, Any]]) -> Counterexample:
        margin, kind, recipe = entry
        return captured(theorem, claim, kind, recipe, margin)

    return Hunt(
        claim=claim.id,
        hunted=Hunted(
            examples=seen.counts.total(),
            in_scope=seen.counts.total() - seen.counts[OUT_OF_SCOPE],
            violated=seen.counts[VIOLATED],
            undecided=seen.counts[UNDECIDED],
            worst_margin=seen.least,
        ),
        smallest=None if smallest is None else capture(smallest),
        worst=capture(min(found, key=lambda entry: entry[0])) if found else None,
    )


def _at_the_edges(
    theorem: Theorem, claim: Claim, examples: int, root_seed: int, part: int, seen: _Seen
) -> list[tuple[float, Kind, dict[str, Any]]]:
    """Look at one instance at each edge of the space that is the part's, every so many; return
    the violations, simplest first."""
    violations: list[tuple[float, Kind, dict[str, Any]]] = []
    with one_thread():
        edges = list(enumerate(strategies.edges(theorem, examples)))
        for number, point in edges[part :: parts_of(examples)]:
            recipe = {"point": point, "seed": (root_seed + number) % 2**32}
            look = look_at(theorem, claim, "seeded", recipe)
            seen.add(look)
            if look.outcome == VIOLATED:
                violations.append((look.margin, "seeded", recipe))
    return violations


def _search(
    theorem: Theorem,
    claim: Claim,
    kind: Kind,
    strategy: st.SearchStrategy[dict[str, Any]],
    examples: int,
    root_seed: int,
    part: int,
    seen: _Seen,
) -> list[tuple[float, Kind, dict[str, Any]]]:
    """Run Hypothesis once, for one part; return the violations in the order in which they came."""
    violations: list[tuple[float, Kind, dict[str, Any]]] = []
    names = f"{root_seed}\n{theorem.id}\n{claim.id}\n{kind}\n{part}"
    digest = hashlib.sha256(names.encode()).digest()

    @seed(int.from_bytes(digest[:8], "little"))
    @searching(share_of(examples, part), (Phase.generate, Phase.target, Phase.shrink))
    @given(recipe=strategy)
    def attempt(recipe: dict[str, Any]) -> None:
        look = look_at(theorem, claim, kind, recipe)
        seen.add(look)
        if look.outcome in DECIDED:  # ties within rounding would attract it, for nothing
            target(look.score)
        if look.outcome == VIOLATED:
            violations.append((look.margin, kind, recipe))
            raise Violation(claim.id)

    try:
        with one_thread(), rest_of_the_process_left_out():
            attempt()
    except Violation:
        pass
    return violations


def searching(examples: int, phases: Sequence[Phase] = (Phase.generate, Phase.target)) -> settings:
    """Return Hypothesis's settings of a search: it draws `examples` examples, prints nothing, keeps
    nothing, and takes the time it takes."""
    return settings(
        max_examples=examples,
        database=None,
        deadline=None,
        derandomize=False,
        phases=tuple(phases),
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
        print_blob=False,
    )


_leaving_out = Lock()
_left_out: list[Any] = []
"""What Hypothesis had before the first search began, and a None for each that runs now: searches
in several threads leave the rest out together."""


class _Unmoved:
    """Stands for the module `random` where Hypothesis looks whether a strategy has drawn from it.

    Ours never do, but it takes the draws of other threads for theirs: a Dask worker's event loop
    draws, to estimate sizes.
    """

    @staticmethod
    def getstate() -> None:
        """Return the same at any time."""


@contextmanager
def rest_of_the_process_left_out() -> Iterator[None]:
    """Make a search depend on its seed alone, not on what else this process imports and does.

    Hypothesis mixes in constants from the source of every local module that happens to be
    loaded (since 6.131, without a setting), so a worker and its parent would search differently.
    """
    with _leaving_out:
        if not _left_out:
            constants = providers._get_local_constants
            nothing = type(constants())()
            providers._get_local_constants = lambda: nothing
            providers.CONSTANTS_CACHE.cache.clear()
            _left_out.append((constants, vars(drawing)["random"]))
            vars(drawing)["random"] = _Unmoved  # a name that it imports, not one of its own
        _left_out.append(None)
    try:
        yield
    finally:
        with _leaving_out:
            _left_out.pop()
            if len(_left_out) == 1:
                providers._get_local_constants, vars(drawing)["random"] = _left_out.pop()
                providers.CONSTANTS_CACHE.cache.clear()


def hunt_hash(theorem: Theorem, claim: str, examples: int, root_seed: int) -> str:
    """Return the hash of everything that decides what a hunt finds."""
    import hypothesis

    decides = (
        source_digest(theorem),
        package_digest("properties"),
        theorem.id,
        claim,
        examples,
        root_seed,
        hypothesis.__version__,
        np.__version__,
        scipy.__version__,
    )
    return hashlib.sha256(json.dumps(decides).encode()).hexdigest()[:32]


def hunt_task(task: tuple[str | None, Theorem | None, str, int, int, int]) -> Hunt:
    """Make part of a hunt from (origin, theorem, claim id, examples, root seed, part), in any
    process."""
    origin, theorem, name, examples, root_seed, part = task
    known = theorem if theorem is not None else load_origin(origin or "")
    return hunt_part(known, known.claim(name), examples, root_seed, part)


def with_hunt(verdict: Verdict, found: Hunt) -> Verdict:
    """Return the verdict on a universal claim with what the hunt adds.

    A counterexample refutes; finding none adds no confidence, only a count. An undecided
    example changes nothing: small integers meet ties that random draws never do.
    """
    if found.worst is None:
        return replace(verdict, hunted=found.hunted)
    detail = verdict.detail
    if verdict.verdict is not Conclusion.REFUTED:
        drawn_ = counted(verdict) if verdict.in_scope else verdict.detail
        hunted = found.hunted
        detail = f"{drawn_}; {searched_violations(hunted.violated, hunted.in_scope)}"
    return replace(verdict, verdict=Conclusion.REFUTED, hunted=found.hunted, detail=detail)


def hunted_claims(theorem: Theorem) -> list[Claim]:
    """Return the claims that a hunt can refute: the universal ones."""
    if not hunted_kinds(theorem):
        return []
    return [claim for claim in theorem.claims if isinstance(claim, Universal)]


def drawn(theorem: Theorem, claim: Claim, verdict: Verdict, root_seed: int) -> Counterexample:
    """Return the counterexample that is a verdict's worst violation among the drawn trials, with
    the rate of violations at its point.

    Raises InputError where the verdict has none.
    """
    instance = verdict.instance
    if instance is None:
        raise InputError(f"no drawn trial violates {verdict.full_id!r}: there is nothing to make")
    recipe = {
        "point": instance.point,
        "root_seed": root_seed,
        "block": instance.block,
        "trial": instance.trial,
    }
    found = captured(theorem, claim, "drawn", recipe, instance.margin, instance.control)
    rate = violation_rate(verdict, instance.point)
    known = None if rate is None else rate.to_json()
    return replace(found, severity={**found.severity, "rate": known})
