"""The terminal: steady streams, signals that end a command, what was typed."""

from __future__ import annotations

import errno
import io
import os
import shlex
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from types import FrameType
from typing import Any, TextIO

import click

from reports.characters import escaped

_PATIENCE = 6.0
"""Seconds within which an interrupted command ends, come what may."""


class SteadyStream:
    """A standard stream that never fails: the exit code is the verdict's, whoever reads.

    Control characters, of names and statements that others wrote, are shown and not obeyed.
    """

    buffer = None  # so that click writes to this object, whatever the encoding

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        try:
            self._stream.write(escaped(text))
        except OSError as reason:
            self._give_up(reason)
        except ValueError:  # closed by somebody else's hand
            self._stream = io.StringIO()
        return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as reason:
            self._give_up(reason)
        except ValueError:
            self._stream = io.StringIO()

    def close(self) -> None:
        """Leave the stream open: what a theorem closes, the command still writes to."""
        self.flush()

    def _give_up(self, reason: OSError) -> None:
        """Write the rest nowhere; say so unless the reader has left."""
        try:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)
        except (OSError, ValueError):
            self._stream = io.StringIO()
        if reason.errno != errno.EPIPE and self is not sys.stderr:
            click.echo(f"relu-verify: output is lost ({reason.strerror or reason})", err=True)


@contextmanager
def steady_streams() -> Iterator[None]:
    """Let nothing that happens to stdout or stderr (closed, full, not Unicode) stop a command."""
    before = sys.stdout, sys.stderr
    streams: list[Any] = []
    for stream in before:
        if stream is None or stream.closed:
            nowhere = os.open(os.devnull, os.O_WRONLY)  # takes the lowest free number: 1 or 2
            os.set_inheritable(nowhere, nowhere <= 2)
            stream = os.fdopen(nowhere, "w", encoding="utf-8")  # noqa: PLW2901
        streams.append(SteadyStream(stream))
    sys.stdout, sys.stderr = streams
    try:
        yield
    finally:
        for stream in streams:
            stream.flush()
        if None not in before:
            sys.stdout, sys.stderr = before


@contextmanager
def stdout_kept() -> Iterator[TextIO]:
    """Yield stdout for what the command says; what theorems print meanwhile goes to stderr."""
    stdout = sys.stdout
    with redirect_stdout(sys.stderr):
        yield stdout


def typed() -> str:
    """Return the command as it was typed, quoted for a shell."""
    return shlex.join(["relu-verify", *sys.argv[1:]])


class Terminated(KeyboardInterrupt):
    """SIGTERM."""


_received: list[type[KeyboardInterrupt]] = []
"""The signal that `stoppable` made an exception, if one came."""


def stop_again() -> None:
    """Raise the interrupt that came, if one did and was lost: what is raised while the garbage
    collector calls back is told and goes no further."""
    if _received:
        raise _received[0]


@contextmanager
def stoppable() -> Iterator[None]:
    """Make the first SIGINT or SIGTERM a KeyboardInterrupt, ignore further ones, and end soon."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual: dict[signal.Signals, Callable[[int, FrameType | None], object] | signal.Handlers] = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: signal.SIG_DFL,
    }
    ours = [number for number, handler in usual.items() if signal.getsignal(number) == handler]
    stopped: list[int] = []
    over = threading.Event()
    _received.clear()

    def end() -> None:
        over.wait()
        if stopped:
            time.sleep(_PATIENCE)
            os._exit(128 + stopped[0])

    def stop(number: int, _: object) -> None:
        for known in ours:
            signal.signal(known, signal.SIG_IGN)
        stopped.append(number)
        over.set()
        _received.append(Terminated if number == signal.SIGTERM else KeyboardInterrupt)
        raise _received[0]

    threading.Thread(target=end, daemon=True).start()
    for number in ours:
        signal.signal(number, stop)
    try:
        yield
    finally:
        over.set()
        for number in [] if stopped else ours:
            signal.signal(number, usual[number])
