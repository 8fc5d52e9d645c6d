"""The environment of the processes that we start."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
_ALLOCATOR = {
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": str(2**25),
    "MALLOC_TRIM_THRESHOLD_": str(2**30),
}
"""Of glibc: what a block frees the next one gets. Where it goes back to the system instead, as by
default from threads (and always in Dask's workers), the page faults of the next block take up to
half of the time. 32 MiB is the most that the second may be."""


def worker_variables() -> dict[str, str]:
    """Return what the environment of a worker process has besides ours: one thread for BLAS, and
    an allocator that keeps memory, unless ours says something of that."""
    kept = {name: value for name, value in _ALLOCATOR.items() if name not in os.environ}
    return {**dict.fromkeys(THREAD_VARIABLES, "1"), **kept}


@contextmanager
def variables(values: Mapping[str, str]) -> Iterator[None]:
    """Set variables of the environment, which processes spawned meanwhile inherit."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
