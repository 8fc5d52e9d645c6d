"""Shards that are merged tell what one run tells, and what cannot be merged is named."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sqlite3
import xml.etree.ElementTree as ET
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.reports.conftest import Call
from tests.verify.engine.sealing import edited, of_version_1
from tests.verify.engine.toys import write_theorem

ROOT = Path(__file__).parents[3]

PASSING = ("created", "wall_time_s", "computing", "command", "out", "jobs", "executor")
"""What depends on when, where and by how many a report was made."""

FALSE = "        Universal(at_least_zero, given=(Assumption(below_a_half),)),"


def write(folder: Path) -> Path:
    """Write a theorem with every kind of entry, one claim of which is false."""
    quantity = 'def simulated(trial):\n    """u."""\n    return trial.run\n\n\n'
    entries = (
        '    block=10,\n    axes=(Axis("n", 1, 9, "integer"),),\n'
        '    explicit=Explicit(sizes={}, fields={"u": Field(0, 20, shape=(), denominator=20)}, '
        'build=lambda values: values["u"][None]),\n'
        "    measures=(Frequency(below_a_half), Quantiles(simulated)),\n"
        "    chain=Chain((at_least_zero, below_a_half)),"
    )
    return write_theorem(
        folder,
        **{
            "import Assumption,": "import Assumption, Axis, Chain, Explicit, Field, Frequency, "
            "Quantiles,",
            "    block=10,": entries,
            "theorem = T": f"{quantity}theorem = T",
            FALSE: f'{FALSE}\n        Universal(below_nine_tenths, name="false"),',
        },
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a theorem, its run in `one`, and shards in `1-of-2` and the like."""
    from reports.cli import main

    folder = tmp_path_factory.mktemp("made")
    theorem = write(folder)
    runs = [("one", [])]
    runs += [(f"{i}-of-{k}", ["--shard", f"{i}/{k}"]) for k in (1, 2, 3) for i in range(1, k + 1)]
    for name, options in runs:
        with pytest.raises(SystemExit) as ended:
            main(["run", str(theorem), "--jobs", "1", "--out", str(folder / name), *options])
        assert ended.value.code == (0 if options else 1)
    return folder


def shards(made: Path, count: int) -> list[Path]:
    return [made / f"{index}-of-{count}" for index in range(1, count + 1)]


def told(folder: Path) -> dict[str, Any]:
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return {name: value for name, value in report.items() if name not in PASSING}


def examples(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "counterexamples").iterdir()}


def contents(folders: list[Path]) -> dict[Path, bytes]:
    return {path: path.read_bytes() for folder in folders for path in folder.rglob("*.*")}


@pytest.mark.parametrize("count", [1, 2, 3])
def test_merged_shards_tell_what_one_run_tells(
    call: Call, made: Path, tmp_path: Path, count: int
) -> None:
    before = contents(shards(made, count))
    code, out, err = call("merge", *reversed(shards(made, count)), "--out", tmp_path / "all")
    assert code == 1
    once = call("run", made / "filed.py", "--jobs", 1, "--out", made / "one")[1]
    assert out == once.replace(str(made / "one"), str(tmp_path / "all"))
    assert f"Report: {tmp_path / 'all' / 'report.html'}" in err
    whole, merged = told(made / "one"), told(tmp_path / "all")
    assert merged == whole
    false = next(verdict for verdict in merged["verdicts"] if verdict["claim"] == "false")
    assert false["hunted"]["violated"] > 0
    assert merged["measures"]
    assert merged["chains"]
    assert examples(tmp_path / "all") == examples(made / "one")
    assert contents(shards(made, count)) == before
    assert call("diff", made / "one", tmp_path / "all")[0] == 0
    assert call("report", tmp_path / "all", "--format", "md")[0] == 0


