"""Descent to the limit does what plain gradient descent on the weights does."""

import numpy as np
import pytest

from tests.verify.relu.oracle import descend_in_weights, draw
from verify.errors import InputError
from verify.relu.descent import descend
from verify.relu.problem import Problem

SEED = 20260304
SAME_LIMIT = 1e-8
RUNS_PER_CELL = 20
"""Raise by hand for a longer sweep."""


def problem_of(sample):
    """Return the problem of an oracle's `Draw`, from features and starting weights."""
    return Problem.from_features(
        sample.features,
        sample.labels,
        starting_weights=sample.weights,
        signs=sample.signs,
        step_size=sample.step_size,
        slope_at_zero=sample.slope_at_zero,
    )


def differences(sample, run, reference):
    """Return how run and oracle differ, as named masks of problems, and the limits' errors."""
    weights = sample.perpendicular + run.duals @ sample.features
    size = np.linalg.norm(reference.weights, axis=(1, 2))
    error = np.linalg.norm(weights - reference.weights, axis=(1, 2)) / size
    first, last = reference.patterns[1], reference.patterns[-1]
    return {
        "pattern after step one": (run.pattern_after_first_step != first).any(axis=(1, 2)),
        "final pattern": (run.final_pattern != last).any(axis=(1, 2)),
        "last flip": run.last_flip != reference.last_flip,
        "limit": ~(error <= SAME_LIMIT),
    }, error


@pytest.mark.parametrize("slope_at_zero", [0, 1])
@pytest.mark.parametrize("outside", [False, True], ids=["in-the-span", "outside-the-span"])
@pytest.mark.parametrize("start", ["positive", "random"])
@pytest.mark.parametrize("neurons", [1, 2, 5])
def test_certified_runs_are_those_of_weight_space_descent(neurons, start, outside, slope_at_zero):
    rng = np.random.default_rng([SEED, neurons, start == "random", outside, slope_at_zero])
    count = dict.fromkeys(["runs", "certified", "near ties", "oracle too slow", "compared"], 0)
    worst = 0.0
    for n, ratio, steps in [(2, 3, (0.1, 1.5)), (6, 2, (0.2, 1.2)), (12, 20, (0.3, 1.5))]:
        sample = draw(
            rng, RUNS_PER_CELL, n, n * ratio, neurons=neurons, start=start, outside=outside,
            slope_at_zero=slope_at_zero, relative_step=steps,
        )  # fmt: skip
        run = descend(problem_of(sample), max_steps=1_000)
        reference = descend_in_weights(sample, max_steps=3_000)
        certain = run.certified & (run.near_ties == 0)
        compared = certain & reference.settled
        found, error = differences(sample, run, reference)
        for what, differs in found.items():
            at = np.flatnonzero(compared & differs)
            assert not at.size, (
                f"{what} differs at n={n}, d={n * ratio}, c={(sample.step_size * n * ratio)[at]}: "
                f"certified at {run.steps[at]}, last flip {run.last_flip[at]} but should be "
                f"{reference.last_flip[at]}, relative error of the limit {error[at]}"
            )
        worst = max(worst, error[compared].max())
        for name, mask in [
            ("runs", run.certified | True),
            ("certified", run.certified),
            ("near ties", run.certified & ~certain),
            ("oracle too slow", certain & ~reference.settled),
            ("compared", compared),
        ]:
            count[name] += int(mask.sum())
    print(f"{count}, worst relative error of a limit {worst:.1e}")
    assert count["compared"] >= 0.8 * count["runs"], count
