"""What a number of trials proves: exact bounds on probabilities and quantiles, anytime-valid
sequences, slope fits.

Every probability here is dimensionless, and every ``error`` is the probability that the
statement made is false.  Whoever looks at the trials once, at a size fixed beforehand, takes the
binomial bounds; whoever may stop early takes the confidence sequence.
"""

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from verify.errors import InputError

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ErrorBudget:
    """The probability that anything a run states is wrong, split evenly over its claims.

    ``total`` (dimensionless) is shared by the union bound (Bonferroni) among all ``claims`` that
    are *registered*, not those selected: running one claim alone or with the others then gives
    the same verdict.

    Raises ``InputError`` unless 0 < total < 1 and claims ≥ 1.
    """

    total: float
    claims: int

    def __post_init__(self) -> None:
        _require_inside_unit_interval("total", self.total)
        _require_count("claims", self.claims, at_least=1)

    @property
    def per_claim(self) -> float:
        """The share of one claim."""
        return self.total / self.claims

    def per_cell(self, cells: int) -> float:
        """The share of each of a claim's ``cells`` (points of its grid, sides of a test).

        Raises ``InputError`` unless cells ≥ 1.
        """
        return self.per_claim / _require_count("cells", cells, at_least=1)

    def per_side(self, cells: int) -> float:
        """The share of one of the two one-sided bounds that each of ``cells`` states.

        Raises ``InputError`` unless cells ≥ 1.
        """
        return self.per_cell(cells) / 2.0


def binomial_lower_bound(successes: int, trials: int, error: float) -> float:
    """The one-sided lower bound on a probability that is wrong with probability ≤ ``error``.

    It is the p at which ``successes`` or more of ``trials`` have probability ``error``; 0 when
    there are no successes.  Valid only at a number of trials fixed beforehand.

    Source: Clopper and Pearson, Biometrika 26 (1934) 404–413.
    Raises ``InputError`` unless 0 ≤ successes ≤ trials and 0 < error < 1.
    """
    from scipy.special import betaincinv

    successes, trials = _require_counts(successes, trials)
    _require_inside_unit_interval("error", error)
    if successes == 0:
        return 0.0
    return float(betaincinv(successes, trials - successes + 1, error))


def binomial_upper_bound(successes: int, trials: int, error: float) -> float:
    """The one-sided upper bound on a probability that is wrong with probability ≤ ``error``.

    It is the p at which ``successes`` or fewer of ``trials`` have probability ``error``; 1 when
    there are no failures.  Valid only at a number of trials fixed beforehand.

    Source: Clopper and Pearson, Biometrika 26 (1934) 404–413.
    Raises ``InputError`` unless 0 ≤ successes ≤ trials and 0 < error < 1.
    """
    from scipy.special import betainccinv

    successes, trials = _require_counts(successes, trials)
    _require_inside_unit_interval("error", error)
    if successes == trials:
        return 1.0
    return float(betainccinv(successes + 1, trials - successes, error))


def trials_to_support(probability: float, error: float) -> int:
    """The fewest trials which, if all hold, put the lower bound at ``probability`` or above.

    With no failure the bound is ``error ** (1 / trials)``, so this is
    ⌈log error / log probability⌉: 131 for .95 and 666 for .99 at error .05/40.

    Raises ``InputError`` unless both arguments lie strictly between 0 and 1.
    """
    _require_inside_unit_interval("probability", probability)
    _require_inside_unit_interval("error", error)
    # The ratio of logarithms may round to either side of an integer: the bound itself decides.
    trials = max(1, math.floor(math.log(error) / math.log(probability)))
    return trials if binomial_lower_bound(trials, trials, error) >= probability else trials + 1


def quantile_bounds(values: npt.ArrayLike, level: float, error: float) -> tuple[float, float]:
    """Lower and upper bound on a law's quantile, each wrong with probability ≤ ``error``.

    ``values`` (n,) are independent trials of the law, any law, or NaN where it is not known what
    came out: that counts as −∞ in the lower bound and as +∞ in the upper one.  The bounds are
    order statistics: the k-th smallest value exceeds the quantile only if fewer than k values are
    at most it, which for a binomial number with probability ``level`` or more is as rare as that.
    A bound is NaN where there are too few trials for it.

    Source: David and Nagaraja, Order Statistics (3rd ed., 2003), section 7.1.
    Raises ``InputError`` unless level and error lie strictly between 0 and 1 and values is (n,).
    """
    from scipy.special import bdtr, bdtrc

    _require_inside_unit_interval("level", level)
    _require_inside_unit_interval("error", error)
    trials = np.asarray(values, dtype=np.float64)
    if trials.ndim != 1:
        raise InputError(f"values has shape {trials.shape}, expected (n,), try values.ravel()")
    known = np.sort(trials[~np.isnan(trials)])
    fewer = np.arange(trials.size, dtype=np.float64)  # than k = 1, …, n values below the quantile
    low_rank = int((bdtr(fewer, trials.size, level) <= error).sum())
    high_rank = trials.size + 1 - int((bdtrc(fewer, trials.size, level) <= error).sum())
    place = low_rank - (trials.size - known.size)
    low = float(known[place - 1]) if place >= 1 else math.nan
    high = float(known[high_rank - 1]) if high_rank <= known.size else math.nan
    return low, high


