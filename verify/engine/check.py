"""Check a theorem: sample its claims, keep the records, and say what they show."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

import verify
from verify.arrays import Backend
from verify.arrays import backend as open_backend
from verify.engine.conclude import conclude
from verify.engine.evaluate import Record, evaluate_block
from verify.engine.executors import ProcessPool, map_unordered
from verify.engine.plan import Cell, plan, profile_named, replace_cells, trials_of
from verify.engine.store import Store
from verify.errors import InputError, TheoremError
from verify.loading import load_origin, source_digest
from verify.statistics import ErrorBudget
from verify.theorem import Point, Theorem
from verify.verdict import Verdicts

Progress = Callable[[int, int, str], None]
"""Called with (blocks done, blocks in all, what was done last)."""


@dataclass(frozen=True)
class _Task:
    """One block to evaluate, small enough to send to another process."""

    origin: str | None
    theorem: Theorem | None
    cell: Cell
    root_seed: int
    block: int
    backend: str


def check(
    theorem: Theorem,
    *,
    profile: str = "quick",
    cells: Iterable[Point] | None = None,
    trials: int | None = None,
    confidence: float = 0.95,
    root_seed: int = 0,
    executor: Executor | ProcessPool | None = None,
    store: Store | None = None,
    backend: str = "numpy",
    progress: Progress | None = None,
) -> Verdicts:
    """Sample every claim and control of `theorem` and return a verdict on each.

    profile: "quick", "full" or "nightly".   cells: points that replace those of universal and
    with-probability claims.   trials: a cell, in place of the profile's.   confidence: that
    nothing stated here is wrong, over all claims and controls together.   executor: None runs
    here; else see `verify.engine.executors`.   store: where blocks are kept and found again, so
    that an interrupted check goes on.

    The verdicts follow from the theorem, the profile (or cells and trials), the confidence and
    the root seed alone. Raises InputError for unusable arguments, TheoremError for a theorem
    that is not written as the vocabulary asks, StoreError, BackendUnavailable.
    """
    began = time.perf_counter()
    budget = ErrorBudget(1.0 - confidence, theorem.registered)
    if root_seed < 0:
        raise InputError(f"root_seed={root_seed}, expected a whole number >= 0")
    if cells is not None:
        theorem = replace_cells(theorem, cells)
    chosen = profile_named(profile)
    planned = plan(theorem, chosen, budget, trials)
    records = _gather(theorem, planned, root_seed, executor, store, backend, progress)
    registered = [*theorem.claims, *(control.claim for control in theorem.controls)]
    verdicts = tuple(
        conclude(
            theorem,
            claim,
            planned,
            records,
            budget,
            trials_of(theorem, claim, chosen, budget, trials),
        )
        for claim in registered
    )
    return Verdicts(verdicts, budget.total, time.perf_counter() - began)


def _gather(
    theorem: Theorem,
    planned: Sequence[Cell],
    root_seed: int,
    executor: Executor | ProcessPool | None,
    store: Store | None,
    backend: str,
    progress: Progress | None,
) -> dict[tuple[Cell, int], Record]:
    """Return the records of all blocks of the planned cells, computing those not stored."""
    on = open_backend(backend)
    if executor is not None and theorem.origin is None and isinstance(executor, ProcessPool):
        raise InputError(
            f"theorem {theorem.id!r} was not loaded from a file, so worker processes cannot find "
            "it; run it with executor=None, or save it and use verify.load_file(path)"
        )
    hashes = {cell: _register(theorem, cell, root_seed, on, store) for cell in planned}
    records: dict[tuple[Cell, int], Record] = {}
    tasks = []
    for cell in planned:
        for block in range(math.ceil(cell.trials / theorem.block)):
            known = store.read(hashes[cell], block) if store is not None else None
            if known is not None:
                records[cell, block] = known
            else:
                sent = theorem if theorem.origin is None or executor is None else None
                tasks.append(_Task(theorem.origin, sent, cell, root_seed, block, backend))
    total = len(records) + len(tasks)
    for task, record in map_unordered(executor, _evaluate, tasks):
        if store is not None:
            store.write(hashes[task.cell], task.block, record)
        records[task.cell, task.block] = record
        if progress is not None:
            progress(len(records), total, f"{theorem.id}  {task.cell.point}")
    return records


def _evaluate(task: _Task) -> Record:
    theorem = task.theorem
    if theorem is None:
        if task.origin is None:
            raise TheoremError("a task without a theorem")
        theorem = load_origin(task.origin)
    return evaluate_block(theorem, task.cell, task.root_seed, task.block, _backend(task.backend))


@lru_cache(maxsize=8)
def _backend(name: str) -> Backend:
    return open_backend(name)


def _register(
    theorem: Theorem, cell: Cell, root_seed: int, backend: Backend, store: Store | None
) -> str:
    """Return the configuration hash of a cell: everything that decides its records."""
    description: dict[str, Any] = {
        "theorem": theorem.id,
        "point": str(cell.point),
        "canonical_point": cell.point.canonical,
        "control": cell.control,
        "claims": cell.claims,
        "root_seed": root_seed,
        "block": theorem.block,
        "backend": backend.name,
        "backend_version": backend.version,
        "numpy": np.__version__,
        "version": verify.__version__,
        "source": source_digest(theorem),
    }
    text = json.dumps(description, sort_keys=True)
    hash_ = hashlib.sha256(text.encode()).hexdigest()[:32]
    if store is not None:
        store.register(hash_, description)
    return hash_
