"""Frontiers of toy theorems whose boundaries are known."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.verify.engine.toys import theorem_of
from verify.claims import Assumption, Rate, Status, Sweep, Universal
from verify.engine.frontier import Frontier, FrontierRequest, measure_frontier
from verify.engine.store import Store
from verify.errors import InputError, UnknownName
from verify.margin import Margin
from verify.space import Axis, Point
from verify.theorem import Theorem
from verify.trial import Trial

X, N = Axis("x", 1.0, 1e4, "log"), Axis("n", 2, 100, "integer")


def chance(point: Point) -> float:
    """P(claim holds): a logistic curve in log x, one half at x = n·log n."""
    at = point["n"] * math.log(point["n"])
    return 1 / (1 + (at / point["x"]) ** 3)


def holds_by_chance(trial: Trial) -> Margin:
    """u is below a chance that rises with x."""
    return Margin(trial.problem, chance(trial.point))


def island(trial: Trial) -> Margin:
    """u is below a chance that is high between x = 10 and x = 1000 only."""
    x = trial.point["x"]
    return Margin(trial.problem, 1 / (1 + (10 / x) ** 4) / (1 + (x / 1000) ** 4))


def falls(trial: Trial) -> Margin:
    """u is above a chance that rises with x."""
    return Margin(chance(trial.point), trial.problem)


def x_is_large(trial: Trial) -> Margin:
    """x ≥ 100·n."""
    return Margin(100.0 * trial.point["n"], float(trial.point["x"]))


def x_is_huge(trial: Trial) -> Margin:
    """x ≥ n², which implies the claim."""
    return Margin(float(trial.point["n"]) ** 2, float(trial.point["x"]))


def u_is_low(trial: Trial) -> Margin:
    """u ≤ 0.9."""
    return Margin(trial.problem, 0.9)


def predicted(trial: Trial) -> float:
    """What is predicted."""
    return chance(trial.point)


CERTIFICATE = Assumption(x_is_huge, certificate=True)


def theorem(*claims: Universal, **changes: Any) -> Theorem:
    given: dict[str, Any] = {
        "axes": (X, N),
        "hypotheses": (Assumption(x_is_large),),
        "block": 50,
        "cells": (Point(n=5, x=10.0),),
    }
    return theorem_of(*claims, **{**given, **changes})


def measured(claim: Universal, budget: int = 8_000, **request: Any) -> Frontier:
    asked = {"x": X, "y": N, "y_values": (5, 20, 80), "levels": (0.5, 0.9)} | request
    toy = theorem(claim)
    return measure_frontier(toy, claim, FrontierRequest(budget=budget, **asked))


@pytest.fixture(scope="module")
def found() -> Frontier:
    return measured(Universal(holds_by_chance, given=(CERTIFICATE,), prediction=predicted))


def where(n: int, level: float) -> float:
    """Where the probability is `level`."""
    return n * math.log(n) * (level / (1 - level)) ** (1 / 3)


def test_boundaries_are_where_they_are(found: Frontier) -> None:
    assert [(row.y, row.level) for row in found.rows] == [
        (n, level) for n in (5, 20, 80) for level in (0.5, 0.9)
    ]
    for row in found.rows:
        assert None not in (row.boundary, row.low, row.high, row.y)
        true = where(int(row.y), row.level)  # type: ignore[arg-type]
        assert row.low <= true <= row.high  # type: ignore[operator]
        assert row.boundary == pytest.approx(true, rel=0.15)
        assert row.high / row.low < (1.9 if row.level == 0.5 else 6)  # type: ignore[operator]
        assert row.direction == "rising"
    assert found.settled


def test_trials_go_where_the_answer_is_uncertain(found: Frontier) -> None:
    near = [c for c in found.cells if c.y == 20 and 0.5 < c.x / where(20, 0.5) < 4]  # type: ignore[operator]
    row = [c for c in found.cells if c.y == 20]
    assert sum(c.trials for c in near) > 0.6 * sum(c.trials for c in row)
    assert found.trials == sum(cell.trials for cell in found.cells)
    assert found.trials <= 8_000


def test_laws_along_the_rows(found: Frontier) -> None:
    fits = {(fit.level, fit.q): fit for fit in found.fits}
    assert fits[0.5, 1].p_low <= 1.0 <= fits[0.5, 1].p_high
    assert fits[0.5, 1].p == pytest.approx(1.0, abs=0.1)
    assert fits[0.5, 1].consistent
    assert {one.verdict for one in found.comparison} <= {"indistinguishable", "q=1"}


def test_lines_beside_the_claim(found: Frontier) -> None:
    lines = {(line.what, line.id): line for line in found.lines}
    certificate = lines["certificate", "x_is_huge"]
    assert found.left_out == ("x_is_huge",)
    for row in (row for row in certificate.rows if row.level == 0.5):
        assert row.low <= row.y**2 <= row.high  # type: ignore[operator]
    assumption = lines["assumption", "x_is_large"]
    for row in assumption.rows:
        assert row.low < 100 * row.y <= row.high  # type: ignore[operator]
        assert row.high == row.boundary
        assert row.high / row.low < 1.05  # type: ignore[operator]
    prediction = lines["prediction", "prediction"]
    for row in prediction.rows:
        assert row.boundary == pytest.approx(where(row.y, row.level), rel=0.03)  # type: ignore[arg-type]


def test_frequencies_have_intervals_of_their_own(found: Frontier) -> None:
    for cell in found.cells:
        assert cell.in_scope == cell.holds + cell.violated + cell.undecided == cell.trials
        assert cell.low <= cell.frequency <= cell.high  # type: ignore[operator]
        assert cell.prediction == pytest.approx(chance(Point(n=cell.y, x=cell.x)))  # type: ignore[arg-type]


def test_an_island_has_two_shores() -> None:
    result = measured(Universal(island), y=None, y_values=(), at={"n": 5}, levels=(0.5,))
    shores = [(row.direction, row.boundary) for row in result.rows]
    assert [direction for direction, _ in shores] == ["rising", "falling"]
    assert [at for _, at in shores] == [pytest.approx(10, rel=0.2), pytest.approx(1000, rel=0.2)]
    for row, true in zip(result.rows, (10, 1000), strict=True):
        assert row.low < true < row.high  # type: ignore[operator]
        assert "turns along this row" in row.note


def test_a_probability_that_falls() -> None:
    result = measured(Universal(falls), y=None, y_values=(), at={"n": 20}, levels=(0.9,))
    (row,) = result.rows
    assert row.direction == "falling"
    assert row.low <= where(20, 0.1) <= row.high  # type: ignore[operator]


def test_no_boundary_in_the_range_is_said() -> None:
    high = measured(Universal(holds_by_chance), x=Axis("x", 1e3, 1e4, "log"), levels=(0.5,))
    assert [row.note for row in high.rows[:2]] == [
        "no boundary: the probability stays above 0.5 at every value sampled"
    ] * 2
    low = measured(Universal(holds_by_chance), x=Axis("x", 1.0, 3.0, "log"), levels=(0.5,))
    assert low.rows[2].note == "no boundary: the probability stays below 0.5 at every value sampled"
    assert low.settled


def test_scope_counts_and_its_absence_is_said() -> None:
    conditional = measured(
        Universal(holds_by_chance, given=(Assumption(u_is_low),)), levels=(0.5,), budget=2_000
    )
    cells = [cell for cell in conditional.cells if cell.trials >= 50]
    assert 0.8 < sum(c.in_scope for c in cells) / sum(c.trials for c in cells) < 0.97
    nowhere = measured(
        Universal(holds_by_chance, given=(Assumption(falls), Assumption(holds_by_chance_twice))),
        levels=(0.5,),
        budget=100,
    )
    assert "no trial met what the claim is given" in nowhere.rows[0].note
    assert not nowhere.settled


def holds_by_chance_twice(trial: Trial) -> Margin:
    """u is negative."""
    return Margin(trial.problem, -1.0)


def never_decided(trial: Trial) -> Margin:
    """Nobody knows."""
    return Margin(0.0, trial.problem, rounding=np.inf)


def test_undecided_trials_leave_the_row_open() -> None:
    result = measured(Universal(never_decided), levels=(0.5,), budget=3_000)
    for row in result.rows:
        assert row.low is row.high is row.boundary is None
        assert "trials in scope are undecided" in row.note
    assert not result.settled


def linear(trial: Trial) -> Margin:
    """u is below .4 + .3·(x − 1)/99, and a thirtieth of the trials are in scope."""
    return Margin(trial.problem[:, 0], 0.4 + 0.3 * (trial.point["x"] - 1) / 99)


def rarely_in_scope(trial: Trial) -> Margin:
    """v is below 1/30."""
    return Margin(trial.problem[:, 1], 1 / 30)


def test_the_direction_is_not_taken_from_few_trials() -> None:
    """A gentle rise seen by few trials in scope: what is said may be little, and must be true."""
    claim = Universal(linear, given=(Assumption(rarely_in_scope),))
    toy = theorem(claim, draw=lambda point, generator, trials: generator.random((trials, 2)))
    for seed in range(20):
        request = FrontierRequest(
            Axis("x", 1.0, 100.0), at={"n": 5}, levels=(0.5,), budget=2_500, root_seed=seed
        )
        for row in measure_frontier(toy, claim, request).rows:
            assert not row.absent
            assert row.direction in ("rising", None)
            assert (row.low or 1.0) <= 34.0 <= (row.high or 100.0)


def narrow(trial: Trial) -> Margin:
    """u is below a chance whose peak of .95 at x = 30 is narrow."""
    return Margin(trial.problem, 0.95 * math.exp(-(math.log(trial.point["x"] / 30) ** 2)))


def test_a_peak_between_the_values_of_the_coarse_grid_is_found() -> None:
    level = 0.9
    width = math.sqrt(math.log(0.95 / level))
    shores = 30 * math.exp(-width), 30 * math.exp(width)
    for seed in range(5):
        claim = Universal(narrow)
        request = FrontierRequest(X, at={"n": 5}, levels=(level,), budget=20_000, root_seed=seed)
        result = measure_frontier(theorem(claim), claim, request)
        assert not any(row.absent for row in result.rows)
        for row in result.rows:
            if row.boundary is not None:
                true = shores[0] if row.direction == "rising" else shores[1]
                assert row.low <= true <= row.high  # type: ignore[operator]


def test_an_assumption_can_be_left_out_of_the_scope() -> None:
    claim = Universal(holds_by_chance, given=(Assumption(u_is_low),))
    request = FrontierRequest(X, N, (5,), levels=(0.5,), budget=1_000, without=("u_is_low",))
    dropped = measure_frontier(theorem(claim), claim, request)
    assert dropped.given == ()
    assert dropped.left_out == ("u_is_low",)
    assert all(cell.in_scope == cell.trials for cell in dropped.cells)
    of_theorem = replace(request, without=("x_is_large",))
    assert measure_frontier(theorem(claim), claim, of_theorem).left_out == ("x_is_large",)


class TestTheSameFrontier:
    CLAIM = Universal(holds_by_chance, given=(CERTIFICATE,))
    REQUEST = FrontierRequest(X, N, (5, 20), levels=(0.5,), budget=3_000, root_seed=4)

    def measure(self, **how: Any) -> dict[str, Any]:
        return measure_frontier(theorem(self.CLAIM), self.CLAIM, self.REQUEST, **how).to_json()

    def test_whoever_does_the_work(self) -> None:
        alone = self.measure()
        with ThreadPoolExecutor(3) as threads:
            assert self.measure(executor=threads) == alone

    def test_another_seed_is_another_frontier(self) -> None:
        other = replace(self.REQUEST, root_seed=5)
        again = measure_frontier(theorem(self.CLAIM), self.CLAIM, other).to_json()
        assert again["cells"] != self.measure()["cells"]

    def test_an_interrupted_one_goes_on(self, tmp_path: Any) -> None:
        toy = replace(theorem(self.CLAIM), source="toy of this test")

        def stop(done: int, _total: int, _what: str) -> None:
            if done > 1_500:
                raise KeyboardInterrupt

        how: dict[str, Any] = {"progress": stop}
        with Store(tmp_path / "records.sqlite") as store:
            with pytest.raises(KeyboardInterrupt):
                measure_frontier(toy, self.CLAIM, self.REQUEST, store=store, **how)
            resumed = measure_frontier(toy, self.CLAIM, self.REQUEST, store=store)
        assert resumed.to_json() == self.measure()

    def test_one_of_a_theorem_that_assumes_nothing_has_no_lines(self, tmp_path: Any) -> None:
        claim = Universal(holds_by_chance)
        toy = replace(theorem(claim, hypotheses=()), source="another toy of this test")
        with Store(tmp_path / "records.sqlite") as store:
            kept = measure_frontier(toy, claim, self.REQUEST, store=store)
        assert kept.lines == ()
        assert [(row.y, row.trials > 0) for row in kept.rows] == [(5, True), (20, True)]

    def test_progress_is_told_to_the_end(self) -> None:
        told: list[tuple[int, int, str]] = []
        self.measure(progress=lambda *entry: told.append(entry))
        assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)
        assert {what for _, _, what in told} == {"holds_by_chance", "x_is_huge"}
        assert all(done <= total for done, total, _ in told)


def n_of(trial: Trial) -> float:
    """n."""
    return float(trial.point["n"])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"levels": ()}, "levels"),
        ({"levels": (0.5, 1.0)}, "between 0 and 1"),
        ({"levels": (0.5, 0.5)}, "each once"),
        ({"confidence": 1.0}, "confidence=1.0"),
        ({"budget": 0}, "budget=0"),
        ({"y_values": ()}, "has no values"),
        ({"y_values": (5, 5)}, "each once"),
        ({"at": {"n": 5}}, "'n' is given twice"),
    ],
)
def test_requests_that_cannot_be_measured(changes: dict[str, Any], said: str) -> None:
    claim = Universal(holds_by_chance)
    request = replace(FrontierRequest(X, N, (5,)), **changes)
    with pytest.raises(InputError, match=said):
        measure_frontier(theorem(claim), claim, request)


def test_two_axes_for_one_thing_are_refused() -> None:
    claim = Universal(holds_by_chance)
    other = Axis("log_x", 0.0, 4.0, instead_of="x")
    toy = theorem(claim, wide_axes=(X, N, other))
    with pytest.raises(InputError, match="'log_x' takes the place of 'x'"):
        measure_frontier(toy, claim, FrontierRequest(X, N, (5,), at={"log_x": 1.0}))


def test_a_rate_has_no_frontier() -> None:
    points = tuple(Point(n=n, x=1.0) for n in (2, 4, 8))
    claim = Rate(n_of, sweeps=(Sweep("n", points, n_of, 1.0),))
    with pytest.raises(InputError, match="is a rate"):
        measure_frontier(theorem(claim), claim, FrontierRequest(X, N, (5,)))  # type: ignore[arg-type]


def test_unknown_axes_are_named() -> None:
    with pytest.raises(UnknownName, match="no axis 'y'; it has x, n"):
        theorem(Universal(holds_by_chance)).axis("y")


def test_status_of_a_prediction_is_none_of_a_verdict() -> None:
    assert Universal(holds_by_chance, prediction=predicted, status=Status.DERIVED).prediction
