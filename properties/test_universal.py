"""Every universal claim of the built-in theorems is searched: no counterexample in scope.

pytest properties -n auto --hypothesis-profile=ci|dev|nightly: the profile says how many examples,
and whether the seed is 0 or a new one (a failure tells it). Whatever the profile, counterexamples
that an earlier run found come first (`properties.kept`).
"""

from __future__ import annotations

from random import SystemRandom
from typing import Any

import pytest
from hypothesis import settings

from properties.catalogue import MODULES, find_theorem
from properties.kept import database_in
from properties.search import hunted_claims
from properties.suite import require_no_counterexample

CASES = [
    pytest.param(theorem, claim, id=theorem.address_of(claim.id))
    for theorem in map(find_theorem, MODULES)
    for claim in hunted_claims(theorem)
]


@pytest.mark.parametrize(("theorem", "claim"), CASES)
def test_no_counterexample(theorem: Any, claim: Any, pytestconfig: Any) -> None:
    chosen = settings()
    seed = 0 if chosen.derandomize else SystemRandom().randrange(2**32)
    database = database_in(pytestconfig.rootpath)
    require_no_counterexample(theorem, claim, chosen.max_examples, seed, database)
