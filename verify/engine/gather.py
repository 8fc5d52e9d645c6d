"""The records that a check rests on: found in the store, or computed, some of them twice."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import scipy

import verify
from verify.arrays import Backend
from verify.arrays import backend as open_backend
from verify.computing import Computing
from verify.engine.evaluate import Record, evaluate_block
from verify.engine.executors import AnyExecutor, Timed, map_unordered
from verify.engine.plan import Cell
from verify.engine.shards import Shard
from verify.engine.store import RecordsMissing, Store
from verify.engine.unsteady import unsteady
from verify.errors import InputError, TheoremError
from verify.loading import load_origin, source_digest
from verify.theorem import Theorem

Progress = Callable[[int, int, str], None]
"""Called with (blocks done, blocks in all, what was done last)."""

Key = tuple[Cell, int]
"""A cell and the number of one of its blocks."""


@dataclass(frozen=True)
class _Task:
    """One block to evaluate, small enough to send to another process.

    theorem: None where a worker is to load it from its origin, and to find the same source.
    """

    theorem: Theorem | None
    origin: str
    source: str
    key: Key
    root_seed: int
    backend: str


class Blocks:
    """Blocks of a theorem's records: found in the store, or computed and kept there.

    Before any is added, one stored block of each claim is computed again: what a theorem reads
    besides its source is in no hash. One new block of each claim is computed twice.
    """

    def __init__(
        self,
        theorem: Theorem,
        root_seed: int,
        executor: AnyExecutor | None = None,
        store: Store | None = None,
        backend: Backend | None = None,
    ) -> None:
        self.theorem, self._root_seed = theorem, root_seed
        self._executor, self._store = executor, store
        self._backend = backend or open_backend("numpy")
        self._common = _common(theorem, root_seed, self._backend)
        self._hashes: dict[Cell, str] = {}
        controls = {control.id for control in theorem.controls}
        everything = [entry.id for entry in theorem.entries]
        self._seconds: dict[Key, float] = {}
        self._new: set[Key] = set()
        comparable = self._backend.name == "numpy"
        self._unconfirmed = set(everything) if store is not None and comparable else set()
        self._unrepeated = set(everything) - controls if comparable else set()

    def owned(self, shard: Shard, keys: Sequence[Key]) -> list[Key]:
        """Return those of some blocks that are a shard's."""
        self._register({cell for cell, _ in keys})
        return [(cell, block) for cell, block in keys if shard.owns(self._hashes[cell], block)]

    def fetch(self, keys: Sequence[Key], progress: Progress | None = None) -> dict[Key, Record]:
        """Return the records of some blocks."""
        self._register({cell for cell, _ in keys})
        found, missing = {}, []
        for key in dict.fromkeys(keys):
            stored = (self._hashes[key[0]], key[1])
            known = None if self._store is None else self._store.read(*stored)
            if self._store is None or known is None:
                missing.append(key)
            else:
                found[key] = known
                self._seconds[key] = self._store.seconds_of_block(*stored)
        self._confirm(_representing(self._unconfirmed, list(found)))
        self._compute(missing, found, progress)
        return found

    def computing(self) -> Computing:
        """Return how long the blocks that were fetched took, where and whenever they were."""
        return Computing.of(
            (key[0].ids, seconds, key in self._new) for key, seconds in self._seconds.items()
        )

    def _register(self, cells: Iterable[Cell]) -> None:
        """Remember the configuration hash of each cell, and let the store know what it is."""
        for cell in sorted(cells - self._hashes.keys(), key=repr):
            decisive = _decisive(self._common, cell)
            self._hashes[cell] = _hash(decisive)
            if self._store is not None:
                self._store.register(self._hashes[cell], {**decisive, "point": str(cell.point)})

    def _task_of(self, key: Key) -> _Task:
        theorem = self.theorem
        sent = theorem if theorem.origin is None or self._executor is None else None
        origin, backend = theorem.origin or "", self._backend.name
        return _Task(sent, origin, theorem.source, key, self._root_seed, backend)

    def _confirm(self, keys: Iterable[Key]) -> None:
        """Compute stored blocks again. Raises StoreError where one comes out differently."""
        tasks = [self._task_of(key) for key in keys]
        with closing(map_unordered(self._executor, _evaluate, tasks)) as results:
            for task, record in results:
                cell, block = task.key
                what = f"theorem {self.theorem.address!r}: block {block} at {cell.point}"
                assert self._store is not None
                self._store.confirm(self._hashes[cell], block, record, what)

    def _compute(
        self, missing: Sequence[Key], found: dict[Key, Record], progress: Progress | None
    ) -> None:
        """Add the records of missing blocks to those found, and to the store."""
        total = len(found) + len(missing)
        twice = _representing(self._unrepeated, missing)
        tasks = [self._task_of(key) for key in missing for _ in range(1 + (key in twice))]
        first: dict[Key, Record] = {}
        with closing(map_unordered(self._executor, Timed(_evaluate), tasks)) as results:
            for task, (record, seconds) in results:
                key = cell, block = task.key
                if key in twice:
                    if key not in first:
                        first[key] = record
                        continue
                    _require_same(self.theorem, key, self._root_seed, first[key], record)
                if self._store is not None:
                    self._store.write(self._hashes[cell], block, record, seconds)
                found[key] = record
                self._seconds[key] = seconds
                self._new.add(key)
                if progress is not None:
                    progress(len(found), total, f"{self.theorem.id}  {cell.point}")


