"""Worker processes have one BLAS thread and keep the memory of a block for the next."""

import os
import platform
import resource

import numpy as np
import pytest

from verify.engine.executors import DaskPool, ProcessPool, map_unordered
from verify.engine.executors.spawning import THREAD_VARIABLES, worker_variables

ARRAYS, MEGABYTES = 12, 3  # from 4 megabytes on numpy asks for huge pages


def environment(_):
    return dict(os.environ)


def kept(variables):
    """Return what is to be as before: all but a number that Dask keeps for its process's title."""
    return {name: value for name, value in variables.items() if name != "__DASK_PARENT_PID"}


def page_faults(repetitions):
    """Return the page faults of filling some arrays again and again, beyond the first times."""
    for number in range(repetitions):
        if number == 3:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        [np.ones(MEGABYTES * 2**20, dtype=np.uint8) for _ in range(ARRAYS)]
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


@pytest.mark.parametrize("kind", [ProcessPool, DaskPool])
def test_workers_have_what_is_to_be_set_and_this_process_is_as_it_was(kind, monkeypatch):
    for name in THREAD_VARIABLES:
        monkeypatch.setenv(name, "7")
    monkeypatch.setenv("MALLOC_ARENA_MAX", "5")
    before = kept(os.environ)
    wanted = worker_variables()
    assert "MALLOC_ARENA_MAX" not in wanted, "what the user says of it stays"
    with kind(1) as pool:
        ((_, there),) = map_unordered(pool, environment, [0])
        if platform.libc_ver()[0] == "glibc":
            ((_, faults),) = map_unordered(pool, page_faults, [23])
            assert faults < 20 * ARRAYS * MEGABYTES, "it is 256 a megabyte where nothing is kept"
    assert {name: there.get(name) for name in wanted} == wanted
    assert {there[name] for name in THREAD_VARIABLES} == {"1"}
    assert there["MALLOC_ARENA_MAX"] == "5"
    assert kept(os.environ) == before
