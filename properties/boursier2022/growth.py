"""How neurons grow out of a small balanced start on orthogonal inputs, and what they end with.

While all outputs are small, every residual is −y. A neuron of output sign s that is active on the
examples A of its label class, s·y_i > 0, then has

    |v|' = w·g,   w' = |v| g,   g = Σ_A |y_i| x_i,   r = ‖g‖ = √(Σ_A y_i²‖x_i‖²),

so that (|v| + w·g/r)/2 grows as e^{rt}, the other parts shrink, and examples outside A stay
inactive. A neuron that covers its class grows fastest; the others are its rivals.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from verify.relu.dynamics.network import Network

Host = np.ndarray[Any, Any]


def least_half_squared_norm(network: Network) -> Host:
    """Return √(Σ_{S₊} y²/‖x‖²) + √(Σ_{S₋} y²/‖x‖²), (B,): the least ½‖θ‖² of any network that fits
    orthogonal inputs [D].

    Let p_k = ((w_k·x_i)₊/‖x_i‖) over the S₊. On orthogonal inputs ‖w_k‖ ≥ ‖p_k‖, so the neurons of
    v_k > 0 have Σ ½(v_k² + ‖w_k‖²) ≥ Σ v_k‖p_k‖ ≥ ‖Σ v_k p_k‖ ≥ √(Σ_{S₊} y²/‖x‖²), since those of
    v_k < 0 only lower the outputs; and likewise for S₋.
    """
    return np.asarray(_of_classes(network).sum(axis=-1))


def covering(network: Network) -> Host:
    """Return which neurons are active on all examples of their label class at the start, which has
    at least one, (B, m)."""
    own = _label_classes(network)
    seen = network.starting_predictions > 0
    return np.asarray((seen | ~own).all(axis=-1) & own.any(axis=-1))


def estimated_excess(network: Network) -> Host:
    """Return what ½‖θ_∞‖² exceeds the least by, relative to it, (B,): an estimate [H], ∞ where a
    label class has no covering neuron.

    The neurons that cover a class, of amplitudes a = (|v| + w·g/r)/2, fit it when Σ a² e^{2rt} is
    the least norm N of the class. A rival has then come to a_k² (N/Σ a²)^{r_k/r}. Added is ½‖θ_0‖²,
    for what does not grow. Measured in 7,198 certified flows (n ≤ 6, m ≤ 10, start scales from 1e-8
    to 1, lengths and labels equal or not): the excess was .90 times this at most, and where this is
    below 1% it was .5% at most.
    """
    amplitude, rate, fastest = _amplitudes(network)
    covers = covering(network)
    excess = _half_squared_start(network)
    for number, sign in enumerate((1.0, -1.0)):
        mine = network.output_weights * sign > 0
        least = _of_classes(network)[:, number]
        grown = np.sum(np.where(mine & covers, amplitude**2, 0.0), axis=-1)
        growth = least / np.where(grown > 0, grown, 1.0)
        power = np.divide(rate, fastest, out=np.zeros_like(rate), where=fastest > 0)
        rivals = np.where(mine & ~covers, amplitude**2 * growth[:, None] ** power, 0.0)
        excess = excess + np.sum(rivals, axis=-1)
        excess = np.where((least > 0) & (grown == 0), np.inf, excess)
    return np.asarray(excess / least_half_squared_norm(network))


def relative_start(network: Network) -> Host:
    """Return ‖θ_0‖ over the least ‖θ‖ of a network that fits, (B,)."""
    return np.asarray(np.sqrt(_half_squared_start(network) / least_half_squared_norm(network)))


def _half_squared_start(network: Network) -> Host:
    """Return ½‖θ_0‖², (B,)."""
    squares = network.squared_norms(np.zeros_like(network.starting_predictions))
    return np.asarray(np.sum(squares + network.output_weights**2, axis=-1) / 2)


def _label_classes(network: Network) -> Host:
    """Return which examples have labels of the sign of a neuron's output weight, (B, m, n)."""
    return np.asarray(network.output_weights[:, :, None] * network.labels[:, None, :] > 0)


def _of_classes(network: Network) -> Host:
    """Return √(Σ y²/‖x‖²) over S₊ and over S₋, (B, 2)."""
    terms = network.labels**2 / network.lengths**2
    classes = [np.where(sign * network.labels > 0, terms, 0.0) for sign in (1, -1)]
    return np.asarray(np.sqrt(np.stack([np.sum(each, axis=-1) for each in classes], axis=-1)))


def _amplitudes(network: Network) -> tuple[Host, Host, Host]:
    """Return (|v| + w·g/r)/2, r, and the r of the whole label class, (B, m) each."""
    classes, start = _label_classes(network), network.starting_predictions
    terms = (network.labels**2 * network.lengths**2)[:, None, :]
    seen = classes & (start > 0)
    rate = np.sqrt(np.sum(np.where(seen, terms, 0.0), axis=-1))
    fastest = np.sqrt(np.sum(np.where(classes, terms, 0.0), axis=-1))
    along = np.sum(np.where(seen, np.abs(network.labels)[:, None, :] * start, 0.0), axis=-1)
    along = np.divide(along, rate, out=np.zeros_like(rate), where=rate > 0)
    return (np.abs(network.output_weights) + along) / 2, rate, fastest
