"""A pool of processes of this machine."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from typing import Any

from verify.engine.executors.interrupts import interrupts_ignored, never_interrupted
from verify.engine.executors.pools import Pool, Result, Task
from verify.engine.executors.spawning import variables, worker_variables
from verify.engine.executors.window import in_window
from verify.engine.plan import whole
from verify.errors import WorkersLost

_REBUILDS = 3
"""How often in a row a pool may break without finishing anything."""
_PATIENCE = 10.0
"""Seconds within which killed workers must be gone."""


class ProcessPool(Pool):
    """A spawned pool of `jobs` processes, one BLAS thread each, that outlives a killed worker.

    Use it as a context manager. `map_unordered` resubmits what a dead worker lost.
    """

    def __init__(self, jobs: int) -> None:
        self.jobs = whole("jobs", jobs, 1)
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> ProcessPool:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._discard(kill=kind is not None)

    def _open(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                self.jobs, mp_context=get_context("spawn"), initializer=_begin_worker
            )
        return self._pool

    def _discard(self, kill: bool = False) -> None:
        """Let the workers finish what they are at and end, or end them at once."""
        pool, self._pool = self._pool, None
        if pool is None:
            return
        if not kill:
            try:
                pool.shutdown(wait=True, cancel_futures=True)
                return
            except BaseException:
                _kill(pool)
                raise
        _kill(pool)

    def map_unordered(
        self, function: Callable[[Task], Result], tasks: Sequence[Task]
    ) -> Generator[tuple[Task, Result]]:
        """Yield (task, result) as they come. Raises WorkersLost if workers keep dying."""
        missing = dict(enumerate(tasks))
        deaths = 0

        def submit(number: int) -> Future[Result]:
            # A process is spawned by what it is to do.
            with variables(worker_variables()), never_interrupted():
                return self._open().submit(function, missing[number])

        while deaths <= _REBUILDS:
            try:
                for number, result in in_window(submit, list(missing)):
                    deaths = 0
                    yield missing.pop(number), result
                return
            except BrokenProcessPool:
                deaths += 1
                self._discard()
            except BaseException as reason:
                self._discard(kill=not isinstance(reason, Exception))
                raise
        raise WorkersLost(
            f"worker processes died {deaths} times in a row with {len(missing)} tasks still to do; "
            "they may lack memory (use fewer --jobs), or the script that started them runs again "
            "in each (put it under `if __name__ == '__main__':`). What was finished is stored"
        )


def _kill(pool: ProcessPoolExecutor) -> None:
    """End a pool's workers at once. A second interrupt meanwhile would leave it half-ended, for
    which Python then waits for ever, so there is none."""
    with interrupts_ignored():
        manager: Any = pool._executor_manager_thread
        for worker in list((pool._processes or {}).values()):
            worker.kill()
        pool.shutdown(wait=False, cancel_futures=True)
        if manager is not None:
            manager.join(_PATIENCE)


def _begin_worker() -> None:
    """Make a process a worker: the parent alone is interrupted, no worker outlives it, and what
    a theorem prints goes to stderr."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout = sys.stderr
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
