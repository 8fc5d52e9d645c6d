"""False folklore: gradient descent shrinks the distance to the minimiser by one factor a step."""

import numpy as np

from verify import Assumption, Axis, Explicit, Field, Margin, Point, Status, Theorem, Universal


def draw(point, generator, trials):
    """Draw quadratics ½ Σ_j λ_j w_j²: curvatures λ and starts, (B, d), and step sizes, (B,)."""
    curvatures = generator.uniform(0.1, 1.0, size=(trials, int(point["d"])))
    return curvatures, generator.normal(size=curvatures.shape), point["c"] / curvatures.max(-1)


def simulate(problem):
    """Return the distances to the minimiser, 0, after 0, 1 and 2 steps, (3, B)."""
    curvatures, start, step_size = problem
    shrink = 1 - step_size[:, None] * curvatures
    return np.array([np.linalg.norm(shrink**t * start, axis=-1) for t in range(3)])


def step_is_stable(trial):
    """The step size is below 2/λ_max and the start is not the minimiser."""
    curvatures, _, step_size = trial.problem
    return Margin.worst(
        Margin(step_size * curvatures.max(-1), 2.0, rounding=1e-12), Margin(1e-9, trial.run[0])
    )


def shrinks_by_the_same_factor(trial):
    """The second step shrinks the distance at least by the factor by which the first did."""
    start, one, two = trial.run
    return Margin(two * start, one**2, scale=start**2, rounding=1e-12)


def build(values):
    curvatures, start = values["curvatures"][None, :], values["start"][None, :]
    return curvatures, start, values["c"] / curvatures.max(-1)


theorem = Theorem(
    id="same_factor",
    title="Gradient descent contracts towards the minimiser by the same factor at every step",
    citation="Folklore, and false: what the first step leaves are the slow directions.",
    status=Status.FOLKLORE,
    axes=(Axis("d", 1, 8, "integer"), Axis("c", 0.1, 1.9, meaning="step size times λ_max")),
    cells=(Point(d=3, c=1.0),),
    draw=draw,
    simulate=simulate,
    explicit=Explicit(
        sizes={"d": (1, 4)},
        fields={
            "curvatures": Field(1, 9, shape=("d",)),
            "start": Field(-5, 5, shape=("d",)),
            "c": Field(1, 3, denominator=2),
        },
        build=build,
    ),
    describe=lambda problem, i: dict(
        zip(("curvatures", "start", "step_size"), (part[i] for part in problem), strict=True)
    ),
    claims=(
        Universal(
            shrinks_by_the_same_factor,
            given=(Assumption(step_is_stable, Status.FOLKLORE, axes=("c",)),),
            status=Status.FOLKLORE,
        ),
    ),
)
