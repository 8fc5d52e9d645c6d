"""CSV holds every cell once, in full, whatever names and texts there are."""

from __future__ import annotations

import csv
import io
from typing import Any

from reports.text.table import table


def rows(report: dict[str, Any]) -> list[dict[str, str]]:
    """Return the rows of a report's table, each of as many cells as there are columns."""
    text = table(report)
    lines = list(csv.reader(io.StringIO(text), strict=True))
    assert all(len(line) == len(lines[0]) for line in lines)
    assert "\r" not in text
    return list(csv.DictReader(io.StringIO(text)))


def test_every_cell_of_every_claim_has_a_row(report: dict[str, Any]) -> None:
    found = rows(report)
    cells = [(v, cell) for v in report["verdicts"] for cell in v["cells"]]
    assert len(found) == len(cells) == 7
    for row, (verdict, cell) in zip(found, cells, strict=True):
        assert (row["theorem"], row["claim"]) == (verdict["theorem"], verdict["claim"])
        assert (row["claim_verdict"], row["cell_verdict"]) == (verdict["verdict"], cell["verdict"])
        for name in ("trials", "in_scope", "holds", "violated", "undecided"):
            assert int(row[name]) == cell["tally"][name]
        assert float(row["worst_margin"]) == cell["tally"]["worst_margin"], "in full"
        for name in ("lower_bound", "upper_bound"):
            assert row[name] == ("" if cell[name] is None else repr(cell[name]))
            assert float(row[f"claim_{name}"]) == verdict[name]
        for name, value in cell["point"].items():
            assert float(row[f"point.{name}"]) == value
    assert found[-1]["point.n"] == "", "false.py has other coordinates"
    assert int(found[-1]["search_violated"]) > 0


def test_every_point_of_a_sweep_has_a_row(report: dict[str, Any]) -> None:
    verdict = report["verdicts"][0]
    ends = {"slope": 0.5, "low": 0.4, "high": 0.6, "exponent": 0.5, "tolerance": 0.1}
    series = {"abscissa": [1.0, 2.0], "mean": [3.0, None], "spread": [0.1]}
    points = {"points": [{"n": 1}, {"n": 2}]}
    slope = {"sweep": 'along "n", far', "verdict": "supported", **ends, **series, **points}
    verdict.update(kind="rate", cells=[], slopes=[slope])
    first, second = rows({**report, "verdicts": [verdict]})
    assert first["sweep"] == 'along "n", far'
    assert (first["mean"], first["spread"], first["slope_low"]) == ("3.0", "0.1", "0.4")
    assert (second["point.n"], second["mean"], second["spread"]) == ("2", "", "")


def test_every_cell_of_a_measure_has_a_row(report: dict[str, Any]) -> None:
    common = {"trials": 10, "in_scope": 8, "unknown": 1, "x": 2.5}
    frequency = {**common, "point": {"n": 1}, "holds": 4, "frequency": 0.5, "low": 0.1, "high": 1.0}
    quantiles = [{"level": 0.05, "value": 1.5, "low": None, "high": 2.0}]
    quantity = {**common, "point": {"m": "x"}, "mean": 7.0, "deviation": 0.5}
    quantity["quantiles"] = quantiles
    names = {"theorem": "t", "full_id": "t.m"}
    report["measures"] = [
        {**names, "measure": "often", "kind": "frequency", "cells": [frequency]},
        {**names, "measure": "large", "kind": "quantiles", "cells": [quantity]},
    ]
    often, large = rows(report)[-2:]
    assert (often["claim"], often["kind"], often["holds"]) == ("often", "frequency", "4")
    assert (often["lower_bound"], often["upper_bound"], often["abscissa"]) == ("0.1", "1.0", "2.5")
    assert (large["point.m"], large["mean"], large["spread"]) == ("x", "7.0", "0.5")
    assert large["quantile.0.05"] == "1.5"
    assert often["quantile.0.05"] == ""


def test_names_of_any_kind_break_no_row(report: dict[str, Any]) -> None:
    hostile = 'a,"b"\nc;\t=1+1'
    for verdict in report["verdicts"]:
        verdict.update(theorem=hostile, claim=hostile)
        for cell in verdict["cells"]:
            cell["point"] = {hostile: hostile, "trials": 3}
    found = rows(report)
    assert len(found) == 7
    assert {row["theorem"] for row in found} == {hostile}
    assert {row[f"point.{hostile}"] for row in found} == {hostile}
    assert {row["point.trials"] for row in found} == {"3"}
    assert {row["trials"] for row in found} == {"200"}


def test_a_report_without_verdicts_is_a_header(report: dict[str, Any]) -> None:
    assert table({**report, "verdicts": []}).startswith("theorem,claim,kind,expected,")
    assert rows({**report, "verdicts": []}) == []
