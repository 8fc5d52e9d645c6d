"""What the reports say of how the known failures of the theorems fail."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from properties.catalogue import find_theorem
from verify.arrays import to_numpy
from verify.engine.evaluate import draw_trial
from verify.engine.plan import Cell
from verify.severity import severity_of
from verify.space import Point
from verify.trial import Trial


def violating(theorem: Any, name: str) -> tuple[Trial, int]:
    """Return a block of a control's first cell, and the position where its margin is least."""
    claim = theorem.claim(name)
    trial = draw_trial(theorem, Cell(claim.at[0], "", (claim.id,), theorem.block), 0, 0)
    return trial, int(np.argmin(claim.inequality(trial).value))


@pytest.mark.parametrize(
    ("theorem", "control", "hypothesis", "coordinate"),
    [
        ("theorem1", "frozen_at_a_small_step", "step_is_bounded_below", "c = 0.02"),
        ("theorem1", "frozen_from_random_signs", "start_is_positive", "start = random_sign"),
        ("theorem1", "frozen_with_harmonic_spectrum", "spectrum_is_spread", "spectrum = power:1"),
        ("theorem2", "gap_lower_band_without_step", "step_is_bounded_below", "c = 0.005"),
        ("theorem3", "decouples_in_low_dimension", "dimension_is_high", "d = 80"),
    ],
)
def test_a_control_violates_the_hypothesis_that_makes_it_false(
    theorem: str, control: str, hypothesis: str, coordinate: str
) -> None:
    known = find_theorem(theorem)
    found = severity_of(known, known.claim(control), *violating(known, control))
    assert found.in_scope is True, "of its own assumptions"
    assert found.margin < 0
    beside = {a.assumption: a for a in found.assumptions if a.role == "hypothesis"}
    assert beside[hypothesis].state == "violated"
    assert beside[hypothesis].coordinate.startswith(coordinate)


def test_by_how_much_the_small_step_is_too_small() -> None:
    theorem = find_theorem("theorem1")
    name = "frozen_at_a_small_step"
    found = severity_of(theorem, theorem.claim(name), *violating(theorem, name))
    (step,) = (a for a in found.assumptions if a.assumption == "step_is_bounded_below")
    assert step.margin == pytest.approx(0.02 - 0.25)
    assert step.coordinate == "c = 0.02, outside the range tested, 0.25 to 1.2"


def first_departure_by_hand(trial: Trial, position: int, steps: int) -> int | None:
    """Gradient descent on predictions and duals of one neuron, step by step, on numbers alone."""
    problem = trial.problem
    gram, labels = to_numpy(problem.gram)[position], to_numpy(problem.labels)[position]
    predictions = to_numpy(problem.starting_predictions)[position, 0].copy()
    size = float(to_numpy(problem.step_size)[position])
    for step in range(1, steps + 1):
        residual = np.where(predictions > 0, predictions - labels, 0.0)
        predictions = predictions - size * gram @ residual
        if ((predictions > 0) != (labels > 0)).any():
            return step
    return None


def test_later_first_steps_are_those_of_plain_descent_too() -> None:
    theorem = find_theorem("theorem1")
    claim = theorem.claim("frozen_at_a_small_step")
    cell = Cell(Point(n=10, d=60, c=0.8), "", (claim.id,), theorem.block)
    trial = draw_trial(theorem, cell, 0, 0)
    steps = [severity_of(theorem, claim, trial, position).first_step for position in range(20)]
    assert steps == [first_departure_by_hand(trial, position, 200) for position in range(20)]
    assert {None, 1, 2, 3} <= set(steps)


@pytest.mark.parametrize("name", ["frozen_at_a_small_step", "frozen_with_harmonic_spectrum"])
def test_the_first_step_is_that_of_plain_descent(name: str) -> None:
    theorem = find_theorem("theorem1")
    claim = theorem.claim(name)
    trial, _ = violating(theorem, name)
    steps = [severity_of(theorem, claim, trial, position).first_step for position in range(6)]
    assert steps == [first_departure_by_hand(trial, position, 200) for position in range(6)]
    assert None not in steps
