"""Two worker processes against one, and against two whose BLAS takes all the cores it finds."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import lru_cache, partial
from math import ceil
from multiprocessing import get_context

from benchmarks.pinning import THREAD_VARIABLES, variables
from benchmarks.tables import Progress, Table
from benchmarks.timing import alternately, seconds_of
from properties.catalogue import find_theorem
from verify.engine.evaluate import evaluate_block
from verify.engine.executors import ProcessPool, map_unordered
from verify.engine.plan import Cell, plan, profile_named
from verify.statistics import ErrorBudget
from verify.theorem import Theorem

Task = tuple[str, int, int]
"""Name of a theorem, position of a cell in its quick plan, number of a block."""


@lru_cache
def _planned(name: str) -> tuple[Theorem, tuple[Cell, ...]]:
    theorem = find_theorem(name)
    budget = ErrorBudget(0.05, theorem.registered)
    return theorem, plan(theorem, theorem.entries, profile_named("quick"), budget)


def evaluate(task: Task) -> tuple[int, int]:
    """Evaluate a block as the engine does; return the shape of its record."""
    name, cell, block = task
    theorem, cells = _planned(name)
    series, trials = evaluate_block(theorem, cells[cell], 0, block).data.shape
    return int(series), int(trials)


def tasks(name: str, blocks: int, examples: int | None = None) -> list[Task]:
    """Return the blocks 0…blocks − 1 of every cell of a theorem's quick plan.

    examples: only of the cells with this n.
    """
    cells = _planned(name)[1]
    chosen = [i for i, c in enumerate(cells) if examples in (None, c.point.get("n"))]
    return [(name, cell, block) for block in range(blocks) for cell in chosen]


def against_one(
    name: str,
    busy: float,
    budget: float,
    progress: Progress,
    examples: int | None = None,
) -> Table:
    """Measure blocks of a theorem on one worker, on two, and on two with an uncapped BLAS.

    busy: seconds that one worker is to be at work in every round, about; no less than one block
    of every cell is evaluated.   examples: only of the cells with this n.
    """
    progress(f"worker processes, {name}")
    with ExitStack() as stack:
        one = stack.enter_context(ProcessPool(1))
        two = stack.enter_context(ProcessPool(2))
        uncapped = stack.enter_context(ProcessPoolExecutor(2, mp_context=get_context("spawn")))
        once = tasks(name, 1, examples)
        _all(one, once)
        work = tasks(name, ceil(busy / seconds_of(partial(_all, one, once))), examples)
        with variables(dict.fromkeys(THREAD_VARIABLES)):  # what its workers inherit
            list(uncapped.map(evaluate, work))
        contenders: dict[str, Callable[[], object]] = {
            "one": partial(_all, one, work),
            "two": partial(_all, two, work),
            "uncapped": lambda: list(uncapped.map(evaluate, work)),
        }
        rounds = alternately(contenders, budget)
    row = {
        "what": name,
        "blocks": len(work),
        **{contender: rounds.spread(contender) for contender in contenders},
        "ratio": rounds.ratio("one", "two"),
        "uncapped_ratio": rounds.ratio("one", "uncapped"),
    }
    return Table(
        "workers",
        "Two worker processes against one",
        "Blocks of a built-in theorem, as `relu-verify run --jobs` sends them out. A pool caps the "
        "BLAS of its workers to one thread each; the last column is a plain pool that does not.",
        {
            "what": "blocks of",
            "blocks": "blocks",
            "one": "one worker (s)",
            "two": "two (s)",
            "uncapped": "two, BLAS uncapped (s)",
            "ratio": "one ÷ two",
            "uncapped_ratio": "one ÷ two uncapped",
        },
        [row],
    )


def _all(pool: ProcessPool, work: list[Task]) -> int:
    return sum(1 for _ in map_unordered(pool, evaluate, work))
