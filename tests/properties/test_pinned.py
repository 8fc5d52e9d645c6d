"""Pinned counterexamples do what they must, or their test fails and says why."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from properties.pinned import folder_of, must_violate, outcome, pins_of, require_as_pinned
from properties.seeking import Sought, seek
from properties.suite import ClaimFails
from tests.properties.seeking.toys import POSITIVE, numbers_theorem, squares_are_subadditive
from verify import InputError, Universal, UnknownName
from verify.counterexample import Counterexample, write

TRUE = numbers_theorem()
FALSE = numbers_theorem(
    claims=(Universal(squares_are_subadditive),),
    controls=(),
)
"""The same claim, whatever the numbers: it is refuted by 1, −1."""


def found(theorem: Any, *without: str) -> Counterexample:
    asked = Sought(theorem, theorem.claim("squares_are_subadditive"), without)
    smallest = seek(asked, examples=40).smallest
    assert smallest is not None
    return smallest


@pytest.fixture(scope="module")
def refuting() -> Counterexample:
    return found(FALSE)


@pytest.fixture(scope="module")
def outside() -> Counterexample:
    return found(TRUE, "all_are_positive")


@pytest.fixture
def pinned(tmp_path: Path) -> Any:
    def pin(example: Counterexample, name: str = "pin") -> Path:
        write(example, tmp_path / f"{name}.json")
        return tmp_path / f"{name}.json"

    return pin


def test_one_in_scope_must_not_violate_any_more(refuting: Any, pinned: Any) -> None:
    assert not must_violate(FALSE, refuting)
    with pytest.raises(ClaimFails, match="must not violate") as failure:
        require_as_pinned(FALSE, pinned(refuting))
    said = str(failure.value)
    assert "exactly the claim fails: Σx² ≤ (Σx)², that is 2 ≤ 0 is false" in said
    assert f"go on: relu-verify replay {pinned(refuting)}" in said


def test_once_the_assumption_is_made_it_passes(refuting: Any, pinned: Any) -> None:
    corrected = numbers_theorem(
        claims=(Universal(squares_are_subadditive, given=(POSITIVE,)),), controls=()
    )
    require_as_pinned(corrected, pinned(refuting))
    assert outcome(corrected, refuting)[0] == "not violated"


def test_one_in_floating_point_is_replayed_in_floating_point(refuting: Any, pinned: Any) -> None:
    floating = replace(refuting, exact=None, evidence="floating point, beyond its rounding bound")
    with pytest.raises(ClaimFails, match="in floating point, its margin is -2"):
        require_as_pinned(numbers_theorem(exact=None, claims=FALSE.claims), pinned(floating))
    require_as_pinned(numbers_theorem(exact=None), pinned(floating))


def test_one_without_an_assumption_must_still_violate(outside: Any, pinned: Any) -> None:
    assert must_violate(TRUE, outside)
    require_as_pinned(TRUE, pinned(outside))

    def weaker(trial: Any) -> Any:
        """The sum of the squares is at most the square of the sum and 100."""
        margin = squares_are_subadditive(trial)
        return replace(margin, right=margin.right + 100)

    assert TRUE.exact is not None
    form = TRUE.exact.statements["squares_are_subadditive"]

    def exactly_weaker(numbers: Any) -> Any:
        return replace(form(numbers), right=form(numbers).right + 100)

    statements = {**TRUE.exact.statements, "squares_are_subadditive": exactly_weaker}
    claim = Universal(weaker, given=TRUE.claims[0].given, name="squares_are_subadditive")
    changed = numbers_theorem(
        claims=(claim,), controls=(), exact=replace(TRUE.exact, statements=statements)
    )
    with pytest.raises(ClaimFails, match="must still violate squares_are_subadditive without all"):
        require_as_pinned(changed, pinned(outside))


def test_one_of_a_control_must_still_violate(pinned: Any) -> None:
    asked = Sought(TRUE, TRUE.claim("sum_is_small"))
    control = seek(asked, examples=40).smallest
    assert control is not None
    assert must_violate(TRUE, control)
    require_as_pinned(TRUE, pinned(control))


def test_a_probability_cannot_be_pinned(refuting: Any) -> None:
    with pytest.raises(InputError, match="about a probability, which no single instance refutes"):
        must_violate(TRUE, replace(refuting, claim="sum_is_often_small"))


def test_a_claim_that_is_gone_is_told(refuting: Any, pinned: Any) -> None:
    gone = replace(
        refuting, claim="another", exact=None, evidence="floating point, beyond its rounding bound"
    )
    with pytest.raises(UnknownName, match="no claim 'another'"):
        require_as_pinned(TRUE, pinned(gone))


def test_pins_lie_beside_the_users_file_or_in_the_working_folder() -> None:
    mine = replace(TRUE, origin="file:/there/sums.py\0sums.py")
    assert folder_of(mine) == Path("/there/sums.pinned")
    assert folder_of(TRUE) == Path("pinned")


def test_a_common_folder_has_pins_of_several_theorems(pinned: Any, outside: Any) -> None:
    mine = pinned(outside, "mine")
    pinned(replace(outside, theorem="another"), "others")
    broken = mine.with_name("broken.json")
    broken.write_text("{}")
    assert list(pins_of(TRUE, mine.parent)) == [broken, mine]
