"""Random Gram matrices against the moments and laws that theory §10 gives them.

Every statistical test has a fixed seed and a tolerance of five standard errors, estimated
from the sample or stated.
"""

import time
import tracemalloc

import numpy as np
import pytest

from verify.errors import InputError, UnknownName
from verify.relu import sampling
from verify.relu.sampling import (
    explicit_levels,
    feature_gram,
    gaussian_gram,
    wishart,
    wishart_factor,
)
from verify.relu.spectra import Spectrum

SPECTRA = ["isotropic:4", "levels:4x0.5,1x0.5", "power:1", "spiked:30x2"]
ENTRIES = ["gaussian", "rademacher", "uniform", "student_t:6"]


def within_five_standard_errors(sample: np.ndarray, expected: float) -> None:
    error = np.std(sample, ddof=1) / np.sqrt(sample.size)
    # the floor is for Rademacher entries, whose diagonal does not vary at all
    assert abs(np.mean(sample) - expected) <= 5 * error + 1e-12 * expected, (
        f"out={np.mean(sample)} ± {error}, but should be {expected}"
    )


@pytest.mark.parametrize("entries", ENTRIES)
@pytest.mark.parametrize("name", SPECTRA)
def test_the_gram_matrix_has_the_moments_of_its_spectrum(name: str, entries: str) -> None:
    spectrum = Spectrum.named(name, 200)
    n, batch = 6, 800
    gram = feature_gram(np.random.default_rng(7), n, spectrum, entries, batch)
    off = gram[:, ~np.eye(n, dtype=bool)]
    within_five_standard_errors(
        np.mean(np.diagonal(gram, axis1=1, axis2=2), axis=1), spectrum.trace
    )
    # the mean over pairs of one matrix, so that the entries of the sample are independent
    within_five_standard_errors(np.mean(off**2, axis=1), spectrum.trace**2 / spectrum.d_2)
    assert abs(np.mean(off)) <= 5 * np.sqrt(spectrum.trace**2 / spectrum.d_2 / (batch * 15))


@pytest.mark.parametrize("entries", [*ENTRIES, "student_t:2.5"])
def test_entries_are_independent_of_mean_zero_and_variance_one(entries: str) -> None:
    z = sampling.entry_law(entries)(np.random.default_rng(3), (400, 50, 20))
    within_five_standard_errors(np.mean(z, axis=(0, 1)), 0.0)
    if entries != "student_t:2.5":  # a fourth moment, for a standard error of the second
        within_five_standard_errors(np.mean(z * z, axis=(0, 2)), 1.0)
    within_five_standard_errors(np.mean(z[1:] * z[:-1], axis=(0, 2)), 0.0)


def test_rademacher_entries_are_signs_whatever_the_size() -> None:
    for size in (1, 7, 8, 65):
        z = sampling.entry_law("rademacher")(np.random.default_rng(1), (size,))
        assert z.shape == (size,)
        assert np.all(np.abs(z) == 1.0)


@pytest.mark.parametrize("dimension", [12, 40])
def test_bartlett_has_the_law_of_explicit_gaussian_features(dimension: int) -> None:
    from scipy.stats import ks_2samp

    n, batch = 10, 2000
    drawn = wishart(np.random.default_rng(1), n, dimension, batch)
    X = np.random.default_rng(2).standard_normal((batch, n, dimension))
    explicit = X @ X.swapaxes(-2, -1)
    for place in (0, -1):
        same = ks_2samp(np.linalg.eigvalsh(drawn)[:, place], np.linalg.eigvalsh(explicit)[:, place])
        assert same.pvalue > 1e-3  # false alarm in one of a thousand seeds


@pytest.mark.parametrize("examples", [2, 50, 127, 128, 144, 145, 200])
def test_every_normal_number_of_a_bartlett_factor_is_used_once(examples: int) -> None:
    lower = wishart_factor(np.random.default_rng(5), examples, 10.0 * examples, 3)
    again = np.random.default_rng(5)
    diagonal = again.chisquare(10.0 * examples - np.arange(examples), (3, examples))
    below = np.tri(examples, k=-1, dtype=bool)
    normals = again.standard_normal(3 * below.sum())
    np.testing.assert_array_equal(np.sort(lower[:, below], axis=None), np.sort(normals))
    np.testing.assert_array_equal(lower.diagonal(axis1=1, axis2=2), np.sqrt(diagonal))
    assert not lower[:, np.tri(examples, dtype=bool).T & ~np.eye(examples, dtype=bool)].any()


def test_a_spectrum_with_a_rare_level_has_the_law_of_explicit_gaussian_features() -> None:
    from scipy.stats import ks_2samp

    spectrum, n, batch = Spectrum.spiked(60, 30, 2), 10, 1500
    assert explicit_levels(n, spectrum, "gaussian").tolist() == [True, False]
    drawn = gaussian_gram(np.random.default_rng(1), n, spectrum, batch)
    X = np.random.default_rng(2).standard_normal((batch, n, 60))
    X[:, :, :2] *= np.sqrt(30.0)
    explicit = X @ X.swapaxes(-2, -1)
    for place in (0, -3, -1):
        same = ks_2samp(np.linalg.eigvalsh(drawn)[:, place], np.linalg.eigvalsh(explicit)[:, place])
        assert same.pvalue > 1e-3


