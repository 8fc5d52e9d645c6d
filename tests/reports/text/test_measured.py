"""What a theorem measures, through the command line: in the report, on the terminal, explained."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from reports.cli import main
from reports.text.measured import measured_lines
from verify.findings import (
    ChainCell,
    ChainFinding,
    FrequencyCell,
    Link,
    Measured,
    QuantileFound,
    QuantilesCell,
    Threshold,
)
from verify.verdict import Verdicts

NAN = float("nan")

FILE = '''
import numpy as np
from verify import (
    Assumption, Chain, Control, Frequency, Margin, Point, Quantiles, Status, Theorem, Universal
)

def draw(point, generator, trials):
    return generator.random((trials, point["n"])).max(axis=1)

def simulate(problem):
    return problem

def below_one(trial):
    """The greatest of n uniform numbers is below 1."""
    return Margin(trial.problem, 1.0)

def positive(trial):
    """The greatest of n uniform numbers is above a tenth."""
    return Margin(0.1, trial.problem)

def above_a_half(trial):
    """The greatest of n uniform numbers is at least one half."""
    return Margin(0.5, trial.problem)

def greatest(trial):
    """The greatest of n uniform numbers."""
    return trial.problem

def size(trial):
    """The number n of uniform numbers."""
    return trial.point["n"]

def law(trial):
    """1 − 2⁻ⁿ."""
    return 1 - 0.5 ** trial.point["n"]

theorem = Theorem(
    id="greatest",
    title="The greatest of n uniform numbers",
    citation="none",
    status=Status.DERIVED,
    draw=draw,
    simulate=simulate,
    cells=(Point(n=1), Point(n=2), Point(n=8)),
    block=10,
    claims=(Universal(below_one, given=(Assumption(positive),)),),
    controls=(Control(Universal(above_a_half, name="always", at=(Point(n=1),)), because="no"),),
    measures=(
        Frequency(above_a_half, against=size, prediction=law, levels=(0.8,)),
        Quantiles(greatest, levels=(0.5,), unit="m", at=(Point(n=2),), status=Status.HEURISTIC),
    ),
    chain=Chain(links=(below_one, above_a_half)),
)
'''


@pytest.fixture
def command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Any:
    """Run a command in a folder that holds the theorem; return (code, stdout)."""
    (tmp_path / "greatest.py").write_text(FILE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
        return int(ended.value.code or 0), capsys.readouterr().out

    return call


def test_a_run_reports_what_is_measured_after_the_verdicts(command: Any, tmp_path: Path) -> None:
    code, out = command("run", "greatest.py", "--out", "out", "--jobs", "1")
    assert code == 0
    lines = out.splitlines()
    assert [line.split()[0] for line in lines] == [
        "supported",
        "refuted",
        "measured",
        "P",
        "measured",
        "chain",
    ]
    number = r"0\.\d{4}"
    assert re.fullmatch(
        rf"measured     greatest.py::above_a_half  at 3 points  P = {number} … 1.0000 in "
        rf"\[{number}, 1.0000\]",
        lines[2],
    )
    assert lines[3] == (
        "             P passes, along The number n of uniform numbers: 0.8 between 2 and 8"
    )
    assert re.match(
        r"measured     greatest.py::greatest  200/200/200  mean 0\.\d+ m, 0.5-quantile 0\.\d+ in ",
        lines[4],
    )
    assert re.match(
        r"chain        greatest.py  all links hold in 3\d\d/400, above_a_half breaks first in \d+; "
        r"at \w+ all links hold in \d+/200, above_a_half breaks first in",
        lines[5],
    )

    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    frequency, quantiles = report["measures"]
    assert frequency["full_id"] == "greatest.py::above_a_half"
    assert frequency["status_meaning"] == "derived here and checked numerically"
    assert frequency["thresholds"] == [
        {"line": None, "level": 0.8, "low": 2, "high": 8, "monotone": True}
    ]
    assert [(c["x"], c["prediction"]) for c in frequency["cells"]] == [
        (1, 0.5),
        (2, 0.75),
        (8, 1 - 0.5**8),
    ]
    for cell in frequency["cells"]:
        assert cell["low"] <= cell["prediction"] <= cell["high"]
    assert (quantiles["kind"], quantiles["unit"], quantiles["status"]) == ("quantiles", "m", "H")
    assert quantiles["cells"][0]["quantiles"][0]["level"] == 0.5
    (chain,) = report["chains"]
    assert [link["id"] for link in chain["links"]] == ["below_one", "above_a_half"]
    for cell in chain["cells"]:
        assert cell["trials"] == sum(cell["first"]) + cell["undecided"] + cell["holds"] == 200
    assert [cell["controls"] for cell in chain["cells"]] == [["always"], [], []]
    (assumption,) = report["theorems"][0]["assumptions"]
    realised = assumption["realised"]
    assert realised["trials"] == realised["met"] + realised["violated"] + realised["unknown"] == 600
    assert len(realised["margins"]) == 7
    supported, refuted = report["verdicts"]
    assert supported["instance"] is None
    assert supported["closest"]["margin"] == supported["worst_margin"]
    assert refuted["closest"] == refuted["instance"]
    assert all(len(cell["margins"]) == 7 for v in report["verdicts"] for cell in v["cells"])


def test_list_and_explain_know_measures_and_the_chain(command: Any) -> None:
    _, out = command("list", "greatest.py")
    assert out.splitlines()[3:] == [
        "  frequency above_a_half  (measured)  [D]",
        "  quantiles greatest  (measured)  [H]",
        "  chain     below_one, above_a_half",
    ]
    _, out = command("explain", "greatest.py")
    assert "greatest.py::greatest  [H, measured]" in out
    assert "  2. The greatest of n uniform numbers is at least one half.  [above_a_half]" in out
    _, out = command("explain", "greatest.py::above_a_half")
    for line in (
        "The greatest of n uniform numbers is at least one half.",
        "Given     nothing: every instance is in scope",
        "Status    [D] derived here and checked numerically",
        "Against   The number n of uniform numbers",
        "Predicted 1 − 2⁻ⁿ",
        "Measured  on random problems, 200 (quick), 1000 (full), 10000 (nightly) trials a cell; "
        "how often it holds, with exact bounds, and where that passes 0.8; reported, not judged: "
        "no verdict depends on it:",
        "  - n=8",
    ):
        assert line in out.splitlines()
    _, out = command("explain", "greatest.py::greatest")
    assert "mean and deviation, and the quantiles 0.5 with intervals; reported" in out
    _, out = command("explain", "greatest.py::chain")
    assert out.splitlines()[3] == "  1. The greatest of n uniform numbers is below 1.  [below_one]"
    assert "  - n=1" in out.splitlines()


def measured(*found: Measured, chain: ChainFinding | None = None) -> list[str]:
    return measured_lines(Verdicts((), 0.05, measured=found, chain=chain))


def one(kind: str, *cells: Any, thresholds: tuple[Threshold, ...] = (), **changes: Any) -> Measured:
    known = {
        "theorem": "t",
        "measure": "m",
        "full_id": "t.m",
        "kind": kind,
        "statement": "It is.",
        "status": "D",
        "status_meaning": "derived",
        "unit": "dimensionless",
        "axis": "m",
        "abscissa": "x",
        "by": "",
        "given": (),
        "confidence": 0.99,
        "cells": cells,
        "thresholds": thresholds,
    }
    return Measured(**{**known, **changes})


def counted(holds: int, in_scope: int, low: float, high: float) -> FrequencyCell:
    frequency = holds / in_scope if in_scope else NAN
    return FrequencyCell({}, None, 60, in_scope, 0, NAN, NAN, holds, frequency, low, high)


def test_printed_bounds_are_rounded_outward() -> None:
    assert measured(one("frequency", counted(27, 50, 0.123456, 0.678912))) == [
        "measured     t.m  27/50/60  P = 0.5400 in [0.1234, 0.6790]"
    ]
    found = QuantileFound(0.5, 12.3456, 0.0123456, 123456.0)
    cell = QuantilesCell({}, None, 60, 50, 2, NAN, NAN, 12.5, 1.0, (found,))
    assert measured(one("quantiles", cell)) == [
        "measured     t.m  48/50/60  mean 12.5, 0.5-quantile 12.35 in [0.01234, 1.235e+05]"
    ]
    negative = QuantileFound(0.5, -2.0, -2.00006, 0.0)
    cell = QuantilesCell({}, None, 60, 50, 2, NAN, NAN, float("inf"), 1.0, (negative,))
    assert measured(one("quantiles", cell)) == [
        "measured     t.m  48/50/60  mean not finite, 0.5-quantile -2 in [-2.001, 0]"
    ]


def test_what_is_not_known_is_said() -> None:
    assert measured(one("frequency", counted(0, 0, 0.0, 1.0))) == [
        "measured     t.m  none in scope"
    ]
    unbounded = QuantileFound(0.05, 1.0, NAN, 2.0)
    cells = [
        QuantilesCell({}, None, 60, 5, unknown, NAN, NAN, 1.0, 0.0, (unbounded,))
        for unknown in (5, 4)
    ]
    assert measured(one("quantiles", cells[0])) == ["measured     t.m  none measured in scope"]
    assert measured(one("quantiles", cells[1])) == [
        "measured     t.m  1/5/60  mean 1, 0.05-quantile 1 in [?, 2]"
    ]


def test_thresholds_are_told_line_by_line() -> None:
    passed = (
        Threshold(1, 0.5, NAN, 1.0, True),
        Threshold(1, 0.9, 2.0, 4.0, True),
        Threshold(2, 0.9, 8.0, NAN, True),
        Threshold(3, 0.9, NAN, NAN, True),
        Threshold(4, 0.9, NAN, NAN, False),
        Threshold(5, 0.9, 1.0, 2.0, True),
    )
    cell = counted(1, 2, 0.0, 1.0)
    assert measured(one("frequency", cell, by="k", thresholds=passed))[1] == (
        "             P passes, along x: k=1: 0.5 at 1 or below, 0.9 between 2 and 4; k=2: 0.9 "
        "above 8; k=3: 0.9 not located; k=4: 0.9 nowhere (it falls); 1 more in the report"
    )
    assert measured(one("frequency", cell, thresholds=passed[-1:]))[1] == (
        "             P passes, along x: 0.9 between 1 and 2"
    )


def test_a_chain_says_what_breaks_first_and_how_much_is_undecided() -> None:
    links = (Link("one", "One."), Link("two", "Two."))
    cells = (ChainCell({}, (), 10, (0, 0), 2, 8), ChainCell({}, ("c",), 10, (7, 1), 0, 2))
    assert measured(chain=ChainFinding("t", links, cells)) == [
        "chain        t  all links hold in 8/10, 2 undecided; at c all links hold in 2/10, one "
        "breaks first in 7, two breaks first in 1"
    ]
