"""Boundaries: the bets against them, the fitted curve, turns, and laws."""

from __future__ import annotations

import math

import numpy as np
import pytest

from verify.boundaries import (
    ABOVE,
    BELOW,
    FALLING,
    HOLDS,
    RISING,
    UNCLEAR,
    UNDECIDED,
    VIOLATED,
    Batch,
    Boundary,
    Wager,
    crossing,
    fit_law,
    fitted,
    side_of,
    turns,
)


def batch(place: float, holds: int = 0, violated: int = 0, undecided: int = 0) -> Batch:
    outcomes = [HOLDS] * holds + [VIOLATED] * violated + [UNDECIDED] * undecided
    return Batch(place, np.array(outcomes, dtype=np.int8))


def drawn(place: float, probability: float, trials: int, generator: np.random.Generator) -> Batch:
    held = generator.random(trials) < probability
    return Batch(place, np.where(held, HOLDS, VIOLATED).astype(np.int8))


def logistic(u: float) -> float:
    return 1 / (1 + math.exp(-2 * u))


class TestWager:
    def test_before_the_first_trial_nothing_is_excluded(self) -> None:
        assert Wager(0.5, RISING, 0.05).interval() == (-math.inf, math.inf)

    def test_all_hold_on_the_right_and_none_on_the_left(self) -> None:
        wager = Wager(0.5, RISING, 0.05)
        wager.settle([batch(-1.0, violated=40), batch(1.0, holds=40)], None)
        assert wager.interval() == (-1.0, 1.0)

    def test_falling_is_the_mirror_image(self) -> None:
        wager = Wager(0.5, FALLING, 0.05)
        wager.settle([batch(-1.0, holds=40), batch(1.0, violated=40)], None)
        assert wager.interval() == (-1.0, 1.0)

    def test_what_one_direction_says_contradicts_the_other(self) -> None:
        wager = Wager(0.5, FALLING, 0.05)
        wager.settle([batch(-1.0, violated=40), batch(1.0, holds=40)], None)
        assert all(math.isnan(end) for end in wager.interval())

    def test_a_row_that_holds_throughout_has_its_boundary_before_it(self) -> None:
        wager = Wager(0.5, RISING, 0.05)
        wager.settle([batch(float(u), holds=40) for u in range(3)], None)
        assert wager.interval() == (-math.inf, 0.0)

    def test_undecided_trials_exclude_nothing(self) -> None:
        wager = Wager(0.5, RISING, 0.05)
        wager.settle([batch(0.0, undecided=500)], None)
        assert wager.interval() == (-math.inf, math.inf)

    def test_undecided_trials_weaken_both_sides(self) -> None:
        clear, blurred = Wager(0.5, RISING, 0.05), Wager(0.5, RISING, 0.05)
        clear.settle([batch(0.0, holds=16)], None)
        blurred.settle([batch(0.0, holds=16, undecided=16)], None)
        assert clear.interval() == (-math.inf, 0.0)
        assert blurred.interval() == (-math.inf, math.inf)

    def test_capital_after_one_trial_by_hand(self) -> None:
        # One trial that holds, staked on q = ½ against the level .2: both bets, at half and at
        # the whole distance in log odds. Capital = mean of q/.2 over bets of odds 1/2 and 1.
        wager = Wager(0.2, RISING, 0.5)
        wager.settle([batch(0.0, holds=1)], None)
        half = 1 / (1 + math.exp(-0.5 * math.log(0.2 / 0.8)))
        capital = (half / 0.2 + 0.5 / 0.2) / 2
        assert capital > 1 / 0.5
        assert wager.interval() == (-math.inf, 0.0)  # P ≤ .2 at 0 is excluded
        stricter = Wager(0.2, RISING, 1 / (capital + 0.01))
        stricter.settle([batch(0.0, holds=1)], None)
        assert stricter.interval() == (-math.inf, math.inf)

    def test_intervals_never_grow(self) -> None:
        generator = np.random.default_rng(3)
        wager = Wager(0.5, RISING, 0.05)
        seen: list[Batch] = []
        before = (-math.inf, math.inf)
        for _ in range(30):
            news = [drawn(u, logistic(u), 20, generator) for u in (-1.0, -0.4, 0.5, 1.2)]
            wager.settle(news, fitted(seen) if seen else None)
            seen += news
            now = wager.interval()
            assert before[0] <= now[0] < now[1] <= before[1]
            before = now
        assert before == (-0.4, 0.5)

    @pytest.mark.parametrize("level", [0.5, 0.9])
    def test_no_time_s_interval_misses_more_often_than_the_error(self, level: float) -> None:
        # 150 rows, each looked at after every one of 12 rounds, trials placed by what was seen.
        truth, error, missed = math.log(level / (1 - level)) / 2, 0.2, 0
        for row in range(150):
            generator = np.random.default_rng([7, row])
            wager, seen, ever = Wager(level, RISING, error), [], False
            for _ in range(12):
                guide = fitted(seen) if seen else None
                near = 0.0 if guide is None else crossing(guide, level, RISING, -3.0, 3.0)
                places = np.clip(near + generator.normal(0, 0.7, 4), -3.0, 3.0)
                news = [drawn(u, logistic(u), 15, generator) for u in places]
                wager.settle(news, guide)
                seen += news
                low, high = wager.interval()
                ever |= not low <= truth <= high
            missed += ever
        assert missed <= 0.2 * 150  # and in fact far fewer, since bets are not the sharpest

    def test_its_intervals_shrink_where_there_are_many_trials(self) -> None:
        generator = np.random.default_rng(11)
        wager, seen = Wager(0.5, RISING, 0.01), []
        for _ in range(40):
            news = [drawn(u, logistic(u), 50, generator) for u in (-0.15, 0.15)]
            wager.settle(news, fitted(seen) if seen else None)
            seen += news
        assert wager.interval() == (-0.15, 0.15)


