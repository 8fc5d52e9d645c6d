"""A shallow ReLU regression problem over the rational numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from flint import fmpq, fmpq_mat

from verify.errors import InputError
from verify.relu.exact.definite import coefficients, smallest_pivot
from verify.relu.exact.rational import matrix, rational, texts, trace

Mask = tuple[tuple[bool, ...], ...]
"""For each neuron, which examples: (m, n)."""


@dataclass(frozen=True)
class ExactLaw:
    """Effective dimensions of the law that features were drawn from, as `EffectiveDimensions`.

    Each but the trace may be None: not known, or infinite.
    """

    dimension: fmpq | None
    trace: fmpq
    d_2: fmpq | None
    d_inf: fmpq | None


@dataclass(frozen=True, eq=False, repr=False)
class ExactProblem:
    """One problem as `verify.relu.Problem` states it, over the rational numbers (theory §1–2).

    gram: (n, n), XXᵀ.   labels: n.   start: (m, n), predictions of the starting weights.
    signs: m, the s_k ∈ {−1, +1}.   step_size: η > 0.
    outside: (m, m), inner products of the parts of the starting weights outside the data's span.
    slope_at_zero: 0 or 1, the derivative of the activation at zero.
    features: (n, d), or None.   law: of the features, or None.
    known: what has been computed of this problem, by name, so that it is computed once.
    """

    gram: fmpq_mat
    labels: tuple[fmpq, ...]
    start: fmpq_mat
    signs: tuple[int, ...]
    step_size: fmpq
    outside: fmpq_mat
    slope_at_zero: int = 0
    features: fmpq_mat | None = None
    law: ExactLaw | None = None
    known: dict[str, Any] = field(default_factory=dict)

    @property
    def examples(self) -> int:
        """Number n of examples."""
        return int(self.gram.nrows())

    @property
    def neurons(self) -> int:
        """Number m of neurons."""
        return len(self.signs)

    def __repr__(self) -> str:
        return f"ExactProblem(examples={self.examples}, neurons={self.neurons})"

    @cached_property
    def label_classes(self) -> Mask:
        """Which examples have a label of the neuron's output sign, s_k y_i > 0, (m, n)."""
        return tuple(tuple(sign * label > 0 for label in self.labels) for sign in self.signs)

    @cached_property
    def label_scale(self) -> fmpq:
        """max|y|; 1 where every label is zero."""
        return max(abs(label) for label in self.labels) or fmpq(1)

    @cached_property
    def regular(self) -> bool:
        """Whether the Gram matrix is positive definite."""
        return bool(smallest_pivot(self.gram) > 0)

    @cached_property
    def starting_duals(self) -> fmpq_mat:
        """Minimum-norm data-span coefficients G⁺β⁰ of the starting weights, (m, n).

        Raises InputError where no weights attain the starting predictions.
        """
        found = coefficients(self.gram, self.start)
        if found is None:
            raise InputError(
                f"start={texts(self.start)} is not in the range of the Gram matrix, so no weights "
                "predict it; pass starting_weights, or examples that are linearly independent"
            )
        return found

    @cached_property
    def trace(self) -> fmpq:
        """τ = ‖λ‖₁ of the law, or its plug-in tr(G)/n."""
        return trace(self.gram) / self.examples if self.law is None else self.law.trace

    @cached_property
    def dimension(self) -> fmpq | None:
        """d, of the law or else of the features; None where only a Gram matrix is known."""
        if self.law is not None:
            return self.law.dimension
        return None if self.features is None else fmpq(self.features.ncols())

    def require_attainable(self) -> None:
        """Raise InputError where no weights attain the starting predictions."""
        _ = self.starting_duals

    def is_active(self, prediction: fmpq) -> bool:
        """Whether a neuron with this prediction is active."""
        return bool(prediction >= 0 if self.slope_at_zero else prediction > 0)

    @classmethod
    def from_features(
        cls,
        features: Any,
        labels: Sequence[Any],
        *,
        step_size: Any,
        start: Any = None,
        starting_weights: Any = None,
        signs: Sequence[int] = (1,),
        slope_at_zero: int = 0,
        law: ExactLaw | None = None,
    ) -> ExactProblem:
        """Build a problem from features (n, d) and labels, n: whatever `rational` reads.

        start: (m, n), predictions of starting weights in the span of the data; or
        starting_weights: (m, d). Exactly one of the two.

        Raises InputError as `from_gram`.
        """
        exact = matrix("features", features)
        if (start is None) == (starting_weights is None):
            raise InputError(
                "start and starting_weights: expected exactly one of the two; pass start for "
                "starting predictions of weights in the span of the data"
            )
        gram = exact * exact.transpose()
        if starting_weights is None:
            outside = None
        else:
            weights = matrix("starting_weights", starting_weights)
            if weights.ncols() != exact.ncols():
                raise InputError(
                    f"starting_weights has d={weights.ncols()}, expected d={exact.ncols()} as in "
                    "features; pass one row a neuron"
                )
            start = weights * exact.transpose()
            duals = coefficients(gram, start)
            if duals is None:
                raise ArithmeticError("predictions X w are in the range of the Gram matrix X Xᵀ")
            apart = weights - duals * exact
            outside = apart * apart.transpose()
        return _checked(
            cls, gram, labels, start, signs, step_size, outside, slope_at_zero, exact, law
        )

    @classmethod
    def from_gram(
        cls,
        gram: Any,
        labels: Sequence[Any],
        *,
        start: Any,
        step_size: Any,
        signs: Sequence[int] = (1,),
        outside: Any = None,
        slope_at_zero: int = 0,
        law: ExactLaw | None = None,
    ) -> ExactProblem:
        """Build a problem from a Gram matrix (n, n), labels, n, and starting predictions (m, n).

        Raises InputError for sizes that do not fit, a step that is not positive, signs other than
        ±1, a Gram matrix that is not symmetric and positive semi-definite, or a start that no
        weights attain: all of it decided exactly.
        """
        return _checked(
            cls,
            matrix("gram", gram),
            labels,
            start,
            signs,
            step_size,
            outside,
            slope_at_zero,
            None,
            law,
        )


