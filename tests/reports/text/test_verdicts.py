"""The line of a verdict, and its row in tables: what decided it, and nothing that contradicts."""

from __future__ import annotations

import re

import pytest

from reports.html.render import render
from reports.text.junit import junit
from reports.text.markdown import verdict_table
from reports.text.verdicts import counterexample_lines, verdict_line
from reports.typography import bound_words
from tests.reports.sample import COUNTEREXAMPLE, SEARCHED, SLOPE, cell, report, verdict

FOUND = {**SEARCHED, "in_scope": 563, "violated": 357, "undecided": 0, "worst_margin": -0.27}


@pytest.mark.parametrize("told", [verdict_line, lambda refuted: verdict_table([refuted])])
def test_what_a_search_alone_refutes_has_no_probability(told) -> None:
    line = told(verdict("false", "refuted", hunted=FOUND))
    assert "357 of 563 searched examples in scope violate it" in line
    assert not set("≤≥") & set(line)
    assert "not as expected" in line


def test_what_a_search_alone_refutes_may_have_no_drawn_trial_in_scope() -> None:
    nothing = {"in_scope": 0, "holds": 0, "violated": 0, "worst_margin": None}
    row = verdict_table([verdict("false", "refuted", hunted=FOUND, **nothing)])
    assert "357 of 563 searched examples in scope violate it" in row


@pytest.mark.parametrize("told", [verdict_line, lambda refuted: verdict_table([refuted])])
def test_what_drawn_trials_refute_has_an_upper_bound(told) -> None:
    drawn = {"holds": 190, "violated": 10, "worst_margin": -0.1, "upper_bound": 0.97621}
    line = told(verdict("false", "refuted", hunted=FOUND, **drawn))
    assert "P ≤ 0.9763" in line
    assert "≥" not in line
    assert "searched" not in line


@pytest.mark.parametrize("told", [verdict_line, lambda one: verdict_table([one])])
def test_trials_that_are_undecided_are_told_beside_the_bound_that_they_weaken(told) -> None:
    drawn = {"holds": 0, "violated": 144, "worst_margin": -0.1, "upper_bound": 0.4118}
    line = told(verdict("false", "refuted", expected="refuted", undecided=56, **drawn))
    assert "56 undecided" in line
    assert "undecided" not in told(verdict("false", "refuted", expected="refuted", **drawn))


def test_tables_of_the_page_tell_the_undecided_trials_too() -> None:
    some = verdict("false", "refuted", expected="refuted", holds=0, violated=144, undecided=56)
    page = render(report(verdicts=[verdict("a"), some], rasters=[]))
    table = page.partition("All controls, which must be refuted</caption>")[2]
    assert "56 undecided" in table.partition("</table>")[0]
    claims = page.partition("Holds / in scope / trials</th>")[2].partition("</table>")[0]
    assert "undecided" not in claims


def rate(*slopes):
    return verdict("scales", kind="rate", cells=[], slopes=list(slopes), hunted=None)


def test_slopes_are_told_with_what_is_claimed_and_against_what() -> None:
    line = verdict_line(rate(SLOPE))
    found = "slopes 0.4973 in [0.4958, 0.4988], claimed 0.5 ± 0.01 against n/‖λ‖₁  "
    assert found in line
    two = verdict_line(rate(SLOPE, {**SLOPE, "slope": 0.5}))
    assert "0.4988]; 0.5000 in [0.4958, 0.4988], claimed 0.5 ± 0.01 against n/‖λ‖₁  " in two
    assert two.count("claimed") == 1
    nil = verdict_line(rate({**SLOPE, "slope": -1e-6, "low": -2e-5, "high": 1e-6}))
    assert "slopes 0.0000 in [0.0000, 0.0000]" in nil


