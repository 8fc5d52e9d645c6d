"""The same problems solved by what one would write and by this package: answers and times."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.tables import Progress, Table
from benchmarks.timing import alternately
from benchmarks.trial import LABELS, RELATIVE_STEP, answers, sampled, trial
from verify.errors import ReluVerifyError
from verify.relu import Problem, descend, implicit_bias_gap, minimum_norm

Floats = NDArray[np.float64]

WAYS = ("pytorch", "jax")
"""The modules beside this one that solve a problem another way."""

AGREE = 1e-6
"""Relative difference up to which answers are the same."""


class DifferentAnswers(ReluVerifyError):
    """Two programs that are compared do not find the same."""


@dataclass(frozen=True, eq=False)
class Given:
    """One problem as one would hand it to any program.

    features: (n, d).   labels: (n,).   start: (d,), starting weights.   step_size: η.
    """

    features: Floats
    labels: Floats
    start: Floats
    step_size: float

    @classmethod
    def draw(cls, n: int, d: int, seed: int) -> Given:
        """Draw isotropic features, labels and a start that predicts between .001 and .005."""
        generator = np.random.default_rng(seed)
        features = generator.standard_normal((n, d))
        labels = LABELS.draw(generator, n, 1)[0]
        wanted = generator.uniform(0.001, 0.005, n)
        start = features.T @ np.linalg.solve(features @ features.T, wanted)
        return cls(features, labels, start, RELATIVE_STEP / d)

    def problem(self) -> Problem:
        """Return it as this package takes it."""
        return Problem.from_features(
            self.features,
            self.labels,
            starting_weights=self.start[None, :],
            step_size=self.step_size,
        )


@dataclass(frozen=True, eq=False)
class Found:
    """Weights (d,): the limit of gradient descent, and the minimum norm."""

    limit: Floats
    best: Floats

    def differences(self, other: Found) -> dict[str, float]:
        """Return the relative differences of both weights and of the gap between them."""

        def relative(mine: Floats, theirs: Floats) -> float:
            return float(np.linalg.norm(mine - theirs) / np.linalg.norm(theirs))

        gaps = [np.linalg.norm(found.limit - found.best) for found in (self, other)]
        return {
            "limit": relative(self.limit, other.limit),
            "best": relative(self.best, other.best),
            "gap": float(abs(gaps[0] - gaps[1]) / gaps[1]),
        }


def found_here(given: Given) -> Found:
    """Return what this package finds, as weights. Raises DifferentAnswers where it is unsure."""
    problem = given.problem()
    run, best = descend(problem), minimum_norm(problem)
    if not (run.certified.all() and best.certified.all()):
        raise DifferentAnswers(
            f"problem with n={len(given.labels)} is not certified, expected a certified limit and "
            "minimum norm to compare with; try another seed"
        )
    moved = (run.duals - problem.starting_duals)[0, 0]
    found = Found(given.start + moved @ given.features, best.duals[0, 0] @ given.features)
    stated, formed = float(implicit_bias_gap(run, best)[0]), found.limit - found.best
    if not abs(stated - np.linalg.norm(formed)) <= AGREE * stated:
        raise DifferentAnswers(
            f"implicit_bias_gap={stated!r}, expected the distance {np.linalg.norm(formed)!r} of "
            "the weights themselves; this is a fault of verify.relu"
        )
    return found


def against(
    sizes: Sequence[tuple[int, int]],
    budget: float,
    progress: Progress,
    ways: Sequence[str] = WAYS,
    once_from: int = 500,
) -> Table:
    """Measure problems of (n, d), given as features, solved each way and by this package.

    once_from: n from which CVXPY, where a call takes minutes, is run once, in one round.
    Raises DifferentAnswers where the answers differ by more than `AGREE`.
    """
    modules = [importlib.import_module(f"benchmarks.otherwise.{way}") for way in ways]
    rows: list[dict[str, Any]] = []
    for n, d in sizes:
        given, mine = Given.draw(n, d, seed=n), found_here(Given.draw(n, d, seed=n))
        for module in modules:
            progress(f"{module.NAME}, n = {n}, d = {d}")
            rows.append(_compared(module, given, mine, budget, n >= once_from))
    return Table(
        "otherwise",
        "Against what one would write",
        "One core, the same X, y and starting weights for all; X is given, not drawn. Ours is the "
        "whole trial from X on, theirs descent and minimum norm. The differences of limit, minimum "
        "norm and gap are relative.",
        {
            "way": "written in",
            "n": "n",
            "d": "d",
            "descent": "its descent (ms)",
            "comparator": "its minimum norm (ms)",
            "ours": "ours (ms)",
            "ratio": "theirs ÷ ours",
            "sampled_ratio": "theirs ÷ our trial with X sampled",
            "limit": "limit differs",
            "best": "minimum norm differs",
            "gap": "gap differs",
        },
        rows,
    )


def _compared(module: Any, given: Given, mine: Found, budget: float, once: bool) -> dict[str, Any]:
    """Return the row of one way at one size. Raises DifferentAnswers.

    once: whether what compiles nothing, and so needs no call ahead, is run a single time.
    """
    n, d = given.features.shape
    found: dict[str, Floats] = {}
    law, generator = sampled(n, d), np.random.default_rng(n)

    def descent() -> None:
        found["limit"] = module.descend(given.features, given.labels, given.start, given.step_size)

    def comparator() -> None:
        found["best"] = module.minimum_norm(given.features, given.labels)

    contenders = {
        "descent": descent,
        "comparator": comparator,
        "ours": lambda: answers(given.problem()),
        "sampled": lambda: trial(law, generator, 1),
    }
    slow = once and not module.COMPILES
    rounds = alternately(
        contenders, budget, fewest=1 if slow else 3, cold=("comparator",) if slow else ()
    )
    differences = Found(found["limit"], found["best"]).differences(mine)
    worst = max(differences.values())
    if not worst <= AGREE:
        raise DifferentAnswers(
            f"{module.NAME} at n={n}, d={d} differs from verify.relu by {worst:.2g}, expected at "
            f"most {AGREE:g} ({differences}); one of the two is wrong, or stopped too early"
        )
    return {
        "way": module.NAME,
        "n": n,
        "d": d,
        "descent": rounds.spread("descent", 1e3),
        "comparator": rounds.spread("comparator", 1e3),
        "theirs": rounds.total(("descent", "comparator"), 1e3),
        "ours": rounds.spread("ours", 1e3),
        "ratio": rounds.ratio(("descent", "comparator"), "ours"),
        "sampled_ratio": rounds.ratio(("descent", "comparator"), "sampled"),
        **differences,
    }
