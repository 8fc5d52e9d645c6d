"""Theorems about one uniform number, small and quick enough to check a thousand times."""

import inspect

import numpy as np

from verify.claims import Assumption, Control, Probable, Rate, Status, Sweep, Universal
from verify.margin import Margin
from verify.space import Point
from verify.theorem import Theorem

HERE = Point(n=1)


def draw(point, generator, trials):
    """Draw u uniform on [0, 1), (B,)."""
    return generator.random(trials)


def simulate(problem):
    """Return the problem itself."""
    return problem


def theorem_of(*claims, **changes):
    """Return a theorem about u with these claims."""
    given = {
        "id": "toy",
        "title": "One uniform number",
        "citation": "none",
        "status": Status.DERIVED,
        "draw": draw,
        "simulate": simulate,
        "claims": claims,
        "cells": (HERE,),
        "block": 10,
    }
    return Theorem(**{**given, **changes})


def at_least_zero(trial):
    """u is at least 0."""
    return Margin(0.0, trial.problem)


def below_a_half(trial):
    """u is below one half."""
    return Margin(trial.problem, 0.5)


def below_nine_tenths(trial):
    """u is below 0.9."""
    return Margin(trial.problem, 0.9)


def below_zero(trial):
    """u is below 0."""
    return Margin(trial.problem, -1e-9)


def never_decided(trial):
    """u is at least 0, as far as anybody can tell."""
    return Margin(0.0, trial.problem, rounding=np.inf)


def rising(trial):
    """n rises with the slope 1 in n."""
    return trial.point["n"] * np.exp(0.01 * (trial.problem - 0.5))


def n_of(trial):
    """n."""
    return trial.point["n"]


def rate(exponent=1.0, quantity=rising, **changes):
    """Return a rate along n = 1, 2, 4, 8."""
    points = tuple(Point(n=2**k) for k in range(4))
    sweeps = (Sweep("n", points, n_of, exponent),)
    return Rate(quantity, **{"sweeps": sweeps, "tolerance": 0.05, **changes})


ALWAYS_MET = Assumption(at_least_zero)
OFTEN_MET = Assumption(below_a_half)
NEVER_MET = Assumption(below_zero)
UNKNOWN = Assumption(never_decided)


def everything():
    """Return a theorem with a claim of each kind, and a control."""
    return theorem_of(
        Universal(at_least_zero, given=(OFTEN_MET,)),
        Probable(below_nine_tenths, probability=0.5, at=(HERE, Point(n=2))),
        rate(),
        controls=(
            Control(Universal(below_a_half), because="u is above one half every other time"),
        ),
    )


def same_claims(one, other):
    """Say whether two sequences of verdicts agree in all that is reported (NaN is null there)."""
    return [verdict.to_json() for verdict in one] == [verdict.to_json() for verdict in other]


def counting():
    """Return a progress callback and the list in which it keeps what it was told."""
    told = []
    return (lambda done, total, what: told.append((done, total, what))), told


FILE = f'''
"""A theorem about one uniform number, in a file of its own."""

import numpy as np

from verify import Assumption, Control, Margin, Point, Probable, Status, Theorem, Universal

{inspect.getsource(draw)}

{inspect.getsource(simulate)}

{inspect.getsource(at_least_zero)}

{inspect.getsource(below_a_half)}

{inspect.getsource(below_nine_tenths)}

theorem = Theorem(
    id="filed",
    title="One uniform number",
    citation="none",
    status=Status.DERIVED,
    draw=draw,
    simulate=simulate,
    cells=(Point(n=1), Point(n=2)),
    block=10,
    claims=(
        Universal(at_least_zero, given=(Assumption(below_a_half),)),
        Probable(below_nine_tenths, probability=0.5),
    ),
    controls=(Control(Universal(below_a_half, name="always_below"), because="it is not"),),
)
'''


def write_theorem(folder, name="filed.py", *, before_drawing="", **replaced):
    """Write a theorem file, with lines put first in `draw`, and texts replaced; return its path."""
    text = FILE
    for old, new in replaced.items():
        assert old in text
        text = text.replace(old, new)
    line = "    return generator.random(trials)\n"
    assert text.count(line) == 1
    text = text.replace(line, "".join(f"    {s}\n" for s in before_drawing.splitlines()) + line)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path
