"""How long work takes where it is done."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Generic

from verify.engine.executors.pools import Result, Task

clock = time.perf_counter
"""Seconds from some moment on."""


class Timed(Generic[Task, Result]):
    """A function that also returns how many seconds it took, by the clock on the wall.

    It goes out to workers as the function itself does.
    """

    def __init__(self, function: Callable[[Task], Result]) -> None:
        self.function = function
        self.__module__ = function.__module__  # whose sources workers are to have

    def __call__(self, task: Task) -> tuple[Result, float]:
        """Return what the function returns, and the seconds."""
        began = clock()
        result = self.function(task)
        return result, clock() - began
