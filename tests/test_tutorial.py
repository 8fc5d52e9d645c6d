"""The tutorial is followed as a reader follows it: in an empty folder, from top to bottom.

Blocks under `<!-- file: NAME -->` are written, under `<!-- above "TEXT" in NAME -->` put in, diffs
under `<!-- change NAME -->` applied, console blocks run and compared, the other Python run last.
"""

from __future__ import annotations

import fnmatch
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reports.cli import main

PAGE = Path(__file__).parents[1] / "docs/tutorial.md"
BLOCK = re.compile(r"^(?:<!-- (.*?) -->\n)?^```(\w+)\n(.*?)^```$", re.M | re.S)
DONE_ELSEWHERE = {"sh"}
"""Languages of blocks that are not followed here: the installation, which CI does."""


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: Any, capfd: pytest.CaptureFixture[str]) -> Any:
    """Run one command in an empty folder; return what the terminal shows and the exit code."""
    monkeypatch.chdir(tmp_path)

    def call(line: str) -> tuple[str, int]:
        command, *arguments = shlex.split(line)
        if command == "pytest":
            call = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
            done = subprocess.run(call, capture_output=True, text=True, check=False)
            return done.stdout + done.stderr, done.returncode
        assert command == "relu-verify"
        jobs = ["--jobs", "1"] if arguments[0] == "run" else []  # pools start slowly
        with pytest.raises(SystemExit) as ended:
            main([*arguments, *jobs])
        out, err = capfd.readouterr()
        return out + err, int(ended.value.code or 0)

    return call


def console(block: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each command of a block and the lines that it is said to print."""
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        command, *shown = part.splitlines()
        yield command, shown


def mismatch(shown: list[str], printed: str) -> str:
    """Return the first line that is shown but not printed, in order; … is anything, and a line
    of nothing else any lines."""
    lines = iter(printed.splitlines())
    for line in shown:
        pattern = re.sub(r"([\[\]*?])", r"[\1]", line).replace("…", "*")
        if line == "…":
            continue
        if not any(fnmatch.fnmatchcase(printed_line, pattern) for printed_line in lines):
            return line
    return ""


def apply(edit: str, block: str) -> None:
    """Do what a marker says with its block."""
    if found := re.fullmatch(r"file: (\S+)", edit):
        Path(found[1]).write_text(block)
    elif found := re.fullmatch(r'above "(.*)" in (\S+)', edit):
        replace_once(Path(found[2]), found[1], f"{block}\n\n{found[1]}")
    elif found := re.fullmatch(r"change (\S+)", edit):
        old, new = ("".join(line[1:] for line in block.splitlines(True) if line[0] in kept)
                    for kept in (" -", " +"))  # fmt: skip
        replace_once(Path(found[1]), old, new)
    else:
        raise AssertionError(f"unknown marker: {edit}")


def replace_once(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert text.count(old) == 1, f"{text.count(old)} times in {file}:\n{old}"
    file.write_text(text.replace(old, new))


def test_the_tutorial_holds_for_whoever_follows_it(reader: Any) -> None:
    script, code = "", 0
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(blocks) > 20
    for marker, language, block in blocks:
        if marker:
            apply(marker, block)
        elif language == "console":
            for command, shown in console(block):
                if command == "echo $?":
                    assert shown == [str(code)]
                    continue
                printed, code = reader(command)
                missing = mismatch(shown, printed)
                assert not missing, f"$ {command}\nshown: {missing}\nprinted:\n{printed}"
        elif language == "python":
            script += block
        else:
            assert language in DONE_ELSEWHERE
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_counterexample_that_the_prose_explains_is_one() -> None:
    X, y, penalty = np.array([[0.0, 1.0], [1.0, 1.0]]), np.array([0.0, 1.0]), 1.0
    text = PAGE.read_text(encoding="utf-8").replace("\n", " ")
    assert "X = [[0, 1], [1, 1]], y = (0, 1) and penalty 1." in text
    assert "with w = (1, 0)." in text
    np.testing.assert_allclose(np.linalg.lstsq(X, y)[0], [1, 0], atol=1e-12)
    assert "work out between them: w = (0.4, 0.2)." in text
    np.testing.assert_allclose(np.linalg.solve(X.T @ X + penalty * np.eye(2), X.T @ y), [0.4, 0.2])


def test_what_is_shown_and_not_printed_is_noticed() -> None:
    printed = "one 1.25\ntwo [x]\nthree\n"
    assert mismatch(["one 1.…", "…", "three"], printed) == ""
    assert mismatch(["two [x]"], printed) == ""
    assert mismatch(["three", "one 1.25"], printed) == "one 1.25"
    assert mismatch(["one 1.3"], printed) == "one 1.3"
