"""Workers of a real Dask scheduler give the records of this process, whatever dies meanwhile."""

import gc
import importlib
import io
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress

import numpy as np
import pytest
from dask import config

from properties.ablate import ablate
from properties.seeking import Sought, seek
from tests.properties.ablation import toy
from tests.verify.engine.executors.cluster import (
    PATIENCE,
    scheduler,
    until,
    without_relu_verify,
    workers,
)
from tests.verify.engine.test_executors import ALWAYS_DIES, alive, blas_threads
from tests.verify.engine.toys import FILE, same_claims, write_theorem
from verify.engine.check import check
from verify.engine.executors import DaskPool, dask, map_unordered, watching
from verify.engine.exporting import export
from verify.engine.frontier import FrontierRequest, measure_frontier
from verify.engine.store import Store
from verify.errors import BackendUnavailable, InputError, ReluVerifyError, TheoremError
from verify.loading import load_file, load_origin


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cluster")
    with scheduler(folder, **without_relu_verify(folder)) as (_, where), workers(where, 2):
        yield where


@pytest.fixture
def pool(address):
    with DaskPool(address=address) as opened:
        yield opened


def records(path):
    """Return every number of a store and whose it is."""
    with Store(path) as store:
        text = io.StringIO()
        export(store, text)
    return sorted(text.getvalue().splitlines())


# The same as here


def test_checks_have_the_same_records_bit_by_bit(pool, tmp_path):
    theorem = load_file(write_theorem(tmp_path))
    found = {}
    for name, executor in (("here", None), ("there", pool)):
        with Store(tmp_path / name) as store:
            found[name] = check(theorem, trials=400, store=store, executor=executor)
    assert same_claims(found["here"], found["there"])
    assert len(records(tmp_path / "here")) > 1000
    assert records(tmp_path / "here") == records(tmp_path / "there")


def test_frontiers_ablations_and_searches_are_the_same(pool):
    theorem = load_file(toy.HERE)
    claim = theorem.claim("sum_is_small")
    axis, at = theorem.axis("a"), {"b": 0.1, "z": 0.0, "q": 0.0}
    request = FrontierRequest(x=axis, at=at, budget=1500, without=("a_is_small",))
    sought = Sought(theorem, claim, ("a_is_small",))
    here = (
        measure_frontier(theorem, claim, request).to_json(),
        repr(ablate(theorem, examples=20)),
        seek(sought, 40).to_json(),
    )
    there = (
        measure_frontier(theorem, claim, request, executor=pool).to_json(),
        repr(ablate(theorem, examples=20, executor=pool)),
        seek(sought, 40, executor=pool).to_json(),
    )
    assert repr(there) == repr(here)


def test_a_plain_executor_of_dask_will_do(tmp_path):
    theorem = load_file(write_theorem(tmp_path))
    with DaskPool(1) as own:  # the scheduler of an Executor reads the tasks: it has relu-verify
        executor = own._client.get_executor(pure=False)
        assert same_claims(check(theorem, trials=60, executor=executor), check(theorem, trials=60))


def test_workers_have_one_blas_thread(pool):
    assert dict(map_unordered(pool, blas_threads, range(4))) == {k: {1} for k in range(4)}


def test_no_tasks_are_no_work(pool):
    assert list(map_unordered(pool, abs, [])) == []


# A theorem's file


IMPORTING = FILE.replace("import numpy as np\n", "import numpy as np\nimport beside\n", 1)


def draws(task):
    origin, count = task
    theorem = load_origin(origin)
    return theorem.source, theorem.draw(theorem.cells[0], np.random.default_rng(0), count).size


def test_a_file_that_workers_do_not_see_goes_with_the_work(pool, tmp_path):
    folder = tmp_path / "only here"
    folder.mkdir()
    (folder / "filed.py").write_text(IMPORTING)
    (folder / "beside.py").write_text("HALF = 0.5\n")
    theorem = load_file(folder / "filed.py")
    folder.rename(tmp_path / "moved")
    told = list(map_unordered(pool, draws, [(theorem.origin, 3)]))
    assert not (folder / "filed.py").exists()
    assert told == [((theorem.origin, 3), (theorem.source, 3))]


