"""Cells that hold one problem each: checked one by one, with no word of a probability."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from verify import Assumption, Margin, Point, Probable, Status, Theorem, Universal, check
from verify.claims import Rate, Sweep
from verify.errors import TheoremError
from verify.measures import Frequency, Quantiles
from verify.severity import ViolationRate, rate_words, violation_rate
from verify.verdict import Verdict


def draw(point, generator, trials):
    """Draw k of the point, times a scale that does not matter; k = 0 stands for chance."""
    k = np.full(trials, float(point["k"])) if point["k"] else 1 + generator.random(trials)
    scale = generator.uniform(1.0, 2.0, trials)
    return {"k": k, "scale": scale, "scaled": k * scale}


def k_of(trial):
    """k."""
    return trial.problem["scaled"] / trial.problem["scale"]


def k_is_small(trial):
    """k ≤ 7/2."""
    return Margin(k_of(trial), 3.5, rounding=1e-12)


def k_is_odd(trial):
    """k is odd."""
    return Margin(np.abs(k_of(trial) % 2 - 1), 0.5)


def nobody_knows(trial):
    """k ≤ 7/2, known where k ≤ 2."""
    return k_is_small(trial).undecided_where(k_of(trial) > 2.5)


def copies(point):
    """Return what the draws at k > 0 are."""
    return "rescalings" if point["k"] else ""


def cells(*numbers: int) -> tuple[Point, ...]:
    return tuple(Point(k=number) for number in numbers)


theorem = Theorem(
    id="listed",
    title="A finite list of numbers",
    citation="none",
    status=Status.DERIVED,
    draw=draw,
    simulate=lambda problem: None,
    copies=copies,
    cells=cells(1, 2, 3),
    claims=(Universal(k_is_small),),
)


def judged(claim: Any, trials: int = 50, of: Theorem = theorem) -> Verdict:
    return check(replace(of, claims=(claim,)), trials=trials)[0]


def nothing_is_said_of_a_probability(verdict: Verdict) -> bool:
    bounds = (verdict.lower_bound, verdict.upper_bound, verdict.confidence)
    return all(map(math.isnan, bounds)) and not set("≥P") & set(verdict.detail)


@pytest.mark.parametrize("trials", [2, 50])
def test_a_claim_about_a_list_is_certified_when_every_problem_is_checked(trials: int) -> None:
    verdict = judged(Universal(k_is_small), trials)
    assert verdict.verdict == "certified"
    assert verdict.as_expected
    assert (
        verdict.checked
        == verdict.detail
        == f"holds on 3 of 3 problems ({trials} rescalings of each)"
    )
    assert nothing_is_said_of_a_probability(verdict)
    assert [cell.copies for cell in verdict.cells] == ["rescalings"] * 3


def test_one_problem_is_one() -> None:
    verdict = judged(Universal(k_is_small, at=cells(1)))
    assert verdict.checked == "holds on 1 of 1 problem (50 rescalings of it)"


def test_one_problem_that_violates_it_refutes_it() -> None:
    verdict = judged(Universal(k_is_small, at=cells(1, 4, 5)))
    assert verdict.verdict == "refuted"
    assert verdict.detail == "violated on 2 of 3 problems (50 rescalings of each)"
    assert nothing_is_said_of_a_probability(verdict)
    rate = violation_rate(verdict, Point(k=4))
    assert rate is not None
    told = rate_words(rate.to_json())
    assert told == (
        "violated in 50 of 50 in scope at k = 4, rescalings of one problem: no sample, no "
        "probability"
    )
    assert (rate.low, rate.high) == (1.0, 1.0)


def test_a_problem_that_is_left_open_leaves_the_claim_open() -> None:
    verdict = judged(Universal(nobody_knows))
    assert verdict.verdict == "undecided"
    assert verdict.detail.startswith("holds on 2 of 3 problems (50 rescalings of each); undecided")


def test_a_problem_out_of_scope_is_none_that_it_holds_on() -> None:
    verdict = judged(Universal(k_is_small, given=(Assumption(k_is_odd),)))
    assert verdict.verdict == "certified"
    assert verdict.detail == (
        "holds on 2 of 3 problems (50 rescalings of each); no instance in scope at k=2"
    )
    nothing = judged(Universal(k_is_small, given=(Assumption(k_is_odd),), at=cells(2)))
    assert nothing.verdict == "vacuous"


def test_beside_a_sample_the_bound_is_of_the_sample_alone() -> None:
    verdict = judged(Universal(k_is_small, at=cells(0, 1, 2)))
    alone = judged(Universal(k_is_small, at=cells(0)))
    assert verdict.verdict == alone.verdict == "supported"
    assert (verdict.lower_bound, verdict.confidence) == (alone.lower_bound, alone.confidence)
    assert verdict.checked == "holds on 2 of 2 problems (50 rescalings of each)"
    assert verdict.detail == f"{alone.detail}; {verdict.checked}"
    few = judged(Universal(k_is_small, at=cells(0, 1)), trials=20)
    assert few.verdict == "inconclusive"


def test_a_probability_over_one_problem_is_none() -> None:
    verdict = judged(Probable(k_is_small, probability=0.9))
    assert verdict.verdict == "certified"
    assert nothing_is_said_of_a_probability(verdict)
    mixed = judged(Probable(k_is_small, probability=0.9, at=cells(0, 4)))
    assert mixed.verdict == "refuted"
    assert mixed.cells[0].verdict == "supported"
    assert mixed.checked == "violated on 1 of 1 problem (50 rescalings of it)".replace(
        "50", str(mixed.cells[1].tally.trials)
    )


def test_a_slope_through_single_problems_has_no_interval() -> None:
    def rate(*numbers: int) -> Rate:
        return Rate(k_of, sweeps=(Sweep("k", cells(*numbers), k_of, 1.0),))

    verdict = judged(rate(1, 2, 3))
    assert verdict.slopes[0].copies == "rescalings"
    assert math.isnan(verdict.confidence)
    assert "slope 1.0000 of one problem a point (claimed 1" in verdict.detail
    assert "[" not in verdict.detail
    assert judged(rate(0, 2, 3)).slopes[0].copies == ""


def test_what_is_measured_on_one_problem_is_known() -> None:
    measured = replace(
        theorem,
        cells=cells(1, 4, 0),
        measures=(
            Frequency(k_is_small, against=k_of, name="often"),
            Quantiles(k_of, axis="k", name="size"),
        ),
    )
    often, size = check(measured, trials=50).measured
    assert [(cell.low, cell.high) for cell in often.cells[:2]] == [(1, 1), (0, 0)]
    assert often.cells[2].low < often.cells[2].high == 1
    for cell, expected in zip(size.cells[:2], (1, 4), strict=True):
        for found in cell.quantiles:
            np.testing.assert_allclose([found.low, found.value, found.high], expected, rtol=1e-12)


def test_an_interval_of_a_sample_has_no_word_of_copies() -> None:
    assert "copies" not in ViolationRate.of(1, 0, 50, 50, {"k": 0}).to_json()


def test_copies_know_the_defaults_and_return_words() -> None:
    with_default = replace(theorem, defaults={"k": 2})
    assert with_default.copies_at(Point()) == "rescalings"
    assert replace(theorem, copies=None).copies_at(Point(k=1)) == ""
    with pytest.raises(TheoremError, match="returned True, expected what the draws"):
        replace(theorem, copies=lambda point: True).copies_at(Point(k=1))
