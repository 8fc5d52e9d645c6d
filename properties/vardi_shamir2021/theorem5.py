"""Theorem 5 of Vardi and Shamir (COLT 2021): no function of the weights is what the flow minimises.

The witness of the source: data of Theorem 3, rotated and scaled. Its zero-loss points with γ > 0
are c·Q(5, −1, z), z ≤ 1, for the rotation Q and the scale c, the same for every γ, while the limit
c·Q(5, −1, s_γ) is another for each: only one that is as small at s_1 as at s_2, s_5 and everywhere
on the half-line can be minimised by all. Turning it about every axis and scaling it leaves only
constants, which is the theorem. What is checked here is less: each candidate of a family of
functions is refuted by one of a few data sets. That is a witness, no proof for all functions.

Coordinates of a point: candidate, a kind of function as `KINDS` names it. Drawn: its parameters,
and rotations and scales (log-uniform from [1/2, 2]) of the data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from properties.vardi_shamir2021 import setting, theorem3
from verify.claims import Assumption, Control, Status, Universal
from verify.margin import Margin
from verify.space import Axis, Point
from verify.theorem import Theorem
from verify.tolerances import IDENTITY
from verify.trial import Trial

Host = np.ndarray[Any, Any]

GAMMAS = (1.0, 2.0, 5.0)

ROTATIONS = 4
"""Rotations of the data that a candidate is tried on, each with a scale of its own."""

GRID = np.concatenate([-np.geomspace(30.0, 1e-3, 120), [0.0], np.linspace(0.05, 1.0, 60)])
"""The z of the zero-loss points (5, −1, z) that are compared with the limit, all at most 1."""

_SMALLER = 1e-6
"""How much smaller, of the candidate's range over those points, another must be to count."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """B functions R of a kind, and the data that they are tried on.

    kind: of `KINDS`.   parameters: (B, P, 3), of which each kind takes what it needs.
    rotations: (B, K, 3, 3).   scales: (B, K).
    """

    kind: str
    parameters: Host
    rotations: Host
    scales: Host

    def value(self, weights: Host) -> Host:
        """Return R(w) for weights (B, …, 3), (B, …)."""
        flat = weights.reshape(len(weights), -1, 3)
        return KINDS[self.kind](self.parameters, flat).reshape(weights.shape[:-1])


def _norm(parameters: Host, weights: Host) -> Host:
    """‖w‖₂."""
    return np.asarray(np.linalg.norm(weights, axis=-1))


def _sum_of_sizes(parameters: Host, weights: Host) -> Host:
    """‖w‖₁."""
    return np.asarray(np.abs(weights).sum(axis=-1))


def _largest(parameters: Host, weights: Host) -> Host:
    """‖w‖_∞."""
    return np.asarray(np.abs(weights).max(axis=-1))


def _weighted_norm(parameters: Host, weights: Host) -> Host:
    """√(wᵀAAᵀw), A drawn with Gaussian entries."""
    return np.asarray(np.linalg.norm(weights @ parameters[:, :3], axis=-1))


def _weighted_sum(parameters: Host, weights: Host) -> Host:
    """Σ a_i|w_i|, a_i drawn uniformly from [1/10, 1] or so."""
    return np.asarray((np.abs(weights) * (0.1 + np.abs(parameters[:, :1]))).sum(axis=-1))


def _entropy(parameters: Host, weights: Host) -> Host:
    """Σ w_i arsinh(w_i/a) − √(w_i² + a²), the hyperbolic entropy; a = .1 + |g|, g Gaussian."""
    scale = 0.1 + np.abs(parameters[:, :1, :1])
    terms = weights * np.arcsinh(weights / scale) - np.sqrt(weights**2 + scale**2)
    return np.asarray(terms.sum(axis=-1))


def _absolute_entropy(parameters: Host, weights: Host) -> Host:
    """Σ |w_i| log|w_i|."""
    size = np.abs(weights)
    return np.asarray((size * np.log(np.maximum(size, 1e-300))).sum(axis=-1))


def _distance(parameters: Host, weights: Host) -> Host:
    """‖w − a‖₂, a Gaussian: the distance to another start."""
    return np.asarray(np.linalg.norm(weights - parameters[:, :1], axis=-1))


def _direction(parameters: Host, weights: Host) -> Host:
    """−a·w/‖w‖, a Gaussian: a function of the direction alone."""
    along = (weights * parameters[:, :1]).sum(axis=-1)
    return np.asarray(-along / np.linalg.norm(weights, axis=-1))


def _linear(parameters: Host, weights: Host) -> Host:
    """a·w, a Gaussian."""
    return np.asarray((weights * parameters[:, :1]).sum(axis=-1))


def _waves(parameters: Host, weights: Host) -> Host:
    """Σ_j cos(a_j·w + b_j), six Gaussian a_j and b_j: no structure at all."""
    phases = parameters[:, :6] @ np.ones(3)
    waves = weights @ parameters[:, 6:12].swapaxes(1, 2)
    return np.asarray(np.cos(waves + phases[:, None, :]).sum(axis=-1))


def _constant(parameters: Host, weights: Host) -> Host:
    """1, the one that the theorem excepts."""
    return np.ones(weights.shape[:-1])


KINDS: Mapping[str, Callable[[Host, Host], Host]] = {
    "norm": _norm,
    "sum_of_sizes": _sum_of_sizes,
    "largest": _largest,
    "weighted_norm": _weighted_norm,
    "weighted_sum": _weighted_sum,
    "entropy": _entropy,
    "absolute_entropy": _absolute_entropy,
    "distance": _distance,
    "direction": _direction,
    "linear": _linear,
    "waves": _waves,
    "constant": _constant,
}

FAMILY = tuple(kind for kind in KINDS if kind != "constant")


def draw(point: Point, generator: np.random.Generator, trials: int) -> Candidates:
    """Draw candidates of the point's kind, and data."""
    parameters = generator.normal(size=(trials, 12, 3))
    scales = 2.0 ** generator.uniform(-1, 1, size=(trials, ROTATIONS))
    rotations = _rotations(generator, (trials, ROTATIONS))
    kind = setting.one_of("candidate", point["candidate"], KINDS)
    return Candidates(kind, parameters, rotations, scales)