def test_sweeps_of_different_laws_are_each_told_with_their_own() -> None:
    other = {**SLOPE, "exponent": 1.0, "against": "The number n", "slope": None}
    line = verdict_line(rate(SLOPE, other, {**other, "against": ""}))
    assert (
        "slopes 0.4973 in [0.4958, 0.4988], claimed 0.5 ± 0.01 against n/‖λ‖₁; no slope, claimed 1 "
        "± 0.01 against the number n; no slope, claimed 1 ± 0.01  "
    ) in line


def test_pages_and_markdown_say_against_what_too() -> None:
    words = bound_words(rate(SLOPE)).replace("\N{NO-BREAK SPACE}", " ")
    assert words == "slope 0.4973 [0.4958, 0.4988], claimed 0.5 ± 0.01 against n/‖λ‖₁"
    page = render(report(verdicts=[rate(SLOPE)], rasters=[]))
    assert page.count("0.01 against n/‖λ‖<sub>1</sub>") >= 2
    several = bound_words(rate(SLOPE, SLOPE))
    assert several.endswith("against n/‖λ‖₁ (furthest of 2 sweeps)")


def test_the_file_of_a_counterexample_to_a_claim_is_told_with_what_replays_it() -> None:
    worst = {**COUNTEREXAMPLE, "kind": "worst", "file": "counterexamples/a.b.worst.json"}
    told = counterexample_lines(verdict("a", "refuted", counterexamples=[worst]), "my runs/1/")
    file = "my runs/1/counterexamples/a.b.worst.json"
    assert told == [f"  worst counterexample: {file}   (relu-verify replay '{file}')"]
    unsure = {**worst, "summary": {"rounding": "maybe nothing"}}
    told = counterexample_lines(verdict("a", "refuted", counterexamples=[unsure]), "my runs/1/")
    assert told[1:] == ["  it may be rounding: maybe nothing"]


def test_nothing_is_told_of_counterexamples_to_controls_nor_of_none() -> None:
    control = verdict("a", "refuted", expected="refuted", counterexamples=[COUNTEREXAMPLE])
    assert counterexample_lines(control, "out") == []
    assert counterexample_lines(verdict("a"), "out") == []


NO_BOUND = dict.fromkeys(("lower_bound", "upper_bound", "confidence"))
LISTED = "holds on 4 of 4 problems (200 rescalings of each)"


def listed(**changes):
    """A claim about problems that have a cell each."""
    cells = [cell(bounded=False, gamma=gamma) | {"copies": "rescalings"} for gamma in (1, 2)]
    told = {"checked": LISTED, "detail": LISTED, "cells": cells, **NO_BOUND}
    return verdict("of_a_list", "certified", **{**told, **changes})


def in_junit(told) -> str:
    return junit(report(verdicts=[told], rasters=[]))


@pytest.mark.parametrize(
    "told", [verdict_line, bound_words, lambda found: verdict_table([found]), in_junit]
)
def test_of_a_list_of_problems_it_is_said_on_how_many_and_no_probability(told) -> None:
    text = told(listed())
    assert "holds on 4 of 4 problems (200 rescalings of each)" in text
    assert not set("≥≤") & set(text)
    both = told(listed(lower_bound=0.9951, upper_bound=1.0))
    assert "P ≥ 0.9951" in both
    assert LISTED in both


def test_a_page_says_so_too_without_a_confidence() -> None:
    page = render(report(verdicts=[listed()], measures=[], rasters=[]))
    assert f"<dt>Bound</dt><dd>{LISTED}</dd>" in page
    assert not re.search(r"P ≥ [01]", page)


def test_a_violated_problem_of_a_list_is_told() -> None:
    told = "violated on 1 of 4 problems (200 rescalings of each)"
    found = listed(verdict="refuted", violated=200, checked=told)
    assert told in verdict_line(found)
    assert told in bound_words(found)


def test_a_slope_through_single_problems_is_told_without_interval() -> None:
    one = rate({**SLOPE, "copies": "copies"})
    for told in (verdict_line(one), bound_words(one)):
        assert "0.4973" in told
        assert "one problem a point" in told
        assert "0.4958" not in told