def test_every_shard_looks_at_other_examples(made: Path) -> None:
    rows = []
    for folder in shards(made, 2):
        with closing(sqlite3.connect(folder / "records.sqlite")) as connection:
            rows.append(dict(connection.execute("SELECT hash, content FROM searches").fetchall()))
    assert not rows[0].keys() & rows[1].keys()
    assert {key.partition(".")[0] for key in rows[0]} == {key.partition(".")[0] for key in rows[1]}
    assert len({json.dumps(content) for row in rows for content in row.values()}) == 4


def test_a_shard_says_what_it_holds_and_tells_no_verdict(
    call: Call, made: Path, tmp_path: Path
) -> None:
    code, out, err = call(
        "run", made / "filed.py", "--jobs", 1, "--shard", "1/2", "--out", tmp_path / "s"
    )
    assert code == 0
    assert re.search(r"^shard 1/2 .* of \d+ blocks, 2 of 4 parts of searches$", out, re.MULTILINE)
    assert re.search(r"violated by \d+ trials and \d+ searched examples here: false", out)
    assert "Shard 1/2 is complete; violations of 1 claim were met; relu-verify merge" in err
    assert [path.name for path in (tmp_path / "s").iterdir()] == ["records.sqlite"]
    code, _, err = call("report", tmp_path / "s")
    assert code == 3
    assert "are missing, since this is shard 1/2: join all with relu-verify merge" in err
    assert "To compute what is missing" not in err, "this shard is complete"
    code, out, _ = call("report", tmp_path / "s", "--list")
    assert "Shard 1/2 is complete" in out


def test_a_shard_that_is_missing_is_named_and_can_come_later(
    call: Call, made: Path, tmp_path: Path
) -> None:
    one, two, three = shards(made, 3)
    everything = tmp_path / "all"
    code, out, err = call("merge", one, three, "--out", everything)
    assert (code, out) == (3, "")
    assert re.search(r"filed.py: \d+ of its \d+ blocks .*are missing \(shard 2/3\)", err)
    assert f"relu-verify run {made / 'filed.py'} --out {everything}" in err
    assert [path.name for path in everything.iterdir()] == ["records.sqlite"]
    assert call("report", everything)[0] == 3
    code, _, _ = call("merge", everything, two, "--out", everything)
    assert code == 1
    assert told(everything) == told(made / "one")
    again = call("merge", everything, two, one, "--out", everything)
    assert again[0] == 1
    assert "0 blocks, 0 parts of searches" in again[2]


def test_what_is_missing_can_be_computed(call: Call, made: Path, tmp_path: Path) -> None:
    call("merge", made / "2-of-2", "--out", tmp_path / "all")
    code, _, _ = call("run", made / "filed.py", "--jobs", 1, "--out", tmp_path / "all")
    assert code == 1
    assert told(tmp_path / "all") == told(made / "one")


def test_a_whole_run_and_a_shard_are_merged(call: Call, made: Path, tmp_path: Path) -> None:
    assert call("merge", made / "one", made / "1-of-3", "--out", tmp_path / "all")[0] == 1
    assert told(tmp_path / "all") == told(made / "one")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--seed", 1], "seed: 0 and 1"),
        (["--profile", "full"], "profile: quick and full"),
        (["--confidence", 0.9], "confidence: 0.95 and 0.9"),
    ],
)
def test_runs_with_other_settings_are_not_merged(
    call: Call, made: Path, tmp_path: Path, options: list[Any], message: str
) -> None:
    other = ["run", made / "filed.py", "--jobs", 1, "--shard", "2/2", "--out", tmp_path / "other"]
    assert call(*other, *options)[0] == 0
    code, _, err = call("merge", made / "1-of-2", tmp_path / "other", "--out", tmp_path / "all")
    assert code == 2
    assert f"different runs ({message})" in err
    assert not (tmp_path / "all").exists()


