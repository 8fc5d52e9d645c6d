"""Ablation: which assumptions of a theorem matter. Each is dropped in turn and a violation sought.

With an assumption dropped, a claim's scope is what is left of the theorem's hypotheses (or, where
there are none, of what the claim is given); sufficient conditions of ours, which imply what is
claimed, are left out of every ablation. A violation shows that the assumption is load-bearing
only where that assumption is itself violated and the rest holds, on the very problem drawn.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from concurrent.futures import Executor

import numpy as np

from properties.ablation.findings import Found, find
from properties.ablation.question import Question, droppable
from verify.engine.executors import ProcessPool, map_unordered
from verify.engine.plan import whole
from verify.engine.store import Store
from verify.errors import InputError
from verify.loading import load_origin, source_digest
from verify.theorem import Theorem

EXAMPLES = 150
"""What Hypothesis draws for an assumption, by default."""

VERSION = 1
"""Of how it is searched: a theorem's own digest does not tell of it where the theorem is a file."""

Progress = Callable[[int, int, str], None]
"""Called with how many searches are done, of how many, and the assumption of the last one."""

_Task = tuple[str | None, Theorem | None, str, int, int]


def ablate(
    theorem: Theorem,
    *,
    examples: int = EXAMPLES,
    root_seed: int = 0,
    executor: Executor | ProcessPool | None = None,
    store: Store | None = None,
    progress: Progress | None = None,
) -> tuple[Found, ...]:
    """Search for violations with nothing dropped (the baseline, first), then without each
    assumption; return what was found, in the order of the theorem's assumptions.

    examples: points that Hypothesis draws for each; the edges of the space, and what lies between
    a violation and what is assumed, come on top.   executor: None runs here; else see
    `verify.engine.executors`.   store: where finished searches are kept, and found again.
    The answer follows from theorem, examples and seed alone.
    Raises InputError for unusable arguments or a theorem without axes or assumptions, TheoremError
    for functions that misbehave, StoreError.
    """
    examples, root_seed = whole("examples", examples, 1), whole("root_seed", root_seed, 0)
    names = ["", *(assumption.id for assumption in droppable(theorem))]
    if len(names) == 1:
        raise InputError(
            f"theorem {theorem.address!r} assumes nothing that could be dropped; give its claims "
            "given=(Assumption(…), …)"
        )
    found = dict(_recalled(theorem, names, examples, root_seed, store))
    missing = [name for name in names if name not in found]
    sent = None if theorem.origin else theorem
    tasks: list[_Task] = [(theorem.origin, sent, name, examples, root_seed) for name in missing]
    for task, one in map_unordered(executor, find_task, tasks):
        found[task[2]] = one
        if store is not None:
            store.remember(_hash(theorem, task[2], examples, root_seed), one.to_json())
        if progress is not None:
            progress(len(found), len(names), task[2] or "nothing dropped")
    return tuple(found[name] for name in names)


def find_task(task: _Task) -> Found:
    """Search without one assumption, in any process: (origin, theorem, assumption id or "",
    examples, root seed)."""
    origin, theorem, name, examples, root_seed = task
    known = theorem if theorem is not None else load_origin(origin or "")
    dropped = known.assumption(name) if name else None
    return find(Question(known, dropped), examples, root_seed)


def _recalled(
    theorem: Theorem, names: list[str], examples: int, root_seed: int, store: Store | None
) -> Iterator[tuple[str, Found]]:
    if store is None:
        return
    if not theorem.origin and not theorem.source:
        raise InputError(
            f"theorem {theorem.id!r} was not loaded from a file, so its records could not be told "
            "from those of another definition; run it with store=None, or save it and use "
            "verify.load_file(path)"
        )
    for name in names:
        known = store.recall(_hash(theorem, name, examples, root_seed), Found.from_json)
        if known is not None:
            yield name, known


def _hash(theorem: Theorem, name: str, examples: int, root_seed: int) -> str:
    """Return the hash of everything that decides what a search without an assumption finds."""
    import hypothesis

    decides = (
        "ablation",
        source_digest(theorem),
        VERSION,
        theorem.id,
        name,
        examples,
        root_seed,
        hypothesis.__version__,
        np.__version__,
    )
    return hashlib.sha256(json.dumps(decides).encode()).hexdigest()[:32]
