"""Compiled gradient descent in JAX, and the minimum norm by accelerated projected gradients.

The minimum norm is found in its dual, w⋆ = Xᵀα with α ≤ 0 off the positive labels, which has n
unknowns in place of d: what one who knows convex duality would write.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

NAME = "JAX"

COMPILES = True
"""Whether the first call at a size takes longer than the others."""

jax.config.update("jax_enable_x64", True)


def descend(
    features: Floats,
    labels: Floats,
    start: Floats,
    step_size: float,
    tolerance: float = 1e-8,
    max_steps: int = 100_000,
) -> Floats:
    """Return the weights, (d,), when the gradient has shrunk to `tolerance` of the first one."""
    return np.asarray(_descend(features, labels, start, step_size, tolerance, max_steps))


def minimum_norm(
    features: Floats, labels: Floats, tolerance: float = 1e-10, max_steps: int = 100_000
) -> Floats:
    """Return w⋆, (d,): least ‖w‖² that fits the positive labels and is ≤ 0 at the others."""
    return np.asarray(_minimum_norm(features, labels, tolerance, max_steps))


@partial(jax.jit, static_argnames=("max_steps",))
def _descend(x: Any, y: Any, start: Any, step_size: Any, tolerance: Any, max_steps: int) -> Any:
    def loss(weights: Any) -> Any:
        return 0.5 * jnp.sum((jnp.maximum(x @ weights, 0.0) - y) ** 2)

    gradient = jax.grad(loss)
    first = gradient(start)
    enough = tolerance * jnp.linalg.norm(first)

    def step(state: Any) -> Any:
        weights, slope, count = state
        weights = weights - step_size * slope
        return weights, gradient(weights), count + 1

    def unfinished(state: Any) -> Any:
        return (jnp.linalg.norm(state[1]) > enough) & (state[2] < max_steps)

    return jax.lax.while_loop(unfinished, step, (start, first, 0))[0]


@partial(jax.jit, static_argnames=("max_steps",))
def _minimum_norm(x: Any, y: Any, tolerance: Any, max_steps: int) -> Any:
    """Minimise ½αᵀGα − bᵀα, b = max(y, 0), over α ≤ 0 off the positive labels (FISTA)."""
    gram = x @ x.T
    positive = y > 0
    target = jnp.where(positive, y, 0.0)
    step_size = 1.0 / jnp.linalg.norm(gram, ord=2)

    def projected(duals: Any) -> Any:
        return jnp.where(positive, duals, jnp.minimum(duals, 0.0))

    def step(state: Any) -> Any:
        duals, ahead, momentum, _, count = state
        moved = projected(ahead - step_size * (gram @ ahead - target))
        following = 0.5 * (1.0 + jnp.sqrt(1.0 + 4.0 * momentum**2))
        change = moved - duals
        uphill = jnp.vdot(ahead - moved, change) > 0
        following = jnp.where(uphill, 1.0, following)
        push = jnp.where(uphill, 0.0, (momentum - 1.0) / following)
        size = jnp.linalg.norm(change) / jnp.linalg.norm(moved)
        return moved, moved + push * change, following, size, count + 1

    def unfinished(state: Any) -> Any:
        return (state[3] > tolerance) & (state[4] < max_steps)

    nothing = jnp.zeros_like(y)
    start = (nothing, nothing, 1.0, jnp.inf, 0)
    return jax.lax.while_loop(unfinished, step, start)[0] @ x
