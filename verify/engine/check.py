"""Check a theorem: sample its claims, keep the records, and say what they show."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable

from verify.arrays import backend as open_backend
from verify.claims import Claim
from verify.engine.asked import ask
from verify.engine.conclude import conclude
from verify.engine.executors import AnyExecutor
from verify.engine.gather import Progress, gathered, recalled
from verify.engine.measured import conclude_chain, conclude_measure, realised
from verify.engine.store import Store
from verify.measures import Chain, Measure
from verify.space import Point
from verify.theorem import Theorem
from verify.verdict import Verdicts


def check(
    theorem: Theorem,
    *,
    claims: Collection[str] | None = None,
    profile: str = "quick",
    cells: Iterable[Point] | None = None,
    trials: int | None = None,
    confidence: float = 0.95,
    root_seed: int = 0,
    executor: AnyExecutor | None = None,
    store: Store | None = None,
    backend: str = "numpy",
    progress: Progress | None = None,
    compute: bool = True,
) -> Verdicts:
    """Sample every claim, control and measure of `theorem`; return a verdict on each claim and
    control, and what was measured.

    claims: ids of claims, controls and measures, and "chain", where not all are wanted; each comes
    out as it does among all.   profile: "quick", "full" or "nightly".   cells: points that replace
    those of universal and with-probability claims; measures and the chain are about points of
    their own, and are left out then unless `claims` names them.   trials: a cell, in place of the
    profile's.   confidence: that nothing stated here is wrong, over all claims, controls and
    measures together.
    executor: None runs here; else see `verify.engine.executors`.   store: where blocks are kept
    and found again, so that an interrupted check goes on.   compute: False takes every block from
    the store, unexamined, and raises RecordsMissing where that does not hold them all.

    The verdicts follow from the theorem, the profile (or cells and trials), the confidence and
    the root seed alone; to notice where they do not, one block of each claim and measure is
    computed twice, and one that is stored once more.
    Raises InputError for unusable arguments, TheoremError for a theorem that is not written as
    the vocabulary asks, StoreError, BackendUnavailable.
    """
    began = time.perf_counter()
    asked = ask(
        theorem,
        claims=claims,
        profile=profile,
        cells=cells,
        trials=trials,
        confidence=confidence,
        root_seed=root_seed,
        executor=executor,
        store=store,
    )
    theorem, planned, budget, root_seed = (
        asked.theorem,
        asked.planned,
        asked.budget,
        asked.root_seed,
    )
    opened = open_backend(backend)
    records, computing = (
        gathered(theorem, planned, root_seed, executor, store, opened, progress)
        if compute
        else recalled(theorem, planned, root_seed, store, opened)
    )
    wanted, counts = asked.entries, asked.trials
    return Verdicts(
        tuple(
            conclude(theorem, entry, planned, records, budget, counts[entry.id])
            for entry in wanted
            if isinstance(entry, Claim)
        ),
        budget.total,
        time.perf_counter() - began,
        measured=tuple(
            conclude_measure(theorem, entry, planned, records, budget, counts[entry.id])
            for entry in wanted
            if isinstance(entry, Measure)
        ),
        chain=next(
            (
                conclude_chain(theorem, entry, planned, records, counts[entry.id])
                for entry in wanted
                if isinstance(entry, Chain)
            ),
            None,
        ),
        realised=realised(theorem, planned, records, counts),
        computing=computing,
    )
