"""Work for a process elsewhere: tasks, with what it must have to give the records of this one."""

from __future__ import annotations

import os
import pickle
import platform
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

from verify.engine.executors.environment import Environment, environment
from verify.engine.executors.threads import one_thread
from verify.errors import BackendUnavailable, ReluVerifyError
from verify.loading import loaded_files
from verify.provided import Sources, provide

_OURS = {"verify", "properties", "reports"}
"""The packages of this distribution."""


@dataclass(frozen=True)
class Order:
    """A function to be called in another process, or in a thread of this one.

    sender: the process that it comes from.   environment: what that process computes with.
    files: the theorem files that it has loaded.
    """

    function: Callable[[Any], Any]
    sender: tuple[str, int]
    environment: Environment
    files: Mapping[str, Sources]

    @staticmethod
    def of(function: Callable[[Any], Any]) -> Order:
        """Return this process's order to call a function."""
        package = function.__module__.partition(".")[0]
        packages = {"verify", package} & _OURS
        return Order(function, process(), environment(packages), loaded_files())

    def carried_out(self, task: Any) -> Any:
        """Call the function here, with BLAS capped.

        Raises BackendUnavailable where this process would give other records than the sender,
        InputError where it has another theorem file.
        """
        self.require_fit()
        with one_thread():
            return self.function(task)

    def require_fit(self) -> None:
        """Take over the sender's theorem files, where this process gives the records of that."""
        if self.sender == process():
            return
        here = environment(self.environment.sources.keys())
        if difference := self.environment.difference(here):
            raise BackendUnavailable(f"the worker on {platform.node()} {difference}")
        provide(self.files)


def process() -> tuple[str, int]:
    """Return what tells this process from all others: its machine and number."""
    return platform.node(), os.getpid()


def carry_out(payload: bytes) -> bytes:
    """Carry out a pickled (order, tasks) until one fails; return what came of it, pickled:
    (results, seconds taken, the exception of the task that failed or None)."""
    results: list[Any] = []
    began = time.perf_counter()
    error: BaseException | None = None
    try:
        order, tasks = pickle.loads(payload)
        order.require_fit()
        with redirect_stdout(sys.stderr), one_thread():
            for task in tasks:
                results.append(order.function(task))
    except (Exception, SystemExit) as reason:
        error = _told(reason)
    seconds = time.perf_counter() - began
    try:
        return pickle.dumps((results, seconds, error))
    except Exception as reason:
        unsent = ReluVerifyError(f"a task's outcome cannot be sent back: {reason} ({error!r})")
        return pickle.dumps(([], seconds, unsent))


def _told(error: BaseException) -> BaseException:
    """Return an exception of a task as the sender is to meet it."""
    chain: BaseException | None = error
    while chain is not None:
        if isinstance(chain, ImportError):
            return BackendUnavailable(
                f"the worker on {platform.node()} cannot do its task: {error}; install there what "
                "the theorem imports"
            )
        chain = chain.__cause__
    if not isinstance(error, ReluVerifyError):
        lines = traceback.format_exception(error)
        error.add_note(f"On the worker {platform.node()}:\n{''.join(lines)}")
    return error
