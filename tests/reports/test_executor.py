"""--executor, on every command that computes: what cannot be is told before it begins."""

import socket
import sys
from pathlib import Path

import pytest

from reports.cli import main
from verify.engine.executors import dask

FILE = str(Path(__file__).parents[2] / "examples/least_squares.py")
CLAIM = f"{FILE}::converges_at_the_spectral_rate"
COMMANDS = {
    "run": ["run", FILE],
    "frontier": ["frontier", CLAIM, "--x", "c", "--at", "n=3", "--at", "d=2"],
    "ablate": ["ablate", FILE],
    "search": ["search", CLAIM],
}


@pytest.fixture(params=COMMANDS)
def call(request, tmp_path, monkeypatch, capfd):
    """Run a command with an executor in an empty folder; return exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def called(executor, *more):
        with pytest.raises(SystemExit) as ended:
            main([*COMMANDS[request.param], "--executor", executor, "--out", "out", *more])
        return ended.value.code, *capfd.readouterr()

    return called


def test_a_name_that_is_not_known_is_bad_input(call):
    code, out, err = call("ray")
    assert (code, out) == (2, "")
    assert not Path("out").exists()
    assert err.startswith("relu-verify: executor='ray', expected dask, or dask:tcp://HOST:PORT")


def test_a_scheduler_that_is_not_there_is_not_available(call, monkeypatch):
    monkeypatch.setattr(dask, "_CONNECTING", 0.2)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    code, out, err = call(f"dask:{address}")
    assert (code, out) == (4, "")
    assert err.startswith(f"relu-verify: no Dask scheduler answers at {address}")
    assert err.count("\n") == 1
    assert not Path("out").exists()


def test_without_the_extra_dask_is_not_available(call, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    code, out, err = call("dask")
    assert (code, out) == (4, "")
    assert "pip install 'relu-verify[dask]'" in err
    assert err.count("\n") == 1
    assert not Path("out").exists()
