"""For all tests: one BLAS thread a process, as in the engine; more only fight over the cores."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from verify.engine.executors import one_thread


@pytest.fixture(autouse=True, scope="session")
def _one_blas_thread() -> Iterator[None]:
    with one_thread():
        yield
