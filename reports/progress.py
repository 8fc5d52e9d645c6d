"""How far a command is, on stderr: a bar on a terminal, elsewhere a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import click

from reports.characters import one_line

_EVERY = 30.0
"""Seconds from line to line."""


class Progress:
    """How far a command is with the theorem that is being worked on, stage by stage.

    units: what is counted.   quiet: say nothing.   clock: seconds from some moment on.
    On a terminal a stage is a bar. Elsewhere, in a log say, it is a line every half minute, as far
    as anything is finished meanwhile, and one at its end.
    """

    def __init__(
        self,
        units: str = "blocks",
        quiet: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._units, self._quiet, self._clock = units, quiet, clock
        self._stage: _Bar | _Lines | None = None
        self._name = ""

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the stage as it stands; the next update begins another."""
        if self._stage is not None:
            self._stage.close()
            self._stage, self._name = None, ""

    def update(self, theorem: str, done: int, total: int, what: str) -> None:
        """Tell that so much is done of a theorem, of how much, and what was done last."""
        if self._quiet:
            return
        hunted = what.startswith("hunt")
        name = f"{theorem} hunt" if hunted else theorem
        if name != self._name:
            self.close()
            units = "parts" if hunted else self._units
            terminal = sys.stderr.isatty()
            self._stage = _Bar(name, units) if terminal else _Lines(name, units, self._clock)
            self._name = name
        assert self._stage is not None
        self._stage.update(done, total, what)


class _Bar:
    """A stage on a terminal."""

    def __init__(self, name: str, units: str) -> None:
        from tqdm import tqdm

        self._bar: Any = tqdm(desc=name, unit=f" {units}", file=sys.stderr)

    def update(self, done: int, total: int, what: str) -> None:
        self._bar.total = total
        self._bar.set_postfix_str(what, refresh=False)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        self._bar.close()


class _Lines:
    """A stage in a log."""

    def __init__(self, name: str, units: str, clock: Callable[[], float]) -> None:
        self._name, self._units, self._clock = name, units, clock
        self._began = self._told = clock()
        self._state = ""

    def update(self, done: int, total: int, what: str) -> None:
        self._state = f"{done} of {total} {self._units}"
        if self._clock() - self._told >= _EVERY:
            self._tell(f"  {what}")

    def close(self) -> None:
        self._tell("")

    def _tell(self, last: str) -> None:
        self._told = self._clock()
        took = f"{self._told - self._began:.0f} s"
        click.echo(one_line(f"{self._name}  {self._state}  [{took}]{last}"), err=True)
