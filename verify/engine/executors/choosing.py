"""From what a command's --executor and --jobs say to where its blocks run."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from verify.engine.executors.pools import Pool
from verify.engine.executors.processes import ProcessPool
from verify.errors import InputError


def open_executor(asked: str | None, jobs: int) -> AbstractContextManager[Pool | None]:
    """Return a context manager of the workers that are asked for, None for this process."""
    if asked is None:
        return ProcessPool(jobs) if jobs > 1 else nullcontext()
    raise InputError(f"executor={asked!r}, expected none: worker processes alone are known so far")
