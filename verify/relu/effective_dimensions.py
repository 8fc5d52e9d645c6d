"""Effective dimensions, of a law or as realised, and what they predict about freezing.

Work of order n² runs on the namespace of the problem's arrays; every result of shape (B,)
is a numpy array on the host, because statistics happen there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from verify.arrays import Array, array_namespace, to_numpy
from verify.errors import InputError
from verify.tolerances import SINGULAR_BELOW

if TYPE_CHECKING:
    from verify.relu.problem import Problem

Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class EffectiveDimensions:
    """Sizes of the eigenvalues λ ∈ R^d of the features' covariance (theory §1).

    Each field is a float, shared by all problems of a batch, or a numpy array (B,).

    dimension: d; NaN where only a Gram matrix is known.
    trace: τ = ‖λ‖₁, in squared units of a feature.
    d_2: ‖λ‖₁²/‖λ‖₂².   d_inf: ‖λ‖₁/‖λ‖_∞.   Both dimensionless, both d when isotropic.
    """

    dimension: float | Values
    trace: float | Values
    d_2: float | Values
    d_inf: float | Values

    def broadcast(self, batch: int) -> EffectiveDimensions:
        """Return the same numbers with every field of shape (batch,)."""
        return self._each(lambda value: np.full(batch, value, dtype=np.float64))

    def select(self, index: Any) -> EffectiveDimensions:
        """Return the entries at the integer positions `index`; shared floats stay as they are."""
        return self._each(lambda value: value if np.ndim(value) == 0 else np.asarray(value)[index])

    def _each(self, change: Any) -> EffectiveDimensions:
        fields = (self.dimension, self.trace, self.d_2, self.d_inf)
        return EffectiveDimensions(*map(change, fields))


def realised(problem: Problem) -> EffectiveDimensions:
    """Plug-in effective dimensions of each problem's own features (theory §1), (B,) each.

    τ ≈ tr(G)/n, ‖λ‖₂² ≈ mean of G_ij² over i ≠ j. They assume features of mean zero: a large
    common mean shows up as a small d_2. d_∞ ≈ τ/(λ_max(G)/n) is a rough bound, no estimate:
    it never exceeds n, however large the true d_∞ is. The dimension is NaN without features.
    d_2 is infinite for orthogonal examples and NaN for a Gram matrix of zeros.

    Raises InputError for n < 2.
    """
    n = problem.examples
    if n < 2:
        raise InputError(
            f"n={n}, expected n >= 2 to estimate effective dimensions; pass the law instead"
        )
    xp = array_namespace(problem.gram)
    off = _off_diagonal(problem.gram)
    square = to_numpy(xp.sum(off * off, axis=(-2, -1))) / (n * (n - 1.0))
    trace = to_numpy(xp.mean(xp.linalg.diagonal(problem.gram), axis=-1))
    largest = to_numpy(problem.eigenvalues)[:, -1]
    with np.errstate(divide="ignore", invalid="ignore"):
        d_2, d_inf = trace * trace / square, trace * n / largest
    dimension = np.nan if problem.features is None else float(problem.features.shape[-1])
    return EffectiveDimensions(np.full(problem.batch, dimension), trace, d_2, d_inf)


def dimensions_of(problem: Problem) -> EffectiveDimensions:
    """Effective dimensions of the law where the problem knows it, else as `realised`; (B,) each."""
    return realised(problem) if problem.law is None else problem.law.broadcast(problem.batch)


def coherence(problem: Problem) -> Values:
    """Largest |cosine| between two examples, max_{i≠j} |G_ij|/√(G_ii G_jj), (B,).

    In [0, 1]; 0 for a single example. A zero example is orthogonal to all others.
    """
    xp = array_namespace(problem.gram)
    norms = xp.sqrt(xp.linalg.diagonal(problem.gram))
    scale = norms[:, :, None] * norms[:, None, :]
    cosines = _off_diagonal(problem.gram) / xp.where(scale > 0, scale, xp.ones_like(scale))
    return np.asarray(to_numpy(xp.max(xp.abs(cosines), axis=(-2, -1))))


def conditioning(problem: Problem) -> Values:
    """λ_max(G)/λ_min(G), (B,), dimensionless; infinite where G is numerically singular."""
    values = to_numpy(problem.eigenvalues)
    low, high = values[:, 0], values[:, -1]
    regular = low > SINGULAR_BELOW * problem.examples * high
    return np.where(regular, high / np.where(regular, low, 1.0), np.inf)


def solve_error(problem: Problem) -> Values:
    """Bound on the relative rounding error of a solution of Gα = b, (B,): `Gram.solve_error`."""
    return np.asarray(to_numpy(problem.inner_products.solve_error))


def relative_step(problem: Problem) -> Values:
    """Relative step size c = ητ, (B,), dimensionless, with τ of `dimensions_of`."""
    return np.asarray(to_numpy(problem.step_size) * dimensions_of(problem).trace)


def gram_deviation(problem: Problem) -> Values:
    """δ = ‖G/τ − I‖₂, (B,), dimensionless, with τ of `dimensions_of` (theory §6, [D])."""
    trace = np.asarray(dimensions_of(problem).trace)
    with np.errstate(divide="ignore", invalid="ignore"):
        shifted = to_numpy(problem.eigenvalues) / trace[:, None] - 1.0
    return np.asarray(np.max(np.abs(shifted), axis=-1))


def regime_index_from(
    examples: int, d_2: Any, relative_step: Any, least_square: Any, mean_square: Any
) -> Values:
    """H = c² d_2 y_min² / (n·log n·(1+c²)·mean(y²)) [H: our heuristic, theory §7], dimensionless.

    least_square is y_min², mean_square the mean of y². NaN where all labels are zero, or where the
    examples are orthogonal and a label is zero.

    Raises InputError for n < 2, where log n vanishes.
    """
    if examples < 2:
        raise InputError(f"n={examples}, expected n >= 2 for the regime index")
    c_squared = np.square(relative_step)
    weight = c_squared * d_2 / (examples * np.log(examples) * (1.0 + c_squared))
    with np.errstate(invalid="ignore"):
        ratio = np.asarray(least_square, dtype=np.float64) / np.asarray(mean_square)
        return np.asarray(weight * ratio)


def regime_index(problem: Problem) -> Values:
    """Regime index H of each problem [H: our heuristic, theory §7], (B,), dimensionless.

    Large H predicts that from step one on every neuron is active exactly on its label class
    (positive start; one neuron, or two of opposite sign). One neuron: measured frequencies are
    mostly ≥ .45 at H = 1, ≥ .93 at 2, ≥ .97 at 4, and anything from 0 to .97 at ¼. Meant for
    n ≥ 10, .2 ≤ c ≤ 1.2 and a d_∞ that no single spike keeps small.

    Raises InputError where neurons share an output sign, and for n < 2.
    """
    problem.require_one_neuron_a_class(f"regime_index {_ABOUT_CLASSES}")
    squares = to_numpy(problem.labels) ** 2
    return regime_index_from(
        problem.examples,
        dimensions_of(problem).d_2,
        relative_step(problem),
        np.min(squares, axis=-1),
        np.mean(squares, axis=-1),
    )


def freezing_probability(problem: Problem) -> Values:
    """Predicted probability that every neuron is active exactly on its label class from step one
    on [H: our heuristic, theory §7].

    P̂ = ∏_k ∏_{off C}[1 − Q(√d_2·(c·s_k·r⁰_i − β⁰_{k,i})/√(‖y_C‖² + c²‖y_off‖²))] ·
    ∏_C[1 − Q(√d_2·|y_i|/‖y‖)], with C the label class of neuron k, r⁰ the residual at the start
    and Q the upper tail of the standard normal; over the draw of the features, given labels and
    start. (B,), meant for c < 1; NaN where all labels are zero, or where the examples are
    orthogonal and a reach is zero. One neuron, isotropic features, 94 cells: root-mean-square
    error .06, largest .22.

    Raises InputError where neurons share an output sign, and unless the start is positive.
    """
    from scipy.special import log_ndtr

    problem.require_one_neuron_a_class(f"freezing_probability {_ABOUT_CLASSES}")
    start = to_numpy(problem.starting_predictions)
    if not np.all(start > 0):
        raise InputError(
            f"starting_predictions has the value {np.min(start):g}, expected positive ones: "
            "freezing_probability predicts nothing for other starts"
        )
    signs, labels = to_numpy(problem.signs)[:, :, None], to_numpy(problem.labels)[:, None, :]
    classes = to_numpy(problem.label_classes)
    c = relative_step(problem)[:, None, None]
    root_d_2 = np.sqrt(dimensions_of(problem).d_2)[:, None, None]
    residual = np.sum(signs * start, axis=1, keepdims=True) - labels
    own = np.sum(np.where(classes, labels, 0.0) ** 2, axis=-1, keepdims=True)
    off = np.sum(np.where(classes, 0.0, labels) ** 2, axis=-1, keepdims=True)
    some = own + off > 0
    reach = np.where(classes, np.abs(labels), c * signs * residual - start)
    noise = np.sqrt(own + np.where(classes, 1.0, c * c) * off)
    with np.errstate(invalid="ignore"):
        factors = log_ndtr(root_d_2 * reach / np.where(some, noise, 1.0))
    known = some[:, 0, 0]
    return np.where(known, np.exp(np.sum(factors, axis=(1, 2))), np.nan)


def _off_diagonal(gram: Array) -> Array:
    """Return the Gram matrices with their diagonals set to zero, (B, n, n)."""
    xp = array_namespace(gram)
    identity = xp.eye(gram.shape[-1], dtype=gram.dtype, device=gram.device)
    return gram * (1.0 - identity)


_ABOUT_CLASSES = "is about neurons that do not share an output sign"