def test_another_file_of_that_name_is_told(pool, tmp_path):
    theorem = load_file(write_theorem(tmp_path))
    write_theorem(tmp_path, before_drawing="generator.random()")
    with pytest.raises(InputError, match=r"filed\.py on .* is not the one that is being checked"):
        list(map_unordered(pool, draws, [(theorem.origin, 3)]))
    assert list(map_unordered(pool, abs, [-4])) == [(-4, 4)], "the file is no matter of other work"


# Errors of tasks


def test_an_error_of_the_theorem_is_told_as_it_is_here(pool, tmp_path):
    theorem = load_file(write_theorem(tmp_path, before_drawing="raise ValueError('no luck')"))
    messages = []
    for executor in (None, pool):
        with pytest.raises(TheoremError, match="in draw raised ValueError: no luck") as caught:
            check(theorem, trials=20, executor=executor)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_any_other_error_says_where_in_the_worker_it_was(pool):
    with pytest.raises(ValueError, match="non-negative") as caught:
        list(map_unordered(pool, time.sleep, [0, -1, 0]))
    assert "in carry_out" in caught.value.__notes__[0]
    assert list(map_unordered(pool, abs, [-4])) == [(-4, 4)], "the pool stays usable"


def imports_what_is_not_there(_):
    importlib.import_module("no_such_module")


def test_a_package_that_workers_lack_is_named(pool):
    with pytest.raises(BackendUnavailable, match="No module named 'no_such_module'; install there"):
        list(map_unordered(pool, imports_what_is_not_there, [0]))


# Death


def test_a_killed_worker_costs_only_time(pool, tmp_path):
    theorem = load_file(write_theorem(tmp_path, before_drawing="import time; time.sleep(0.02)"))
    victim = min(pool._client.run(os.getpid).values())
    told = []

    def kill(done, total, what):
        told.append(done)
        if done == 10:
            os.kill(victim, signal.SIGKILL)

    found = check(theorem, trials=400, executor=pool, progress=kill)
    assert told == list(range(1, 81))
    assert not alive(victim)
    assert same_claims(found, check(theorem, trials=400))


def test_work_that_kills_its_workers_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(dask, "_RESUBMISSIONS", 1)
    theorem = load_file(write_theorem(tmp_path, before_drawing=ALWAYS_DIES))
    message = r"workers died 2 times in a row of the same work, with 5 tasks still to do; .*memory"
    with (
        config.set({"distributed.scheduler.allowed-failures": 0}),
        DaskPool(1) as pool,
        pytest.raises(ReluVerifyError, match=message),
    ):
        check(theorem, trials=20, executor=pool)


def test_without_workers_the_wait_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(watching, "WATCH", 0.05)
    monkeypatch.setattr(watching, "_ALONE", 0.2)
    monkeypatch.setattr(dask, "WATCH", 0.05)
    message = r"scheduler tcp://.* has had no worker for 0 s, with 3 tasks still to do; start some"
    with (
        scheduler(tmp_path) as (_, address),
        DaskPool(address=address) as pool,
        pytest.raises(BackendUnavailable, match=message),
    ):
        list(map_unordered(pool, abs, [1, 2, 3]))


def test_workers_of_this_machine_that_do_not_come_back_are_told_as_such(monkeypatch):
    monkeypatch.setattr(watching, "WATCH", 0.05)
    monkeypatch.setattr(watching, "_ALONE", 0.2)
    monkeypatch.setattr(dask, "WATCH", 0.05)
    message = r"^the Dask workers of this machine .* for 0 s, with 3 tasks still to do; .*memory"
    with DaskPool(1) as pool:
        pool._cluster.scale(0)
        until(lambda: not pool._client.nthreads())
        with pytest.raises(BackendUnavailable, match=message):
            list(map_unordered(pool, abs, [1, 2, 3]))


RUN = "import sys; from reports.cli import main; main(sys.argv[1:])"


