"""Gradient descent on linear least squares from zero converges to the pseudo-inverse solution."""

import numpy as np

from verify import Assumption, Axis, Margin, Point, Status, Theorem, Universal


def draw(point, generator, trials):
    X = generator.normal(size=(trials, int(point["n"]), int(point["d"])))
    y = generator.normal(size=X.shape[:2])
    return X, y, point["c"] / np.linalg.norm(X, 2, axis=(1, 2)) ** 2


def simulate(problem):
    """Return the distances ‖w_t − X⁺y‖ at the steps t = 0, …, 30, (31, B)."""
    X, y, step_size = problem
    solution = np.einsum("bdn,bn->bd", np.linalg.pinv(X), y)
    w, distances = 0 * solution, []
    for _ in range(31):
        distances.append(np.linalg.norm(w - solution, axis=-1))
        residual = np.einsum("bnd,bd->bn", X, w) - y
        w = w - step_size[:, None] * np.einsum("bnd,bn->bd", X, residual)
    return np.array(distances)


def curvatures(trial):
    """Return the non-zero eigenvalues of XᵀX, (B, min(n, d))."""
    return np.linalg.svd(trial.problem[0], compute_uv=False) ** 2


def step_is_stable(trial):
    """The step size is below 2/λ_max(XᵀX)."""
    return Margin(trial.problem[2] * curvatures(trial).max(axis=-1), 2.0)


def converges_at_the_spectral_rate(trial):
    """At every step t, ‖w_t − X⁺y‖ ≤ ρᵗ‖X⁺y‖ with ρ = max|1−ηλ| over the non-zero eigenvalues."""
    rho = np.abs(1 - trial.problem[2][:, None] * curvatures(trial)).max(axis=-1)
    bound = rho ** np.arange(len(trial.run))[:, None] * trial.run[0]
    return Margin(((trial.run - bound) / trial.run[0]).max(axis=0), 1e-10, scale=1e-10)


theorem = Theorem(
    id="least_squares",
    title="Gradient descent on least squares converges to the pseudo-inverse solution",
    citation="Folklore; a consequence of diagonalising w_t − X⁺y = (I − ηXᵀX)ᵗ(w_0 − X⁺y).",
    status=Status.DERIVED,
    axes=(
        Axis("n", 1, 12, "integer", meaning="examples"),
        Axis("d", 1, 12, "integer", meaning="features"),
        Axis("c", 0.1, 1.9, meaning="step size times λ_max, dimensionless"),
    ),
    cells=(Point(n=5, d=20, c=1.0), Point(n=20, d=5, c=1.8)),
    draw=draw,
    simulate=simulate,
    claims=(
        Universal(
            converges_at_the_spectral_rate,
            given=(Assumption(step_is_stable, Status.DERIVED, axes=("c",)),),
            status=Status.DERIVED,
        ),
    ),
)
