"""On one given instance a claim is certified, refuted, out of scope or not to be decided."""

import numpy as np
import pytest

from tests.verify.engine.toys import (
    NEVER_MET,
    OFTEN_MET,
    UNKNOWN,
    at_least_zero,
    below_a_half,
    below_zero,
    never_decided,
    rate,
    theorem_of,
)
from verify.claims import Probable, Universal
from verify.engine.examine import examine
from verify.errors import TheoremError
from verify.margin import Margin
from verify.verdict import Conclusion


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        (Universal(at_least_zero), Conclusion.CERTIFIED),
        (Universal(below_a_half), Conclusion.REFUTED),
        (Universal(below_a_half, given=(NEVER_MET,)), Conclusion.VACUOUS),
        (Universal(below_zero, given=(OFTEN_MET,)), Conclusion.VACUOUS),
        (Universal(at_least_zero, given=(UNKNOWN,)), Conclusion.UNDECIDED),
        (Universal(below_a_half, given=(UNKNOWN,)), Conclusion.UNDECIDED),
        (Universal(never_decided), Conclusion.UNDECIDED),
        (Probable(at_least_zero), None),
        (Probable(below_a_half), None),
    ],
)
def test_a_claim_on_one_instance_reaches_each_conclusion(claim, expected):
    _, (found,) = examine(theorem_of(claim), np.array([0.75]))
    assert found.conclusion is expected


def test_assumptions_are_told_once_with_state_and_margin():
    claims = [
        Universal(at_least_zero, given=(OFTEN_MET, UNKNOWN)),
        Universal(below_zero, given=(OFTEN_MET,)),
    ]
    met, _ = examine(theorem_of(*claims, rate()), np.array([0.75]))
    told = [(each.assumption.id, each.state, each.margin) for each in met]
    assert told == [("below_a_half", "violated", -0.25), ("never_decided", "unknown", 0.75)]


def test_the_callers_arrays_stay_theirs_to_write():
    def writes(trial):
        """It writes."""
        trial.problem[0][:] = 0
        return Margin(0, 1)

    u, kept = np.array([0.75]), np.array([0.25])
    kept.flags.writeable = False
    theorem = theorem_of(Universal(writes))
    with pytest.raises(TheoremError, match="read-only"):
        examine(theorem, (u, kept))
    u[0] = 0.5
    assert not kept.flags.writeable
