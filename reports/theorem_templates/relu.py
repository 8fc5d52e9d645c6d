"""One ReLU neuron, trained by gradient descent to its limit: a theorem to start from.

relu-verify run my_theorem.py
"""

import numpy as np

from verify import Assumption, Axis, Control, Margin, Point, Probable, Status, Theorem, Universal
from verify.explicit import Explicit, Field
from verify.relu import Ensemble, Problem, Spectrum, descend


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


# 2. What happens on them is `descend`: gradient descent, followed to its exact limit. In the run,
#    B trials of n examples: w·x_i are `predictions` (B, 1, n), w·x_i > 0 `final_pattern`.
def misfit(trial, examples):
    """Return the largest |f(x_i) − y_i| in the limit among `examples`, a mask (B, n)."""
    fitted = np.maximum(trial.run.predictions[:, 0, :], 0.0)
    return np.where(examples, np.abs(fitted - trial.problem.labels), 0.0).max(axis=-1)


# 3. Statements: the docstring is what reports print, Margin(left, right) says left <= right.
#    A run that found no certain limit decides nothing: undecided_where.
def some_label_is_positive(trial):
    """At least one label is positive."""
    return Margin(1.0, trial.problem.positives.sum(axis=-1))


def active_examples_are_fitted(trial):
    """In the limit, the neuron fits every example on which it is active."""
    error = misfit(trial, trial.run.final_pattern[:, 0, :])  # up to rounding: within 1e-8
    return Margin(error, 1e-8, scale=1e-8).undecided_where(~trial.run.certified)


def active_examples_are_the_positives(trial):
    """In the limit, the neuron is active on just the examples of positive label."""
    active = trial.run.final_pattern[:, 0, :]
    wrong = (active != trial.problem.positives).sum(axis=-1)
    return Margin(wrong, 0.0).undecided_where(~trial.run.certified)


def all_examples_are_fitted(trial):
    """In the limit, the neuron fits every example."""
    everything = np.ones_like(trial.problem.positives)
    return Margin(misfit(trial, everything), 1e-8).undecided_where(~trial.run.certified)


# 4. The theorem. A Universal claim holds always; a Probable one with a probability, in every cell.
GIVEN = (Assumption(some_label_is_positive),)
theorem = Theorem(
    id="my_theorem",
    title="One ReLU neuron fits the positive labels",
    citation="unpublished",
    status=Status.FOLKLORE,
    draw=draw,
    simulate=descend,
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
        Universal(active_examples_are_fitted, given=GIVEN),
        Probable(active_examples_are_the_positives, given=GIVEN, probability=0.9),
    ),
    controls=(
        Control(
            Universal(all_examples_are_fitted, status=Status.FALSE),
            because="a ReLU neuron predicts no negative label",
        ),
    ),
)
