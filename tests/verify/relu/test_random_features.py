"""Random features: their kernels, their rate, and that seeds and not blocks decide."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from scipy.integrate import dblquad

from verify.errors import InputError
from verify.relu.random_features import RandomFeatures, median_distance

X = np.random.default_rng(3).normal(size=(12, 7)) * np.linspace(0.5, 2.0, 12)[:, None]
LIFTS = [RandomFeatures("relu", 1000), RandomFeatures("fourier", 1000, bandwidth=2.0)]
both = pytest.mark.parametrize("lift", LIFTS, ids=lambda lift: lift.kind)


def of_size(lift: RandomFeatures, number: int, seed: int) -> RandomFeatures:
    return RandomFeatures(lift.kind, number, seed, lift.bandwidth)


@both
def test_the_gram_matrix_is_that_of_the_features_as_defined(lift: RandomFeatures) -> None:
    weights, phases = map(np.random.default_rng, np.random.SeedSequence(5).spawn(2))
    projected = X @ weights.standard_normal((300, 7)).T
    features = (
        np.maximum(projected, 0)
        if lift.kind == "relu"
        else np.cos(projected / 2.0 + phases.uniform(0, 2 * np.pi, 300))
    )
    expected = 2 / 300 * features @ features.T
    np.testing.assert_allclose(of_size(lift, 300, 5).gram(X), expected, rtol=1e-12, atol=1e-14)


@both
def test_the_mean_gram_matrix_is_the_kernel(lift: RandomFeatures) -> None:
    """400 seeds of D = 500: every entry's mean within five of its standard errors."""
    grams = np.stack([of_size(lift, 500, seed).gram(X) for seed in range(400)])
    error = grams.std(axis=0) / 20
    assert (np.abs(grams.mean(axis=0) - lift.kernel(X)) < 5 * error + 1e-12).all()


@both
def test_the_distance_to_the_kernel_shrinks_like_one_over_the_root_of_d(
    lift: RandomFeatures,
) -> None:
    numbers = (100, 1000, 10_000)

    def distance(number: int) -> float:
        squares = [
            ((of_size(lift, number, seed).gram(X) - lift.kernel(X)) ** 2).sum()
            for seed in range(40)
        ]
        return float(np.mean(squares)) ** 0.5

    slope = np.polyfit(np.log(numbers), np.log([distance(n) for n in numbers]), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.06)


def test_the_arc_cosine_kernel_is_the_integral_that_defines_it() -> None:
    x, y = np.array([1.0, 0.0]), np.array([0.6, 1.7])

    def integrand(radius: float, angle: float) -> float:
        w = radius * np.array([np.cos(angle), np.sin(angle)])
        density = np.exp(-(radius**2) / 2) / (2 * np.pi)
        return float(2 * density * max(w @ x, 0) * max(w @ y, 0) * radius)

    value, _ = dblquad(integrand, 0, 2 * np.pi, 0, 12, epsabs=1e-8)
    kernel = RandomFeatures("relu", 1).kernel(np.array([x, y]))
    assert kernel[0, 1] == pytest.approx(value, abs=1e-6)
    np.testing.assert_allclose(np.diag(kernel), [1.0, y @ y], rtol=1e-12)


def test_the_gaussian_kernel_is_its_formula() -> None:
    kernel = RandomFeatures("fourier", 1, bandwidth=3.0).kernel(X)
    assert kernel[2, 5] == pytest.approx(np.exp(-((X[2] - X[5]) ** 2).sum() / 18))
    np.testing.assert_array_equal(np.diag(kernel), 1.0)


@both
@pytest.mark.parametrize("block", [1, 7, 333, 1000, 5000])
def test_blocks_change_nothing_but_rounding(lift: RandomFeatures, block: int) -> None:
    np.testing.assert_allclose(lift.gram(X, block), lift.gram(X), rtol=1e-11, atol=1e-12)


@both
def test_the_seed_decides(lift: RandomFeatures) -> None:
    first = of_size(lift, 200, 1).gram(X)
    np.testing.assert_array_equal(first, of_size(lift, 200, 1).gram(X))
    assert np.abs(first - of_size(lift, 200, 2).gram(X)).max() > 1e-3


@both
def test_memory_does_not_grow_with_the_number_of_features(lift: RandomFeatures) -> None:
    tracemalloc.start()
    try:
        of_size(lift, 200_000, 0).gram(X, block=1000)
        assert tracemalloc.get_traced_memory()[1] < 2**20, "all features would take 18 MiB"
    finally:
        tracemalloc.stop()


def test_the_default_bandwidth_is_the_median_distance() -> None:
    distances = [np.linalg.norm(X[i] - X[j]) for i in range(12) for j in range(i)]
    assert median_distance(X) == pytest.approx(np.median(distances))
    lift = RandomFeatures("fourier", 50, 4)
    assert lift.fitted(X).bandwidth == median_distance(X)
    explicit = RandomFeatures("fourier", 50, 4, median_distance(X))
    np.testing.assert_array_equal(lift.gram(X), explicit.gram(X))


def test_a_median_distance_of_zero_is_refused() -> None:
    with pytest.raises(InputError, match="rows are duplicates"):
        RandomFeatures("fourier", 50).gram(np.ones((5, 3)))


@both
def test_equal_rows_have_equal_features(lift: RandomFeatures) -> None:
    gram = lift.gram(X[[0, 1, 0]])
    assert gram[0, 0] == pytest.approx(gram[0, 2], rel=1e-14)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("relu:10000", RandomFeatures("relu", 10_000, 3)),
        (" relu:1e5 ", RandomFeatures("relu", 100_000, 3)),
        ("fourier:50", RandomFeatures("fourier", 50, 3)),
        ("fourier:50:0.5", RandomFeatures("fourier", 50, 3, 0.5)),
    ],
)
def test_names_are_read(text: str, expected: RandomFeatures) -> None:
    assert RandomFeatures.named(text, 3) == expected


@pytest.mark.parametrize(
    "text",
    ["relu", "", "relu:", "relu:x", "relu:1.5", "relu:0", "relu:-3", "relu:1e9", "relu:1e999",
     "relu:10:2", "fourier:10:0", "fourier:10:nan", "fourier:10:-1", "fourier:1:2:3", "tanh:10",
     "relu:1_0"],
)  # fmt: skip
def test_other_names_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="expected"):
        RandomFeatures.named(text)


@pytest.mark.parametrize("bandwidth", ["1e-300", "1e300", "0", "-1"])
def test_a_bandwidth_out_of_range_is_refused_with_the_range(bandwidth: str) -> None:
    with pytest.raises(InputError, match="within 1e-50 and 1e50"):
        RandomFeatures.named(f"fourier:100:{bandwidth}")


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(InputError, match="seed=-1"):
        RandomFeatures("relu", 10, -1)


def test_a_lift_cannot_be_changed() -> None:
    lift: Any = RandomFeatures("relu", 10)
    with pytest.raises(AttributeError):
        lift.number = 20
