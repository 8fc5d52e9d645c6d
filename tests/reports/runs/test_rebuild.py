"""A report is told again from records alone, and what cannot be told is named."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from reports.runs import rebuild as rebuilding
from reports.runs.journal import runs_of
from reports.runs.rebuild import rebuild
from tests.reports.conftest import Call
from tests.verify.engine.sealing import edited, of_version_1
from tests.verify.engine.toys import write_theorem
from verify.engine.schema import TABLES
from verify.engine.store import Store


def files(folder: Path) -> dict[str, bytes]:
    """Return what a run's folder holds besides the records, by name."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "records" not in path.name
    }


def change(folder: Path, *statements: str, sealed: bool = True) -> None:
    """Change the records of a run; sealed: as if this program had written them."""
    edited(folder / "records.sqlite", *statements, sealed=sealed)


UNFINISHED = "UPDATE runs SET outcome = NULL"


def test_a_report_comes_back_byte_for_byte(call: Call, run_folder: Path) -> None:
    report = json.loads((run_folder / "report.json").read_text())
    report["out"] = str(run_folder)  # where it lies today
    before = {name: text for name, text in files(run_folder).items() if "html" not in name}
    before["report.json"] = (json.dumps(report, indent=1, ensure_ascii=False) + "\n").encode()
    (run_folder / "report.json").unlink()
    (run_folder / "report.html").unlink()
    shutil.rmtree(run_folder / "counterexamples")
    code, out, err = call("report", run_folder)
    assert (code, out) == (0, "")
    assert err == f"Report: {run_folder / 'report.html'}\n"
    assert (run_folder / "report.html").read_text().lower().startswith("<!doctype html>")
    after = {name: text for name, text in files(run_folder).items() if "html" not in name}
    assert after == before
    assert len(after) == 4, "a report, two counterexamples of false.py, one of small.py's control"


def test_nothing_is_sampled_but_what_a_counterexample_needs(call: Call, tmp_path: Path) -> None:
    log = tmp_path / "drawn.txt"
    lines = f"with open({str(log)!r}, 'a') as log: log.write('x')"
    theorem = write_theorem(tmp_path, before_drawing=lines)
    call("run", theorem, "--out", tmp_path / "out", "--jobs", 1)
    assert len(log.read_text()) > 40
    for form, most in (("csv", 1), ("md", 1), ("json", 8)):
        log.write_text("")
        code, out, _ = call("report", tmp_path / "out", "--format", form)
        assert code == 0
        assert 1 <= len(log.read_text()) <= most, "one counterexample, and a few pictures"
    assert json.loads(out) == json.loads((tmp_path / "out" / "report.json").read_text())


def test_what_was_measured_comes_back_too(call: Call, tmp_path: Path) -> None:
    measures = (
        "    measures=(Frequency(below_a_half), Quantiles(simulated)),\n"
        "    chain=Chain((at_least_zero, below_a_half)),\n    claims=("
    )
    quantity = 'def simulated(trial):\n    """u."""\n    return trial.run\n\n\n'
    theorem = write_theorem(
        tmp_path,
        **{
            "import Assumption,": "import Assumption, Chain, Frequency, Quantiles,",
            "    claims=(": measures,
            "theorem = T": f"{quantity}theorem = T",
        },
    )
    call("run", theorem, "--out", tmp_path / "out", "--jobs", 1)
    written = json.loads((tmp_path / "out" / "report.json").read_text())
    assert len(written["measures"]) == 2
    assert len(written["chains"]) == 1
    code, out, _ = call("report", tmp_path / "out", "--format", "json")
    assert code == 0
    assert json.loads(out) == written
    _, out, _ = call("report", tmp_path / "out", "--format", "csv")
    kinds = [row["kind"] for row in csv.DictReader(io.StringIO(out))]
    assert (kinds.count("frequency"), kinds.count("quantiles")) == (2, 2)
    assert "### Measured" in call("report", tmp_path / "out", "--format", "md")[1]
    assert call("diff", tmp_path / "out", tmp_path / "out")[0] == 0