def _rotations(generator: np.random.Generator, size: tuple[int, int]) -> Host:
    """Draw uniformly distributed rotations of R³, (*size, 3, 3)."""
    basis, factor = np.linalg.qr(generator.normal(size=(*size, 3, 3)))
    basis = basis * np.sign(np.diagonal(factor, axis1=-2, axis2=-1))[..., None, :]
    return np.asarray(basis * np.linalg.det(basis)[..., None, None])


@dataclass(frozen=True, eq=False)
class Limits:
    """Where the flow ends on X_γQᵀ and c·y, for every candidate, data set and γ.

    weights: (B, K, Γ, 3), w_∞.   certified: whether all limits are known.
    """

    weights: Host
    certified: bool


def follow(candidates: Candidates) -> Limits:
    """Follow gradient flow on the data of Theorem 3, and turn and scale where it ends.

    The flow sees the Gram matrix and the labels alone: a rotation of the features leaves the
    coefficients as they are and turns the weights, and a scale of the labels scales them.
    """
    ends = [theorem3.follow(theorem3.problem_of(gamma, np.ones(1))) for gamma in GAMMAS]
    base = np.concatenate([end.weights for end in ends])
    certified = all(end.certified.all() for end in ends)
    return Limits(_turned(candidates, base), certified)


def _turned(candidates: Candidates, weights: Host) -> Host:
    """Return c·Qw for weights (N, 3), (B, K, N, 3)."""
    turned = np.einsum("bkij,nj->bkni", candidates.rotations, weights)
    return np.asarray(candidates.scales[:, :, None, None] * turned)


def zero_loss_points(candidates: Candidates) -> Host:
    """Return c·Q(5, −1, z) for the z of the grid, (B, K, Z, 3)."""
    rows = np.stack([np.full(GRID.size, 5.0), np.full(GRID.size, -1.0), GRID], axis=-1)
    return _turned(candidates, rows)


def copies(point: Mapping[str, Any]) -> str:
    """Return what the data are to a candidate that no rotation changes, and no scale but by a
    factor."""
    return "rotations and rescalings" if point["candidate"] in ("norm", "constant") else ""


def describe(candidates: Candidates, index: int) -> dict[str, Any]:
    """Return what a person needs to recognise one candidate and its data."""
    return {
        "candidate": candidates.kind,
        "function": KINDS[candidates.kind].__doc__,
        "parameters": candidates.parameters[index],
        "rotations": candidates.rotations[index],
        "scales": candidates.scales[index],
    }


# Assumption and claims.


def candidate_is_not_constant(trial: Trial) -> Margin:
    """R is not constant on R^d∖{0}."""
    return Margin(1, np.full(trial.trials, int(trial.problem.kind != "constant")))


NOT_CONSTANT = Assumption(candidate_is_not_constant, Status.READ, axes=("candidate",))


def _refuted_by(trial: Trial) -> Host:
    """Return by how much of its range over the zero-loss points R is smaller at one of them than
    at the limit, at best over rotations and γ, (B,)."""
    candidates: Candidates = trial.problem
    there = candidates.value(zero_loss_points(candidates))
    at_the_limit = candidates.value(trial.run.weights)
    least, most = there.min(axis=-1), there.max(axis=-1)
    width = np.maximum(most - least, 1e-12 * np.maximum(1.0, np.abs(most)))
    return np.asarray(((at_the_limit - least[..., None]) / width[..., None]).max(axis=(1, 2)))


