"""The records that a check rests on: found in the store, or computed, some of them twice."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

import verify
from verify.arrays import Backend
from verify.arrays import backend as open_backend
from verify.engine.evaluate import Record, evaluate_block
from verify.engine.executors import ProcessPool, map_unordered
from verify.engine.plan import Cell, Entry
from verify.engine.store import RecordsMissing, Store
from verify.engine.unsteady import unsteady
from verify.errors import InputError, TheoremError
from verify.loading import load_origin, source_digest
from verify.theorem import Theorem

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


def gathered(
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


def recalled(
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
