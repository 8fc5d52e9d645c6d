"""A rate is judged by slopes over trials that are known to count, and NaN never helps it."""

import math

import numpy as np
import pytest

from tests.verify.engine.toys import (
    NEVER_MET,
    OFTEN_MET,
    UNKNOWN,
    n_of,
    rate,
    rising,
    theorem_of,
)
from verify.claims import Assumption, Rate, Sweep
from verify.engine.check import check
from verify.errors import TheoremError
from verify.margin import Margin
from verify.space import Point
from verify.verdict import Conclusion

_, SUPPORTED, REFUTED, VACUOUS, INCONCLUSIVE, UNDECIDED = Conclusion


def found(claim, **options):
    return check(theorem_of(claim), **{"trials": 40, **options})[0]


def spread(trial):
    """n, with noise of a factor of about 3 either way."""
    return trial.point["n"] * np.exp(4 * (trial.problem - 0.5))


def odd_where(condition, value):
    """Return the quantity `rising` with another value on some trials."""

    def mostly_rising(trial):
        """n rises with the slope 1, mostly."""
        return np.where(condition(trial), value, rising(trial))

    return mostly_rising


def now_and_then(trial):
    return trial.problem < 0.1


@pytest.mark.parametrize(
    ("claim", "trials", "expected"),
    [
        (rate(), 40, SUPPORTED),
        (rate(exponent=0.5), 40, REFUTED),
        (rate(exponent=1.05), 40, INCONCLUSIVE),
        (rate(quantity=spread, tolerance=0.01), 40, INCONCLUSIVE),
        (rate(), 29, INCONCLUSIVE),
        (rate(given=(OFTEN_MET,)), 40, INCONCLUSIVE),
        (rate(given=(OFTEN_MET,)), 120, SUPPORTED),
        (rate(given=(NEVER_MET,)), 40, VACUOUS),
        (rate(given=(UNKNOWN,)), 40, UNDECIDED),
        (rate(quantity=odd_where(now_and_then, np.nan)), 100, UNDECIDED),
        (rate(quantity=odd_where(now_and_then, 0.0)), 100, UNDECIDED),
        (rate(quantity=odd_where(now_and_then, -1.0)), 100, UNDECIDED),
        (rate(quantity=odd_where(now_and_then, np.inf)), 100, UNDECIDED),
        (rate(exponent=0.5, quantity=odd_where(now_and_then, np.nan)), 100, UNDECIDED),
    ],
)
def test_a_rate_reaches_each_conclusion(claim, trials, expected):
    assert found(claim, trials=trials).verdict is expected


def doubtful_where(condition):
    """Return an assumption that nobody can judge on some trials, and that holds elsewhere."""

    def judged_elsewhere(trial):
        """It holds, where it can be judged."""
        return Margin(0.0, np.ones(trial.trials)).undecided_where(condition(trial))

    return (Assumption(judged_elsewhere),)


def test_trials_of_unknown_scope_leave_a_slope_decided_if_it_is_the_same_with_them():
    verdict = found(rate(given=doubtful_where(now_and_then)), trials=100)
    assert verdict.verdict is SUPPORTED
    assert 0 < verdict.undecided < verdict.in_scope == 400
    assert f"{verdict.undecided} of 400 in scope undecided" in verdict.detail


def test_trials_of_unknown_scope_leave_a_slope_undecided_if_it_is_another_with_them():
    def bent(trial):
        """n rises with the slope 1, and with another on a tenth of the trials."""
        factor = np.where(now_and_then(trial), float(trial.point["n"]) ** 9, 1.0)
        return rising(trial) * factor

    verdict = found(rate(quantity=bent, given=doubtful_where(now_and_then)), trials=100)
    assert verdict.verdict is UNDECIDED
    assert verdict.slopes[0].slope == pytest.approx(1, abs=0.01)


def test_an_unusable_quantity_out_of_scope_does_not_matter():
    claim = rate(quantity=odd_where(lambda trial: trial.problem > 0.5, np.nan), given=(OFTEN_MET,))
    verdict = found(claim, trials=120)
    assert (verdict.verdict, verdict.undecided) == (SUPPORTED, 0)
    assert verdict.trials == 480


def test_an_abscissa_without_logarithm_is_undecided_too():
    points = tuple(Point(n=n) for n in (0, 1, 2, 4))
    claim = Rate(rising, sweeps=(Sweep("n", points, n_of, 1.0),))
    assert found(claim).verdict is UNDECIDED


def test_a_rate_is_as_good_as_its_worst_sweep():
    points = rate().sweeps[0].points
    sweeps = tuple(Sweep(f"{e:g}", points, n_of, e) for e in (1.0, 2.0))
    verdict = found(Rate(rising, sweeps=sweeps, tolerance=0.05))
    assert [s.verdict for s in verdict.slopes] == [SUPPORTED, REFUTED]
    assert verdict.verdict is REFUTED
    assert verdict.worst_margin == pytest.approx(0.05 - 1, abs=0.01)