def gathered(
    theorem: Theorem,
    planned: Sequence[Cell],
    root_seed: int,
    executor: AnyExecutor | None,
    store: Store | None,
    backend: Backend,
    progress: Progress | None,
) -> tuple[dict[Cell, Record], Computing]:
    """Return each cell's record, computing the blocks that are not stored, and what all took."""
    blocks = Blocks(theorem, root_seed, executor, store, backend)
    found = blocks.fetch(keys_of(theorem, planned), progress)
    records = {
        cell: Record.joined([found[cell, block] for block in range(_blocks(theorem, cell))])
        for cell in planned
    }
    return records, blocks.computing()


def recalled(
    theorem: Theorem, planned: Sequence[Cell], root_seed: int, store: Store | None, backend: Backend
) -> tuple[dict[Cell, Record], Computing]:
    """Return each cell's record from the store alone, and what all took. Raises RecordsMissing."""
    if store is None:
        raise InputError("compute=False takes records from a store, but store=None; give it one")
    common = _common(theorem, root_seed, backend)
    hashes = {cell: _hash(_decisive(common, cell)) for cell in planned}
    known = {
        cell: [store.read(hashes[cell], block) for block in range(_blocks(theorem, cell))]
        for cell in planned
    }
    total = sum(map(len, known.values()))
    missing = [
        (hashes[cell], block)
        for cell, records in known.items()
        for block, record in enumerate(records)
        if record is None
    ]
    if missing:
        raise RecordsMissing(
            f"{store.path} holds {total - len(missing)} of the {total} blocks of theorem "
            f"{theorem.address!r}; check it with compute=True to add the others",
            missing,
            total,
            sum(store.has_lost(*key) for key in missing),
        )
    joined = {
        cell: Record.joined([record for record in records if record is not None])
        for cell, records in known.items()
    }
    pieces = (
        (cell.ids, store.seconds_of_block(hashes[cell], block), False)
        for cell, records in known.items()
        for block in range(len(records))
    )
    return joined, Computing.of(pieces)


def keys_of(theorem: Theorem, planned: Sequence[Cell]) -> list[Key]:
    """Return all blocks of the cells that are planned."""
    return [(cell, block) for cell in planned for block in range(_blocks(theorem, cell))]


def _blocks(theorem: Theorem, cell: Cell) -> int:
    return math.ceil(cell.trials / theorem.block)


def _representing(left: set[str], blocks: Sequence[Key]) -> set[Key]:
    """Return a few of the blocks, on which each of the entries `left` is evaluated that can be;
    those are left no more."""
    chosen = set()
    for cell, block in blocks:
        if left & set(cell.ids):
            chosen.add((cell, block))
            left -= set(cell.ids)
    return chosen


def _require_same(theorem: Theorem, key: Key, root_seed: int, one: Record, other: Record) -> None:
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
    try:
        return evaluate_block(theorem, cell, task.root_seed, block, _backend(task.backend))
    except TheoremError:
        raise
    except InputError as reason:
        raise InputError(f"{reason} (at {cell.point})") from reason


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


def _hash(decisive: dict[str, Any]) -> str:
    text = json.dumps(decisive, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _common(theorem: Theorem, root_seed: int, backend: Backend) -> dict[str, Any]:
    """Return what decides the records of all cells alike."""
    return {
        "theorem": theorem.id,
        "root_seed": root_seed,
        "block": theorem.block,
        "backend": backend.name,
        "backend_version": backend.version,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "version": verify.__version__,
        "source": source_digest(theorem),
    }


def _decisive(common: dict[str, Any], cell: Cell) -> dict[str, Any]:
    """Return everything that decides the records of a cell."""
    return {
        **common,
        "canonical_point": cell.point.canonical,
        "control": cell.control,
        "claims": cell.claims,
        "measures": cell.measures,
        "assumptions": cell.assumptions,
    }