@pytest.mark.skipif(os.name == "nt", reason="no path of Windows has a line break")
def test_a_theorem_whose_path_has_a_line_break_is_told_again(call: Call, tmp_path: Path) -> None:
    theorem = write_theorem(tmp_path, "a\nb.py")
    assert call("run", theorem, "--out", tmp_path / "out", "--jobs", 1)[0] == 0
    code, out, err = call("report", tmp_path / "out", "--format", "json")
    assert (code, err) == (0, "")
    assert json.loads(out) == json.loads((tmp_path / "out" / "report.json").read_text())


def test_a_folder_that_is_no_run_is_told_what_to_give(call: Call, tmp_path: Path) -> None:
    for place, message in (
        (tmp_path, "holds no records.sqlite; give the folder of a run"),
        (tmp_path / "gone", "no file or folder"),
    ):
        code, _, err = call("report", place)
        assert code == 2
        assert message in err
    assert list(tmp_path.iterdir()) == [], "asking makes no store"


def test_records_whose_runs_are_lost_are_told_what_to_type(call: Call, run_folder: Path) -> None:
    change(run_folder, "UPDATE runs SET asked = '{}'", sealed=False)
    code, _, err = call("report", run_folder)
    assert code == 2
    assert "did not fit the checksum (run 1)" in err
    assert f"relu-verify report {run_folder / 'report.json'}" in err


def test_records_of_an_older_version_are_told_what_to_type(call: Call, run_folder: Path) -> None:
    of_version_1(run_folder / "records.sqlite")
    code, _, err = call("report", run_folder)
    assert code == 2
    assert "has schema version 1, expected 2; give its run's command again" in err
    assert f"relu-verify report {run_folder / 'report.json'}" in err


def test_records_that_cannot_be_used_are_told_what_remains(call: Call, run_folder: Path) -> None:
    (run_folder / "records.sqlite").write_bytes(b"no database" * 500)
    for options in (["--format", "md"], ["--list"], ["--records", "--format", "csv"]):
        code, _, err = call("report", run_folder, *options)
        assert code == 2
        assert f"show what the run wrote: relu-verify report {run_folder / 'report.json'}" in err
    (run_folder / "report.json").unlink()
    assert "relu-verify report" not in call("report", run_folder)[2]


LOST = {
    "blocks SET data = zeroblob(length(data)) WHERE block = 3": (
        "small.py: 2 of its 40 blocks are missing (2 of them damaged), since their checksums"
    ),
    "searches SET content = content || ' '": (
        "false.py: 2 of its 2 parts of searches are missing (2 of them damaged), since their"
    ),
}


@pytest.mark.parametrize("damage", LOST)
def test_what_is_damaged_is_told_and_computed_again(
    call: Call, finished: Path, run_folder: Path, damage: str
) -> None:
    message = LOST[damage]
    before = files(run_folder)
    change(run_folder, f"UPDATE {damage}", sealed=False)
    code, out, err = call("report", run_folder, "--integrity")
    assert code == 3
    *lost, said = out.splitlines()
    assert lost
    assert all(line.endswith("does not fit its checksum") for line in lost)
    assert said.endswith(f"{len(lost)} faults: give the run's command again.")
    code, _, err = call("report", run_folder)
    assert code == 3
    assert message in err
    assert "did not fit the checksum (" in err
    assert files(run_folder) == before, "the report that is there says more"
    names = [finished / name for name in ("small.py", "false.py")]
    code, _, err = call("run", *names, "--out", run_folder, "--jobs", 1)
    assert code == 1
    number = f"{len(lost)} entries" if len(lost) > 1 else "1 entry"
    assert f"{number} of {run_folder / 'records.sqlite'} did not fit the checksum" in err
    told, was = (
        json.loads(text) for text in (files(run_folder)["report.json"], before["report.json"])
    )
    assert told["verdicts"] == was["verdicts"]
    assert call("report", run_folder, "--integrity")[:2] == (
        0,
        f"{run_folder / 'records.sqlite'}: "
        f"{entries(run_folder)} entries were held to their checksums; all fit.\n",
    )
    assert call("run", *names, "--out", run_folder, "--jobs", 1)[2].count("checksum") == 0


