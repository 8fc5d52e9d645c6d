"""Progress is a bar on a terminal, a line now and then in a log, nothing where that is asked."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest

from reports import progress
from reports.progress import Progress
from tests.reports.conftest import EXAMPLES, Call

FILE = EXAMPLES / "least_squares.py"
CLAIM = f"{FILE}::converges_at_the_spectral_rate"
COMMANDS = {
    "run": ["run", FILE],
    "shard": ["run", FILE, "--shard", "1/2"],
    "frontier": ["frontier", CLAIM, "--x", "c", "--at", "n=3", "--at", "d=2", "--budget", "200"],
    "ablate": ["ablate", FILE, "--examples", "5"],
    "search": ["search", CLAIM, "--examples", "5"],
}


class Clock:
    """A clock that is set by hand."""

    seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_log_gets_a_line_every_half_minute_and_at_the_end_of_a_stage(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    with Progress(clock=clock) as told:
        for done in range(1, 8):
            clock.seconds += 10
            told.update("mine.py", done, 7, "mine  n=3")
        clock.seconds += 5
        told.update("mine.py", 1, 2, "hunt  claim")
        clock.seconds += 29
        told.update("mine.py", 2, 2, "hunt  other")
        told.close()
        clock.seconds += 30
        told.update("other.py", 1, 2, "other")
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "mine.py  4 of 7 blocks  [30 s]  mine  n=3",
        "mine.py  7 of 7 blocks  [60 s]  mine  n=3",
        "mine.py  7 of 7 blocks  [65 s]",
        "mine.py hunt  2 of 2 parts  [29 s]",
        "other.py  1 of 2 blocks  [0 s]",
    ]


def test_names_of_others_stay_on_their_line(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    with Progress("searches", clock=clock) as told:
        told.update("a\nb\x1b.py", 1, 2, "")
    assert capsys.readouterr().err == "a\\nb\\u001b.py  1 of 2 searches  [0 s]\n"


def test_where_nothing_is_done_nothing_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress():
        pass
    with Progress(quiet=True) as told:
        told.update("mine.py", 1, 2, "")
    assert capsys.readouterr() == ("", "")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_bar(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    with Progress("trials", clock=clock) as told:
        told.update("mine.py", 1, 4, "first")
        told.update("mine.py", 4, 4, "last")
    shown: Any = sys.stderr
    assert shown.getvalue().startswith("\rmine.py: ")
    assert "4/4" in shown.getvalue()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_that_computes_tells_how_far_it_is_unless_it_is_to_be_quiet(
    call: Call, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_EVERY", 0.0)
    words = [*COMMANDS[name], "--jobs", 1, "--out"]
    code, out, err = call(*words, tmp_path / "told")
    quiet = call(*words, tmp_path / "quiet", "--quiet")
    assert (quiet[0], quiet[1].replace("/quiet", "/told")) == (code, out)
    lines = [line for line in err.splitlines() if " of " in line and line.endswith(" s]")]
    assert lines
    assert " s]  " in err, "and on the way"
    assert not [line for line in quiet[2].splitlines() if " of " in line and " s]" in line]
