"""Activation patterns step by step, for the raster figures: ReLU theorems of one neuron only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from reports.running import Result
from verify.arrays import to_numpy
from verify.counterexample import facts_of, jsonable
from verify.engine.evaluate import draw_trial
from verify.engine.plan import Cell
from verify.relu.descent import gradient_step, start
from verify.relu.problem import Problem
from verify.space import Point
from verify.verdict import Conclusion

SHORT, LONG = 12, 240
"""Steps shown of a typical problem, and at most of a control that goes on flipping."""


def rasters(results: Sequence[Result], seed: int) -> list[dict[str, Any]]:
    """Return, for each law of problems, the patterns of a typical problem, and for each theorem
    those of the control that flips latest.

    Theorems whose problems are not of one ReLU neuron have none.
    """
    shown, laws = [], set()
    for result in results:
        if result.theorem.cells and result.theorem.draw not in laws:
            laws.add(result.theorem.draw)
            shown.append(_raster(result, "typical", result.theorem.cells[0], 0, 0, seed, SHORT))
        flipping = [raster for raster in _of_controls(result, seed) if raster["last_flip"] > 1]
        shown += sorted(flipping, key=lambda raster: -raster["last_flip"])[:1]
    return [raster for raster in shown if raster is not None]


def _of_controls(result: Result, seed: int) -> list[dict[str, Any]]:
    """Return the patterns of the worst instance of every control that runs the true solver."""
    found = []
    for verdict in result.verdicts:
        where = verdict.instance
        if where is None or where.control or verdict.expected is not Conclusion.REFUTED:
            continue
        point = Point(**where.point)
        found.append(_raster(result, verdict.claim, point, where.block, where.trial, seed, LONG))
    return [raster for raster in found if raster is not None]


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