def test_the_worst_margin_is_of_the_slopes_that_are_known():
    points = rate().sweeps[0].points
    elsewhere = tuple(Point(n=n, far=1) for n in (1, 2, 4))

    def near(trial):
        """It is not far."""
        return Margin(trial.point.get("far", 0), 0)

    for order in (1, -1):
        sweeps = (Sweep("far", elsewhere, n_of, 1.0), Sweep("near", points, n_of, 1.0))[::order]
        verdict = found(Rate(rising, sweeps=sweeps, tolerance=0.05, given=(Assumption(near),)))
        assert verdict.verdict is VACUOUS
        assert 0 < verdict.worst_margin <= 0.05


def test_the_error_is_shared_by_the_sweeps():
    points = rate().sweeps[0].points
    sweeps = tuple(Sweep(str(k), points, n_of, 1.0) for k in range(5))
    assert found(Rate(rising, sweeps=sweeps)).confidence == pytest.approx(1 - 0.05 / 5)


def test_a_slope_comes_with_the_means_that_it_is_fitted_to():
    slope = found(rate(band=(n_of, lambda trial: 2 * n_of(trial)))).slopes[0]
    assert (slope.against, slope.quantity) == ("n", "rising")
    assert slope.abscissa == pytest.approx((1, 2, 4, 8))
    assert slope.mean == pytest.approx((1, 2, 4, 8), rel=0.01)
    assert slope.band_low == pytest.approx((1, 2, 4, 8))
    assert slope.band_high == pytest.approx((2, 4, 8, 16))
    assert slope.points == ({"n": 1}, {"n": 2}, {"n": 4}, {"n": 8})
    assert len(slope.spread) == 4
    assert slope.low < slope.slope < slope.high
    assert slope.curvature < 0.01


def test_nothing_in_scope_leaves_nothing_to_show():
    slope = found(rate(given=(NEVER_MET,), band=(n_of, n_of))).slopes[0]
    assert slope.abscissa == slope.mean == slope.spread == slope.band_low == slope.band_high == ()
    assert math.isnan(slope.slope)


def test_a_sweep_along_which_nothing_varies_is_the_theorems_mistake():
    claim = rate(sweeps=(Sweep("n", rate().sweeps[0].points, lambda trial: 1.0, 1.0),))
    with pytest.raises(TheoremError, match=r"claim 'rising', sweep 'n': .*in every cell"):
        found(claim)


# What has a slope but is no power law


def bent(exponents):
    """Return a quantity whose logarithm is `exponents` of log10 n, with a little noise."""

    def quantity(trial):
        """It is bent."""
        z = np.log10(trial.point["n"])
        return np.exp(exponents(z) * math.log(10) + 0.01 * (trial.problem - 0.5))

    return quantity


@pytest.mark.parametrize(
    ("shape", "exponent", "expected"),
    [
        (lambda z: z / 2, 0.5, SUPPORTED),
        (lambda z: (z - 2) ** 2, 0.0, INCONCLUSIVE),
        (lambda z: max(z - 2, 0), 0.5, INCONCLUSIVE),
        (lambda z: z / 2 + 0.5 * (round(2 * z) % 2), 0.5, INCONCLUSIVE),
        (lambda z: z / 2 + 0.05 * (z == 4) - 0.05 * (z == 2) + 0.05 * (z == 0), 0.5, INCONCLUSIVE),
        (lambda z: z / 2 + 0.01 * ((z - 2) ** 2 / 4), 0.5, SUPPORTED),
        (lambda z: (z - 2) ** 2, 0.5, REFUTED),
    ],
)
def test_a_rate_is_supported_only_by_means_near_a_line(shape, exponent, expected):
    points = tuple(Point(n=10.0 ** (k / 2)) for k in range(9))
    sweeps = (Sweep("n", points, n_of, exponent),)
    verdict = found(Rate(bent(shape), sweeps=sweeps, tolerance=0.01))
    assert verdict.verdict is expected
    assert ("not a power law: a mean is off by" in verdict.detail) is (expected is INCONCLUSIVE)
    assert (verdict.worst_margin > 0) is (expected is SUPPORTED)


def test_a_mean_known_too_badly_to_be_near_the_line_does_not_support_it():
    points = tuple(Point(n=10.0 ** (k / 2)) for k in range(9))

    def noisy_at_the_centre(trial):
        """n, with noise at the centre of the sweep, where it moves no slope."""
        noise = 6.0 if trial.point["n"] == 100.0 else 0.001
        return trial.point["n"] * np.exp(noise * (trial.problem - 0.5))

    claim = Rate(noisy_at_the_centre, sweeps=(Sweep("n", points, n_of, 1.0),), tolerance=0.05)
    verdict = found(claim, trials=100)
    slope = verdict.slopes[0]
    assert 0.95 < slope.low < slope.high < 1.05
    assert verdict.verdict is INCONCLUSIVE
    assert "a mean may be off by" in verdict.detail