def some_data_refute_the_candidate(trial: Trial) -> Margin:
    """The candidate R is smaller, by 1e-6 of its range, at some zero-loss point than at the limit,
    for one at least of the rotated and scaled data sets: w_∞ does not minimise R on all of them."""
    limits: Limits = trial.run
    unknown = np.full(trial.trials, not limits.certified)
    return Margin(_SMALLER, _refuted_by(trial)).undecided_where(unknown)


def what_is_compared_has_zero_loss(trial: Trial) -> Margin:
    """Limits and points that are compared have zero loss on their data, to 1e-10 of the labels:
    outputs recomputed from features and weights."""
    candidates: Candidates = trial.problem
    worst = np.zeros(trial.trials)
    points = zero_loss_points(candidates)
    for number, gamma in enumerate(GAMMAS):
        rows = np.einsum("ij,bklj->bkil", theorem3.features(gamma), candidates.rotations)
        labels = candidates.scales[:, :, None] * np.asarray([16.0, 18.0, 0.0])
        compared = np.concatenate([points, trial.run.weights[:, :, number, None]], axis=2)
        outputs = np.maximum(np.einsum("bkij,bknj->bkni", rows, compared), 0.0)
        misfit = np.abs(outputs - labels[:, :, None, :]) / (18 * candidates.scales)[..., None, None]
        worst = np.maximum(worst, misfit.max(axis=(1, 2, 3)))
    return Margin(worst, IDENTITY)


# False statements, and a broken dynamic, for the controls.


def a_constant_is_refuted_too(trial: Trial) -> Margin:
    """A constant function is refuted by such data too."""
    return some_data_refute_the_candidate(trial)


def the_norm_is_minimised(trial: Trial) -> Margin:
    """The flow ends at the zero-loss point of least norm on every rotated and scaled data set."""
    return Margin(_refuted_by(trial), _SMALLER)


def to_the_least_norm(candidates: Candidates) -> Limits:
    """End at the zero-loss point of least norm, as a flow of a linear neuron on the first two
    examples does."""
    base = np.tile([5.0, -1.0, 0.0], (len(GAMMAS), 1))
    return Limits(_turned(candidates, base), True)


CELLS = tuple(Point(candidate=kind) for kind in FAMILY)
NORM = (Point(candidate="norm"),)

theorem = Theorem(
    id="vardi_shamir2021.theorem5",
    title="One ReLU neuron: no function of the weights is what gradient flow minimises",
    citation=f"{setting.CITATION}; Theorem 5.",
    status=Status.READ,
    statement=(
        "For d ≥ 3 no function R of the weights, other than one constant on R^d∖{0}, has w_∞ among "
        "the zero-loss points that minimise it for all data (w_0 = 0, φ'(0) = 1)."
    ),
    method=(
        "An executable witness, no proof: each candidate of a family (norms, weighted norms, "
        "entropies, distances, functions of the direction, random waves) meets the data of Theorem "
        f"3 for γ = 1, 2, 5, each in {ROTATIONS} rotations and scales. It is refuted where one of "
        "these has a zero-loss point with a smaller R than the limit's. Nothing is said of other "
        "functions. The flow is followed on the data of Theorem 3, and its limit turned and scaled "
        "with them; losses are recomputed."
    ),
    symbols={
        "R": "a candidate: a function of the weights that the limit might minimise",
        "w_0, w_∞": "the starting weights, 0, and the limit of gradient flow",
        "γ": "the entry of the third row of Theorem 3's features",
        "φ": setting.SYMBOLS["φ"],
    },
    axes=(Axis("candidate", scale="choice", choices=FAMILY, meaning="kind of function R"),),
    wide_axes=(
        Axis(
            "candidate",
            scale="choice",
            choices=tuple(KINDS),
            inside=FAMILY,
            meaning="kind of function R",
        ),
    ),
    hypotheses=(NOT_CONSTANT,),
    cells=CELLS,
    draw=draw,
    simulate=follow,
    copies=copies,
    describe=describe,
    claims=(
        Universal(some_data_refute_the_candidate, given=(NOT_CONSTANT,), status=Status.DERIVED),
        Universal(what_is_compared_has_zero_loss, at=NORM, status=Status.DERIVED),
    ),
    controls=(
        Control(
            Universal(
                a_constant_is_refuted_too,
                at=(Point(candidate="constant"),),
                status=Status.FALSE,
            ),
            because="a constant is minimised by every point: the theorem excepts it",
        ),
        Control(
            Universal(the_norm_is_minimised, at=NORM, status=Status.FALSE),
            because="c·Q(5, −1, 0) has zero loss too, and a smaller norm than c·Q(5, −1, s_γ)",
        ),
        Control(
            Universal(
                some_data_refute_the_candidate,
                given=(NOT_CONSTANT,),
                at=NORM,
                status=Status.FALSE,
                name="broken_dynamics_least_norm",
            ),
            because="a flow that ends at the least norm has the norm as its regulariser",
            simulate=to_the_least_norm,
        ),
    ),
)
