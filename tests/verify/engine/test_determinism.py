"""The verdicts follow from theorem, seed and sizes: not from where, when or in what order."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from tests.verify.engine.toys import counting, everything, same_claims, write_theorem
from verify.engine.check import check
from verify.engine.executors import ProcessPool
from verify.engine.store import Store
from verify.loading import load_file
from verify.space import Point


@pytest.fixture
def theorem(tmp_path):
    return load_file(write_theorem(tmp_path))


def test_every_executor_gives_the_same_verdicts(theorem):
    here = check(theorem, root_seed=11)
    assert len(here) == 3
    with ProcessPool(1) as one, ProcessPool(2) as two, ThreadPoolExecutor(2) as threads:
        for executor in (one, two, threads):
            assert same_claims(here, check(theorem, root_seed=11, executor=executor))


def test_threads_take_a_theorem_made_in_memory_too():
    with ThreadPoolExecutor(2) as threads:
        assert same_claims(check(everything()), check(everything(), executor=threads))


def test_another_seed_gives_other_draws(theorem):
    margins = {check(theorem, root_seed=seed, trials=20)[0].worst_margin for seed in range(20)}
    assert len(margins) == 20


def test_the_same_seed_gives_the_same_verdicts_again():
    assert same_claims(check(everything(), root_seed=3), check(everything(), root_seed=3))
    assert not same_claims(check(everything(), root_seed=3), check(everything(), root_seed=4))


def tallies(theorem, **options):
    """Return what the claim at_least_zero came to, by point."""
    found = check(theorem, **options)["at_least_zero"]
    return {cell.point["n"]: cell.tally for cell in found.cells}


def test_draws_depend_on_neither_the_order_nor_the_company_of_cells():
    points = [Point(n=n) for n in range(1, 5)]
    forwards = tallies(everything(), cells=points)
    assert tallies(everything(), cells=points[::-1]) == forwards
    assert tallies(everything(), cells=[Point(n=3.0)]) == {3: forwards[3]}
    assert len(set(forwards.values())) == 4


def test_draws_depend_on_neither_selection_nor_confidence_nor_other_claims():
    alone = replace(everything(), claims=everything().claims[:1], controls=())
    everyone = tallies(everything())
    assert tallies(everything(), claims=["at_least_zero"]) == everyone
    assert tallies(alone, confidence=0.5) == everyone


def test_the_first_trials_of_a_longer_check_are_those_of_a_shorter():
    """The number of holds among the first T trials rises by 0 or 1 with T."""
    counts = [check(everything(), trials=trials)["below_a_half"].holds for trials in range(1, 40)]
    steps = np.diff(counts)
    assert set(steps) == {0, 1}


class Interrupted:
    """A progress callback that interrupts after some blocks."""

    def __init__(self, after):
        self.after = after

    def __call__(self, done, total, what):
        if done == self.after:
            raise KeyboardInterrupt


@pytest.mark.parametrize("jobs", [None, 2])
def test_an_interrupted_check_goes_on_where_it_stopped(theorem, tmp_path, jobs):
    progress, told = counting()
    with Store(tmp_path / "s.sqlite") as store, ProcessPool(jobs or 1) as pool:
        executor = pool if jobs else None
        with pytest.raises(KeyboardInterrupt):
            check(theorem, trials=100, store=store, executor=executor, progress=Interrupted(7))
        resumed = check(theorem, trials=100, store=store, executor=executor, progress=progress)
    assert [(done, total) for done, total, _ in told] == [(k, 20) for k in range(8, 21)]
    assert same_claims(resumed, check(theorem, trials=100))


KILLED = """
import sys
from verify import Store, check, load_file
with Store(sys.argv[2]) as store:
    check(load_file(sys.argv[1]), trials=200, store=store)
"""


def blocks_in(path):
    """Return how many blocks a store holds, seen from outside; 0 as long as there is none."""
    try:
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    except sqlite3.Error:
        return 0
    try:
        return connection.execute("SELECT count(*) FROM blocks").fetchone()[0]
    except sqlite3.Error:
        return 0
    finally:
        connection.close()


def test_a_killed_check_loses_nothing_that_was_finished(tmp_path):
    slow = write_theorem(tmp_path, before_drawing="import time\ntime.sleep(0.02)")
    stored = tmp_path / "s.sqlite"
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(slow), str(stored)])
    deadline = time.monotonic() + 60
    while blocks_in(stored) < 5 and time.monotonic() < deadline:
        assert process.poll() is None
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait(10) == -signal.SIGKILL
    finished = blocks_in(stored)
    assert 5 <= finished < 40

    theorem = load_file(slow)
    progress, told = counting()
    with Store(stored) as store:
        resumed = check(theorem, trials=200, store=store, progress=progress)
    assert (told[0][0], told[-1][0], told[-1][1]) == (finished + 1, 40, 40)
    assert same_claims(resumed, check(theorem, trials=200))
