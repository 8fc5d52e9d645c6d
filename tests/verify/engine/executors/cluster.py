"""A real Dask scheduler and workers, on loopback, in processes of their own."""

import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager

import distributed

PATIENCE = 60
"""Seconds after which what does not come is taken for broken."""


@contextmanager
def scheduler(folder, **environment):
    """Start a scheduler; yield its process and address."""
    told = folder / "scheduler.json"
    arguments = ["scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    with _started(*arguments, "--scheduler-file", str(told), **environment) as process:
        yield process, until(lambda: _address(told))


def _address(told):
    """Return the address in a scheduler's file, None while there is none or it is being written."""
    try:
        return json.loads(told.read_text())["address"]
    except (FileNotFoundError, json.JSONDecodeError):
        return None


@contextmanager
def workers(address, count=1, **environment):
    """Start workers of one thread each, and wait until they have joined."""
    arguments = ["worker", address, "--host", "127.0.0.1", "--nthreads", "1", "--no-dashboard"]
    with ExitStack() as stack:
        for _ in range(count):
            stack.enter_context(_started(*arguments, **environment))
        with distributed.Client(address, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=PATIENCE)
        yield


@contextmanager
def _started(*arguments, **environment):
    process = subprocess.Popen(
        [sys.executable, "-m", "dask", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def until(condition):
    """Wait until a condition holds, and return what it returned."""
    deadline = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < deadline, f"{condition} never came true"
        time.sleep(0.05)
    return value


def without_relu_verify(folder):
    """Return the environment of a process that cannot import relu-verify."""
    (folder / "sitecustomize.py").write_text("import sys; sys.modules['verify'] = None")
    return {"PYTHONPATH": os.pathsep.join([str(folder), *sys.path])}
