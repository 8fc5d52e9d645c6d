"""Every claim and control of the built-in theorems gets the verdict that is expected of it.

Seeded Monte Carlo at the profile quick; under --hypothesis-profile=nightly, at full.
"""

from __future__ import annotations

from typing import Any

import pytest

from properties.catalogue import MODULES, find_theorem
from properties.suite import require_expected_verdict

CASES = [
    pytest.param(theorem, claim, id=theorem.address_of(claim.id))
    for theorem in map(find_theorem, MODULES)
    for claim in theorem.all_claims
]


@pytest.mark.parametrize(("theorem", "claim"), CASES)
def test_verdict_is_the_expected_one(theorem: Any, claim: Any, pytestconfig: Any) -> None:
    nightly = pytestconfig.getoption("--hypothesis-profile") == "nightly"
    require_expected_verdict(theorem, claim, "full" if nightly else "quick", seed=0)
