"""Counterexample files: what is written is read again, and what was tampered with is refused."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from tests.verify.engine.toys import at_least_zero, below_a_half, theorem_of, write_theorem
from verify import counterexample
from verify.claims import Assumption, Control, Universal
from verify.counterexample import (
    EXACT,
    FLOATING,
    Counterexample,
    captured,
    content_of,
    digest_of,
    realise,
    replay,
)
from verify.counterexample.entries import MOST_DIGITS, rational
from verify.counterexample.files import LARGEST
from verify.errors import InputError, UnknownName
from verify.explicit import Explicit, Field
from verify.loading import load_file
from verify.margin import Margin
from verify.measures import Chain
from verify.severity import Assumed, Severity

DRAWN = {"point": {"n": 1}, "root_seed": 0, "block": 0, "trial": 0}
SEEDED = {"point": {"n": 1}, "seed": 1}


def never(trial):
    """Never."""
    return replace(below_a_half(trial), left=1.0)


def unknown(trial):
    """Nobody knows."""
    return replace(below_a_half(trial), rounding=math.inf)


def doubled(problem):
    """Simulate wrongly."""
    return problem * 2


THEOREM = theorem_of(
    Universal(never),
    controls=(Control(Universal(at_least_zero), because="it is broken", simulate=doubled),),
)
BROKEN = "at_least_zero"
EXAMPLE = captured(THEOREM, THEOREM.claim("never"), "drawn", DRAWN, -0.5)


@pytest.fixture
def stored(tmp_path):
    """A counterexample file, and its content."""
    counterexample.write(EXAMPLE, tmp_path / "it.json")
    return tmp_path / "it.json", json.loads((tmp_path / "it.json").read_text())


def test_what_is_written_is_read_again(stored):
    assert counterexample.read(stored[0]) == EXAMPLE
    assert replay(THEOREM, EXAMPLE).violated


@pytest.mark.parametrize(
    ("recipe", "changed"),
    [
        (recipe, {name: value})
        for recipe in (DRAWN, SEEDED)
        for name in recipe
        if name != "point"
        for value in (-1, 1.0, 0.5, True, "1", None, math.inf, [1])
    ]
    + [(DRAWN, {"trial": 10}), (DRAWN, {"block": 2**63}), (SEEDED, {"seed": 2**70})]
    + [(DRAWN, {"point": value}) for value in (None, [1], {"n": [1]}, {"n": math.nan})],
)
def test_a_recipe_that_fits_nothing_is_refused(recipe, changed):
    kind = "drawn" if recipe is DRAWN else "seeded"
    example = Counterexample("toy", "never", "", kind, {**recipe, **changed}, -0.5)
    with pytest.raises(InputError):
        realise(THEOREM, example)


@pytest.mark.parametrize(
    ("claim", "control"),
    [("never", "nonsense"), ("never", "at_least_zero"), ("at_least_zero", "")],
)
def test_a_claim_is_replayed_under_the_simulator_that_it_is_about(claim, control):
    example = replace(EXAMPLE, claim=claim, control=control)
    with pytest.raises(InputError, match=f"control='{control}', expected"):
        replay(THEOREM, example)


@pytest.mark.parametrize("margin", [math.nan, math.inf, -math.inf, 10**400, "1", True, [1]])
def test_a_stored_margin_is_a_finite_number(stored, margin):
    path, content = stored
    path.write_text(json.dumps({**content, "margin": margin}))
    with pytest.raises(InputError, match="margin"):
        counterexample.read(path)


def test_an_infinite_violation_is_kept(tmp_path):
    counterexample.write(replace(EXAMPLE, margin=-math.inf), tmp_path / "it.json")
    assert counterexample.read(tmp_path / "it.json").margin == -math.inf


def test_a_file_remembers_where_its_theorem_lies(tmp_path, stored):
    theorem = load_file(write_theorem(tmp_path))
    recipe = {**DRAWN, "point": {"n": 2}}
    example = captured(theorem, theorem.claim("always_below"), "drawn", recipe, -0.5)
    counterexample.write(example, tmp_path / "it.json")
    read = counterexample.read(tmp_path / "it.json")
    assert read.theorem_file == str(tmp_path / "filed.py")
    assert "theorem_file" not in stored[1]


@pytest.mark.parametrize("place", ["file", "folder"])
def test_what_cannot_be_written_is_said_and_leaves_nothing_behind(tmp_path, place):
    target = tmp_path / "folder" / "it.json"
    if place == "folder":
        (tmp_path / "folder").write_text("a file")
    else:
        target.mkdir(parents=True)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError, match=r"it\.json cannot be written"):
        counterexample.write(EXAMPLE, target)
    assert sorted(tmp_path.rglob("*")) == before


def test_half_a_surrogate_is_written_as_json_says_it(tmp_path):
    counterexample.write(replace(EXAMPLE, theorem="\udcff.py"), tmp_path / "it.json")
    assert counterexample.read(tmp_path / "it.json").theorem == "\udcff.py"


# facts


@pytest.mark.parametrize(
    ("describe", "said"),
    [
        (lambda problem, index: 1 / 0, "raised ZeroDivisionError"),
        (lambda problem, index: None, "returned NoneType, expected a dict"),
    ],
)
def test_a_describe_that_fails_is_told_in_place_of_the_facts(describe, said):
    theorem = replace(THEOREM, describe=describe)
    example = captured(theorem, theorem.claim("never"), "drawn", DRAWN, -0.5)
    assert said in example.facts["describe"]


def fails_to_run(trial):
    """It runs."""
    raise ValueError("no point" if trial.point is None else "no")


@pytest.mark.parametrize(
    ("links", "fact"),
    [
        ((at_least_zero, never, below_a_half), "never: Never."),
        ((at_least_zero, unknown, never), "unknown (unknown): Nobody knows."),
        ((at_least_zero,), "none: every link of the chain holds"),
        ((fails_to_run,), "in link fails_to_run raised ValueError: no"),
    ],
)
def test_a_counterexample_says_which_link_of_the_chain_breaks_first(links, fact):
    theorem = replace(THEOREM, chain=Chain(links=links))
    example = captured(theorem, theorem.claim("never"), "drawn", DRAWN, -0.5)
    assert fact in example.facts["first_broken_link"]
    broken = captured(theorem, theorem.claim("at_least_zero"), "drawn", DRAWN, -0.5, BROKEN)
    assert "first_broken_link" not in broken.facts
    assert "first_broken_link" not in EXAMPLE.facts


# version 2


EXACT_ENTRY = {
    "problem": {"name": "one number", "u": "3/4"},
    "steps": [],
    "claim": {
        "id": "never",
        "left": "1",
        "right": "1/2",
        "strict": False,
        "reads": "1 ≤ ½",
        "violated": True,
    },
    "assumptions": [
        {
            "id": "below_a_half",
            "left": "3/4",
            "right": "1/2",
            "strict": False,
            "reads": "u ≤ ½",
            "holds": False,
            "dropped": True,
        },
        {
            "id": "at_least_zero",
            "left": "0",
            "right": "3/4",
            "strict": True,
            "reads": "",
            "holds": True,
            "dropped": False,
        },
    ],
    "not_exact": ["never_decided"],
}
FULL = replace(
    EXAMPLE,
    without=("below_a_half",),
    seed=3,
    severity=Severity(-0.5, True, (Assumed("below_a_half", 0.5, "holds"),)).to_json(),
    exact=EXACT_ENTRY,
    evidence=EXACT,
)


def rewritten(path, content):
    """Write a file's content with the digest of what it holds, and read it."""
    path.write_text(json.dumps({**content, "digest": digest_of(content)}))
    return counterexample.read(path)


