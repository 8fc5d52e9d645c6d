"""Gradient descent by automatic differentiation in PyTorch, and the minimum norm by CVXPY."""

from __future__ import annotations

import cvxpy
import numpy as np
import torch
from cvxpy.atoms.sum_squares import sum_squares
from numpy.typing import NDArray

Floats = NDArray[np.float64]

NAME = "PyTorch + CVXPY"

COMPILES = False
"""Whether the first call at a size takes longer than the others."""


def descend(
    features: Floats,
    labels: Floats,
    start: Floats,
    step_size: float,
    tolerance: float = 1e-8,
    max_steps: int = 100_000,
) -> Floats:
    """Return the weights, (d,), when the gradient has shrunk to `tolerance` of the first one."""
    torch.set_num_threads(1)
    x, y = torch.from_numpy(features), torch.from_numpy(labels)
    weights = torch.tensor(start, requires_grad=True)
    first = 0.0
    for step in range(max_steps):
        weights.grad = None
        loss = 0.5 * torch.sum((torch.relu(x @ weights) - y) ** 2)
        loss.backward()
        slope = weights.grad
        assert slope is not None
        with torch.no_grad():
            size = float(torch.linalg.vector_norm(slope))
            first = first if step else size
            if size <= tolerance * first:
                break
            weights -= step_size * slope
    return np.asarray(weights.detach().numpy())


def minimum_norm(features: Floats, labels: Floats) -> Floats:
    """Return w⋆, (d,): least ‖w‖² that fits the positive labels and is ≤ 0 at the others.

    CVXPY chooses the solver itself: OSQP for such a program, which is faster and more exact
    here than the others that come with it.
    """
    weights = cvxpy.Variable(features.shape[1])
    positive = labels > 0
    constraints = [
        features[positive] @ weights == labels[positive],
        features[~positive] @ weights <= 0,
    ]
    cvxpy.Problem(cvxpy.Minimize(sum_squares(weights)), constraints).solve()
    return np.asarray(weights.value)
