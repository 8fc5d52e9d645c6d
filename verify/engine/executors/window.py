"""Tasks sent out a limited number at a time: what waits takes memory, here and elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from concurrent.futures import BrokenExecutor, Future
from itertools import islice
from queue import SimpleQueue

from verify.engine.executors.pools import Result, Task

OUTSTANDING = 1000
"""Tasks that are sent out and not done, at most."""


def in_window(
    submit: Callable[[Task], Future[Result]], tasks: Iterable[Task]
) -> Generator[tuple[Task, Result]]:
    """Yield (task, result) as they come; raise what a task raises. Closed early, it cancels what
    has not begun."""
    left = iter(tasks)
    running: dict[Future[Result], Task] = {}
    done: SimpleQueue[Future[Result]] = SimpleQueue()
    try:
        while True:
            for task in islice(left, OUTSTANDING - len(running)):
                future = submit(task)
                running[future] = task
                future.add_done_callback(done.put)
            if not running:
                return
            future = done.get()
            yield running.pop(future), future.result()
    except BrokenExecutor:
        running.clear()  # it ends them itself, and fails where one has been cancelled meanwhile
        raise
    finally:
        for future in running:
            future.cancel()