def entries(folder: Path) -> int:
    """Return how many rows the records of a run have."""
    with closing(sqlite3.connect(folder / "records.sqlite")) as connection:
        return sum(
            connection.execute(f"SELECT count(*) FROM {table.name}").fetchone()[0]
            for table in TABLES
        )


def test_integrity_is_of_a_folder(call: Call, run_folder: Path, tmp_path: Path) -> None:
    for words in ([run_folder / "report.json"], [run_folder, "--junit", tmp_path / "junit.xml"]):
        code, _, err = call("report", *words, "--integrity")
        assert code == 2
        assert "--integrity" in err


@pytest.mark.parametrize(
    "damage",
    [
        "asked = '{}'",
        "asked = json_set(asked, '$.settings.seed', 'x')",
        "asked = json_set(asked, '$.settings.unknown', 1)",
        "asked = json_set(asked, '$.theorems', 3)",
        "asked = json_set(asked, '$.theorems[0].file', 3)",
        "asked = json_set(asked, '$.versions', json('{\"numpy\": 2}'))",
        "outcome = '{}'",
    ],
)
def test_a_run_that_is_not_written_as_ours_is_refused(
    call: Call, run_folder: Path, damage: str
) -> None:
    change(run_folder, f"UPDATE runs SET {damage}")
    code, _, err = call("report", run_folder)
    assert code == 2
    assert "run 1 is not written as this version writes it" in err


def test_a_theorem_of_a_module_that_is_not_built_in_is_not_imported(
    call: Call, run_folder: Path
) -> None:
    place = (
        "asked = json_set(asked, '$.theorems[0].file', '', '$.theorems[0].address', 'antigravity')"
    )
    change(run_folder, f"UPDATE runs SET {place}")
    code, out, err = call("report", run_folder, "--format", "csv")
    assert code == 3
    assert "antigravity: theorem 'antigravity' is not built in" in err
    assert out.count("\n") == 2, "the other theorem is told"


# Incomplete records


def test_of_an_interrupted_run_the_complete_theorems_are_told(call: Call, run_folder: Path) -> None:
    change(
        run_folder,
        UNFINISHED,
        "DELETE FROM blocks WHERE block = 3 AND hash IN "
        "(SELECT hash FROM configurations WHERE description LIKE '%\"filed\"%')",
    )
    before = files(run_folder)
    code, out, err = call("report", run_folder)
    assert (code, out) == (3, "")
    assert "1 of 2 theorems can be told" in err
    assert "small.py: 2 of its 40 blocks are missing, since the run was not finished" in err
    assert "To compute what is missing: relu-verify" in err
    assert "report.json is left as it is" in err
    assert files(run_folder) == before
    code, out, _ = call("report", run_folder, "--format", "json")
    report = json.loads(out)
    assert code == 3
    assert [verdict["claim"] for verdict in report["verdicts"]] == ["shrinks_by_the_same_factor"]
    assert "Incomplete: without" in report["sentence"]
    assert [Path(entry["theorem"]).name for entry in report["missing"]] == ["small.py"]
    assert report["exit_code"] == 1, "refuted goes before incomplete"


def test_an_incomplete_report_is_written_where_there_is_none(call: Call, run_folder: Path) -> None:
    change(run_folder, UNFINISHED, "DELETE FROM blocks WHERE block = 3")
    change(run_folder, "DELETE FROM searches")
    (run_folder / "report.json").unlink()
    code, _, err = call("report", run_folder)
    assert code == 3
    assert "0 of 2 theorems can be told" in err
    assert not (run_folder / "report.json").exists(), "there is nothing to tell"


def test_searches_that_are_missing_are_counted(call: Call, run_folder: Path) -> None:
    change(run_folder, "DELETE FROM searches")
    code, _, err = call("report", run_folder, "--format", "md")
    assert code == 3
    assert "false.py: 2 of its 2 parts of searches are missing, though the run was finished" in err


