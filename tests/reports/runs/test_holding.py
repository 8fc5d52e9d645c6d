"""One command at a time in a folder, and clear words where a folder cannot be used."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from reports.runs.holding import LOCK_NAME, held
from tests.reports.conftest import Call
from tests.verify.engine.toys import write_theorem
from verify.engine.executors import ProcessPool
from verify.errors import BackendUnavailable, StoreError

HOLDER = """
import sys
from pathlib import Path
from reports.runs.holding import held
with held(Path(sys.argv[1]), "relu-verify run mine.py"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path: Path) -> Any:
    """Start a process that holds the folder `out`."""
    started = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "out")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with started:
        assert started.stdout is not None
        assert started.stdout.readline() == "held\n"
        yield started
        started.kill()


@pytest.mark.parametrize(
    "command",
    [
        ["run", "{theorem}"],
        ["run", "{theorem}", "--shard", "1/2"],
        ["merge", "{done}"],
        ["ablate", "{theorem}"],
        ["frontier", "{theorem}::below_nine_tenths", "--x", "n"],
    ],
    ids=["run", "shard", "merge", "ablate", "frontier"],
)
def test_a_second_command_is_told_who_is_at_work(
    call: Call, tmp_path: Path, holder: subprocess.Popen[str], command: list[str]
) -> None:
    axes = {"    block=10,": '    block=10, axes=(Axis("n", 1, 9),),'}
    theorem = write_theorem(tmp_path, **{"import Assumption,": "import Assumption, Axis,"}, **axes)
    if command[0] == "merge":
        assert call("run", theorem, "--out", tmp_path / "done", "--jobs", 1)[0] == 0
    typed = [word.format(theorem=theorem, done=tmp_path / "done") for word in command]
    before = sorted(path.name for path in (tmp_path / "out").iterdir())
    code, out, err = call(*typed, "--out", tmp_path / "out")
    assert (code, out) == (2, "")
    assert f"{tmp_path / 'out'} is in use by process {holder.pid} on " in err
    assert "(relu-verify run mine.py); wait until it has ended, or choose another --out" in err
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == before


def test_who_was_killed_holds_nothing(
    call: Call, tmp_path: Path, holder: subprocess.Popen[str]
) -> None:
    out = tmp_path / "out"
    (out / "counterexamples").mkdir()
    for half in (out / ".12-34.partial", out / "counterexamples" / ".5-6.partial"):
        half.write_text("half")
    (out / ".mine").write_text("whole")
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert (out / LOCK_NAME).exists()
    assert call("run", write_theorem(tmp_path), "--out", out, "--jobs", 1)[0] == 0
    names = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    control = "counterexamples/filed.always_below"
    assert names == {
        *(".mine", "records.sqlite", "report.json", "report.html"),
        *(f"{control}.{kind}.json" for kind in ("worst",)),
    }


def test_a_folder_is_held_once_and_given_up(tmp_path: Path) -> None:
    first = pytest.raises(StoreError, match=r"in use by .*\(first\)")
    with held(tmp_path, "first"), first, held(tmp_path, "second"):
        raise AssertionError
    with pytest.raises(ZeroDivisionError), held(tmp_path, "third"):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []
    with held(tmp_path, "fourth"):
        assert "(fourth)" in (tmp_path / LOCK_NAME).read_text()


def test_a_lock_that_is_removed_while_it_is_waited_for_is_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from reports.runs import holding

    locked, seen = holding._locked, []

    def slow(lock: Any) -> bool:
        if not seen:  # the holder ends between our opening and locking of its file
            (tmp_path / LOCK_NAME).unlink()
        seen.append(lock.fileno())
        return locked(lock)

    monkeypatch.setattr(holding, "_locked", slow)
    refused = pytest.raises(StoreError, match="in use by")
    with held(tmp_path, "mine"), refused, held(tmp_path, "other"):
        raise AssertionError
    assert len(seen) == 3


AXES = {
    "import Assumption,": "import Assumption, Axis,",
    "    block=10,": '    block=10, axes=(Axis("n", 1, 9, "integer"),),',
}
AT_WORK = {
    "run": ["run", "{theorem}"],
    "shard": ["run", "{theorem}", "--shard", "1/2"],
    "ablate": ["ablate", "{theorem}"],
    "frontier": ["frontier", "{theorem}::below_nine_tenths", "--x", "n"],
}


@pytest.fixture(params=AT_WORK)
def failing(request: Any, call: Call, tmp_path: Path) -> Any:
    """Let a command fail before anything is computed: its theorem's draw ends with an error."""
    theorem = write_theorem(tmp_path, before_drawing="raise ValueError('no data')", **AXES)

    def run(out: Path) -> None:
        words = [word.format(theorem=theorem) for word in AT_WORK[request.param]]
        code, _, err = call(*words, "--jobs", 1, "--out", out)
        assert code == 2
        assert "no data" in err

    return run


