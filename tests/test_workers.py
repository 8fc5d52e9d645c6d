"""`pytest -n auto` and `tox -p` share the cores: what each process may use is counted."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reports.commands.options import cores
from verify.engine.executors.threads import THREAD_VARIABLES

ROOT = Path(__file__).parents[1]

INNER = """
import json, os, subprocess, sys
from pathlib import Path
import pytest
from threadpoolctl import threadpool_info
from reports.commands.options import cores

@pytest.mark.parametrize("number", range(8))
def test_what_it_may_use(number):
    import scipy.linalg
    child = "import scipy.linalg, threadpoolctl as t; "
    child += "print([info['num_threads'] for info in t.threadpool_info()])"
    told = {
        "worker": os.environ.get("PYTEST_XDIST_WORKER"),
        "workers": os.environ.get("PYTEST_XDIST_WORKER_COUNT"),
        "cores": cores(),
        "threads": [info["num_threads"] for info in threadpool_info()],
        "of_a_child": json.loads(subprocess.check_output([sys.executable, "-c", child])),
    }
    Path(f"told-{number}.json").write_text(json.dumps(told))
"""


def environment(**changes: str) -> dict[str, str]:
    """Return the environment without what this test run itself sets in it, with changes."""
    ours = ("PYTEST_", "TOX_", *THREAD_VARIABLES)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**kept, **changes}


def run(*command: Any, cwd: Path, **changes: str) -> str:
    """Run a command that must succeed; return what it prints."""
    words = [str(word) for word in command]
    done = subprocess.run(
        words, cwd=cwd, env=environment(**changes), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_worker_of_pytest_and_its_children_use_one_core_and_one_thread(tmp_path: Path) -> None:
    shutil.copy(ROOT / "conftest.py", tmp_path)
    (tmp_path / "test_inner.py").write_text(INNER)
    run(sys.executable, "-m", "pytest", "-n", 2, "-p", "no:cacheprovider",
        cwd=tmp_path, PYTHONPATH=str(ROOT))  # fmt: skip
    told = [json.loads(file.read_text()) for file in tmp_path.glob("told-*.json")]
    assert len(told) == 8
    assert {entry["worker"] for entry in told} == {"gw0", "gw1"}
    for entry in told:
        assert entry["workers"] == "2"
        assert entry["cores"] == 1
        assert set(entry["threads"]) == set(entry["of_a_child"]) == {1}


def test_the_default_of_jobs_is_one_in_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    assert cores() == len(os.sched_getaffinity(0))
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    assert cores() == 1


@pytest.fixture(scope="module")
def environments(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with three environments of tox, on a machine of twelve cores."""
    folder = tmp_path_factory.mktemp("environments")
    plugin = (ROOT / "toxfile.py").read_text()
    assert plugin.count("auto_detect_cpus()") == 1
    (folder / "toxfile.py").write_text(plugin.replace("auto_detect_cpus()", "12"))
    (folder / "tox.ini").write_text(
        "[tox]\nenv_list = one, two, three\n[testenv]\npackage = skip\n"
        "set_env = PYTEST_XDIST_AUTO_NUM_WORKERS = {workers}\ncommands =\n"
        "    python -c \"import os; print('found', os.environ['PYTEST_XDIST_AUTO_NUM_WORKERS'])\"\n"
    )
    return folder


@pytest.mark.parametrize(
    ("arguments", "count", "workers"),
    [
        ("run", 3, 12),
        ("p -p 2 -o", 3, 6),
        ("p -p all -o", 3, 4),
        ("p -p 8 -e one,two -o", 2, 6),
        ("p -p 0 -o", 3, 12),
    ],
)
def test_environments_of_tox_share_the_cores(
    environments: Path, arguments: str, count: int, workers: int
) -> None:
    told = run(sys.executable, "-m", "tox", *arguments.split(), cwd=environments)
    assert re.findall(r"^found (\d+)$", told, re.M) == [str(workers)] * count


def test_every_environment_with_workers_takes_its_share(tmp_path: Path) -> None:
    text = (ROOT / "tox.ini").read_text()
    names = re.findall(r"^\[testenv:(\w+)\](?:\n.+)*-n auto", text, re.M)
    told = run(sys.executable, "-m", "tox", "config", "-e", ",".join(["py", *names]),
               "-k", "set_env", "--workdir", tmp_path, cwd=ROOT)  # fmt: skip
    assert names == ["properties", "nightly"]
    shares = re.findall(r"^ +PYTEST_XDIST_AUTO_NUM_WORKERS=(\d+)$", told, re.M)
    assert shares == [str(len(os.sched_getaffinity(0)))] * 3
