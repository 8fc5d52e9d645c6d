"""What a user would do otherwise, timed beside what this library does, in one run.

    python benchmarks/compare.py [--repeats N]

Prints medians and the ratio; machines are noisy, so quote the ratio.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
from scipy.optimize import nnls

from verify.engine.executors import one_thread
from verify.relu import Ensemble, Problem, Spectrum, descend, minimum_norm


def weight_space_descent(features: np.ndarray, labels: np.ndarray, step: float) -> np.ndarray:
    """Run plain gradient descent on the weights of one neuron until the residual is 1e-10."""
    weights = np.linalg.lstsq(features, np.full(len(labels), 1e-3), rcond=None)[0]
    for _ in range(10_000):
        predictions = features @ weights
        residual = np.where(predictions > 0, predictions - labels, 0.0)
        if np.abs(residual).max() < 1e-10:
            break
        weights = weights - step * (features.T @ residual)
    return weights


def nnls_comparator(gram: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Find the minimum-norm duals by scipy's nnls on the Schur complement."""
    on, off = labels > 0, labels < 0
    solved = np.linalg.solve(gram[np.ix_(on, on)], np.c_[gram[np.ix_(on, off)], labels[on]])
    schur = gram[np.ix_(off, off)] - gram[np.ix_(off, on)] @ solved[:, :-1]
    lower = np.linalg.cholesky(schur)
    right = np.linalg.solve(lower, gram[np.ix_(off, on)] @ solved[:, -1])
    return nnls(lower.T, right, maxiter=100 * len(labels))[0]


def compare(
    name: str, ours: Callable[[], object], theirs: Callable[[], object], repeats: int
) -> None:
    """Time both alternately and print medians and the median ratio."""
    times: list[tuple[float, float]] = []
    for _ in range(repeats):
        pair = []
        for function in (ours, theirs):
            began = time.perf_counter()
            function()
            pair.append(time.perf_counter() - began)
        times.append((pair[0], pair[1]))
    ratio = statistics.median(b / a for a, b in times)
    medians = [1e3 * statistics.median(column) for column in zip(*times, strict=True)]
    print(f"{name:<58}{medians[0]:>10.1f} ms {medians[1]:>10.1f} ms {ratio:>8.1f}x")


def main() -> None:
    """Compare descent and comparator."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    rng = np.random.default_rng(0)
    print(f"{'':<58}{'ours':>13} {'otherwise':>13} {'ratio':>8}")
    for n, d, trials in ((20, 2_000, 20), (50, 5_000, 20), (200, 20_000, 2)):
        features = rng.normal(size=(trials, n, d))
        labels = rng.uniform(0.5, 1, (trials, n)) * rng.choice([-1, 1], (trials, n))

        def ours(features=features, labels=labels, d=d, n=n):  # type: ignore[no-untyped-def]
            start = np.full((1, n), 1e-3)
            problem = Problem.from_features(
                features, labels, starting_predictions=start, step_size=0.5 / d
            )
            return descend(problem)

        def loop(features=features, labels=labels, d=d):  # type: ignore[no-untyped-def]
            pairs = zip(features, labels, strict=True)
            return [weight_space_descent(X, y, 0.5 / d) for X, y in pairs]

        compare(f"descent from features, {trials} x (n={n}, d={d})", ours, loop, repeats)
    for n, d, trials in ((50, 5_000, 50), (300, 6_000, 5), (1_000, 20_000, 1)):
        ensemble = Ensemble(examples=n, spectrum=Spectrum.isotropic(d))
        problem = ensemble.draw(np.random.default_rng(0), trials)
        compare(
            f"minimum norm, {trials} x (n={n}, d={d}), against nnls",
            lambda problem=problem: minimum_norm(problem),
            lambda problem=problem: [
                nnls_comparator(G, y) for G, y in zip(problem.gram, problem.labels, strict=True)
            ],
            repeats,
        )


if __name__ == "__main__":
    with one_thread():
        main()
