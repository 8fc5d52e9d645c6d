"""Work is done wherever it is sent, and a worker's death loses nothing."""

import math
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest
from threadpoolctl import threadpool_info

from tests.verify.engine.toys import same_claims, write_theorem
from verify.engine.check import check
from verify.engine.executors import ProcessPool, map_unordered, processes
from verify.errors import InputError, ReluVerifyError, TheoremError, WorkersLost
from verify.loading import load_file

IN_WORKER = "import multiprocessing, os\nif multiprocessing.parent_process() is not None:\n"
DIES_ONCE = (
    IN_WORKER
    + "    try:\n"
    + "        open(__file__ + '.died', 'x').close()\n"
    + "    except FileExistsError:\n"
    + "        pass\n"
    + "    else:\n"
    + "        os._exit(9)"
)
ALWAYS_DIES = IN_WORKER + "    os._exit(9)"


def blas_threads(_=None):
    return {
        library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"
    }


def pid_after_meeting(folder):
    """Return the process's number, once another process works at a task of that folder."""
    (folder / str(os.getpid())).touch()
    while len([*folder.iterdir()]) < 2:
        time.sleep(0.01)
    return os.getpid()


# Anywhere


def test_here_tasks_run_in_order_one_by_one():
    assert list(map_unordered(None, math.sqrt, [4, 9, 4])) == [(4, 2.0), (9, 3.0), (4, 2.0)]


def test_equal_tasks_are_all_done():
    with ThreadPoolExecutor(2) as threads, ProcessPool(2) as pool:
        for executor in (None, threads, pool):
            assert sorted(map_unordered(executor, math.sqrt, [4, 9, 4])) == [
                (4, 2.0),
                (4, 2.0),
                (9, 3.0),
            ]


def test_no_tasks_need_no_workers():
    with ProcessPool(2) as pool:
        assert list(map_unordered(pool, math.sqrt, [])) == []
        assert pool._pool is None or not pool._pool._processes


def test_any_executor_will_do():
    class Anything(Executor):
        def submit(self, function, /, *arguments):
            with ThreadPoolExecutor(1) as threads:
                return threads.submit(function, *arguments)

    assert list(map_unordered(Anything(), math.sqrt, [4])) == [(4, 2.0)]


@pytest.mark.parametrize("kind", [lambda: ThreadPoolExecutor(1), lambda: ProcessPool(1)])
def test_an_error_in_a_task_is_raised_and_the_executor_stays_usable(kind):
    with kind() as executor:
        with pytest.raises(ValueError, match=r"math domain|nonnegative"):
            list(map_unordered(executor, math.sqrt, [4, -1, 9, 16]))
        assert list(map_unordered(executor, math.sqrt, [4])) == [(4, 2.0)]


def test_a_broken_executor_of_the_users_is_told_and_what_was_done_is_kept(tmp_path):
    theorem = load_file(write_theorem(tmp_path, before_drawing=ALWAYS_DIES))
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool,
        pytest.raises(ReluVerifyError, match=r"the executor broke .*run again"),
    ):
        check(theorem, trials=20, executor=pool)


# The pool


@pytest.mark.parametrize("jobs", [0, -2, 1.5])
def test_a_pool_has_at_least_one_job(jobs):
    with pytest.raises(InputError, match=r"jobs=.*, expected a whole number of at least 1"):
        ProcessPool(jobs)


def test_a_pool_works_in_as_many_processes_as_it_has_jobs_and_in_none_afterwards(tmp_path):
    with ProcessPool(2) as pool:
        pids = {pid for _, pid in map_unordered(pool, pid_after_meeting, [tmp_path] * 8)}
    assert len(pids) == 2
    assert os.getpid() not in pids
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_workers_and_the_serial_run_have_one_blas_thread_and_the_parent_keeps_its_own():
    before, environment = blas_threads(), dict(os.environ)
    with ProcessPool(1) as pool:
        assert list(map_unordered(pool, blas_threads, [0])) == [(0, {1})]
    assert list(map_unordered(None, blas_threads, [0])) == [(0, {1})]
    assert blas_threads() == before
    assert dict(os.environ) == environment


