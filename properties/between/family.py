"""The road from orthogonal data to the fixture of Vardi and Shamir, in one parameter [D].

The data of one neuron, examples in threes (`blocks` of them, n = 3·blocks), at the place ρ:

    G(ρ) = (1−ρ)·I + ρ·((1−ρ)·W + ρ·F),    y(ρ) = (1−ρ)·ỹ + ρ·(16, 18, 0)/18 in each block.

F has the fixture's Gram matrix X_γX_γᵀ (theory §8) in each block, over its mean diagonal, and zeros
elsewhere; W holds the cosines of n Gaussian vectors in R^{2n}; ỹ has the signs (+, +, −) in each
block and sizes uniform in [y_min, 1].

- At ρ = 0 the examples are orthogonal: the case of Boursier et al. (2022).
- For small ρ the entries off the diagonal are those of ρW: independent up to terms of order ρ, of
  standard deviation ρ/√(2n), as of Gaussian features in d = 2n/ρ² dimensions: the case of Lai et
  al. (2026). d falls from ∞.
- At ρ = 1 they are copies of the fixture of Vardi and Shamir (2021), orthogonal to one another.

tr(G)/n = 1 all along, so that τ = ‖λ‖₁ and √(n/‖λ‖₁) do not change; what changes is how examples
are correlated. The mean square of G_ij, i ≠ j, is ρ²((1−ρ)²/(2n) + ρ²f) in expectation, f that of
F, and rises all along; the greatest cosine of a single draw may fall a little on the way, where W
has one that F has not. G(ρ) is positive definite: a weighted mean of I, W and F, which are.

Coordinates of a point (defaults in `DEFAULTS`): correlation, the place ρ; blocks; gamma; y_min; c =
η‖λ‖₁, the relative step, 0 where a measure is of gradient flow; start, the predictions of w_0, all
equal: from 0 the neuron leaves because φ'(0) = 1. All dimensionless.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import lru_cache
from typing import Any

import numpy as np

from properties.broken_solvers import LEAK
from properties.vardi_shamir2021.theorem3 import features as fixture_of
from verify.arrays import array_namespace, device, to_numpy
from verify.errors import InputError
from verify.relu.descent import Run, descend
from verify.relu.dynamics.activation import RELU, Activation
from verify.relu.dynamics.flow import FlowRun, flow
from verify.relu.effective_dimensions import coherence, regime_index
from verify.relu.minimum_norm import minimum_norm
from verify.relu.problem import Problem
from verify.relu.sampling import wishart
from verify.space import Axis, Point

Host = np.ndarray[Any, Any]

DEFAULTS: Mapping[str, Any] = {
    "c": 0.3,
    "blocks": 2,
    "gamma": 2.0,
    "y_min": 0.5,
    "start": 1e-6,
}

SYMBOLS: Mapping[str, str] = {
    "ρ": "the place on the road, from 0 (orthogonal) to 1 (the fixture of Vardi and Shamir)",
    "φ": "the activation φ(z) = max(z, 0) of the model f(x) = φ(w·x), with φ'(0) = 1",
    "η, c": "step size of descent on the loss ½ Σ_i (f(x_i) − y_i)²; c = η‖λ‖₁; c = 0 is the flow",
    "G, n": "XXᵀ, the (n, n) Gram matrix of the examples",
    "λ, τ": "eigenvalues of the features' covariance; τ = ‖λ‖₁ = tr(G)/n, which is 1 all along",
    "S₊, S₋": "the examples of positive label, and the others",
    "w_0, β⁰": "starting weights and predictions, β⁰ > 0 small and all equal",
    "w_∞, w⋆": "where descent or flow ends; the global minimum of least ℓ2 norm",
    "H": "c² d_2 y_min² / (n log n (1 + c²) mean(y²)), an index of the regime: our heuristic",
    "s": "the third weight of the fixture's limit (5, −1, s), w_0 = 0 and y = (16, 18, 0)",
}

AXES = (
    Axis("correlation", 0.0, 1.0, simplest=0.0, meaning="ρ, the place on the road"),
    Axis("c", 0.1, 1.0, simplest=0.5, meaning="relative step size η‖λ‖₁"),
    Axis("blocks", 1, 2, "integer", meaning="thirds of the number of examples"),
    Axis("gamma", scale="choice", choices=(2.0, 1.0, 5.0), meaning="γ of the fixture X_γ"),
    Axis("y_min", 0.2, 1.0, simplest=1.0, meaning="least |y| at ρ = 0 (the largest is 1)"),
)

WIDE_AXES = (
    AXES[0],
    Axis("c", 5e-3, 4.0, "log", simplest=0.5, inside=(0.1, 1.0), meaning="step size η‖λ‖₁"),
    Axis("blocks", 1, 40, "integer", inside=(1, 2), meaning="thirds of the number of examples"),
    *AXES[3:],
    Axis("start", 1e-6, 0.1, "log", simplest=1e-6, inside=(1e-6, 1e-6), meaning="β⁰"),
)
"""Whatever can be moved."""


def fixture_gram(gamma: float) -> Host:
    """Return X_γX_γᵀ over its mean diagonal, (3, 3), for γ > 0."""
    rows = fixture_of(gamma)
    gram = rows @ rows.T
    return np.asarray(gram / (np.trace(gram) / len(gram)))


def gram_at(correlation: float, cosines: Host, gamma: float) -> Host:
    """Return G(ρ), (B, n, n), of cosines W (B, n, n)."""
    n = cosines.shape[-1]
    end = np.kron(np.eye(n // 3), fixture_gram(gamma))
    way = (1 - correlation) * cosines + correlation * end
    return np.asarray((1 - correlation) * np.eye(n) + correlation * way)


def cosines_of(generator: np.random.Generator, examples: int, trials: int) -> Host:
    """Draw W: the cosines of n Gaussian vectors in R^{2n}, (trials, n, n)."""
    gram = wishart(generator, examples, 2.0 * examples, trials)
    lengths = np.sqrt(np.diagonal(gram, axis1=1, axis2=2))
    return np.asarray(gram / lengths[:, :, None] / lengths[:, None, :])


def draw(point: Point, generator: np.random.Generator, trials: int) -> Problem:
    """Draw i.i.d. problems of one neuron at a place on the road.

    Draws of one generator at two places are the same roads: W and ỹ do not depend on ρ or c.
    """
    at = {**DEFAULTS, **point}
    blocks, place = int(at["blocks"]), float(at["correlation"])
    for name, low, high in (("correlation", 0, 1), ("y_min", 0, 1), ("gamma", 1e-6, 1e6)):
        if not low <= at[name] <= high:
            raise InputError(f"{name}={at[name]:g}, expected a number from {low:g} to {high:g}")
    cosines = cosines_of(generator, 3 * blocks, trials)
    sizes = generator.uniform(at["y_min"], 1.0, (trials, 3 * blocks))
    first = sizes * np.tile([1.0, 1.0, -1.0], blocks)
    last = np.tile([16 / 18, 1.0, 0.0], blocks)
    return Problem.from_gram(
        gram_at(place, cosines, float(at["gamma"])),
        (1 - place) * first + place * last,
        starting_predictions=np.full((1, 3 * blocks), float(at["start"])),
        step_size=float(at["c"] or DEFAULTS["c"]),  # a flow has none: its descent is not looked at
        slope_at_zero=1,
    )


def copies(point: Mapping[str, Any]) -> str:
    """Return what the draws at the end of the road are, where nothing is left to chance."""
    return "copies" if point["correlation"] == 1 else ""


GIVEN_UP = 1_000
"""Steps after which descent is left undecided: it chatters at a kink."""


def descend_to_the_limit(problem: Problem) -> Run:
    """Run gradient descent to its limit, for `GIVEN_UP` steps at most."""
    return descend(problem, GIVEN_UP)


def follow(problem: Problem, run: Run | FlowRun) -> FlowRun:
    """Follow gradient flow to its limit; of problems that are the same to the last digit, as they
    are at the end of the road, one. What is a flow already, a control's, stays what it is."""
    return run if isinstance(run, FlowRun) else _followed_once(problem, RELU)


