"""A theorem about numbers whose assumptions matter, do not, or cannot be broken alone."""

from pathlib import Path

import numpy as np

from verify import Assumption, Axis, InputError, Margin, Point, Probable, Status, Theorem, Universal
from verify.claims import Control, Rate, Sweep

HERE = Path(__file__)


def draw(point, generator, trials):
    """Draw a, b, z, q of the point and u uniform on [0, 1), (B,) each."""
    if point["b"] > 9:
        raise InputError(f"b={point['b']}, expected at most 9")
    numbers = {name: np.full(trials, float(point[name])) for name in ("a", "b", "z", "q")}
    return {**numbers, "u": generator.random(trials)}


def simulate(problem):
    """Return a + b."""
    return problem["a"] + problem["b"]


def a_is_small(trial):
    """a ≤ ½."""
    return Margin(trial.problem["a"], 0.5)


def b_is_small(trial):
    """b ≤ ½."""
    return Margin(trial.problem["b"], 0.5)


def z_is_small(trial):
    """z ≤ ½."""
    return Margin(trial.problem["z"], 0.5)


def q_is_zero(trial):
    """q ≤ 0."""
    return Margin(trial.problem["q"], 0.0)


def u_is_small(trial):
    """u ≤ 1."""
    return Margin(trial.problem["u"], 1.0)


def sum_is_certainly_small(trial):
    """a + b ≤ ¾, which implies the claim."""
    return Margin(trial.run, 0.75)


def sum_is_small(trial):
    """a + b ≤ 1."""
    return Margin(trial.run, 1.0)


def ratio_is_small(trial):
    """1/(1 − q) ≤ 2, for q < 1."""
    if (trial.problem["q"] >= 1).any():
        raise InputError("q=1, expected below 1")
    return Margin(1 / (1 - trial.problem["q"]), 20.0)


def usually(trial):
    """u ≤ 1 − (a − ½)₊ with probability .9."""
    return Margin(trial.problem["u"], 1 - np.maximum(trial.problem["a"] - 0.5, 0))


def sum_is_tiny(trial):
    """a + b ≤ 0."""
    return Margin(trial.run, 0.0)


def one(trial):
    """1."""
    return 1.0 + 0 * trial.problem["u"]


def a_of(trial):
    """a."""
    return trial.point["a"]


AXES = (
    Axis("a", 0.0, 2.0, inside=(0.0, 0.5)),
    Axis("b", 0.0, 10.0, inside=(0.0, 0.5)),
    Axis("z", 0.0, 2.0, inside=(0.0, 0.5)),
    Axis("q", 0.0, 1.0, inside=(0.0, 0.0)),
    Axis("other", 0.0, 1.0, instead_of="a"),
)
A = Assumption(a_is_small, axes=("a",))
B = Assumption(b_is_small, axes=("b",))
Z = Assumption(z_is_small, axes=("z",))
Q = Assumption(q_is_zero, axes=("q",))
U = Assumption(u_is_small)
CERTIFICATE = Assumption(sum_is_certainly_small, axes=("a", "b"), certificate=True)
CELL = Point(a=0.1, b=0.1, z=0.0, q=0.0)

theorem = Theorem(
    id="toy",
    title="Sums of small numbers are small",
    citation="None.",
    status=Status.DERIVED,
    draw=draw,
    simulate=simulate,
    cells=(CELL,),
    axes=tuple(axis for axis in AXES if not axis.instead_of),
    wide_axes=AXES,
    hypotheses=(A, B, Z, Q, U),
    first_departure=lambda problem, index: 3 if problem["a"][index] > 0.5 else None,
    claims=(
        Universal(sum_is_small, given=(CERTIFICATE,)),
        Universal(ratio_is_small, given=(CERTIFICATE,)),
        Probable(usually, given=(A,), probability=0.9),
        Rate(
            one,
            sweeps=(Sweep("a", tuple(CELL.moved(a=k / 8) for k in (1, 2, 3)), a_of, 0.0),),
            quantity="one",
        ),
    ),
    controls=(Control(Universal(sum_is_tiny, given=(A,)), because="numbers are positive"),),
)