def test_a_wishart_law_of_real_dimension_lies_between_its_neighbours() -> None:
    low, middle, high = (
        np.mean(wishart(np.random.default_rng(4), 5, d, 4000).trace(axis1=1, axis2=2)) / 5
        for d in (4.2, 4.7, 5.2)
    )
    error = np.sqrt(2 * 5 / (4000 * 5))
    np.testing.assert_allclose([low, middle, high], [4.2, 4.7, 5.2], atol=5 * error)


def test_a_dimension_of_a_million_million_concentrates_and_costs_no_more() -> None:
    def seconds(d: float) -> float:
        began = time.perf_counter()
        wishart(np.random.default_rng(5), 30, d, 20)
        return time.perf_counter() - began

    gram = wishart(np.random.default_rng(5), 30, 1e12, 20)
    off = (gram / 1e12 - np.eye(30))[:, ~np.eye(30, dtype=bool)]
    np.testing.assert_allclose(np.sqrt(np.mean(off**2)) * 1e6, 1.0, rtol=0.05)
    assert min(seconds(1e12) for _ in range(7)) < 5 * min(seconds(1e3) for _ in range(7))


@pytest.mark.parametrize("entries", ENTRIES)
@pytest.mark.parametrize("name", ["isotropic", "power:1", "spiked:30x2"])
def test_the_stream_of_blocks_equals_all_columns_at_once(name: str, entries: str) -> None:
    n, batch, d = 5, 3, 500
    spectrum = Spectrum.named(name, d)
    every = np.full(spectrum.values.shape, True)
    z = sampling.entry_law(entries)(np.random.default_rng(9), (d, batch, n))
    X = z.transpose(1, 2, 0) * np.sqrt(
        np.repeat(spectrum.values, spectrum.multiplicities.astype(int))
    )
    for block in (64, 128, 512):
        streamed = sampling._streamed_gram(
            np.random.default_rng(9), n, spectrum, entries, batch, explicit=every, block=block
        )
        np.testing.assert_allclose(streamed, X @ X.swapaxes(-2, -1), rtol=1e-12, atol=1e-11)


def test_columns_come_in_blocks_with_the_values_of_their_levels(monkeypatch) -> None:
    monkeypatch.setattr(sampling, "BLOCK_ENTRIES", 12)
    rng = np.random.default_rng(5)
    for _ in range(200):
        counts = rng.integers(1, 9, rng.integers(1, 12))
        values, block = rng.random(len(counts)), int(rng.integers(1, 20))
        blocks = [*sampling._blocks_of_columns(values, np.cumsum(counts).astype(float), block)]
        assert [len(each) for each in blocks[:-1]] == [block] * (len(blocks) - 1)
        np.testing.assert_array_equal(np.concatenate(blocks), np.repeat(values, counts))


def test_explicit_features_are_never_held_whole() -> None:
    n, batch, d = 10, 4, 200_000
    tracemalloc.start()
    feature_gram(np.random.default_rng(1), n, Spectrum.isotropic(d), "rademacher", batch)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8e6 < n * batch * d * 8


@pytest.mark.parametrize("entries", ENTRIES)
def test_gram_matrices_are_exactly_symmetric_and_repeatable(entries: str) -> None:
    for name in SPECTRA:
        spectrum = Spectrum.named(name, 96)
        gram = feature_gram(np.random.default_rng(1), 20, spectrum, entries, 3)
        assert np.array_equal(gram, gram.swapaxes(-2, -1))
        assert np.array_equal(
            gram, feature_gram(np.random.default_rng(1), 20, spectrum, entries, 3)
        )


def test_fewer_dimensions_than_examples_give_a_gram_matrix_of_that_rank() -> None:
    gram = gaussian_gram(np.random.default_rng(1), 12, Spectrum.isotropic(5), 4)
    assert np.linalg.matrix_rank(gram).tolist() == [5] * 4


def test_a_single_example_has_the_chi_square_law() -> None:
    gram = gaussian_gram(np.random.default_rng(1), 1, Spectrum.isotropic(7), 3000)
    within_five_standard_errors(gram[:, 0, 0], 7.0)


@pytest.mark.parametrize(
    ("n", "spectrum", "entries", "error", "said"),
    [
        (4, Spectrum.isotropic(10), "cauchy", UnknownName, "rademacher"),
        (4, Spectrum.isotropic(10), "student_t", UnknownName, "student_t:NU"),
        (4, Spectrum.isotropic(10), "student_t:x", UnknownName, "student_t:NU"),
        (4, Spectrum.isotropic(10), "gaussian:3", UnknownName, "gaussian"),
        (4, Spectrum.isotropic(10), "student_t:2", InputError, "2 < NU"),
        (4, Spectrum.isotropic(10.5), "rademacher", InputError, "multiplicity 10.5"),
        (12, Spectrum.isotropic(10.5), "gaussian", InputError, "multiplicity 10.5"),
        (4, Spectrum.isotropic(1e12), "uniform", InputError, "1e+12 explicit"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    n: int, spectrum: Spectrum, entries: str, error: type[Exception], said: str
) -> None:
    with pytest.raises(error) as refused:
        feature_gram(np.random.default_rng(1), n, spectrum, entries, 1)
    assert said in str(refused.value)


def test_a_wishart_law_needs_more_than_n_minus_one_dimensions() -> None:
    with pytest.raises(InputError, match="dimension=3"):
        wishart(np.random.default_rng(1), 4, 3.0, 1)
