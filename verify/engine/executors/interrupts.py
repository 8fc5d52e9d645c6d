"""Starting and ending workers is not interrupted: what is half-done would be waited for."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker


@contextmanager
def interrupts_ignored() -> Iterator[None]:
    """Ignore SIGINT; only the main thread gets it, and may say so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Raise at the end what SIGINT or SIGTERM would have raised meanwhile.

    Processes started meanwhile, or by threads that are, never get SIGINT: Ctrl-C is for the
    process that ends them.
    """
    received: list[int] = []
    is_main = threading.current_thread() is threading.main_thread()
    usual = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    ours = {number: handler for number, handler in usual.items() if callable(handler) and is_main}
    for number in ours:
        signal.signal(number, lambda signum, _: received.append(signum))
    with never_interrupted():
        try:
            yield
        finally:
            for number, handler in ours.items():
                signal.signal(number, handler)
    for signum in received[:1]:
        signal.raise_signal(signum)


@contextmanager
def never_interrupted() -> Iterator[None]:
    """Keep SIGINT from the processes that this thread starts meanwhile, where the system can do
    that, and from itself: other threads and the end of this get it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # starting later, it would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
