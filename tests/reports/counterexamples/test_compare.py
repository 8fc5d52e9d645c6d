"""What is recorded beside the exact numbers is compared too, by `replay --exact` and by `pin`."""

import json
from dataclasses import replace

import pytest

from reports.counterexamples.compare import compared
from tests.properties.checkers.records import changed
from tests.properties.seeking.toys import numbers_theorem
from verify import counterexample
from verify.confirm import confirm
from verify.counterexample import Counterexample, captured, content_of

THEOREM = """
from tests.properties.seeking.toys import *

theorem = numbers_theorem()
"""
RECIPE = {"values": {"n": 2, "numbers": [4, -4]}}
WITHOUT = ("all_are_positive",)
CLAIM = "squares_are_subadditive"


@pytest.fixture
def record(tmp_path, monkeypatch):
    """Write few.py; return the content of a file of an exact counterexample to it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "few.py").write_text(THEOREM)
    known = numbers_theorem()
    example = captured(known, known.claim(CLAIM), "small", RECIPE, -2.0, without=WITHOUT, seed=7)
    found = confirm(known, example)
    assert found.outcome == "exact", found.reason
    named = replace(found.example, theorem="few.py", theorem_file=str(tmp_path / "few.py"))
    return json.loads(json.dumps(content_of(named)))


def test_what_is_as_recorded_is_told_with_what_is_not_computed_again(record, call, tmp_path):
    (tmp_path / "it.json").write_text(json.dumps(record))
    code, out, _ = call("replay", "it.json", "--exact")
    assert code == 0, out
    assert "  Every recorded number that can be computed again is the same.\n" in out
    assert "  Not computed again: the seed of the search.\n" in out
    assert call("pin", "it.json")[0] == 0


FORGED = [
    (("statement",), "All is well.", "statement: stored All is well., today The sum of the"),
    (("margin",), -0.5, "margin: stored -0.5, today -2.0"),
    (("facts", "problem"), [1.0, -3.0], "facts.problem[1]: stored -3.0, today -1.0"),
    (("severity", "in_scope"), True, "severity.in_scope: stored True, today False"),
    (("severity", "margin"), -3.0, "severity.margin: stored -3.0, today -2.0"),
    (("severity", "assumptions", 0, "margin"), 5.0, "severity.assumptions[0].margin: stored 5.0"),
    (("exact", "problem", "numbers", 0), "2", "problem.numbers[0]: stored 2, today 1"),
]


@pytest.mark.parametrize(("path", "value", "said"), FORGED)
def test_what_is_recorded_and_does_not_come_out_is_named(record, call, tmp_path, path, value, said):
    (tmp_path / "it.json").write_text(json.dumps(changed(record, path, value)))
    code, out, _ = call("replay", "it.json", "--exact")
    assert code == 1, out
    assert f"    {said}" in out
    code, out, err = call("pin", "it.json")
    assert code == 2
    assert f"differs from what comes out today ({said}" in err
    assert not (tmp_path / "few.pinned").exists()


def test_floating_point_that_rounds_otherwise_is_the_same():
    known = numbers_theorem()
    example = captured(known, known.claim(CLAIM), "small", RECIPE, -2.0, without=WITHOUT)
    found = confirm(known, example)
    nearly = replace(found.example, margin=-2.0 * (1 + 1e-9))
    assert compared(known, nearly, found) == compared(known, found.example, found)
    assert compared(known, nearly, found).other == ()
    assert compared(known, replace(nearly, margin=-2.001), found).other != ()


def test_a_fact_that_nothing_computes_again_is_named():
    known = numbers_theorem()
    example = captured(known, known.claim(CLAIM), "small", RECIPE, -2.0, without=WITHOUT)
    found = confirm(known, replace(example, facts={**example.facts, "weather": "fine"}))
    assert compared(known, found.example, found).other == ()
    assert compared(known, found.example, found).not_again == ("facts.weather",)


def test_a_file_of_version_1_has_less_to_compare():
    known = numbers_theorem()
    bare = Counterexample("numbers", CLAIM, known.claim(CLAIM).statement, "small", RECIPE, -2.0)
    found = confirm(known, replace(bare, without=WITHOUT))
    assert compared(known, replace(bare, without=WITHOUT), found).other == ()


def test_the_texts_of_others_stay_on_their_line(record, call, tmp_path):
    facts = {"a\nb": "c\r\nd\u2028e\x1b[2J"}
    other = changed(record, ("statement",), "It says\nThe counterexample is genuine.\t")
    other = changed(other, ("facts",), facts)
    (tmp_path / "it.json").write_text(json.dumps(other))
    for flags in ([], ["--exact"]):
        _, out, _ = call("replay", "it.json", *flags)
        assert "  It says\\nThe counterexample is genuine.\\t\n" in out
        assert "  a\\nb: c\\r\\nd\\u2028e\\u001b[2J\n" in out
    counterexample.write(counterexample.read(tmp_path / "it.json"), tmp_path / "a\nb.json")
    (tmp_path / "x\ny.json").write_text(json.dumps(record))
    code, out, _ = call("pin", "x\ny.json")
    assert code == 0
    assert out.startswith("Pinned: ")
    assert "x\\ny.json\n" in out
    _, out, _ = call("pin", "--list", "few.py")
    assert out == f"x\\ny: few.py: {CLAIM} without all_are_positive (exact)\n"


def test_an_error_is_one_line_whatever_it_names(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a\nrelu-verify: all is well.json").write_text("{}")
    code, _, err = call("replay", "a\nrelu-verify: all is well.json")
    assert code == 2
    assert err.startswith("relu-verify: a\\nrelu-verify: all is well.json is not")
    assert err.count("\n") == 1
