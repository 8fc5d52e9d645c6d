"""How long a search goes on, and whom it tells how far it is."""

from __future__ import annotations

import time
from collections.abc import Callable

Progress = Callable[[int, int, str], None]
"""Called with (examples looked at, examples planned, where the search is)."""


class TimeOver(KeyboardInterrupt):
    """Raised inside Hypothesis when the time is over: it lets only interrupts pass at once."""


class Watch:
    """Counts the examples looked at, and says when the time is over.

    seconds: None for a search that does not depend on the clock.   now: the clock, in seconds.
    planned: examples of one pass.
    """

    def __init__(
        self,
        seconds: float | None = None,
        now: Callable[[], float] = time.monotonic,
        progress: Progress | None = None,
        planned: int = 0,
    ) -> None:
        self._now, self._progress = now, progress
        self._end = None if seconds is None else now() + seconds
        self._done, self._planned = 0, planned
        self.where = ""
        self.cut = False

    def over(self) -> bool:
        """Say whether the time is over, and remember that something was left out for it."""
        self.cut = self.cut or (self._end is not None and self._now() >= self._end)
        return self.cut

    def count(self, examples: int = 1) -> None:
        """Count examples that were looked at, and tell."""
        self._done += examples
        if self._progress is not None:
            self._progress(self._done, max(self._planned, self._done), self.where)

    def plan(self, examples: int) -> None:
        """Plan that many examples more."""
        self._planned += examples
