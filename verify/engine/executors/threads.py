"""One BLAS thread for every block: faster on small matrices, and the same rounding everywhere."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from verify.engine.executors.spawning import THREAD_VARIABLES, variables

_counting = threading.Lock()
_caps: list[Any] = []
"""What caps BLAS in this process: one for everybody who is in `one_thread` now."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Cap BLAS to one thread while at least one thread of this process is in here.

    Of most libraries the cap is the whole process's, of those that use OpenMP it is that of the
    thread that sets it: so everybody sets it, and the last one to leave lifts it.
    """
    import scipy.linalg  # noqa: F401 (its BLAS must be loaded by now to be capped)
    from threadpoolctl import threadpool_limits

    with _counting:
        _caps.append(threadpool_limits(limits=1))
    try:
        yield
    finally:
        with _counting:
            cap = _caps.pop()  # the last is the first, which knows what it was before
            if not _caps:
                cap.restore_original_limits()


@contextmanager
def thread_variables() -> Iterator[None]:
    """Cap BLAS in the processes spawned meanwhile, by the environment that they inherit."""
    with variables(dict.fromkeys(THREAD_VARIABLES, "1")):
        yield
