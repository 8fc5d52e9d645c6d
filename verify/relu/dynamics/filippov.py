"""What keeps a prediction on its kink where both sides lead towards it (Filippov 1988, §4) [D].

On one side of every kink the vector field of a network is smooth. Where the fields of both sides
lead towards a kink, the solution stays on it: the slope there takes the value s in [γ, 1] that
keeps the prediction at zero, for as long as there is one. With z = s·g for the examples S that a
neuron holds, g the pull on the outputs, and h = φ'·g for the others,

    (G(h + z))_S = 0,   z = −G_SS⁻¹ G_S· h.

Gradient descent chatters there instead, and its average tends to the same as its step vanishes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Host = np.ndarray[Any, Any]


def keeping_at_zero(gram: Host, held: Host) -> Host:
    """Return −G_SS⁻¹ G_S·, from h to z, (K, n, n), rows zero off S, of K neurons.

    gram: (K, n, n).   held: (K, n), masks of S.
    Raises LinAlgError where held examples are linearly dependent: z is then not unique.
    """
    inside = held[:, :, None] & held[:, None, :]
    size = np.mean(np.diagonal(gram, axis1=1, axis2=2), axis=-1)[:, None, None]
    factor = np.linalg.cholesky(np.where(inside, gram, size * np.eye(gram.shape[-1])))
    right = np.where(held[:, :, None], -gram, 0.0)
    return np.asarray(np.linalg.solve(factor.swapaxes(1, 2), np.linalg.solve(factor, right)))
