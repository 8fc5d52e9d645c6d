"""The flow while no example changes its mode: linear, and known in closed form (theory §3) [D].

Each neuron has each example above its kink (slope 1), below (slope γ), or *held* at the kink, where
the flow points towards it from both sides. There it takes the slope θ ∈ [γ, 1] that keeps the
prediction at zero (`filippov`).
With H_k the examples that neuron k holds, D_k its slopes (0 on H_k),

    α_k' = −s_k P_k r,  P_k = D_k off H_k,  P_k = −G_HH⁻¹ G_H· D_k on H_k,
    r' = −M r,  M = Σ_k D_k G P_k,

with M symmetric positive semi-definite, so r(t) = e^{−Mt} r(0).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from verify.arrays import to_numpy
from verify.relu.dynamics.activation import Activation
from verify.relu.dynamics.filippov import keeping_at_zero
from verify.relu.problem import Problem
from verify.tolerances import SINGULAR_BELOW, summation

Host = np.ndarray[Any, Any]


_LONG = 1e300
"""A time that stands for ∞ where a rate may be zero."""


@dataclass(frozen=True, eq=False)
class Setting:
    """One problem on the host: gram (n, n), labels (n,), start (m, n), signs (m,), γ.

    largest: λ_max(G).   lengths: (n,), the √G_ii.
    """

    gram: Host
    labels: Host
    start: Host
    signs: Host
    slope_below: float
    largest: float
    lengths: Host

    @staticmethod
    def each(problem: Problem, activation: Activation) -> list[Setting]:
        """Return every problem of a batch, on the host."""
        gram, labels = to_numpy(problem.gram), to_numpy(problem.labels)
        start, signs = to_numpy(problem.starting_predictions), to_numpy(problem.signs)
        largest = np.maximum(to_numpy(problem.eigenvalues)[:, -1], 0.0)
        lengths = np.sqrt(np.maximum(np.diagonal(gram, axis1=1, axis2=2), 0.0))
        gamma = activation.slope_below
        return [
            Setting(gram[b], labels[b], start[b], signs[b], gamma, float(largest[b]), lengths[b])
            for b in range(problem.batch)
        ]


@dataclass(frozen=True, eq=False)
class Modes:
    """Where the examples of each neuron are, (m, n): active (slope 1) or not; which are held."""

    active: Host
    held: Host

    def slopes(self, slope_below: float) -> Host:
        """Return the diagonals of D_k, (m, n): 1, γ, and 0 where held."""
        return np.where(self.held, 0.0, np.where(self.active, 1.0, slope_below))


@dataclass(frozen=True, eq=False)
class Point:
    """A point of the path.

    change: (m, n), what the coefficients gained since the start.
    predictions, residual: (m, n), (n,), what follows from it.
    error, spread: the exact path is, to first order, within `error` in weights of a point that
        differs by Σ_e ξ_e spread_e with all |ξ_e| ≤ 1; (E, m, n) coefficients.
    """

    change: Host
    predictions: Host
    residual: Host
    error: float
    spread: Host

    def distance(self, setting: Setting) -> float:
        """Return a bound on the distance in weights from the exact path, to first order."""
        return float(self.error + weight_norms(setting, self.spread).sum())


def weight_norms(setting: Setting, spread: Host) -> Host:
    """Return √Σ_k ‖Xᵀg_k‖² for each of E coefficients (E, m, n), (E,)."""
    return np.asarray(np.sqrt(np.maximum((spread * (spread @ setting.gram)).sum(axis=(1, 2)), 0.0)))


def point(
    setting: Setting, change: Host, modes: Modes, error: float = 0.0, spread: Host | None = None
) -> Point:
    """Return the point of that change; a held prediction is zero."""
    predictions = np.where(modes.held, 0.0, setting.start + change @ setting.gram)
    output = setting.signs @ (modes.slopes(setting.slope_below) * predictions)
    spread = np.zeros((0, *change.shape)) if spread is None else spread
    return Point(change, predictions, output - setting.labels, error, spread)


def residual_spread(setting: Setting, modes: Modes, here: Point) -> Host:
    """Return what the spread makes of the residual, (E, n)."""
    signed = setting.signs[:, None] * modes.slopes(setting.slope_below)
    return np.asarray((signed * (here.spread @ setting.gram)).sum(axis=1))


@lru_cache(maxsize=8)
def directions(setting: Setting, modes: Modes) -> Host:
    """Return the P_k, (m, n, n), read-only: an event asks for those of a few modes again and again.

    Raises LinAlgError where held examples are linearly dependent.
    """
    slopes = modes.slopes(setting.slope_below)
    found = slopes[:, :, None] * np.eye(slopes.shape[-1])
    holders = np.flatnonzero(modes.held.any(axis=-1))
    if holders.size:
        gram = np.broadcast_to(setting.gram, (holders.size, *setting.gram.shape))
        found[holders] += keeping_at_zero(gram, modes.held[holders]) * slopes[holders, None, :]
    found.flags.writeable = False
    return found


@dataclass(frozen=True, eq=False)
class Regime:
    """The linear flow from one point on.

    rates, vectors: (n,), (n, n), the spectrum of M; rates that are zero up to rounding are 0.
    coordinates: (n,), those of r.   steering: (m, n, n), P_k V.   rows: (m, n, n), G P_k V.
    tilt: relative error of what the smallest positive rate determines.
    """

    setting: Setting
    modes: Modes
    origin: Point
    rates: Host
    vectors: Host
    coordinates: Host
    steering: Host
    rows: Host
    connected: Host
    tilt: float

    def shares(self, time: float) -> Host:
        """Return (1 − e^{−λt})/λ, (n,), 0 for rates that are zero; t = ∞ is allowed."""
        moving = self.rates > 0
        rates = np.where(moving, self.rates, 1.0)
        decayed = -np.expm1(-rates * time) if np.isfinite(time) else np.ones_like(rates)
        return np.where(moving, decayed / rates, 0.0)

    def gone(self, time: float) -> Host:
        """Return the coordinates of ∫r from here to `time` later, (n,)."""
        return np.asarray(self.coordinates * self.shares(time))

    def change(self, time: float) -> Host:
        """Return the change of the coefficients since the start, (m, n), `time` from here."""
        moved = self.steering @ self.gone(time)
        return np.asarray(self.origin.change - self.setting.signs[:, None] * moved)

    def spread(self, time: float) -> Host:
        """Return what becomes of the spread of the origin, (E, m, n), `time` from here."""
        left = residual_spread(self.setting, self.modes, self.origin) @ self.vectors
        moved = np.einsum("kij,ej->eki", self.steering, left * self.shares(time))
        return np.asarray(self.origin.spread - self.setting.signs[:, None] * moved)

    def residual(self, time: float) -> Host:
        """Return r, (n,), `time` from here."""
        decay = np.where(self.rates > 0, np.exp(-self.rates * min(time, _LONG)), 1.0)
        return np.asarray(self.vectors @ (decay * self.coordinates))

    def rounding(self, time: float) -> float:
        """Return a bound on the rounding of the weights, `time` from here."""
        return self.rounding_of(self.gone(time), self.change(time))

    def rounding_of(self, gone: Host, change: Host) -> float:
        """Return a bound on the rounding of weights of that change, (m, n), given the coordinates
        of the integral, or sum, of r that led there from here, (n,)."""
        energy = (gone**2 * self.rates).sum()
        size = np.sqrt(self.setting.largest) * np.linalg.norm(change)
        stored = size * summation(self.rates.size, self.rates)
        return float(self.tilt * np.sqrt(energy) + stored)


def regime(setting: Setting, modes: Modes, origin: Point) -> Regime:
    """Return the flow of the modes from `origin` on, by an eigendecomposition of M, O(n³).

    Components of M that nothing connects are decomposed apart, so that what does not influence an
    example is exactly zero in its row. Raises LinAlgError as `directions`.
    """
    steer = directions(setting, modes)
    slopes = modes.slopes(setting.slope_below)
    images = setting.gram @ steer
    images[modes.held] = 0.0
    matrix = (slopes[:, :, None] * images).sum(axis=0)
    matrix = (matrix + matrix.T) / 2
    values, vectors, connected = _spectrum(matrix)
    n = values.size
    top = max(float(values.max()), 0.0)
    rates = np.where(values > SINGULAR_BELOW * n * top, values, 0.0)
    moving = rates[rates > 0]
    relative = summation(n, rates)
    tilt = relative * (1 + top / moving.min()) if moving.size else relative
    for k in np.flatnonzero(modes.held.any(axis=-1)):
        inside = setting.gram[np.ix_(modes.held[k], modes.held[k])]
        tilt += relative * float(np.linalg.cond(inside))
    return Regime(
        setting, modes, origin, rates, vectors, vectors.T @ origin.residual,
        steer @ vectors, images @ vectors, connected, float(tilt),
    )  # fmt: skip


def _spectrum(matrix: Host) -> tuple[Host, Host, Host]:
    """Return eigenvalues (n,), eigenvectors (n, n), and which entries of these can be non-zero."""
    n = len(matrix)
    if (matrix != 0).all():
        values, vectors = np.linalg.eigh(matrix)
        return values, vectors, np.ones((n, n), dtype=bool)
    component = _components(matrix != 0)
    values, vectors = np.zeros(n), np.zeros((n, n))
    for number in np.unique(component):
        index = np.flatnonzero(component == number)
        values[index], vectors[np.ix_(index, index)] = np.linalg.eigh(matrix[np.ix_(index, index)])
    return values, vectors, component[:, None] == component


def _components(linked: Host) -> Host:
    """Return the first example that each is connected with, (n,), of a symmetric mask (n, n)."""
    reached = linked | np.eye(len(linked), dtype=bool)
    while True:
        further = reached.astype(float) @ reached > 0
        if (further == reached).all():
            return np.asarray(reached.argmax(axis=1))
        reached = further


def rounding(setting: Setting, change: Host) -> Host:
    """Return a bound on the rounding error of evaluating β⁰ + Ga, (m, n)."""
    size = np.sqrt(setting.largest) * np.linalg.norm(change, axis=-1, keepdims=True)
    terms = np.abs(setting.start) + setting.lengths * size
    return np.asarray(summation(change.shape[-1], change) * terms)
