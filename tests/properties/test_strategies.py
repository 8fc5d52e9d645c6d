"""Strategies: in range, in scope often enough, and shrinking to what a person can read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, Verbosity, find, given, settings
from hypothesis import strategies as st

from properties import strategies
from properties.catalogue import MODULES, find_entry, find_theorem
from properties.search import OUT_OF_SCOPE, hunt, hunted_claims, hunted_kinds, look_at
from verify import Axis, Explicit, Field, TheoremError, load_file

EXAMPLES = Path(__file__).parents[2] / "examples"

QUIET = settings(
    max_examples=150,
    database=None,
    derandomize=True,
    deadline=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
    verbosity=Verbosity.quiet,
    print_blob=False,
    report_multiple_bugs=False,
)


def sampled(strategy: st.SearchStrategy[Any]) -> list[Any]:
    """Return what a strategy draws in one derandomised run."""
    met: list[Any] = []

    @QUIET
    @given(value=strategy)
    def collect(value: Any) -> None:
        met.append(value)

    collect()
    return met


@pytest.mark.parametrize(
    "axis",
    [
        Axis("n", 2, 12, "integer"),
        Axis("n", 2, 12, "integer", simplest=7),
        Axis("c", 0.2, 1.2, simplest=0.5),
        Axis("aspect", 4.0, 1e4, "log", simplest=1e4),
        Axis("same", 3.0, 3.0),
    ],
    ids=lambda axis: f"{axis.scale}-{axis.simplest}",
)
def test_coordinates_stay_in_range_and_reach_both_ends(axis: Axis) -> None:
    values = sampled(strategies.coordinates(axis))
    assert all(axis.low * 0.9995 <= value <= axis.high * 1.0005 for value in values)
    width = axis.high - axis.low
    assert min(values) <= axis.low + 0.3 * width
    assert max(values) >= axis.high - 0.3 * width


def test_coordinates_shrink_to_the_simplest_value() -> None:
    assert (
        find(strategies.coordinates(Axis("c", 0.2, 1.2, simplest=0.5)), bool, settings=QUIET) == 0.5
    )
    off_the_grid = Axis("c", 0.2, 1.5, simplest=0.5)
    assert find(strategies.coordinates(off_the_grid), bool, settings=QUIET) == 0.5
    assert find(strategies.coordinates(Axis("n", 2, 9, "integer")), bool, settings=QUIET) == 2
    choice = Axis("spectrum", scale="choice", choices=("isotropic", "power:1"))
    assert find(strategies.coordinates(choice), bool, settings=QUIET) == "isotropic"


def test_a_predicate_on_a_coordinate_shrinks_to_its_boundary() -> None:
    axis = Axis("n", 2, 12, "integer", simplest=7)
    assert find(strategies.coordinates(axis), lambda n: n <= 4, settings=QUIET) == 4
    assert find(strategies.coordinates(axis), lambda n: n >= 9, settings=QUIET) == 9


def test_explicit_values_have_the_shapes_and_ranges_that_they_declare() -> None:
    explicit = Explicit(
        sizes={"n": (1, 3), "k": (0, 2)},
        fields={
            "matrix": Field(-2, 5, shape=("n", "k")),
            "labels": Field(-1, 1, shape=("n",), nonzero=True),
            "scale": Field(1, 9, denominator=3),
        },
        build=lambda values: values,
    )
    met = sampled(strategies._integers(explicit))
    for integers in met:
        values = explicit.values(integers)  # raises where a shape or a range is wrong
        assert (values["labels"] != 0).all()
        json.dumps(integers)
    assert {integers["n"] for integers in met} == {1, 2, 3}


OF_A_PART = {
    "boursier2022.fixed_signs.gap_is_linear_in_the_step": "steps of at most a 25th of 1/‖x‖²",
    "boursier2022.fixed_signs.flow_limit_is_the_minimum_norm": "starts in the span of the data",
    "between.road.gap_begins_at_the_closed_form": "the beginning of the road",
    "between.road.end_is_the_fixture": "its end",
}
"""Claims about a small part of their theorem's space, and which; a search meets it at the edges."""

CASES = [
    pytest.param(theorem, claim, *kind, id=f"{theorem.address_of(claim.id)}-{kind[0]}")
    for theorem in map(find_theorem, MODULES)
    for claim in hunted_claims(theorem)
    if theorem.address_of(claim.id) not in OF_A_PART
    for kind in hunted_kinds(theorem)
]


@pytest.mark.parametrize(("theorem", "claim", "kind", "strategy"), CASES)
def test_at_least_half_of_the_instances_are_in_scope(
    theorem: Any, claim: Any, kind: Any, strategy: Any
) -> None:
    outcomes = [look_at(theorem, claim, kind, recipe).outcome for recipe in sampled(strategy)]
    inside = sum(outcome != OUT_OF_SCOPE for outcome in outcomes)
    assert inside >= len(outcomes) / 2, f"{inside} of {len(outcomes)} in scope"


@pytest.mark.parametrize("name", OF_A_PART)
def test_a_search_meets_the_part_of_the_space_that_a_claim_is_about(name: str) -> None:
    theorem, claim = find_entry(name)
    assert hunt(theorem, claim, 60, 0).hunted.in_scope > 0


def test_a_theorem_without_axes_or_explicit_problems_says_so() -> None:
    from dataclasses import replace

    bare = replace(load_file(EXAMPLES / "same_factor.py"), axes=(), explicit=None)
    with pytest.raises(TheoremError, match="has no axes"):
        strategies.points(bare)
    with pytest.raises(TheoremError, match="no explicit problems"):
        strategies.explicit(bare)
