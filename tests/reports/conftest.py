"""Runs of small theorems, made once, and the command line called in this process."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reports.cli import main
from tests.verify.engine.toys import write_theorem

EXAMPLES = Path(__file__).parents[2] / "examples"

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """Run a command in this process; return (exit code, stdout, stderr)."""

    def run(*arguments: Any) -> tuple[int, str, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return int(ended.value.code or 0), out, err

    return run


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two theorem files, and in `out` a finished run of both.

    `small.py` has a universal and a with-probability claim and a control, `false.py` a claim
    that is refuted by trials and by the search. Whoever changes anything works on a copy.
    """
    folder = tmp_path_factory.mktemp("finished")
    write_theorem(folder, "small.py")
    shutil.copy(EXAMPLES / "same_factor.py", folder / "false.py")
    with pytest.raises(SystemExit) as ended:
        main(["run", *_files(folder), "--jobs", "1", "--out", str(folder / "out")])
    assert ended.value.code == 1
    return folder


def _files(folder: Path) -> list[str]:
    return [str(folder / name) for name in ("small.py", "false.py")]


@pytest.fixture
def run_folder(finished: Path, tmp_path: Path) -> Path:
    """Return a copy of the folder of the finished run."""
    return shutil.copytree(finished / "out", tmp_path / "out")


@pytest.fixture
def report(finished: Path) -> dict[str, Any]:
    """Return the report of the finished run, to change at will."""
    return dict(json.loads((finished / "out" / "report.json").read_text(encoding="utf-8")))