def _checked(
    cls: type[ExactProblem],
    gram: fmpq_mat,
    labels: Sequence[Any],
    start: Any,
    signs: Sequence[int],
    step_size: Any,
    outside: Any,
    slope_at_zero: int,
    features: fmpq_mat | None,
    law: ExactLaw | None,
) -> ExactProblem:
    """Validate, and build the problem."""
    n, m = int(gram.nrows()), len(signs)
    predictions, step = matrix("start", start), rational(step_size)
    perpendicular = fmpq_mat(m, m) if outside is None else matrix("outside", outside)
    _require_sizes("gram", gram, n, n)
    _require_sizes("start", predictions, m, n)
    _require_sizes("outside", perpendicular, m, m)
    if len(labels) != n:
        raise InputError(f"labels has n={len(labels)}, expected n={n}, one label an example")
    if any(sign not in (-1, 1) for sign in signs):
        raise InputError(f"signs={tuple(signs)}, expected -1 and +1, the fixed output signs")
    if step <= 0:
        raise InputError(f"step_size={step} is not positive; try 1/2 over the mean of diag(gram)")
    if slope_at_zero not in (0, 1):
        raise InputError(f"slope_at_zero={slope_at_zero!r}, expected 0 or 1")
    for name, square in (("gram", gram), ("outside", perpendicular)):
        if square != square.transpose() or smallest_pivot(square) < 0:
            raise InputError(
                f"{name} is not symmetric and positive semi-definite over the rationals; pass "
                "inner products, X Xᵀ, that are computed exactly"
            )
    problem = cls(
        gram=gram,
        labels=tuple(rational(label) for label in labels),
        start=predictions,
        signs=tuple(int(sign) for sign in signs),
        step_size=step,
        outside=perpendicular,
        slope_at_zero=slope_at_zero,
        features=features,
        law=law,
    )
    problem.require_attainable()
    return problem


def _require_sizes(name: str, found: fmpq_mat, rows: int, columns: int) -> None:
    if (found.nrows(), found.ncols()) != (rows, columns):
        raise InputError(
            f"{name} has the shape ({found.nrows()}, {found.ncols()}), expected ({rows}, {columns})"
        )
