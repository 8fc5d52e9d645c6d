"""JUnit XML says what the report says, in a form that CI servers read."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
import xmlschema

from reports.runs.summary import exit_code
from reports.text.junit import junit, outcome
from tests.reports.conftest import Call
from tests.reports.sample import full, hostile, verdict
from verify.verdict import Conclusion, Verdict

SCHEMA = xmlschema.XMLSchema(str(Path(__file__).with_name("junit.xsd")))


def parsed(report: dict[str, Any]) -> ET.Element:
    """Return a report's JUnit XML, held to the schema and to the counts that it states."""
    text = junit(report)
    SCHEMA.validate(text)
    root = ET.fromstring(text.encode())
    for element in (root, *root):
        for count, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error")):
            assert int(element.attrib[count]) == len(element.findall(f".//{tag}"))
    return root


def test_every_claim_and_control_is_a_case_with_its_answer() -> None:
    report = full()
    root = parsed(report)
    cases = root.findall(".//testcase")
    assert [case.attrib["name"].partition(" ")[0] for case in cases] == [
        verdict["claim"] for verdict in report["verdicts"]
    ]
    answers = {
        case.attrib["name"]: answer.tag
        for case in cases
        for answer in case
        if answer.tag != "system-out"
    }
    assert answers == {
        "never": "failure",
        "empty": "error",
        "likely": "error",
        "unsure": "error",
        "missed": "failure",
        "missed_control (control)": "failure",
    }
    assert {case.attrib["classname"] for case in cases} == {"lai2026.theorem1"}
    assert root.attrib["time"] == "17.200"
    properties = {p.attrib["name"]: p.attrib["value"] for p in root.iter("property")}
    assert properties["seed"] == "0"
    assert properties["numpy"] == "2.4.6"


def test_a_failure_says_what_a_reader_needs(report: dict[str, Any], call: Call) -> None:
    (failure,) = parsed(report).iter("failure")
    assert failure.attrib["type"] == "refuted"
    message, *lines = str(failure.text).splitlines()
    assert failure.attrib["message"] == message
    assert message.startswith("refuted, expected supported: The second step shrinks")
    assert "smallest counterexample, margin -0." in "\n".join(lines)
    assert "  curvatures: 2, 1" in lines
    replays = [line.split() for line in lines if line.startswith("  replay: ")]
    assert len(replays) == 2
    for _, _, command, file in replays:
        assert call(command, file)[0] == 0


def test_a_control_that_is_not_refuted_says_that_the_evidence_is_void() -> None:
    report = full(verdicts=[verdict("c", "inconclusive", expected="refuted", because="false")])
    (failure,) = parsed(report).iter("failure")
    assert failure.attrib["type"] == "inconclusive"
    assert "a control must be refuted, or the evidence is void" in failure.attrib["message"]


@pytest.mark.parametrize("expected", [Conclusion.SUPPORTED, Conclusion.REFUTED])
@pytest.mark.parametrize("word", Conclusion)
def test_failures_and_errors_are_the_exit_codes(word: Conclusion, expected: Conclusion) -> None:
    names = {"theorem": "t", "claim": "c", "full_id": "t.c", "kind": "universal"}
    texts = {"statement": "says", "status": "D", "detail": ""}
    counts = dict.fromkeys(("trials", "in_scope", "holds", "violated", "undecided"), 0)
    bounds = dict.fromkeys(("lower_bound", "upper_bound", "confidence", "worst_margin"), 0.5)
    found = Verdict(**names, **texts, **counts, **bounds, verdict=word, expected=expected)
    told = {**found.to_json(), "as_expected": found.as_expected}
    assert {"": 0, "failure": 1, "error": 3}[outcome(told)] == exit_code([found])


def test_a_file_is_named_as_pytest_names_it() -> None:
    report = full(verdicts=[verdict("c", theorem="my proofs/a.b/mine.py")])
    report["theorems"][0]["address"] = "my proofs/a.b/mine.py"
    root = parsed(report)
    assert [case.attrib["classname"] for case in root.iter("testcase")] == ["my proofs.a.b.mine"]
    assert root[0].attrib["name"] == "my proofs/a.b/mine.py"


def test_what_is_missing_is_an_error(report: dict[str, Any]) -> None:
    report["missing"] = [{"theorem": "a.py", "reason": "3 of 4 blocks are missing"}]
    report["wall_time_s"] = None
    del report["computing"]
    root = parsed(report)
    assert root[-1].find("testcase/error").text == "not in the report: 3 of 4 blocks are missing"
    assert "time" not in root.attrib


@pytest.mark.parametrize("nasty", ["]]>", "<a>&amp;\"'", "\x00\x1b[31m\ud800\uffff", "a\nb\tc"])
def test_no_text_breaks_it(nasty: str) -> None:
    report = full(command=nasty, out=nasty)
    report["verdicts"][2] |= {"statement": f"x{nasty}", "detail": nasty, "claim": f"c{nasty}"}
    report["verdicts"][2]["counterexamples"][0]["summary"] = {nasty: [nasty, 1.0]}
    root = parsed(report)
    shown = nasty
    for bad in "\x00\x1b\ud800\uffff":
        shown = shown.replace(bad, "\N{REPLACEMENT CHARACTER}")
    case = root.findall(".//testcase")[2]
    assert case.attrib["name"] == f"c{shown}"
    assert shown in str(case.find("failure").text)
    parsed(hostile() | {"created": report["created"]})


def test_times_are_those_of_computing_and_say_so() -> None:
    own = {"never": 1.5, "likely": 0.25}
    computing = {
        "in_all_s": 2.0,
        "now_s": 0.5,
        "untimed": 0,
        "theorems": [{"theorem": "lai2026.theorem1", "in_all_s": 2.0, "shares_s": own}],
    }
    root = parsed(full(computing=computing))
    assert (root.attrib["time"], root[0].attrib["time"]) == ("2.000", "2.000")
    cases = {case.attrib["name"]: case.attrib.get("time") for case in root.iter("testcase")}
    assert {name: time for name, time in cases.items() if time} == {
        "never": "1.500",
        "likely": "0.250",
    }
    told = {p.attrib["name"]: p.attrib["value"] for p in root.iter("property")}
    assert told["computing"] == "computing: 2 s of worker time in all, 0.5 s of it in this run"
    assert told["time"].startswith("seconds of workers")
    assert told["wall_time_s"] == "17.2"


def test_the_times_of_a_run_add_up(report: dict[str, Any]) -> None:
    root = parsed(report)
    suites = [float(suite.attrib["time"]) for suite in root]
    assert float(root.attrib["time"]) == pytest.approx(sum(suites), abs=0.002)
    for suite, total in zip(root, suites, strict=True):
        cases = [float(case.attrib["time"]) for case in suite.iter("testcase")]
        assert min(cases) > 0
        assert sum(cases) == pytest.approx(total, abs=0.005)
