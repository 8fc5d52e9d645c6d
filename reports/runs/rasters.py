"""Activation patterns step by step, for the raster figures of theorems about ReLU problems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from reports.runs.running import Result
from verify.arrays import to_numpy
from verify.blame import blaming
from verify.claims import Claim, Universal
from verify.counterexample import facts_of
from verify.engine.evaluate import draw_trial
from verify.engine.plan import Cell
from verify.relu.descent import Run, gradient_step, start
from verify.relu.problem import Problem
from verify.space import Point
from verify.trial import Trial
from verify.verdict import Conclusion, Instance
from verify.writing import jsonable

SHORT, LONG = 12, 240
"""Steps shown after the last change of a certified run, and at most."""

TYPICAL, WORST = "typical", "worst"
"""Kinds of rasters: the first problem drawn, with the first of its neurons, and the one closest to
violating a claim; others are called after a control."""

MOST_NEURONS = 4
"""Neurons of a problem that are kept at most."""


def rasters(results: Sequence[Result], seed: int) -> list[dict[str, Any]]:
    """Return the patterns of a typical problem for each law of problems and number of neurons,
    and for each theorem those of its worst problem and of the control that flips latest.

    The worst problem has the least margin of the first claim about every instance that looks at
    its run. Only runs of plain gradient descent on ReLU neurons have patterns step by step, those
    of `verify.relu.descend`: gradient flow and other activations have none, nor has a theorem
    none of whose claims about every instance looks at such a run.
    """
    shown: list[dict[str, Any] | None] = []
    told = set()
    for result in results:
        theorem = result.theorem
        typical = _typical(result, seed)
        if typical and (theorem.draw, typical["neurons_in_all"]) not in told:
            told.add((theorem.draw, typical["neurons_in_all"]))
            shown.append(typical)
        shown.append(_worst(result, seed))
        flipping = [raster for raster in _of_controls(result, seed) if _latest_flip(raster) > 1]
        shown += sorted(flipping, key=lambda raster: -_latest_flip(raster))[:1]
    return [raster for raster in shown if raster is not None]


def _latest_flip(raster: dict[str, Any]) -> int:
    """Return the certified last flip, or else the last that was seen."""
    certified = raster["certified_last_flip"]
    return int(raster["last_flip"] if certified is None else certified)


def _typical(result: Result, seed: int) -> dict[str, Any] | None:
    """Return the patterns of the first problem drawn, in the first of the theorem's cells."""
    for cell in result.theorem.cells[:1]:
        where = Instance(dict(cell), 0, 0, "", 0.0)
        for claim in result.theorem.claims:
            if isinstance(claim, Universal):
                found = _raster(result, claim, TYPICAL, where, seed)
                if found is not None:
                    return found
    return None


def _worst(result: Result, seed: int) -> dict[str, Any] | None:
    """Return the patterns of the instance closest to violating a claim about every instance: the
    first that looks at its run."""
    for verdict in result.verdicts:
        where = verdict.closest
        universal = verdict.kind == "universal" and verdict.expected is not Conclusion.REFUTED
        if universal and where is not None and not where.control:
            found = _raster(result, result.theorem.claim(verdict.claim), WORST, where, seed)
            if found is not None:
                return found
    return None


def _of_controls(result: Result, seed: int) -> list[dict[str, Any]]:
    """Return the patterns of the worst instance of every control that runs the true solver."""
    found = []
    for verdict in result.verdicts:
        where = verdict.instance
        if where is None or where.control or verdict.expected is not Conclusion.REFUTED:
            continue
        claim = result.theorem.claim(verdict.claim)
        found.append(_raster(result, claim, verdict.claim, where, seed))
    return [raster for raster in found if raster is not None]


def _raster(
    result: Result, claim: Claim, kind: str, where: Instance, seed: int
) -> dict[str, Any] | None:
    """Return the patterns of one instance, from the start until `SHORT` steps after the last
    change of a certified run, or until another ends, `LONG` at most; None where the claim is not
    about plain descent on ReLU neurons.

    "last_flip" is the last step among these that changes a pattern, "certified_last_flip" the last
    of all, None where the run is not certified.
    """
    theorem = result.theorem
    cell = Cell(Point(**where.point), "", (), theorem.block)
    trial = draw_trial(theorem, cell, seed, where.block)
    if not isinstance(trial.problem, Problem):
        return None
    run = _looked_at(trial, claim)
    if not isinstance(run, Run) or run.slope_below:
        return None
    index = np.asarray([where.trial])
    certified = int(run.last_flip[where.trial]) if run.certified[where.trial] else None
    steps = LONG if certified is None else min(certified + SHORT, LONG)
    taken = steps if certified is not None else min(steps, int(run.steps[where.trial]))
    patterns = _patterns(run.problem.select(index), taken)
    if not _are_of(run, where.trial, patterns):
        return None
    flips = last_flips(patterns)
    one = trial.problem.select(index)
    signs = [int(sign) for sign in to_numpy(one.signs)[0]]
    chosen = neurons_shown(signs, [0] * len(signs) if kind == TYPICAL else flips)
    kept = patterns.astype(int)
    return {
        "theorem": theorem.address,
        "kind": kind,
        "claim": claim.id,
        "point": dict(where.point),
        "labels": [float(label) for label in to_numpy(one.labels)[0]],
        "patterns": [kept[:, neuron].tolist() for neuron in chosen],
        "signs": [signs[neuron] for neuron in chosen],
        "neurons_in_all": one.neurons,
        "last_flip": max(flips),
        "certified_last_flip": certified,
        "caption_facts": jsonable(
            {k: v for k, v in facts_of(theorem, one, 0).items() if np.ndim(v) == 0}
        ),
    }


def _looked_at(trial: Trial, claim: Claim) -> Any:
    """Return the run that a claim looks at, None if it looks at none."""
    with blaming("claim", claim.inequality):
        claim.inequality(trial)
    return trial.run if trial.run_was_looked_at else None


def _patterns(problem: Problem, steps: int) -> np.ndarray[Any, Any]:
    """Return the patterns of a single problem at so many steps, (steps + 1, m, n)."""
    state = start(problem)
    patterns = [to_numpy(state.pattern)[0]]
    for _ in range(steps):
        state = gradient_step(problem, state)
        patterns.append(to_numpy(state.pattern)[0])
    return np.asarray(patterns)


def _are_of(run: Run, index: int, patterns: np.ndarray[Any, Any]) -> bool:
    """Say whether patterns step by step are those of a run, as far as it tells: a simulator may
    return a run of `descend` that it has changed, and rounding may decide a sign anew."""
    first, final = (to_numpy(p)[index] for p in (run.pattern_after_first_step, run.final_pattern))
    if not (patterns[1] == first).all():
        return False
    last, steps = int(run.last_flip[index]), len(patterns) - 1
    if (last if run.certified[index] else int(run.steps[index])) > steps:
        return True
    return max(last_flips(patterns)) == last and bool((patterns[-1] == final).all())


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