def test_an_edited_theorem_is_not_merged(call: Call, made: Path, tmp_path: Path) -> None:
    theorem = shutil.copy(made / "filed.py", tmp_path / "filed.py")
    command = ["run", theorem, "--jobs", 1, "--shard"]
    call(*command, "1/2", "--out", tmp_path / "1")
    Path(theorem).write_text(Path(theorem).read_text() + "\n# edited\n")
    code, _, err = call("merge", tmp_path / "1", "--out", tmp_path / "all")
    assert code == 2
    assert "since its file, or one that it imports, has been edited" in err
    call(*command, "2/2", "--out", tmp_path / "2")
    code, _, err = call("merge", tmp_path / "1", tmp_path / "2", "--out", tmp_path / "all")
    assert code == 2
    assert "different runs (digest of the sources: " in err
    assert not (tmp_path / "all").exists()


def test_records_of_other_versions_are_not_merged(call: Call, made: Path, tmp_path: Path) -> None:
    for name in ("numpy", "scipy", "hypothesis", "relu-verify"):
        other = shutil.copytree(made / "2-of-2", tmp_path / name)
        edited(
            other / "records.sqlite",
            f"UPDATE runs SET asked = json_set(asked, '$.versions.\"{name}\"', '0.1')",
        )
        code, _, err = call("merge", made / "1-of-2", other, "--out", tmp_path / "all")
        assert code == 2
        assert re.search(rf"different runs \({name}: .* and 0\.1\)", err)


def test_records_of_another_backend_are_not_merged(call: Call, made: Path, tmp_path: Path) -> None:
    other = shutil.copytree(made / "2-of-2", tmp_path / "torch")
    edited(
        other / "records.sqlite",
        "UPDATE runs SET asked = "
        "json_set(asked, '$.settings.backend', 'torch', '$.backend_version', '0.1')",
    )
    code, _, err = call("merge", made / "1-of-2", other, "--out", tmp_path / "all")
    assert code == 2
    assert "different runs (backend: numpy and torch)" in err
    code, _, err = call("merge", other, made / "1-of-2", "--out", tmp_path / "all")
    assert code == 2
    assert "different runs (backend: torch and numpy)" in err
    edited(
        other / "records.sqlite",
        "UPDATE runs SET asked = json_set(asked, '$.settings.backend', 'numpy')",
    )
    code, _, err = call("merge", made / "1-of-2", other, "--out", tmp_path / "all")
    assert code == 2
    assert re.search(r"different runs \(version of numpy: .* and 0\.1\)", err)


def test_contradictions_are_refused_and_nothing_is_added(
    call: Call, made: Path, tmp_path: Path
) -> None:
    other = shutil.copytree(made / "1-of-2", tmp_path / "other")
    edited(other / "records.sqlite", "UPDATE blocks SET data = zeroblob(length(data))")
    folders = [made / "2-of-2", made / "1-of-2", other]
    code, _, err = call("merge", *folders, "--out", tmp_path / "all")
    assert code == 2
    assert f"another in {other / 'records.sqlite'}" in err
    assert not (tmp_path / "all").exists()
    shutil.copytree(made / "3-of-3", tmp_path / "all")
    before = contents([tmp_path / "all"])
    assert call("merge", *folders, "--out", tmp_path / "all")[0] == 2
    assert contents([tmp_path / "all"]) == before


def test_what_is_damaged_in_a_shard_is_told_and_lacking(
    call: Call, made: Path, tmp_path: Path
) -> None:
    one, two = (shutil.copytree(folder, tmp_path / folder.name) for folder in shards(made, 2))
    edited(two / "records.sqlite", "UPDATE blocks SET series = '[]'", sealed=False)
    code, out, err = call("merge", one, two, "--out", tmp_path / "all")
    assert (code, out) == (3, "")
    assert re.search(rf"\d+ entries of {two / 'records.sqlite'} did not fit the checksum", err)
    assert "blocks are missing (shard 2/2)" in err
    assert call("merge", shards(made, 2)[1], tmp_path / "all", "--out", tmp_path / "all")[0] == 1
    assert told(tmp_path / "all") == told(made / "one")


