"""What a command cannot write it says before it computes, and trying leaves no trace."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.reports.conftest import EXAMPLES, Call

FILE = str(EXAMPLES / "least_squares.py")
CLAIM = f"{FILE}::converges_at_the_spectral_rate"
DATA = [str(EXAMPLES / "data" / name) for name in ("features.csv", "labels.csv")]

RUN, MERGE, SEARCH, ABLATE, FRONTIER, DATA_OF_ONES_OWN = (
    ["run", FILE, "--jobs", "1"],
    ["merge", "{finished}"],
    ["search", CLAIM, "--jobs", "1"],
    ["ablate", FILE, "--jobs", "1"],
    ["frontier", CLAIM, "--x", "c", "--at", "n=3", "--at", "d=2", "--jobs", "1"],
    ["data", *DATA, "--positive", "treated"],
)
IN_THE_FOLDER = [
    *((RUN, name) for name in ("report.json", "report.html", "counterexamples")),
    *((MERGE, name) for name in ("report.json", "report.html", "counterexamples")),
    *((SEARCH, name) for name in ("smallest.json", "search.json")),
    *((ABLATE, f"ablation.{kind}") for kind in ("json", "csv", "html")),
    (ABLATE, "counterexamples"),
    *((FRONTIER, name) for name in ("frontier.json", "cells.csv", "frontier.html")),
    *((DATA_OF_ONES_OWN, name) for name in ("data.json", "data.html")),
]
WORK = (
    "reports.runs.running.check",
    "reports.runs.merging.join",
    "reports.runs.rebuild.checked",
    "properties.seeking.seek",
    "properties.ablate.ablate",
    "reports.frontier.measuring.measure",
    "reports.own_data.analysis.analyse",
    "reports.runs.saved.read",
    "reports.runs.telling.export_to",
)


@pytest.fixture
def idle(call: Call, run_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run a command that must not get as far as its work; return (exit code, stdout, stderr)."""

    def refused(*arguments: Any) -> tuple[int, str, str]:
        def work(*_: Any, **__: Any) -> None:
            raise AssertionError("the work has begun")

        for name in WORK:
            monkeypatch.setattr(name, work)
        return call(*(str(word).format(finished=run_folder) for word in arguments))

    return refused


def everything(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b"a folder"
        for path in folder.rglob("*")
        if not re.search(r"records\.(sqlite|lock)", path.name)
    }


@pytest.mark.parametrize(
    ("command", "name"), IN_THE_FOLDER, ids=lambda part: part if isinstance(part, str) else part[0]
)
def test_what_is_in_the_way_in_a_folder_is_told_at_once(
    idle: Any, tmp_path: Path, command: list[str], name: str
) -> None:
    folder = tmp_path / "there"
    folder.mkdir()
    if name == "counterexamples":
        (folder / name).write_text("mine")
    else:
        (folder / name).mkdir()
    before = everything(tmp_path)
    code, out, err = idle(*command, "--out", folder)
    assert (code, out) == (2, "")
    assert str(folder / name) in err
    assert everything(tmp_path) == before


@pytest.mark.parametrize(
    "command", [RUN, MERGE, SEARCH, ABLATE, FRONTIER, DATA_OF_ONES_OWN], ids=lambda words: words[0]
)
def test_a_folder_below_a_file_is_told_at_once(
    idle: Any, tmp_path: Path, command: list[str]
) -> None:
    (tmp_path / "file").write_text("mine")
    before = everything(tmp_path)
    code, out, err = idle(*command, "--out", tmp_path / "file" / "below")
    assert (code, out) == (2, "")
    assert str(tmp_path / "file") in err
    assert everything(tmp_path) == before


@pytest.mark.parametrize("option", ["--junit", "--summary"])
@pytest.mark.parametrize("place", ["file/below", "folder", "x" * 300])
@pytest.mark.parametrize(
    "command", [RUN, MERGE, ["report", "{finished}"], ["report", "{finished}/report.json"]]
)
def test_files_for_a_ci_server_are_told_at_once_and_an_older_one_stays(
    idle: Any, tmp_path: Path, command: list[str], option: str, place: str
) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "old.xml").write_text("<old/>")
    before = everything(tmp_path)
    out = [] if command[0] == "report" else ["--out", tmp_path / "new"]
    files = {"--junit": tmp_path / "old.xml", option: tmp_path / place}
    words = [word for pair in files.items() for word in pair]
    code, said, err = idle(*command, *out, *words)
    assert (code, said) == (2, "")
    assert ("is a directory" if place == "folder" else "cannot be written") in err
    assert everything(tmp_path) == before


@pytest.mark.parametrize("place", ["file/below", "folder", "x" * 300])
@pytest.mark.parametrize(
    "command",
    [
        ["report", "{finished}", "--format", "md"],
        ["report", "{finished}"],
        ["report", "{finished}/report.json", "--format", "csv"],
        ["report", "{finished}", "--format", "csv", "--records"],
    ],
    ids=" ".join,
)
def test_the_file_of_a_report_is_told_at_once(
    idle: Any, tmp_path: Path, command: list[str], place: str
) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    before = everything(tmp_path)
    code, said, err = idle(*command, "--out", tmp_path / place)
    assert (code, said) == (2, "")
    assert "cannot be written" in err
    assert everything(tmp_path) == before


def test_a_page_that_cannot_be_put_beside_its_run_is_told_at_once(
    call_without_rights: Any, run_folder: Path
) -> None:
    run_folder.chmod(0o555)
    try:
        ((code, said, err),) = call_without_rights(["report", run_folder])
    finally:
        run_folder.chmod(0o755)
    assert (code, said) == (2, "")
    assert f"{run_folder} cannot be written, and html goes there" in err


def test_records_that_go_to_what_is_no_file_do_not_replace_it(
    call: Call, run_folder: Path, tmp_path: Path
) -> None:
    link, target = tmp_path / "link", tmp_path / "target"
    link.symlink_to(target)
    csv = ("report", run_folder, "--format", "csv", "--records", "--out")
    assert call(*csv, tmp_path / "new" / "records.csv")[0] == 0
    assert call(*csv, link)[0] == 0
    assert link.is_symlink()
    assert target.read_bytes() == (tmp_path / "new" / "records.csv").read_bytes()
    assert target.read_text().startswith("configuration,theorem,")
