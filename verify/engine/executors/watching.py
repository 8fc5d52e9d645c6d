"""Whether a Dask cluster is still there, so that nothing waits for ever."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from queue import Empty
from typing import Any, TypeVar

from verify.errors import BackendUnavailable

Outcome = TypeVar("Outcome")

_ANSWERING = 30.0
"""Seconds within which a scheduler with work to do is to answer."""
_ALONE = 60.0
"""Seconds for which a scheduler may be without a worker while there is work."""
WATCH = 1.0
"""Seconds of silence after which the cluster is looked at."""


class Watch:
    """Looks whether a cluster is still there, so that nothing waits for ever."""

    def __init__(self, client: Any, address: str | None) -> None:
        self._client, self._address = client, address
        self._alone_since: float | None = None

    def threads(self) -> int:
        """Return how many threads the cluster's workers have now."""
        return sum(self._client.nthreads(callback_timeout=_ANSWERING).values())

    def wait(self, for_what: Callable[[], Outcome], unfinished: int) -> Outcome:
        """Return what comes, and look at the cluster while nothing does.

        for_what: gives up with Empty or TimeoutError after a while.   unfinished: tasks.
        Raises BackendUnavailable if the scheduler is gone, or has no workers for a minute.
        """
        while True:
            try:
                return for_what()
            except (Empty, TimeoutError):
                self._look(unfinished)
            except (OSError, CancelledError) as reason:
                raise self.gone(unfinished) from reason

    def _look(self, unfinished: int) -> None:
        if self._client.status != "running":
            raise self.gone(unfinished)
        try:
            threads = self.threads()
        except (OSError, TimeoutError, CancelledError) as reason:
            raise self.gone(unfinished) from reason
        now = time.monotonic()
        if threads:
            self._alone_since = None
        elif self._alone_since is None:
            self._alone_since = now
        elif now - self._alone_since > _ALONE:
            raise self._deserted(unfinished)

    def _deserted(self, unfinished: int) -> BackendUnavailable:
        left = f"for {_ALONE:.0f} s, with {unfinished} tasks still to do"
        if self._address is None:
            return BackendUnavailable(
                f"the Dask workers of this machine ended, and no other has come {left}; they may "
                "lack memory (use fewer --jobs), or the theorem ends its process. What was "
                "finished is stored"
            )
        return BackendUnavailable(
            f"the Dask scheduler {self._address} has had no worker {left}; start some (`dask "
            "worker ADDRESS`) and run it again: what was finished is stored"
        )

    def gone(self, unfinished: int) -> BackendUnavailable:
        """Return the error of a scheduler that is there no more."""
        if self._address is None:
            return BackendUnavailable(
                f"the Dask cluster of this machine went away with {unfinished} tasks still to do; "
                "run it again: what was finished is stored"
            )
        return BackendUnavailable(
            f"the Dask scheduler {self._address} went away with {unfinished} tasks still to do; "
            "start it and its workers, and run it again: what was finished is stored"
        )

    def cancel(self, futures: list[Any]) -> None:
        """Let the cluster forget work that nobody waits for any more, if it is still there."""
        if futures and self._client.status == "running":
            self._client.cancel(futures)
