"""--junit and --summary: what is written, where, and what is left of earlier runs."""

from __future__ import annotations

import shutil
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from reports.runs.ci import ForCI, append_summary
from reports.text.job_summary import LIMIT, job_summary
from reports.text.junit import junit
from tests.reports.conftest import EXAMPLES, Call


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
    assert call("run", broken, "--jobs", 1, "--out", tmp_path / "out", "--junit", left)[0] == 2
    assert not left.exists()


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