def confidence_sequence(
    successes: int, trials: int, error: float, *, mixture: tuple[float, float] = (1.0, 1.0)
) -> tuple[float, float]:
    """An interval for a probability; with probability ≥ 1 − ``error`` *no* time's interval misses.

    With s successes in t trials it is the set of p at which the mixture likelihood ratio

        M_t(p) = B(a + s, b + t − s) / (B(a, b) p^s (1 − p)^(t − s)),    (a, b) = ``mixture``,

    stays below 1/error.  Under the true p, M is a non-negative martingale of mean 1, so by
    Ville's inequality it ever reaches 1/error with probability ≤ ``error``: the trials may be
    looked at after each, and stopped for any reason.  The set contains s/t, and is [0, 1] before
    the first trial.  Intervals of several times may be intersected.

    Sources: Ville, Étude critique de la notion de collectif (1939), ch. V; Robbins, Annals of
    Mathematical Statistics 41 (1970) 1397–1409, for the mixture.
    Raises ``InputError`` unless 0 ≤ successes ≤ trials, 0 < error < 1, and mixture > 0, finite.
    """
    successes, trials = _require_counts(successes, trials)
    _require_inside_unit_interval("error", error)
    if not all(0 < shape < math.inf for shape in mixture):
        raise InputError(
            f"mixture={mixture!r}, expected two positive finite numbers, "
            "try (1.0, 1.0), the uniform mixture"
        )
    failures = trials - successes
    low = _mixture_lower_root(successes, failures, error, *mixture)
    high = 1.0 - _mixture_lower_root(failures, successes, error, *reversed(mixture))
    return low, high


def _mixture_lower_root(s: int, f: int, error: float, a: float, b: float) -> float:
    """The p ≤ s/(s + f) at which the mixture likelihood ratio equals 1/error; 0 if s = 0."""
    from scipy.optimize import brentq
    from scipy.special import betaln

    if s == 0:
        return 0.0
    constant = float(betaln(a + s, b + f) - betaln(a, b)) + math.log(error)
    below = constant / s  # where log p would be if the failures had no weight: at or left of it
    if f == 0:
        return math.exp(below)

    def excess(log_p: float) -> float:
        return constant - s * log_p - f * math.log1p(-math.exp(log_p))

    return math.exp(brentq(excess, below - 1.0, math.log(s / (s + f)), xtol=1e-15, rtol=1e-14))


@dataclass(frozen=True)
class SlopeFit:
    """A power law read off as a line in log–log coordinates; all fields are dimensionless.

    ``low`` and ``high`` bound the slope for sampling error only.  ``curvature`` is the largest
    absolute deviation of a cell's mean from the line, in log units: the lack of fit (with the
    cell's sampling noise), which the interval does *not* cover.  ``deviation`` is an
    upper confidence bound on the same for the expected means.  ``span`` is the length of the
    sweep, max log x − min log x over cell means.
    """

    slope: float
    low: float
    high: float
    intercept: float
    standard_error: float
    degrees_of_freedom: float
    curvature: float
    deviation: float
    span: float


