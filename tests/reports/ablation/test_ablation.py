"""What is told of an ablation: report, text, table, page and figures; and the command."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from properties.ablate import EXAMPLES, ablate
from properties.ablation.findings import VERDICTS
from reports.ablation import figures, lines, page, words
from reports.ablation.answer import beyond, exit_code, headline, judged_in_no_row, sentence
from reports.ablation.lines import time_left
from reports.ablation.summary import summarise
from reports.ablation.table import table
from reports.commands.ablate import ablate as command
from tests.properties.ablation import toy
from tests.reports.conftest import Call
from verify.claims import Assumption, Universal
from verify.errors import InputError


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    found = ablate(toy.theorem, examples=40)
    return summarise(toy.theorem, found, 40, 0, "relu-verify ablate toy.py")[0]


def changed(report: dict[str, Any], **entries: Any) -> dict[str, Any]:
    """Return a copy of a report with other entries at its top."""
    return {**json.loads(json.dumps(report)), **entries}


def test_the_report_is_json_and_answers_in_a_sentence(report: dict[str, Any]) -> None:
    json.dumps(report, allow_nan=False)
    assert report["sentence"] == (
        "No universal claim is violated with nothing dropped; load-bearing: a_is_small, b_is_small "
        "and q_is_zero; not needed as far as found: z_is_small; vacuous: u_is_small."
    )
    assert report["headline"] == (
        "Of 5 assumptions 3 are load-bearing, 1 is not needed as far as found and 1 was never "
        "violated alone; no universal claim is violated with nothing dropped."
    )
    assert report["exit_code"] == 0
    assert report["certificates"] == ["sum_is_certainly_small"]
    assert [one["id"] for one in report["not_ablated"]] == ["one", "sum_is_tiny"]
    assert report["replaced"] == []
    assert report["baseline"]["verdict"] == "no universal claim is violated with nothing dropped"
    told = {one["claim"]: one["verdict"] for one in report["baseline"]["claims"]}
    assert told["sum_is_small"] == "no violation found"
    assert told["usually"] == "not found below its probability"


def test_a_row_tells_effort_nearest_and_worst(report: dict[str, Any]) -> None:
    row = report["assumptions"][0]
    assert (row["id"], row["leading"], row["axes"]) == ("a_is_small", "sum_is_small", ["a"])
    effort = row["effort"]
    assert 0 < effort["tested"] <= effort["examples"] - effort["rest_failed"] - effort["held"]
    assert effort["furthest"] <= effort["closest"] < 0
    (claim,) = [one for one in row["claims"] if one["claim"] == "sum_is_small"]
    for shown in (claim["nearest"], claim["worst"]):
        assert shown["where"]["a"] - 0.5 == pytest.approx(-shown["outside"])
        assert shown["first_step"] == 3
    assert claim["worst"]["margin"] == claim["least_margin"] <= claim["nearest"]["margin"] < 0
    assert len(row["scatter"]["outside"]) == effort["tested"]


def row_of(name: str, verdict: str) -> dict[str, Any]:
    return {"id": name, "verdict": verdict}


@pytest.mark.parametrize(
    ("violations", "rows", "code"),
    [
        ([], [row_of("a", "load-bearing"), row_of("b", "not needed as far as found")], 0),
        ([], [row_of("a", "needed to state the claim")], 0),
        ([], [row_of("a", "load-bearing"), row_of("b", "vacuous")], 0),
        ([], [row_of("a", "vacuous"), row_of("b", "vacuous")], 3),
        ([], [row_of("a", "undecided"), row_of("b", "load-bearing")], 3),
        ([], [row_of("a", "undecided")], 3),
        ([{"claim": "c"}], [row_of("a", "vacuous")], 1),
    ],
)
def test_exit_codes(violations: list[Any], rows: list[Any], code: int) -> None:
    assert exit_code(violations, rows) == code


def test_a_violation_in_scope_is_the_whole_sentence() -> None:
    violations = [{"claim": "c"}, {"claim": "c"}]
    for said in (sentence, headline):
        told = said(violations, [row_of("a", "load-bearing")], [claim_of("c")])
        assert told == "Violated with nothing dropped: c."


def claim_of(name: str, **entries: Any) -> dict[str, Any]:
    return {"id": name, "kind": "universal", "probability": None, "fails": None, **entries}


def test_claims_that_fail_with_nothing_dropped_are_told_together() -> None:
    fails = {"stated": "at n = 20 to 50", "at": "n = 2"}
    usual = {"kind": "probable", "probability": 0.95, "fails": fails}
    claims = [claim_of("a"), claim_of("b", **usual), claim_of("c", **usual)]
    clause = (
        "b and c, which are stated with probability ≥ 0.95 at n = 20 to 50, fall below it with "
        "nothing dropped at n = 2: they are judged in no row"
    )
    assert judged_in_no_row(claims) == [clause]
    assert sentence([], [row_of("x", "load-bearing")], claims) == (
        f"No universal claim is violated with nothing dropped; {clause}; load-bearing: x."
    )
    (one,) = judged_in_no_row([claim_of("u", fails={"stated": "", "at": "n = 3"})])
    assert one == "u is violated with nothing dropped at n = 3: it is judged in no row"


@pytest.mark.parametrize(
    ("here", "expected"),
    [
        ({"n": 2, "c": 0.5}, {"stated": "at n = 20 to 50", "at": "n = 2"}),
        ({"n": 30, "c": 2.0}, {"stated": "at c = 0.5", "at": "c = 2"}),
        ({"n": 30, "kind": "flat"}, {"stated": "at kind = even or odd", "at": "kind = flat"}),
        ({"n": 30, "only": 1}, {"stated": "at points of its own", "at": "n = 30, only = 1"}),
    ],
)
def test_a_point_beyond_those_of_a_claim_is_told_by_what_is_beyond(
    here: dict[str, Any], expected: dict[str, str]
) -> None:
    stated = [{"n": 20, "c": 0.5, "kind": "even", "only": 1}, {"n": 50, "c": 0.5, "kind": "odd"}]
    assert beyond(stated, here) == expected


def test_text_has_a_row_an_assumption_and_a_sign_a_claim(report: dict[str, Any]) -> None:
    text = lines.told(report)
    row = next(line for line in text.splitlines() if line.startswith("a_is_small"))
    assert re.search(r"load-bearing +● ○ ●  \d+ of \d+ instances tested, outside by", row)
    assert "of sum_is_small: nearest at a = 0.5" in text
    assert "200 of 200 fresh trials there, probability 0.981 to 1.000" in text
    assert "u_is_small                  vacuous                    – – –  no axis" in text
    assert (
        "Left out of every scope, for it implies what is claimed: sum_is_certainly_small." in text
    )
    assert "VIOLATED" not in text
    assert text.endswith(report["sentence"])


def test_violations_in_scope_come_first(report: dict[str, Any]) -> None:
    violation = {"claim": "c", "met_while_dropping": "a", "margin": -0.5, "file": "f.json"}
    text = lines.told(changed(report, in_scope_violations=[violation]))
    assert text.startswith(
        "VIOLATED WITH NOTHING DROPPED\n  c: margin −0.5, f.json (met while a was dropped, which "
    )
    html = page.render(changed(report, in_scope_violations=[violation], exit_code=1))
    assert html.index('id="violations"') < html.index('id="assumptions"')
    assert 'class="answer bad"' in html


def test_a_claim_that_fails_with_nothing_dropped_counts_in_no_row() -> None:
    def usually_not(trial: Any) -> Any:
        """u ≤ ½ with probability .9, which is false."""
        from verify import Margin

        return Margin(trial.problem["u"], 0.5)

    from verify import Probable

    claims = (toy.theorem.claims[0], Probable(usually_not, probability=0.9))
    theorem = replace(toy.theorem, claims=claims, controls=())
    found = ablate(theorem, examples=20)
    told, _ = summarise(theorem, found, 20, 0)
    fails = {claim["id"]: claim["fails"] for claim in told["claims"]}
    assert fails["sum_is_small"] is None
    assert fails["usually_not"]["at"]
    assert {one["verdict"] for one in told["baseline"]["claims"]} == {
        "no violation found",
        "below its probability with nothing dropped",
    }
    assert told["in_scope_violations"] == []
    assert {row["id"]: row["verdict"] for row in told["assumptions"]}["z_is_small"] == (
        "not needed as far as found"
    )
    assert words.signs(told, told["assumptions"][0]) == ["●", "!"]
    assert "! judged in no row (see below)" in lines.told(told)
    assert lines.told(told).count("usually_not, which is stated with probability ≥ 0.9 at") == 1
    assert "Usually_not, which is stated with probability ≥ 0.9 at" in page.render(told)
    assert "fails with nothing dropped" not in lines.told(told) + page.render(told)


def test_the_table_has_a_row_a_claim_and_assumption(report: dict[str, Any]) -> None:
    rows = list(csv.DictReader(io.StringIO(table(report))))
    assert len(rows) == 3 * 6
    assert [row["dropped"] for row in rows[:4]] == ["", "", "", "a_is_small"]
    first = rows[3]
    claim = report["assumptions"][0]["claims"][0]
    assert float(first["worst_margin"]) == claim["worst"]["margin"]
    assert first["nearest_where"] == f"a={claim['nearest']['where']['a']}"
    assert first["worst_violated"] == first["worst_in_scope"] == "200"


def test_the_page_is_self_contained_and_says_everything(report: dict[str, Any]) -> None:
    html = page.render(report)
    assert html == page.render(json.loads(json.dumps(report)))
    assert "<script" not in html
    assert not re.search(r'(?:src|href)="(?!#|data:)', html)
    for row in report["assumptions"]:
        assert f'id="without-{row["id"]}"' in html
        for one in row["claims"]:
            for shown in filter(None, (one["nearest"], one["worst"])):
                assert shown["file"] in re.sub(r"<wbr\s*/?>", "", html)
    assert html.count("<figure") == 3


def test_the_page_escapes_what_theorems_say(report: dict[str, Any]) -> None:
    claims = [{**claim, "statement": "<b>x</b>"} for claim in report["claims"]]
    html = page.render(changed(report, claims=claims))
    assert "<b>x</b>" not in html
    assert "&lt;b&gt;x&lt;/b&gt;" in html


def test_a_page_of_another_version_is_refused(report: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="schema_version=2"):
        page.render(changed(report, schema_version=2))


def test_a_figure_for_each_assumption_that_bears_a_claim(report: dict[str, Any]) -> None:
    drawn = figures.captioned(report)
    assert [one["anchor"] for one in drawn] == [
        "outside-a_is_small",
        "outside-b_is_small",
        "outside-q_is_zero",
    ]
    row = report["assumptions"][0]
    violated = sum(outcome == "violated" for outcome in row["scatter"]["outcomes"])
    assert (
        f"sum_is_small is violated on {violated} of {row['effort']['tested']}"
        in (drawn[0]["caption"][0])
    )


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e9])
def test_dots_are_drawn_on_any_scale(scale: float) -> None:
    far = np.geomspace(1e-3, 1, 600) * scale
    dots = [(float(x), float(1 - 2 * x / scale), "holds") for x in far]
    dots.append((scale, -1e12, "violated"))
    svg = figures.scatter(dots, name="f", label="Dots.")
    assert svg.startswith("<svg")
    assert "nan" not in svg
    assert len(figures._thinned(dots[:-1])) <= figures.MOST_DOTS


def test_every_verdict_has_a_sign() -> None:
    assert set(words.SIGNS) == set(VERDICTS)
    assert len(set(words.SIGNS.values()) | {words.FAILING}) == len(VERDICTS) + 1


def test_the_command_writes_tells_and_goes_on(tmp_path: Path, call: Call) -> None:
    file = tmp_path / "toy.py"
    file.write_text(toy.HERE.read_text(encoding="utf-8"), encoding="utf-8")
    out = tmp_path / "out"
    asked = ("ablate", file, "--examples", 30, "--jobs", 1, "--out", out)
    code, printed, said = call(*asked)
    report = json.loads((out / "ablation.json").read_text(encoding="utf-8"))
    assert code == report["exit_code"] == 0
    assert report["sentence"] in printed
    assert f"Page: {out / 'ablation.html'}" in said
    assert (out / "ablation.csv").is_file()
    nearest = report["assumptions"][0]["claims"][0]["nearest"]["file"]
    assert call("replay", out / nearest)[0] == 0

    stale = out / "counterexamples" / "toy.gone.ablated.a.worst.json"
    stale.write_text("{}", encoding="utf-8")
    again, as_json, _ = call(*asked, "--json")
    assert again == 0
    told = json.loads(as_json)
    assert told | {"command": ""} == report | {"command": ""}
    assert not stale.exists()


def test_the_default_effort_is_that_of_the_search() -> None:
    (examples,) = [p for p in command.params if p.name == "examples"]
    assert examples.default == EXAMPLES


def test_an_unknown_theorem_is_told(call: Call) -> None:
    code, _, said = call("ablate", "no_such_theorem")
    assert code == 2
    assert "no_such_theorem" in said


def test_a_violation_that_no_coordinate_explains_is_told_by_its_instance() -> None:
    shown = {"outside": -7e-4, "where": {}, "coordinate": ""}
    seeded = {**shown, "recipe": {"point": {"n": 3, "c": 0.5}, "seed": 17}}
    assert words.where(seeded) == "n = 3, c = 0.5: seed 17 (by 7×10⁻⁴)"
    drawn = {**shown, "recipe": {"point": {"n": 3}, "root_seed": 0, "block": 2, "trial": 5}}
    assert words.where(drawn) == "n = 3: root seed 0, block 2, trial 5 (by 7×10⁻⁴)"
    inside = {**seeded, "where": {"c": 0.5}}
    assert words.where(inside) == words.where(seeded)
    explained = {**inside, "coordinate": "c = 0.5, outside the range tested, 0.1 to 0.4"}
    assert words.where(explained) == "c = 0.5 (by 7×10⁻⁴)"


def test_an_assumption_without_axes_names_the_instance() -> None:
    def u_is_below(trial: Any) -> Any:
        """u ≤ ¾."""
        from verify import Margin

        return Margin(trial.problem["u"], 0.75)

    def u_is_small_enough(trial: Any) -> Any:
        """u ≤ .9."""
        from verify import Margin

        return Margin(trial.problem["u"], 0.9)

    claims = (Universal(u_is_small_enough),)
    theorem = replace(toy.theorem, claims=claims, hypotheses=(Assumption(u_is_below),), controls=())
    told, _ = summarise(theorem, ablate(theorem, examples=20), 20, 0)
    (row,) = told["assumptions"]
    assert row["verdict"] == "load-bearing"
    nearest = words.leading(row)["nearest"]
    assert nearest["coordinate"] == ""
    assert re.search(r"nearest at a = \S+, b = \S+, .*: (root )?seed \d+", lines.told(told))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (-24.93, "margin −24.9"),
        (-1.123e16, "violated (margin −1.1×10¹⁶)"),
        (None, "violated (margin —)"),
    ],
)
def test_margins_out_of_all_proportion_are_told_by_their_size(
    value: float | None, expected: str
) -> None:
    assert words.margin({"margin": value}) == expected


def test_a_huge_margin_is_explained(report: dict[str, Any]) -> None:
    assert not any("huge" in note for note in words.notes(report))
    told = changed(report)
    words.leading(told["assumptions"][0])["worst"]["margin"] = -1e12
    assert any("huge" in note for note in words.notes(told))


def rated(violated: int, undecided: int, rare: bool) -> dict[str, Any]:
    rate = {"violated": violated, "undecided": undecided, "in_scope": 194, "low": 0, "high": 0.0188}
    return {"rare": rare, "violated": 1, "tested": 545, "worst": {"severity": {"rate": rate}}}


def test_rates_tell_undecided_trials_and_what_is_rare() -> None:
    assert words.rate(rated(111, 0, False)) == (
        "111 of 194 fresh trials there, probability 0.000 to 0.019"
    )
    assert words.rate(rated(111, 33, False)) == (
        "111 (33 more undecided) of 194 fresh trials there, probability 0.000 to 0.019"
    )
    assert words.rate(rated(0, 0, True)) == (
        "rare: met once on 545 instances, and in none of 194 fresh trials there, probability "
        "0.000 to 0.019"
    )


def test_instances_that_leave_a_claim_open_are_told_in_its_row(report: dict[str, Any]) -> None:
    assert "undecided in" not in lines.told(report)
    found = changed(report)
    row = found["assumptions"][0]
    first, second, third = row["claims"]
    assert (first["verdict"], second["verdict"]) == ("load-bearing", "not needed as far as found")
    first |= {"tested": 438, "undecided": 56}
    second |= {"tested": 438, "undecided": 3, "refused": 256}
    third |= {**second, "claim": third["claim"]}
    said = "claims 2 and 3 undecided in 3 and not stated in 256 of 438"
    assert words.left_open(found, row) == said
    assert f"{said}\n" in lines.told(found)
    assert said in page.render(found)
    assert words.left_open(found, found["assumptions"][1]) == ""


def test_what_is_rare_is_said_beside_the_verdict() -> None:
    def hardly(trial: Any) -> Any:
        """u ≤ .9985 where a > ½: three in two thousand violate it."""
        from verify import Margin

        u, a = trial.problem["u"], trial.problem["a"]
        return Margin(np.where((u > 0.9985) & (a > 0.5), 2.0, 0.0), 1.0)

    claims = (Universal(hardly),)
    theorem = replace(toy.theorem, claims=claims, hypotheses=(toy.A,), controls=())
    told, _ = summarise(theorem, ablate(theorem, examples=60), 60, 0)
    (row,) = told["assumptions"]
    assert row["rare"]
    text = lines.told(told)
    assert re.search(r"^a_is_small +load-bearing, rarely ", text, re.M)
    assert "rare: met " in text
    assert "load-bearing, rarely" in page.render(told)


def test_what_claims_are_given_beside_the_hypotheses_is_told() -> None:
    claims = (
        Universal(toy.sum_is_small, given=(toy.A, toy.U)),
        Universal(toy.ratio_is_small, given=(toy.U, toy.CERTIFICATE)),
    )
    theorem = replace(toy.theorem, claims=claims, hypotheses=(toy.A, toy.Q), controls=())
    told, _ = summarise(theorem, ablate(theorem, examples=10), 10, 0)
    assert told["replaced"] == [
        {
            "id": "u_is_small",
            "statement": "u ≤ 1.",
            "claims": ["sum_is_small", "ratio_is_small"],
        }
    ]
    assert "stand in its place:\n  u_is_small (of claims 1 and 2)\n" in lines.told(told)
    assert "(of claims 1 and 2): u ≤ 1." in page.render(told)


def test_the_time_that_is_left_is_estimated_after_the_first_search() -> None:
    assert time_left(9.0, 6, 2, 150) == ""
    assert time_left(10.0, 6, 2, 150) == (
        "nothing dropped took 10 s; 6 searches are left, about 30 s if each takes as long, 2 at "
        "once; --examples 30 takes less"
    )
    assert "about 80 s" in time_left(20.0, 7, 2, 150)
    assert "--examples" not in time_left(40.0, 1, 1, 4)
