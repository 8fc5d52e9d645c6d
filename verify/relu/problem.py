"""A batch of shallow ReLU regression problems, reduced to what gradient descent can see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod, sqrt
from typing import Any

from verify.arrays import Array, Backend, array_namespace, as_array, to_numpy
from verify.errors import InputError
from verify.relu.effective_dimensions import EffectiveDimensions
from verify.relu.gram import Gram
from verify.relu.inputs import (
    as_double,
    batch_of,
    batched,
    beside,
    check_finite,
    check_symmetric,
    spread,
)
from verify.tolerances import SINGULAR_BELOW, summation


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """B problems with n examples and m neurons of fixed output signs (theory §1–2).

    The model is f(x) = Σ_k s_k max(w_k·x, 0), the loss ½ Σ_i (f(x_i) − y_i)², trained by
    full-batch gradient descent. Gram matrix and starting predictions determine the
    dynamics whatever the dimension is; the parts of the starting weights outside the span
    of the data never move, and only their inner products matter, for norms and gaps.

    inner_products: XXᵀ, as a `Gram`.   labels: (B, n).
    starting_predictions: (B, m, n), the w_k·x_i.
    signs: (B, m), the s_k ∈ {−1, +1}.   step_size: (B,).
    perpendicular_gram: (B, m, m), inner products of the parts outside the span of the data.
    slope_at_zero: 0 or 1, the derivative of the activation at zero.
    law: effective dimensions of the law that the features were drawn from, where known.
    features, starting_weights: (B, n, d) and (B, m, d) where the caller has them, or None.
    starting_rounding: (B, m, n), a bound on the rounding error of the starting predictions, where
        they were computed from weights; None where they are what was given.
    """

    inner_products: Gram
    labels: Array
    starting_predictions: Array
    signs: Array
    step_size: Array
    perpendicular_gram: Array
    slope_at_zero: int = 0
    law: EffectiveDimensions | None = None
    features: Array | None = None
    starting_weights: Array | None = None
    starting_rounding: Array | None = None

    def __post_init__(self) -> None:
        if self.inner_products.factor is None:
            self.__dict__["gram"] = self.inner_products.given  # so that facts of a problem show it

    @cached_property
    def gram(self) -> Array:
        """XXᵀ, (B, n, n); formed here where the problem was drawn through a factor."""
        return self.inner_products.dense

    @property
    def batch(self) -> int:
        """Number B of problems."""
        return int(self.labels.shape[0])

    @property
    def examples(self) -> int:
        """Number n of examples."""
        return int(self.labels.shape[-1])

    @property
    def neurons(self) -> int:
        """Number m of neurons."""
        return int(self.starting_predictions.shape[1])

    def __repr__(self) -> str:
        return f"Problem(batch={self.batch}, examples={self.examples}, neurons={self.neurons})"

    @property
    def eigenvalues(self) -> Array:
        """Eigenvalues of the Gram matrices in ascending order, (B, n)."""
        return self.inner_products.eigenvalues

    @cached_property
    def starting_duals(self) -> Array:
        """Minimum-norm data-span coefficients G⁺β⁰ of the starting weights, (B, m, n)."""
        return _least_duals(self.inner_products, self.starting_predictions)

    @property
    def positives(self) -> Array:
        """Mask of the examples with a positive label, (B, n)."""
        return self.labels > 0

    @property
    def label_classes(self) -> Array:
        """Mask of the examples whose label has the neuron's output sign, s_k y_i > 0, (B, m, n)."""
        return self.signs[:, :, None] * self.labels[:, None, :] > 0

    def output(self, predictions: Array) -> Array:
        """Return the model's outputs Σ_k s_k max(β_k, 0) for predictions (B, m, n), (B, n)."""
        xp = array_namespace(predictions)
        active = xp.where(predictions > 0, predictions, xp.zeros_like(predictions))
        return xp.sum(self.signs[:, :, None] * active, axis=1)

    @property
    def one_neuron_a_class(self) -> bool:
        """Whether no two neurons share an output sign: one neuron, or two of opposite sign."""
        if self.neurons != 2:
            return self.neurons == 1
        signs = to_numpy(self.signs)
        return bool((signs[:, 0] != signs[:, 1]).all())

    def require_one_neuron_a_class(self, why: str) -> None:
        """Raise InputError, which says why it matters, where neurons share an output sign."""
        if not self.one_neuron_a_class:
            raise InputError(
                f"problem has m={self.neurons} neurons, expected one, or two with signs (1, -1): "
                f"{why}"
            )

    def select(self, index: Array) -> Problem:
        """Return the problems at the integer positions `index`, (K,), as a batch of K."""
        xp = array_namespace(self.labels)

        def rows(array: Array | None) -> Array | None:
            return None if array is None else xp.take(array, index, axis=0)

        arrays: dict[str, Any] = {name: rows(getattr(self, name)) for name in _BATCHED}
        law = None if self.law is None else self.law.select(to_numpy(index))
        chosen = replace(self, inner_products=self.inner_products.take(index), law=law, **arrays)
        if "starting_duals" in self.__dict__:
            chosen.__dict__["starting_duals"] = rows(self.starting_duals)
        return chosen

    def without_features(self) -> Problem:
        """Return the same problems in Gram space alone, with what is computed already."""
        bare = replace(self, features=None, starting_weights=None)
        if "starting_duals" in self.__dict__:
            bare.__dict__["starting_duals"] = self.starting_duals
        return bare

    def to(self, backend: Backend) -> Problem:
        """Return the same problems with their arrays on `backend`."""

        def move(array: Array | None) -> Array | None:
            return None if array is None else backend.asarray(to_numpy(array))

        arrays: dict[str, Any] = {name: move(getattr(self, name)) for name in _BATCHED}
        return replace(self, inner_products=self.inner_products.to(backend), **arrays)

    @classmethod
    def from_features(
        cls,
        features: Array,
        labels: Array,
        *,
        step_size: Any,
        starting_weights: Array | None = None,
        starting_predictions: Array | None = None,
        signs: Sequence[int] | Array = (1,),
        slope_at_zero: int = 0,
        law: EffectiveDimensions | None = None,
    ) -> Problem:
        """Build problems from features (n, d) or (B, n, d) and labels (n,) or (B, n).

        Give either starting_weights (m, d) or starting_predictions (m, n), with a leading
        batch axis where wanted; starting predictions mean starting weights in the span of
        the data. step_size is a number or (B,); signs (m,) or (B, m).

        Raises InputError for shapes that do not fit, values that are not finite, a step that
        is not positive, signs other than ±1, or starting predictions that no weights attain.
        """
        features = as_array("features", features)
        xp = array_namespace(features)
        features = batched(as_double(features, xp), 2, "features", "(n, d)", xp)
        if 0 in features.shape:
            raise InputError(
                f"features has shape {tuple(features.shape)}, expected at least one problem, one "
                "example and one feature"
            )
        check_finite("features", features, xp)
        if float(xp.max(xp.abs(features))) > HUGE**0.5:
            raise InputError(
                f"features reach beyond {HUGE**0.5:g}, where their Gram matrix overflows: rescale "
                "them by s and the step by 1/s², which changes nothing else"
            )
        if (starting_weights is None) == (starting_predictions is None):
            raise InputError(
                "starting_weights and starting_predictions: expected exactly one of the two; "
                "pass starting_predictions for a start in the span of the data"
            )
        gram = features @ xp.matrix_transpose(features)
        if starting_weights is None:
            return _checked(
                cls,
                gram,
                labels,
                starting_predictions,
                signs,
                step_size,
                None,
                slope_at_zero,
                law,
                features,
                None,
            )
        weights = batched(
            beside("starting_weights", starting_weights, features, xp),
            2,
            "starting_weights",
            "(m, d)",
            xp,
        )
        if weights.shape[-1] != features.shape[-1]:
            raise InputError(
                f"starting_weights has d={weights.shape[-1]}, expected d={features.shape[-1]} "
                "as in features; pass one row a neuron, shape (m, d)"
            )
        check_finite("starting_weights", weights, xp)
        batch = max(int(features.shape[0]), int(weights.shape[0]))
        weights = spread(weights, batch, "starting_weights", xp)
        predictions = weights @ xp.matrix_transpose(features)
        duals = _least_duals(Gram(spread(gram, batch, "features", xp)), predictions)
        perpendicular = weights - duals @ features
        lengths = xp.sqrt(xp.linalg.diagonal(gram))
        rounding = _rounding_of_products(weights, features, lengths)
        problem = _checked(
            cls,
            gram,
            labels,
            predictions,
            signs,
            step_size,
            perpendicular @ xp.matrix_transpose(perpendicular),
            slope_at_zero,
            law,
            features,
            weights,
        )
        return replace(
            problem, starting_rounding=spread(rounding, problem.batch, "starting_weights", xp)
        )

    @classmethod
    def from_gram(
        cls,
        gram: Array,
        labels: Array,
        *,
        starting_predictions: Array,
        step_size: Any,
        signs: Sequence[int] | Array = (1,),
        perpendicular_gram: Array | None = None,
        slope_at_zero: int = 0,
        law: EffectiveDimensions | None = None,
    ) -> Problem:
        """Build problems from Gram matrices (n, n) or (B, n, n); else as `from_features`.

        Raises InputError as `from_features`, and for a Gram matrix that is not symmetric
        positive semi-definite.
        """
        return _checked(
            cls,
            gram,
            labels,
            starting_predictions,
            signs,
            step_size,
            perpendicular_gram,
            slope_at_zero,
            law,
            None,
            None,
        )


