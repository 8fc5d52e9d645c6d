"""What waits is bounded, whatever there is to do."""

from concurrent.futures import BrokenExecutor, Future

import pytest

from verify.engine.executors import window
from verify.engine.executors.dask import _Chunks
from verify.engine.executors.window import in_window


class Slow:
    """Does the first of what waits when it is asked to send more than it takes."""

    def __init__(self, takes):
        self.takes, self.waiting, self.most = takes, [], 0

    def submit(self, task):
        future = Future()
        self.waiting.append((future, task))
        self.most = max(self.most, len(self.waiting))
        if len(self.waiting) == self.takes:
            self.finish()
        return future

    def finish(self):
        future, task = self.waiting.pop(0)
        future.set_result(-task)


def test_no_more_than_the_window_is_sent_out_and_all_is_done(monkeypatch):
    monkeypatch.setattr(window, "OUTSTANDING", 3)
    slow, taken = Slow(takes=3), []

    def tasks():
        for task in range(20):
            taken.append(task)
            yield task

    results = in_window(slow.submit, tasks())
    assert next(results) == (0, 0)
    assert taken == [0, 1, 2]
    assert slow.most == 3
    for number in range(1, 18):
        assert next(results) == (number, -number)
    assert slow.most == 3


def test_closed_early_it_cancels_what_waits(monkeypatch):
    monkeypatch.setattr(window, "OUTSTANDING", 3)
    slow = Slow(takes=3)
    results = in_window(slow.submit, range(20))
    next(results)
    results.close()
    assert len(slow.waiting) == 2
    assert all(future.cancelled() for future, _ in slow.waiting)


def test_a_broken_executor_is_left_to_end_its_futures_itself(monkeypatch):
    """Its own thread raises InvalidStateError in Python 3.11 where one of them is cancelled."""
    monkeypatch.setattr(window, "OUTSTANDING", 3)
    slow = Slow(takes=4)
    results = in_window(slow.submit, range(20))
    monkeypatch.setattr(slow, "takes", 3)
    monkeypatch.setattr(
        slow, "finish", lambda: slow.waiting[0][0].set_exception(BrokenExecutor("worker died"))
    )
    with pytest.raises(BrokenExecutor, match="worker died"):
        next(results)
    assert not any(future.cancelled() for future, _ in slow.waiting)


@pytest.mark.parametrize(
    ("threads", "mean", "left", "size"),
    [
        (2, None, 1000, 1),
        (2, 0.05, 1000, 4),
        (2, 1e-4, 1000, 16),
        (2, 0.0, 1000, 16),
        (2, 1e-4, 20, 5),
        (2, 3.0, 1000, 1),
        (100, 1e-4, 1000, 5),
        (100, 1e-4, 3, 1),
        (0, 1e-4, 1000, 16),
    ],
)
def test_chunks_take_a_fifth_of_a_second_and_leave_some_for_everybody(threads, mean, left, size):
    assert _Chunks(threads, mean).size(left) == size
