"""Perturbations of a run, or of a reference, that a claim looks at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from properties.catalogue import find_theorem
from verify import Margin, Point, Trial
from verify.relu import Problem

SEED = 20261201
TRIALS = 20
SMALL = 1e-6
"""A perturbation of predictions: far above what counts as equal, far below the labels."""

POINTS = {
    "theorem1": Point(n=6, d=4_000),
    "theorem2": Point(n=6, d=4_000),
    "theorem3": Point(n=6, d=8_000),
    "theorem4": Point(n=6, d=8_000),
    "many_neurons": Point(n=6, d=2_000, m=4),
    "selection": Point(n=6, d=4_000),
}

Change = Callable[[Problem, Any], Any]


@cache
def trial_of(name: str) -> Trial:
    """Return a batch of a theorem's problems, run as the engine does."""
    theorem = find_theorem(f"lai2026.{name}")
    problem = theorem.draw(POINTS[name], np.random.default_rng(SEED), TRIALS)
    return Trial(theorem, POINTS[name], problem, TRIALS)


def changed(name: str, what: str, change: Change) -> Trial:
    """Return the same batch with its run, or the reference called `what`, changed."""
    theorem, there = find_theorem(f"lai2026.{name}"), trial_of(name)
    run = change(there.problem, there.run) if what == "run" else there.run
    references: dict[str, Any] = {
        each: lambda _problem, _run, each=each: there.reference(each) for each in theorem.references
    }
    if what != "run":
        references[what] = lambda problem, _run: change(problem, there.reference(what))
    perturbed = replace(theorem, references=references)
    return Trial(perturbed, there.point, there.problem, TRIALS, simulate=lambda _problem: run)


def margin_of(name: str, claim: str, trial: Trial) -> Margin:
    """Return a claim's or an assumption's margin on a trial."""
    theorem = find_theorem(f"lai2026.{name}")
    assumed = {each.id: each.inequality for each in theorem.assumptions}
    found: Margin = (assumed.get(claim) or theorem.claim(claim).inequality)(trial)
    return found


def on_class(problem: Problem) -> Any:
    """Mask of the first example of each neuron's label class, (B, m, n)."""
    return _first(problem.label_classes)


def off_class(problem: Problem) -> Any:
    """Mask of the first example off each neuron's label class, (B, m, n)."""
    return _first(~problem.label_classes)


def on_class_of(neuron: int) -> Callable[[Problem], Any]:
    """Return the mask `on_class` of one neuron alone."""
    return lambda problem: on_class(problem) & (np.arange(problem.neurons)[:, None] == neuron)


def first_example(problem: Problem) -> Any:
    """Mask of the first example, (n,)."""
    return np.arange(problem.examples) == 0


def _first(mask: Any) -> Any:
    return mask & (np.cumsum(mask, axis=-1) == 1)


def predicting(where: Callable[[Problem], Any], size: float) -> Change:
    """Add `size` to the predictions on a mask, and to the weights what that takes."""

    def change(problem: Problem, found: Any) -> Any:
        by = size * where(problem)
        weights = np.linalg.solve(problem.gram, by.swapaxes(1, 2)).swapaxes(1, 2)
        return _moved(found, weights, by)

    return change


def with_duals(where: Callable[[Problem], Any], size: float) -> Change:
    """Add `size` of the largest dual coefficient to the duals on a mask."""

    def change(problem: Problem, found: Any) -> Any:
        duals = getattr(found, "duals", getattr(found, "change", None))
        by = size * np.abs(duals).max(axis=(1, 2), keepdims=True) * where(problem)
        return _moved(found, by, by @ problem.gram)

    return change


def _moved(found: Any, duals: Any, predictions: Any) -> Any:
    by = {"duals": duals, "change": duals, "predictions": predictions}
    moved = {name: getattr(found, name) + each for name, each in by.items() if hasattr(found, name)}
    return replace(found, **moved)


def times(name: str, factor: float) -> Change:
    """Multiply an array by a number."""
    return lambda _problem, found: replace(found, **{name: getattr(found, name) * factor})


def adding(name: str, where: Callable[[Problem], Any], size: float) -> Change:
    """Add a number to an array, on a mask alone."""

    def change(problem: Problem, found: Any) -> Any:
        return replace(found, **{name: getattr(found, name) + size * where(problem)})

    return change


def neuron_times(neuron: int, factor: float) -> Change:
    """Multiply the duals of one neuron by a number."""

    def change(problem: Problem, found: Any) -> Any:
        own = np.arange(problem.neurons)[:, None] == neuron
        return replace(found, duals=np.where(own, factor, 1.0) * found.duals)

    return change


def every(name: str, value: Any) -> Change:
    """Set an array (B,) to one value."""
    return lambda _problem, found: replace(found, **{name: np.full(TRIALS, value)})


def flipped(problem: Problem, run: Any) -> Any:
    """Let every neuron be active on the first example where it was not, and the reverse."""
    pattern = run.pattern_after_first_step ^ first_example(problem)
    return replace(run, pattern_after_first_step=pattern)


def fitting(_problem: Problem, run: Any) -> Any:
    """Let the first neuron of each sign predict the labels of its class, all others be dead."""
    problem = run.problem
    first = np.arange(problem.neurons)[None, :, None] < 2
    own = first & problem.label_classes
    return replace(run, predictions=np.where(own, np.abs(problem.labels)[:, None, :], -1.0))


def least_interpolant(problem: Problem, run: Any) -> Any:
    """Let the limit be the linear interpolant of least norm."""
    least = np.linalg.solve(problem.gram, problem.labels[:, :, None])
    return replace(run, duals=least.swapaxes(1, 2))


def then(first: Change, second: Change) -> Change:
    """Change twice."""
    return lambda problem, found: second(problem, first(problem, found))