def with_exact(path, value):
    """Return the content of a file with one part of its exact entry replaced."""
    content = json.loads(json.dumps(content_of(FULL)))
    inside = content["exact"]
    for name in path[:-1]:
        inside = inside[name]
    inside[path[-1]] = value
    return content


def test_all_of_version_2_is_read_again(tmp_path):
    counterexample.write(FULL, tmp_path / "it.json")
    assert counterexample.read(tmp_path / "it.json") == FULL
    content = json.loads((tmp_path / "it.json").read_text())
    assert content["version"] == 2
    for library in ("relu-verify", "numpy", "python-flint"):
        assert f"{library} " in content["written_by"]


def test_files_of_version_1_are_still_read(tmp_path, stored):
    content = {**stored[1], "version": 1}
    for name in ("without", "seed", "severity", "exact", "digest"):
        del content[name]
    (tmp_path / "old.json").write_text(json.dumps(content))
    assert counterexample.read(tmp_path / "old.json") == replace(EXAMPLE, severity={})


@pytest.mark.parametrize("version", [0, 3, True, 2.0, "2", None, [2], {"2": 2}])
def test_other_versions_are_refused(stored, version):
    with pytest.raises(InputError, match=r"has version=.*, expected 2 or 1"):
        rewritten(stored[0], {**stored[1], "version": version})


@pytest.mark.parametrize("name", ["theorem", "margin", "recipe", "seed", "written_by", "facts"])
def test_a_file_that_was_changed_is_refused(stored, name):
    other = {"recipe": {**DRAWN, "trial": 1}, "margin": -0.25, "seed": 8, "facts": {"a": 1}}
    stored[0].write_text(json.dumps({**stored[1], name: other.get(name, "another")}))
    with pytest.raises(InputError, match=r"its digest is '[0-9a-f]{64}', expected '[0-9a-f]{64}'"):
        counterexample.read(stored[0])


