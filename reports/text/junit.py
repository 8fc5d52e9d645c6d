"""A report as JUnit XML, as CI servers read it: from report.json alone, a test case a claim.

A `failure` is what ends a run with exit code 1, a claim refuted or a control not. What ends it with
3 (inconclusive, undecided, vacuous, missing) is an `error`: the test came to no answer; so is what
ends a command before any verdict. Skipped it is never, for what is skipped does not fail a build,
and some readers count it as passed.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from reports.html.claims import replay_command
from reports.text.counterexamples import example_lines
from reports.text.markdown import margin_of
from reports.text.times import computing_words
from reports.text.verdicts import verdict_line
from reports.typography import clean

Part = Mapping[str, Any]

_TIME = (
    "seconds of workers, whenever they were spent: those of a block of trials in even shares to "
    "all that is evaluated on it, measures too, and those of a search to its claim"
)
"""What a time is, for who reads it."""

_PROPERTIES = {name: name for name in ("profile", "seed", "backend", "confidence")}
_PROPERTIES["again"] = "command"
"""Entries of the report by the name of their property. The command gives the same report, and may
not be what made it: a merge."""


def junit(report: Part) -> str:
    """Return a report as JUnit XML: a suite for each theorem, in it a case for each claim and
    control, those of theorems that are missing too (one for such a theorem if it has none known).

    A case is named after its claim, its class after its theorem as pytest does, a file without
    its ending and with dots for slashes. Times are those of computing (`verify.computing`), as a
    property of each suite says; of a report made before they were kept, the run's own is told.
    Characters that XML cannot hold are replaced.
    """
    report = clean(report)
    root = ET.Element("testsuites", name="relu-verify")
    computing = report.get("computing")
    times = {own["theorem"]: own for own in (computing or {}).get("theorems", ())}
    for theorem in report["theorems"]:
        own = [v for v in report["verdicts"] if v["theorem"] == theorem["address"]]
        suite = _suite(root, theorem["address"], report)
        took = times.get(theorem["address"])
        _time(suite, took and took["in_all_s"])
        for verdict in own:
            share = took and took["shares_s"].get(verdict["claim"])
            _time(_case(suite, verdict, report["out"]), share)
        _count(suite)
    for entry in report.get("missing") or ():
        suite = _suite(root, entry["theorem"], report)
        controls = [f"{name} (control)" for name in entry.get("controls") or ()]
        for name in [*(entry.get("claims") or ()), *controls] or ["records"]:
            case = _named_case(suite, entry["theorem"], name)
            _answer(case, "error", "missing", [f"not in the report: {entry['reason']}"])
        _count(suite)
    _count(root)
    _time(root, computing["in_all_s"] if computing else report["wall_time_s"])
    return _written(root)


def junit_of_error(command: str, message: str) -> str:
    """Return JUnit XML of a command ("relu-verify merge", say) that ended with an error and told no
    verdict: a case for the command, with the error."""
    root = ET.Element("testsuites", name="relu-verify")
    now = datetime.now(UTC).isoformat(timespec="seconds")
    suite = ET.SubElement(root, "testsuite", name="relu-verify", timestamp=now)
    case = _named_case(suite, "relu-verify", command)
    _answer(case, "error", "no verdict", clean(f"no verdict: {message}").splitlines())
    _count(suite)
    _count(root)
    return _written(root)


def outcome(verdict: Part) -> str:
    """Return "failure" for a claim refuted or a control not refuted, "error" for whatever else is
    not as expected, "" for what is: the exit codes 1, 3 and 0."""
    control = verdict["expected"] == "refuted"
    if control != (verdict["verdict"] == "refuted"):
        return "failure"
    return "" if verdict["as_expected"] else "error"


def _written(root: ET.Element) -> str:
    ET.indent(root, " ")
    text = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(root: ET.Element, address: str, report: Part) -> ET.Element:
    suite = ET.SubElement(root, "testsuite", name=address, timestamp=report["created"])
    properties = ET.SubElement(suite, "properties")
    told = {name: report[entry] for name, entry in _PROPERTIES.items()} | dict(report["versions"])
    if report["wall_time_s"] is not None:
        told["wall_time_s"] = report["wall_time_s"]
    if report.get("computing"):
        told |= {"computing": computing_words(report["computing"], "in this run"), "time": _TIME}
    for name, value in told.items():
        ET.SubElement(properties, "property", name=name, value=str(value))
    return suite


def _named_case(suite: ET.Element, address: str, name: str) -> ET.Element:
    place = address.removesuffix(".py").strip("/").replace("/", ".")
    return ET.SubElement(suite, "testcase", classname=place, name=name)


def _time(element: ET.Element, seconds: float | None) -> None:
    """Set a time, where it is known."""
    if seconds is not None:
        element.set("time", f"{seconds:.3f}")


def _case(suite: ET.Element, verdict: Part, folder: str) -> ET.Element:
    control = " (control)" if verdict["expected"] == "refuted" else ""
    case = _named_case(suite, verdict["theorem"], f"{verdict['claim']}{control}")
    if wrong := outcome(verdict):
        _answer(case, wrong, verdict["verdict"], list(_told(verdict, folder)))
    ET.SubElement(case, "system-out").text = f"{verdict['statement']}\n{verdict_line(verdict)}"
    return case


def _answer(case: ET.Element, what: str, word: str, lines: list[str]) -> None:
    """Add a failure or an error; the text begins with the message, which some readers leave out."""
    ET.SubElement(case, what, type=word, message=lines[0]).text = "\n".join(lines)


def _told(verdict: Part, folder: str) -> Iterator[str]:
    asked = f"expected {verdict['expected']}"
    if verdict["expected"] == "refuted":
        asked = "but a control must be refuted, or the evidence is void"
    yield f"{verdict['verdict']}, {asked}: {' '.join(verdict['statement'].split())}"
    yield verdict["detail"]
    for entry in verdict["counterexamples"]:
        yield f"{entry['kind']} counterexample{margin_of(entry)}:"
        yield from (f"  {line}" for line in example_lines(entry))
        yield f"  replay: {replay_command(folder, entry['file'])}"


def _count(element: ET.Element) -> None:
    """Set the counts of a suite, or of all suites, to those of the cases in it."""
    element.set("tests", str(len(element.findall(".//testcase"))))
    element.set("failures", str(len(element.findall(".//failure"))))
    element.set("errors", str(len(element.findall(".//error"))))
    if element.tag == "testsuite":
        element.set("skipped", "0")
