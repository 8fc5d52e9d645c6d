"""Counterexample files: what is written is read again, and what was tampered with is refused."""

import json
import math
from dataclasses import replace

import pytest

from tests.verify.engine.toys import at_least_zero, below_a_half, theorem_of, write_theorem
from verify import counterexample
from verify.claims import Control, Universal
from verify.counterexample import Counterexample, captured, realise, replay
from verify.errors import InputError
from verify.loading import load_file
from verify.measures import Chain

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
