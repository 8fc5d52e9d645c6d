"""What is written down of an exact problem, so that others can derive every number of it again."""

from __future__ import annotations

from typing import Any

from flint import fmpq, fmpq_mat

from verify.exact import NotDecided
from verify.relu.exact.descent import ExactRun, descend, first_departure, state_at
from verify.relu.exact.minimum import minimum_norm, nearest_minimum
from verify.relu.exact.problem import ExactProblem
from verify.relu.exact.rational import square, text, texts, trace

MOST_SHOWN = 8
"""Steps that are shown."""

FEWEST_SHOWN = 4
"""Steps that are shown where the first departure is not among the first `MOST_SHOWN`."""

_COMPARATORS = {"minimum_norm": minimum_norm, "nearest_minimum": nearest_minimum}


def document(problem: ExactProblem, comparator: str | None = None) -> dict[str, Any]:
    """Return JSON-able facts; rationals are strings "p/q", or "p" where whole.

    comparator: "minimum_norm", "nearest_minimum" or None.

    problem: features (n, d) or null, gram, labels, start (predictions, (m, n)), starting_duals
    (α⁰, of least norm), starting_square (Σ_k ‖w_k(0)‖²), starting_residual (f − y), signs,
    step_size, slope_at_zero, outside (m, m), and law, the effective dimensions of the law that
    features were drawn from, or null.
    steps: predictions (m, n) at steps 0, 1, …: up to the first departure where that is among the
    first `MOST_SHOWN`, else the first `FEWEST_SHOWN`.
    first_departure: the first step from 1 on after which some neuron is not active exactly on its
    label class; null if there is none, or none is known.
    final: null, or the state at which a certificate of theory §4 holds: its name, "rest", "rows"
    or "energy"; step; pattern (m, n); row_weights, v with 0 off the covered examples C ("rows",
    else null); kappa (null for "rest"); duals, α_t − α_0; limit_change, α_∞ − α_0. "rows" is the
    weighted ∞-norm; "energy" compares squares in the norm of M⁻¹, with κ ≥ 1 such that
    κI − ηM_CC is positive semi-definite and 2I − ηM_CC positive definite; "rest" has r_C = 0.
    comparator: null, or its name and duals: α⋆, or the coefficients of w̃ − w_0.
    """
    return {
        "problem": _problem(problem),
        "steps": _steps(problem),
        "first_departure": _first_departure(problem),
        "final": _final(descend(problem)),
        "comparator": _comparator(problem, comparator),
    }


def _problem(problem: ExactProblem) -> dict[str, Any]:
    law, outside = problem.law, trace(problem.outside)
    return {
        "features": None if problem.features is None else texts(problem.features),
        "gram": texts(problem.gram),
        "labels": [text(label) for label in problem.labels],
        "start": texts(problem.start),
        "starting_duals": texts(problem.starting_duals),
        "starting_square": text(square(problem.gram, problem.starting_duals) + outside),
        "starting_residual": [text(entry) for entry in state_at(problem, 0).residual],
        "signs": list(problem.signs),
        "step_size": text(problem.step_size),
        "slope_at_zero": problem.slope_at_zero,
        "outside": texts(problem.outside),
        "law": law
        and {
            "dimension": _perhaps(law.dimension),
            "trace": text(law.trace),
            "d_2": _perhaps(law.d_2),
            "d_inf": _perhaps(law.d_inf),
        },
    }


def _steps(problem: ExactProblem) -> list[list[list[str]]]:
    departure = _first_departure(problem)
    within = departure is not None and departure < MOST_SHOWN
    shown = departure + 1 if within and departure is not None else FEWEST_SHOWN
    return [texts(state_at(problem, step).predictions) for step in range(shown)]


def _first_departure(problem: ExactProblem) -> int | None:
    try:
        return first_departure(problem)
    except NotDecided:
        return None


def _final(run: ExactRun) -> dict[str, Any] | None:
    if run.final is None:
        return None
    weights = run.final.weights
    return {
        "name": run.final.kind,
        "step": run.final.step,
        "pattern": [[int(active) for active in each] for each in run.pattern],
        "row_weights": None if weights is None else [text(weight) for weight in weights],
        "kappa": _perhaps(run.final.kappa),
        "duals": texts(run.states[-1].change),
        "limit_change": texts(run.change),
    }


def _comparator(problem: ExactProblem, name: str | None) -> dict[str, Any] | None:
    if name is None:
        return None
    try:
        duals: fmpq_mat = _COMPARATORS[name](problem).duals
    except NotDecided:
        return None
    return {"name": name, "duals": texts(duals)}


def _perhaps(number: fmpq | None) -> str | None:
    return None if number is None else text(number)