def test_a_theorem_that_lies_elsewhere_here_is_found_by_its_path_as_given(
    call: Call, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    shutil.copy(made / "filed.py", there)
    monkeypatch.chdir(there)
    for index in (1, 2):
        out = tmp_path / str(index)
        assert call("run", "filed.py", "--jobs", 1, "--shard", f"{index}/2", "--out", out)[0] == 0
    there.rename(here)
    monkeypatch.chdir(tmp_path)
    folders = [tmp_path / "1", tmp_path / "2"]
    code, _, err = call("merge", *folders, "--out", tmp_path / "all")
    assert code == 2
    assert "no file" in err
    monkeypatch.chdir(here)
    assert call("merge", *folders, "--out", tmp_path / "all")[0] == 1
    assert call("report", tmp_path / "all", "--format", "md")[0] == 0


def test_what_cannot_be_read_only_is_read(
    call_without_rights: Any, made: Path, tmp_path: Path
) -> None:
    folders = [shutil.copytree(folder, tmp_path / folder.name) for folder in shards(made, 2)]
    for folder in folders:
        (folder / "records.sqlite").chmod(0o444)
        folder.chmod(0o555)
    before = contents(folders)
    try:
        ((code, _, err),) = call_without_rights(["merge", *folders, "--out", tmp_path / "all"])
        assert (code, contents(folders)) == (1, before), err
    finally:
        for folder in folders:
            folder.chmod(0o755)
    assert told(tmp_path / "all") == told(made / "one")


@pytest.mark.parametrize(
    ("folder", "message"),
    [("gone", "no file or folder"), ("empty", "holds no records.sqlite")],
)
def test_what_is_no_run_is_not_merged(
    call: Call, made: Path, tmp_path: Path, folder: str, message: str
) -> None:
    (tmp_path / "empty").mkdir()
    code, _, err = call("merge", made / "1-of-2", tmp_path / folder, "--out", tmp_path / "all")
    assert code == 2
    assert message in err
    assert not (tmp_path / "all").exists()


@pytest.mark.parametrize("shard", ["3/2", "0/2", "half"])
def test_what_is_no_shard_is_refused(call: Call, made: Path, shard: str) -> None:
    code, _, err = call("run", made / "filed.py", "--shard", shard)
    assert code == 2
    assert "shard=" in err


@pytest.mark.parametrize("option", ["--junit", "--summary"])
def test_a_shard_has_no_verdicts_for_a_ci_server(
    call: Call, made: Path, tmp_path: Path, option: str
) -> None:
    command = ["run", made / "filed.py", "--shard", "1/2", option, tmp_path / "file"]
    code, _, err = call(*command)
    assert code == 2
    assert "give them to relu-verify merge" in err


def test_a_merge_tells_a_ci_server(call: Call, made: Path, tmp_path: Path) -> None:
    files = ["--junit", tmp_path / "j.xml", "--summary", tmp_path / "s.md"]
    assert call("merge", *shards(made, 2), "--out", tmp_path / "all", *files)[0] == 1
    assert "false" in (tmp_path / "j.xml").read_text()
    assert "false" in (tmp_path / "s.md").read_text()


def test_a_shard_that_is_missing_is_an_error_for_a_ci_server(
    call: Call, made: Path, tmp_path: Path
) -> None:
    one, two, three = shards(made, 3)
    killed = shutil.copytree(two, tmp_path / "killed")
    edited(killed / "records.sqlite", "UPDATE runs SET outcome = NULL", "DELETE FROM blocks")
    for folders in ([one, three], [one, killed, three], [one]):
        out = tmp_path / f"all of {len(folders)}"
        files = ["--junit", out / "j.xml", "--summary", tmp_path / "s.md"]
        code, _, err = call("merge", *folders, "--out", out, *files)
        assert code == 3
        root = ET.parse(out / "j.xml").getroot()
        count = root.attrib["tests"]
        assert (root.attrib["failures"], root.attrib["errors"]) == ("0", count)
        names = {case.attrib["name"] for case in root.iter("testcase")}
        assert names == {verdict_name(verdict) for verdict in told(made / "one")["verdicts"]}
        whose = "(shards 2/3, 3/3)" if folders == [one] else "(shard 2/3)"
        for error in root.iter("error"):
            assert str(error.attrib["message"]).endswith(whose)
        summary = (tmp_path / "s.md").read_text()
        (tmp_path / "s.md").unlink()
        assert summary.startswith("## relu-verify: incomplete\n\n**Incomplete: there is no verdict")
        assert whose.strip("()") in summary
        assert whose in err
        assert sorted(path.name for path in out.iterdir()) == ["j.xml", "records.sqlite"]


def verdict_name(verdict: dict[str, Any]) -> str:
    return verdict["claim"] + " (control)" * (verdict["expected"] == "refuted")


def test_what_cannot_be_merged_is_an_error_for_a_ci_server(
    call: Call, made: Path, tmp_path: Path
) -> None:
    other = shutil.copytree(made / "1-of-2", tmp_path / "other")
    edited(other / "records.sqlite", "UPDATE blocks SET data = zeroblob(length(data))")
    old = shutil.copytree(made / "2-of-2", tmp_path / "old")
    of_version_1(old / "records.sqlite")
    for folders in ([*shards(made, 2), other], [made / "1-of-2", old]):
        out = tmp_path / "all"
        files = ["--junit", out / "j.xml", "--summary", out / "s.md"]
        code, _, err = call("merge", *folders, "--out", out, *files)
        assert code == 2
        (error,) = ET.parse(out / "j.xml").iter("error")
        assert err.endswith(f"relu-verify: {str(error.text).removeprefix('no verdict: ')}\n")
        assert (out / "s.md").read_text().startswith("## relu-verify: no verdict\n")
        assert sorted(path.name for path in out.iterdir()) == ["j.xml", "s.md"]
        shutil.rmtree(out)


def test_a_merge_that_is_quiet_tells_what_came_of_it(
    call: Call, made: Path, tmp_path: Path
) -> None:
    command = ["merge", *shards(made, 2), "--out", tmp_path / "all"]
    code, _, err = call(*command, "--quiet")
    assert code == 1
    assert err.splitlines()[-1] == f"Report: {tmp_path / 'all' / 'report.html'}"
    assert len(err.splitlines()) == 2
    assert "Added to" in call(*command)[2]


def test_the_time_is_told_alike_everywhere(call: Call, made: Path, tmp_path: Path) -> None:
    files = ["--junit", tmp_path / "j.xml", "--summary", tmp_path / "s.md"]
    err = call("merge", *shards(made, 2), "--out", tmp_path / "all", *files)[2]
    took = json.loads((tmp_path / "all" / "report.json").read_text())["wall_time_s"]
    assert f"[{took:.3g} s; computing" in err
    assert f"{took:.3g} s; computing" in (tmp_path / "s.md").read_text()
    properties = {
        entry.attrib["name"]: entry.attrib["value"]
        for entry in ET.parse(tmp_path / "j.xml").iter("property")
    }
    assert properties["wall_time_s"] == str(took)
    assert properties["again"].startswith("relu-verify run ")
    assert "command" not in properties, "a merge made it"


def test_the_commands_of_the_page_give_the_verdicts_of_one_run(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "docs" / "parallel.md").read_text(encoding="utf-8")
    block = re.search(
        r"^```sh\n(.*?)^```", page.partition("## Shards\n")[2], re.DOTALL | re.MULTILINE
    )
    assert block is not None
    commands = [shlex.split(line)[1:] for line in block[1].splitlines()]
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    codes = [call(*command)[0] for command in commands]
    assert codes == [0, 0, 0]
    call("run", commands[0][1], "--jobs", 1, "--out", "one")
    assert told(tmp_path / commands[-1][-1]) == told(tmp_path / "one")