def _rounding_of_products(weights: Array, features: Array, lengths: Array) -> Array:
    """Return a bound on the rounding error of WXᵀ, (B, m, n); 0 where none can occur.

    lengths: (B, n), those of the examples: Σ_j |w_j x_j| ≤ ‖w‖‖x‖. Small problems of whole
    multiples of 2⁻²⁰ are meant as they are: products of these are whole multiples of 2⁻⁴⁰, and
    their sums exact below 2⁵³ of them.
    """
    xp = array_namespace(weights, features)
    terms = xp.linalg.vector_norm(weights, axis=-1)[:, :, None] * lengths[:, None, :]
    rounding = summation(int(features.shape[-1]), terms) * terms
    if prod(features.shape) > _SMALL:
        return rounding
    unit = 2.0**20
    whole = [
        xp.all(values * unit == xp.round(values * unit), axis=(1, 2))
        for values in (weights, features)
    ]
    exact = whole[0] & whole[1] & (xp.max(terms, axis=(1, 2)) * unit * unit < 2.0**53)
    return xp.where(exact[:, None, None], xp.zeros_like(rounding), rounding)


_SMALL = 1 << 14
"""Entries of features up to which a batch is looked through for small fractions."""

_BATCHED = (
    "labels",
    "starting_predictions",
    "signs",
    "step_size",
    "perpendicular_gram",
    "features",
    "starting_weights",
    "starting_rounding",
)


