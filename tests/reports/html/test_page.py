"""The model of a page: which controls are told as limits of the theorems."""

import copy

from reports.html.page import page_of
from reports.html.render import render
from tests.reports.sample import COUNTEREXAMPLE, full, report, verdict


def control(name, *, state="violated", word="refuted", **changes):
    """Return a control whose counterexample has a hypothesis of the theorem in this state."""
    example = copy.deepcopy(COUNTEREXAMPLE)
    example["severity"]["assumptions"][1]["state"] = state
    shown = [example] if word == "refuted" else []
    told = {"expected": "refuted", "because": "it is false", "counterexamples": shown}
    return verdict(name, word, **{**told, **changes})


def limits(found):
    return [entry["claim"] for entry in page_of(found)["limits"]]


def test_controls_beyond_the_hypotheses_are_the_limits_of_a_theorem_without_a_chain():
    verdicts = [
        verdict("holds"),
        control("outside"),
        control("inside", state="holds"),
        control("open", state="unknown"),
        control("missed", word="supported"),
    ]
    found = report(verdicts=verdicts, rasters=[])
    assert limits(found) == ["outside"]
    assert "Where their assumptions are not met theorems fail, as controls show" in render(found)


def test_an_assumption_of_the_claim_alone_is_no_limit_of_the_theorem():
    alone = control("alone", state="holds")
    alone["counterexamples"][0]["severity"]["assumptions"][0]["state"] = "violated"
    assert limits(report(verdicts=[alone], rasters=[])) == []


def test_where_there_is_a_chain_the_controls_that_break_it_are_the_limits():
    found = full()
    found["verdicts"].append(control("beside_the_chain"))
    assert limits(found) == ["small_step"]
