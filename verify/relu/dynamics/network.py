"""Shallow networks of any output weights, in the span of the data: start, outputs, balancedness.

    f(x) = Σ_k v_k φ(w_k·x),   φ(z) = max(z, γz),   0 ≤ γ < 1

With w_k = w_k^⊥ + Xᵀα_k (theory §2) the Gram matrix and the starting predictions determine all
that training does, whether it moves the output weights v or not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from verify.arrays import as_array, to_numpy
from verify.errors import InputError
from verify.relu.dynamics.activation import RELU, Activation
from verify.relu.inputs import batched, check_finite, check_symmetric, spread
from verify.relu.problem import HUGE, Problem

Host = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False, repr=False)
class Network:
    """B networks of m neurons at their start, and the n labelled examples that they learn.

    gram: (B, n, n), XXᵀ.   labels: (B, n).   starting_predictions: (B, m, n), the w_k·x_i.
    output_weights: (B, m), the v_k, of either sign.
    perpendicular_gram: (B, m, m), inner products of the parts of the w_k outside the span of the
        data, which never move.
    activation: φ; the ReLU by default. What φ'(0) is does not matter to a flow, but from a start
        exactly on a kink, which `flow_both_layers` takes for one below it.

    On numpy only: gradient flow goes its own number of steps for every network of a batch.
    """

    gram: Host
    labels: Host
    starting_predictions: Host
    output_weights: Host
    perpendicular_gram: Host
    activation: Activation = RELU

    @property
    def batch(self) -> int:
        """Number B of networks."""
        return int(self.gram.shape[0])

    @property
    def examples(self) -> int:
        """Number n of examples."""
        return int(self.gram.shape[-1])

    @property
    def neurons(self) -> int:
        """Number m of neurons."""
        return int(self.output_weights.shape[-1])

    def __repr__(self) -> str:
        return f"Network(batch={self.batch}, examples={self.examples}, neurons={self.neurons})"

    @classmethod
    def from_gram(
        cls,
        gram: Any,
        labels: Any,
        *,
        starting_predictions: Any,
        output_weights: Any,
        perpendicular_gram: Any = None,
        activation: Activation = RELU,
    ) -> Network:
        """Build networks from Gram matrices (n, n), labels (n,), starting predictions (m, n),
        output weights (m,) and perpendicular_gram (m, m), each with a batch axis where wanted.

        Raises InputError for shapes that do not fit, values that are not finite or of a size whose
        products overflow, a Gram matrix
        that is not symmetric positive semi-definite, or starting predictions that no
        weights attain.
        """
        gram = _on_the_host("gram", gram)
        output = _on_the_host("output_weights", output_weights)
        output = batched(output, 1, "output_weights", "(m,)", np)
        check_finite("output_weights", output, np)
        if (largest := float(np.abs(output).max(initial=0.0))) > HUGE:
            raise InputError(
                f"output_weights has the size {largest:.3g}, expected at most {HUGE:g}: beyond, "
                "products overflow; rescale them"
            )
        # What a problem of fixed signs asks of its data and its start is asked here too.
        checked = Problem.from_gram(
            gram,
            labels,
            starting_predictions=starting_predictions,
            signs=np.where(output < 0, -1.0, 1.0),
            perpendicular_gram=perpendicular_gram,
            step_size=1.0,
        )
        network = cls(
            gram=checked.gram,
            labels=checked.labels,
            starting_predictions=checked.starting_predictions,
            output_weights=spread(output, checked.batch, "output_weights", np),
            perpendicular_gram=checked.perpendicular_gram,
            activation=activation,
        )
        check_symmetric(network.perpendicular_gram, np)
        network.__dict__["starting_duals"] = checked.starting_duals
        return network

    @classmethod
    def from_features(
        cls,
        features: Any,
        labels: Any,
        *,
        starting_weights: Any,
        output_weights: Any,
        activation: Activation = RELU,
    ) -> Network:
        """Build networks from features (n, d) and starting weights (m, d); else as `from_gram`."""
        output = _on_the_host("output_weights", output_weights)
        problem = Problem.from_features(
            _on_the_host("features", features),
            labels,
            starting_weights=starting_weights,
            signs=np.where(output < 0, -1.0, 1.0),
            step_size=1.0,
        )
        return cls.from_gram(
            problem.gram,
            problem.labels,
            starting_predictions=problem.starting_predictions,
            output_weights=output,
            perpendicular_gram=problem.perpendicular_gram,
            activation=activation,
        )

    @cached_property
    def starting_duals(self) -> Host:
        """Minimum-norm data-span coefficients of the starting weights, (B, m, n)."""
        return np.asarray(self._as_problem().starting_duals)

    @cached_property
    def lengths(self) -> Host:
        """‖x_i‖, (B, n)."""
        return np.asarray(np.sqrt(np.diagonal(self.gram, axis1=1, axis2=2)))

    @cached_property
    def units(self) -> Host:
        """‖x_i‖, and 1 where x_i is zero, (B, n): what predictions are measured in."""
        return np.asarray(np.where(self.lengths > 0, self.lengths, 1.0))

    @cached_property
    def eigenvalues(self) -> Host:
        """Eigenvalues of the Gram matrices in ascending order, (B, n)."""
        return np.asarray(np.linalg.eigvalsh(self.gram))

    def balanced(self, signs: Any) -> Network:
        """Return the same networks with v_k = s_k‖w_k‖, for output signs (m,) or (B, m)."""
        norms = np.sqrt(self.squared_norms(np.zeros_like(self.starting_predictions)))
        return replace(self, output_weights=np.asarray(signs, float) * norms)

    def squared_norms(self, change: Host) -> Host:
        """Return ‖w_k‖², (B, m), of weights whose coefficients gained `change`, (B, m, n)."""
        duals = self.starting_duals + change
        inside = np.sum(duals * (duals @ self.gram), axis=-1)
        outside = np.diagonal(self.perpendicular_gram, axis1=1, axis2=2)
        return np.asarray(np.maximum(inside + outside, 0.0))

    def weight_gram(self, change: Host) -> Host:
        """Return WWᵀ, (B, m, m), of weights whose coefficients gained `change`, (B, m, n)."""
        duals = self.starting_duals + change
        return np.asarray(duals @ self.gram @ duals.swapaxes(1, 2) + self.perpendicular_gram)

    def predictions(self, change: Host) -> Host:
        """Return w_k·x_i, (B, m, n), of weights whose coefficients gained `change`, (B, m, n)."""
        return np.asarray(self.starting_predictions + change @ self.gram)

    def activate(self, predictions: Host) -> Host:
        """Return φ(w_k·x_i), (B, m, n)."""
        return np.asarray(self.activation.value(predictions))

    def output(self, predictions: Host, output_weights: Host | None = None) -> Host:
        """Return the outputs f(x_i), (B, n), by default with the starting output weights."""
        v = self.output_weights if output_weights is None else output_weights
        return np.asarray(np.sum(v[:, :, None] * self.activate(predictions), axis=1))

    def select(self, index: Host) -> Network:
        """Return the networks at the integer positions `index`, (K,), as a batch of K."""
        arrays = {name: getattr(self, name)[index] for name in _BATCHED}
        chosen = replace(self, **arrays)
        for name in ("starting_duals", "lengths", "units", "eigenvalues"):
            if name in self.__dict__:
                chosen.__dict__[name] = self.__dict__[name][index]
        return chosen

    def _as_problem(self) -> Problem:
        signs = np.where(self.output_weights < 0, -1.0, 1.0)
        return Problem.from_gram(
            self.gram,
            self.labels,
            starting_predictions=self.starting_predictions,
            signs=signs,
            step_size=1.0,
        )


def _on_the_host(name: str, values: Any) -> Host:
    """Return values as a numpy array of real numbers in double precision."""
    return np.asarray(to_numpy(as_array(name, values)), dtype=np.float64)


_BATCHED = ("gram", "labels", "starting_predictions", "output_weights", "perpendicular_gram")


def require_network(network: Any) -> None:
    """Raise InputError for what is no Network, such as a Problem of fixed output signs."""
    if not isinstance(network, Network):
        raise InputError(
            f"network is a {type(network).__name__}, expected a Network of verify.relu.dynamics; "
            "for a Problem there are descend and flow"
        )
