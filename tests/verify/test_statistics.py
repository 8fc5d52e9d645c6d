"""The error rates that ``verify.statistics`` promises, measured: exactly wherever possible."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy import stats

from verify.errors import InputError
from verify.statistics import (
    ErrorBudget,
    binomial_lower_bound,
    binomial_upper_bound,
    confidence_sequence,
    fit_slope,
    quantile_bounds,
    trials_to_support,
)

ERRORS = [0.05, 0.05 / 40]
TRIALS = [1, 5, 30, 131]


# Binomial bounds at a fixed number of trials


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("trials", TRIALS)
def test_lower_bound_covers_every_probability_and_is_exact_at_the_worst(trials, error):
    successes = np.arange(trials + 1)
    lower = np.array([binomial_lower_bound(int(s), trials, error) for s in successes])
    just_missed = lower[1:] * (1 - 1e-12)
    grid = np.concatenate([np.linspace(0, 1, 501), just_missed])
    weights = stats.binom.pmf(successes, trials, grid[:, None])
    coverage = np.sum(weights * (lower <= grid[:, None]), axis=1)
    assert coverage.min() >= 1 - error - 1e-9
    assert coverage.min() <= 1 - error + 1e-6


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("trials", TRIALS)
def test_upper_bound_covers_every_probability_and_is_exact_at_the_worst(trials, error):
    successes = np.arange(trials + 1)
    upper = np.array([binomial_upper_bound(int(s), trials, error) for s in successes])
    just_missed = upper[:-1] + (1 - upper[:-1]) * 1e-12
    grid = np.concatenate([np.linspace(0, 1, 501), just_missed])
    weights = stats.binom.pmf(successes, trials, grid[:, None])
    coverage = np.sum(weights * (upper >= grid[:, None]), axis=1)
    assert coverage.min() >= 1 - error - 1e-9
    assert coverage.min() <= 1 - error + 1e-6


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize(
    ("successes", "trials"), [(0, 1), (1, 1), (3, 10), (29, 30), (131, 131), (1, 5000)]
)
def test_bounds_agree_with_scipy_binomtest(successes, trials, error):
    def interval(alternative):
        test = stats.binomtest(successes, trials, alternative=alternative)
        return test.proportion_ci(confidence_level=1 - error, method="exact")

    lower = binomial_lower_bound(successes, trials, error)
    upper = binomial_upper_bound(successes, trials, error)
    assert lower == pytest.approx(interval("greater").low, rel=1e-10)
    assert upper == pytest.approx(interval("less").high, rel=1e-10)


def test_bounds_before_any_trial_say_nothing():
    assert binomial_lower_bound(0, 0, 0.05) == 0.0
    assert binomial_upper_bound(0, 0, 0.05) == 1.0


def test_bounds_mirror_each_other():
    for s in range(21):
        mirrored = 1 - binomial_lower_bound(20 - s, 20, 0.01)
        assert binomial_upper_bound(s, 20, 0.01) == pytest.approx(mirrored, abs=1e-14)


@pytest.mark.parametrize("bound", [binomial_lower_bound, binomial_upper_bound])
def test_bounds_rise_with_successes_and_fall_with_failures(bound):
    by_successes = [bound(s, 50, 0.01) for s in range(51)]
    by_failures = [bound(10, 10 + f, 0.01) for f in range(51)]
    assert all(np.diff(by_successes) > 0)
    assert all(np.diff(by_failures) < 0)


def test_smaller_error_gives_weaker_bounds():
    errors = [0.2, 0.05, 1e-3, 1e-9]
    assert all(np.diff([binomial_lower_bound(27, 30, e) for e in errors]) < 0)
    assert all(np.diff([binomial_upper_bound(27, 30, e) for e in errors]) > 0)


@pytest.mark.parametrize(("probability", "expected"), [(0.95, 131), (0.99, 666)])
def test_trials_to_support_at_one_claim_of_forty(probability, expected):
    assert trials_to_support(probability, 0.05 / 40) == expected


@pytest.mark.parametrize("error", [0.5, 0.25, 0.05, 0.05 / 40, 1e-12])
@pytest.mark.parametrize("probability", [0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1 - 1e-6])
def test_trials_to_support_is_the_least_number_that_suffices(probability, error):
    trials = trials_to_support(probability, error)
    assert binomial_lower_bound(trials, trials, error) >= probability
    assert trials == 1 or binomial_lower_bound(trials - 1, trials - 1, error) < probability


# Looking after every trial

Interval = Callable[[int, int], tuple[float, float]]
ERROR = 0.05
HORIZON = 600


def clopper_pearson_one_sided(successes: int, trials: int) -> tuple[float, float]:
    return binomial_lower_bound(successes, trials, ERROR), 1.0


def clopper_pearson_two_sided(successes: int, trials: int) -> tuple[float, float]:
    return (
        binomial_lower_bound(successes, trials, ERROR / 2),
        binomial_upper_bound(successes, trials, ERROR / 2),
    )


def robbins(successes: int, trials: int) -> tuple[float, float]:
    return confidence_sequence(successes, trials, ERROR)


@cache
def acceptance(interval: Interval, p: float) -> tuple[list[int], list[int]]:
    """For t = 0 … HORIZON, the least and the greatest successes whose interval contains p.

    Both only grow with t, since one more failure moves either end of the interval down.
    """
    least, beyond = [], []
    a = b = 0
    for t in range(HORIZON + 1):
        while a <= t and interval(a, t)[1] < p:
            a += 1
        while b <= t and interval(b, t)[0] <= p:
            b += 1
        least.append(a)
        beyond.append(b)
    return least, [b - 1 for b in beyond]


def probability_of_ever_missing(interval: Interval, p: float, horizon: int) -> float:
    """The exact probability that some interval up to ``horizon`` trials does not contain p."""
    least, greatest = acceptance(interval, p)
    alive = np.ones(1)  # alive[s]: s successes so far, and no interval has missed
    for t in range(1, horizon + 1):
        alive = np.append(alive * (1 - p), 0.0) + np.append(0.0, alive * p)
        alive[: least[t]] = 0.0
        alive[greatest[t] + 1 :] = 0.0
    return 1 - float(alive.sum())


@pytest.mark.parametrize("interval", [clopper_pearson_two_sided, robbins])
def test_probability_of_ever_missing_agrees_with_simulated_paths(interval):
    p, paths = 0.9, 4000
    draws = np.random.default_rng(20260301).random((paths, HORIZON)) < p
    counts = np.cumsum(draws, axis=1)
    least, greatest = (np.array(side[1:]) for side in acceptance(interval, p))
    missed = int(np.any((counts < least) | (counts > greatest), axis=1).sum())
    exact = probability_of_ever_missing(interval, p, HORIZON)
    assert stats.binomtest(missed, paths, exact).pvalue > 1e-4


@pytest.mark.parametrize("p", [0.01, 0.05, 0.3, 0.5, 0.9, 0.95, 0.99])
def test_confidence_sequence_survives_peeking_after_every_trial(p):
    assert 0 < probability_of_ever_missing(robbins, p, HORIZON) <= ERROR


@pytest.mark.parametrize("p", [0.3, 0.5])
def test_clopper_pearson_errs_three_times_too_often_within_50_peeks(p):
    missed = probability_of_ever_missing(clopper_pearson_one_sided, p, 50)
    assert 0.14 <= missed <= 0.17


@pytest.mark.parametrize("p", [0.05, 0.3, 0.5, 0.9, 0.95])
@pytest.mark.parametrize("interval", [clopper_pearson_one_sided, clopper_pearson_two_sided])
def test_clopper_pearson_errs_over_three_times_too_often_within_500_peeks(interval, p):
    assert probability_of_ever_missing(interval, p, 500) > 3 * ERROR


def test_clopper_pearson_peeked_at_500_times_errs_about_30_percent():
    missed = probability_of_ever_missing(clopper_pearson_one_sided, 0.5, 500)
    assert missed == pytest.approx(0.30, abs=0.01)


@pytest.mark.parametrize("mixture", [(1.0, 1.0), (0.5, 0.5), (9.0, 1.0)])
@pytest.mark.parametrize(("successes", "trials"), [(1, 2), (3, 10), (27, 30), (999, 1000)])
def test_confidence_sequence_ends_where_the_mixture_likelihood_ratio_is_one_over_error(
    successes, trials, mixture
):
    prior = stats.beta(*mixture)
    grid, widths = np.polynomial.legendre.leggauss(400)
    grid, widths = (grid + 1) / 2, widths / 2
    failures = trials - successes

    for p in confidence_sequence(successes, trials, 1e-3, mixture=mixture):
        ratio = (grid / p) ** successes * ((1 - grid) / (1 - p)) ** failures
        assert np.sum(widths * prior.pdf(grid) * ratio) == pytest.approx(1e3, rel=1e-2)


def test_confidence_sequence_contains_every_estimate():
    for t in range(1, 61):
        for s in range(t + 1):
            low, high = confidence_sequence(s, t, 0.5)
            assert 0 <= low <= s / t <= high <= 1
            assert low < high


def test_confidence_sequence_rises_with_successes_and_falls_with_failures():
    for m in (1, 7, 40):
        by_successes = np.array([robbins(s, s + m) for s in range(60)])
        by_failures = np.array([robbins(m, m + f) for f in range(60)])
        assert (np.diff(by_successes[:, 0]) > 0).all()
        assert (np.diff(by_successes[:, 1]) >= 0).all()
        assert (np.diff(by_failures[:, 0]) <= 0).all()
        assert (np.diff(by_failures[:, 1]) < 0).all()


def test_confidence_sequence_is_wider_than_clopper_pearson():
    for s in range(51):
        low, high = robbins(s, 50)
        inner_low, inner_high = clopper_pearson_two_sided(s, 50)
        assert low <= inner_low
        assert inner_high <= high


def test_confidence_sequence_says_nothing_before_the_first_trial():
    assert confidence_sequence(0, 0, 0.05) == (0.0, 1.0)


def test_confidence_sequence_mirrors_failures_and_mixture():
    low, high = confidence_sequence(7, 40, 0.01, mixture=(2.0, 5.0))
    mirrored_low, mirrored_high = confidence_sequence(33, 40, 0.01, mixture=(5.0, 2.0))
    assert (low, high) == pytest.approx((1 - mirrored_high, 1 - mirrored_low), abs=1e-14)


@pytest.mark.parametrize("error", [1e-300, 1e-12, 0.05, 0.999, 1 - 1e-9])
@pytest.mark.parametrize(
    ("successes", "trials"), [(0, 1), (1, 2), (10**6, 10**6), (1, 10**6), (10**6 - 1, 10**6)]
)
def test_confidence_sequence_is_found_at_extremes(successes, trials, error):
    low, high = confidence_sequence(successes, trials, error)
    assert 0 <= low <= successes / trials <= high <= 1


@pytest.mark.parametrize("of", [binomial_lower_bound, binomial_upper_bound, confidence_sequence])
@pytest.mark.parametrize(
    ("successes", "trials", "error", "message"),
    [
        (-1, 5, 0.05, "successes=-1"),
        (0, -5, 0.05, "trials=-5"),
        (6, 5, 0.05, "successes=6, expected at most trials=5"),
        (2.5, 5, 0.05, "successes=2.5"),
        (2, 5, 0.0, "error=0.0"),
        (2, 5, 1.0, "error=1.0"),
        (2, 5, math.nan, "error=nan"),
    ],
)
def test_counts_and_error_are_validated(of, successes, trials, error, message):
    with pytest.raises(InputError, match=rf"{message}.*, try "):
        of(successes, trials, error)


@pytest.mark.parametrize("mixture", [(0.0, 1.0), (1.0, math.inf), (math.nan, 1.0)])
def test_mixture_is_validated(mixture):
    with pytest.raises(InputError, match="mixture="):
        confidence_sequence(1, 2, 0.05, mixture=mixture)


@pytest.mark.parametrize(("probability", "error"), [(0.0, 0.05), (1.0, 0.05), (0.5, 0.0)])
def test_trials_to_support_validates_both_arguments(probability, error):
    with pytest.raises(InputError, match="strictly between 0 and 1"):
        trials_to_support(probability, error)


# Slopes

LOG_X = np.log([10.0, 20.0, 40.0, 80.0, 160.0])
NOISE = np.array([0.1, 0.1, 0.3, 0.6, 1.0])
SIZES = [12, 30, 20, 15, 25]


def assert_rate_is(expected: float, count: int, out_of: int) -> None:
    assert stats.binomtest(count, out_of, expected).pvalue > 1e-4, f"{count}/{out_of}"


@pytest.mark.parametrize("error", [0.05, 0.3])
def test_slope_interval_misses_at_its_nominal_rate_under_unequal_noise(error):
    rng = np.random.default_rng(20260302)
    fits = 2000
    missed = 0
    for _ in range(fits):
        samples = [
            0.7 - 1.5 * x + sd * rng.standard_normal(size)
            for x, sd, size in zip(LOG_X, NOISE, SIZES, strict=True)
        ]
        fit = fit_slope(LOG_X.tolist(), samples, error)
        missed += not fit.low <= -1.5 <= fit.high
    assert_rate_is(error, missed, fits)


def test_slope_interval_misses_at_its_nominal_rate_when_abscissae_vary_within_cells():
    rng = np.random.default_rng(20260303)
    fits = 2000
    missed = 0
    for _ in range(fits):
        x = [centre + 0.3 * rng.standard_normal(20) for centre in LOG_X]
        y = [2 * x_j + sd * rng.standard_normal(20) for x_j, sd in zip(x, NOISE, strict=True)]
        fit = fit_slope(x, y, 0.1)
        missed += not fit.low <= 2 <= fit.high
    assert_rate_is(0.1, missed, fits)


def test_slope_interval_is_students_with_its_own_fields():
    rng = np.random.default_rng(1)
    fit = fit_slope(LOG_X.tolist(), list(rng.standard_normal((5, 20))), 0.01)
    assert 19 <= fit.degrees_of_freedom <= 5 * 19
    t = (fit.high - fit.slope) / fit.standard_error
    assert 2 * stats.t.sf(t, fit.degrees_of_freedom) == pytest.approx(0.01, rel=1e-9)
    assert fit.high - fit.slope == pytest.approx(fit.slope - fit.low)


def test_welch_satterthwaite_reduces_to_welch_two_sample_when_the_middle_cell_has_no_weight():
    rng = np.random.default_rng(2)
    first, middle, last = rng.standard_normal(8), rng.standard_normal(5), rng.normal(0, 3, 30)
    fit = fit_slope([0.0, 1.0, 2.0], [first, middle, last], 0.05)
    welch = stats.ttest_ind(last, first, equal_var=False).confidence_interval(0.95)
    assert (2 * fit.low, 2 * fit.high) == pytest.approx((welch.low, welch.high))


def test_slope_is_recovered_from_almost_noiseless_samples():
    rng = np.random.default_rng(3)
    samples = [0.25 - 0.5 * x + 1e-9 * rng.standard_normal(10) for x in LOG_X]
    fit = fit_slope(LOG_X.tolist(), samples, 0.001)
    assert fit.slope == pytest.approx(-0.5, abs=1e-8)
    assert fit.intercept == pytest.approx(0.25, abs=1e-7)
    assert 0 < fit.high - fit.low < 1e-8
    assert fit.low <= -0.5 <= fit.high
    assert fit.curvature < 1e-8


def test_interval_has_no_width_without_spread():
    fit = fit_slope([0.0, 1.0, 2.0], [[1.0, 1.0], [3.0, 3.0], [5.0, 5.0]], 0.05)
    assert (fit.low, fit.slope, fit.high, fit.standard_error) == (2.0, 2.0, 2.0, 0.0)
    assert math.isfinite(fit.degrees_of_freedom)


def test_spread_of_abscissae_along_the_line_adds_no_uncertainty():
    x = [centre + np.array([-0.2, 0.0, 0.2]) for centre in LOG_X]
    fit = fit_slope(x, [3 * x_j for x_j in x], 0.05)
    assert fit.slope == pytest.approx(3)
    assert fit.high - fit.low < 1e-12


def test_slope_equals_polyfit_over_all_samples_when_cells_are_balanced():
    samples = np.random.default_rng(4).normal(size=(5, 7))
    slope, intercept = np.polyfit(np.repeat(LOG_X, 7), samples.ravel(), 1)
    fit = fit_slope(LOG_X.tolist(), list(samples), 0.05)
    assert (fit.slope, fit.intercept) == pytest.approx((slope, intercept))


def test_one_abscissa_a_cell_equals_that_abscissa_for_every_sample():
    samples = list(np.random.default_rng(5).normal(size=(5, 7)))
    spread = fit_slope([np.full(7, x) for x in LOG_X], samples, 0.05)
    single = fit_slope(LOG_X.tolist(), samples, 0.05)
    for name, value in vars(single).items():
        assert getattr(spread, name) == pytest.approx(value, rel=1e-9), name


def test_curvature_is_the_largest_deviation_at_a_kink():
    # y = |x| at −1, 0, 1 has the line y = 2/3: the deviations are 1/3, −2/3, 1/3.
    fit = fit_slope([-1.0, 0.0, 1.0], [[0.9, 1.1], [-0.1, 0.1], [0.9, 1.1]], 0.05)
    assert fit.slope == pytest.approx(0, abs=1e-15)
    assert fit.curvature == pytest.approx(2 / 3)
    assert fit.span == 2


def test_the_deviation_is_the_curvature_and_what_sampling_may_add():
    fit = fit_slope([-1.0, 0.0, 1.0], [[0.9, 1.1], [-0.1, 0.1], [0.9, 1.1]], 0.05)
    uncertainty = stats.t.isf(0.05, 2) * 0.1 * math.sqrt(2 / 3)
    assert fit.deviation == pytest.approx(2 / 3 + uncertainty)
    exact = fit_slope([0.0, 1.0, 2.0], [[1.0, 1.0], [3.0, 3.0], [5.0, 5.0]], 0.05)
    assert exact.deviation == pytest.approx(0, abs=1e-12)


def test_no_mean_deviates_more_than_stated_as_often_as_stated():
    """Of 400 sweeps at error .05, the true deviation exceeds the stated one in at most 5 %."""
    generator = np.random.default_rng(5)
    x, bend = np.arange(5.0), np.array([0.3, 0.0, -0.4, 0.0, 0.3])
    weights = np.polynomial.polynomial.Polynomial.fit(x, bend, 1)
    true = np.abs(bend - weights(x)).max()
    exceeded = sum(
        fit_slope(x, [b + generator.normal(0, 0.3, size=30) for b in bend], 0.05).deviation < true
        for _ in range(400)
    )
    assert 0 < exceeded <= 20 + 4 * math.sqrt(20)


FINE = [[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]]


@pytest.mark.parametrize(
    ("log_x", "log_y", "message"),
    [
        ([0.0, 1.0], FINE[:2], "cells=2 .* at least 3"),
        ([0.0, 1.0, 2.0, 3.0], FINE, "cells=4 abscissae for 3"),
        ([0.0, 1.0, 2.0], [[0.0], *FINE[1:]], r"log_y_samples_per_cell\[0\] has shape \(1,\)"),
        ([0.0, 1.0, 2.0], [*FINE[:2], FINE], r"log_y_samples_per_cell\[2\] has shape \(3, 2\)"),
        ([0.0, [1.0, 1.0, 1.0], 2.0], FINE, r"log_x_per_cell\[1\] shape \(3,\)"),
        ([0.0, math.inf, 2.0], FINE, r"log_x_per_cell\[1\]=inf"),
        ([0.0, 1.0, 2.0], [*FINE[:2], [0.0, -math.inf]], r"log_y_samples_per_cell\[2\]=-inf"),
        ([0.0, 1.0, 2.0], [[math.nan, 0.0], *FINE[1:]], r"log_y_samples_per_cell\[0\]=nan"),
        ([0.1, 0.1, 0.1], FINE, "log_x_per_cell=0.1 in every cell"),
        ([0.0, 0.0, 0.0], FINE, "log_x_per_cell=0.0 in every cell"),
    ],
)
def test_cells_are_validated(log_x, log_y, message):
    with pytest.raises(InputError, match=message + ".*, try "):
        fit_slope(log_x, log_y, 0.05)


def test_abscissae_that_differ_only_by_rounding_are_equal():
    with pytest.raises(InputError, match="in every cell"):
        fit_slope([[0.1, 0.2], [0.2, 0.1], [0.15, 0.1 + 0.2 - 0.15]], FINE, 0.05)


@pytest.mark.parametrize("error", [0.0, 1.0, math.nan])
def test_slope_error_is_validated(error):
    with pytest.raises(InputError, match="error="):
        fit_slope([0.0, 1.0, 2.0], FINE, error)


# Bounds on quantiles


def below(rank, trials, level):
    """Return, exactly, the probability that fewer than `rank` of the trials are below the level's
    quantile of a continuous law."""
    return sum(math.comb(trials, k) * level**k * (1 - level) ** (trials - k) for k in range(rank))


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("trials", [2, 7, 30, 131, 200])
@pytest.mark.parametrize("level", [Fraction(1, 20), Fraction(1, 2), Fraction(19, 20)])
def test_quantile_bounds_are_the_closest_order_statistics_that_err_rarely_enough(
    trials, level, error
):
    """For every continuous law: that the k-th smallest is above the quantile has the probability
    that fewer than k are below it."""
    low, high = quantile_bounds(np.arange(trials, 0, -1), float(level), error)
    if math.isnan(low):
        assert below(1, trials, level) > error
    else:
        assert below(int(low), trials, level) <= error < below(int(low) + 1, trials, level)
    if math.isnan(high):
        assert 1 - below(trials, trials, level) > error
    else:
        over = 1 - below(int(high), trials, level)
        assert over <= error < 1 - below(int(high) - 1, trials, level)


@pytest.mark.parametrize("level", [0.2, 0.35, 0.5, 0.8])
def test_quantile_bounds_cover_the_quantiles_of_a_discrete_law_exactly(level):
    """The law of 0, 1, 2 with probabilities .3, .4, .3, over all 729 outcomes of six trials: each
    bound is beyond the quantile with probability 0.1 at most."""
    chances = (0.3, 0.4, 0.3)
    quantile = next(x for x in range(3) if sum(chances[: x + 1]) >= level)
    too_high, too_low, said = 0.0, 0.0, 0
    for outcome in product(range(3), repeat=6):
        probability = math.prod(chances[x] for x in outcome)
        low, high = quantile_bounds(outcome, level, 0.1)
        too_high += probability * (low > quantile)
        too_low += probability * (high < quantile)
        said += not (math.isnan(low) and math.isnan(high))
    assert said
    assert too_high <= 0.1
    assert too_low <= 0.1


def test_unknown_values_could_be_anywhere():
    known = np.arange(1.0, 101.0)
    low, high = quantile_bounds(known, 0.5, 0.05)
    for unknown in (1, 5):
        less, more = quantile_bounds([*known, *[math.nan] * unknown], 0.5, 0.05)
        floor = quantile_bounds([*[-1e9] * unknown, *known], 0.5, 0.05)[0]
        ceiling = quantile_bounds([*known, *[1e9] * unknown], 0.5, 0.05)[1]
        assert (less, more) == (floor, ceiling)
        assert less <= low < high <= more
    assert np.isnan(quantile_bounds([math.nan] * 100, 0.5, 0.05)).all()
    assert np.isnan(quantile_bounds([], 0.5, 0.05)).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0], 0.0, 0.05), "level=0.0"),
        (([1.0], 0.5, 1.0), "error=1.0"),
        (([[1.0]], 0.5, 0.05), r"values has shape \(1, 1\), expected \(n,\), try values.ravel"),
    ],
)
def test_arguments_of_quantile_bounds_are_validated(arguments, message):
    with pytest.raises(InputError, match=message):
        quantile_bounds(*arguments)


# The budget


def test_budget_spends_no_more_than_its_total():
    budget = ErrorBudget(total=0.05, claims=40)
    assert budget.per_claim == 0.05 / 40
    assert budget.per_cell(5) == pytest.approx(0.05 / 200)
    assert budget.claims * 5 * budget.per_cell(5) == pytest.approx(budget.total)


@pytest.mark.parametrize(
    ("total", "claims", "message"),
    [(0.0, 3, "total="), (1.5, 3, "total="), (0.05, 0, "claims=0"), (0.05, 2.5, "claims=2.5")],
)
def test_budget_is_validated(total, claims, message):
    with pytest.raises(InputError, match=message):
        ErrorBudget(total, claims)


def test_budget_of_no_cells_is_refused():
    with pytest.raises(InputError, match="cells=0"):
        ErrorBudget(0.05, 3).per_cell(0)