def test_running_again_makes_an_interrupted_run_whole(
    call: Call, finished: Path, run_folder: Path
) -> None:
    change(run_folder, UNFINISHED, "DELETE FROM blocks WHERE block = 3")
    names = [finished / name for name in ("small.py", "false.py")]
    call("run", *names, "--out", run_folder, "--jobs", 1)
    code, out, err = call("report", run_folder, "--format", "json")
    assert (code, err) == (0, "")
    written = json.loads((finished / "out" / "report.json").read_text())
    assert json.loads(out)["verdicts"] == written["verdicts"]
    with Store(run_folder / "records.sqlite") as store:
        assert [run.outcome is not None for run in runs_of(store)] == [False, True]


# What decides records and has changed


@pytest.mark.parametrize("name", ["numpy", "hypothesis", "relu-verify"])
def test_another_version_is_named(
    call: Call, run_folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    now = rebuilding.versions()
    change(run_folder, "DELETE FROM blocks", "DELETE FROM searches")
    monkeypatch.setattr(rebuilding, "versions", lambda: {**now, name: "99.0"})
    code, _, err = call("report", run_folder)
    assert code == 3
    assert f"40 of its 40 blocks are missing, since {name} was {now[name]} and is 99.0 now" in err
    assert f"To see what was reported then: relu-verify report {run_folder / 'report.json'}" in err


@pytest.mark.parametrize("edited", ["edited", "gone", "broken"])
def test_an_edited_theorem_is_named_and_the_others_told(
    call: Call, tmp_path: Path, edited: str
) -> None:
    one = write_theorem(tmp_path, "one.py")
    two = write_theorem(tmp_path, "two.py", **{'id="filed"': 'id="other"'})
    call("run", one, two, "--out", tmp_path / "out", "--jobs", 1)
    if edited == "edited":
        write_theorem(tmp_path, "one.py", **{"0.9)": "0.8)"})
    elif edited == "gone":
        one.unlink()
    else:
        one.write_text("1 / 0")
    code, out, err = call("report", tmp_path / "out", "--format", "csv")
    assert code == 3
    said = {
        "edited": "one.py: 40 of its 40 blocks are missing, since its file, or one that it "
        "imports, has been edited",
        "gone": "one.py: no file",
        "broken": "raised ZeroDivisionError",
    }
    assert said[edited] in err
    assert {row["theorem"] for row in csv.DictReader(io.StringIO(out))} == {str(two)}
    code, out, err = call("report", tmp_path / "out" / "report.json", "--format", "csv")
    assert (code, err) == (0, "")
    assert {row["theorem"] for row in csv.DictReader(io.StringIO(out))} == {str(one), str(two)}


def test_a_theorem_is_found_from_another_folder(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_theorem(tmp_path, "small.py")
    monkeypatch.chdir(tmp_path)
    call("run", "small.py", "--out", "out", "--jobs", 1)
    written = json.loads(Path("out/report.json").read_text())
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    code, out, _ = call("report", "../out", "--format", "json")
    assert code == 0
    told = json.loads(out)
    assert told["verdicts"] == written["verdicts"]
    assert (told["out"], written["out"]) == ("../out", "out"), "what replay commands start with"


def test_other_versions_of_today_are_said_beside_those_of_the_run(run_folder: Path) -> None:
    change(run_folder, "UPDATE runs SET asked = json_set(asked, '$.versions.scipy', '0.1')")
    told = rebuild(run_folder)
    assert told.report is not None
    assert told.report["versions"]["scipy"] == "0.1"
    assert told.report["rebuilt_with"]["scipy"] != "0.1"


def test_a_backend_that_is_not_here_is_told_what_remains(call: Call, run_folder: Path) -> None:
    change(run_folder, "UPDATE runs SET asked = json_set(asked, '$.settings.backend', 'numpy:0')")
    code, _, err = call("report", run_folder)
    assert code == 4
    assert f"relu-verify report {run_folder / 'report.json'}" in err


# Several runs


@pytest.fixture
def three_runs(call: Call, tmp_path: Path) -> Path:
    """Return a folder of runs with seed 0, seed 1, and seed 2, the last not finished."""
    theorem = write_theorem(tmp_path, "small.py")
    for seed in range(3):
        call("run", theorem, "--out", tmp_path / "out", "--jobs", 1, "--seed", seed)
    change(tmp_path / "out", "UPDATE runs SET outcome = NULL WHERE number = 3")
    return tmp_path / "out"


def seed_of(told: tuple[int, str, str]) -> Any:
    return json.loads(told[1])["seed"]


def test_the_latest_finished_run_is_told_by_default(call: Call, three_runs: Path) -> None:
    told = call("report", three_runs, "--format", "json")
    assert seed_of(told) == 1
    assert "Run 3 is later and was not finished; this is run 2" in told[2]
    assert seed_of(call("report", three_runs, "--run", 1, "--format", "json")) == 0
    unfinished = call("report", three_runs, "--run", 3, "--format", "json")
    assert unfinished[0] == 0, "though it is whole"
    assert seed_of(unfinished) == 2


def test_runs_are_listed_and_a_number_that_is_none_is_refused(call: Call, three_runs: Path) -> None:
    code, out, _ = call("report", three_runs, "--list")
    lines = out.splitlines()
    assert code == 0
    assert ["seed 0" in lines[0], "seed 1" in lines[1], "seed 2" in lines[2]] == [True] * 3
    assert "2 claims" in lines[0]
    assert lines[2].endswith("Not finished.")
    code, _, err = call("report", three_runs, "--run", 4)
    assert code == 2
    assert "has runs 1, 2, 3" in err


def test_a_run_that_cannot_begin_is_not_remembered(call: Call, tmp_path: Path) -> None:
    theorem = write_theorem(tmp_path)
    for option in (["--seed", "-1"], ["--confidence", "2"], ["--backend", "abacus"]):
        assert call("run", theorem, "--out", tmp_path / "out", *option)[0] == 2
    assert not (tmp_path / "out").exists()


# Formats


def test_every_format_goes_to_a_file_too(call: Call, run_folder: Path, tmp_path: Path) -> None:
    for form in ("md", "json", "csv", "html"):
        before = files(run_folder)
        code, out, err = call("report", run_folder, "--format", form, "--out", tmp_path / form)
        assert (code, out, err) == (0, "", f"Report: {tmp_path / form}\n")
        assert files(run_folder) == before, "nothing else is written"
        if form != "html":
            assert call("report", run_folder, "--format", form)[1] == (tmp_path / form).read_text()


def test_a_report_that_was_written_is_shown_in_every_format(
    call: Call, run_folder: Path, tmp_path: Path
) -> None:
    file = tmp_path / "kept.json"
    (run_folder / "report.json").rename(file)
    for form in ("md", "json", "csv"):
        code, out, err = call("report", file, "--format", form)
        assert (code, err) == (0, "")
        assert out
    assert call("report", file)[2] == f"Report: {tmp_path / 'kept.html'}\n"
    assert (tmp_path / "kept.html").read_text().lower().startswith("<!doctype html>")


def test_a_report_that_was_edited_is_an_error_of_input(call: Call, run_folder: Path) -> None:
    file = run_folder / "report.json"
    report = json.loads(file.read_text())
    report["theorems"][0]["axes"] = 3
    file.write_text(json.dumps(report))
    before = files(run_folder)
    code, _, err = call("report", file)
    assert code == 2
    assert "cannot be shown as html (TypeError" in err
    assert files(run_folder) == before


def test_every_number_of_the_records_can_be_had(
    call: Call, run_folder: Path, tmp_path: Path
) -> None:
    code, out, _ = call("report", run_folder, "--format", "csv", "--records")
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(out)))
    margins = [row for row in rows if row["series"] == "shrinks_by_the_same_factor.value"]
    assert len(margins) == 200
    assert all(float(row["value"]) < 0 for row in margins)
    call("report", run_folder, "--format", "csv", "--records", "--out", tmp_path / "all.csv")
    assert (tmp_path / "all.csv").read_text() == out
    assert not list(tmp_path.glob("*.partial"))


