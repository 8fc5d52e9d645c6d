"""Where blocks run: here, in a pool of processes, on a Dask cluster, or on any Executor."""

from verify.engine.executors.choosing import open_executor, require_executor
from verify.engine.executors.dask import DaskPool
from verify.engine.executors.mapping import map_unordered
from verify.engine.executors.pools import AnyExecutor, Pool
from verify.engine.executors.processes import ProcessPool
from verify.engine.executors.threads import one_thread
from verify.engine.executors.timing import Timed

__all__ = [
    "AnyExecutor",
    "DaskPool",
    "Pool",
    "ProcessPool",
    "Timed",
    "map_unordered",
    "one_thread",
    "open_executor",
    "require_executor",
]
