"""--junit and --summary: what is written, where, and what is left of earlier runs."""

from __future__ import annotations

import re
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from reports.runs.ci import ForCI, append_summary
from reports.text.job_summary import LIMIT, job_summary
from reports.text.junit import junit
from tests.reports.conftest import EXAMPLES, Call
from tests.verify.engine.sealing import edited


def test_a_run_and_its_report_leave_the_same(call: Call, tmp_path: Path) -> None:
    theorem = shutil.copy(EXAMPLES / "same_factor.py", tmp_path / "false.py")
    out, one, two = (tmp_path / name for name in ("out", "ci/one", "ci/two"))
    asked = ("run", theorem, "--jobs", 1, "--out", out)
    code, _, _ = call(*asked, "--junit", f"{one}.xml", "--summary", f"{one}.md")
    assert code == 1
    assert ET.parse(f"{one}.xml").getroot().attrib["failures"] == "1"
    assert Path(f"{one}.md").read_text().startswith("## relu-verify: not as expected")
    for told in (out, out / "report.json"):
        call("report", told, "--format", "csv", "--junit", f"{two}.xml", "--summary", f"{two}.md")
        for kind in ("xml", "md"):
            assert Path(f"{two}.{kind}").read_text() == Path(f"{one}.{kind}").read_text()
        Path(f"{two}.md").unlink()


def test_what_an_earlier_run_left_is_not_taken_for_that_of_one_that_fails(
    call: Call, tmp_path: Path
) -> None:
    left = tmp_path / "junit.xml"
    left.write_text("<testsuites tests='1' failures='0'/>")
    broken = tmp_path / "broken.py"
    broken.write_text((EXAMPLES / "same_factor.py").read_text().replace("Margin(", "None and ("))
    code, _, err = call("run", broken, "--jobs", 1, "--out", tmp_path / "out", "--junit", left)
    assert code == 2
    (error,) = ET.parse(left).iter("error")
    assert str(error.text).startswith("no verdict: ")
    assert err.endswith(f"relu-verify: {str(error.text).removeprefix('no verdict: ')}\n")


