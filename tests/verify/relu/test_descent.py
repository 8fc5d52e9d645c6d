"""Descent to the limit does what plain gradient descent on the weights does."""

import numpy as np
import pytest

from tests.verify.relu.oracle import descend_in_weights, draw
from verify.errors import InputError
from verify.relu.descent import descend
from verify.relu.problem import Problem

SEED = 20260304
SAME_LIMIT = 1e-8


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


def compare(sample, run, reference):
    """Return how run and oracle differ on the certified runs, as named masks of problems."""
    weights = sample.perpendicular + run.duals @ sample.features
    size = np.linalg.norm(reference.weights, axis=(1, 2))
    error = np.linalg.norm(weights - reference.weights, axis=(1, 2)) / size
    patterns = reference.patterns
    first = (run.pattern_after_first_step != patterns[1]).any(axis=(1, 2))
    final = (run.final_pattern != patterns[-1]).any(axis=(1, 2))
    return {
        "pattern after step one": first,
        "final pattern": final,
        "last flip": run.last_flip != reference.last_flip,
        "limit weights": ~(error <= SAME_LIMIT),
        "oracle not settled": ~reference.settled,
    }, error


@pytest.mark.parametrize("slope_at_zero", [0, 1])
@pytest.mark.parametrize("outside", [False, True], ids=["in-the-span", "outside-the-span"])
@pytest.mark.parametrize("start", ["positive", "random"])
@pytest.mark.parametrize("neurons", [1, 2, 5])
def test_certified_runs_are_those_of_weight_space_descent(neurons, start, outside, slope_at_zero):
    rng = np.random.default_rng([SEED, neurons, start == "random", outside, slope_at_zero])
    runs = certified = ties = 0
    worst = 0.0
    for n, ratio, steps in [(2, 3, (0.1, 1.5)), (6, 2, (0.2, 1.2)), (12, 20, (0.3, 1.5))]:
        sample = draw(
            rng, 20, n, n * ratio, neurons=neurons, start=start, outside=outside,
            slope_at_zero=slope_at_zero, relative_step=steps,
        )  # fmt: skip
        run = descend(problem_of(sample), max_steps=1_000)
        reference = descend_in_weights(sample)
        compared = run.certified & (run.near_ties == 0)
        differences, error = compare(sample, run, reference)
        for what, differs in differences.items():
            found = np.flatnonzero(compared & differs)
            assert not found.size, (
                f"{what} differs in problems {found} of n={n}, d={n * ratio}: steps "
                f"{run.steps[found]}, last flips {run.last_flip[found]} and "
                f"{reference.last_flip[found]}, errors {error[found]}"
            )
        runs, certified = runs + run.certified.size, certified + run.certified.sum()
        ties += (run.certified & (run.near_ties > 0)).sum()
        worst = max(worst, error[compared].max())
    print(f"{runs} runs, {certified} certified, {ties} with near ties, worst error {worst:.1e}")
    assert certified >= 0.8 * runs, f"{certified} of {runs} certified, {ties} with near ties"
