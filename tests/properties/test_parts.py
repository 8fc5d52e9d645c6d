"""A hunt is made of parts, and what they find together is what the hunt finds."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from properties import strategies
from properties.parts import Hunt, joined, parts_of, share_of, simplest_known
from properties.search import hunt, hunt_part, hunted_kinds
from verify import Axis, Theorem, load_file
from verify.counterexample import Counterexample, Kind
from verify.verdict import Hunted

EXAMPLES = Path(__file__).parents[2] / "examples"
TEMPLATES = Path(__file__).parents[2] / "reports" / "theorem_templates"


@pytest.mark.parametrize("examples", [1, 20, 59, 60, 61, 500, 5_000])
def test_parts_share_the_examples_evenly(examples: int) -> None:
    shares = [share_of(examples, part) for part in range(parts_of(examples))]
    assert sum(shares) == examples
    assert max(shares) - min(shares) <= 1
    assert min(shares) >= min(examples, 30)


@pytest.fixture(scope="module")
def theorem() -> Theorem:
    return load_file(EXAMPLES / "same_factor.py")


@pytest.fixture(scope="module")
def parts(theorem: Theorem) -> list[Hunt]:
    return [hunt_part(theorem, theorem.claims[0], 120, 3, part) for part in range(4)]


def test_a_hunt_is_its_parts_joined(theorem: Theorem, parts: list[Hunt]) -> None:
    whole = hunt(theorem, theorem.claims[0], 120, 3)
    assert whole == joined(theorem, parts)
    assert whole.hunted.examples == sum(part.hunted.examples for part in parts) >= 120
    assert whole.hunted.violated == sum(part.hunted.violated for part in parts)
    margins = [part.worst.margin for part in parts if part.worst is not None]
    assert whole.worst is not None
    assert whole.worst.margin == min(margins)
    assert hunt(theorem, theorem.claims[0], 120, 3, [1, 3]) == joined(theorem, parts[1::2])


def test_parts_look_at_different_examples(theorem: Theorem, parts: list[Hunt]) -> None:
    recipes = [part.worst.recipe for part in parts if part.worst is not None]
    assert len(recipes) == 4
    assert all(recipes.count(recipe) == 1 for recipe in recipes)


def test_a_true_claim_is_searched_in_as_many_examples_as_asked() -> None:
    true = load_file(EXAMPLES / "least_squares.py")
    edges = len(strategies.edges(true, 60)) if true.axes else 0
    met = hunt(true, true.claims[0], 60, 0).hunted
    assert met.examples == edges + 60 * len(hunted_kinds(true))


def found(kind: str, margin: float, **recipe: object) -> Hunt:
    example = Counterexample("t", "c", "", kind, recipe, margin)  # type: ignore[arg-type]
    return Hunt("c", Hunted(10, 5, 1, 0, margin), example, example)


def test_the_smallest_is_explicit_and_simplest_else_nearest_to_the_simplest_values() -> None:
    same = load_file(EXAMPLES / "same_factor.py")
    axes = (
        Axis("n", 1, 9, "integer", simplest=2),
        Axis("c", 0.1, 10.0, "log", simplest=1.0),
        Axis("law", scale="choice", choices=("a", "b", "z")),
    )
    theorem = replace(same, axes=axes)
    far = found("seeded", -3.0, point={"n": 9, "c": 1.0, "law": "a"}, seed=0)
    near = found("seeded", -1.0, point={"n": 2, "c": 1.1, "law": "a"}, seed=9)
    odd = found("seeded", -2.0, point={"n": 2, "c": 1.1, "law": "z"}, seed=1)
    values = {"d": 2, "curvatures": [1, 2], "start": [1, 1], "c": 2}
    large = found("explicit", -0.5, values={**values, "curvatures": [5, 7]})
    small = found("explicit", -0.4, values=values)
    nothing = Hunt("c", Hunted(7, 0, 0, 2, math.nan))
    for order in ([far, odd, near, nothing], [nothing, near, far, odd]):
        together = joined(theorem, order)
        assert together.smallest is near.smallest
        assert together.worst is far.worst
        assert together.hunted == Hunted(37, 15, 3, 2, -3.0)
    assert joined(theorem, [near, large, small]).smallest is small.smallest
    assert math.isnan(joined(theorem, [nothing, nothing]).hunted.worst_margin)
    assert joined(theorem, [nothing]).smallest is None


def test_the_smallest_is_no_larger_than_another_that_is_known() -> None:
    axes = (Axis("n", 1, 9, "integer"), Axis("c", 0.2, 1.5, simplest=0.5))
    theorem = replace(load_file(EXAMPLES / "same_factor.py"), axes=axes)

    def at(n: int, c: float, seed: int = 0) -> tuple[Kind, dict[str, object]]:
        return "seeded", {"point": {"n": n, "c": c}, "seed": seed}

    shrunk = at(2, 0.5016)
    assert simplest_known(theorem, shrunk, [at(2, 0.5), at(3, 0.5), at(9, 0.5)]) == at(2, 0.5)
    assert simplest_known(theorem, shrunk, [at(2, 0.5), at(1, 0.501)]) == at(1, 0.501)
    assert simplest_known(theorem, shrunk, [at(3, 0.5), at(1, 0.6), at(2, 0.5016, 9)]) == shrunk
    assert simplest_known(theorem, shrunk, []) == shrunk
    values = {"d": 2, "curvatures": [1, 2], "start": [1, 1], "c": 2}
    large: tuple[Kind, dict[str, object]] = "explicit", {"values": {**values, "c": 3}}
    small: tuple[Kind, dict[str, object]] = "explicit", {"values": values}
    assert simplest_known(theorem, large, [at(1, 0.5), small]) == small
    near = found("seeded", -3.0, **at(2, 0.5)[1])
    far = found("seeded", -1.0, **shrunk[1])
    only_worst = replace(near, smallest=far.smallest)
    assert joined(theorem, [far, only_worst]).smallest is near.worst


def test_the_worst_of_a_hunt_is_not_simpler_than_its_smallest(tmp_path: Path) -> None:
    text = (TEMPLATES / "leaky.py").read_text(encoding="utf-8")
    changes = {
        'Axis("d", 100,': 'Axis("d", 2,',
        "    return Margin(wrong + late, 0.0)": "    return Margin(trial.run.last_flip, 0.0)",
    }
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "flips.py").write_text(text, encoding="utf-8")
    theorem = load_file(tmp_path / "flips.py")
    whole = hunt(theorem, theorem.claims[1], 40, 0)
    assert whole.smallest is not None
    assert dict(whole.smallest.recipe["point"]) == {"n": 1, "d": 2, "c": 0.5}