def test_a_link_is_not_removed(report: dict[str, Any], tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("old")
    link.symlink_to(file)
    for_ci = ForCI(junit=link)
    for_ci.prepare()
    assert file.read_text() == "old"
    for_ci.write(report)
    assert link.is_symlink()
    assert file.read_text() == junit(report)


def test_a_summary_is_appended_within_the_limit(report: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "summary.md"
    file.write_text("of an earlier step")
    append_summary(report, file)
    assert file.read_text() == f"of an earlier step\n{job_summary(report)}"
    file.write_bytes(b"x" * (LIMIT - 1_000))
    append_summary(report, file)
    told = file.read_text()
    assert len(told.encode()) <= LIMIT
    assert "\n## relu-verify: not as expected\n" in told
    file.write_bytes(b"x" * (LIMIT - 5))
    append_summary(report, file)
    assert file.stat().st_size == LIMIT - 5


@pytest.mark.parametrize("option", ["--junit", "--summary"])
def test_a_place_that_cannot_be_written_is_said(
    call: Call, run_folder: Path, tmp_path: Path, option: str
) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path, tmp_path / "file" / "in a file"):
        code, _, err = call("report", run_folder, "--format", "csv", option, place)
        assert code == 2
        assert str(place) in err


def test_they_tell_a_report_and_no_list(call: Call, run_folder: Path, tmp_path: Path) -> None:
    for listing in (("--list",), ("--format", "csv", "--records")):
        code, _, err = call("report", run_folder, *listing, "--junit", tmp_path / "j.xml")
        assert code == 2
        assert "--junit and --summary tell a report" in err


def errors(file: Path) -> dict[str, str]:
    """Return what the errors of a JUnit file say, by the name of their case; all answers are."""
    root = ET.parse(file).getroot()
    assert (root.attrib["tests"], root.attrib["failures"]) == (root.attrib["errors"], "0")
    return {
        case.attrib["name"]: str(error.text)
        for case in root.iter("testcase")
        for error in case.iter("error")
    }


@pytest.mark.parametrize("place", ["gone", "."])
def test_what_there_is_nothing_to_tell_of_is_an_error(
    call: Call, tmp_path: Path, place: str
) -> None:
    for command, options in (("merge", ["--out", tmp_path / "all"]), ("report", [])):
        files = ["--junit", tmp_path / "j.xml", "--summary", tmp_path / f"{command}.md"]
        code, _, err = call(command, tmp_path / place, *options, *files)
        assert code == 2
        (message,) = errors(tmp_path / "j.xml").values()
        assert err.rstrip() == f"relu-verify: {message.removeprefix('no verdict: ')}"
        summary = (tmp_path / f"{command}.md").read_text()
        assert summary.startswith("## relu-verify: no verdict\n\n")
        assert f"`relu-verify {command}` ended with an error" in summary
        assert not (tmp_path / "all").exists()


def test_an_error_of_our_own_is_told_too(tmp_path: Path) -> None:
    for_ci = ForCI(tmp_path / "j.xml", tmp_path / "s.md")
    with pytest.raises(ZeroDivisionError), for_ci.telling_errors("relu-verify run"):
        _ = 1 // 0
    assert "no verdict: ZeroDivisionError: " in errors(tmp_path / "j.xml")["relu-verify run"]
    assert "ZeroDivisionError" in (tmp_path / "s.md").read_text()


def test_what_cannot_be_written_hides_no_error(tmp_path: Path) -> None:
    for_ci = ForCI(tmp_path, tmp_path)
    with pytest.raises(ZeroDivisionError), for_ci.telling_errors("relu-verify run"):
        _ = 1 // 0


def test_an_error_is_told_within_the_limit(tmp_path: Path) -> None:
    file = tmp_path / "s.md"
    file.write_bytes(b"x" * (LIMIT - 5))
    with pytest.raises(ZeroDivisionError), ForCI(summary=file).telling_errors("relu-verify run"):
        _ = 1 // 0
    assert file.stat().st_size == LIMIT - 5


def test_a_folder_that_lacks_records_is_told_without_verdicts(
    call: Call, run_folder: Path, tmp_path: Path
) -> None:
    edited(run_folder / "records.sqlite", "DELETE FROM blocks WHERE block = 3")
    edited(run_folder / "records.sqlite", "DELETE FROM searches")
    files = ["--junit", tmp_path / "j.xml", "--summary", tmp_path / "s.md"]
    for command in ("report", run_folder), ("merge", run_folder, "--out", tmp_path / "all"):
        assert call(*command, *files)[0] == 3
        told = errors(tmp_path / "j.xml")
        assert set(told) == {
            "at_least_zero",
            "below_nine_tenths",
            "always_below (control)",
            "shrinks_by_the_same_factor",
        }
        assert all("missing" in line for line in told.values())
        assert "2 of its 2 parts of searches are missing" in told["shrinks_by_the_same_factor"]
        summary = (tmp_path / "s.md").read_text()
        (tmp_path / "s.md").unlink()
        assert summary.startswith("## relu-verify: incomplete\n\n**Incomplete: there is no verdict")
        assert len(re.findall(r"^- `.*(?:small|false).py`: .* are missing", summary, re.M)) == 2
        assert "To compute what is missing:\n\n```sh\nrelu-verify" in summary
        assert "|" not in summary, "no table, for there is no verdict"


def test_the_theorems_that_are_complete_are_told_beside_those_that_are_not(
    call: Call, run_folder: Path, tmp_path: Path
) -> None:
    edited(
        run_folder / "records.sqlite",
        "DELETE FROM blocks WHERE block = 3 AND hash IN "
        "(SELECT hash FROM configurations WHERE description LIKE '%\"filed\"%')",
    )
    (run_folder / "report.json").unlink()
    out = tmp_path / "all"
    for name, *command in (
        ("merged", "merge", run_folder, "--out", out),
        ("told", "report", run_folder),
        ("shown", "report", run_folder / "report.json"),
    ):
        junit_file, summary = tmp_path / f"{name}.xml", tmp_path / f"{name}.md"
        assert call(*command, "--junit", junit_file, "--summary", summary)[0] == 3
        root = ET.parse(junit_file).getroot()
        assert (root.attrib["failures"], root.attrib["errors"]) == ("1", "3")
        assert summary.read_text().startswith(
            "## relu-verify: not as expected, and incomplete\n\n**The claim is refuted; there are "
            "no controls. Incomplete: without "
        )
        files = re.findall(r"^relu-verify replay (.*)$", summary.read_text(), re.M)
        assert len(files) == 2
        assert all(call("replay", file)[0] == 0 for file in files)
    assert not (out / "report.json").exists()
