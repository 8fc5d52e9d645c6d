"""The summary of a CI job says what the report says, within the room that GitHub gives."""

from __future__ import annotations

import copy
import html
import re
from typing import Any

import pytest

from reports.text.job_summary import LIMIT, job_summary
from tests.reports.conftest import Call
from tests.reports.sample import full, hostile, large


def rows(told: str) -> list[str]:
    """Return the claims and controls of the tables, in order."""
    return re.findall(r"^\| \**\w+\** \| `([^`]+)`", told, re.M)


def test_it_says_what_the_report_says(report: dict[str, Any]) -> None:
    told = job_summary(report)
    assert told.startswith("## relu-verify: not as expected\n\n**Of 3 claims, 2 supported, 1 ref")
    assert sorted(rows(told)) == sorted(verdict["full_id"] for verdict in report["verdicts"])
    assert "false.py" in rows(told)[0], "what is not as expected comes first"
    assert "at_least_zero" in told.split("Controls. False on purpose")[0]
    assert told.count("not as expected |") == 1
    assert told.endswith(f"```sh\n{report['command']}\n```\n")
    assert "left out" not in told


@pytest.mark.parametrize(
    ("code", "answer"), [(0, "as expected"), (1, "not as expected"), (3, "not settled")]
)
def test_its_title_is_the_exit_code(report: dict[str, Any], code: int, answer: str) -> None:
    report["exit_code"] = code
    assert job_summary(report).startswith(f"## relu-verify: {answer}\n")


def test_counterexamples_to_claims_are_under_folds(call: Call, report: dict[str, Any]) -> None:
    folds = re.findall(r"^<details>.*?^</details>$", job_summary(report), re.M | re.S)
    assert len(folds) == 2, "the control's are not told"
    for fold, kind in zip(folds, ("smallest", "worst"), strict=True):
        assert re.match(r"<details><summary>Counterexample to <code>\S*false.py::\w+</code>", fold)
        assert f", {kind}, margin -0." in fold.splitlines()[0]
        (file,) = re.findall(r"^relu-verify replay (.*)$", fold, re.M)
        assert call("replay", file)[0] == 0


def test_what_is_missing_is_said(report: dict[str, Any]) -> None:
    report["missing"] = [{"theorem": "a.py", "reason": "3 of 4 blocks are missing"}]
    assert "Not in this report:\n\n- `a.py`: 3 of 4 blocks are missing" in job_summary(report)


def many(count: int) -> dict[str, Any]:
    """Return a report with the sample's verdicts `count` times over, the last of them refuted."""
    found = full()
    found["verdicts"] = [
        {**copy.copy(verdict), "full_id": f"t.c{number}.{verdict['claim']}"}
        for number in range(count)
        for verdict in found["verdicts"]
        if number == count - 1 or verdict["as_expected"]
    ]
    return found


@pytest.mark.parametrize("limit", [LIMIT, 20_000, 5_000, 1_000, 200, 10, 0, -5])
def test_it_never_takes_more_room_than_there_is(limit: int) -> None:
    for report in (full(), many(50), large(), hostile()):
        told = job_summary(report, limit)
        assert len(told.encode()) <= max(limit, 0)
        assert not told or told.startswith("## relu-verify")


def test_what_there_is_no_room_for_is_counted_and_what_went_wrong_is_kept() -> None:
    report = many(1_500)
    told = job_summary(report)
    assert len(told.encode()) > 0.98 * LIMIT
    count = len(report["verdicts"])
    (left,) = re.findall(rf"^(\d+) of {count} verdicts are left out for want of room", told, re.M)
    assert int(left) == count - len(rows(told)) > 0
    assert {name for name in rows(told) if name.startswith("t.c1499")} == {
        v["full_id"] for v in report["verdicts"] if not v["as_expected"]
    }
    assert "counterexamples are left out" not in told, "they come before what is as expected"
    short = job_summary(many(1), 4_500)
    assert "1 of 2 counterexamples are left out" in short
    assert "4 of 10 verdicts are left out" in short


def test_text_breaks_no_row_and_no_fold() -> None:
    told = job_summary(hostile())
    parser = pytest.importorskip("markdown_it").MarkdownIt("commonmark").enable("table")
    tokens = parser.parse(told)
    raw = "".join(token.content for token in tokens if token.type == "html_block")
    assert raw.count("<details>") == raw.count("</details>") == 2
    tags = set(re.findall(r"</?\w+", re.sub(r"<!--.*?-->", "", raw)))
    assert tags == {"<details", "</details", "<summary", "</summary", "<code", "</code"}
    assert "<script>alert(1)</script>" in html.unescape(raw)
    inline = [child for token in tokens for child in token.children or ()]
    assert {child.content for child in inline if child.type == "html_inline"} <= {
        "<br>",
        "<!-- -->",
    }
    assert len([token for token in tokens if token.type == "fence"]) == 3


def test_a_fold_mentions_nobody(report: dict[str, Any]) -> None:
    for verdict in report["verdicts"]:
        for entry in verdict["counterexamples"]:
            entry["kind"] = "of @someone, see #1"
    told = job_summary(report)
    assert "of @<!-- -->someone, see #<!-- -->1" in told
    assert "@someone" not in told
