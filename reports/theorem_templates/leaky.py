"""One leaky ReLU neuron, trained by gradient descent to its limit: a theorem to start from.

relu-verify run my_theorem.py
"""

import numpy as np

from verify import Assumption, Axis, Control, Margin, Point, Probable, Status, Theorem, Universal
from verify.explicit import Explicit, Field
from verify.relu import Ensemble, Problem, Spectrum
from verify.relu.dynamics import Activation, leaky_descent

LEAK = 0.2  # φ(z) = max(z, LEAK·z)


# 1. Problems: n examples of d Gaussian features, labels of random sign, a small positive start,
#    and c, the step size relative to the features' total variance.
def draw(point, generator, trials):
    """Draw a batch of regression problems, a `verify.relu.Problem`."""
    law = Ensemble(int(point["n"]), Spectrum.isotropic(point["d"]), relative_step=point["c"])
    return law.draw(generator, trials)


def small(values):
    """Build one problem of small whole numbers, X = [diagonal | column], to shrink to."""
    x = np.column_stack([np.diag(values["diagonal"]), values["column"]])
    start, step = values["start"][None, :], values["c"] / np.sum(x**2)
    return Problem.from_features(x, values["labels"], starting_predictions=start, step_size=step)


# 2. What happens on them: gradient descent, followed to its exact limit. In the run, B trials of n
#    examples: w·x_i are `predictions` (B, 1, n), w = w_0 + Xᵀ(duals − starting_duals).
def simulate(problem):
    return leaky_descent(problem, Activation(slope_below=LEAK), max_steps=10_000)


def wanted(problem):
    """Return the predictions φ⁻¹(y_i) at which the loss is zero, (B, n)."""
    return np.where(problem.labels > 0, problem.labels, problem.labels / LEAK)


# 3. Statements: the docstring is what reports print, Margin(left, right) says left <= right.
#    A run that diverged is judged where it got to. One without a certain limit (too slow for
#    max_steps, or never at rest: its step is too long) decides nothing: undecided_where. Leave that
#    out to count it as one that does not end there.
def examples_are_independent(trial):
    """The examples are linearly independent: λ_min(G) is at least 1e-6 λ_max(G)."""
    return Margin(1e-6 * trial.problem.eigenvalues[:, -1], trial.problem.eigenvalues[:, 0])


def limit_is_the_nearest_zero_loss_point(trial):
    """Descent ends at the zero-loss point nearest to its start, within 1e-8 of the way there."""
    problem = trial.problem
    missing = wanted(problem) - problem.starting_predictions[:, 0, :]
    inverse = np.linalg.pinv(problem.gram, hermitian=True)
    nearest = (inverse @ missing[:, :, None])[:, None, :, 0]
    moved = trial.run.duals - problem.starting_duals
    apart, way = (problem.inner_products.norms(c)[:, 0] for c in (moved - nearest, nearest))
    return Margin(apart / way, 1e-8, scale=1e-8).undecided_where(trial.run.status == "undecided")


def sides_are_those_of_the_labels_from_step_one(trial):
    """From step one on, the neuron is above its kink on just the examples of positive label."""
    wrong = (trial.run.final_pattern[:, 0, :] != trial.problem.positives).sum(axis=-1)
    late = np.maximum(trial.run.last_flip - 1, 0)
    return Margin(wrong + late, 0.0).undecided_where(~trial.run.certified)


def no_prediction_exceeds_the_labels(trial):
    """In the limit, no |w·x_i| is larger than the largest |y_i|."""
    largest = np.abs(trial.problem.labels).max(axis=-1)
    return Margin(np.abs(trial.run.predictions).max(axis=(1, 2)), 1.000001 * largest)


# 4. The theorem. A Universal claim holds always; a Probable one with a probability, in every cell.
GIVEN = (Assumption(examples_are_independent),)
theorem = Theorem(
    id="my_theorem",
    title="One leaky ReLU neuron ends at the nearest zero-loss point",
    citation="unpublished",
    status=Status.FOLKLORE,
    draw=draw,
    simulate=simulate,
    cells=(Point(n=10, d=2000, c=0.5), Point(n=20, d=8000, c=0.5)),
    axes=(
        Axis("n", 1, 12, "integer", meaning="examples"),
        Axis("d", 100, 10_000, "integer", meaning="features"),
        Axis("c", 0.2, 1.5, simplest=0.5, meaning="relative step size"),
    ),
    small=Explicit(
        sizes={"n": (1, 3)},
        fields={
            "diagonal": Field(1, 3, ("n",)),
            "column": Field(-3, 3, ("n",)),
            "labels": Field(-3, 3, ("n",), nonzero=True, symbol="y"),
            "start": Field(1, 4, ("n",), denominator=16, symbol="β⁰"),
            "c": Field(4, 24, denominator=16),
        },
        build=small,
    ),
    claims=(
        Universal(limit_is_the_nearest_zero_loss_point, given=GIVEN),
        Probable(sides_are_those_of_the_labels_from_step_one, given=GIVEN, probability=0.9),
    ),
    controls=(
        Control(
            Universal(no_prediction_exceeds_the_labels, status=Status.FALSE),
            because="a negative label y needs w·x = y/LEAK",
        ),
    ),
)
