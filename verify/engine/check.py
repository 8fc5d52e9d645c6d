"""Check a theorem: sample its claims, keep the records, and say what they show."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

import verify
from verify.arrays import Backend
from verify.arrays import backend as open_backend
from verify.claims import Claim
from verify.engine.conclude import conclude
from verify.engine.evaluate import Record, evaluate_block
from verify.engine.executors import ProcessPool, map_unordered
from verify.engine.measured import conclude_chain, conclude_measure, realised
from verify.engine.plan import (
    Cell,
    Entry,
    plan,
    profile_named,
    replace_cells,
    selected,
    trials_of,
    whole,
)
from verify.engine.store import RecordsMissing, Store
from verify.engine.unsteady import unsteady
from verify.errors import InputError, TheoremError
from verify.loading import load_origin, source_digest
from verify.measures import Chain, Measure
from verify.space import Point
from verify.statistics import ErrorBudget
from verify.theorem import Theorem
from verify.verdict import Verdicts

Progress = Callable[[int, int, str], None]
"""Called with (blocks done, blocks in all, what was done last)."""


_Key = tuple[Cell, int]
"""A cell and the number of one of its blocks."""


@dataclass(frozen=True)
class _Task:
    """One block to evaluate, small enough to send to another process.

    theorem: None where a worker is to load it from its origin, and to find the same source.
    """

    theorem: Theorem | None
    origin: str
    source: str
    key: _Key
    root_seed: int
    backend: str


def check(
    theorem: Theorem,
    *,
    claims: Collection[str] | None = None,
    profile: str = "quick",
    cells: Iterable[Point] | None = None,
    trials: int | None = None,
    confidence: float = 0.95,
    root_seed: int = 0,
    executor: Executor | ProcessPool | None = None,
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
    if not 0 < confidence < 1:
        raise InputError(f"confidence={confidence!r}, expected between 0 and 1, try 0.95")
    root_seed = whole("root_seed", root_seed, 0)
    _require_traceable(theorem, executor, store)
    if cells is not None:
        theorem = replace_cells(theorem, cells)
    budget = ErrorBudget(1.0 - confidence, theorem.registered)
    chosen, wanted = profile_named(profile), selected(theorem, claims)
    if cells is not None and claims is None:
        wanted = theorem.all_claims
    planned = plan(theorem, wanted, chosen, budget, trials)
    opened = open_backend(backend)
    records = (
        _gather(theorem, planned, root_seed, executor, store, opened, progress)
        if compute
        else _recalled(theorem, planned, root_seed, store, opened)
    )
    counts = {entry.id: trials_of(theorem, entry, chosen, budget, trials) for entry in wanted}
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
    )


def _require_traceable(
    theorem: Theorem, executor: Executor | ProcessPool | None, store: Store | None
) -> None:
    """Raise InputError where workers would run, or records come from, another theorem."""
    if theorem.origin is None:
        if isinstance(executor, ProcessPool | ProcessPoolExecutor):
            raise InputError(
                f"theorem {theorem.id!r} was not loaded from a file, so worker processes cannot "
                "find it; run it with executor=None, or save it and use verify.load_file(path)"
            )
        if store is not None and not theorem.source:
            raise InputError(
                f"theorem {theorem.id!r} was not loaded from a file, so its records could not be "
                "told from those of another definition; run it with store=None, or save it and "
                "use verify.load_file(path)"
            )
    elif executor is None and store is None:
        return
    elif load_origin(theorem.origin) != theorem:
        raise InputError(
            f"theorem {theorem.address!r} is not (or no more) the one in its file, which workers "
            "would run and the store knows it by; load it again, or run it with executor=None "
            "and store=None"
        )


def _gather(
    theorem: Theorem,
    planned: Sequence[Cell],
    root_seed: int,
    executor: Executor | ProcessPool | None,
    store: Store | None,
    backend: Backend,
    progress: Progress | None,
) -> dict[Cell, Record]:
    """Return each cell's record, computing the blocks that are not stored.

    Before any is added, one stored block of each claim is computed again: what a theorem reads
    besides its source is in no hash.
    """
    hashes = {} if store is None else _register(theorem, planned, root_seed, backend, store)
    found: dict[_Key, Record] = {}
    missing = []
    for cell in planned:
        for block in range(_blocks(theorem, cell)):
            known = None if store is None else store.read(hashes[cell], block)
            if known is None:
                missing.append((cell, block))
            else:
                found[cell, block] = known
    total = len(found) + len(missing)
    sent = theorem if theorem.origin is None or executor is None else None

    def task_of(key: _Key) -> _Task:
        return _Task(sent, theorem.origin or "", theorem.source, key, root_seed, backend.name)

    comparable = backend.name == "numpy"
    if store is not None and comparable:
        again = [task_of(key) for key in _representing(theorem.entries, list(found))]
        with closing(map_unordered(executor, _evaluate, again)) as results:
            for task, record in results:
                cell, block = task.key
                what = f"theorem {theorem.address!r}: block {block} at {cell.point}"
                store.confirm(hashes[cell], block, record, what)
    controls = {control.id for control in theorem.controls}
    uncontrolled = [entry for entry in theorem.entries if entry.id not in controls]
    twice = _representing(uncontrolled, missing) if comparable else set()
    tasks = [task_of(key) for key in missing for _ in range(1 + (key in twice))]
    first: dict[_Key, Record] = {}
    with closing(map_unordered(executor, _evaluate, tasks)) as results:
        for task, record in results:
            key = cell, block = task.key
            if key in twice:
                if key not in first:
                    first[key] = record
                    continue
                _require_same(theorem, key, root_seed, first[key], record)
            if store is not None:
                store.write(hashes[cell], block, record)
            found[key] = record
            if progress is not None:
                progress(len(found), total, f"{theorem.id}  {cell.point}")
    return {
        cell: Record.joined([found[cell, block] for block in range(_blocks(theorem, cell))])
        for cell in planned
    }


def _recalled(
    theorem: Theorem, planned: Sequence[Cell], root_seed: int, store: Store | None, backend: Backend
) -> dict[Cell, Record]:
    """Return each cell's record from the store alone. Raises RecordsMissing."""
    if store is None:
        raise InputError("compute=False takes records from a store, but store=None; give it one")
    hashes = {
        cell: _hash(decisive)
        for cell, decisive in _configurations(theorem, planned, root_seed, backend).items()
    }
    known = {
        cell: [store.read(hashes[cell], block) for block in range(_blocks(theorem, cell))]
        for cell in planned
    }
    total = sum(map(len, known.values()))
    missing = sum(record is None for records in known.values() for record in records)
    if missing:
        raise RecordsMissing(
            f"{store.path} holds {total - missing} of the {total} blocks of theorem "
            f"{theorem.address!r}; check it with compute=True to add the others",
            missing,
            total,
        )
    return {
        cell: Record.joined([record for record in records if record is not None])
        for cell, records in known.items()
    }


