"""Activation patterns step by step, for the raster figures: ReLU theorems of one neuron only."""

from __future__ import annotations

from typing import Any

import numpy as np

from reports.running import Result
from verify.arrays import to_numpy
from verify.counterexample import facts_of, jsonable
from verify.engine.evaluate import draw_trial
from verify.engine.plan import Cell
from verify.relu.descent import gradient_step, start
from verify.relu.problem import Problem
from verify.theorem import Point
from verify.verdict import Conclusion

SHORT, LONG = 12, 240
"""Steps shown of a typical problem, and at most of a control that goes on flipping."""


def rasters(result: Result, seed: int) -> list[dict[str, Any]]:
    """Return the patterns of a typical problem, and of the control that flips latest.

    Empty for theorems whose problems are not of one ReLU neuron.
    """
    theorem = result.theorem
    if not theorem.cells:
        return []
    shown = [_raster(result, "typical", theorem.cells[0], 0, 0, seed, SHORT)]
    controls = [
        verdict
        for verdict in result.verdicts
        if verdict.expected is Conclusion.REFUTED
        and verdict.instance is not None
        and not verdict.instance.control
    ]
    for verdict in controls:
        instance = verdict.instance
        if instance is not None:
            point = Point(**instance.point)
            shown.append(
                _raster(result, verdict.claim, point, instance.block, instance.trial, seed, LONG)
            )
    found = [raster for raster in shown if raster is not None]
    latest = sorted(found[1:], key=lambda raster: -raster["last_flip"])[:1]
    return [*found[:1], *(raster for raster in latest if raster["last_flip"] > 1)]


def _raster(
    result: Result, kind: str, point: Point, block: int, index: int, seed: int, steps: int
) -> dict[str, Any] | None:
    theorem = result.theorem
    cell = Cell(point, "", (), theorem.block)
    problem = draw_trial(theorem, cell, seed, block).problem
    if not isinstance(problem, Problem) or problem.neurons != 1:
        return None
    one = problem.select(np.asarray([index]))
    state = start(one)
    patterns = [to_numpy(state.pattern)[0, 0]]
    for _ in range(steps):
        state = gradient_step(one, state)
        patterns.append(to_numpy(state.pattern)[0, 0])
    changed = [t for t in range(1, len(patterns)) if (patterns[t] != patterns[t - 1]).any()]
    last = max(changed, default=0)
    kept = patterns[: max(SHORT, last + SHORT) + 1]
    return {
        "theorem": theorem.address,
        "kind": kind,
        "point": dict(point),
        "labels": [float(label) for label in to_numpy(one.labels)[0]],
        "pattern": [[int(active) for active in pattern] for pattern in kept],
        "last_flip": last,
        "caption_facts": jsonable(
            {k: v for k, v in facts_of(theorem, one, 0).items() if np.ndim(v) == 0}
        ),
    }
