"""Hypothesis hunts every universal claim of the built-in theorems: no counterexample in scope.

pytest properties -n auto --hypothesis-profile=ci|dev|nightly
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, note, target
from hypothesis import strategies as st

from properties.catalogue import MODULES, find_theorem
from properties.search import OUT_OF_SCOPE, VIOLATED, hunted_cases, look_at

CASES = [pytest.param(*case, id=name) for name, case in hunted_cases(map(find_theorem, MODULES))]


@pytest.mark.parametrize(("theorem", "claim", "kind", "strategy"), CASES)
@given(data=st.data())
def test_no_counterexample(theorem: Any, claim: Any, kind: Any, strategy: Any, data: Any) -> None:
    recipe = data.draw(strategy, label=kind)
    look = look_at(theorem, claim, kind, recipe)
    if look.outcome != OUT_OF_SCOPE:
        target(look.score, label="negated margin")
    note(f"{look.outcome}, margin {look.margin:.6g}")
    assert look.outcome != VIOLATED, f"{claim.statement} Violated by {recipe}, margin {look.margin}"
