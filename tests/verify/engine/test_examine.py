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
from verify.engine.examine import Linked, chain_of, examine, examine_chain
from verify.errors import TheoremError
from verify.margin import Margin
from verify.measures import Chain
from verify.trial import Trial
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


def test_the_links_of_a_chain_are_judged_in_order_on_one_instance():
    links = (at_least_zero, below_a_half, never_decided)
    theorem = theorem_of(Universal(at_least_zero), chain=Chain(links=links))
    u = np.array([0.75])
    found = examine_chain(theorem, u)
    assert found == [
        Linked("at_least_zero", "u is at least 0.", "holds", 0.75),
        Linked("below_a_half", "u is below one half.", "violated", -0.25),
        Linked("never_decided", found[2].statement, "unknown", 0.75),
    ]
    u[0] = 0.25
    batch = np.array([0.75, 0.25])
    assert chain_of(theorem, Trial(theorem, None, batch, 2), 1)[1].state == "holds"
    assert chain_of(theorem, Trial(theorem, None, batch, 2))[1].state == "violated"


def test_a_link_about_the_point_alone_holds_for_every_instance():
    def two_is_more_than_one(trial):
        """1 is below 2."""
        return Margin(1.0, 2.0)

    theorem = theorem_of(Universal(at_least_zero), chain=Chain(links=(two_is_more_than_one,)))
    (linked,) = chain_of(theorem, Trial(theorem, None, np.array([0.1, 0.2]), 2), 1)
    assert (linked.state, linked.margin) == ("holds", 1.0)


def test_without_a_chain_there_are_no_links():
    theorem = theorem_of(Universal(at_least_zero))
    assert examine_chain(theorem, np.array([0.5])) == []
    assert chain_of(theorem, Trial(theorem, None, np.array([0.5]), 1)) == []
