"""How often what is sampled is decided before the first trial."""

import numpy as np
import pytest

from tests.verify.engine.toys import (
    HERE,
    at_least_zero,
    below_a_half,
    below_nine_tenths,
    everything,
    rate,
    simulate,
    theorem_of,
)
from verify.claims import Control, Probable, Universal
from verify.engine.plan import (
    PROFILES,
    Cell,
    plan,
    profile_named,
    replace_cells,
    selected,
    trials_of,
    whole,
)
from verify.errors import InputError, UnknownName
from verify.space import Point
from verify.statistics import ErrorBudget
from verify.theorem import points_of
from verify.verdict import ENOUGH, Conclusion, Tally, conclude_probable

QUICK = PROFILES["quick"]
BUDGET = ErrorBudget(0.05, 4)


def planned(theorem, profile=QUICK, trials=None, claims=None):
    return plan(theorem, selected(theorem, claims), profile, BUDGET, trials)


def test_profiles_are_known_by_name_and_grow():
    assert list(PROFILES) == ["quick", "full", "nightly"]
    assert all(profile_named(name).name == name for name in PROFILES)
    for smaller, larger in (("quick", "full"), ("full", "nightly")):
        assert PROFILES[smaller].trials < PROFILES[larger].trials
        assert PROFILES[smaller].sweep_trials < PROFILES[larger].sweep_trials
    with pytest.raises(UnknownName, match="profile='slow' is unknown: use one of quick, full"):
        profile_named("slow")


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_every_profile_gives_enough_trials_to_conclude_anything(profile):
    assert min(profile.trials, profile.sweep_trials) >= ENOUGH


@pytest.mark.parametrize("probability", [0.5, 0.95, 0.99, 0.999])
@pytest.mark.parametrize("cells", [1, 7])
@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_a_with_probability_claim_gets_the_trials_that_can_support_it(probability, cells, profile):
    claim = Probable(
        at_least_zero, probability=probability, at=tuple(Point(n=k) for k in range(cells))
    )
    trials = trials_of(theorem_of(claim), claim, profile, BUDGET)
    all_hold = Tally(trials, trials, trials, 0, 0, 0.0)
    error = BUDGET.per_cell(cells)
    assert conclude_probable(all_hold, probability, error) is Conclusion.SUPPORTED
    assert trials >= profile.trials


def test_each_kind_of_claim_gets_its_own_number_and_a_cell_the_most_that_is_asked_there():
    theorem = theorem_of(
        Universal(at_least_zero), Probable(below_nine_tenths, probability=0.99), rate()
    )
    kinds = {claim.kind: trials_of(theorem, claim, QUICK, BUDGET) for claim in theorem.claims}
    assert kinds["universal"] == QUICK.trials
    assert kinds["rate"] == QUICK.sweep_trials
    assert kinds["probable"] > QUICK.trials
    sizes = {cell.point: cell.trials for cell in planned(theorem)}
    assert sizes == {
        HERE: kinds["probable"],
        **{Point(n=n): kinds["rate"] for n in (2, 4, 8)},
    }


def test_trials_asked_for_replace_those_of_every_kind():
    assert {cell.trials for cell in planned(everything(), trials=17)} == {17}


@pytest.mark.parametrize("trials", [0, -1, 1.5, 2.0, "5", None])
def test_a_number_of_trials_is_a_whole_number_of_at_least_one(trials):
    with pytest.raises(InputError, match=r"trials=.*, expected a whole number of at least 1"):
        whole("trials", trials, 1)
    if trials is not None:
        with pytest.raises(InputError, match="expected a whole number of at least 1"):
            planned(everything(), trials=trials)


def test_a_number_of_numpy_is_a_number():
    assert type(whole("trials", np.int64(5), 1)) is int


def test_claims_at_one_point_share_a_cell_and_a_broken_simulator_has_its_own():
    theorem = theorem_of(
        Universal(at_least_zero),
        Universal(below_a_half, at=(Point(n=1.0), Point(n=2))),
        controls=(
            Control(Universal(below_nine_tenths), "no"),
            Control(Universal(at_least_zero, name="broken"), "no", simulate=simulate),
        ),
    )
    assert [(cell.point["n"], cell.control, cell.claims) for cell in planned(theorem)] == [
        (1, "", ("at_least_zero", "below_a_half", "below_nine_tenths")),
        (2, "", ("below_a_half",)),
        (1, "broken", ("broken",)),
    ]


def test_a_selection_plans_its_own_cells_claims_and_trials():
    theorem = everything()
    cells = planned(theorem, claims=["at_least_zero"])
    assert cells == (Cell(HERE, "", ("at_least_zero",), QUICK.trials),)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (None, ["at_least_zero", "below_nine_tenths", "rising", "below_a_half"]),
        (["rising", "at_least_zero", "rising"], ["at_least_zero", "rising"]),
        ({"below_a_half"}, ["below_a_half"]),
        ("rising", ["rising"]),
    ],
)
def test_a_selection_is_in_the_order_of_the_theorem(names, expected):
    assert [claim.id for claim in selected(everything(), names)] == expected


def test_a_selection_of_nothing_or_of_the_unknown_is_refused():
    with pytest.raises(InputError, match="claims is empty"):
        selected(everything(), [])
    with pytest.raises(UnknownName, match=r"no claim or measure 'riisng'; it has .*, rising"):
        selected(everything(), ["rising", "riisng"])


def test_other_cells_move_claims_but_neither_rates_nor_controls():
    theorem = theorem_of(
        Universal(at_least_zero),
        Probable(below_nine_tenths, at=(Point(n=5),)),
        rate(),
        controls=(Control(Universal(below_a_half), "false at n = 1, who knows elsewhere"),),
    )
    moved = replace_cells(theorem, iter([Point(n=7), Point(n=8)]))
    where = {claim.id: points_of(moved, claim) for claim in moved.all_claims}
    assert where == {
        "at_least_zero": (Point(n=7), Point(n=8)),
        "below_nine_tenths": (Point(n=7), Point(n=8)),
        "rising": points_of(theorem, theorem.claim("rising")),
        "below_a_half": (HERE,),
    }


def test_other_cells_are_points_and_at_least_one():
    with pytest.raises(InputError, match="cells is empty, expected at least one Point"):
        replace_cells(everything(), [])
    with pytest.raises(InputError, match="at holds 3, expected a Point"):
        replace_cells(everything(), [3])