def _checked(
    cls: type[Problem],
    gram: Array,
    labels: Array,
    starting_predictions: Array,
    signs: Any,
    step_size: Any,
    perpendicular_gram: Array | None,
    slope_at_zero: int,
    law: EffectiveDimensions | None,
    features: Array | None,
    starting_weights: Array | None,
) -> Problem:
    """Validate, give every array its batch axis and its full size, and build the problem."""
    gram = as_array("gram", gram)
    xp = array_namespace(gram)
    gram = batched(as_double(gram, xp), 2, "gram", "(n, n)", xp)
    labels = batch_of("labels", labels, gram, 1, "(n,)", xp)
    predictions = batched(
        beside("starting_predictions", starting_predictions, gram, xp),
        2,
        "starting_predictions",
        "(m, n)",
        xp,
    )
    signs = batch_of("signs", signs, gram, 1, "(m,)", xp)
    step = xp.reshape(beside("step_size", step_size, gram, xp), (-1,))
    n, m = int(gram.shape[-1]), int(predictions.shape[1])
    if gram.shape[-2] != n or n == 0:
        raise InputError(f"gram has shape {tuple(gram.shape)}, expected (B, n, n) with n >= 1")
    if labels.shape[-1] != n:
        raise InputError(f"labels has n={labels.shape[-1]}, expected n={n}, one label an example")
    if predictions.shape[-1] != n or m == 0:
        raise InputError(
            f"starting predictions have m={m}, n={predictions.shape[-1]}, expected m >= 1, n={n}: "
            "pass one row a neuron, shape (m, n)"
        )
    if signs.shape[-1] != m:
        raise InputError(
            f"signs has m={signs.shape[-1]}, expected m={m}, one sign a row of the start; "
            "pass signs=(1,) for one neuron, (1, -1) for two"
        )
    perpendicular = (
        xp.zeros((1, m, m), dtype=gram.dtype, device=gram.device)
        if perpendicular_gram is None
        else batched(
            beside("perpendicular_gram", perpendicular_gram, gram, xp),
            2,
            "perpendicular_gram",
            "(m, m)",
            xp,
        )
    )
    if tuple(perpendicular.shape[-2:]) != (m, m):
        raise InputError(
            f"perpendicular_gram has shape {tuple(perpendicular.shape)}, expected (B, m, m) "
            f"with m={m}: inner products of the parts of the start outside the span of the data"
        )
    named = {
        "gram": gram,
        "labels": labels,
        "starting_predictions": predictions,
        "signs": signs,
        "step_size": step,
        "perpendicular_gram": perpendicular,
    }
    batch = max(int(array.shape[0]) for array in named.values())
    for name, array in named.items():
        check_finite(name, array, xp)
    if not bool(xp.all(step > 0)):
        raise InputError(f"step_size={step_size} is not positive; try 0.5 / mean(diag(gram))")
    if not bool(xp.all(xp.abs(signs) == 1)):
        raise InputError("signs has a value other than -1 and +1, the fixed output signs")
    if slope_at_zero not in (0, 1):
        raise InputError(f"slope_at_zero={slope_at_zero!r}, expected 0 or 1")
    check_symmetric(gram, xp)
    named["gram"] = (gram + xp.matrix_transpose(gram)) / 2
    full = {name: spread(array, batch, name, xp) for name, array in named.items()}
    problem = cls(
        Gram(full.pop("gram")),
        **full,
        slope_at_zero=slope_at_zero,
        law=law,
        features=None if features is None else spread(features, batch, "features", xp),
        starting_weights=None
        if starting_weights is None
        else spread(starting_weights, batch, "starting_weights", xp),
    )
    _check_magnitude(problem, xp)
    _check_semidefinite(problem, xp)
    if starting_weights is None:
        _check_attainable(problem, xp)
    return problem


