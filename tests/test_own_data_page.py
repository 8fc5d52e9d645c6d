"""docs/own_data.md: its commands run, and what it says that they print is printed."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from reports import cli
from verify.datasets import read_pair

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "own_data.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^```sh\n(relu-verify [^\n]+)\n```\n\n```text\n(.*?)^```", PAGE, re.M | re.S)


def test_every_command_is_followed_by_what_it_prints() -> None:
    assert len(COMMANDS) == PAGE.count("```sh\n") >= 5


@pytest.mark.parametrize(("command", "lines"), COMMANDS, ids=[c[0][30:] for c in COMMANDS])
def test_a_command_prints_the_lines_below_it(
    command: str, lines: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    with pytest.raises(SystemExit) as ended:
        cli.main(shlex.split(command)[1:])
    assert ended.value.code in (0, 2, 3)
    printed = capsys.readouterr().out.splitlines()
    for line in lines.splitlines():
        assert line in printed


def test_the_code_of_the_page_runs(tmp_path: Path) -> None:
    (block,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", block], cwd=ROOT, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()


def test_the_digits_are_what_their_script_writes(tmp_path: Path) -> None:
    """As text from the numbers; from scikit-learn itself where it is installed."""
    import runpy

    example = ROOT / "examples" / "data"
    script = runpy.run_path(str(example / "make_digits.py"))
    X, labels = read_pair(example / "digits.svm")
    shipped = (example / "digits.svm").read_text()
    assert X.shape == (60, 64)
    assert set(labels.values) == set(range(10))
    assert script["as_svmlight"](X, labels.values.astype(np.int64)) == shipped
    pytest.importorskip("sklearn", reason="only to write the digits again")
    script["write"](tmp_path)
    assert (tmp_path / "digits.svm").read_text() == shipped
