"""Independent witnesses for the tests: gradient descent without any code of ``verify``.

`descend_in_weights` moves the weights themselves, on explicit features, plain and slow.
`follow_in_gram_space` takes plain steps with the Gram matrix, and `far_ahead` looks further
than any run can by squaring the linear map of one pattern. All take batches of B problems;
the first runs on object arrays of `fractions.Fraction` too, where ties are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np


@dataclass(frozen=True)
class Draw:
    """B problems with explicit features: what a test hands to an oracle and to ``verify``.

    features (B, n, d), labels (B, n), weights (B, m, d), signs (B, m), step_size (B,).
    perpendicular: (B, m, d), the part of the weights outside the span of the features.
    """

    features: np.ndarray
    labels: np.ndarray
    weights: np.ndarray
    perpendicular: np.ndarray
    signs: np.ndarray
    step_size: np.ndarray
    slope_at_zero: int

    @property
    def gram(self):
        return self.features @ self.features.swapaxes(-1, -2)

    @property
    def predictions(self):
        return self.weights @ self.features.swapaxes(-1, -2)

    @property
    def arguments(self):
        """The keyword arguments with which `Problem.from_features` builds the same problems."""
        return {
            "features": self.features,
            "labels": self.labels,
            "starting_weights": self.weights,
            "signs": self.signs,
            "step_size": self.step_size,
            "slope_at_zero": self.slope_at_zero,
        }


def draw(
    rng,
    batch,
    n,
    d,
    *,
    neurons=1,
    start="positive",
    outside=False,
    slope_at_zero=0,
    relative_step=(0.5, 0.5),
    least_label=0.5,
    all_signs_positive=False,
):
    """Draw Gaussian features, labels ±U[least_label, 1], and weights that `start` names.

    start: "positive", predictions U[1e-3, 1e-2]; "random", Gaussian weights.
    outside: whether the weights have a part outside the span of the features.
    relative_step: (low, high), c = ηd log-uniform between them.
    """
    features = rng.standard_normal((batch, n, d))
    labels = rng.uniform(least_label, 1, (batch, n)) * rng.choice([-1, 1], (batch, n))
    gram = features @ features.swapaxes(-1, -2)
    gaussian = rng.standard_normal((batch, neurons, d)) * 0.1 / np.sqrt(d)

    def lift(predictions):
        duals = np.linalg.solve(gram, predictions.swapaxes(-1, -2)).swapaxes(-1, -2)
        return duals @ features

    perpendicular = gaussian - lift(gaussian @ features.swapaxes(-1, -2))
    if start == "positive":
        inside = lift(rng.uniform(1e-3, 1e-2, (batch, neurons, n)))
    else:
        inside = gaussian - perpendicular
    perpendicular = perpendicular if outside else 0 * perpendicular
    signs = np.ones((batch, neurons), dtype=int)
    if neurons > 1 and not all_signs_positive:
        signs = np.where(np.arange(neurons) % 2, -1, 1) * signs
    step = np.exp(rng.uniform(*np.log(relative_step), batch)) / d
    return Draw(features, labels, inside + perpendicular, perpendicular, signs, step, slope_at_zero)


@dataclass(frozen=True)
class Descent:
    """B descents in weight space.

    weights: (B, m, d), the last ones.   patterns: one (B, m, n) mask a step, the start first.
    settled: (B,), whether the covered residual, or else the step itself, has vanished.
    steps: (B,), the step at which it did.
    """

    weights: np.ndarray
    patterns: list[np.ndarray]
    settled: np.ndarray
    steps: np.ndarray

    @property
    def last_flip(self):
        """The last step that changed the pattern, (B,), 0 if none did."""
        last = np.zeros(len(self.settled), dtype=int)
        for step, (before, after) in enumerate(pairwise(self.patterns), start=1):
            last[(before != after).any(axis=(1, 2))] = step
        return last


def descend_in_weights(problem, max_steps=5_000, tolerance=1e-12):
    """Descend from the weights of the `Draw` until nothing moves.

    A problem has settled when its covered residual is at most `tolerance` times the largest
    label, or when a step changes no weight by more than an ulp or so; it then stays put.
    One that has grown beyond 1e50 stays put too, but has not settled.
    """
    features, labels, weights = problem.features, problem.labels, problem.weights
    signs, eta = problem.signs[:, :, None], problem.step_size[:, None, None]
    settled = np.zeros(len(labels), dtype=bool)
    steps = np.zeros(len(labels), dtype=int)
    patterns: list[np.ndarray] = []
    for step in range(max_steps + 1):
        predictions = weights @ features.swapaxes(-1, -2)
        pattern = predictions >= 0 if problem.slope_at_zero else predictions > 0
        pattern = pattern.astype(bool)
        if patterns:
            pattern = np.where(settled[:, None, None], patterns[-1], pattern)
        patterns.append(pattern)
        steps = np.where(settled, steps, step)
        residual = (signs * np.where(pattern, predictions, 0)).sum(axis=1) - labels
        missing = abs(np.where(pattern.any(axis=1), residual, 0)).max(axis=-1)
        move = eta * ((signs * np.where(pattern, residual[:, None, :], 0)) @ features)
        still = abs(move).max(axis=(1, 2)) <= 2e-16 * abs(weights).max(axis=(1, 2))
        at_rest = (missing <= tolerance * abs(labels).max(axis=-1)) | still
        settled = settled | (at_rest.astype(bool) & (step >= 1))
        held = settled | (abs(weights).max(axis=(1, 2)) > 1e50)
        if held.all() or step == max_steps:
            break
        weights = np.where(held[:, None, None], weights, weights - move)
    return Descent(weights, patterns, settled, steps)


@dataclass(frozen=True)
class Path:
    """B plain paths in Gram space, T steps long.

    distance: (T + 1, B), min |prediction| at each step.   changed: (T + 1, B), whether the
    pattern differs from that of the step before.   predictions: (T + 1) of (B, m, n).
    """

    distance: np.ndarray
    changed: np.ndarray
    predictions: np.ndarray


def sloped(pattern, values, slope_below):
    """Return D_k v: values where the pattern is set, and γ times them elsewhere."""
    return np.where(pattern, values, slope_below * values if slope_below else 0)


def follow_in_gram_space(
    gram, labels, predictions, step_size, signs, slope_at_zero, steps, slope_below=0.0
):
    """Take plain steps β_k ← β_k − η s_k G D_k r from predictions (B, m, n)."""
    eta, signs = step_size[:, None, None], signs[:, :, None]
    seen, distance, changed = [], [], []
    before = None
    for _ in range(steps + 1):
        seen.append(predictions)
        pattern = predictions >= 0 if slope_at_zero else predictions > 0
        distance.append(abs(predictions).min(axis=(1, 2)))
        before = pattern if before is None else before
        changed.append((pattern != before).any(axis=(1, 2)))
        before = pattern
        residual = (signs * sloped(pattern, predictions, slope_below)).sum(axis=1) - labels
        move = (signs * sloped(pattern, residual[:, None, :], slope_below)) @ gram
        predictions = predictions - eta * move
    return Path(np.stack(distance), np.stack(changed), np.stack(seen))


def far_ahead(gram, labels, predictions, step_size, signs, pattern, doublings, slope_below=0.0):
    """Follow the linear map of one `pattern` for 2, 4, 8, … 2^doublings steps.

    With A = I − ηM and T_N = Σ_{j<N} A^j: T_2N = T_N + A^N T_N, and the predictions move by
    −η s_k G D_k T_N r. Returns the last predictions, (B, m, n), how much the last doubling
    moved them, (B,), and the least distance that any keeps on the side of zero that `pattern`
    says, (B,), negative if one crosses. Where M is singular on the covered examples, errors
    grow like 2^doublings.
    """
    slopes = sloped(pattern, np.ones(pattern.shape, gram.dtype), slope_below)
    interaction = gram * (slopes.swapaxes(-1, -2) @ slopes)
    eta, signs = step_size[:, None, None], signs[:, :, None]
    total = np.broadcast_to(np.eye(gram.shape[-1]), gram.shape)
    power = total - eta * interaction
    residual = (signs * sloped(pattern, predictions, slope_below)).sum(axis=1) - labels
    residual = np.where((slopes > 0).any(axis=1), residual, 0)[:, :, None]
    nearest = np.full(len(labels), np.inf)
    ahead, moved = predictions, nearest
    for _ in range(doublings):
        behind = ahead
        total, power = total + power @ total, power @ power
        summed = (total @ residual)[:, None, :, 0]
        ahead = predictions - eta * ((signs * sloped(pattern, summed, slope_below)) @ gram)
        side = np.where(pattern, ahead, -ahead).min(axis=(1, 2))
        nearest = np.minimum(nearest, side)
        moved = abs(ahead - behind).max(axis=(1, 2))
    return ahead, moved, nearest
