"""Laws of random problems: features, labels and start, and independent draws of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Real

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from verify.arrays import Backend
from verify.errors import InputError, UnknownName
from verify.relu.effective_dimensions import EffectiveDimensions, regime_index_from
from verify.relu.factor import Factor
from verify.relu.gram import Gram
from verify.relu.problem import Problem
from verify.relu.sampling import explicit_levels, feature_gram, wishart_factor
from verify.relu.spectra import Spectrum
from verify.tolerances import SINGULAR_BELOW

Floats = NDArray[np.float64]

MANY = 256
"""Examples from which a factor of their Gram matrix is kept in place of the matrix."""

STARTS = ("positive", "constant", "random_sign", "zero")
"""The kinds of `Start`."""


@dataclass(frozen=True)
class Labels:
    """A law of labels: signs, and independently of them magnitudes |y_i|.

    signs: "random" for independent fair signs; or a fraction in [0, 1], for exactly
        round(fraction·n) positives at random positions (at least one label of each sign
        where 0 < fraction < 1 and n ≥ 2).
    magnitude: (low, high) = (y_min, y_max), uniform between them, constant where equal.
    """

    signs: str | float = "random"
    magnitude: tuple[float, float] = (0.5, 1.0)

    def __post_init__(self) -> None:
        fraction = isinstance(self.signs, Real) and 0.0 <= self.signs <= 1.0
        if self.signs != "random" and not fraction:
            raise InputError(f"signs={self.signs!r}, expected 'random' or a fraction in [0, 1]")
        low, high = self.magnitude
        if not (0.0 <= low <= high < np.inf and high > 0.0):
            raise InputError(
                f"magnitude={self.magnitude!r}, expected (low, high), 0 <= low <= high, 0 < high"
            )

    @property
    def mean_square(self) -> float:
        """E y², in squared units of a label."""
        low, high = self.magnitude
        return (low * low + low * high + high * high) / 3.0

    def positives(self, examples: int) -> int | None:
        """How many labels are positive: a number, or None where the signs are random."""
        if isinstance(self.signs, str):
            return None
        count = round(self.signs * examples)
        if 0.0 < self.signs < 1.0 and examples > 1:
            count = min(max(count, 1), examples - 1)
        return count

    def draw(self, generator: Generator, examples: int, trials: int) -> Floats:
        """Draw labels, (trials, examples): first the signs, then the magnitudes."""
        rank = generator.random((trials, examples))
        count = self.positives(examples)
        positive = rank < 0.5 if count is None else np.argsort(rank, axis=-1) < count
        magnitude = generator.uniform(*self.magnitude, (trials, examples))
        return np.where(positive, magnitude, -magnitude)


@dataclass(frozen=True)
class Start:
    """A law of the starting predictions β⁰ of each neuron, all in the span of the data.

    kind: "positive", independent and uniform in (low, high]; "constant", all equal to high;
        "random_sign", β⁰ = Xw⁰ for Gaussian weights w⁰ of variance high²/τ an entry, so that
        β⁰ ~ N(0, high²·G/τ) given the features; "zero".
    low, high: in units of a label; low matters for "positive" only, neither for "zero".

    Where a Gram matrix is singular no weights attain all predictions: "positive" and
    "constant" then mean the nearest predictions that some weights attain.
    """

    kind: str = "positive"
    low: float = 0.001
    high: float = 0.005

    def __post_init__(self) -> None:
        if self.kind not in STARTS:
            raise UnknownName(f"kind={self.kind!r} is no start: use one of {', '.join(STARTS)}")
        if self.kind != "zero" and not 0.0 < self.high < np.inf:
            raise InputError(f"high={self.high!r}, expected a positive number, or kind='zero'")
        if self.kind == "positive" and not 0.0 <= self.low <= self.high:
            raise InputError(f"low={self.low!r}, expected 0 <= low <= high={self.high!r}")

    def draw(
        self, generator: Generator, gram: Gram, neurons: int, trace: float, regular: bool
    ) -> Floats:
        """Draw starting predictions, (B, neurons, n), for Gram matrices of trace τ.

        regular: whether all the Gram matrices are known to be far from singular.
        """
        shape = (gram.batch, neurons, gram.examples)
        if self.kind == "zero":
            return np.zeros(shape)
        if self.kind == "random_sign":
            normal = generator.standard_normal(shape)
            return np.asarray(self.high / np.sqrt(trace) * _rooted(gram, normal, regular))
        if self.kind == "constant":
            wanted = np.full(shape, self.high)
        else:
            wanted = self.high - (self.high - self.low) * generator.random(shape)
        return wanted if regular else _attainable(gram.dense, wanted)


@dataclass(frozen=True)
class Ensemble:
    """A law of independent problems (theory §10), immutable and hashable.

    examples: n.   spectrum, entries: the law of the features, see `feature_gram`.
    labels, start: their laws.   relative_step: c = ητ, with τ = ‖λ‖₁ of the law.
    signs: (m,) output signs of the neurons.   slope_at_zero: φ'(0), 0 or 1.

    Raises InputError for a number out of its range, and for features that cannot be drawn.
    """

    examples: int
    spectrum: Spectrum
    entries: str = "gaussian"
    labels: Labels = field(default_factory=Labels)
    start: Start = field(default_factory=Start)
    relative_step: float = 0.5
    signs: tuple[int, ...] = (1,)
    slope_at_zero: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.examples, float) or self.examples < 1:
            raise InputError(f"examples={self.examples!r}, expected a whole number n >= 1")
        if not 0.0 < self.relative_step < np.inf:
            raise InputError(f"relative_step={self.relative_step!r}, expected c > 0; try 0.5")
        object.__setattr__(self, "signs", tuple(self.signs))
        if not self.signs or any(sign not in (-1, 1) for sign in self.signs):
            raise InputError(f"signs={self.signs!r}, expected output signs -1 or +1, one a neuron")
        if self.slope_at_zero not in (0, 1):
            raise InputError(f"slope_at_zero={self.slope_at_zero!r}, expected 0 or 1")
        explicit_levels(self.examples, self.spectrum, self.entries)

    @property
    def effective_dimensions(self) -> EffectiveDimensions:
        """Effective dimensions of the law of the features, as floats."""
        return self.spectrum.effective_dimensions

    @property
    def regime_index(self) -> float:
        """Regime index H of the law, from y_min and E y² [H: our heuristic, theory §7].

        Meant for one neuron and a positive start; see `effective_dimensions.regime_index`.
        There is no `freezing_probability` of a law: P̂ depends on the labels and the start
        drawn, so average it over the problems of a draw.

        Raises InputError for n < 2.
        """
        least, mean = self.labels.magnitude[0] ** 2, self.labels.mean_square
        d_2 = self.spectrum.d_2
        return float(regime_index_from(self.examples, d_2, self.relative_step, least, mean))

    def draw(self, generator: Generator, trials: int, backend: Backend | None = None) -> Problem:
        """Draw a batch of `trials` independent problems; host random numbers, then moved.

        Features, labels and start are drawn in this order from three children of `generator`
        (`Generator.spawn`), so each stays the same when the law of another changes. A second
        draw from the same generator gives other problems.

        Raises InputError for trials < 1.
        """
        if trials < 1:
            raise InputError(f"trials={trials!r}, expected a whole number >= 1")
        for_features, for_labels, for_start = generator.spawn(3)
        n, m, trace = self.examples, len(self.signs), self.spectrum.trace
        labels = self.labels.draw(for_labels, n, trials)
        gram = self._inner_products(for_features, labels)
        problem = Problem(
            inner_products=gram,
            labels=labels,
            starting_predictions=self.start.draw(for_start, gram, m, trace, self._regular),
            signs=np.tile(np.asarray(self.signs, dtype=np.float64), (trials, 1)),
            step_size=np.full(trials, self.relative_step / trace),
            perpendicular_gram=np.zeros((trials, m, m)),
            slope_at_zero=self.slope_at_zero,
            law=self.effective_dimensions.broadcast(trials),
        )
        return problem if backend is None else problem.to(backend)

    def _inner_products(self, generator: Generator, labels: Floats) -> Gram:
        """Draw Gram matrices for labels (B, n).

        Many isotropic Gaussian examples through a factor, with the label class of the first
        neuron leading: they are exchangeable, and independent of the labels.
        """
        spectrum, trials = self.spectrum, labels.shape[0]
        one_level = len(spectrum.values) == 1 and self.entries == "gaussian"
        if not (one_level and self.examples >= MANY and spectrum.dimension > self.examples - 1):
            return Gram(feature_gram(generator, self.examples, spectrum, self.entries, trials))
        lower = wishart_factor(generator, self.examples, spectrum.dimension, trials)
        if spectrum.values[0] != 1.0:
            lower *= np.sqrt(spectrum.values[0])
        own = labels * self.signs[0] > 0
        return Gram(
            factor=Factor(lower, np.argsort(~own, axis=-1, kind="stable"), own.sum(axis=-1))
        )

    @property
    def _regular(self) -> bool:
        """Whether comparable eigenvalues are so many that no Gram matrix is near to singular."""
        comparable = self.spectrum.values > 1e-6 * self.spectrum.values[0]
        return bool(np.sum(self.spectrum.multiplicities[comparable]) >= 2 * self.examples + 64)


def _range(gram: Floats) -> tuple[Floats, Floats]:
    """Return the eigenvalues, numerically zero ones set to zero, and the eigenvectors."""
    values, vectors = np.linalg.eigh(gram)
    floor = SINGULAR_BELOW * gram.shape[-1] * values[:, -1:]
    return np.where(values > floor, values, 0.0), vectors


def _rooted(gram: Gram, rows: Floats, regular: bool) -> Floats:
    """Return Rz, RRᵀ = G, for each of the rows z of (B, m, n)."""
    if gram.factor is not None:
        return gram.factor.root(rows)
    root = np.linalg.cholesky(gram.dense) if regular else _eigen_root(gram.dense)
    return np.asarray(rows @ root.swapaxes(-2, -1))


def _eigen_root(gram: Floats) -> Floats:
    """Return R with RRᵀ = G and no part outside the range of G, (B, n, n)."""
    values, vectors = _range(gram)
    return vectors * np.sqrt(values)[:, None, :]


def _attainable(gram: Floats, wanted: Floats) -> Floats:
    """Return `wanted`, (B, m, n), projected on the range of G where that is singular."""
    values, vectors = _range(gram)
    kept = values > 0.0
    projected = (wanted @ vectors * kept[:, None, :]) @ vectors.swapaxes(-2, -1)
    return np.where(np.all(kept, axis=-1)[:, None, None], wanted, projected)
