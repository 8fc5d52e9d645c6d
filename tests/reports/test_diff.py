"""What changed between two runs: each kind of change is found, and nothing is where nothing is."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reports.diff.compare import ERROR, compare
from reports.diff.lines import told
from tests.reports.conftest import Call

Report = dict[str, Any]


def changed(report: Report, change: Callable[[Report], Any]) -> Report:
    """Return a copy of a report, changed."""
    other = copy.deepcopy(report)
    change(other)
    return other


def claim(report: Report, name: str) -> Any:
    """Return the verdict on a claim of a report, to change."""
    (found,) = [verdict for verdict in report["verdicts"] if verdict["claim"] == name]
    return found


def lines(found: Report) -> str:
    return told(found, ["a", "b"])


def test_a_run_and_itself_differ_in_nothing(report: Report) -> None:
    found = compare(report, report)
    assert found["exit_code"] == 0
    compared = 5  # three universal claims, and one with probability at two points
    assert found["frequencies"] == {"compared": compared, "error": ERROR, "moved": []}
    for name in ("settings", "versions", "theorems", "slopes", "counterexamples"):
        assert found[name] == []
    assert found["claims"] == {"added": [], "removed": [], "restated": []}
    assert found["verdicts"] == {"worse": [], "better": [], "other": []}
    assert lines(found).splitlines()[0] == "No verdict changed."
    assert len(lines(found).splitlines()) == 4


@pytest.mark.parametrize(
    ("one", "other", "way"),
    [
        ("supported", "refuted", "worse"),
        ("supported", "inconclusive", "worse"),
        ("certified", "supported", "worse"),
        ("undecided", "refuted", "worse"),
        ("refuted", "vacuous", "better"),
        ("vacuous", "supported", "better"),
        ("supported", "certified", "better"),
        ("vacuous", "undecided", "other"),
    ],
)
@pytest.mark.parametrize("control", [False, True])
def test_the_way_in_which_a_verdict_changed(
    report: Report, one: str, other: str, way: str, control: bool
) -> None:
    if control:
        way = {one: "worse", other: "better"}.get("refuted", "other")
    name = "always_below" if control else "at_least_zero"

    def with_word(word: str) -> Callable[[Report], None]:
        good = word == "refuted" if control else word in ("supported", "certified")
        return lambda r: claim(r, name).update(verdict=word, as_expected=good)

    found = compare(changed(report, with_word(one)), changed(report, with_word(other)))
    assert [key for key, entries in found["verdicts"].items() if entries] == [way]
    assert found["exit_code"] == (1 if way == "worse" else 3)
    (entry,) = found["verdicts"][way]
    assert entry["claim"] == f"filed.{name}"
    assert (entry["before"]["verdict"], entry["after"]["verdict"]) == (one, other)
    assert f"filed.{name}  {one} -> {other}" in lines(found)


def test_claims_added_removed_and_restated(report: Report) -> None:
    def change(other: Report) -> None:
        other["verdicts"] = [v for v in other["verdicts"] if v["claim"] != "at_least_zero"]
        claim(other, "below_nine_tenths").update(statement="u is below 1.", given=["x"])

    found = compare(report, changed(report, change))
    assert found["exit_code"] == 3
    assert [entry["claim"] for entry in found["claims"]["removed"]] == ["filed.at_least_zero"]
    (restated,) = found["claims"]["restated"]
    assert restated["claim"] == "filed.below_nine_tenths"
    assert [entry["name"] for entry in restated["changes"]] == ["statement", "given"]
    text = lines(found)
    assert "1 claim removed. 1 claim restated." in text
    assert "statement  u is below 0.9. -> u is below 1." in text
    assert "given  nothing -> x" in text
    back = compare(changed(report, change), report)
    assert [entry["claim"] for entry in back["claims"]["added"]] == ["filed.at_least_zero"]


def test_a_claim_tested_at_other_points_says_something_else(report: Report) -> None:
    def change(other: Report) -> None:
        claim(other, "below_nine_tenths")["cells"][1]["point"] = {"n": 7}

    found = compare(report, changed(report, change))
    assert found["frequencies"]["compared"] == 4, "only what is at the same point is compared"
    assert found["claims"]["restated"][0]["changes"] == [
        {"name": "points", "before": [{"n": 2}], "after": [{"n": 7}]}
    ]
    assert "points  1 no more, 1 new" in lines(found)


def test_a_theorem_is_known_by_its_id_wherever_its_file_lies(report: Report) -> None:
    def move(other: Report) -> None:
        for theorem in other["theorems"]:
            theorem["address"] = f"elsewhere/{Path(theorem['address']).name}"
        for verdict in other["verdicts"]:
            verdict["theorem"] = f"elsewhere/{Path(verdict['theorem']).name}"

    found = compare(report, changed(report, move))
    assert found["exit_code"] == 0
    assert [t["changes"][0]["after"] for t in found["theorems"]] == [
        "elsewhere/small.py",
        "elsewhere/false.py",
    ]
    assert [change["name"] for t in found["theorems"] for change in t["changes"]] == ["address"] * 2


def test_theorems_of_one_id_are_told_apart_by_their_address(report: Report) -> None:
    def same_id(other: Report) -> None:
        for theorem in other["theorems"]:
            theorem["id"] = "one"
        for verdict in other["verdicts"]:
            verdict["claim"] = "claim" if "false" in verdict["theorem"] else verdict["claim"]

    one = changed(report, same_id)
    found = compare(one, changed(one, lambda r: claim(r, "claim").update(verdict="vacuous")))
    (entry,) = found["verdicts"]["better"]
    assert entry["claim"].endswith("false.py.claim")


def with_counts(holds: int, in_scope: int) -> Callable[[Report], None]:
    """Return a change of the counts of a with-probability claim at its first point."""

    def change(report: Report) -> None:
        tally = claim(report, "below_nine_tenths")["cells"][0]["tally"]
        tally.update(trials=in_scope, in_scope=in_scope, holds=holds, undecided=0)
        tally["violated"] = in_scope - holds

    return change


@pytest.mark.parametrize(
    ("before", "after", "moved"),
    [
        ((180, 200), (180, 200), False),
        ((180, 200), (900, 1000), False),
        ((180, 200), (170, 200), False),
        ((180, 200), (140, 200), True),
        ((200, 200), (193, 200), False),
        ((200, 200), (190, 200), True),
        ((0, 0), (5, 5), False),
        ((0, 0), (0, 0), False),
        ((10**6, 2 * 10**6), (1_010_000, 2 * 10**6), True),
    ],
)
def test_a_frequency_has_moved_where_chance_does_not_explain_it(
    report: Report, before: tuple[int, int], after: tuple[int, int], moved: bool
) -> None:
    one, other = changed(report, with_counts(*before)), changed(report, with_counts(*after))
    for found in (compare(one, other), compare(other, one)):
        assert bool(found["frequencies"]["moved"]) == moved
        assert found["exit_code"] == 0, "the verdict is the same"
    text = lines(compare(one, other))
    assert ("filed.below_nine_tenths at n = 1" in text) == moved
    assert ("1 number moved by more than chance" in text) == moved


def test_the_test_of_frequencies_alarms_as_rarely_as_it_says() -> None:
    """Under equal probabilities, p-values below a level are at most as frequent as the level."""
    import numpy as np
    from scipy.stats import binom

    from reports.diff.compare import _fisher

    n, p = 30, 0.9
    law = binom.pmf(np.arange(n + 1), n, p)
    values = np.array([[_fisher(a, n, b, n) for b in range(n + 1)] for a in range(n + 1)])
    for level in (0.05, 0.01):
        assert (np.outer(law, law) * (values < level)).sum() <= level


def test_a_universal_claim_is_compared_on_all_its_cells(report: Report) -> None:
    def change(other: Report) -> None:
        claim(other, "always_below").update(holds=300, violated=100)

    found = compare(report, changed(report, change))
    (entry,) = found["frequencies"]["moved"]
    assert (entry["claim"], entry["point"]) == ("filed.always_below", None)
    assert entry["after"] == [300, 400]


def test_measured_frequencies_are_compared_where_both_runs_have_them(report: Report) -> None:
    def with_measure(holds: int) -> Callable[[Report], None]:
        cells = [
            {"point": {"n": n}, "holds": count, "in_scope": 100}
            for n, count in ((1, 50), (2, holds))
        ]
        theorem = report["theorems"][0]["address"]
        found = {"theorem": theorem, "measure": "often", "kind": "frequency", "cells": cells}
        return lambda r: r.update(measures=[found])

    one, other = changed(report, with_measure(50)), changed(report, with_measure(90))
    assert compare(one, {**report, "measures": []})["frequencies"]["compared"] == 5
    found = compare(one, other)["frequencies"]
    assert found["compared"] == 7
    (moved,) = found["moved"]
    assert (moved["claim"], moved["point"]) == ("filed.often", {"n": 2})


@pytest.mark.parametrize("change", [{"statement": "another"}, {"given": ["another"]}])
def test_numbers_of_different_statements_are_not_compared(report: Report, change: Any) -> None:
    one = changed(report, lambda r: claim(r, "at_least_zero").update(slopes=[slope(0.9, 1.0)]))

    def restate(other: Report) -> None:
        claim(other, "at_least_zero").update(slopes=[slope(2.0, 3.0)], holds=0, **change)

    found = compare(one, changed(one, restate))
    assert found["frequencies"]["compared"] == 4
    assert found["slopes"] == []


def slope(low: float | None, high: float | None) -> dict[str, Any]:
    middle = None if low is None or high is None else (low + high) / 2
    ends = {"slope": middle, "low": low, "high": high}
    return {"sweep": "n", "exponent": 1.0, "tolerance": 0.1, **ends}


@pytest.mark.parametrize(
    ("before", "after", "moved"),
    [
        ((0.9, 1.0), (0.95, 1.1), False),
        ((0.9, 1.0), (1.0, 1.1), False),
        ((0.9, 1.0), (1.01, 1.1), True),
        ((0.9, 1.0), (None, None), False),
    ],
)
def test_a_slope_has_moved_where_its_intervals_do_not_overlap(
    report: Report, before: Any, after: Any, moved: bool
) -> None:
    one, other = (
        changed(report, lambda r, s=s: claim(r, "at_least_zero").update(slopes=[slope(*s)]))
        for s in (before, after)
    )
    for found in (compare(one, other), compare(other, one)):
        assert bool(found["slopes"]) == moved
    assert ("Slopes whose intervals do not overlap" in lines(compare(one, other))) == moved


def test_another_exponent_is_another_claim(report: Report) -> None:
    one = changed(report, lambda r: claim(r, "at_least_zero").update(slopes=[slope(0.9, 1.1)]))
    other = copy.deepcopy(one)
    claim(other, "at_least_zero")["slopes"][0]["exponent"] = 2.0
    assert "slope of n  1 ± 0.1 -> 2 ± 0.1" in lines(compare(one, other))


def test_counterexamples_that_are_new_gone_or_others(report: Report) -> None:
    def change(other: Report) -> None:
        entries = claim(other, "shrinks_by_the_same_factor")["counterexamples"]
        entries[0]["margin"] = -9.0
        del entries[1]

    other = changed(report, change)
    there, back = compare(report, other), compare(other, report)
    assert [entry["change"] for entry in there["counterexamples"]] == ["another", "gone"]
    assert [entry["change"] for entry in back["counterexamples"]] == ["another", "new"]
    assert "gone  same_factor.shrinks_by_the_same_factor, worst" in lines(there)
    assert "1 is another than in A" in lines(there)
    assert re.search(r"new   \S+, worst  margin \S+  in scope  \S+\.worst\.json\n", lines(back))


def test_settings_versions_and_time(report: Report) -> None:
    def change(other: Report) -> None:
        other.update(seed=7, wall_time_s=2 * report["wall_time_s"])
        other["versions"].update(numpy="9.9", new="1")

    found = compare(report, changed(report, change))
    assert found["settings"] == [{"name": "seed", "before": 0, "after": 7}]
    assert [entry["name"] for entry in found["versions"]] == ["numpy", "new"]
    assert found["time"]["ratio"] == pytest.approx(2.0)
    assert found["exit_code"] == 0
    for text in ("seed  0 -> 7", "new  none -> 1", "(x 2;"):
        assert text in lines(found)
    assert compare(report, {**report, "wall_time_s": None})["time"]["ratio"] is None


# The command


def test_folders_and_files_are_compared(call: Call, finished: Path, tmp_path: Path) -> None:
    out = finished / "out"
    code, text, err = call("diff", out, out / "report.json")
    assert (code, err) == (0, "")
    assert f"A  {out}  " in text
    assert f"B  {out / 'report.json'}  " in text
    report = json.loads((out / "report.json").read_text())
    claim(report, "at_least_zero").update(verdict="refuted", as_expected=False)
    (tmp_path / "b.json").write_text(json.dumps(report))
    assert call("diff", out, tmp_path / "b.json")[0] == 1
    code, text, _ = call("diff", tmp_path / "b.json", out, "--json")
    assert code == json.loads(text)["exit_code"] == 3
    assert len(json.loads(text)["verdicts"]["better"]) == 1


def test_thresholds_that_moved_are_told_measure_by_measure(report: Report) -> None:
    threshold = {"line": 20, "level": 0.9, "low": 2.0, "high": 8.0, "monotone": True}
    theorem = report["theorems"][0]["address"]
    report["measures"] = [
        {"theorem": theorem, "measure": name, "kind": "frequency", "by": "n", "cells": [],
         "thresholds": [{**threshold}, {**threshold, "line": 50}]}
        for name in ("moved", "stayed")
    ]  # fmt: skip
    assert compare(report, report)["thresholds"] == []

    def change(other: Report) -> None:
        other["measures"][0]["thresholds"][0] |= {"low": 8.0, "high": None}
        other["measures"][1]["thresholds"][0] |= {"low": 3.0}

    found = compare(report, changed(report, change))
    assert [entry["measure"].rpartition(".")[2] for entry in found["thresholds"]] == ["moved"]
    assert found["exit_code"] == 0
    text = lines(found)
    assert "1 threshold moved." in text
    assert "moved, n = 20, 0.9  between 2 and 8 -> above 8" in text
    assert "stayed" not in text


def test_a_shard_is_not_to_be_rebuilt_but_merged(
    call: Call, finished: Path, tmp_path: Path
) -> None:
    shard = tmp_path / "s1"
    small = finished / "small.py"
    assert call("run", small, "--jobs", 1, "--shard", "1/2", "--out", shard)[0] == 0
    code, _, err = call("diff", shard, finished / "out")
    assert code == 2
    assert f"{shard} is shard 1/2, which has no verdicts" in err
    assert "relu-verify merge" in err
    assert "rebuild" not in err
    (tmp_path / "empty").mkdir()
    assert "rebuild it with" in call("diff", tmp_path / "empty", finished / "out")[2]
