"""Tasks and their results, wherever they are done."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import BrokenExecutor, Executor

from verify.engine.executors.orders import Order
from verify.engine.executors.pools import AnyExecutor, Pool, Result, Task
from verify.engine.executors.threads import one_thread
from verify.engine.executors.window import in_window
from verify.errors import ReluVerifyError


def map_unordered(
    executor: AnyExecutor | None,
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
) -> Generator[tuple[Task, Result]]:
    """Yield (task, result) for every task, in any order: one by one, here, if executor is None.

    executor: None, a `ProcessPool`, or anything with the interface of
    concurrent.futures.Executor (Dask's client.get_executor(pure=False), mpi4py.futures).
    """
    if executor is None:
        with one_thread():
            for task in tasks:
                yield task, function(task)
    elif isinstance(executor, Pool):
        yield from executor.map_unordered(function, tasks)
    else:
        yield from _on_executor(executor, function, tasks)


def _on_executor(
    executor: Executor, function: Callable[[Task], Result], tasks: Sequence[Task]
) -> Generator[tuple[Task, Result]]:
    order = Order.of(function)
    try:
        yield from in_window(lambda task: executor.submit(order.carried_out, task), tasks)
    except BrokenExecutor as reason:
        raise ReluVerifyError(
            f"the executor broke ({reason}); what was finished is stored: run again"
        ) from reason
