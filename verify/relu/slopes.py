"""Slopes of the neurons on the examples: what gradient descent sees of a pattern (theory §2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from verify.arrays import Array, array_namespace


@dataclass(frozen=True, eq=False)
class Slopes:
    """The diagonals of the D_k: 1 where the pattern is set, γ elsewhere, φ(z) = max(z, γz).

    pattern: (B, m, n).   below: γ in [0, 1), dimensionless; 0 is the ReLU.

    An example is *covered* by the neurons that have a slope on it: only those move with its
    residual. Where γ > 0 they all do.
    """

    pattern: Array
    below: float = 0.0

    def times(self, values: Array) -> Array:
        """Return D_k v of values v, (B, m, n) or broadcastable."""
        xp = array_namespace(values)
        off = self.below * values if self.below else xp.zeros_like(values)
        return xp.where(self.pattern, values, off)

    def numbers(self, like: Array) -> Array:
        """Return the slopes as numbers of the type of `like`, (B, m, n)."""
        xp = array_namespace(like)
        active = xp.astype(self.pattern, like.dtype)
        return active + self.below * (1 - active) if self.below else active

    @cached_property
    def somewhere(self) -> Array:
        """Mask of the examples that each neuron has a slope on, (B, m, n)."""
        return self.pattern | ~self.pattern if self.below else self.pattern

    @cached_property
    def covered(self) -> Array:
        """Mask of the examples that at least one neuron has a slope on, (B, n)."""
        mask = self.somewhere
        return mask[:, 0, :] if mask.shape[1] == 1 else array_namespace(mask).any(mask, axis=1)

    def crowd(self, like: Array) -> Array:
        """Return S_ii = Σ_k d_{k,i}², the neurons on each example, (B, n)."""
        numbers = self.numbers(like)
        return over_neurons(numbers * numbers if self.below else numbers)

    def least_crowd(self, like: Array) -> Array | float:
        """Return a lower bound on S_ii over the covered examples, (B,): 1 for the ReLU."""
        if not self.below:
            return 1.0
        return array_namespace(like).min(self.crowd(like), axis=-1)

    def interaction(self, gram: Array) -> Array:
        """Return M = Σ_k D_k G D_k = G ∘ S, (B, n, n), S_ij = Σ_k d_{k,i} d_{k,j}."""
        numbers = self.numbers(gram)
        return gram * (array_namespace(gram).matrix_transpose(numbers) @ numbers)


def over_neurons(values: Array) -> Array:
    """Return the sum over the neurons of (B, m, n), (B, n)."""
    return values[:, 0, :] if values.shape[1] == 1 else array_namespace(values).sum(values, axis=1)
