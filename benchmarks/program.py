"""What is measured, and at which sizes."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import checkouts, memory, sampled, wishart, workers
from benchmarks.goals import goals
from benchmarks.pinning import one_core
from benchmarks.tables import Progress, Table


@dataclass(frozen=True)
class Sizes:
    """Sizes of everything that is measured; see the functions that take them.

    budget: seconds for the rounds of one row, beyond the fewest.   theirs: (n, d) of the problems
    that are also solved the way one would write it.   workers: a theorem, and seconds a round for
    one worker process.
    """

    budget: float
    wishart: Sequence[tuple[int, int]]
    stages: Sequence[tuple[int, int]]
    flatness: Sequence[tuple[int, int]]
    sampled: Sequence[tuple[int, int, int]]
    dimension: tuple[int, Sequence[float]]
    theirs: Sequence[tuple[int, int]]
    memory: Sequence[tuple[int, int]]
    workers: tuple[str, float]
    against: Sequence[tuple[str, int, float, int]]


_SMALL_WISHART = (
    *((20, batch) for batch in (1, 16, 64, 256, 1024, 4096)),
    *((50, batch) for batch in (1, 16, 64, 256, 1024)),
    *((100, batch) for batch in (1, 16, 64)),
)
_SMALL_SAMPLED = (
    *((20, 2_000, batch) for batch in (1, 16, 64)),
    *((50, 5_000, batch) for batch in (1, 16)),
    (100, 10_000, 1),
)
_SMALL_AGAINST = (
    ("wishart", 20, 20_000.0, 256),
    ("wishart", 50, 50_000.0, 256),
    ("wishart", 100, 100_000.0, 1),
    ("sampled", 20, 2_000.0, 64),
    ("sampled", 100, 10_000.0, 1),
)

FULL = Sizes(
    budget=1.0,
    wishart=(*_SMALL_WISHART, (500, 1), (1_000, 1), (2_000, 1)),
    stages=((20, 256), (50, 256), (100, 1), (500, 1), (1_000, 1)),
    flatness=((20, 256), (100, 16), (1_000, 1)),
    sampled=(*_SMALL_SAMPLED, (500, 50_000, 1), (1_000, 100_000, 1)),
    dimension=(100, (2e3, 1e4, 1e5, 1e6, 1e9, 1e12)),
    theirs=((20, 2_000), (100, 10_000), (500, 50_000)),
    memory=((1_000, 10**6),),
    workers=("theorem2", 2.0),
    against=(
        *_SMALL_AGAINST,
        ("wishart", 500, 500_000.0, 1),
        ("wishart", 1_000, 1e6, 1),
        ("sampled", 500, 50_000.0, 1),
    ),
)

QUICK = Sizes(
    budget=0.5,
    wishart=(*_SMALL_WISHART, (500, 1)),
    stages=((20, 256), (100, 1)),
    flatness=((20, 256), (100, 16)),
    sampled=_SMALL_SAMPLED,
    dimension=(100, (2e3, 1e4, 1e5, 1e9, 1e12)),
    theirs=((20, 2_000), (100, 10_000)),
    memory=((100, 10**5),),
    workers=("theorem2", 0.5),
    against=_SMALL_AGAINST,
)


def can_compare() -> bool:
    """Whether the libraries of the extra `benchmarks` are installed."""
    return all(importlib.util.find_spec(name) for name in ("torch", "cvxpy", "jax"))


def measure(sizes: Sizes, progress: Progress, against: Path | None = None) -> Iterator[Table]:
    """Yield the tables as they are measured; the goals last."""
    done: list[Table] = []
    for table in _measured(sizes, progress, against):
        done.append(table)
        yield table
    yield goals(done)


def _measured(sizes: Sizes, progress: Progress, against: Path | None) -> Iterator[Table]:
    budget = sizes.budget
    with one_core():
        yield wishart.against_floor(sizes.wishart, budget, progress)
        yield wishart.by_stage(sizes.stages, progress)
        yield wishart.flatness(sizes.flatness, budget, progress)
        yield sampled.against_floor(sizes.sampled, budget, progress)
        yield sampled.by_dimension(*sizes.dimension, budget, progress)
        if can_compare():
            from benchmarks.otherwise import comparing

            yield comparing.against(sizes.theirs, budget, progress)
        if against is not None:
            yield checkouts.against(against, sizes.against, budget, progress)
    yield memory.peaks(sizes.memory, progress)
    yield workers.against_one(*sizes.workers, budget, progress)
