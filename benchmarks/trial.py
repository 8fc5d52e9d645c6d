"""A trial: draw a problem, descend to its certified limit, find the minimum norm, take the gap."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from verify.arrays import Backend, to_numpy
from verify.relu import (
    Ensemble,
    Labels,
    Problem,
    Spectrum,
    descend,
    implicit_bias_gap,
    minimum_norm,
)
from verify.tolerances import KKT

Floats = NDArray[np.float64]

RELATIVE_STEP = 0.25
"""c = η‖λ‖₁ of every trial, dimensionless."""

LABELS = Labels("random", (0.5, 1.5))

NEARLY_FLAT = 1e-6
"""Exponent of a power law whose eigenvalues all differ, by 2 in 10⁵ at most for d ≤ 10⁶.

No two columns of X then share a level, so each is drawn: X is sampled.
"""

STAGES = ("draw", "descent", "minimum norm", "gap")


def wishart(examples: int, dimension: float) -> Ensemble:
    """Return the law of isotropic Gaussian features, whose Gram matrix is drawn without them."""
    return Ensemble(
        examples, Spectrum.isotropic(dimension), labels=LABELS, relative_step=RELATIVE_STEP
    )


def sampled(examples: int, dimension: int) -> Ensemble:
    """Return a law of Gaussian features next to isotropic whose every column has to be drawn."""
    spectrum = Spectrum.power_law(dimension, NEARLY_FLAT)
    return Ensemble(examples, spectrum, labels=LABELS, relative_step=RELATIVE_STEP)


@dataclass(frozen=True, eq=False)
class Answers:
    """What a batch of trials found, on the host.

    gap, norm: (B,), ‖w_∞ − w⋆‖₂ and ‖w⋆‖₂.   kkt: (B, 4), relative residuals of w⋆.
    certified: (B,), whether the limit is certified and w⋆ optimal to `tolerances.KKT`.
    """

    gap: Floats
    norm: Floats
    kkt: Floats
    certified: NDArray[np.bool_]


def answers(problem: Problem) -> Answers:
    """Descend, find the minimum norm and take the gap, wherever the problem's arrays are."""
    run = descend(problem)
    best = minimum_norm(problem)
    gap = implicit_bias_gap(run, best)
    kkt = to_numpy(best.kkt)
    certified = to_numpy(run.certified) & (kkt.max(axis=-1) <= KKT)
    return Answers(to_numpy(gap), to_numpy(best.norm), kkt, certified)


def trial(
    ensemble: Ensemble, generator: Generator, batch: int, backend: Backend | None = None
) -> Answers:
    """Draw a batch of problems and answer it."""
    problem = ensemble.draw(generator, batch)
    return answers(problem if backend is None else problem.to(backend))


def draw_and_compare(ensemble: Ensemble, generator: Generator, batch: int) -> Any:
    """Draw a batch of problems and find their minimum norm, without gradient descent."""
    best = minimum_norm(ensemble.draw(generator, batch))
    return best.norm, best.kkt


def stages(ensemble: Ensemble, generator: Generator, batch: int) -> dict[str, float]:
    """Return the seconds that each of `STAGES` of one batch takes."""
    marks = [time.perf_counter()]
    problem = ensemble.draw(generator, batch)
    marks.append(time.perf_counter())
    run = descend(problem)
    marks.append(time.perf_counter())
    best = minimum_norm(problem)
    _ = best.norm, best.kkt
    marks.append(time.perf_counter())
    implicit_bias_gap(run, best)
    marks.append(time.perf_counter())
    return dict(zip(STAGES, np.diff(marks).tolist(), strict=True))
