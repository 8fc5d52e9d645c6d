"""A run that is killed, whenever and however often, loses nothing and leaves nothing behind."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.verify.engine.toys import write_theorem

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL and no groups")

KILLS = 20
TABLES = ("configurations", "blocks", "searches")
_PATIENCE = 60.0


def write(folder: Path) -> Path:
    """Write a theorem that is sampled and searched; each of its batches takes 5 ms."""
    return write_theorem(
        folder,
        before_drawing="import time\ntime.sleep(0.005)",
        **{
            "import Assumption,": "import Assumption, Axis,",
            "    block=10,": '    block=10, axes=(Axis("n", 1, 9, "integer"),),',
        },
    )


def command(theorem: Path, out: Path, jobs: int) -> list[str]:
    entry = "from reports.cli import main; main()"
    return [
        sys.executable,
        "-c",
        entry,
        "run",
        str(theorem),
        "--out",
        str(out),
        "--jobs",
        str(jobs),
    ]


def records(folder: Path) -> dict[str, list[Any]]:
    """Return everything that is recorded in a run's folder, but for its journal."""
    with closing(sqlite3.connect(folder / "records.sqlite")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return {
            t: connection.execute(f"SELECT * FROM {t} ORDER BY 1, 2").fetchall() for t in TABLES
        }


def kept(folder: Path) -> int:
    """Return how many blocks and searches are recorded by now."""
    if not (folder / "records.sqlite").exists():
        return 0
    with closing(sqlite3.connect(folder / "records.sqlite")) as connection, suppress(sqlite3.Error):
        return sum(
            connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("blocks", "searches")
        )
    return 0


def report(folder: Path) -> dict[str, Any]:
    """Return a run's report without what depends on when, where and by how many it was made."""
    found = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    passing = ("created", "wall_time_s", "computing", "command", "out", "jobs")
    return {name: value for name, value in found.items() if name not in passing}


def files(folder: Path) -> dict[str, bytes]:
    """Return the counterexamples of a run, and the names of all other files."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.parent != folder else b""
        for path in folder.rglob("*")
        if path.is_file()
    }


def require_nobody_left(group: int) -> None:
    """Wait for the end of all processes of a group that was killed."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        assert time.monotonic() < deadline, "a worker has outlived its parent"
        time.sleep(0.02)


def kill_after(started: subprocess.Popen[bytes], out: Path, target: int, pause: float) -> bool:
    """Kill a run once so much is recorded, and a little later; say whether it was still at work."""
    deadline = time.monotonic() + _PATIENCE
    while started.poll() is None and kept(out) < target and time.monotonic() < deadline:
        time.sleep(0.002)
    time.sleep(pause)
    alive = started.poll() is None
    started.kill()
    started.wait()
    require_nobody_left(started.pid)
    return alive


def test_twenty_kills_lose_nothing(tmp_path: Path) -> None:
    theorem, whole, killed = write(tmp_path), tmp_path / "whole", tmp_path / "killed"
    assert (
        subprocess.run(command(theorem, whole, 1), capture_output=True, check=False).returncode == 0
    )
    total = kept(whole)
    chance = random.Random(5)
    targets = [*sorted(chance.randrange(total) for _ in range(KILLS - 2)), total, total]
    hit = 0
    for number, target in enumerate(targets):
        jobs = 2 if number % 4 == 1 else 1
        started = subprocess.Popen(
            command(theorem, killed, jobs),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        hit += kill_after(started, killed, target, chance.uniform(0, 0.05))
    assert hit >= KILLS - 2, "those that are killed at the end may just have finished"
    done = subprocess.run(command(theorem, killed, 2), capture_output=True, check=False)
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)
    assert records(killed) == records(whole)
    assert report(killed) == report(whole)
    assert files(killed) == files(whole), "no lock and nothing half written is left"


KILLED_WRITING = """
import os, signal, sys
from pathlib import Path
from reports.cli import main
usual = Path.replace
def replace(self, target):
    if Path(target).name.endswith(ENDING):
        os.kill(os.getpid(), signal.SIGKILL)
    return usual(self, target)
Path.replace = replace
main(sys.argv[1:])
"""


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a theorem, and in `out` its finished run."""
    folder = tmp_path_factory.mktemp("once")
    made = subprocess.run(
        command(write(folder), folder / "out", 1), capture_output=True, check=False
    )
    assert made.returncode == 0
    return folder


@pytest.mark.parametrize("ending", [".worst.json", "report.json", "report.html"])
def test_a_kill_while_a_file_is_written_leaves_the_one_before(
    once: Path, tmp_path: Path, ending: str
) -> None:
    out = shutil.copytree(once / "out", tmp_path / "out")
    usual = command(once / "filed.py", out, 1)
    before = files(out)
    texts = {name: (out / name).read_bytes() for name in ("report.json", "report.html")}
    script = KILLED_WRITING.replace("ENDING", repr(ending))
    died = subprocess.run([sys.executable, "-c", script, *usual[3:]], check=False)
    assert died.returncode == -signal.SIGKILL
    now = files(out)
    assert {name: now[name] for name in before} == before
    assert len(now) > len(before), "the lock, and the half of a file"
    assert (out / "report.html").read_bytes() == texts["report.html"]
    if ending != "report.html":
        assert (out / "report.json").read_bytes() == texts["report.json"]
    assert subprocess.run(usual, capture_output=True, check=False).returncode == 0
    assert files(out) == before
