"""Wherever a report shows a violation: its scope, its first step and how often it happens."""

from __future__ import annotations

import copy
import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

from reports.html.render import render
from reports.runs.saved import read
from reports.text.markdown import markdown
from reports.text.verdicts import verdict_line
from tests.reports.sample import HOSTILE, SEVERITY
from tests.reports.sample import report as sample
from verify.severity import words


def examples(report: dict[str, Any]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return every counterexample of a report with its verdict."""
    return [(v, e) for v in report["verdicts"] for e in v["counterexamples"]]


def test_what_a_report_tells_is_what_the_files_hold(report: dict[str, Any], finished: Path) -> None:
    found = examples(report)
    assert len(found) == 3
    for _, example in found:
        filed = json.loads((finished / "out" / example["file"]).read_text(encoding="utf-8"))
        assert example["severity"] == filed["severity"]
        assert example["searched"] == (filed["kind"] != "drawn")
        assert example["severity"]["margin"] == pytest.approx(example["margin"])
        assert example["severity"]["in_scope"] is True


def test_drawn_ones_have_the_rate_of_their_cell_and_searched_ones_none(
    report: dict[str, Any],
) -> None:
    searched = [example for _, example in examples(report) if example["searched"]]
    assert searched
    assert all(example["severity"]["rate"] is None for example in searched)
    drawn = [(v, e) for v, e in examples(report) if not e["searched"]]
    assert drawn
    for verdict, example in drawn:
        rate = example["severity"]["rate"]
        assert rate["where"] == example["summary"]["drawn at"]
        (tally,) = (c["tally"] for c in verdict["cells"] if c["point"] == rate["where"])
        counts = ("violated", "undecided", "in_scope", "trials")
        assert {name: rate[name] for name in counts} == {name: tally[name] for name in counts}
        assert 0 < rate["low"] <= tally["violated"] / tally["in_scope"] <= rate["high"] <= 1


def shown(page: str) -> str:
    """Return the text of a page, its white space single."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", page)).split())


def test_page_and_markdown_say_all_of_it(report: dict[str, Any]) -> None:
    page, told = shown(render(report)), markdown(report)
    for _, example in examples(report):
        lines = words(example["severity"], example["searched"])
        assert len(lines) == 2
        for line in lines:
            assert f"{line[:1].upper()}{line[1:]}" in page
            assert f"\n- {line}\n" in told.replace("\\", "")


def test_a_page_says_which_hypothesis_a_control_violates() -> None:
    page = shown(render(sample()))
    told = (
        "In scope of the claim, outside the theorem's: c = 0.02, outside the range tested, 0.25 "
        "to 1.2 (step_is_bounded_below, by 0.23) First departs from the theorem at step 3 Violated "
        "in 10 of 200 in scope, 1 undecided at n = 20, c = 0.02: probability 0.024 to 0.097 at "
        "confidence 0.95"
    )
    assert told in page


def test_whatever_a_theorem_calls_things_is_escaped() -> None:
    hostile = copy.deepcopy(SEVERITY)
    for assumption in hostile["assumptions"]:
        assumption |= {"assumption": HOSTILE, "coordinate": HOSTILE}
    hostile["rate"]["where"] = {HOSTILE: HOSTILE}
    found = sample()
    for _, example in examples(found):
        example["severity"] = hostile
    page = render(found)
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert shown(page).count("alert(1)") >= 4


def test_a_report_without_severities_is_shown(report: dict[str, Any], tmp_path: Path) -> None:
    for _, example in examples(report):
        example["severity"] = None
    file = tmp_path / "report.json"
    file.write_text(json.dumps(report), encoding="utf-8")
    assert 'class="severity"' not in render(read(file))
    assert "in scope of" not in markdown(read(file))


def line_of(expected: str, in_scope: bool, *violated: str, **changes: Any) -> str:
    """Return the line of a refuted verdict whose worst counterexample violates these."""
    (verdict,) = (v for v in sample()["verdicts"] if v["claim"] == "never")
    assumptions = [
        {"assumption": name, "state": state, "role": "scope", "margin": 0.0, "coordinate": ""}
        for name, state in [("met", "holds"), *((name, "violated") for name in violated)]
    ]
    severity = {**SEVERITY, "in_scope": in_scope, "assumptions": assumptions}
    example = {**verdict["counterexamples"][0], "severity": severity}
    other = {**example, "severity": {**SEVERITY, "in_scope": False}}
    changes = {"counterexamples": [other, example], **changes}
    return verdict_line({**verdict, "expected": expected, **changes})


@pytest.mark.parametrize(
    ("expected", "in_scope", "violated", "end"),
    [
        ("supported", True, (), "-0.18, in scope"),
        ("refuted", True, (), "-0.18"),
        ("refuted", True, ("a",), "-0.18, outside a"),
        ("supported", False, ("a", "b"), "-0.18, outside a, b"),
        ("refuted", True, ("a", "b", "c", "d"), "-0.18, outside a, b and 2 more"),
    ],
)
def test_a_line_says_in_a_word_where_the_worst_one_lies(
    expected: str, in_scope: bool, violated: tuple[str, ...], end: str
) -> None:
    line = line_of(expected, in_scope, *violated)
    assert line.removesuffix("  <- not as expected").endswith(end)


def test_a_line_without_a_counterexample_says_nothing_of_it() -> None:
    assert line_of("refuted", True, counterexamples=[]).endswith("-0.18  <- not as expected")