@pytest.mark.parametrize("length", [0, 1, 40, 400, -3])
def test_a_truncated_file_is_refused(stored, length):
    stored[0].write_text(stored[0].read_text()[:length])
    with pytest.raises(InputError, match="is not a counterexample file"):
        counterexample.read(stored[0])


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "null",
        '"relu-verify counterexample"',
        '{"format": "relu-verify counterexample", "format": "relu-verify counterexample"}',
        "[" * 100_000,
        '{"a":' * 100_000,
        "9" * 5_000,
        "\x00",
    ],
)
def test_a_foreign_file_is_refused(tmp_path, text):
    (tmp_path / "it.json").write_text(text)
    with pytest.raises(InputError, match="is not a counterexample file"):
        counterexample.read(tmp_path / "it.json")


def test_a_file_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "it.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="is not a counterexample file"):
        counterexample.read(tmp_path / "it.json")
    with pytest.raises(InputError, match="is not a counterexample file"):
        counterexample.read(tmp_path)


def test_an_enormous_file_is_refused_unread(tmp_path):
    with (tmp_path / "it.json").open("wb") as file:
        file.truncate(LARGEST + 1)
    with pytest.raises(InputError, match=f"it has {LARGEST + 1} bytes, more than {LARGEST}"):
        counterexample.read(tmp_path / "it.json")


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("name", ["severity", "facts", "recipe"])
def test_numbers_that_json_has_no_word_for_are_refused(stored, name, odd):
    stored[0].write_text(json.dumps({**stored[1], name: {"x": odd}}))
    with pytest.raises(InputError, match="is not a counterexample file"):
        counterexample.read(stored[0])


@pytest.mark.parametrize("name", [*json.loads(json.dumps(content_of(FULL)))])
@pytest.mark.parametrize("value", ["absent", [[]], 1.5, True])
def test_entries_that_are_missing_or_of_another_type_are_refused(tmp_path, name, value):
    content = json.loads(json.dumps(content_of(FULL)))
    if name == "written_by" or (name, value) == ("margin", 1.5):
        return  # whatever wrote it, and any number
    if value == "absent":
        del content[name]
    else:
        content[name] = value
    digest = content["digest"] if name == "digest" and value != "absent" else digest_of(content)
    if (name, value) != ("digest", "absent"):
        content["digest"] = digest
    (tmp_path / "it.json").write_text(json.dumps(content))
    with pytest.raises(InputError):
        counterexample.read(tmp_path / "it.json")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kind": "vague"}, "kind='vague', expected one of drawn, seeded, explicit, small"),
        ({"evidence": "hearsay"}, "evidence='hearsay', expected 'exact' or 'floating point"),
        ({"evidence": FLOATING}, "the evidence is 'floating point.*', but there is an exact entry"),
        ({"exact": None}, "the evidence is 'exact', but there is no exact entry"),
        ({"without": ["a", "a"]}, "expected distinct assumptions' ids"),
        ({"without": [1]}, "expected distinct assumptions' ids"),
        ({"without": []}, "assumption below_a_half: dropped=True, which `without` contradicts"),
        ({"theorem_file": 1}, "'theorem_file' is of the wrong type"),
        ({"claim": "always"}, "claim is not a violation of 'always'"),
    ],
)
def test_entries_that_contradict_each_other_are_refused(tmp_path, changes, said):
    content = json.loads(json.dumps(content_of(FULL)))
    with pytest.raises(InputError, match=said):
        rewritten(tmp_path / "it.json", {**content, **changes})


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("claim", "left"), "1/0", "never: left='1/0', expected a rational"),
        (("claim", "left"), "x", "never: left='x', expected a rational"),
        (("claim", "left"), "9" * 10**6, "left is a string of 1000000 characters"),
        (("claim", "left"), "9" * (MOST_DIGITS + 2), "expected a rational"),
        (("claim", "left"), 1, "entry 'left' is missing or of the wrong type"),
        (("claim", "left"), "0", "claim is not a violation of 'never'"),
        (("claim", "violated"), False, "claim is not a violation of 'never'"),
        (("claim", "strict"), 0, "entry 'strict' is missing or of the wrong type"),
        (("claim", "reads"), None, "entry 'reads' is missing or of the wrong type"),
        (("claim",), [], "entry 'claim' is missing or of the wrong type"),
        (("assumptions",), {}, "entry 'assumptions' is missing or of the wrong type"),
        (("assumptions", 0), "below_a_half", "assumptions holds something else than objects"),
        (("assumptions", 1, "id"), "below_a_half", "an assumption occurs twice"),
        (("assumptions", 1, "left"), "1", "at_least_zero: holds=True, which its sides contradict"),
        (("assumptions", 1, "holds"), False, "holds=False, which its sides contradict"),
        (("assumptions", 0, "holds"), 0, "entry 'holds' is missing or of the wrong type"),
        (("not_exact",), [1], "not_exact holds something else than assumptions' ids"),
        (("problem", "u"), 0.75, "exact: problem: u is 0.75, expected a whole number"),
        (("problem", "u"), ["3/4", "¾"], "exact: problem: u='¾', expected a rational"),
        (("problem", "u"), "٣", "expected a rational"),
        (("problem", "name"), 0.75, "exact: problem: name is 0.75"),
        (("steps",), ["1e3"], "exact: steps='1e3', expected a rational"),
    ],
)
def test_exact_entries_that_make_no_sense_are_refused(tmp_path, path, value, said):
    with pytest.raises(InputError, match=said):
        rewritten(tmp_path / "it.json", with_exact(path, value))