@pytest.mark.parametrize(
    "options",
    [["--records"], ["--records", "--format", "json"]],
)
def test_records_are_a_table_only(call: Call, run_folder: Path, options: list[str]) -> None:
    code, _, err = call("report", run_folder, *options)
    assert code == 2
    assert "--records goes with --format csv" in err


@pytest.mark.parametrize("options", [["--records", "--format", "csv"], ["--list"], ["--run", "1"]])
def test_what_needs_records_needs_a_folder(
    call: Call, run_folder: Path, options: list[str]
) -> None:
    code, _, err = call("report", run_folder / "report.json", *options)
    assert code == 2
    assert "go with a folder" in err


@pytest.mark.parametrize(
    "damage",
    [
        "searches SET content = '{}'",
        "searches SET content = 'null'",
        "searches SET content = '[1]'",
        "searches SET content = json_remove(content, '$.hunted.examples')",
        "searches SET content = json_set(content, '$.hunted.examples', 'many')",
        "searches SET content = json_set(content, '$.hunted.in_scope', -5)",
        "searches SET content = json_set(content, '$.smallest', json('{}'))",
        "searches SET content = json_set(content, '$.worst', 3)",
        "searches SET content = json_set(content, '$.worst.margin', 'low')",
        "searches SET content = json_set(content, '$.worst.facts', 3)",
        "blocks SET series = (SELECT json_group_array(key) FROM json_each(series))",
        "blocks SET series = replace(series, '.scope', '.cope')",
        "blocks SET series = replace(series, '.value', '.valve') WHERE block = 1",
        "blocks SET data = x'00'",
    ],
)
def test_what_we_would_not_write_is_said_to_be_damaged_by_every_command(
    call: Call, run_folder: Path, finished: Path, damage: str
) -> None:
    change(run_folder, f"UPDATE {damage}")
    theorems = [finished / name for name in ("small.py", "false.py")]
    runs = [["report", run_folder], ["run", *theorems, "--out", run_folder, "--jobs", 1]]
    for command in runs:
        code, _, err = call(*command)
        assert code == 2
        assert re.search("move the file .*away|came out differently .*choose another --out", err)


