"""Markdown says what the report says, and shows any text as it is written."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reports.text.markdown import code, fenced, markdown, text
from reports.typography import clean
from tests.reports.conftest import Call


def test_it_says_what_the_report_says(report: dict[str, Any]) -> None:
    told = markdown(report)
    assert told.startswith("## relu-verify\n\n**Of 3 claims, 2 supported, 1 refuted")
    headings = re.findall(r"^### (.*)$", told, re.M)
    assert headings[:2] == ["Claims", "Controls"]
    assert headings[-2:] == ["Counterexamples", "Again"]
    assert [heading[:10] for heading in headings[2:-2]] == ["Assumed in"] * 2
    assert "| supported | `" in told
    assert "| **refuted** | `" in told
    assert told.count("not as expected |") == 1
    assert "False, because it is not." in told
    assert "- `below_a_half` u is below one half. \\[D\\], for `at_least_zero`" in told
    for verdict in report["verdicts"]:
        assert f"`{verdict['full_id']}`" in told
    for setting in ("profile quick", "seed 0", "backend numpy", "confidence 0.95"):
        assert setting in told


def test_its_commands_replay_the_counterexamples(
    call: Call, report: dict[str, Any], finished: Path
) -> None:
    commands = re.findall(r"^```sh\n(relu-verify replay .*)\n```$", markdown(report), re.M)
    assert len(commands) == 3
    for command in commands:
        _, _, file = command.split()
        assert call("replay", file)[0] == 0


def test_what_is_missing_is_said(report: dict[str, Any]) -> None:
    report["missing"] = [{"theorem": "a|b", "reason": "3 of 4 blocks are missing"}]
    assert "Not in this report:\n\n- `a\\|b`: 3 of 4 blocks are missing" in markdown(report)


def test_a_report_of_nothing_has_no_empty_table(report: dict[str, Any]) -> None:
    told = markdown({**report, "verdicts": [], "theorems": []})
    assert "|" not in told
    assert "### Again" in told


def measured(kind: str, *cells: dict[str, Any]) -> dict[str, Any]:
    common = {"point": {"n": 1}, "trials": 10, "in_scope": 10, "unknown": 0, "x": 1.0}
    return {
        "kind": kind,
        "full_id": f"t.{kind}",
        "statement": "How often.",
        "status": "H",
        "unit": "steps",
        "cells": [{**common, **cell} for cell in cells],
    }


def test_what_was_measured_has_a_table(report: dict[str, Any]) -> None:
    report["measures"] = [
        measured("frequency", {"frequency": 0.25}, {"frequency": 0.5}, {"frequency": None}),
        measured("quantiles", {"mean": 3.0}),
        measured("quantiles", {"mean": None}),
    ]
    told = markdown(report)
    assert "### Measured" in told
    assert "| 3 | frequency 0.25 to 0.5 steps |" in told
    assert "| 1 | mean 3 steps |" in told
    assert "| 1 | none in scope |" in told


def test_thresholds_stand_under_what_was_measured(report: dict[str, Any]) -> None:
    threshold = {"line": 20, "level": 0.9, "low": 2.0, "high": None, "monotone": True}
    passed = [threshold, {**threshold, "level": 0.5, "high": 8.0}, {**threshold, "line": 50}]
    frequency = measured("frequency", {"frequency": 0.5, "holds": 5, "low": 0.1, "high": 0.9})
    report["measures"] = [{**frequency, "thresholds": passed, "by": "n", "abscissa": "the size"}]
    told = markdown(report)
    assert (
        "<br>n = 20: passes, along the size, 0.9 above 2; 0.5 between 2 and 8"
        "<br>n = 50: passes, along the size, 0.9 above 2 |" in told
    )


def test_what_breaks_first_has_a_table(report: dict[str, Any]) -> None:
    cells = [
        {"controls": [], "first": [1, 0], "undecided": 2, "holds": 7},
        {"controls": [], "first": [3, 0], "undecided": 0, "holds": 7},
        {"controls": ["c"], "first": [0, 5], "undecided": 0, "holds": 5},
    ]
    links = [{"id": "one", "statement": "First."}, {"id": "two", "statement": "Second."}]
    told = markdown({**report, "chains": [{"theorem": "t", "links": links, "cells": cells}]})
    assert "### What breaks first in the proof of `t`" in told
    for row in (
        "| `one`<br>First. | 4 | 0 |",
        "| `two`<br>Second. | 0 | 5 |",
        "| undecided | 2 | 0 |",
        "| none: all hold | 14 | 5 |",
    ):
        assert row in told


HOSTILE = "a|b `c` *d* _e_ <script> [x](y) ~~z~~ $m$ &amp; \\ \n# h\n| - | ```"


def test_hostile_text_breaks_no_row(report: dict[str, Any]) -> None:
    other = copy.deepcopy(report)
    for verdict in other["verdicts"]:
        verdict.update(statement=HOSTILE, full_id=HOSTILE, because=HOSTILE, status=HOSTILE)
    rows, plain = ([r for r in markdown(r_).split("\n") if r.startswith("|")]
                   for r_ in (other, report))  # fmt: skip
    assert len(rows) == len(plain)
    for row in rows:
        assert len(re.findall(r"(?<!\\)\|", row)) == 8, "seven cells"


# Escaping


@pytest.mark.parametrize(
    ("written", "escaped"),
    [
        ("w_1 and X_2", "w_1 and X_2"),
        ("w_∞ _x_", "w\\_∞ \\_x\\_"),
        ("a|b*c", "a\\|b\\*c"),
        ("1. item", "1\\. item"),
        ("# head", "\\# head"),
        ("0.25", "0.25"),
        ("-3", "-3"),
        ("two\n lines", "two lines"),
    ],
)
def test_text_is_escaped_where_it_must_be_and_nowhere_else(written: str, escaped: str) -> None:
    assert text(written) == escaped


@pytest.mark.parametrize(
    ("written", "escaped"),
    [
        ("ask @someone, me@here.org", "ask @<!-- -->someone, me@<!-- -->here.org"),
        ("by @org/team", "by @<!-- -->org/team"),
        ("#1 and gh-23, a/b#45", "#<!-- -->1 and gh-<!-- -->23, a/b#<!-- -->45"),
        ("see http://a.b, HTTPS://c.d", "see http:<!-- -->//a.b, HTTPS:<!-- -->//c.d"),
        ("www.a.b, (WWW.c.d)", "www<!-- -->.a.b, (WWW<!-- -->.c.d)"),
        ("A @ B, # x, a: b, high-2, awww.", "A @ B, # x, a: b, high-2, awww."),
    ],
)
def test_text_mentions_nobody_and_links_nowhere(written: str, escaped: str) -> None:
    assert text(written) == escaped


def test_no_docstring_mentions_or_links_in_a_report(report: dict[str, Any]) -> None:
    other = copy.deepcopy(report)
    for verdict in other["verdicts"]:
        verdict.update(statement="as @someone says in #1, see http://a.b")
    told = markdown(other)
    assert "as @<!-- -->someone says in #<!-- -->1, see http:<!-- -->//a.b" in told
    assert "@someone" not in told


def test_code_and_fences_hold_backticks() -> None:
    assert code("a`b") == "``a`b``"
    assert code("`a") == "`` `a ``"
    assert code("a|b") == "`a\\|b`"
    assert fenced("a ``` b") == "````sh\na ``` b\n````"


characters = st.text(
    st.sampled_from("ab1 \n\t|`*_~<>[]()$&\\#+=-.!:;/'\"@")
    | st.characters(blacklist_categories=("Cs", "Cc"))
)


@given(characters)
@example("_a_b_")
@example("2) x")
@example("***")
@example("&lt; &#35;")
@example("=")
@example("#1@a http://a.b www.c.d GH-1 www.\\\\www.1")
def test_a_reader_of_markdown_sees_the_text_as_it_is_written(written: str) -> None:
    parser = (
        pytest.importorskip("markdown_it")
        .MarkdownIt("commonmark")
        .enable(["table", "strikethrough"])
    )
    shown = " ".join(clean(written).split())
    tokens = parser.parse(f"- {text(shown)}")
    inline = [token for token in tokens if token.type == "inline"]
    if not shown:
        assert not inline
        return
    (line,) = inline
    seen = [child for child in line.children if child.content != "<!-- -->"]
    assert {child.type for child in seen} <= {"text", "text_special"}, text(shown)
    assert "".join(child.content for child in seen) == shown
    assert [token.type for token in tokens].count("list_item_open") == 1
