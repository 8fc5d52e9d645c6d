"""A check says of every claim what its trials show, and nothing else."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.verify.engine.toys import (
    ALWAYS_MET,
    HERE,
    NEVER_MET,
    OFTEN_MET,
    UNKNOWN,
    at_least_zero,
    below_a_half,
    below_nine_tenths,
    below_zero,
    counting,
    everything,
    never_decided,
    rate,
    rising,
    same_claims,
    theorem_of,
    write_theorem,
)
from verify.claims import Assumption, Control, Probable, Universal
from verify.engine.check import check
from verify.engine.evaluate import draw_trial
from verify.engine.executors import ProcessPool
from verify.engine.plan import Cell
from verify.engine.store import Store
from verify.errors import InputError, TheoremError, UnknownName
from verify.loading import load_file
from verify.margin import Margin
from verify.space import Point
from verify.verdict import Conclusion

CERTIFIED, SUPPORTED, REFUTED, VACUOUS, INCONCLUSIVE, UNDECIDED = Conclusion


def concluded(claim, **options):
    return check(theorem_of(claim), **options)[0].verdict


# The conclusions, by kind of claim


@pytest.mark.parametrize(
    ("claim", "trials", "expected"),
    [
        (Universal(at_least_zero), 60, SUPPORTED),
        (Universal(at_least_zero), 29, INCONCLUSIVE),
        (Universal(at_least_zero, given=(OFTEN_MET,)), 40, INCONCLUSIVE),
        (Universal(at_least_zero, given=(NEVER_MET,)), 60, VACUOUS),
        (Universal(at_least_zero, given=(NEVER_MET, UNKNOWN)), 60, VACUOUS),
        (Universal(never_decided), 60, UNDECIDED),
        (Universal(at_least_zero, given=(UNKNOWN,)), 60, UNDECIDED),
        (Universal(below_zero, given=(UNKNOWN,)), 60, UNDECIDED),
        (Universal(below_a_half), 60, REFUTED),
        (Universal(below_nine_tenths, given=(OFTEN_MET,)), 200, SUPPORTED),
        (Universal(below_a_half, given=(NEVER_MET,)), 60, VACUOUS),
    ],
)
def test_a_universal_claim_reaches_each_conclusion(claim, trials, expected):
    assert concluded(claim, trials=trials) is expected


@pytest.mark.parametrize(
    ("claim", "trials", "expected"),
    [
        (Probable(below_nine_tenths, probability=0.7), 200, SUPPORTED),
        (Probable(below_nine_tenths, probability=0.9), 200, INCONCLUSIVE),
        (Probable(below_nine_tenths, probability=0.1), 29, INCONCLUSIVE),
        (Probable(below_nine_tenths, probability=0.99), 200, REFUTED),
        (Probable(below_nine_tenths, probability=0.7, given=(NEVER_MET,)), 200, VACUOUS),
        (Probable(never_decided, probability=0.7), 200, UNDECIDED),
        (Probable(below_nine_tenths, probability=0.7, given=(UNKNOWN,)), 200, UNDECIDED),
        (Probable(below_nine_tenths, probability=0.99, given=(OFTEN_MET,)), 2000, SUPPORTED),
    ],
)
def test_a_with_probability_claim_reaches_each_conclusion(claim, trials, expected):
    assert concluded(claim, trials=trials) is expected


def test_a_with_probability_claim_is_as_good_as_its_worst_cell():
    def below_one_over_n(trial):
        """u is below 1/n."""
        return Margin(trial.problem, 1 / trial.point["n"])

    claim = Probable(below_one_over_n, probability=0.8, at=(Point(n=1), Point(n=2)))
    found = check(theorem_of(claim), trials=200)[0]
    assert [cell.verdict for cell in found.cells] == [SUPPORTED, REFUTED]
    assert found.verdict is REFUTED
    assert found.upper_bound == found.cells[1].upper_bound < 0.8
    assert "P ≤ 0." in found.detail


def test_a_claim_never_in_scope_in_one_cell_is_vacuous_and_says_so():
    def n_is_one(trial):
        """n is 1."""
        return Margin(trial.point["n"], 1)

    given = (replace(ALWAYS_MET, inequality=n_is_one),)
    claim = Probable(at_least_zero, given=given, at=(Point(n=1), Point(n=2)))
    found = check(theorem_of(claim))[0]
    assert found.verdict is VACUOUS
    assert found.detail == (
        "its assumptions were never met in at least one cell: n_is_one is violated in 200 of 200 "
        "(greatest margin -1); draw problems that meet it, or correct it"
    )
    pooled = check(theorem_of(Universal(at_least_zero, given=given, at=claim.at)))[0]
    assert pooled.verdict is SUPPORTED
    assert pooled.detail.endswith("; no instance in scope at n=2")
    many = tuple(Point(n=n) for n in range(1, 7))
    pooled = check(theorem_of(Universal(at_least_zero, given=given, at=many)))[0]
    assert pooled.detail.endswith("; no instance in scope at n=2, n=3, n=4 and 2 more cells")
    assert "no instance" not in check(theorem_of(Universal(at_least_zero)))[0].detail


def test_nan_never_counts_as_a_hold():
    def nan_on_the_left(trial):
        """u is at least 0, but NaN below one half."""
        return Margin(0.0, np.where(trial.problem < 0.5, np.nan, trial.problem))

    found = check(theorem_of(Universal(nan_on_the_left)), trials=100)[0]
    assert found.verdict is UNDECIDED
    assert found.holds + found.undecided == 100
    assert found.undecided > 20
    assert found.worst_margin >= 0.5


def test_counts_are_those_of_the_trials_asked_for_though_blocks_are_whole():
    found = check(theorem_of(Universal(below_a_half)), trials=25)[0]
    assert found.trials == found.in_scope == found.holds + found.violated == 25


# Controls


def test_a_control_must_come_out_refuted():
    theorem = theorem_of(
        Universal(at_least_zero),
        controls=(
            Control(Universal(below_a_half), because="u is above it every other time"),
            Control(Universal(below_nine_tenths, given=(NEVER_MET,)), because="never met"),
            Control(Universal(at_least_zero, name="off"), "it is off", simulate=lambda u: u),
        ),
    )
    verdicts = check(theorem)
    assert [v.expected for v in verdicts] == [SUPPORTED, REFUTED, REFUTED, REFUTED]
    assert [v.verdict for v in verdicts] == [SUPPORTED, REFUTED, VACUOUS, SUPPORTED]
    assert [v.as_expected for v in verdicts] == [True, True, False, False]
    assert verdicts["below_a_half"].because == "u is above it every other time"
    assert not verdicts.as_expected


def test_a_violation_is_found_again_where_the_verdict_says():
    theorem = theorem_of(Universal(below_a_half, at=(Point(n=1), Point(n=2))))
    found = check(theorem, trials=45, root_seed=3)[0]
    where = found.instance
    cell = Cell(Point(**where.point), where.control, (), theorem.block)
    u = draw_trial(theorem, cell, 3, where.block).problem[where.trial]
    assert where.margin == 0.5 - u == found.worst_margin


def test_an_instance_is_a_violation_beyond_rounding_or_none():
    def above_but_for_rounding(trial):
        """u is at least 0.5, up to 0.5."""
        return Margin(0.5, trial.problem, rounding=0.5)

    found = check(theorem_of(Universal(above_but_for_rounding)), trials=100)[0]
    assert found.verdict is UNDECIDED
    assert found.instance is None

    def on_the_bound(trial):
        """It is on its rounding bound."""
        return Margin(0.5, 0.0, rounding=0.5)

    found = check(theorem_of(Universal(on_the_bound)), trials=100)[0]
    assert (found.verdict, found.instance, found.undecided) == (UNDECIDED, None, 100)


# The error budget


def test_the_error_is_split_over_claims_and_controls_and_then_over_cells():
    verdicts = check(everything(), confidence=0.9)
    share = 0.1 / 4
    assert verdicts.error == pytest.approx(0.1)
    sides = [1 if v.kind == "rate" else 2 for v in verdicts]
    cells = [len(v.cells) if v.kind == "probable" else 1 for v in verdicts]
    assert [v.confidence for v in verdicts] == pytest.approx(
        [1 - share / (side * count) for side, count in zip(sides, cells, strict=True)]
    )
    assert 2 in cells


def test_all_printed_bounds_hold_together_as_often_as_the_confidence_says():
    """200 checks of claims that hold with probability ½, at confidence .8: some printed bound is
    wrong in at most 40, plus 4 deviations. Seeds are 0 to 199."""
    theorem = theorem_of(
        Universal(below_a_half, at=(Point(n=1), Point(n=2))),
        Probable(below_a_half, name="again", probability=0.5, at=(Point(n=3), Point(n=4))),
    )
    wrong = 0
    for seed in range(200):
        pooled, cellwise = check(theorem, trials=50, confidence=0.8, root_seed=seed)
        assert all(math.isnan(cell.lower_bound) for cell in pooled.cells), "nothing is printed"
        printed = [pooled, *cellwise.cells]
        wrong += any(not each.lower_bound <= 0.5 <= each.upper_bound for each in printed)
    assert 0 < wrong <= 40 + 4 * math.sqrt(40 * 0.8)


def test_true_claims_are_refuted_as_rarely_as_the_confidence_says():
    """200 checks of two claims that are true with nothing to spare, at confidence .8: at most 40
    wrong, plus 4 deviations. Seeds are 0 to 199."""
    theorem = theorem_of(
        Probable(below_nine_tenths, probability=0.9),
        Probable(below_a_half, probability=0.5, at=(Point(n=2), Point(n=3))),
    )
    wrong = sum(
        any(v.verdict is REFUTED for v in check(theorem, trials=50, confidence=0.8, root_seed=s))
        for s in range(200)
    )
    assert 0 < wrong <= 40 + 4 * math.sqrt(40 * 0.8)


# Selections


@pytest.mark.parametrize(
    "names",
    [["at_least_zero"], ["rising", "below_a_half"], {"below_nine_tenths"}, "below_a_half"],
)
def test_a_claim_gets_the_same_verdict_alone_as_among_all(names):
    everyone = check(everything())
    some = check(everything(), claims=names)
    ids = [names] if isinstance(names, str) else names
    assert same_claims(some, [v for v in everyone if v.claim in ids])
    assert some.error == everyone.error


def test_cells_without_a_selected_claim_are_not_drawn():
    theorem = everything()
    drawn = []

    def noted(point, generator, trials):
        drawn.append(point)
        return theorem.draw(point, generator, trials)

    check(replace(theorem, draw=noted), claims=["at_least_zero"])
    assert set(drawn) == {HERE}


def test_a_claim_that_fails_does_not_stop_the_others_when_they_are_selected():
    def fails(trial):
        """It fails."""
        raise ValueError

    theorem = theorem_of(Universal(at_least_zero), Universal(fails))
    with pytest.raises(TheoremError, match="in claim fails"):
        check(theorem)
    assert check(theorem, claims=["at_least_zero"])[0].verdict is SUPPORTED


def test_a_selection_of_nothing_or_of_the_unknown_is_refused():
    with pytest.raises(UnknownName, match="no claim or measure 'x'; it has at_least_zero"):
        check(everything(), claims=["x"])
    with pytest.raises(InputError, match="claims is empty"):
        check(everything(), claims=[])


# Arguments


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"confidence": 0}, "confidence=0, expected between 0 and 1, try 0.95"),
        ({"confidence": 95}, "confidence=95, expected between"),
        ({"confidence": math.nan}, "confidence=nan"),
        ({"root_seed": -1}, "root_seed=-1, expected a whole number of at least 0"),
        ({"root_seed": 0.5}, "root_seed=0.5, expected a whole number"),
        ({"profile": "slow"}, "profile='slow' is unknown"),
        ({"trials": 0}, "trials=0, expected a whole number of at least 1"),
        ({"cells": []}, "cells is empty"),
        ({"backend": "tapes"}, "backend='tapes' is unknown"),
    ],
)
def test_unusable_arguments_are_refused_by_name(options, message):
    with pytest.raises(InputError, match=message):
        check(everything(), **options)


def test_numbers_of_numpy_are_numbers():
    plain = check(everything(), trials=40, root_seed=5)
    assert same_claims(plain, check(everything(), trials=np.int64(40), root_seed=np.uint8(5)))


def test_other_cells_are_sampled_in_place_of_the_theorems():
    verdicts = check(everything(), cells=[Point(n=3)], trials=30)
    where = {v.claim: [cell.point for cell in v.cells] for v in verdicts}
    assert where["at_least_zero"] == where["below_nine_tenths"] == [{"n": 3}]
    assert where["below_a_half"] == [{"n": 1}]


def test_a_theorem_made_in_memory_cannot_be_sent_to_workers():
    with (
        ProcessPool(1) as pool,
        pytest.raises(InputError, match="not loaded from a file, so worker processes cannot find"),
    ):
        check(everything(), executor=pool)


def test_a_theorem_made_in_memory_is_stored_only_if_it_names_its_source(tmp_path):
    with Store(tmp_path / "s.sqlite") as store:
        with pytest.raises(InputError, match="records could not be told from those of another"):
            check(everything(), store=store)
        first = replace(everything(), source="my data, version 1")
        check(first, store=store, trials=10)
        for source, computed in (("my data, version 1", 0), ("my data, version 2", 4)):
            progress, told = counting()
            check(replace(first, source=source), store=store, trials=10, progress=progress)
            assert len(told) == computed


def test_a_loaded_theorem_that_was_changed_is_neither_stored_nor_sent(tmp_path):
    theorem = load_file(write_theorem(tmp_path))
    weaker = tuple(replace(claim, given=()) for claim in theorem.claims)
    for changed in (replace(theorem, claims=weaker), replace(theorem, block=20)):
        with (
            Store(tmp_path / "s.sqlite") as store,
            pytest.raises(InputError, match=r"is not .* the"),
        ):
            check(changed, store=store)
        with ProcessPool(1) as pool, pytest.raises(InputError, match=r"is not .* the one in its"):
            check(changed, executor=pool)
        assert len(check(changed, trials=40)) == 3


# What is not deterministic


def test_a_claim_that_uses_other_randomness_is_found_out():
    def random_elsewhere(trial):
        """It rolls dice of its own."""
        return Margin(0.0, np.random.default_rng().random(trial.trials))

    theorem = theorem_of(Universal(at_least_zero), Universal(random_elsewhere))
    with pytest.raises(
        TheoremError,
        match=r"block 0 at n=1 came out differently .*\(random_elsewhere.value\).*something is not"
        r".*test_check.py:\d+ in claim random_elsewhere gives different answers for the same",
    ):
        check(theorem)


def test_an_assumption_that_rolls_dice_is_told_before_the_claims_that_it_scopes():
    def lucky(trial):
        """It is lucky."""
        return Margin(0.5, np.random.default_rng().random(trial.trials))

    theorem = theorem_of(Universal(at_least_zero, given=(Assumption(lucky),)))
    with pytest.raises(TheoremError, match=r"py:\d+ in assumption lucky gives different answers"):
        check(theorem)


def test_where_claims_are_steady_draw_and_simulate_are_looked_at():
    def draw(point, generator, trials):
        return np.random.default_rng().random(trials)

    theorem = theorem_of(Universal(at_least_zero), draw=draw)
    with pytest.raises(
        TheoremError, match=r"look at \S+test_check.py:\d+ in draw and \S+toys.py:\d+ in simulate"
    ):
        check(theorem)


def test_a_claim_that_keeps_state_between_blocks_is_found_out():
    seen = []

    def remembers(trial):
        """It counts its calls."""
        seen.append(1)
        return Margin(0.0, len(seen))

    theorem = theorem_of(Universal(at_least_zero), Universal(remembers, at=(Point(n=9),)))
    with pytest.raises(TheoremError, match=r"at n=9 came out differently .*\(remembers.value\)"):
        check(theorem)


def test_a_block_that_came_out_differently_is_not_stored(tmp_path):
    noisy = {
        "return Margin(0.0, trial.problem)": "return Margin(0.0, np.random.default_rng().random())"
    }
    theorem = load_file(write_theorem(tmp_path, **noisy))
    for _ in range(2):
        with (
            Store(tmp_path / "s.sqlite") as store,
            pytest.raises(TheoremError, match="differently"),
        ):
            check(theorem, store=store)


def test_few_blocks_are_computed_twice():
    calls = []

    def counted(trial):
        """u is at least 0."""
        calls.append(1)
        return Margin(0.0, trial.problem)

    check(theorem_of(Universal(counted, at=tuple(Point(n=n) for n in range(5)))), trials=100)
    assert len(calls) == 51


# Progress


def test_progress_counts_blocks_to_the_last():
    progress, told = counting()
    check(theorem_of(Universal(at_least_zero), rate()), trials=25, progress=progress)
    assert [done for done, _, _ in told] == list(range(1, 13))
    assert {total for _, total, _ in told} == {12}
    assert told[0][2] == "toy  n=1"


def test_rising_is_what_the_toys_say():
    assert check(theorem_of(rate()))[rising.__name__].verdict is SUPPORTED
