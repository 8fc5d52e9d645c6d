"""What propositions of Frei, Vardi, Bartlett and Srebro (COLT 2023) share: data and assumptions.

Coordinates of a point (defaults in `DEFAULTS`): n examples; aspect = d/n², or d features; spectrum
as `Spectrum.named` reads it, of Gaussian features; lengths, the largest factor by which examples
are made longer, each by one that is uniform in [1, lengths]; positives, the share of labels +1, the
others are −1; cosine, in place of d: that of any two examples, in n dimensions. All dimensionless.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from verify.arrays import to_numpy
from verify.errors import InputError
from verify.margin import Margin
from verify.relu.dynamics.margin import near_orthogonality
from verify.relu.ensemble import Ensemble, Labels, Start
from verify.relu.problem import Problem
from verify.relu.spectra import Spectrum
from verify.space import Axis, Point
from verify.tolerances import IDENTITY
from verify.trial import Trial

Host = np.ndarray[Any, Any]

CITATION = (
    "Frei, Vardi, Bartlett, Srebro: Benign Overfitting in Linear Classifiers and Leaky ReLU "
    "Networks from KKT Conditions for Margin Maximization. COLT 2023, PMLR 195; arXiv 2303.01462"
)

DEFAULTS: Mapping[str, Any] = {
    "aspect": 1e3,
    "spectrum": "isotropic",
    "lengths": 1.0,
    "positives": 0.5,
}

SYMBOLS: Mapping[str, str] = {
    "x_i, y_i": "the n examples and their labels, +1 or −1",
    "R²": "max‖x_i‖²/min‖x_i‖²",
    "p": "the largest p with min‖x_i‖² ≥ p·R²·n·max_{i≠j}|x_i·x_j|: data are p-orthogonal",
    "s_i": "coefficients of w = Σ_i s_i y_i x_i",
}

ASPECT = Axis("aspect", 30.0, 1e6, "log", simplest=1e3, meaning="d/n²")
SPECTRUM = Axis(
    "spectrum",
    scale="choice",
    choices=("isotropic", "spiked:10x1", "power:1"),
    inside=("isotropic", "spiked:10x1"),
    meaning="eigenvalues of the features' covariance",
)
LENGTHS = Axis("lengths", 1.0, 2.0, meaning="largest factor by which examples are made longer")
POSITIVES = Axis("positives", 0.0, 1.0, simplest=0.5, meaning="share of the labels +1")


def draw_data(point: Point, generator: np.random.Generator, trials: int) -> Problem:
    """Draw i.i.d. data with labels ±1 at a point, of mean square length about one or more; the
    one neuron that starts at zero, and its step, are nobody's."""
    at = {**DEFAULTS, **point}
    n = int(at["n"])
    d = float(at["d"]) if "d" in at else float(max(n + 1, round(at["aspect"] * n * n)))
    if d < n:
        raise InputError(f"d={d:g} features of n={n} examples, expected d ≥ n: they are dependent")
    if not 1 <= at["lengths"] < np.inf:
        raise InputError(f"lengths={at['lengths']:g}, expected a factor of at least 1")
    spectrum = Spectrum.named(at["spectrum"], d)
    drawn = Ensemble(
        examples=n,
        spectrum=spectrum,
        labels=Labels(at["positives"], (1.0, 1.0)),
        start=Start("zero"),
        relative_step=1.0,
    ).draw(generator, trials)
    lengths = generator.uniform(1.0, at["lengths"], (trials, n))
    gram = to_numpy(drawn.gram) * to_numpy(drawn.step_size)[:, None, None]
    if "cosine" in at:
        gram = np.broadcast_to(_of_equal_cosines(n, float(at["cosine"])), gram.shape)
    return problem_of(gram * lengths[:, :, None] * lengths[:, None, :], to_numpy(drawn.labels))


def _of_equal_cosines(examples: int, cosine: float) -> Host:
    if not (cosine < 1 and (examples - 1) * cosine > -1):
        raise InputError(
            f"cosine={cosine:g} of each two of n={examples} examples, expected one above "
            "−1/(n − 1) and below 1: there are no such independent examples"
        )
    return np.asarray(cosine + (1 - cosine) * np.eye(examples))


def problem_of(gram: Host, labels: Host) -> Problem:
    """Return the problems of Gram matrices (B, n, n) and labels (B, n)."""
    nowhere = np.zeros((labels.shape[0], 1, labels.shape[1]))
    return Problem.from_gram(gram, labels, starting_predictions=nowhere, step_size=1.0)


def p_of(gram: Any) -> Host:
    """Return p, (B,), of Gram matrices (B, n, n)."""
    return np.asarray(to_numpy(near_orthogonality(gram).p))


def orthogonality(trial: Trial) -> Host:
    """p, which says how nearly orthogonal the data are."""
    return np.minimum(p_of(trial.problem.gram), 1e300)


def at_least(p: Host, least: float) -> Margin:
    """Return the margin of p ≥ least, (B,), as one of least/p ≤ 1: p may be infinite."""
    return Margin(least / p, 1.0, rounding=1e-12)


def ratio_at_most(ratio: Host, bound: Host, solve_error: Host | float) -> Margin:
    """Return the margin of max s/min s ≤ bound, (B,), to 1e-10; there is none where the bound is
    infinite. solve_error: relative, of the coefficients."""
    bounded = np.isfinite(bound)
    unit = np.where(bounded, bound, 1.0)
    error = solve_error * np.minimum(ratio / unit, 1e6)
    return Margin(ratio, (1 + IDENTITY) * unit, unit, error).unstated_where(~bounded)


def ratio_over(ratio: Host, bound: Host) -> Host:
    """Return max s/min s over its bound, (B,); no number where there is no bound."""
    bounded = np.isfinite(bound)
    return np.where(bounded, ratio, np.nan) / np.where(bounded, bound, 1.0)
