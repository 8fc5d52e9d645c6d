"""Time is kept with what it was spent on, told in all and for now, and decides nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.reports.conftest import Call
from tests.verify.engine.toys import write_theorem
from verify.engine.executors import timing

FALSE_CLAIMS = {
    "import Assumption,": "import Assumption, Axis, Frequency,",
    "    block=10,": '    block=10, axes=(Axis("n", 1, 9, "integer"),),\n'
    "    measures=(Frequency(below_a_half),),",
}
BLOCKS, PARTS = 40, 2


@pytest.fixture
def second_by_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let everything that is timed take one second."""
    seconds = iter(range(10**6))
    monkeypatch.setattr(timing, "clock", lambda: next(seconds))


@pytest.fixture
def theorem(tmp_path: Path) -> Path:
    return write_theorem(tmp_path, **FALSE_CLAIMS)


def computing(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "report.json").read_text())["computing"])


@pytest.mark.usefixtures("second_by_second")
def test_a_run_that_goes_on_tells_all_of_its_time_and_now(
    call: Call, theorem: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    run = ("run", theorem, "--jobs", 1, "--out", out)
    assert call(*run, "--shard", "1/2")[0] == 0
    told = call(*run, "--shard", "1/2")[2]
    shard = re.search(r"computing: (\d+) s of worker time in all, (\d+) s of it now\]", told)
    assert shard is not None
    before, again = map(int, shard.groups())
    assert (0 < before < BLOCKS + PARTS, again) == (True, 0)
    code, _, err = call(*run)
    assert code == 0
    total = BLOCKS + PARTS
    assert f"; computing: {total} s of worker time in all, {total - before} s of it now]" in err
    found = computing(out)
    assert (found["in_all_s"], found["now_s"], found["untimed"]) == (total, total - before, 0)
    (own,) = found["theorems"]
    assert own["in_all_s"] == total
    assert own["shares_s"] == {
        "at_least_zero": 10.0 + PARTS,
        "below_nine_tenths": 10.0,
        "always_below": 10.0,
        "below_a_half": 10.0,
    }
    assert f"computing: {total} s of worker time in all, 0 s of it now]" in call(*run)[2]
    assert computing(out)["now_s"] == 0


@pytest.mark.usefixtures("second_by_second")
def test_a_merge_tells_the_time_of_its_shards(call: Call, theorem: Path, tmp_path: Path) -> None:
    shards = [tmp_path / name for name in ("1", "2")]
    for number, folder in enumerate(shards, 1):
        words = ("run", theorem, "--jobs", 1, "--shard", f"{number}/2", "--out", folder)
        assert call(*words)[0] == 0
    code, _, err = call("merge", *shards, "--out", tmp_path / "all")
    assert code == 0
    assert f"; computing: {BLOCKS + PARTS} s of worker time in all, 0 s of it now]" in err
    code, out, _ = call("report", tmp_path / "all", "--format", "md")
    assert f"; computing: {BLOCKS + PARTS} s of worker time in all, 0 s of it in this run" in out
    page = (tmp_path / "all" / "report.html").read_text()
    assert f"computing: {BLOCKS + PARTS} s of worker time in all, 0 s of it in this run" in page


@pytest.mark.usefixtures("second_by_second")
def test_a_run_told_again_tells_its_own_time(call: Call, theorem: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for _ in range(2):
        assert call("run", theorem, "--jobs", 1, "--out", out)[0] == 0
    for number, now in ((1, BLOCKS + PARTS), (2, 0)):
        code, said, _ = call("report", out, "--format", "json", "--run", number)
        assert code == 0
        found = json.loads(said)["computing"]
        assert (found["in_all_s"], found["now_s"]) == (BLOCKS + PARTS, now)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"in_all_s": "long"}, "computing.in_all_s"),
        ({"untimed": -1}, "computing.untimed"),
        ({"theorems": [{"theorem": "t", "in_all_s": 1, "shares_s": {"a": None}}]}, "shares_s['a']"),
    ],
)
def test_times_that_are_none_are_refused(
    call: Call, run_folder: Path, change: dict[str, Any], where: str
) -> None:
    file = run_folder / "report.json"
    report = json.loads(file.read_text())
    report["computing"] |= change
    file.write_text(json.dumps(report))
    code, _, err = call("report", file, "--format", "md")
    assert code == 2
    assert where in err
