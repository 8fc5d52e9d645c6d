"""For all tests: one BLAS thread a process, as in the engine; more only fight over the cores.

That goes for the processes that tests start, and for libraries that are loaded later (torch), too.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from verify.engine.executors.threads import one_thread, thread_variables


def pytest_configure(config: pytest.Config) -> None:
    stack = ExitStack()
    stack.enter_context(thread_variables())
    config.add_cleanup(stack.close)


@pytest.fixture(autouse=True, scope="session")
def _one_blas_thread() -> Iterator[None]:
    with one_thread():
        yield


@pytest.fixture(autouse=True)
def _digits_of_integers() -> Iterator[None]:
    """The stand-alone checker lifts Python's limit, which is its own process's to lift."""
    before = sys.get_int_max_str_digits()
    yield
    sys.set_int_max_str_digits(before)
