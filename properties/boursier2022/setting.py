"""What theorems of Boursier, Pillaud-Vivien and Flammarion (2022) share: orthogonal inputs.

The Gram matrix is diagonal, G_ii = ‖x_i‖², of unequal lengths. Coordinates of a point: n examples;
spread, the ratio of the largest to the smallest ‖x_i‖² there can be, log-uniform in [1/spread, 1];
correlation, the cosine of every two inputs, 0 where they are orthogonal; positives, the share of
positive labels, magnitudes uniform in [y_min, 1]. All dimensionless.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from verify.arrays import to_numpy
from verify.claims import Assumption, Status
from verify.margin import Margin
from verify.relu.ensemble import Labels
from verify.space import Axis
from verify.trial import Trial

Host = np.ndarray[Any, Any]

CITATION = (
    "Boursier, Pillaud-Vivien, Flammarion: Gradient flow dynamics of shallow ReLU networks for "
    "square loss and orthogonal inputs. NeurIPS 2022; arXiv 2206.00939"
)

DEFAULTS: Mapping[str, Any] = {"spread": 4.0, "correlation": 0.0, "positives": 0.5, "y_min": 0.5}

SYMBOLS: Mapping[str, str] = {
    "φ": "the ReLU, φ(z) = max(z, 0)",
    "x_i, y_i": "the n examples and their labels; the x_i are orthogonal",
    "G": "XXᵀ, the (n, n) Gram matrix of the features: diagonal, G_ii = ‖x_i‖²",
    "S₊, S₋": "the examples of positive and of negative label",
}

AXES = (
    Axis("spread", 1.0, 16.0, "log", simplest=1.0, meaning="largest over smallest ‖x_i‖²"),
    Axis("positives", 0.0, 1.0, simplest=0.5, meaning="share of positive labels"),
    Axis("y_min", 0.1, 1.0, "log", simplest=1.0, meaning="least |y| (largest is 1)"),
)

CORRELATION = Axis("correlation", 0.0, 0.9, inside=(0.0, 0.0), meaning="cosine of any two inputs")


def draw_data(
    at: Mapping[str, Any], generator: np.random.Generator, trials: int
) -> tuple[Host, Host]:
    """Draw Gram matrices (trials, n, n) and labels (trials, n) at coordinates that leave out none
    of `DEFAULTS`."""
    n, cosine = int(at["n"]), float(at["correlation"])
    for_lengths, for_labels = generator.spawn(2)
    lengths = float(at["spread"]) ** (-for_lengths.random((trials, n)) / 2)
    cosines = np.full((n, n), cosine) + (1 - cosine) * np.eye(n)
    labels = Labels(at["positives"], (at["y_min"], 1.0)).draw(for_labels, n, trials)
    return lengths[:, :, None] * cosines * lengths[:, None, :], labels


_COSINE = 1e-14
"""Cosine of two inputs up to which they count as orthogonal: rounding of unit vectors."""


def inputs_are_orthogonal(trial: Trial) -> Margin:
    """The inputs are orthogonal: |x_i·x_j| ≤ 1e-14 ‖x_i‖‖x_j‖ for i ≠ j, and no x_i is zero."""
    gram = to_numpy(trial.problem.gram)
    squares = np.diagonal(gram, axis1=1, axis2=2)
    lengths = np.sqrt(np.where(squares > 0, squares, 1.0))
    cosines = np.abs(gram) / (lengths[:, :, None] * lengths[:, None, :])
    cosines = np.where(np.eye(gram.shape[-1], dtype=bool), 0.0, cosines).max(axis=(1, 2))
    return Margin(np.where((squares > 0).all(axis=-1), cosines, 2.0), _COSINE)


ORTHOGONAL = Assumption(inputs_are_orthogonal, Status.SUMMARY, axes=("correlation",))
