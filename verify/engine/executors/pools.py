"""What runs blocks in processes of its own, and outlives the death of one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Executor
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


class Pool(ABC):
    """Workers in other processes; a context manager, which ends those that are its own."""

    @abstractmethod
    def __enter__(self) -> Pool: ...

    @abstractmethod
    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None: ...

    @abstractmethod
    def map_unordered(
        self, function: Callable[[Task], Result], tasks: Sequence[Task]
    ) -> Generator[tuple[Task, Result]]:
        """Yield (task, result) as they come; what a dead worker lost is done again."""


AnyExecutor = Executor | Pool
"""Where blocks can run, besides here: a pool, or anything with the interface of
concurrent.futures.Executor (ThreadPoolExecutor, Dask's client.get_executor(pure=False),
mpi4py.futures)."""
