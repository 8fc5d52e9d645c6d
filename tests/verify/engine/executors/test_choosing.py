"""What --executor says is read strictly."""

import pytest

from verify.engine.executors import DaskPool, ProcessPool, open_executor
from verify.errors import InputError


def test_none_is_processes_of_ours_or_this_one():
    with open_executor(None, 1) as here, open_executor(None, 3) as pool:
        assert here is None
        assert isinstance(pool, ProcessPool)
        assert pool.jobs == 3


def test_dask_is_as_many_workers_here_or_those_of_a_scheduler():
    own = open_executor("dask", 3)
    assert isinstance(own, DaskPool)
    assert (own.jobs, own.address) == (3, None)


@pytest.mark.parametrize(
    "address", ["tcp://127.0.0.1:8786", "tls://node-7.cluster:1", "tcp://[fe80::1]:65535"]
)
def test_an_address_is_taken_as_it_is(address):
    assert open_executor(f"dask:{address}", 3).address == address


@pytest.mark.parametrize("asked", ["", "Dask", "ray", "dask2", "processes:3", "tcp://127.0.0.1:1"])
def test_an_executor_that_is_not_known_is_refused_with_those_that_are(asked):
    with pytest.raises(InputError, match=r"executor='.*', expected dask, or dask:tcp://HOST:PORT"):
        open_executor(asked, 2)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "localhost:8786",
        "tcp://localhost",
        "tcp://localhost:0",
        "tcp://localhost:65536",
        "tcp://:8786",
        "tcp://a b:8786",
        "http://localhost:8787",
        "tcp://localhost:8786/status",
    ],
)
def test_an_address_that_is_none_is_refused_with_an_example(address):
    with pytest.raises(InputError, match=r"has no address of a scheduler, .*e\.g\. dask:tcp://10"):
        open_executor(f"dask:{address}", 2)