def leaking_flow(problem: Problem) -> FlowRun:
    """Follow gradient flow with a slope of .1 below the kink in place of 0: a broken flow."""
    return _followed_once(problem, Activation(LEAK))


def _followed_once(problem: Problem, activation: Activation) -> FlowRun:
    parts = (problem.gram, problem.labels, problem.starting_predictions)
    rows = np.concatenate([to_numpy(each).reshape(problem.batch, -1) for each in parts], axis=1)
    _, first, place = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    place = place.ravel()
    if first.size == problem.batch:
        return flow(problem, activation)
    xp, where = array_namespace(problem.gram), device(problem.gram)
    one = flow(problem.select(xp.asarray(first, device=where)), activation)

    def repeated(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(value[index] for index in place)
        if isinstance(value, np.ndarray):
            return value[place]
        return xp.take(value, xp.asarray(place, device=where), axis=0)

    names = (field.name for field in fields(FlowRun) if field.name not in ("problem", "activation"))
    return FlowRun(problem, activation, **{name: repeated(getattr(one, name)) for name in names})


@lru_cache
def relative_gap_at_the_end(gamma: float, start: float) -> float:
    """Return ‖w_∞ − w⋆‖/‖w⋆‖ of gradient flow at the end of the road, where all draws are one."""
    point = Point(correlation=1.0, blocks=1, gamma=gamma, start=start)
    problem = draw(point, np.random.default_rng(0), 1)
    followed, best = flow(problem), minimum_norm(problem)
    apart = problem.inner_products.norms(followed.duals - best.duals)
    return float(apart[0, 0] / best.norm[0])


def describe(problem: Problem, index: int) -> dict[str, Any]:
    """Return what a person needs to recognise one problem, and its data."""
    one = problem.select(np.asarray([index]))
    return {
        "examples": one.examples,
        "step_size": float(to_numpy(one.step_size)[0]),
        "coherence": float(coherence(one)[0]),
        "regime_index_H": float(regime_index(one)[0]),
        "minimum_norm": float(to_numpy(minimum_norm(one).norm)[0]),
        "labels": to_numpy(one.labels)[0],
        "starting_predictions": to_numpy(one.starting_predictions)[0],
        "gram": to_numpy(one.gram)[0],
    }