def _blocks(theorem: Theorem, cell: Cell) -> int:
    return math.ceil(cell.trials / theorem.block)


def _representing(entries: Iterable[Entry], blocks: Sequence[_Key]) -> set[_Key]:
    """Return a few of the blocks, on which each of the entries is evaluated that can be."""
    chosen, left = set(), {entry.id for entry in entries}
    for cell, block in blocks:
        if left & set(cell.ids):
            chosen.add((cell, block))
            left -= set(cell.ids)
    return chosen


def _require_same(theorem: Theorem, key: _Key, root_seed: int, one: Record, other: Record) -> None:
    """Raise TheoremError if a block computed twice came out differently."""
    different = one.differing(other)
    if different:
        cell, block = key
        raise TheoremError(
            f"theorem {theorem.address!r}: block {block} at {cell.point} came out differently when "
            f"computed twice ({', '.join(different)}), so something is not deterministic: "
            f"{unsteady(theorem, cell, root_seed, block)}; take all randomness from the generator "
            "that draw() is given, and keep no state between calls"
        )


def _evaluate(task: _Task) -> Record:
    theorem = task.theorem or _from_source(task.origin, task.source)
    cell, block = task.key
    return evaluate_block(theorem, cell, task.root_seed, block, _backend(task.backend))


@lru_cache(maxsize=8)
def _from_source(origin: str, source: str) -> Theorem:
    theorem = load_origin(origin)
    if theorem.source != source:
        raise InputError(
            f"theorem {theorem.address!r} was edited while it was being checked; run it again"
        )
    return theorem


@lru_cache(maxsize=8)
def _backend(name: str) -> Backend:
    return open_backend(name)


def _register(
    theorem: Theorem, planned: Sequence[Cell], root_seed: int, backend: Backend, store: Store
) -> dict[Cell, str]:
    """Return the configuration hash of each cell, and let the store know what it stands for."""
    hashes = {}
    for cell, decisive in _configurations(theorem, planned, root_seed, backend).items():
        hashes[cell] = _hash(decisive)
        store.register(hashes[cell], {**decisive, "point": str(cell.point)})
    return hashes


def _hash(decisive: dict[str, Any]) -> str:
    text = json.dumps(decisive, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _configurations(
    theorem: Theorem, planned: Sequence[Cell], root_seed: int, backend: Backend
) -> dict[Cell, dict[str, Any]]:
    """Return, for each cell, everything that decides its records."""
    common: dict[str, Any] = {
        "theorem": theorem.id,
        "root_seed": root_seed,
        "block": theorem.block,
        "backend": backend.name,
        "backend_version": backend.version,
        "numpy": np.__version__,
        "version": verify.__version__,
        "source": source_digest(theorem),
    }
    return {
        cell: {
            **common,
            "canonical_point": cell.point.canonical,
            "control": cell.control,
            "claims": cell.claims,
            "measures": cell.measures,
        }
        for cell in planned
    }
