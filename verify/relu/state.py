"""Gradient descent at one step: predictions, pattern, residual, and bounds on their errors."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property

from verify.arrays import Array, array_namespace, flatnonzero, placed
from verify.relu.problem import Problem
from verify.relu.slopes import Slopes, over_neurons
from verify.tolerances import summation


@dataclass(frozen=True, eq=False)
class State:
    """Gradient descent at one step.

    change: (B, m, n), the data-span coefficients gained since the start.
    predictions: (B, m, n).   pattern: (B, m, n), which examples each neuron is active on.
    residual: (B, n), model output minus label.
    rounding, residual_rounding: (B, m, n) and (B, n), bounds on the rounding errors of
        evaluating the predictions and the residual.
    speed: (B,), an upper bound on ηλ_max(M), dimensionless.
    earlier_pattern, earlier_speed: (B, m, n) and (B,), those before the pattern last changed: paths
        that swing between two patterns need no eigenvalues a step.
    error: (B,), a bound on the distance in weights from the path of exact arithmetic, as long
        as every sign so far was right.
    uncertainty: (B, m, n), a bound on the error of the predictions on the computed path.
    slope_below: γ of φ(z) = max(z, γz); 0 is the ReLU.
    """

    change: Array
    predictions: Array
    pattern: Array
    residual: Array
    rounding: Array
    residual_rounding: Array
    speed: Array
    earlier_pattern: Array
    earlier_speed: Array
    error: Array
    uncertainty: Array
    slope_below: float = 0.0

    @cached_property
    def slopes(self) -> Slopes:
        """The slope of every neuron on every example."""
        return Slopes(self.pattern, self.slope_below)

    def take(self, index: Array) -> State:
        """Return the state of the problems at the integer positions `index`, (K,)."""
        xp = array_namespace(self.change)
        names = (field.name for field in fields(State)[:-1])
        return replace(
            self, **{name: xp.take(getattr(self, name), index, axis=0) for name in names}
        )


def observe(
    problem: Problem,
    change: Array | None = None,
    error: Array | None = None,
    before: State | None = None,
    *,
    slope_below: float = 0.0,
) -> State:
    """Return the state whose coefficients differ from the start by `change`, (B, m, n).

    change: by default none, the start itself.   error: (B,), see `State`; zero by default.
    before: the state one step earlier, whose speed holds on where the pattern is the same.
    slope_below: γ, that of the state before where there is one.
    """
    predictions = problem.starting_predictions
    xp = array_namespace(predictions)
    if change is None:
        change = xp.zeros_like(predictions)
    else:
        predictions = predictions + problem.inner_products.times(change)
    pattern = predictions >= 0 if problem.slope_at_zero else predictions > 0
    slopes = Slopes(pattern, slope_below if before is None else before.slope_below)
    output = over_neurons(problem.signs[:, :, None] * slopes.times(predictions))
    if before is None:
        speed = fastest(problem, slopes)
        earlier_pattern, earlier_speed = pattern, speed
    else:
        speed, earlier_pattern, earlier_speed = _speed_after(problem, before, slopes)
    blur = rounding(problem, change)
    terms = over_neurons(xp.abs(predictions)) + xp.abs(problem.labels)
    return State(
        change=change,
        predictions=predictions,
        pattern=pattern,
        residual=output - problem.labels,
        rounding=blur,
        residual_rounding=over_neurons(blur) + summation(problem.neurons, terms) * terms,
        speed=speed,
        earlier_pattern=earlier_pattern,
        earlier_speed=earlier_speed,
        error=0 * speed if error is None else error,
        uncertainty=blur if error is None else _uncertainty(problem, change, slopes, blur, error),
        slope_below=slopes.below,
    )


def _speed_after(problem: Problem, before: State, slopes: Slopes) -> tuple[Array, Array, Array]:
    """Return speed, earlier pattern and earlier speed of the state with these slopes."""
    pattern = slopes.pattern
    xp = array_namespace(pattern)
    same = xp.all(pattern == before.pattern, axis=(1, 2))
    if bool(xp.all(same)):
        return before.speed, before.earlier_pattern, before.earlier_speed
    again = ~same & xp.all(pattern == before.earlier_pattern, axis=(1, 2))
    speed = xp.where(same, before.speed, before.earlier_speed)
    new = ~same & ~again
    if bool(xp.any(new)):
        speed = xp.where(new, fastest(problem, slopes, new), speed)
    return (
        speed,
        xp.where(same[:, None, None], before.earlier_pattern, before.pattern),
        xp.where(same, before.earlier_speed, before.speed),
    )


def fastest(problem: Problem, slopes: Slopes, wanted: Array | None = None) -> Array:
    """Return an upper bound on ηλ_max(M), (B,).

    λ_max(M) ≤ λ_max(G)·max_i S_ii (Schur's product theorem), S_ii the neurons on one example; from
    the spectrum of M itself where that bound is not below 2/η.   wanted: (B,), where that is worth
    its cost.
    """
    gram = problem.inner_products
    xp = array_namespace(problem.labels)
    crowd = xp.max(slopes.crowd(problem.labels), axis=-1)
    rate = problem.step_size * (1 + summation(problem.examples, problem.labels))
    bound = rate * gram.largest * crowd
    fast = bound >= 2 if wanted is None else wanted & (bound >= 2)
    if not bool(xp.any(fast)):
        return bound
    index = flatnonzero(fast)
    some = Slopes(xp.take(slopes.pattern, index, axis=0), slopes.below)
    matrices = some.interaction(xp.take(problem.gram, index, axis=0))
    sharp = xp.take(rate, index, axis=0) * xp.linalg.eigvalsh(matrices)[:, -1]
    return placed(fast, sharp, bound)


def rounding(problem: Problem, change: Array) -> Array:
    """Return a bound on the rounding error of evaluating β⁰ + Ga for a = `change`, (B, m, n).

    Σ_j |G_ij| |a_j| is at most √G_ii Σ_j √G_jj |a_j|, and at most √G_ii √λ_max(G) ‖a‖₂
    (Cauchy–Schwarz); the smaller one, times the error of a sum. Through a factor, G = LLᵀ, it is
    at most √G_ii ‖(|L|ᵀ|a|)‖₂, which is at most √G_ii Σ_j √G_jj |a_j|. The error of β⁰ itself
    comes on top where it was computed from weights.
    """
    found = rounding_of_products(problem, change, problem.starting_predictions)
    return found if problem.starting_rounding is None else found + problem.starting_rounding


def rounding_of_products(problem: Problem, rows: Array, terms: Array | None = None) -> Array:
    """Return the bound of `rounding` for Ga, and for b + Ga where `terms` is b, (B, m, n)."""
    xp = array_namespace(rows)
    gram = problem.inner_products
    lengths = gram.lengths[:, None, :]
    size = xp.sum(lengths * xp.abs(rows), axis=-1, keepdims=True)
    count = problem.examples
    if gram.factor is None:
        by_norm = norm(rows)
        by_norm = (by_norm * xp.sqrt(gram.largest)[:, None])[..., None]
        size = xp.where(by_norm < size, by_norm, size)
    else:
        count = 2 * count  # two sums in a row
    size = lengths * size
    return summation(count, rows) * (size if terms is None else xp.abs(terms) + size)


def _uncertainty(
    problem: Problem, change: Array, slopes: Slopes, blur: Array, error: Array
) -> Array:
    """Return the bound on the error of the predictions on the path, see `State`: what the `error`
    in the weights makes of it comes on top, but for a neuron that has never been active."""
    xp = array_namespace(change)
    mobile = xp.any((change != 0) | slopes.somewhere, axis=-1, keepdims=True)
    carried = problem.inner_products.lengths[:, None, :] * error[:, None, None]
    return blur + xp.where(mobile, carried, 0 * carried)


def norm(values: Array) -> Array:
    """Return the Euclidean norm over the last axis."""
    xp = array_namespace(values)
    return xp.sqrt(xp.vecdot(values, values))
