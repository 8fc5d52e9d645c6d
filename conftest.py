"""For all tests: one BLAS thread a process, as in the engine; more only fight over the cores.

That goes for the processes that tests start, and for libraries that are loaded later (torch), too.
"""

from __future__ import annotations

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