def test_an_assumption_that_fails_makes_it_no_counterexample(tmp_path):
    content = with_exact(("assumptions", 1, "left"), "1")
    content["exact"]["assumptions"][1]["holds"] = False
    with pytest.raises(InputError, match="at_least_zero: it fails and was not dropped"):
        rewritten(tmp_path / "it.json", content)


@pytest.mark.parametrize("text", ["0", "-1", "22/7", "-22/7", "9" * MOST_DIGITS])
def test_rationals_are_read(text):
    assert str(rational("x", text)) == text


@pytest.mark.parametrize(
    "text", ["", "-", "-0", "+1", "01", " 1", "1 ", "1/", "/1", "1/-2", "1/02", "1.0", "1\n"]
)
def test_what_is_no_rational_is_refused(text):
    with pytest.raises(InputError, match="x="):
        rational("x", text)


# small problems, and assumptions that were dropped


SMALL = Explicit({}, {"u": Field(0, 4, denominator=4)}, lambda values: values["u"].reshape(1))
SCOPED = theorem_of(Universal(never, given=(Assumption(below_a_half),)), small=SMALL)


def test_a_small_problem_is_made_of_its_integers():
    example = Counterexample("toy", "never", "", "small", {"values": {"u": 1}}, -0.75)
    trial, position = realise(SCOPED, example)
    assert (trial.problem[position], trial.point) == (0.25, None)
    assert replay(SCOPED, example).violated
    with pytest.raises(InputError, match=r"theorem 'toy' has no small problems \(any more\)"):
        realise(THEOREM, example)
    for values in ({"u": 5}, {"u": 0.5}, {"u": True}, {}, {"u": 1, "v": 1}, None, [1]):
        with pytest.raises(InputError):
            realise(SCOPED, replace(example, recipe={"values": values}))


def test_what_was_dropped_is_not_asked_for():
    outside = Counterexample("toy", "never", "", "small", {"values": {"u": 3}}, -0.25)
    assert not replay(SCOPED, outside).in_scope
    dropped = replay(SCOPED, replace(outside, without=("below_a_half",)))
    assert dropped.in_scope
    assert dropped.violated
    with pytest.raises(
        UnknownName, match="has no assumption 'gravity' to drop; it has below_a_half"
    ):
        replay(SCOPED, replace(outside, without=("gravity",)))


def test_what_is_captured_knows_its_severity_and_its_search():
    recipe = {"values": {"u": 3}}
    claim = SCOPED.claim("never")
    example = captured(SCOPED, claim, "small", recipe, -0.25, without=["below_a_half"], seed=5)
    assert (example.without, example.seed) == (("below_a_half",), 5)
    assert example.severity["in_scope"] is False
    assert [one["assumption"] for one in example.severity["assumptions"]] == ["below_a_half"]


@pytest.mark.parametrize(
    ("left", "right", "changes", "told"),
    [
        (1e-16, 2e-17, {}, True),
        (0.1 + 0.2, 0.3, {}, True),
        (0.1 + 0.2, 0.3, {"scale": 1e-16}, False),
        (0.1 + 0.2, 0.3, {"rounding": 1e-17}, False),
        (1.0, 0.5, {}, False),
    ],
)
def test_a_violation_that_rounding_alone_can_make_is_told_as_such(left, right, changes, told):
    def is_below(trial):
        """One number is at most another."""
        return Margin(np.full(1, left), np.full(1, right), **changes)

    theorem = theorem_of(Universal(is_below))
    margin = float(is_below(None).value[0])
    assert margin < 0
    recipe = {"point": {"n": 1}, "seed": 0}
    facts = captured(theorem, theorem.claim("is_below"), "seeded", recipe, margin).facts
    assert ("rounding" in facts) is told
    if told:
        assert "the claim bounds no rounding" in facts["rounding"]
