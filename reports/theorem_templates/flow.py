"""One ReLU neuron, trained by gradient flow: a theorem to start from.

relu-verify run my_theorem.py
"""

import numpy as np

from verify import Assumption, Axis, Control, Margin, Point, Probable, Status, Theorem, Universal
from verify.explicit import Explicit, Field
from verify.relu import Ensemble, Problem, Spectrum, descend, implicit_bias_gap, minimum_norm
from verify.relu.dynamics import flow


# 1. Problems: n examples of d Gaussian features, labels of random sign, a small positive start,
#    and c, the step size relative to the features' total variance, which the flow does not use.
def draw(point, generator, trials):
    """Draw a batch of regression problems, a `verify.relu.Problem`."""
    law = Ensemble(int(point["n"]), Spectrum.isotropic(point["d"]), relative_step=point["c"])
    return law.draw(generator, trials)


def small(values):
    """Build one problem of small whole numbers, X = [diagonal | column], to shrink to."""
    x = np.column_stack([np.diag(values["diagonal"]), values["column"]])
    start, step = values["start"][None, :], values["c"] / np.sum(x**2)
    return Problem.from_features(x, values["labels"], starting_predictions=start, step_size=step)


# 2. What happens on them is `flow`: the limit of gradient descent as its step vanishes, exact from
#    event to event. In the run, B trials of n examples: w·x_i are `predictions` (B, 1, n); above
#    the kink is `final_pattern`, on it `held`. What claims compare with are references.
def descended(problem, run):
    return descend(problem)


def least(problem, run):
    return minimum_norm(problem)


def misfit(trial, examples):
    """Return the largest |f(x_i) − y_i| in the limit among `examples`, a mask (B, n)."""
    fitted = np.maximum(trial.run.predictions[:, 0, :], 0.0)
    return np.where(examples, np.abs(fitted - trial.problem.labels), 0.0).max(axis=-1)


# 3. Statements: the docstring is what reports print, Margin(left, right) says left <= right.
#    Assumptions put trials in scope: rounding may hide where a flow ends.
def limit_is_known(trial):
    """The limit of the flow is certain."""
    return Margin(1, trial.run.certified.astype(int))


def some_label_is_negative(trial):
    """At least one label is negative."""
    return Margin(1.0, (trial.problem.labels < 0).sum(axis=-1))


def active_examples_are_fitted(trial):
    """In the limit, the neuron fits every example that is above its kink."""
    error = misfit(trial, trial.run.final_pattern[:, 0, :])  # up to rounding: within 1e-8
    return Margin(error, 1e-8, scale=1e-8)


def flow_ends_no_farther_than_descent(trial):
    """The flow ends no farther from the minimum-norm minimum than descent, to 1e-8 of its norm."""
    best, steps = trial.reference("least"), trial.reference("descended")
    far, allowed = (implicit_bias_gap(run, best) for run in (trial.run, steps))
    allowed = allowed + 1e-8 * best.norm  # both may end at the minimum itself, up to rounding
    return Margin(far, allowed).undecided_where(~steps.certified)


def all_examples_are_fitted(trial):
    """In the limit, the neuron fits every example."""
    everything = np.ones_like(trial.problem.positives)
    return Margin(misfit(trial, everything), 1e-8)


# 4. The theorem. A Universal claim holds always; a Probable one with a probability, in every cell.
KNOWN, NEGATIVE = Assumption(limit_is_known), Assumption(some_label_is_negative)
theorem = Theorem(
    id="my_theorem",
    title="Gradient flow of one ReLU neuron ends no farther from the minimum norm than descent",
    citation="unpublished",
    status=Status.FOLKLORE,
    draw=draw,
    simulate=flow,
    references={"descended": descended, "least": least},
    cells=(Point(n=4, d=400, c=0.5), Point(n=6, d=2000, c=0.5)),
    axes=(
        Axis("n", 1, 6, "integer", meaning="examples"),
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
        Universal(active_examples_are_fitted, given=(KNOWN,)),
        Probable(flow_ends_no_farther_than_descent, given=(KNOWN, NEGATIVE), probability=0.9),
    ),
    controls=(
        Control(
            Universal(all_examples_are_fitted, given=(KNOWN,), status=Status.FALSE),
            because="a ReLU neuron predicts no negative label",
        ),
    ),
)
