"""A shard's share of a check: its blocks are computed and kept; no verdict follows from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from verify.arrays import backend as open_backend
from verify.claims import Universal
from verify.computing import Computing
from verify.engine.asked import Asked, ask
from verify.engine.evaluate import Record
from verify.engine.executors import AnyExecutor
from verify.engine.gather import Blocks, Key, Progress, keys_of
from verify.engine.plan import broken_by
from verify.engine.shards import Shard
from verify.engine.store import Store
from verify.theorem import Theorem, points_of
from verify.verdict import Tally


@dataclass(frozen=True)
class Contribution:
    """What a shard holds of a check.

    blocks: how many are its own.   total: those of all shards.   violated: trials that violate
    each universal claim of the theorem's own, by its id, where there are any.   computing: how
    long its blocks took.
    """

    blocks: int
    total: int
    violated: Mapping[str, int]
    computing: Computing = field(compare=False)


def contribute(
    theorem: Theorem,
    shard: Shard,
    store: Store,
    *,
    profile: str = "quick",
    confidence: float = 0.95,
    root_seed: int = 0,
    executor: AnyExecutor | None = None,
    backend: str = "numpy",
    progress: Progress | None = None,
) -> Contribution:
    """Compute those blocks of `check(theorem, …)` that are a shard's, and keep them in the store.

    With the blocks of all shards in one store, `check` with the same arguments computes nothing
    but what it computes again to notice changes.   The arguments, and what is raised: see `check`.
    """
    asked = ask(
        theorem,
        claims=None,
        profile=profile,
        cells=None,
        trials=None,
        confidence=confidence,
        root_seed=root_seed,
        executor=executor,
        store=store,
    )
    blocks = Blocks(theorem, asked.root_seed, executor, store, open_backend(backend))
    keys = keys_of(theorem, asked.planned)
    found = blocks.fetch(blocks.owned(shard, keys), progress)
    return Contribution(len(found), len(keys), _violated(asked, found), blocks.computing())


def _violated(asked: Asked, found: Mapping[Key, Record]) -> dict[str, int]:
    """Count the trials that violate each universal claim, among those that a verdict counts."""
    theorem, counts = asked.theorem, Counter[str]()
    for claim in theorem.claims:
        if not isinstance(claim, Universal):
            continue
        broken, points = broken_by(theorem, claim), points_of(theorem, claim)
        for (cell, block), record in found.items():
            if cell.control == broken and cell.point in points:
                counted = max(0, asked.trials[claim.id] - block * theorem.block)
                value, rounding, scope = (
                    record[f"{claim.id}.{name}"][:counted]
                    for name in ("value", "rounding", "scope")
                )
                counts[claim.id] += Tally.of(value, rounding, scope).violated
    return {name: count for name, count in counts.items() if count}