@pytest.fixture
def read_only(run_folder: Path) -> Iterator[Path]:
    """Return a run's folder in which nothing can be written."""
    places = [run_folder, *run_folder.rglob("*")]
    for place in places:
        place.chmod(0o555 if place.is_dir() else 0o444)
    yield run_folder
    for place in places:
        place.chmod(0o755)


def test_a_run_is_told_from_a_folder_that_cannot_be_written(
    call_without_rights: Callable[..., Any], read_only: Path, tmp_path: Path
) -> None:
    before = sorted(read_only.iterdir())
    listed, md, rows, page, refused, beside = call_without_rights(
        ["report", read_only, "--list"],
        ["report", read_only, "--format", "md"],
        ["report", read_only, "--format", "csv", "--records"],
        ["report", read_only, "--out", tmp_path / "page.html"],
        ["report", read_only],
        ["report", read_only / "report.json"],
    )
    assert [entry[0] for entry in (listed, md, rows, page)] == [0] * 4, listed
    assert listed[1].startswith("  1  ")
    assert md[1].startswith("## relu-verify")
    assert rows[1].count("\n") > 400
    assert (tmp_path / "page.html").read_text().lower().startswith("<!doctype html>")
    for code, out, err in (refused, beside):
        assert (code, out) == (2, "")
        assert f"{read_only} cannot be written, and html goes there; write it elsewhere" in err
        assert "--out FILE" in err
    assert sorted(read_only.iterdir()) == before


def test_reading_leaves_no_file_beside_the_records(call: Call, run_folder: Path) -> None:
    before = sorted(run_folder.iterdir())
    assert call("report", run_folder, "--list")[0] == 0
    assert sorted(run_folder.iterdir()) == before
