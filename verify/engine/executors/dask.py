"""Workers of a Dask cluster: one of this machine, or an existing one by its scheduler's address."""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Any

from verify.engine.executors.by_value import carry_out_by_value, environment_by_value
from verify.engine.executors.environment import environment
from verify.engine.executors.interrupts import interrupts_deferred, interrupts_ignored
from verify.engine.executors.orders import Order
from verify.engine.executors.pools import Pool, Result, Task
from verify.engine.executors.spawning import variables, worker_variables
from verify.engine.executors.watching import WATCH, Watch
from verify.engine.executors.window import OUTSTANDING
from verify.engine.plan import whole
from verify.errors import BackendUnavailable, ReluVerifyError, WorkersLost

_CONNECTING = 5.0
"""Seconds within which a scheduler is to answer when it is first asked."""
_ENDING = 1.0
"""Seconds after which a worker of our own that does not end is killed."""
_RESUBMISSIONS = 2
"""How often in a row Dask may give work up because workers died of it, and get it again."""
_CHUNK_SECONDS, _LARGEST_CHUNK = 0.2, 16
"""Tasks that together take about so long go out together, at most so many: each thing that goes
out costs Dask a millisecond or two."""


class DaskPool(Pool):
    """The workers of a Dask cluster.

    address: of a scheduler that runs, "tcp://HOST:PORT". Without one a cluster of `jobs` worker
    processes, one thread each, is started on this machine, and ended on leaving.
    Workers need the relu-verify, numpy and scipy of this process, and are to round as it does; a
    theorem's file is sent to those that do not see it. What a worker that dies was at is done by
    another.
    Entering raises BackendUnavailable where `distributed` is not installed, no scheduler answers,
    or a worker would give other records.
    """

    def __init__(self, jobs: int = 1, address: str | None = None) -> None:
        self.jobs, self.address = whole("jobs", jobs, 1), address
        self._client: Any = None
        self._cluster: Any = None
        self._stack = ExitStack()

    def __enter__(self) -> DaskPool:
        distributed = _distributed()
        self._stack.enter_context(_quiet())
        try:
            self.require_there()
            with interrupts_deferred():
                self._connect(distributed)
            self._require_fit()
        except BaseException:
            self._leave()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._leave()

    def require_there(self) -> None:
        """Raise BackendUnavailable where `distributed` is not installed or no scheduler answers;
        start nothing."""
        distributed = _distributed()
        if self.address is not None:
            with _quiet():
                _require_answer(distributed, self.address)

    def _connect(self, distributed: Any) -> None:
        if self.address is None:
            self._cluster = self._started(distributed)
        where = self._cluster or self.address
        try:
            self._client = distributed.Client(where, timeout=_CONNECTING, set_as_default=False)
        except (OSError, ValueError) as reason:
            raise _silent(self.address, reason) from reason

    def _started(self, distributed: Any) -> Any:
        """Return a cluster of our own."""
        from dask import config

        here = {**worker_variables(), "PYTHONHASHSEED": os.environ.get("PYTHONHASHSEED", "0")}
        self._stack.enter_context(variables(here))  # Dask sets them in this process, and for good
        try:
            with config.set({"distributed.nanny.pre-spawn-environ": worker_variables()}):
                return distributed.LocalCluster(
                    n_workers=self.jobs,
                    threads_per_worker=1,
                    processes=True,
                    host="127.0.0.1",
                    dashboard_address="127.0.0.1:0",
                    scheduler_kwargs={"dashboard": False},
                    memory_limit=0,
                    silence_logs=logging.CRITICAL,
                )
        except RuntimeError as reason:
            raise ReluVerifyError(
                f"no Dask cluster of {self.jobs} workers could be started ({reason}); the script "
                "that starts it may run again in each (put it under `if __name__ == '__main__':`)"
            ) from reason

    def _leave(self) -> None:
        client, cluster, self._client, self._cluster = self._client, self._cluster, None, None
        with self._stack, interrupts_ignored():
            if client is not None:
                client.close(timeout=_CONNECTING)
            if cluster is not None:
                cluster.sync(_end_workers, cluster)
                cluster.close(timeout=_CONNECTING)

    def _require_fit(self) -> None:
        """Raise BackendUnavailable where a worker that is there would give other records."""
        mine = environment({"verify"})
        try:
            told = self._client.run(environment_by_value(), on_error="return")
        except OSError as reason:
            raise Watch(self._client, self.address).gone(0) from reason
        unfit = []
        for worker, answer in told.items():
            if isinstance(answer, bytes):  # else it is gone again
                there = pickle.loads(answer)
                said = there if isinstance(there, str) else mine.difference(there)
                unfit += [f"the Dask worker {worker} {said}"] if said else []
        if unfit:
            more = f", and {len(unfit) - 3} more are unfit" if len(unfit) > 3 else ""
            raise BackendUnavailable("; ".join(unfit[:3]) + more)

    def map_unordered(
        self, function: Callable[[Task], Result], tasks: Sequence[Task]
    ) -> Generator[tuple[Task, Result]]:
        """Yield (task, result) as they come. Raises BackendUnavailable if the cluster goes away,
        WorkersLost if workers die of a task again and again."""
        if not tasks:
            return
        order, sent = Order.of(function), carry_out_by_value()
        left, running = deque(range(len(tasks))), dict[Any, tuple[int, ...]]()
        watch = Watch(self._client, self.address)
        chunks, done, losses = _Chunks(watch.threads()), SimpleQueue[Any](), 0
        try:
            while left or running:
                while left and len(running) < chunks.outstanding:
                    numbers = tuple(left.popleft() for _ in range(chunks.size(len(left))))
                    payload = pickle.dumps((order, [tasks[number] for number in numbers]))
                    future = self._client.submit(sent, payload, pure=False)
                    running[future] = numbers
                    future.add_done_callback(done.put)
                unfinished = len(left) + sum(map(len, running.values()))
                future = watch.wait(partial(done.get, timeout=WATCH), unfinished)
                numbers = running.pop(future)
                outcome = watch.wait(partial(_outcome, future), unfinished)
                if outcome is None:
                    losses += 1
                    if losses > _RESUBMISSIONS:
                        raise WorkersLost(
                            f"workers died {losses} times in a row of the same work, with "
                            f"{unfinished} tasks still to do; they may lack memory: see their "
                            "logs. What was finished is stored"
                        )
                    left.extendleft(reversed(numbers))
                    chunks.mean = None
                    continue
                losses = 0
                results, seconds, error = outcome
                for number, result in zip(numbers, results, strict=False):
                    yield tasks[number], result
                if error is not None:
                    raise error
                chunks.mean = seconds / len(numbers)
        finally:
            watch.cancel(list(running))


