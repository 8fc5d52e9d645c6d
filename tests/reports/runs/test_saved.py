"""A report.json that is not whole, not ours or not of this version is refused in one sentence."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reports.runs.saved import read
from reports.runs.schema import SCHEMA_VERSION
from tests.reports.conftest import Call
from verify.errors import InputError


def test_a_report_is_read_from_a_folder_or_a_file(finished: Path) -> None:
    out = finished / "out"
    assert read(out) == read(out / "report.json") == json.loads((out / "report.json").read_text())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a whole report.json"),
        (b"\xff\xfe", "not a whole report.json"),
        (b'{"schema_version": 1, "verdicts": [', "not a whole report.json"),
        (b'{"schema_version": NaN}', "NaN is not JSON"),
        (b"[" * 100_000, "not a whole report.json"),
        (b'{"schema_version": ' + b"9" * 5_000 + b"}", "not a whole report.json"),
        (b"3", "it has no schema_version"),
        (b"[]", "it has no schema_version"),
        (b'{"format": "relu-verify counterexample"}', "it has no schema_version"),
        (b'{"schema_version": 999}', f"schema_version=999, expected {SCHEMA_VERSION}"),
        (b'{"schema_version": "1"}', f"schema_version='1', expected {SCHEMA_VERSION}"),
        (b'{"schema_version": %d}' % SCHEMA_VERSION, "out is missing or not a text"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_is_no_report_is_refused(
    call: Call, finished: Path, tmp_path: Path, content: bytes, message: str
) -> None:
    file = tmp_path / "report.json"
    file.write_bytes(content)
    good = finished / "out"
    for arguments in (["report", file], ["diff", file, good], ["diff", good, tmp_path]):
        code, _, err = call(*arguments)
        assert code == 2
        assert message in err
        assert len(err.splitlines()) == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.json"]


def measure(report: dict[str, Any]) -> dict[str, Any]:
    """Put a measure into a report, and return it."""
    counts = {"trials": 10, "in_scope": 10, "unknown": 0, "holds": 5, "x": None}
    cell = {"point": {}, **counts, "frequency": 0.5, "low": 0.1, "high": 0.9}
    names = ("measure", "full_id", "statement", "status", "unit")
    theorem = report["theorems"][0]["address"]
    found = {**dict.fromkeys(names, "m"), "theorem": theorem, "kind": "frequency", "cells": [cell]}
    report["measures"] = [found]
    return found


def chain(report: dict[str, Any]) -> dict[str, Any]:
    """Put a chain into a report, and return it."""
    counts = {"trials": 10, "holds": 5, "undecided": 0, "first": [5]}
    links = [{"id": "one", "statement": "First."}]
    found = {"theorem": "t", "links": links, "cells": [{**counts, "controls": []}]}
    report["chains"] = [found]
    return found


def severity(report: dict[str, Any]) -> dict[str, Any]:
    """Return the severity of a counterexample that was drawn."""
    examples = [example for v in report["verdicts"] for example in v["counterexamples"]]
    found: dict[str, Any] = next(e["severity"] for e in examples if not e["searched"])
    return found


CHANGES: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (lambda r: r.update(verdicts={}), "verdicts is missing or not a list"),
    (lambda r: r.update(theorems=[3]), "theorems[0] is missing or not an object"),
    (lambda r: r["verdicts"][0].update(verdict="true"), "verdicts[0].verdict is not one of cert"),
    (lambda r: r["verdicts"][0].update(verdict=[]), "verdicts[0].verdict is not one of cert"),
    (lambda r: r["verdicts"][0].update(trials=1.5), "verdicts[0].trials is missing or not a count"),
    (lambda r: r["verdicts"][0].update(trials=True), "trials is missing or not a count"),
    (lambda r: r["verdicts"][0].update(trials=-1), "trials is missing or not a count"),
    (lambda r: r["verdicts"][0].update(holds=10**400), "holds is missing or not a count"),
    (lambda r: r["verdicts"][0].update(holds=10**4), "hold than are in scope"),
    (lambda r: r["verdicts"][1]["cells"][0]["tally"].update(in_scope=1), "hold than are in scope"),
    (lambda r: measure(r)["cells"][0].update(holds=11), "hold than are in scope"),
    (lambda r: r["verdicts"][0].update(lower_bound=10**400), "lower_bound is beyond the numbers"),
    (lambda r: r.update(seed=1.5), "seed is missing or not a whole number"),
    (lambda r: r["verdicts"][0].pop("lower_bound"), "lower_bound is missing"),
    (lambda r: r["verdicts"][0].update(given=[1]), "verdicts[0].given[0] is missing or not a text"),
    (lambda r: r["verdicts"][1]["cells"][0].update(point=3), "cells[0].point is missing"),
    (lambda r: r["verdicts"][1]["cells"][0]["tally"].pop("holds"), "tally.holds is missing"),
    (lambda r: r["verdicts"].append(r["verdicts"][0]), "occurs twice"),
    (lambda r: r["theorems"].append(r["theorems"][0]), "occurs twice"),
    (lambda r: r["theorems"].clear(), "is of no theorem in it"),
    (lambda r: r.update(measures=3), "measures is missing or not a list"),
    (lambda r: r.update(measures=[{}]), "measures[0].theorem is missing"),
    (lambda r: measure(r).update(kind="guess"), "measures[0].kind is not one of frequency, quant"),
    (lambda r: measure(r)["cells"][0].pop("low"), "measures[0].cells[0].low is missing"),
    (lambda r: measure(r).update(theorem="another"), "is of no theorem in it"),
    (lambda r: r.update(measures=[measure(r)] * 2), "occurs twice"),
    (lambda r: r.update(chains=[{}]), "chains[0].theorem is missing"),
    (lambda r: chain(r)["cells"][0].update(first=[]), "chains[0] has cells with another number"),
    (lambda r: severity(r).pop("in_scope"), "severity.in_scope is missing or not true or false or"),
    (lambda r: severity(r).update(first_step=0.5), "severity.first_step is missing or not a whole"),
    (lambda r: severity(r).update(assumptions=[3]), "severity.assumptions[0] is missing or not an"),
    (lambda r: severity(r)["rate"].update(low="0"), "severity.rate.low is missing or not"),
    (lambda r: r.update(versions=None), "versions is missing or not an object"),
]


@pytest.mark.parametrize(("change", "message"), CHANGES, ids=[m for _, m in CHANGES])
def test_an_entry_of_another_kind_is_named(
    report: dict[str, Any], tmp_path: Path, change: Callable[[dict[str, Any]], Any], message: str
) -> None:
    change(report)
    file = tmp_path / "report.json"
    file.write_text(json.dumps(report))
    with pytest.raises(InputError, match="is no report of relu-verify") as raised:
        read(file)
    assert message in str(raised.value)


def test_a_folder_without_a_report_is_told_to_rebuild_it(call: Call, tmp_path: Path) -> None:
    code, _, err = call("diff", tmp_path, tmp_path)
    assert code == 2
    assert "rebuild it with relu-verify report" in err


def test_characters_that_no_page_can_hold_are_replaced(
    report: dict[str, Any], tmp_path: Path
) -> None:
    report["sentence"] = "\x1b[31mred \ud800"
    file = tmp_path / "report.json"
    file.write_text(json.dumps(report))
    assert read(file)["sentence"] == "\ufffd[31mred \ufffd"


def test_reports_with_and_without_measures_are_read(report: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    report.pop("measures", None)
    file.write_text(json.dumps(report))
    assert read(file)["measures"] == []
    found = measure(report)
    file.write_text(json.dumps(report))
    assert read(file)["measures"] == [found]


def test_what_is_not_needed_is_passed_on(report: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text(json.dumps({**report, "later": {"kept": [1]}}))
    assert read(file)["later"] == {"kept": [1]}
