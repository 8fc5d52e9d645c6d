"""BLAS stays capped as long as anybody needs it, and not longer."""

import threading

from tests.verify.engine.test_executors import blas_threads
from verify.engine.executors import one_thread


def uncapped(threads):
    """Return what BLAS has where nobody caps it, after setting it to that."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(limits=threads)


def test_the_cap_outlives_the_one_who_came_first():
    entered, leave = threading.Event(), threading.Event()
    seen = []

    def first():
        with one_thread():
            entered.set()
            leave.wait(60)

    with uncapped(2):
        other = threading.Thread(target=first)
        other.start()
        assert entered.wait(60)
        with one_thread():
            leave.set()
            other.join(60)
            seen.append(blas_threads())
        seen.append(blas_threads())
    assert seen[0] == {1}


def test_a_cap_within_a_cap_lifts_nothing():
    with one_thread():
        with one_thread():
            assert blas_threads() == {1}
        assert blas_threads() == {1}
