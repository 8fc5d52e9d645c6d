"""Gradient descent with a leaky ReLU to its limit [D].

With slopes γ > 0 below the kink no example is ever uncovered. While no example crosses a kink,

    r ← (I − ηM) r,   M = Σ_k D_k G D_k,

with D_k the slopes, 1 or γ. M is positive definite where G is, so that with ηλ_max(M) < 2 the
residual tends to zero. The certificates of theory §4 hold with slopes as they do with patterns.
"""

from __future__ import annotations

from verify.errors import InputError
from verify.relu.descent import MAX_STEPS, Run, descend
from verify.relu.dynamics.activation import Activation
from verify.relu.problem import Problem


def leaky_descent(problem: Problem, activation: Activation, max_steps: int = MAX_STEPS) -> Run:
    """Run gradient descent on every problem of the batch until its limit is certain.

    The run is told as `descend` tells its own; a pattern is where the slope is 1. A limit that lies
    on a kink, as that of an example of label zero of one neuron, is never certified. Examples below
    the kink are fitted γ² times as slowly as the others: small slopes take many steps.

    max_steps: at least 1; problems without a certificate by then are "undecided".
    Raises InputError for max_steps below 1, the ReLU (`descend` is for that), γ below 1e-30,
    and for what is no Problem.
    """
    if activation.slope_below == 0:
        raise InputError(
            "activation has slope_below=0, expected a leaky one; for the ReLU, descend"
        )
    return descend(problem, max_steps, slope_below=activation.slope_below)
