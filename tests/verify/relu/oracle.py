"""Independent witnesses for the tests: gradient descent without any code of ``verify``.

`descend_in_weights` moves the weights themselves, on explicit features, plain and slow.
`continue_in_gram_space` goes on from a state that a certificate calls frozen, to see
whether it is. Both take batches of B problems; both run on float64, on longdouble, and on
object arrays of `fractions.Fraction`, where ties are exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Descent:
    """B descents in weight space.

    weights: (B, m, d), the last ones.   patterns: one (B, m, n) mask a step, the start first.
    settled: (B,), whether the covered residual, or else the step itself, has vanished.
    steps: (B,), the step at which it did.
    nearest: (B,), the least |prediction| met from step one on, in units of the labels.
    """

    weights: np.ndarray
    patterns: list[np.ndarray]
    settled: np.ndarray
    steps: np.ndarray
    nearest: np.ndarray

    @property
    def last_flip(self):
        """The last step that changed the pattern, (B,), 0 if none did."""
        last = np.zeros(len(self.settled), dtype=int)
        for step, (before, after) in enumerate(
            zip(self.patterns, self.patterns[1:], strict=False), start=1
        ):
            last[(before != after).any(axis=(1, 2))] = step
        return last


def forward(features, labels, weights, signs, slope_at_zero=0):
    """Return predictions (B, m, n), pattern (B, m, n) and residual (B, n)."""
    predictions = weights @ features.swapaxes(-1, -2)
    pattern = predictions >= 0 if slope_at_zero else predictions > 0
    output = (signs[:, :, None] * pattern * predictions).sum(axis=1)
    return predictions, pattern.astype(bool), output - labels


def descend_in_weights(
    features,
    labels,
    weights,
    step_size,
    signs=None,
    slope_at_zero=0,
    max_steps=5_000,
    tolerance=1e-12,
):
    """Descend from `weights` (B, m, d) on features (B, n, d) until nothing moves.

    signs: (B, m), all +1 by default.   step_size: (B,).
    A problem has settled when its covered residual is at most `tolerance` times the largest
    label, or when a step changes no weight by more than an ulp or so; it then stays put.
    """
    signs = np.ones(weights.shape[:2], dtype=int) if signs is None else signs
    batch = len(labels)
    settled = np.zeros(batch, dtype=bool)
    steps = np.zeros(batch, dtype=int)
    nearest = np.full(batch, np.inf, dtype=labels.dtype)
    largest = abs(labels).max(axis=-1)
    patterns = []
    for step in range(max_steps + 1):
        predictions, pattern, residual = forward(features, labels, weights, signs, slope_at_zero)
        if patterns:
            pattern = np.where(settled[:, None, None], patterns[-1], pattern)
            closest = abs(predictions).reshape(batch, -1).min(axis=-1)
            nearest = np.where(settled, nearest, np.minimum(nearest, closest))
        patterns.append(pattern)
        steps = np.where(settled, steps, step)
        missing = abs(np.where(pattern.any(axis=1), residual, 0)).max(axis=-1)
        gradient = (signs[:, :, None] * pattern * residual[:, None, :]) @ features
        move = step_size[:, None, None] * gradient
        still = abs(move).max(axis=(1, 2)) <= 2e-16 * abs(weights).max(axis=(1, 2))
        settled = settled | (step >= 1) & ((missing <= tolerance * largest) | still).astype(bool)
        if settled.all() or step == max_steps:
            break
        weights = np.where(settled[:, None, None], weights, weights - move)
    return Descent(weights, patterns, settled, steps, nearest)


@dataclass(frozen=True)
class Continuation:
    """What B states do from some step on.

    flipped: (B,), whether the pattern ever differs from the one they started with.
    nearest: (B,), the least distance from zero that a later prediction keeps on its side;
        negative once one has crossed.
    predictions: (B, m, n) in the end.   residual: (B,), the largest one still covered.
    """

    flipped: np.ndarray
    nearest: np.ndarray
    predictions: np.ndarray
    residual: np.ndarray


def continue_in_gram_space(
    gram, labels, predictions, step_size, signs, slope_at_zero=0, steps=300, doublings=0
):
    """Take plain steps β_k ← β_k − η s_k G D_k r from predictions (B, m, n).

    After the plain steps, `doublings` more looks at steps 2, 4, 8, … ahead, as long as the
    pattern of the start stays: the map is linear there, and squares without any spectrum.
    """
    begin = predictions
    signs = signs[:, :, None]
    pattern = None
    nearest = np.full(len(labels), np.inf, dtype=labels.dtype)
    flipped = np.zeros(len(labels), dtype=bool)
    for step in range(steps + 1):
        active = predictions >= 0 if slope_at_zero else predictions > 0
        pattern = active if pattern is None else pattern
        if step:
            flipped |= (active != pattern).any(axis=(1, 2))
            nearest = np.minimum(nearest, _side(predictions, pattern))
        residual = (signs * active * predictions).sum(axis=1) - labels
        if step < steps:
            move = (signs * active * residual[:, None, :]) @ gram
            predictions = predictions - step_size[:, None, None] * move
    if doublings:
        far, closest = _doubled(
            gram, labels, begin, step_size, signs, pattern, doublings
        )
        nearest = np.minimum(nearest, closest)
        flipped |= closest < 0
        predictions = np.where(flipped[:, None, None], predictions, far)
        residual = (signs * pattern * predictions).sum(axis=1) - labels
    covered = pattern.any(axis=1)
    return Continuation(flipped, nearest, predictions, abs(covered * residual).max(axis=-1))


def _side(predictions, pattern):
    return np.where(pattern, predictions, -predictions).min(axis=(1, 2))


def _doubled(gram, labels, predictions, step_size, signs, pattern, doublings):
    """Follow the linear map of one pattern for 2, 4, 8, … steps; return the end and the nearest.

    With A = I − ηM and T_N = Σ_{j<N} A^j: T_2N = T_N + A^N T_N, and the predictions move by
    −η s_k G D_k T_N r.
    """
    active = pattern.astype(gram.dtype)
    interaction = gram * (active.swapaxes(-1, -2) @ active)
    eta = step_size[:, None, None]
    identity = np.broadcast_to(np.eye(gram.shape[-1], dtype=gram.dtype), gram.shape)
    power, total = identity - eta * interaction, identity
    residual = (signs * pattern * predictions).sum(axis=1) - labels
    nearest = np.full(len(labels), np.inf, dtype=labels.dtype)
    ahead = predictions
    for _ in range(doublings):
        total, power = total + power @ total, power @ power
        summed = (total @ (pattern.any(axis=1) * residual)[:, :, None])[:, None, :, 0]
        ahead = predictions - eta * ((signs * pattern * summed) @ gram)
        nearest = np.minimum(nearest, _side(ahead, pattern))
    return ahead, nearest