def test_threads_work_under_the_cap_of_the_process():
    before = blas_threads()
    with ThreadPoolExecutor(2) as threads:
        assert dict(map_unordered(threads, blas_threads, range(4))) == {k: {1} for k in range(4)}
    assert blas_threads() == before


def test_processes_of_the_users_work_under_a_cap_of_their_own():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert list(map_unordered(pool, blas_threads, [0])) == [(0, {1})]


def test_a_killed_worker_is_replaced_and_its_blocks_are_done_again(tmp_path):
    theorem = load_file(write_theorem(tmp_path, before_drawing=DIES_ONCE))
    with ProcessPool(2) as pool:
        found = check(theorem, trials=60, executor=pool)
    assert (tmp_path / "filed.py.died").exists()
    assert same_claims(found, check(theorem, trials=60))


def test_workers_that_always_die_are_given_up_with_the_likely_reasons(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "_REBUILDS", 1)
    theorem = load_file(write_theorem(tmp_path, before_drawing=ALWAYS_DIES))
    message = r"died 2 times in a row with 5 tasks still to do; .*fewer --jobs.*__main__"
    with ProcessPool(1) as pool, pytest.raises(WorkersLost, match=message):
        check(theorem, trials=20, executor=pool)


def dies_on_every_third(task):
    folder, number = task
    marker = os.path.join(folder, str(number))
    if number % 3 == 0 and not os.path.exists(marker):
        open(marker, "x").close()
        os._exit(9)
    return number


def test_deaths_between_which_work_gets_done_may_be_many(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "_REBUILDS", 1)
    tasks = [(str(tmp_path), number) for number in range(1, 8)]
    with ProcessPool(1) as pool:
        done = sorted(result for _, result in map_unordered(pool, dies_on_every_third, tasks))
    assert done == list(range(1, 8))


def test_an_error_of_the_theorem_in_a_worker_is_told_as_it_is_here(tmp_path):
    theorem = load_file(write_theorem(tmp_path, before_drawing="raise ValueError('no luck')"))
    messages = []
    for executor in (None, ProcessPool(1)):
        with pytest.raises(TheoremError, match=r"in draw raised ValueError: no luck") as caught:
            check(theorem, trials=20, executor=executor)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    assert messages[0].startswith(f"{tmp_path / 'filed.py'}:")


def test_blas_loaded_late_is_capped_in_the_serial_run():
    script = (
        "from threadpoolctl import threadpool_info\n"
        "from verify.engine.executors import map_unordered\n"
        "def late(_):\n"
        "    import scipy.linalg\n"
        "    return [i['num_threads'] for i in threadpool_info() if i['user_api'] == 'blas']\n"
        "print(list(map_unordered(None, late, [0])))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[(0, [1, 1])]"


# Interruption


SLEEPERS = """
import os, sys, time
from verify.engine.executors import ProcessPool, map_unordered

def sleeper(task):
    print(os.getpid(), flush=True)
    time.sleep(60)

def quick(task):
    print("not on stdout")

if __name__ == "__main__":
    with ProcessPool(2) as pool:
        list(map_unordered(pool, globals()[sys.argv[1]], range(4)))
"""


def alive(pid):
    """Say whether a process runs: neither gone nor waiting to be reaped by its parent."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks for processes in /proc")
@pytest.mark.parametrize(
    "signals", [[signal.SIGINT], [signal.SIGINT] * 2, [signal.SIGKILL]], ids=["INT", "INT2", "KILL"]
)
def test_no_worker_outlives_a_parent_that_was_stopped(tmp_path, signals):
    (tmp_path / "sleepers.py").write_text(SLEEPERS)
    parent = subprocess.Popen(
        [sys.executable, str(tmp_path / "sleepers.py"), "sleeper"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with parent:
        workers = [int(parent.stderr.readline()) for _ in range(2)]
        for number in signals:
            os.killpg(parent.pid, number) if number == signal.SIGINT else parent.send_signal(number)
            time.sleep(0.02)
        parent.stderr.read()
        assert parent.wait(timeout=20) != 0
    deadline = time.monotonic() + 10
    while any(map(alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(alive, workers))


def test_what_a_task_prints_in_a_worker_goes_to_stderr(tmp_path):
    (tmp_path / "sleepers.py").write_text(SLEEPERS)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "sleepers.py"), "quick"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout == ""
    assert "not on stdout" in done.stderr