def test_a_command_that_computes_nothing_leaves_nothing(failing: Any, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    failing(tmp_path / "new" / "below" / "out")
    assert sorted(tmp_path.iterdir()) == before
    (tmp_path / "mine").mkdir()
    failing(tmp_path / "mine")
    assert list((tmp_path / "mine").iterdir()) == []
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    failing(tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes.txt"]


def test_records_that_were_there_stay_though_a_command_fails(
    call: Call, failing: Any, tmp_path: Path
) -> None:
    other = write_theorem(tmp_path, "other.py")
    assert call("run", other, "--jobs", 1, "--out", tmp_path / "out")[0] == 0
    before = blocks(tmp_path / "out")
    failing(tmp_path / "out")
    assert blocks(tmp_path / "out") == before


def test_what_was_computed_before_an_error_stays(call: Call, tmp_path: Path) -> None:
    fails = "if point['n'] == 2: raise ValueError('no data')"
    theorem = write_theorem(tmp_path, before_drawing=fails)
    code, _, _ = call("run", theorem, "--jobs", 1, "--out", tmp_path / "out")
    assert code == 2
    assert blocks(tmp_path / "out")


def test_workers_that_do_not_fit_leave_no_folder(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Unfit(ProcessPool):
        def __enter__(self) -> ProcessPool:
            raise BackendUnavailable("the Dask worker has another relu-verify")

    theorem = write_theorem(tmp_path)
    monkeypatch.setattr("reports.runs.running.open_executor", lambda *_: Unfit(1))
    code, _, err = call("run", theorem, "--out", tmp_path / "out")
    assert code == 4
    assert "has another relu-verify" in err
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(os.name == "nt", reason="Windows limits no file sizes")
@pytest.mark.parametrize("size", [2_000, 30_000, 70_000])
def test_where_room_ends_it_is_said_and_nothing_is_lost(tmp_path: Path, size: int) -> None:
    """The limit of a file's size is a stand-in for that of a disk: writing fails all the same."""
    theorem = write_theorem(tmp_path)
    script = (
        f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))\n"
        "from reports.cli import main; main()"
    )
    command = ["run", str(theorem), "--jobs", "1", "--quiet", "--out", str(tmp_path / "out")]
    limited = subprocess.run(
        [sys.executable, "-c", script, *command], capture_output=True, text=True, check=False
    )
    assert limited.returncode == 2
    assert "make room there" in limited.stderr
    assert "Traceback" not in limited.stderr
    assert len(limited.stderr.splitlines()) == 1
    before = blocks(tmp_path / "out")
    usual = [sys.executable, "-c", "from reports.cli import main; main()", *command]
    assert subprocess.run(usual, capture_output=True, check=False).returncode == 0
    after = blocks(tmp_path / "out")
    assert before.items() <= after.items()
    assert len(after) == 40


def blocks(folder: Path) -> dict[tuple[str, int], bytes]:
    """Return what is stored of each block."""
    with closing(sqlite3.connect(folder / "records.sqlite")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        if not connection.execute("SELECT * FROM sqlite_master WHERE name='blocks'").fetchone():
            return {}
        rows = connection.execute("SELECT hash, block, data FROM blocks").fetchall()
    return {(hash_, block): data for hash_, block, data in rows}


def test_a_folder_and_a_file_that_cannot_be_written_are_named(
    call: Call, call_without_rights: Any, tmp_path: Path
) -> None:
    theorem, out, new = write_theorem(tmp_path), tmp_path / "out", tmp_path / "new"
    assert call("run", theorem, "--out", out, "--jobs", 1)[0] == 0
    new.mkdir()
    file = out / "records.sqlite"
    whole = file.read_bytes()
    try:
        for place in (file, out, new):
            place.chmod(0o555)
        command = ["run", theorem, "--jobs", 1, "--seed", 1, "--out"]
        found = call_without_rights([*command, new], [*command, out], [*command, out / "below"])
        out.chmod(0o755)
        found += call_without_rights([*command, out])
    finally:
        for place in (file, out, new):
            place.chmod(0o755)
    for code, said, err in found:
        assert (code, said) == (2, "")
        assert "choose another --out" in err
        assert len(err.splitlines()) == 1
    assert "make file and folder writable" in found[-1][2]
    assert file.read_bytes() == whole


def test_records_of_another_schema_are_left_alone(call: Call, tmp_path: Path) -> None:
    theorem, out = write_theorem(tmp_path), tmp_path / "out"
    call("run", theorem, "--out", out, "--jobs", 1)
    with closing(sqlite3.connect(out / "records.sqlite")) as connection, connection:
        connection.execute("UPDATE meta SET value = '999'")
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    for command in (["run", theorem, "--out", out], ["merge", out, "--out", out]):
        code, _, err = call(*command)
        assert code == 2
        assert "has schema version 999, expected" in err
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