@dataclass
class _Chunks:
    """How many tasks go out together.   mean: seconds of a task, lately; None: not known."""

    threads: int
    mean: float | None = None

    @property
    def outstanding(self) -> int:
        """Chunks that are sent out at a time."""
        return OUTSTANDING if self.mean is not None else max(4, 2 * self.threads)

    def size(self, left: int) -> int:
        """Tasks of the next chunk: fewer near the end, so that all workers have some."""
        if self.mean is None:
            return 1
        wanted = round(_CHUNK_SECONDS / self.mean) if self.mean else _LARGEST_CHUNK
        return max(1, min(wanted, _LARGEST_CHUNK, left // (2 * max(1, self.threads))))


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as reason:
        raise BackendUnavailable(
            f"Dask is not installed ({reason}); pip install 'relu-verify[dask]', or leave out "
            "--executor"
        ) from reason
    return distributed


def _require_answer(distributed: Any, address: str) -> None:
    """Raise BackendUnavailable unless what listens there speaks Dask's protocol.

    Before there is a client: one that has met anything else can be neither used nor closed.
    """
    try:
        with ThreadPoolExecutor(1) as apart:  # this thread may have a loop, as in a notebook
            apart.submit(asyncio.run, _greet(distributed, address)).result()
    except Exception as reason:  # whatever Dask makes of somebody else's bytes
        raise _silent(address, reason) from reason


async def _greet(distributed: Any, address: str) -> None:
    secured = distributed.Security().get_connection_args("client")
    comm = await distributed.comm.connect(address, timeout=_CONNECTING, **secured)
    await comm.close()


def _silent(address: object, reason: Exception) -> BackendUnavailable:
    return BackendUnavailable(
        f"no Dask scheduler answers at {address} ({reason}); start one with `dask scheduler` and "
        "workers with `dask worker ADDRESS`, or say --executor dask for workers of this machine"
    )


async def _end_workers(cluster: Any) -> None:
    """End a local cluster's workers, whatever they are at: nobody waits for it any more."""
    ends = (nanny.close(timeout=_ENDING) for nanny in cluster.workers.values())
    await asyncio.gather(*ends, return_exceptions=True)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep distributed's log lines and warnings off stderr: what matters is told as an error."""
    from distributed.utils import silence_logging_cmgr
    from distributed.versions import VersionMismatchWarning

    with silence_logging_cmgr(logging.CRITICAL + 1), warnings.catch_warnings():
        warnings.simplefilter("ignore", VersionMismatchWarning)  # `environment` knows what matters
        yield


def _outcome(future: Any) -> tuple[list[Any], float, BaseException | None] | None:
    """Return what came of a chunk (`orders.carry_out`); None if workers died of it.

    Raises BackendUnavailable where a worker has no relu-verify, or Dask does not do it;
    TimeoutError where it has not come yet, OSError and CancelledError where it never will.
    """
    from distributed.scheduler import KilledWorker

    try:
        answer = future.result(timeout=WATCH)
    except KilledWorker:
        return None
    except (OSError, CancelledError):
        raise
    except Exception as reason:
        raise BackendUnavailable(
            f"Dask cannot do the work ({type(reason).__name__}: {reason}); use the same version of "
            "distributed here, in the scheduler and in the workers"
        ) from reason
    if isinstance(answer, str):
        raise BackendUnavailable(f"a Dask worker {answer}")
    outcome: tuple[list[Any], float, BaseException | None] = pickle.loads(answer)
    return outcome
