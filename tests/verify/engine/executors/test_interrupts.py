"""Interrupts wait until what they would leave half-done is done, and are for this process alone."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from verify.engine.executors.interrupts import interrupts_deferred, never_interrupted

BLOCKED = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))"


def child_blocks_interrupts():
    child = subprocess.run(
        [sys.executable, "-c", BLOCKED], capture_output=True, text=True, check=True
    )
    return child.stdout.strip() == "True"


def handlers():
    return [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]


def test_an_interrupt_comes_at_the_end():
    before, steps = handlers(), []

    def work():
        with interrupts_deferred():
            os.kill(os.getpid(), signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            steps.append("done")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert steps == ["done"]
    assert handlers() == before
    assert not child_blocks_interrupts()


def test_an_error_is_raised_as_it_is():
    before = handlers()
    with pytest.raises(ValueError, match="mine"), interrupts_deferred():
        raise ValueError("mine")
    assert handlers() == before


def test_without_an_interrupt_nothing_happens_in_any_thread():
    def deferred():
        with interrupts_deferred():
            seen.append(handlers())

    before, seen = handlers(), []
    thread = threading.Thread(target=deferred)
    thread.start()
    thread.join(60)
    assert seen == [before]
    deferred()
    assert handlers() == before


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals cannot be blocked here")
@pytest.mark.parametrize("context", [interrupts_deferred, never_interrupted])
def test_processes_that_are_started_meanwhile_never_get_it(context):
    with context():
        assert child_blocks_interrupts()
    assert not child_blocks_interrupts()
