"""No error of any kind ends a command with a code that says something of a theorem."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from reports import exit_codes
from reports.cli import main
from reports.terminal import Terminated
from tests.verify.engine.toys import write_theorem
from verify.errors import WorkersLost

ROOT = Path(__file__).parents[2]

COMMANDS = {
    "run": (["run", "lai2026.theorem1"], "reports.runs.running.run"),
    "shard": (["run", "lai2026.theorem1", "--shard", "1/2"], "reports.runs.sharing.run_shard"),
    "merge": (["merge", "a", "b"], "reports.runs.merging.shared"),
    "report": (["report", "."], "reports.runs.telling.tell"),
    "diff": (["diff", "a", "b"], "reports.runs.saved.read"),
    "list": (["list"], "properties.catalogue.find_theorem"),
    "explain": (["explain", "lai2026.theorem1"], "properties.catalogue.find_theorem"),
    "replay": (["replay", "x.json"], "verify.counterexample.read"),
    "pin": (["pin", "x.json"], "verify.counterexample.read"),
    "new": (["new", "x"], "reports.new_theorem.write_new"),
    "data": (["data", "x.csv"], "reports.own_data.analysis.analyse"),
    "frontier": (
        ["frontier", "pattern_freezes_after_step_one", "--x", "d", "--at", "c=0.9", "--at", "n=9"],
        "reports.frontier.measuring.measure",
    ),
    "ablate": (["ablate", "lai2026.theorem1"], "properties.ablate.ablate"),
    "search": (["search", "pattern_freezes_after_step_one"], "properties.seeking.seek"),
}
WITH_A_FOLDER = ("run", "shard", "merge", "frontier", "ablate", "search")

UNEXPECTED = [
    KeyError("lost"),
    RecursionError("maximum recursion depth exceeded"),
    AssertionError(),
    GeneratorExit(),
    asyncio.CancelledError(),
    EOFError("of a worker"),
    BrokenPipeError(errno.EPIPE, "Broken pipe"),
    ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"),
    OSError(errno.EMFILE, "Too many open files"),
    ExceptionGroup("several", [ValueError(1)]),
]


@pytest.fixture
def failing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[[str, BaseException], tuple[int, str]]:
    """Let a command meet an exception in its work; return the exit code and stderr."""

    def call(name: str, error: BaseException) -> tuple[int, str]:
        def fail(*_: Any, **__: Any) -> None:
            raise error

        arguments, called = COMMANDS[name]
        out = ["--out", str(tmp_path / "out")] if name in WITH_A_FOLDER else []
        jobs = ["--jobs", "1"] if name in WITH_A_FOLDER and name != "merge" else []
        monkeypatch.setattr(called, fail)
        with pytest.raises(SystemExit) as ended:
            main([*arguments, *out, *jobs])
        assert isinstance(ended.value.code, int)
        return ended.value.code, capsys.readouterr().err

    return call


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_takes_a_bug_for_an_answer(failing: Any, name: str) -> None:
    code, err = failing(name, KeyError("lost"))
    assert code == exit_codes.INTERNAL == 70
    assert err.splitlines()[0] == "Traceback (most recent call last):"
    assert "an error of relu-verify's own (KeyError: 'lost')" in err.splitlines()[-1]


@pytest.mark.parametrize("error", UNEXPECTED, ids=lambda error: type(error).__name__)
def test_nothing_unexpected_is_taken_for_an_answer(failing: Any, error: BaseException) -> None:
    code, err = failing("run", error)
    assert code == exit_codes.INTERNAL
    assert err.splitlines()[0].strip().startswith(("Traceback", "+ Exception Group"))
    assert type(error).__name__ in err.splitlines()[-1]


def test_memory_that_runs_out_is_told_in_a_line(failing: Any) -> None:
    code, err = failing("run", MemoryError("Unable to allocate 8.00 EiB"))
    assert code == exit_codes.INTERNAL
    (line,) = err.splitlines()
    assert "memory ran out (Unable to allocate 8.00 EiB)" in line
    assert "--jobs" in line


def test_workers_that_keep_dying_are_no_mistake_in_a_file(failing: Any) -> None:
    code, err = failing("run", WorkersLost("worker processes died 3 times in a row"))
    assert code == exit_codes.INTERNAL
    assert err == "relu-verify: worker processes died 3 times in a row\n"


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize(
    ("error", "code"),
    [(KeyboardInterrupt(), 130), (Terminated(), 143), (SystemExit(1), 2), (SystemExit(0), 2)],
    ids=["interrupt", "termination", "exit(1)", "exit(0)"],
)
def test_no_command_takes_an_end_for_an_answer(
    failing: Any, name: str, error: BaseException, code: int
) -> None:
    assert failing(name, error)[0] == code


@pytest.mark.parametrize("error", [click.ClickException("no"), click.FileError("x", "no")])
def test_an_error_of_the_command_line_is_one_of_usage(failing: Any, error: Exception) -> None:
    assert failing("list", error)[0] == exit_codes.USAGE


@pytest.mark.parametrize(
    "error",
    [FileNotFoundError(errno.ENOENT, "No such file", "x.csv"), OSError(errno.ENOSPC, "No space")],
)
def test_a_file_that_cannot_be_used_is_one_of_input(failing: Any, error: Exception) -> None:
    code, err = failing("data", error)
    assert (code, len(err.splitlines())) == (exit_codes.USAGE, 1)


def test_all_codes_are_told_and_each_says_one_thing() -> None:
    codes = {name: value for name, value in vars(exit_codes).items() if name.isupper()}
    assert len(set(codes.values())) == len(codes)
    assert set(codes.values()) == {0, 1, 2, 3, 4, 70, 130, 143}
    told = subprocess.run(
        [sys.executable, "-c", "from reports.cli import main; main(['--help'])"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    page = (ROOT / "docs" / "verdicts.md").read_text(encoding="utf-8")
    for code in codes.values():
        assert f" {code} " in told.partition("Exit codes")[2].replace(",", " ")
        assert f" {code} " in page.partition("## Exit codes")[2].replace(",", " ")


ENDS = {
    "a stdout that it closes": ("import sys; sys.stdout.close()", 0),
    "a stderr that it closes": ("import sys; sys.stderr.close()", 0),
    "an interrupt": ("raise KeyboardInterrupt", 130),
    "an exit": ("exit(1)", 2),
    "too little memory": ("raise MemoryError", 2),
    "an endless recursion": ("f = lambda: f()\n    f()", 2),
    "a broken pipe": ("raise BrokenPipeError", 2),
    "a generator's end": ("raise GeneratorExit", 70),
}


@pytest.mark.parametrize("what", ENDS)
def test_a_theorem_cannot_end_a_run_with_an_answer(tmp_path: Path, what: str) -> None:
    does, code = ENDS[what]
    theorem = write_theorem(tmp_path, before_drawing=does)
    done = subprocess.run(
        [
            *(sys.executable, "-c", "from reports.cli import main; main()"),
            *("run", str(theorem), "--jobs", "1", "--out", str(tmp_path / "out")),
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
