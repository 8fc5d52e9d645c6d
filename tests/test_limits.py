"""docs/limits.md is followed as a reader follows it: in an empty folder, from top to bottom.

Its console blocks are run and compared; what is quoted of commands that take minutes says so.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from properties.catalogue import find_theorem
from reports.cli import main
from reports.counterexamples.readable import readable
from reports.frontier.request import read
from tests.test_tutorial import BLOCK, apply, console, mismatch
from verify.confirm import confirm
from verify.counterexample import captured

PAGE = Path(__file__).parents[1] / "docs/limits.md"
TEXT = PAGE.read_text(encoding="utf-8")
MEASURED = re.findall(
    r"^Measured with `relu-verify ([^`]+)`[^`]*```text\n(.*?)^```", TEXT, re.M | re.S
)
THIN_SPACE = "\N{NARROW NO-BREAK SPACE}"
"""Between the thousands of a number; the page has plain spaces."""
WITH_WORKERS = {"run", "frontier", "ablate", "search"}

Reader = Callable[[str], tuple[str, int]]


@pytest.fixture
def reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Reader:
    """Run one command in an empty folder; return what the terminal shows and the exit code."""
    monkeypatch.chdir(tmp_path)

    def call(line: str) -> tuple[str, int]:
        command, *arguments = shlex.split(line)
        if command != "relu-verify":
            started = {"pytest": ["-m", "pytest", "-p", "no:cacheprovider"], "python3": []}[command]
            call = [sys.executable, *started, *arguments]
            done = subprocess.run(call, capture_output=True, text=True, check=False)
            return done.stdout + done.stderr, done.returncode
        jobs = ["--jobs", "1"] if arguments[0] in WITH_WORKERS else []  # pools start slowly
        with pytest.raises(SystemExit) as ended:
            main([*arguments, *jobs])
        out, err = capfd.readouterr()
        return (out + err).replace(THIN_SPACE, " "), int(ended.value.code or 0)

    return call


def test_the_page_holds_for_whoever_follows_it(reader: Reader) -> None:
    code, commands = 0, 0
    for marker, language, block in BLOCK.findall(TEXT):
        if marker:
            apply(marker, block)
        elif language == "console":
            for command, shown in console(block):
                if command == "echo $?":
                    assert shown == [str(code)]
                    continue
                printed, code = reader(command)
                commands += 1
                missing = mismatch(shown, printed)
                assert not missing, f"$ {command}\nshown: {missing}\nprinted:\n{printed}"
        else:
            assert language == "text", f"a {language} block is neither followed nor measured"
    assert commands > 12
    assert Path("relu-verify-out/search-tenths_add_up/unconfirmed.json").exists()
    assert Path("hebb.pinned").is_dir()


def test_the_checker_of_the_page_notices_every_other_number(reader: Reader) -> None:
    for marker, _, block in BLOCK.findall(TEXT):
        if "hebb.py" in marker:
            apply(marker, block)
    printed, code = reader(
        "relu-verify search hebb.py::fits_every_example --without coherence_is_small --examples 60"
        " --out found"
    )
    assert code == 0, printed
    checker = Path("found/smallest_check.py")
    source = checker.read_text()
    start = source.index('"exact": {')
    numbers = list(re.finditer(r'"(-?\d+)"', source[start:]))
    assert len(numbers) >= 3 + 3 + 2 * 4, "examples, labels, both sides of claim and assumptions"
    for number in numbers:
        place = slice(start + number.start(1), start + number.end(1))
        checker.write_text(source[: place.start] + str(int(number[1]) + 7) + source[place.stop :])
        said, code = reader(f"python3 -I -S {checker}")
        assert code == 1, f"{number[0]} became another, and the checker said {said}"
        assert said.startswith("WRONG: ")


def test_what_is_quoted_and_not_run_says_how_it_was_measured() -> None:
    assert len(MEASURED) == len(re.findall(r"^```text$", TEXT, re.M)) == 3


def test_the_frontier_that_was_measured_can_be_asked_for() -> None:
    ((command, quoted),) = [one for one in MEASURED if one[0].startswith("frontier ")]
    _, claim, *words = shlex.split(command)
    options = dict(zip(words[::2], words[1::2], strict=True))
    asked = read(claim, options["--x"], options["--y"], [options["--at"]], budget=20_000)
    rows = re.findall(r"^ +(\d+) +0\.5 +\S+ +\[", quoted, re.M)
    assert [int(y) for y in rows] == list(asked.request.y_values)


def test_the_ablation_that_was_measured_is_of_the_theorem_as_it_is() -> None:
    ((command, quoted),) = [one for one in MEASURED if one[0].startswith("ablate ")]
    theorem = find_theorem(command.split()[1])
    verdicts = "load-bearing(?:, rarely)?|not needed as far as found|vacuous"
    rows = re.findall(rf"^(\w+) +(?:{verdicts}) ", quoted, re.M)
    assert len(rows) == 4
    assert set(rows) < {assumption.id for assumption in theorem.hypotheses}
    assert re.search(r"^dropped +verdict +1 2 3 4 5 6 7 ", quoted, re.M)
    assert len(theorem.claims) == 7
    assert len(theorem.hypotheses) == 10, "the page says: of the ten rows"


def test_the_counterexample_that_was_measured_is_one() -> None:
    ((_, quoted),) = [one for one in MEASURED if one[0].startswith("search ")]
    values = {
        "n": 2,
        "d": 2,
        "features": [[1, 1], [1, 0]],
        "labels": [2, -2],
        "start": [1, 1],
        "c": 16,
    }
    theorem = find_theorem("theorem1")
    claim = theorem.claim("pattern_freezes_after_step_one")
    without = ("dimension_is_high",)
    example = captured(theorem, claim, "small", {"values": values}, -1.0, without=without)
    confirmed = confirm(theorem, example)
    assert confirmed.outcome == "exact", confirmed.reason
    printed = readable(confirmed.example, "").splitlines()
    assert not mismatch(quoted.splitlines(), "\n".join(printed))
