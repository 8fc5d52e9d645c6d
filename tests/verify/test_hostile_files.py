"""Counterexample files that were made up: each is told in a sentence, and none is believed."""

import json
import os
from dataclasses import replace

import pytest

from tests.verify.test_counterexample import EXAMPLE, SCOPED
from verify import counterexample
from verify.counterexample import EXACT, captured, content_of, digest_of
from verify.errors import InputError


@pytest.fixture
def content():
    """What a file holds, as JSON gives it back, with a severity and a rate."""
    claim = SCOPED.claim("never")
    example = captured(
        SCOPED, claim, "small", {"values": {"u": 3}}, -0.25, without=["below_a_half"]
    )
    rate = {"violated": 1, "undecided": 0, "in_scope": 2, "trials": 3}
    rate |= {"low": 0.1, "high": 0.9, "confidence": 0.95, "where": {"n": 1, "law": "a", "c": 0.5}}
    told = replace(example, severity={**example.severity, "rate": rate})
    return json.loads(json.dumps(content_of(told)))


def read_back(folder, content):
    """Write a file with its digest, and read it."""
    file = folder / "it.json"
    file.write_text(json.dumps({**content, "digest": digest_of(content)}))
    return counterexample.read(file)


def test_what_is_not_made_up_is_read(tmp_path, content):
    assert read_back(tmp_path, content).severity == content["severity"]
    assert read_back(tmp_path, {**content, "severity": {}}).severity == {}


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ((), {"margin": -1.0}, "has not just the entries margin, in_scope"),
        (("more",), 1, "has not just the entries"),
        (("margin",), "x", "margin='x', expected a number"),
        (("margin",), True, "margin=True, expected a number"),
        (("margin",), 10**400, "margin=1000"),
        (("in_scope",), "maybe", "in_scope='maybe', expected true, false or null"),
        (("in_scope",), 1, "in_scope=1, expected"),
        (("first_step",), [], r"first_step=\[\], expected a step or null"),
        (("first_step",), -1, "first_step=-1"),
        (("first_step",), True, "first_step=True"),
        (("assumptions",), "x", "assumptions='x', expected a list"),
        (("assumptions", 0), {}, "an assumption has not just the entries assumption, margin"),
        (("assumptions", 0), 5, "an assumption has not just the entries"),
        (("assumptions", 0, "assumption"), 5, "assumption=5, expected a text"),
        (("assumptions", 0, "coordinate"), None, "coordinate=None, expected a text"),
        (("assumptions", 0, "margin"), [], "expected a number"),
        (("assumptions", 0, "state"), "fine", "state='fine', expected one of holds, violated"),
        (("assumptions", 0, "role"), [], "expected one of scope, dropped, hypothesis"),
        (("rate",), {}, "rate has not just the entries violated"),
        (("rate",), 5, "rate has not just the entries"),
        (("rate", "violated"), 0.5, "violated=0.5, expected a number of trials"),
        (("rate", "high"), 2, "high=2, expected a probability"),
        (("rate", "low"), None, "low=None, expected a probability"),
        (("rate", "where"), [], r"where=\[\], expected a point"),
        (("rate", "where"), {"n": [1]}, "expected a point"),
    ],
)
def test_a_severity_that_makes_no_sense_is_refused(tmp_path, content, path, value, said):
    inside = content
    for name in ("severity", *path)[:-1]:
        inside = inside[name]
    inside[("severity", *path)[-1]] = value
    with pytest.raises(InputError, match=f"severity: .*{said}"):
        read_back(tmp_path, content)


@pytest.mark.parametrize("name", ["theorem", "theorem_file"])
def test_a_name_with_a_nul_names_no_theorem(tmp_path, content, name):
    with pytest.raises(InputError, match=rf"{name}='a\\x00b.py', which names no theorem"):
        read_back(tmp_path, {**content, name: "a\0b.py"})


@pytest.mark.parametrize("name", ["without", "seed", "severity", "exact", "digest", "evidence"])
def test_version_1_knows_nothing_of_version_2(tmp_path, name):
    later = json.loads(json.dumps(content_of(EXAMPLE)))
    added = ("without", "seed", "severity", "exact", "digest")
    old = {key: value for key, value in later.items() if key not in added} | {"version": 1}
    old[name] = EXACT if name == "evidence" else later[name]
    (tmp_path / "old.json").write_text(json.dumps(old))
    with pytest.raises(InputError, match="which version 1 did not know"):
        counterexample.read(tmp_path / "old.json")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_only_regular_files_are_read(tmp_path, content):
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(InputError, match="it is no regular file"):
        counterexample.read(tmp_path / "pipe.json")
    with pytest.raises(InputError, match="it is no regular file"):
        counterexample.read(tmp_path)
    read_back(tmp_path, content)
    (tmp_path / "link.json").symlink_to(tmp_path / "it.json")
    assert counterexample.read(tmp_path / "link.json").margin == content["margin"]


def test_what_never_ends_is_not_read():
    with pytest.raises(InputError, match="it is no regular file"):
        counterexample.read("/dev/zero")