def _check_magnitude(problem: Problem, xp: Any) -> None:
    """Refuse numbers whose products leave the range of doubles: the problem has no scale."""
    sizes = {
        "gram": problem.inner_products.diagonal,
        "labels": problem.labels,
        "step_size times gram": problem.step_size[:, None] * problem.inner_products.diagonal,
        "starting_predictions": problem.starting_predictions,
    }
    for name, array in sizes.items():
        largest = float(xp.max(xp.abs(array)))
        if largest > HUGE or 0 < largest < 1 / HUGE:
            raise InputError(
                f"{name} has the size {largest:.3g}, expected between {1 / HUGE:g} and {HUGE:g}: "
                "rescale features by s, the step by 1/s² and labels and start by t, which changes "
                "nothing else"
            )


HUGE = 1e100
"""The largest size of any number of a problem: their products then stay within doubles."""


def require_problem(problem: Any) -> None:
    """Raise InputError for what is no Problem, such as a Network of `verify.relu.dynamics`."""
    if not isinstance(problem, Problem):
        raise InputError(
            f"problem is a {type(problem).__name__}, expected a Problem of verify.relu; for a "
            "Network there are flow_both_layers, descend_both_layers, flow_logistic and "
            "descend_logistic"
        )


def _check_semidefinite(problem: Problem, xp: Any) -> None:
    scale = xp.max(xp.abs(problem.gram), axis=(-2, -1))
    lowest, _ = problem.inner_products.range
    if bool(xp.any(lowest < -1e-10 * scale * problem.examples)):
        raise InputError(
            f"gram has the eigenvalue {float(xp.min(lowest)):.3g}, expected a positive "
            "semi-definite matrix X @ X.T"
        )


def _check_attainable(problem: Problem, xp: Any) -> None:
    """Refuse starting predictions outside the range of a singular Gram matrix."""
    if problem.inner_products.regular or not bool(xp.any(problem.starting_predictions != 0)):
        return
    duals, misfit = _pseudo_solve(problem.gram, problem.starting_predictions)
    problem.__dict__["starting_duals"] = duals
    # Weights w give an eigenvector of eigenvalue λ the share √λ‖w‖ at most.
    if bool(xp.any(misfit > 10 * sqrt(SINGULAR_BELOW * problem.examples))):
        raise InputError(
            "starting_predictions cannot be attained: the Gram matrix is singular (n > d, "
            "duplicated or centred rows) and they lie outside its range; pass starting_weights"
        )


def _least_duals(inner_products: Gram, predictions: Array) -> Array:
    """Return G⁺β of least norm, (B, m, n), for predictions β (B, m, n)."""
    if inner_products.regular:
        return inner_products.solve(predictions)
    return _pseudo_solve(inner_products.dense, predictions)[0]


def _pseudo_solve(gram: Array, right: Array) -> tuple[Array, Array]:
    """Return G⁺b for rows b of `right` (B, m, n), and the relative misfit ‖b − GG⁺b‖/‖b‖ (B, m)."""
    xp = array_namespace(gram)
    values, vectors = xp.linalg.eigh(gram)
    floor = SINGULAR_BELOW * gram.shape[-1] * xp.max(xp.abs(values), axis=-1, keepdims=True)
    kept = values > floor
    inverse = xp.where(kept, 1.0 / xp.where(kept, values, xp.ones_like(values)), 0.0 * values)
    coordinates = right @ vectors
    solution = (coordinates * inverse[:, None, :]) @ xp.matrix_transpose(vectors)
    lost = xp.linalg.vector_norm(
        xp.where(kept[:, None, :], 0.0 * coordinates, coordinates), axis=-1
    )
    size = xp.linalg.vector_norm(right, axis=-1)
    return solution, lost / xp.where(size > 0, size, xp.ones_like(size))
