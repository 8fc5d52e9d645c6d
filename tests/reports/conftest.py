"""Runs of small theorems, made once, and the command line called in this process."""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import reports
from reports.cli import main
from tests.verify.engine.toys import write_theorem

EXAMPLES = Path(__file__).parents[2] / "examples"

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="session", autouse=True)
def loaded() -> None:
    """Import all of `reports`: commands load it when they run, and what is loaded while a test has
    replaced a function would keep the replacement."""
    for module in pkgutil.walk_packages(reports.__path__, "reports."):
        if "theorem_templates" not in module.name:
            importlib.import_module(module.name)


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


@pytest.fixture
def call_without_rights(tmp_path: Path) -> Callable[..., list[tuple[int, str, str]]]:
    """Run commands, in a process that may write only where permissions let it, as root may not."""
    prefix: list[str] = []
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        setpriv = shutil.which("setpriv") or pytest.skip("root writes anywhere without setpriv")
        powers = "-dac_override,-dac_read_search"
        prefix = [setpriv, "--bounding-set", powers, "--inh-caps", "-all"]
    elif os.name == "nt":
        pytest.skip("Windows has other permissions")

    def run(*commands: Sequence[Any]) -> list[tuple[int, str, str]]:
        typed = json.dumps([[str(word) for word in command] for command in commands])
        made = subprocess.run(
            [*prefix, sys.executable, "-c", _SEVERAL, typed],
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=True,
        )
        return [(code, out, err) for code, out, err in json.loads(made.stdout)]

    return run


_SEVERAL = """
import contextlib, io, json, sys
from reports.cli import main
found = []
for command in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main(command)
    except SystemExit as ended:
        found.append((ended.code or 0, out.getvalue(), err.getvalue()))
print(json.dumps(found))
"""


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
