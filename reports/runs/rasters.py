"""Activation patterns step by step, for the raster figures of theorems about ReLU problems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from reports.runs.running import Result
from verify.arrays import to_numpy
from verify.claims import Universal
from verify.counterexample import facts_of
from verify.engine.evaluate import draw_trial
from verify.engine.plan import Cell
from verify.relu.descent import gradient_step, start
from verify.relu.problem import Problem
from verify.space import Point
from verify.verdict import Conclusion, Instance
from verify.writing import jsonable

SHORT, LONG = 12, 240
"""Steps shown of a problem that has settled, and at most of one that goes on flipping."""

TYPICAL = "typical"
"""Kind of a raster that shows the first problem drawn, and the first of its neurons."""

MOST_NEURONS = 4
"""Neurons of a problem that are kept at most."""


def rasters(results: Sequence[Result], seed: int) -> list[dict[str, Any]]:
    """Return the patterns of a typical problem for each law of problems and number of neurons,
    and for each theorem those of its worst problem and of the control that flips latest.

    The worst problem is the one of the least margin of the theorem's first claim about every
    instance. Theorems whose problems are no ReLU problems have none, nor have those that claim
    nothing of every instance: they are about the data, not about a run.
    """
    shown, told = [], set()
    for result in results:
        theorem = result.theorem
        if not any(isinstance(claim, Universal) for claim in theorem.claims):
            continue
        if theorem.cells:
            where = Instance(dict(theorem.cells[0]), 0, 0, "", 0.0)
            typical = _raster(result, TYPICAL, where, seed, SHORT)
            if typical and (theorem.draw, typical["neurons_in_all"]) not in told:
                told.add((theorem.draw, typical["neurons_in_all"]))
                shown.append(typical)
        shown.append(_worst(result, seed))
        flipping = [raster for raster in _of_controls(result, seed) if raster["last_flip"] > 1]
        shown += sorted(flipping, key=lambda raster: -raster["last_flip"])[:1]
    return [raster for raster in shown if raster is not None]


def _worst(result: Result, seed: int) -> dict[str, Any] | None:
    """Return the patterns of the instance closest to violating the first universal claim."""
    for verdict in result.verdicts:
        if verdict.kind == "universal" and verdict.expected is not Conclusion.REFUTED:
            where = verdict.closest
            if where is None or where.control:
                return None
            return _raster(result, "worst", where, seed, LONG)
    return None


def _of_controls(result: Result, seed: int) -> list[dict[str, Any]]:
    """Return the patterns of the worst instance of every control that runs the true solver."""
    found = []
    for verdict in result.verdicts:
        where = verdict.instance
        if where is None or where.control or verdict.expected is not Conclusion.REFUTED:
            continue
        found.append(_raster(result, verdict.claim, where, seed, LONG))
    return [raster for raster in found if raster is not None]


def _raster(
    result: Result, kind: str, where: Instance, seed: int, steps: int
) -> dict[str, Any] | None:
    """Return the patterns of one instance over as many steps; fewer if they settle before."""
    theorem = result.theorem
    cell = Cell(Point(**where.point), "", (), theorem.block)
    problem = draw_trial(theorem, cell, seed, where.block).problem
    if not isinstance(problem, Problem):
        return None
    one = problem.select(np.asarray([where.trial]))
    state = start(one)
    patterns = [to_numpy(state.pattern)[0]]
    for _ in range(steps):
        state = gradient_step(one, state)
        patterns.append(to_numpy(state.pattern)[0])
    flips = last_flips(np.asarray(patterns))
    last = max(flips)
    signs = [int(sign) for sign in to_numpy(one.signs)[0]]
    chosen = neurons_shown(signs, [0] * len(signs) if kind == TYPICAL else flips)
    kept = np.asarray(patterns[: max(SHORT, last + SHORT) + 1]).astype(int)
    return {
        "theorem": theorem.address,
        "kind": kind,
        "point": dict(where.point),
        "labels": [float(label) for label in to_numpy(one.labels)[0]],
        "patterns": [kept[:, neuron].tolist() for neuron in chosen],
        "signs": [signs[neuron] for neuron in chosen],
        "neurons_in_all": problem.neurons,
        "last_flip": last,
        "caption_facts": jsonable(
            {k: v for k, v in facts_of(theorem, one, 0).items() if np.ndim(v) == 0}
        ),
    }


def last_flips(patterns: np.ndarray[Any, Any]) -> list[int]:
    """Return for each neuron the last step that changes its pattern, 0 if none does.

    patterns: (steps + 1, m, n), from the start on.
    """
    changes = (patterns[1:] != patterns[:-1]).any(axis=2)
    return [int(steps.nonzero()[0].max(initial=-1)) + 1 for steps in changes.T]


def neurons_shown(signs: Sequence[int], flips: Sequence[int]) -> list[int]:
    """Return which neurons a raster keeps, in their order: all, or as many of each sign.

    flips: by neuron, the last step that changes its pattern; the latest are kept, and of equals
    the first.
    """
    ranked = sorted(range(len(signs)), key=lambda neuron: (-flips[neuron], neuron))
    positive = [neuron for neuron in ranked if signs[neuron] > 0]
    negative = [neuron for neuron in ranked if signs[neuron] <= 0]
    kept = positive[: MOST_NEURONS - min(len(negative), MOST_NEURONS // 2)]
    return sorted([*kept, *negative[: MOST_NEURONS - len(kept)]])