@contextmanager
def running(folder, *arguments):
    """Start `relu-verify run filed.py`, of a theorem that writes down each draw."""
    call = [sys.executable, "-c", RUN, "run", "filed.py", "--quiet", *arguments]
    process = subprocess.Popen(
        call,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def drawn(tmp_path):
    """The file that has a mark for each draw of the theorem in filed.py."""
    file = tmp_path / "drawn"
    mark = f"import time; time.sleep(0.01)\nopen({str(file)!r}, 'a').write('.')"
    write_theorem(tmp_path, before_drawing=mark)
    file.touch()
    return file


def nothing_was_lost(folder):
    """Say whether a run that was stopped goes on to the records of an undisturbed one."""
    kept = records(folder / "stopped/records.sqlite")
    for out in ("stopped", "undisturbed"):
        with running(folder, "--jobs", "1", "--out", out) as again:
            _, err = again.communicate(timeout=PATIENCE)
        assert again.returncode == 0, err
    stopped, undisturbed = (
        records(folder / out / "records.sqlite") for out in ("stopped", "undisturbed")
    )
    assert stopped == undisturbed
    return 10 < len(kept) < len(stopped) and set(kept) <= set(stopped)


def test_a_scheduler_that_goes_away_is_told_in_a_line_and_nothing_is_lost(tmp_path, drawn):
    with (
        scheduler(tmp_path) as (process, address),
        workers(address),
        running(tmp_path, "--executor", f"dask:{address}", "--out", "stopped") as run,
    ):
        until(lambda: drawn.stat().st_size >= 20)
        process.kill()
        out, err = run.communicate(timeout=PATIENCE)
    assert run.returncode == 4
    assert not out
    assert re.fullmatch(
        rf"relu-verify: the Dask scheduler {address} went away with \d+ tasks still to do; .*\n",
        err,
    )
    assert nothing_was_lost(tmp_path)


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks for processes in /proc")
def test_an_interrupted_run_ends_its_cluster_and_loses_nothing(tmp_path, drawn):
    with running(tmp_path, "--executor", "dask", "--jobs", "2", "--out", "stopped") as run:
        until(lambda: drawn.stat().st_size >= 20)
        family = offspring(run.pid)
        assert len(family) >= 2
        os.killpg(run.pid, signal.SIGINT)
        _, err = run.communicate(timeout=PATIENCE)
    assert run.returncode == 130, err
    assert re.fullmatch(r"relu-verify: interrupted; what was finished is kept: .*", err.strip())
    until(lambda: not any(map(alive, family)))
    assert nothing_was_lost(tmp_path)


def offspring(pid):
    """Return the processes that a process started, and those that they did."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with suppress(OSError), open(f"/proc/{entry}/stat") as stat:
                parent = int(stat.read().rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry))
    found, ahead = [], [pid]
    while ahead:
        ahead += children.get(ahead.pop(), [])
        found += ahead[-1:]
    return found


# What is missing, or not alike


def test_a_scheduler_that_is_not_there_is_told_soon(monkeypatch):
    monkeypatch.setattr(dask, "_CONNECTING", 0.5)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    pool = DaskPool(address=address)
    with pytest.raises(BackendUnavailable, match=f"no Dask scheduler answers at {address} .*start"):
        pool.__enter__()


def test_something_else_that_answers_there_is_told_and_leaves_no_client(monkeypatch, capsys):
    monkeypatch.setattr(dask, "_CONNECTING", 2.0)

    def greet(server):
        with suppress(OSError):
            while True:
                with server.accept()[0] as connection:
                    connection.sendall(b"SSH-2.0-OpenSSH_9.6\r\n")
                    connection.recv(1000)

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=greet, args=(server,), daemon=True).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        message = f"no Dask scheduler answers at {address} .*start"
        with pytest.raises(BackendUnavailable, match=message):
            DaskPool(address=address).__enter__()
        server.shutdown(socket.SHUT_RDWR)
    gc.collect()
    assert capsys.readouterr().err == ""


def test_tls_without_its_certificates_is_told():
    with pytest.raises(BackendUnavailable, match=r"no Dask scheduler answers at tls://.*TLS"):
        DaskPool(address="tls://127.0.0.1:1").__enter__()


def test_workers_that_would_give_other_records_are_named(tmp_path):
    unable = without_relu_verify(tmp_path)
    with scheduler(tmp_path) as (_, address), workers(address, **unable):
        pool = DaskPool(address=address)
        with pytest.raises(BackendUnavailable, match=r"worker tcp://\S+ has no relu-verify"):
            pool.__enter__()


def test_the_extra_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(BackendUnavailable, match=r"pip install 'relu-verify\[dask\]'"):
        DaskPool(2).__enter__()