class TestCurve:
    def test_it_is_flat_without_trials(self) -> None:
        assert fitted([])(3.0) == 0.5

    def test_it_recovers_a_logistic_curve(self) -> None:
        places = np.linspace(-2, 2, 9)
        counts = [round(1000 * logistic(u)) for u in places]
        curve = fitted([batch(u, k, 1000 - k) for u, k in zip(places, counts, strict=True)])
        assert curve(places) == pytest.approx([logistic(u) for u in places], abs=0.005)

    def test_undecided_trials_are_left_out(self) -> None:
        assert float(fitted([batch(0.0, undecided=1000)])(0.0)) == pytest.approx(0.5)
        row = [batch(0.0, violated=50), batch(1.0, violated=20, holds=30), batch(2.0, holds=50)]
        blurred = [batch(-3.0, undecided=50), *row]
        assert fitted(blurred)(0.5) == pytest.approx(fitted(row)(0.5))

    def test_separated_trials_do_not_blow_up(self) -> None:
        curve = fitted([batch(-1.0, violated=1000), batch(1.0, holds=1000)])
        assert float(curve(-1.0)) < 0.01
        assert float(curve(1.0)) > 0.99
        assert crossing(curve, 0.5, RISING, -1.0, 1.0) == pytest.approx(0.0, abs=0.01)

    def test_a_curve_that_stays_above_crosses_at_the_end(self) -> None:
        curve = fitted([batch(u, holds=100) for u in (0.0, 1.0)])
        assert crossing(curve, 0.5, RISING, 0.0, 1.0) == 0.0
        assert crossing(curve, 0.5, FALLING, 0.0, 1.0) == 1.0


class TestTurns:
    @staticmethod
    def row(*shares: int) -> list[Batch]:
        return [batch(float(u), holds=k, violated=50 - k) for u, k in enumerate(shares)]

    def test_a_monotone_row_has_none(self) -> None:
        assert not turns(self.row(0, 10, 20, 30, 40, 50), 0.004)
        assert not turns(self.row(50, 40, 20, 0), 0.004)

    def test_islands_and_holes_turn(self) -> None:
        assert turns(self.row(0, 0, 50, 50, 0, 0), 0.004)
        assert turns(self.row(50, 50, 0, 50), 0.004)
        assert turns(self.row(0, 50, 0, 50, 0), 0.004)

    def test_fluctuations_are_no_turns(self) -> None:
        for row in range(60):
            generator = np.random.default_rng([5, row])
            trials = [drawn(u, logistic(u), 50, generator) for u in np.linspace(-2, 2, 9)]
            assert not turns(trials, 0.05 / 9)

    def test_places_without_trials_say_nothing(self) -> None:
        assert not turns([batch(0.0), batch(1.0, holds=50), batch(2.0)], 0.05)

    def test_sides_of_a_level(self) -> None:
        assert side_of(batch(0.0, holds=50), 0.5, 0.01) == ABOVE
        assert side_of(batch(0.0, violated=50), 0.5, 0.01) == BELOW
        assert side_of(batch(0.0, holds=25, violated=25), 0.5, 0.01) == UNCLEAR
        assert side_of(batch(0.0, undecided=500), 0.5, 0.01) == UNCLEAR
        assert side_of(batch(0.0), 0.5, 0.01) == UNCLEAR


class TestLaw:
    Y = (10.0, 20.0, 40.0, 80.0, 160.0)

    @staticmethod
    def around(values: list[float], width: float) -> list[Boundary]:
        logs = [math.log(value) for value in values]
        return [Boundary(u, u - width, u + width) for u in logs]

    def test_exact_powers_come_back(self) -> None:
        law = fit_law(self.Y, self.around([3 * y**1.5 for y in self.Y], 1e-9), 0)
        assert law is not None
        assert (law.p, law.a) == (pytest.approx(1.5), pytest.approx(3.0))
        assert law.consistent
        assert law.p_low == pytest.approx(law.p_high)

    def test_a_logarithm_is_told_from_none_by_narrow_intervals_only(self) -> None:
        values = [2 * y * math.log(y) for y in self.Y]
        for width, consistent in ((0.001, False), (0.2, True)):
            plain, with_log = (fit_law(self.Y, self.around(values, width), q) for q in (0, 1))
            assert plain is not None
            assert with_log is not None
            assert with_log.consistent
            assert plain.consistent is consistent

    def test_the_interval_of_p_is_attained_by_boundaries_within_theirs(self) -> None:
        boundaries = self.around([y**2 for y in self.Y], 0.1)
        law = fit_law(self.Y, boundaries, 0)
        assert law is not None
        u = np.log(self.Y)
        tilted = [b.low if x < u.mean() else b.high for b, x in zip(boundaries, u, strict=True)]
        assert law.p_high == pytest.approx(np.polyfit(u, tilted, 1)[0])

    def test_fewer_than_three_rows_have_no_law(self) -> None:
        assert fit_law(self.Y[:2], self.around([1.0, 2.0], 0.1), 0) is None

    def test_rows_without_both_ends_are_left_out(self) -> None:
        boundaries = self.around([y**2 for y in self.Y], 0.1)
        boundaries[0] = Boundary(5.0, -math.inf, 6.0)
        boundaries[1] = Boundary(math.nan, 5.0, 6.0)
        law = fit_law(self.Y, boundaries, 0)
        assert law is not None
        assert law.p == pytest.approx(2.0)
        boundaries[2] = Boundary(math.nan, 5.0, 6.0)
        assert fit_law(self.Y, boundaries, 0) is None
