"""From what a command's --executor and --jobs say to where its blocks run."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, nullcontext

from verify.engine.executors.dask import DaskPool
from verify.engine.executors.pools import Pool
from verify.engine.executors.processes import ProcessPool
from verify.errors import InputError

_ADDRESS = re.compile(r"(tcp|tls)://(\[[0-9a-fA-F:.]+\]|[^\s/:\[\]]+):(\d{1,5})")


def require_executor(asked: str | None) -> None:
    """Raise what `open_executor` raises, or BackendUnavailable where Dask is not installed or no
    scheduler answers: before a command writes anything."""
    pool = open_executor(asked, 1)
    if isinstance(pool, DaskPool):
        pool.require_there()


def open_executor(asked: str | None, jobs: int) -> AbstractContextManager[Pool | None]:
    """Return a context manager of the workers that are asked for, None for this process.

    asked: None for `jobs` processes of ours (this one, if 1); "dask" for a Dask cluster of so many
    on this machine; "dask:tcp://HOST:PORT" for the workers of that scheduler, whatever `jobs` is.
    Raises InputError for anything else; entering it raises what `ProcessPool` and `DaskPool` do.
    """
    if asked is None:
        return ProcessPool(jobs) if jobs > 1 else nullcontext()
    kind, colon, address = asked.partition(":")
    if kind != "dask":
        raise InputError(
            f"executor={asked!r}, expected dask, or dask:tcp://HOST:PORT for a scheduler that runs "
            "(or none: --jobs worker processes)"
        )
    if not colon:
        return DaskPool(jobs)
    match = _ADDRESS.fullmatch(address)
    if match is None or not 0 < int(match[3]) < 2**16:
        raise InputError(
            f"executor={asked!r} has no address of a scheduler, expected dask:tcp://HOST:PORT as "
            "`dask scheduler` prints it, e.g. dask:tcp://10.0.0.5:8786"
        )
    return DaskPool(jobs, address)
