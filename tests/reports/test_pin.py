"""`relu-verify pin`: what it writes, says and refuses, and that pytest replays it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

THEOREM = """
from tests.properties.seeking.toys import *

theorem = numbers_theorem({changes})
"""

FALSE = "claims=(Universal(squares_are_subadditive),), controls=()"
CORRECTED = "claims=(Universal(squares_are_subadditive, given=(POSITIVE,)),), controls=()"


@pytest.fixture
def few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Any) -> Any:
    """Write few.py and search a claim of it into found/; return the command line."""
    monkeypatch.chdir(tmp_path)

    def search(changes: str, *arguments: str) -> Any:
        (tmp_path / "few.py").write_text(THEOREM.format(changes=changes))
        name = "few.py::squares_are_subadditive"
        call("search", name, *arguments, "--examples", 20, "--out", "found")
        return call

    return search


def pytest_of(folder: Path, *arguments: str) -> tuple[int, str]:
    """Run pytest -v on the pins of few.py, in a process of its own; return its code and output."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "-p",
            "pytest_relu_verify",
            "--theorem",
            "few.py",
            "-k",
            "pinned",
            "-v",
            *arguments,
        ],
        cwd=folder,
        env={
            "PYTHONPATH": str(ROOT),
            "PATH": "",
            "OPENBLAS_NUM_THREADS": "1",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_a_pin_guards_a_correction(few: Any, tmp_path: Path) -> None:
    call = few(FALSE)
    code, out, _ = call("pin", "found/smallest.json")
    assert code == 0
    target = "few.pinned/squares_are_subadditive-smallest.json"
    test = "squares_are_subadditive[pinned squares_are_subadditive-smallest]"
    lines = out.splitlines()
    assert lines[0].endswith(target)
    assert lines[1] == f"  {test} of: pytest --theorem few.py"
    assert "must not violate the claim any more" in lines[2]
    assert lines[3].startswith("  Today it is violated: exactly the claim fails")
    assert (tmp_path / target).read_bytes() == (tmp_path / "found/smallest.json").read_bytes()

    code, out = pytest_of(tmp_path)
    assert code == 1
    assert f"few.py::{test} FAILED" in out
    assert "must not violate (any more) squares_are_subadditive, and is violated: exactly" in out
    assert "Traceback" not in out

    (tmp_path / "few.py").write_text(THEOREM.format(changes=CORRECTED))
    code, out = pytest_of(tmp_path)
    assert code == 0, out
    assert f"few.py::{test} PASSED" in out


def test_a_pin_without_an_assumption_must_still_violate(few: Any, tmp_path: Path) -> None:
    call = few("", "--without", "all_are_positive")
    code, out, _ = call("pin", "found/smallest.json", "--into", "there")
    assert code == 0
    name = "squares_are_subadditive-without-all_are_positive-smallest"
    assert out.startswith(f"Pinned: there/{name}.json\n")
    assert "pytest --theorem few.py --theorem-pinned there" in out
    assert "must still violate the claim, without all_are_positive" in out
    record = json.loads((tmp_path / "there" / f"{name}.json").read_text())
    assert record["without"] == ["all_are_positive"]


def test_pins_are_listed_and_removed(few: Any, tmp_path: Path) -> None:
    call = few(FALSE)
    assert call("pin", "--list", "few.py")[1].startswith("Nothing is pinned in ")
    call("pin", "found/smallest.json")
    assert call("pin", "found/smallest.json")[0] == 0, "the same again changes nothing"
    (tmp_path / "few.pinned" / "broken.json").write_text("{}")
    _, out, _ = call("pin", "--list", "few.py")
    told = out.splitlines()
    assert told[0].startswith("broken: unreadable: ")
    assert told[1].endswith("few.py: squares_are_subadditive (exact)")
    _, out, _ = call("pin", "--remove", "found/smallest.json")
    assert out.startswith("Pinned no more: ")
    assert [file.name for file in (tmp_path / "few.pinned").iterdir()] == ["broken.json"]
    code, _, err = call("pin", "--remove", "found/smallest.json")
    assert code == 2
    assert "is not there: nothing of that name is pinned" in err


def test_another_counterexample_of_the_same_name_is_not_overwritten(few: Any) -> None:
    call = few(FALSE)
    call("pin", "found/smallest.json")
    few(FALSE, "--seed", "5")
    code, _, err = call("pin", "found/smallest.json")
    assert code == 2
    assert "exists and is another counterexample; rename FILE" in err


def test_what_does_not_violate_today_is_not_pinned_as_if_it_did(few: Any, tmp_path: Path) -> None:
    call = few("", "--without", "all_are_positive")
    weaker = "claims=(Universal(squares_are_bounded, given=(POSITIVE,), "
    weaker += 'name="squares_are_subadditive"),), controls=(), exact=None'
    (tmp_path / "few.py").write_text(THEOREM.format(changes=weaker))
    code, _, err = call("pin", "found/smallest.json")
    assert code == 2
    assert "must violate its claim to be pinned" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no FILE was given"),
        (["nowhere.json"], "no file 'nowhere.json'"),
        (["few.py"], "is not a counterexample file"),
        (["few.py", "--list", "--remove"], "expected one of them"),
        (["--remove"], "no FILE was given"),
    ],
)
def test_bad_input_is_told_in_a_sentence(few: Any, arguments: list[str], message: str) -> None:
    call = few(FALSE)
    code, out, err = call("pin", *arguments)
    assert code == 2
    assert message in err
    assert not out
