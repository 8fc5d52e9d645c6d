"""The hunts of a run, part by part: found in the store, or made and kept there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from properties.parts import Hunt, joined, parts_of
from properties.search import hunt_hash, hunt_task, hunted_claims
from verify.computing import Computing
from verify.counterexample import Counterexample
from verify.engine.executors import AnyExecutor, Timed, map_unordered
from verify.engine.plan import profile_named
from verify.engine.shards import Shard
from verify.engine.store import Store
from verify.theorem import Theorem


@dataclass(frozen=True)
class Part:
    """One part of a hunt.   hash: of everything that decides the hunt.   number: from 0."""

    claim: str
    hash: str
    number: int

    @property
    def key(self) -> str:
        """What the store knows the part by."""
        return f"{self.hash}.{self.number}"


Step = Callable[[int, int, str], None]
"""Called with (parts made, parts in all, what was made last)."""


def parts(theorem: Theorem, profile: str, seed: int) -> list[Part]:
    """Return all parts of the hunts of a run, claim by claim."""
    examples = profile_named(profile).hunted
    hashes = {c.id: hunt_hash(theorem, c.id, examples, seed) for c in hunted_claims(theorem)}
    return [
        Part(claim, hash_, number)
        for claim, hash_ in hashes.items()
        for number in range(parts_of(examples))
    ]


def known_parts(wanted: list[Part], store: Store) -> dict[Part, Hunt]:
    """Return those parts that the store knows. Raises StoreError for what cannot be read."""
    found = {part: store.recall(part.key, _hunt_of) for part in wanted}
    return {part: hunt for part, hunt in found.items() if hunt is not None}


def made_parts(
    theorem: Theorem,
    profile: str,
    seed: int,
    executor: AnyExecutor | None,
    store: Store,
    step: Step | None,
    shard: Shard | None = None,
) -> tuple[dict[Part, Hunt], Computing]:
    """Return all parts of a run's hunts, or a shard's, and how long they took; make those that the
    store does not know."""
    wanted = [
        part
        for part in parts(theorem, profile, seed)
        if shard is None or shard.owns(part.hash, part.number)
    ]
    found = known_parts(wanted, store)
    examples = profile_named(profile).hunted
    sent = None if theorem.origin else theorem
    missing = {(part.claim, part.number): part for part in wanted if part not in found}
    tasks = [(theorem.origin, sent, claim, examples, seed, number) for claim, number in missing]
    for task, (hunt, seconds) in map_unordered(executor, Timed(hunt_task), tasks):
        part = missing[task[2], task[5]]
        found[part] = hunt
        store.remember(part.key, _kept(hunt).to_json(), seconds)
        if step is not None:
            step(len(found), len(wanted), f"hunt  {part.claim}")
    new = frozenset(missing.values())
    return {part: found[part] for part in wanted}, computing(wanted, store, new)


def computing(made: Collection[Part], store: Store, new: Collection[Part] = ()) -> Computing:
    """Return how long it took to make parts that the store knows.   new: those made just now."""
    return Computing.of(
        ((part.claim,), store.seconds_of_search(part.key), part in new) for part in made
    )


def whole_hunts(theorem: Theorem, found: Mapping[Part, Hunt]) -> dict[str, Hunt]:
    """Return the hunt of each claim, by its id, from its parts in any order."""
    by_claim: dict[str, list[Hunt]] = {}
    for part in sorted(found, key=lambda part: part.number):
        by_claim.setdefault(part.claim, []).append(found[part])
    return {claim: joined(theorem, hunts) for claim, hunts in by_claim.items()}


def _kept(hunt: Hunt) -> Hunt:
    """Return a hunt without where its theorem lies, which decides nothing of what it met."""
    return replace(hunt, smallest=_bare(hunt.smallest), worst=_bare(hunt.worst))


def _bare(found: Counterexample | None) -> Counterexample | None:
    return None if found is None else replace(found, theorem="", theorem_file="")


def _hunt_of(content: Mapping[str, Any]) -> Hunt:
    """Return a stored hunt. Raises ValueError for one that no hunt can have written."""
    found = Hunt.from_json(content)
    met = found.hunted
    counts = (met.examples, met.in_scope, met.violated, met.undecided)
    examples: list[Counterexample] = [e for e in (found.smallest, found.worst) if e is not None]
    numbers = [met.worst_margin, *(example.margin for example in examples)]
    described = all(isinstance(e.recipe, dict) and isinstance(e.facts, dict) for e in examples)
    if not (
        described
        and all(type(count) is int and count >= 0 for count in counts)
        and all(isinstance(number, int | float) for number in numbers)
    ):
        raise ValueError("an entry is of another type")
    return found
