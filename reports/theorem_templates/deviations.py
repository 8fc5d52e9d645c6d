"""How far one of n numbers can lie from their mean: a theorem to start from.

relu-verify run my_theorem.py
"""

import numpy as np

from verify import Assumption, Axis, Control, Margin, Point, Status, Theorem, Universal


# 1. Problems. A batch of `trials` random problems at a point; all randomness from `generator`.
def draw(point, generator, trials):
    """Draw n numbers, of which the first is moved away by `outlier`: (trials, n)."""
    numbers = generator.normal(size=(trials, int(point["n"])))
    numbers[:, 0] += point["outlier"]
    return numbers


# 2. What happens on them: here, means and standard deviations. All claims share the result.
def simulate(numbers):
    return numbers.mean(axis=-1), numbers.std(axis=-1)


# 3. Statements. The docstring is what reports print; Margin(left, right) says left <= right,
#    one number a trial. `scale` is what a margin of 1 means, `rounding` the error of computing it.
def numbers_differ(trial):
    """The numbers are not all equal."""
    return Margin(1e-6, trial.run[1])


def no_number_is_far(trial):
    """No number lies more than √(n−1) standard deviations from the mean."""
    return _within(trial, np.sqrt(trial.problem.shape[-1] - 1))


def no_number_is_two_deviations_away(trial):
    """No number lies more than 2 standard deviations from the mean."""
    return _within(trial, 2.0)


def _within(trial, deviations):
    mean, deviation = trial.run
    farthest = np.abs(trial.problem - mean[:, None]).max(axis=-1)
    return Margin(farthest, deviations * deviation, scale=deviation, rounding=1e-9)


# 4. The theorem: where problems are sampled (`cells`), where counterexamples are searched (`axes`),
#    what is claimed, and a control: a false claim, to see that this test can fail.
theorem = Theorem(
    id="my_theorem",
    title="No number lies far from the mean",
    citation="P. A. Samuelson, How deviant can you be?, JASA 63 (1968)",
    status=Status.FOLKLORE,
    draw=draw,
    simulate=simulate,
    cells=(Point(n=5, outlier=0.0), Point(n=20, outlier=10.0)),
    axes=(
        Axis("n", 1, 12, "integer", meaning="how many numbers"),
        Axis("outlier", 0.0, 100.0, meaning="how far the first is moved away"),
    ),
    claims=(Universal(no_number_is_far, given=(Assumption(numbers_differ),)),),
    controls=(
        Control(
            Universal(no_number_is_two_deviations_away, status=Status.FALSE),
            because="of 20 numbers, one can lie √19 > 4 standard deviations away",
        ),
    ),
)