def fit_slope(
    log_x_per_cell: Sequence[float | npt.ArrayLike],
    log_y_samples_per_cell: Sequence[npt.ArrayLike],
    error: float,
) -> SlopeFit:
    """The slope of log y against log x over k ≥ 3 cells, two-sided at level 1 − ``error``.

    Cell j has T_j ≥ 2 independent samples of log y, shape ``(T_j,)``, and either one log x or
    one for each sample, shape ``(T_j,)``.  The slope is Σ w_j ȳ_j with the least-squares weights
    w_j = (x̄_j − x̄)/Σ_i (x̄_i − x̄)² over cell means, each cell counting once.  Its variance is
    Σ w_j² s_j²/T_j, where s_j² is the cell's own sample variance of y − slope·x (so of y alone
    where x is one number): the cells may be as unequally noisy as they like.  The interval is
    Student's with the degrees of freedom of Welch and Satterthwaite; it is approximate, in that
    it takes the cell means to be nearly normal, and per-trial abscissae to be known exactly and
    independent of the residuals.  Below 10 samples a cell it misses too often (at 5 samples and
    error .00125, about three times that).  It has no width where the samples have no spread.
    The deviation is the largest of the upper bounds, of the same kind, on the distance of each
    mean from the line, one-sided at level 1 − ``error``; since it is too small only if the bound
    of the cell that truly deviates most is, they need not share the error.

    Sources: Satterthwaite, Biometrics Bulletin 2 (1946) 110–114; Welch, Biometrika 34 (1947)
    28–35.
    Raises ``InputError`` for fewer than 3 cells, a cell with fewer than 2 samples or shapes that
    do not match, a non-finite value, abscissae that are all equal, error outside (0, 1).
    """
    from scipy.special import stdtrit

    _require_inside_unit_interval("error", error)
    cells = _require_cells(log_x_per_cell, log_y_samples_per_cell)
    x = np.array([cell_x.mean() for cell_x, _ in cells])
    y = np.array([cell_y.mean() for _, cell_y in cells])
    if np.ptp(x) <= 8 * np.finfo(np.float64).eps * np.abs(x).max():
        raise InputError(
            f"log_x_per_cell={x[0]!s} in every cell, expected cells at different abscissae, "
            "try a sweep that varies this quantity"
        )
    weights = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
    slope = float(weights @ y)
    intercept = float(y.mean() - slope * x.mean())

    sizes = np.array([cell_y.size for _, cell_y in cells])
    variances = np.array([np.var(cell_y - slope * cell_x, ddof=1) for cell_x, cell_y in cells])
    standard_error, degrees_of_freedom = _welch(weights**2 * variances / sizes, sizes)
    half_width = -float(stdtrit(degrees_of_freedom, error / 2)) * standard_error
    residuals = np.abs(y - intercept - slope * x)
    projection = np.eye(len(cells)) - 1 / len(cells) - np.outer(weights, x - x.mean())
    combined = [_welch(row**2 * variances / sizes, sizes) for row in projection]
    uncertainties = [-float(stdtrit(df, error)) * se for se, df in combined]
    return SlopeFit(
        slope=slope,
        low=slope - half_width,
        high=slope + half_width,
        intercept=intercept,
        standard_error=standard_error,
        degrees_of_freedom=degrees_of_freedom,
        curvature=float(residuals.max()),
        deviation=float((residuals + uncertainties).max()),
        span=float(np.ptp(x)),
    )


def _welch(contributions: FloatArray, sizes: npt.NDArray[np.int_]) -> tuple[float, float]:
    """Standard error of a sum over cells, of these variances, and its degrees of freedom."""
    variance = float(contributions.sum())
    shares = contributions / variance if variance > 0 else np.full(sizes.size, 1 / sizes.size)
    return math.sqrt(variance), float(1 / np.sum(shares**2 / (sizes - 1)))


def _require_cells(
    log_x_per_cell: Sequence[float | npt.ArrayLike],
    log_y_samples_per_cell: Sequence[npt.ArrayLike],
) -> list[tuple[FloatArray, FloatArray]]:
    """The cells as pairs (log x of shape () or (T,), log y of shape (T,)), all finite."""
    if len(log_x_per_cell) != len(log_y_samples_per_cell) or len(log_x_per_cell) < 3:
        raise InputError(
            f"cells={len(log_x_per_cell)} abscissae for {len(log_y_samples_per_cell)} lists of "
            "samples, expected as many of each and at least 3, try a longer sweep"
        )
    cells = []
    for j, pair in enumerate(zip(log_x_per_cell, log_y_samples_per_cell, strict=True)):
        x, y = (np.asarray(values, dtype=np.float64) for values in pair)
        if y.ndim != 1 or y.size < 2 or x.shape not in ((), y.shape):
            raise InputError(
                f"log_y_samples_per_cell[{j}] has shape {y.shape} and log_x_per_cell[{j}] shape "
                f"{x.shape}, expected (T,) with T ≥ 2 and () or (T,), try more trials a cell"
            )
        for name, values in (("log_x_per_cell", x), ("log_y_samples_per_cell", y)):
            if not np.isfinite(values).all():
                odd = values[~np.isfinite(values)].flat[0]
                raise InputError(
                    f"{name}[{j}]={odd} at some trial, expected finite logarithms, "
                    "try leaving out trials where the quantity is zero or did not converge"
                )
        cells.append((x, y))
    return cells


def _require_counts(successes: int, trials: int) -> tuple[int, int]:
    trials = _require_count("trials", trials)
    successes = _require_count("successes", successes)
    if successes > trials:
        raise InputError(
            f"successes={successes}, expected at most trials={trials}, "
            "try exchanging the two arguments"
        )
    return successes, trials


def _require_count(name: str, value: int, at_least: int = 0) -> int:
    try:
        count = operator.index(value)
    except TypeError:
        count = -1
    if count < at_least:
        raise InputError(
            f"{name}={value!r}, expected a whole number of at least {at_least}, try int({name})"
        )
    return count


def _require_inside_unit_interval(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise InputError(f"{name}={value!r}, expected strictly between 0 and 1, try {name}=0.05")
