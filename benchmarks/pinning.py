"""One core and one BLAS thread: what is compared here is compared without parallelism.

Imports nothing that loads a BLAS, so that its variables can be set before one is loaded.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


def one_blas_thread() -> None:
    """Have every BLAS that is loaded from now on, here and in child processes, use one thread."""
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))


def can_choose_cores() -> bool:
    """Whether this system lets a process choose the cores that it runs on; macOS does not."""
    return hasattr(os, "sched_setaffinity")


@contextmanager
def one_core() -> Iterator[None]:
    """Keep this thread, and the threads and processes that it starts inside, on one core.

    Where the system cannot do that nothing happens, and `can_choose_cores` says so.
    """
    if not can_choose_cores():
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def variables(changed: dict[str, str | None]) -> Iterator[None]:
    """Change environment variables inside the block; None takes one away."""
    before = {name: os.environ.get(name) for name in changed}
    try:
        _set(changed)
        yield
    finally:
        _set(before)


def _set(changed: dict[str, str | None]) -> None:
    for name, value in changed.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
