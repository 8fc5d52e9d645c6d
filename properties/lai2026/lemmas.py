"""The lemma chain behind theorems 1 to 4: where a theorem fails, its first link to break says why.

Gram concentration → signs after step one → frozen for ever → limit → gap. The order is the
paper's [A], the inequalities are ours [D].
"""

from __future__ import annotations

from properties.lai2026 import bias, dynamics
from properties.lai2026.setting import (
    classes_from_step_one,
    gram_is_near_identity,
)
from verify.margin import Margin
from verify.measures import Chain
from verify.relu.gap import nearest_interpolant
from verify.trial import Trial


def gram_concentrates(trial: Trial) -> Margin:
    """The Gram matrix is near its mean: δ = ‖G/τ − I‖₂ < 1."""
    return gram_is_near_identity(trial)


def step_one_sets_the_signs(trial: Trial) -> Margin:
    """After one step every neuron is active exactly on its label class (one neuron: on S₊)."""
    return dynamics.signs_after_step_one(trial)


def patterns_stay_for_ever(trial: Trial) -> Margin:
    """No prediction crosses zero at any later step."""
    return classes_from_step_one(trial)


def limit_is_the_nearest_interpolant(trial: Trial) -> Margin:
    """Every neuron ends at the interpolant of its label class nearest to its weights after step
    one."""
    problem = trial.problem
    found = dynamics.same_weights(problem, trial.run.duals, nearest_interpolant(problem))
    return found.undecided_where(~trial.run.certified)


def gap_is_within_the_bands(trial: Trial) -> Margin:
    """The gap lies between the lower and the upper band, whose constants are ours."""
    unsettled = ~bias.settled(trial)
    return Margin.worst(bias.above_lower_band(trial), bias.below_upper_band(trial)).undecided_where(
        unsettled
    )


DYNAMICS = Chain(
    (
        gram_concentrates,
        step_one_sets_the_signs,
        patterns_stay_for_ever,
        limit_is_the_nearest_interpolant,
    )
)
"""The chain of theorems 1 and 3."""

BIAS = Chain((*DYNAMICS.links, gap_is_within_the_bands))
"""The chain of theorems 2 and 4."""
