"""Deliberately broken gradient descent: what the checks must catch.

Each is a plausible mistake. It runs long enough to settle, and reports itself certified, as a
solver with a mistake would.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from verify.arrays import Array, array_namespace
from verify.claims import Assumption, Control, Inequality, Status, Universal
from verify.relu.descent import CERTIFIED, Run, gradient_step, start
from verify.relu.problem import Problem
from verify.relu.state import State, observe
from verify.space import Point

STEPS = 400

LEAK = 0.1


def leaks_through_inactive_examples(problem: Problem, state: State) -> Array:
    """Step with slope `LEAK` in place of 0 on inactive examples."""
    xp = array_namespace(problem.gram)
    step = problem.step_size[:, None, None] * problem.signs[:, :, None]
    gradient = step * state.residual[:, None, :]
    return state.change - xp.where(state.pattern, gradient, LEAK * gradient)


def drops_off_diagonal_terms(problem: Problem, state: State) -> Array:
    """Step with the residual that a diagonal Gram matrix would give."""
    xp = array_namespace(problem.gram)
    diagonal = xp.linalg.diagonal(problem.gram)[:, None, :]
    predictions = problem.starting_predictions + state.change * diagonal
    pattern = predictions > 0
    active = xp.where(pattern, predictions, xp.zeros_like(predictions))
    residual = xp.sum(problem.signs[:, :, None] * active, axis=1) - problem.labels
    step = problem.step_size[:, None, None] * problem.signs[:, :, None]
    gradient = step * residual[:, None, :]
    return state.change - xp.where(pattern, gradient, xp.zeros_like(gradient))


def applies_the_step_twice(problem: Problem, state: State) -> Array:
    """Step along the gradient twice without computing it anew."""
    return 2 * gradient_step(problem, state).change - state.change


def flips_the_second_sign(problem: Problem, state: State) -> Array:
    """Step the second neuron as if its output sign were the other one."""
    xp = array_namespace(problem.gram)
    second = xp.arange(problem.neurons, device=problem.gram.device)[None, :] == 1
    signs = xp.where(second, -problem.signs, problem.signs)
    step = problem.step_size[:, None, None] * signs[:, :, None]
    gradient = step * state.residual[:, None, :]
    return state.change - xp.where(state.pattern, gradient, xp.zeros_like(gradient))


def broken(step: Callable[[Problem, State], Array]) -> Callable[[Problem], Run]:
    """Return a solver that takes `STEPS` steps of the broken kind."""

    def descend_wrongly(problem: Problem) -> Run:
        state = start(problem)
        first = state.pattern
        for count in range(STEPS):
            state = observe(problem, step(problem, state))
            first = state.pattern if count == 0 else first
        flat = np.zeros(problem.batch, dtype=np.int64)
        return Run(
            problem=problem,
            status=np.full(problem.batch, CERTIFIED),
            steps=flat + STEPS,
            duals=problem.starting_duals + state.change,
            predictions=state.predictions,
            pattern_after_first_step=first,
            final_pattern=state.pattern,
            last_flip=flat,
            freeze_margin=np.zeros(problem.batch),
            near_ties=flat,
        )

    return descend_wrongly


ALL = (
    (
        "leaks_gradient",
        broken(leaks_through_inactive_examples),
        "the gradient leaks through inactive examples, so their duals go on moving",
    ),
    (
        "drops_off_diagonals",
        broken(drops_off_diagonal_terms),
        "the off-diagonal terms of the Gram matrix are dropped, so nothing is interpolated",
    ),
    (
        "steps_twice",
        broken(applies_the_step_twice),
        "each step is applied twice, so the weights after step one are others",
    ),
)

OF_PAIRS = (
    *ALL,
    (
        "flips_the_second_sign",
        broken(flips_the_second_sign),
        "the second neuron climbs its gradient, so it leaves the labels that it should fit",
    ),
)
"""Those for two neurons."""


def controls(
    inequality: Inequality,
    given: tuple[Assumption, ...],
    at: tuple[Point, ...],
    solvers: tuple[tuple[str, Callable[[Problem], Run], str], ...],
) -> tuple[Control, ...]:
    """Return the controls that run a true claim on each of the broken solvers."""
    return tuple(
        Control(
            Universal(
                inequality,
                given=given,
                at=at,
                status=Status.FALSE,
                name=f"broken_solver_{name}",
            ),
            because=because,
            simulate=simulate,
        )
        for name, simulate, because in solvers
    )
