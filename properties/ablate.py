"""Ablation: which assumptions of a theorem matter. Each is dropped in turn and a violation sought.

With an assumption dropped, a claim's scope is what is left of the theorem's hypotheses (or, where
there are none, of what the claim is given); sufficient conditions of ours, which imply what is
claimed, are left out of every ablation. A violation shows that the assumption is load-bearing
only where that assumption is itself violated and the rest holds, on the very problem drawn.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from properties.ablation.findings import Found, find
from properties.ablation.question import Question, droppable
from verify.engine.executors import AnyExecutor, map_unordered
from verify.engine.plan import whole
from verify.engine.store import Store
from verify.errors import InputError
from verify.loading import load_origin, source_digest
from verify.theorem import Theorem

EXAMPLES = 150
"""What Hypothesis draws for an assumption, by default."""

VERSION = 2
"""Of how it is searched: a theorem's own digest does not tell of it where the theorem is a file."""

Progress = Callable[[int, int, str], None]
"""Called with how many searches are done, of how many, and the assumption of the last one."""

_Task = tuple[str | None, Theorem | None, str, tuple[str, ...], int, int]


def ablate(
    theorem: Theorem,
    *,
    examples: int = EXAMPLES,
    root_seed: int = 0,
    executor: AnyExecutor | None = None,
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
    found: dict[str, Found] = {}
    failing: tuple[str, ...] = ()
    for group in (names[:1], names[1:]):  # what fails with nothing dropped is not asked further
        how = (failing, examples, root_seed)
        found |= _recalled(theorem, group, how, store)
        missing = [name for name in group if name not in found]
        sent = None if theorem.origin else theorem
        tasks: list[_Task] = [(theorem.origin, sent, name, *how) for name in missing]
        for task, one in map_unordered(executor, find_task, tasks):
            found[task[2]] = one
            if store is not None:
                store.remember(_hash(theorem, task[2], how), one.to_json())
            if progress is not None:
                progress(len(found), len(names), task[2] or "nothing dropped")
        failing = tuple(one.claim for one in found[""].claims if one.worst is not None)
    return tuple(found[name] for name in names)


def find_task(task: _Task) -> Found:
    """Search without one assumption, in any process: (origin, theorem, assumption id or "", ids of
    claims that are not asked about, examples, root seed)."""
    origin, theorem, name, failing, examples, root_seed = task
    known = theorem if theorem is not None else load_origin(origin or "")
    dropped = known.assumption(name) if name else None
    return find(Question(known, dropped, failing), examples, root_seed)


def _recalled(
    theorem: Theorem, names: list[str], how: tuple[Any, ...], store: Store | None
) -> dict[str, Found]:
    if store is None:
        return {}
    if not theorem.origin and not theorem.source:
        raise InputError(
            f"theorem {theorem.id!r} was not loaded from a file, so its records could not be told "
            "from those of another definition; run it with store=None, or save it and use "
            "verify.load_file(path)"
        )
    known = {name: store.recall(_hash(theorem, name, how), _found_of) for name in names}
    return {name: one for name, one in known.items() if one is not None}


def _found_of(content: Mapping[str, Any]) -> Found:
    """Return a stored search. Raises ValueError for one that no search can have written."""
    found = Found.from_json(content)
    counts = [found.examples, found.tested, *(one.tested for one in found.claims)]
    if not all(type(count) is int and count >= 0 for count in counts):
        raise ValueError("a count is of another type")
    return found


def _hash(theorem: Theorem, name: str, how: tuple[Any, ...]) -> str:
    """Return the hash of everything that decides what a search without an assumption finds."""
    import hypothesis

    decides = (
        "ablation",
        source_digest(theorem),
        VERSION,
        theorem.id,
        name,
        *how,
        hypothesis.__version__,
        np.__version__,
    )
    return hashlib.sha256(json.dumps(decides).encode()).hexdigest()[:32]
