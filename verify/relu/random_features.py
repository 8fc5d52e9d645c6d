"""The Gram matrix of random features of given examples, without ever holding the features.

Rahimi and Recht, "Random Features for Large-Scale Kernel Machines" (NIPS 2007) [F]: with D random
features of a kernel the Gram matrix tends to the kernel matrix, at the rate 1/√D.

    relu       √(2/D)·φ(w_j·x), w_j ~ N(0, I): the arc-cosine kernel of order 1 (Cho and Saul,
               "Kernel Methods for Deep Learning", NIPS 2009),
               ‖x‖‖x'‖ (sin θ + (π − θ) cos θ)/π, θ the angle between x and x'
    fourier    √(2/D)·cos(w_j·x + b_j), w_j ~ N(0, I/σ²), b_j uniform on [0, 2π): the Gaussian
               kernel exp(−‖x − x'‖²/2σ²), σ the bandwidth

Dynamics, comparator and gap need the Gram matrix alone, so it is summed over blocks of features:
memory grows with n and d, not with D.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from verify.errors import InputError

Floats = NDArray[np.float64]

KINDS = ("relu", "fourier")
MOST = 10**8
_BLOCK = 2**22
"""Numbers held at a time: 32 MiB."""


@dataclass(frozen=True)
class RandomFeatures:
    """A lift of n examples to D random features.

    kind: "relu" or "fourier".   number: D.   seed: of weights and phases; the same seed gives the
    same features, and a larger D more of them.
    bandwidth: σ of "fourier", in units of the given features; None for `median_distance`.
    """

    kind: str
    number: int
    seed: int = 0
    bandwidth: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            known = ", ".join(KINDS)
            raise InputError(f"kind={self.kind!r}, expected one of {known}; try relu:10000")
        if not 1 <= self.number <= MOST:
            raise InputError(f"number={self.number}, expected between 1 and {MOST} features")
        if self.seed < 0:
            raise InputError(f"seed={self.seed}, expected a whole number of at least 0")
        if self.bandwidth is not None and self.kind != "fourier":
            raise InputError(
                f"bandwidth={self.bandwidth:g}, expected none for {self.kind} features"
            )
        if self.bandwidth is not None and not 1e-50 <= self.bandwidth <= 1e50:
            raise InputError(
                f"bandwidth={self.bandwidth:g}, expected a positive number within 1e-50 and 1e50; "
                "rescale the features"
            )

    @classmethod
    def named(cls, text: str, seed: int = 0) -> RandomFeatures:
        """Read "relu:D", "fourier:D" or "fourier:D:BANDWIDTH". Raises InputError."""
        kind, *parts = text.strip().split(":")
        try:
            if not 1 <= len(parts) <= 2 or not re.fullmatch(r"[0-9.e+]+", parts[0], re.ASCII):
                raise ValueError
            number = float(parts[0])
            if number != int(number):
                raise ValueError
            bandwidth = float(parts[1]) if len(parts) == 2 else None
        except (ValueError, OverflowError):
            raise InputError(
                f"features={text!r}, expected relu:D, fourier:D or fourier:D:BANDWIDTH; try "
                "relu:10000"
            ) from None
        return cls(kind, int(number), seed, bandwidth)

    def fitted(self, examples: Floats) -> RandomFeatures:
        """Return the same lift with its bandwidth settled on examples (n, d)."""
        if self.kind != "fourier" or self.bandwidth is not None:
            return self
        return RandomFeatures(self.kind, self.number, self.seed, median_distance(examples))

    def gram(self, examples: Floats, block: int | None = None) -> Floats:
        """Return the Gram matrix (n, n) of the random features of examples (n, d).

        block: features drawn at a time; changes the result by rounding only, never the features.
        Raises InputError where the median distance that a bandwidth is to be is zero.
        """
        lift = self.fitted(examples)
        n, d = examples.shape
        size = max(1, _BLOCK // max(n, d)) if block is None else block
        weights, phases = _streams(self.seed)
        total = np.zeros((n, n))
        for first in range(0, self.number, size):
            count = min(size, self.number - first)
            projected = examples @ weights.standard_normal((count, d)).T
            if lift.bandwidth is None:
                features = np.maximum(projected, 0.0)
            else:
                phase = phases.uniform(0.0, 2.0 * np.pi, count)
                features = np.cos(projected / lift.bandwidth + phase)
            total += features @ features.T
        return total * (2.0 / self.number)

    def kernel(self, examples: Floats) -> Floats:
        """Return the kernel matrix (n, n) of examples (n, d): the Gram matrix for D → ∞."""
        lift = self.fitted(examples)
        if lift.bandwidth is not None:
            return np.asarray(np.exp(-_squared_distances(examples) / (2.0 * lift.bandwidth**2)))
        inner = examples @ examples.T
        norms = np.sqrt(np.diag(inner))
        scale = norms[:, None] * norms[None, :]
        cosine = np.clip(inner / np.where(scale > 0, scale, 1.0), -1.0, 1.0)
        angle = np.arccos(cosine)
        return np.asarray(scale * (np.sin(angle) + (np.pi - angle) * cosine) / np.pi)


def median_distance(examples: Floats) -> float:
    """Return the median distance between two of the examples (n, d), n ≥ 2.

    The usual heuristic for the bandwidth of a Gaussian kernel. Raises InputError where it is 0.
    """
    if len(examples) < 2:
        raise InputError(f"n={len(examples)}, expected at least 2 examples for a median distance")
    pairs = np.sqrt(_squared_distances(examples)[np.triu_indices(len(examples), 1)])
    found = float(np.median(pairs))
    if found == 0:
        raise InputError(
            "bandwidth=0, the median distance between examples, expected a positive number: most "
            "rows are duplicates; drop them or give fourier:D:BANDWIDTH"
        )
    return found


def _squared_distances(examples: Floats) -> Floats:
    """Return ‖x_i − x_j‖², (n, n), from differences: exactly 0 for equal rows."""
    return np.stack([((examples - row) ** 2).sum(axis=-1) for row in examples])


def _streams(seed: int) -> tuple[np.random.Generator, np.random.Generator]:
    """Return the streams of weights and of phases, so that blocks do not interleave them."""
    weights, phases = np.random.SeedSequence(seed).spawn(2)
    return np.random.default_rng(weights), np.random.default_rng(phases)
