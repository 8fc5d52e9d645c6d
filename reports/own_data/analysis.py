"""The theorems on a researcher's own matrix: assumptions first, then what gradient descent does."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from properties.catalogue import find_theorem, is_built_in
from properties.lai2026.setting import STABLE_STEP
from reports.exit_codes import ALL_AS_EXPECTED, REFUTED, UNSETTLED, USAGE
from reports.own_data.described import described, run_of_its_own
from reports.own_data.neurons import THEOREMS, names, require_these_neurons
from reports.own_data.request import Given, Request, read, told_options
from reports.own_data.sentence import sentence
from reports.own_data.singular import (
    Singular,
    common_mean,
    examined_where_singular,
    problem_where_singular,
    start_had,
    stopped_by,
    warning_of,
    why_singular,
)
from reports.own_data.warnings import warnings_of
from verify.arrays import to_numpy
from verify.engine.evaluate import margin_of
from verify.engine.examine import Examined, Met, examine_with_run
from verify.errors import InputError, TheoremError
from verify.relu.descent import Run, gradient_step, start
from verify.relu.effective_dimensions import (
    coherence,
    conditioning,
    freezing_probability,
    gram_deviation,
    realised,
    regime_index,
)
from verify.relu.gap import deductive_bounds, implicit_bias_gap, leading_order
from verify.relu.minimum_norm import MinimumNorm, minimum_norm
from verify.relu.problem import Problem
from verify.theorem import Theorem
from verify.trial import Trial
from verify.verdict import Conclusion
from verify.writing import jsonable

MAX_STEPS = 20_000

SCHEMA_VERSION = 1

FEWEST_DRAWN, MOST_DRAWN = 12, 240
"""Steps after the last change of pattern that are kept for figures, and steps at most."""


def analyse(request: Request) -> dict[str, Any]:
    """Return what the theorems say on a researcher's data, in JSON values.

    The entry "stopped" says why the comparison could not be made, or is None. Gradient descent on
    ReLU neurons, its patterns and its gap are left out where a theorem that is asked for is about
    something else: what its claims and assumptions look at is no such run. The entry "own_run" says
    what became of that, if it is one of `descend`. Of singular data there is no comparator, and
    only a theorem that is asked for and needs none is examined. Raises InputError for files,
    labels or options that cannot be used and for a theorem about other neurons, BackendUnavailable
    where a file needs a library that is missing, TheoremError for a theorem that is not about such
    problems.
    """
    given = read(request)
    theorems = [find_theorem(name) for name in names(request)]
    require_these_neurons(request, theorems[0])
    singular = why_singular(given)
    problem, examined = _examined(request, given, theorems, singular)
    found: dict[str, Any] = {"schema_version": SCHEMA_VERSION, **told_options(request, given)}
    found["stopped"] = None if examined else stopped_by(singular)
    found["start_had"] = start_had(problem, request.start) if examined else None
    found["data"] = _facts(given, problem)
    found["warnings"] = warnings_of(given, found["data"])
    if examined and singular is not None:
        found["warnings"].insert(0, warning_of(singular, found))
    found["eigenvalues"] = to_numpy(problem.eigenvalues)[0, ::-1]
    if examined:
        found["theorems"] = [theorem.id for theorem in theorems]
        met = [
            (theorem, each)
            for theorem, (assumptions, _, _) in zip(theorems, examined, strict=True)
            for each in assumptions
        ]
        if request.theorem is None:
            met.append((theorems[0], _stability(problem)))
        found["assumptions"] = _assumptions(met)
        run = described(request.theorem, examined[0][2], problem, MAX_STEPS)
        if run is not None:
            found["descent"] = _descent(run)
            found["patterns"] = _patterns(run)
            found["comparator"] = (
                _comparator(run, minimum_norm(problem), given.trace) if singular is None else None
            )
        found["own_run"] = run_of_its_own(examined[0][2]) if run is None else None
        found["claims"] = [
            _claim(theorem, each)
            for theorem, (_, claims, _) in zip(theorems, examined, strict=True)
            for each in claims
        ]
        found["exit_code"] = _exit_code(found)
    else:
        found["exit_code"] = USAGE
    found["sentence"] = sentence(found)
    return dict(jsonable(found))


Judged = tuple[list[Met], list[Examined], Any]


def _examined(
    request: Request, given: Given, theorems: list[Theorem], singular: Singular | None
) -> tuple[Problem, list[Judged]]:
    """Return the problem and what the theorems come to there, in their order.

    Nothing, and the problem that starts at zero, where the Gram matrix is singular and the theorem
    needs a regular one, as the built-in ones do.
    """
    if singular is None:
        problem = given.problem(request, request.start)
        with _about_these_problems(request, theorems[0]):
            return problem, [examine_with_run(theorem, problem) for theorem in theorems]
    if request.theorem is not None:
        problem = problem_where_singular(given, request)
        with _about_these_problems(request, theorems[0]):
            try:
                return problem, [examined_where_singular(theorem, problem) for theorem in theorems]
            except TheoremError:
                raise
            except InputError:
                pass
    # Every Gram matrix attains predictions of zero, a singular one perhaps no others.
    return given.problem(request, 0.0), []


@contextmanager
def _about_these_problems(request: Request, theorem: Theorem) -> Iterator[None]:
    """Say of what a theorem raises that its problems may be of another type, or of a built-in one
    that they are."""
    try:
        yield
    except (InputError, TheoremError) as reason:
        if request.theorem is None:
            raise
        if is_built_in(theorem):
            drawn = theorem.draw(theorem.cells[0], np.random.default_rng(0), 1)
            if type(drawn) is Problem and theorem.copies is None:
                raise
            raise InputError(
                f"--theorem {theorem.id} is about problems of its own ({theorem.title}), not about "
                "gradient descent on the data given; verify it with "
                f"`relu-verify run {theorem.id}`"
            ) from reason
        raise type(reason)(
            f"{str(reason).removesuffix('; correct it')}; `data` hands a theorem the Problem of "
            f"verify.relu, and {request.theorem} seems to be about problems of another type: if "
            f"so, verify it with `relu-verify run {shlex.quote(request.theorem)}`, else correct "
            "that line"
        ) from reason


def _facts(given: Given, problem: Problem) -> dict[str, Any]:
    """Return the realised dimensions and what they predict."""
    y = given.labels
    positive_start = bool((to_numpy(problem.starting_predictions) > 0).all())
    with np.errstate(invalid="ignore"):  # 0·∞: orthogonal rows, and a label or a reach of 0
        index = float(regime_index(problem)[0])
        freezing = float(freezing_probability(problem)[0]) if positive_start else None
    known, values = realised(problem), to_numpy(problem.eigenvalues)[0]
    trace = float(np.ravel(known.trace)[0])
    return {
        "examples": len(y),
        "dimension": given.dimension,
        "positives": int((y > 0).sum()),
        "negatives": int((y < 0).sum()),
        "zeros": int((y == 0).sum()),
        "y_min": float(np.abs(y).min()),
        "y_max": float(np.abs(y).max()),
        "only_0_and_1": set(np.unique(y)) == {0.0, 1.0},
        "trace": trace,
        "d_2": float(np.ravel(known.d_2)[0]),
        "d_inf_rough": float(np.ravel(known.d_inf)[0]),
        "largest_eigenvalue_over_mean_diagonal": float(values[-1]) / trace,
        **common_mean(given),
        "coherence": float(coherence(problem)[0]),
        "conditioning": float(conditioning(problem)[0]),
        "gram_deviation": float(gram_deviation(problem)[0]),
        "regime_index_H": index,
        "predicted_freezing_probability": freezing,
    }


def _stability(problem: Problem) -> Met:
    """Return whether the step is stable, which the regime of the built-in theorems asks for."""
    first = find_theorem(THEOREMS[1][0])
    stable = margin_of(STABLE_STEP.inequality, Trial(first, None, problem, 1))
    state = "holds" if stable.holds.all() else "violated"
    return Met(STABLE_STEP, state, float(stable.value[0]))


def _assumptions(met: list[tuple[Theorem, Met]]) -> list[dict[str, Any]]:
    """Return the distinct assumptions of the theorems."""
    distinct = {each.assumption.id: (theorem, each) for theorem, each in met}
    return [
        {
            "id": name,
            "statement": each.assumption.statement,
            "status": theorem.status_of(each.assumption).value,
            "state": each.state,
            "margin": each.margin,
        }
        for name, (theorem, each) in distinct.items()
    ]


def _descent(run: Run) -> dict[str, Any]:
    """Return what gradient descent does; what is said of a second neuron is null without one."""
    y, active = to_numpy(run.problem.labels)[0], to_numpy(run.final_pattern)[0]
    signs = to_numpy(run.problem.signs)[0]
    outputs = to_numpy(run.problem.output(run.predictions))[0]
    target = y if len(signs) == 2 else np.maximum(y, 0.0)
    misfit = np.abs(outputs - target)
    second = len(signs) == 2
    return {
        "status": str(run.status[0]),
        "steps": int(run.steps[0]),
        "most_steps": MAX_STEPS,
        "last_flip": int(run.last_flip[0]),
        "near_ties": int(run.near_ties[0]),
        "pattern_is_the_label_classes_from_step_one": _frozen(run),
        "dead_positives": int((~active[0] & (y > 0)).sum()),
        "active_negatives": int((active[0] & (y < 0)).sum()),
        "dead_negatives": int((~active[1] & (y < 0)).sum()) if second else None,
        "active_positives": int((active[1] & (y > 0)).sum()) if second else None,
        "global_minimum": bool(run.certified[0] and misfit.max() <= 1e-8 * np.abs(y).max()),
        "largest_misfit": float(misfit.max()),
        "loss": float(0.5 * ((outputs - y) ** 2).sum()),
    }


def _frozen(run: Run) -> str:
    """Say whether from step one on every neuron is active exactly on its label class."""
    wrong = to_numpy(run.pattern_after_first_step) != to_numpy(run.problem.label_classes)
    if run.near_ties[0]:
        return "unknown"
    if wrong.any() or run.freeze_margin[0] < 0:
        return "violated"
    return "holds" if run.certified[0] else "unknown"


def _patterns(run: Run) -> dict[str, Any]:
    """Return which examples are active at which step, a text of 0 and 1 a step, by neuron."""
    problem = run.problem
    shown = min(int(run.last_flip[0]) + FEWEST_DRAWN, MOST_DRAWN)
    if not run.certified[0]:  # nothing is known of later steps
        shown = min(shown, int(run.steps[0]))
    state = start(problem)
    states = [to_numpy(state.pattern)[0]]
    for _ in range(shown):
        state = gradient_step(problem, state)
        states.append(to_numpy(state.pattern)[0])
    signs = to_numpy(problem.signs)[0]
    return {
        "labels": to_numpy(problem.labels)[0],
        "neurons": [
            {
                "sign": int(signs[k]),
                "steps": ["".join("01"[int(on)] for on in step[k]) for step in states],
            }
            for k in range(len(signs))
        ],
    }


def _comparator(run: Run, best: MinimumNorm, trace: float) -> dict[str, Any]:
    """Return the minimum-norm global minimum and the gap against its bounds."""
    problem = run.problem
    gap, norm = float(implicit_bias_gap(run, best)[0]), float(best.norm[0])
    tau = np.asarray([trace])
    low, high = deductive_bounds(problem, tau)
    off = to_numpy(~problem.label_classes & (problem.labels != 0)[:, None, :]).sum()
    settled = bool(run.certified[0])
    return {
        "norm": norm,
        "bracket": to_numpy(best.bracket)[0],
        "kkt": to_numpy(best.kkt)[0],
        "certified": bool(best.certified[0]),
        "gap": gap if settled else None,
        "relative_gap": gap / norm if settled and norm > 0 else None,
        "off_class": int(off),
        "gap_over_root_off_class_over_trace": (
            gap / np.sqrt(off / trace) if settled and off else None
        ),
        "leading_order": float(leading_order(problem, tau)[0]),
        "deductive_low": float(low[0]),
        "deductive_high": float(high[0]),
    }


def _claim(theorem: Theorem, examined: Examined) -> dict[str, Any]:
    """Return a claim on these data; its conclusion is null for one about a probability."""
    conclusion = examined.conclusion
    return {
        "theorem": theorem.id,
        "id": examined.claim.id,
        "kind": examined.claim.kind,
        "statement": examined.claim.statement,
        "status": theorem.status_of(examined.claim).value,
        "conclusion": None if conclusion is None else str(conclusion),
        "state": examined.state,
        "margin": examined.margin,
    }


def _exit_code(found: dict[str, Any]) -> int:
    """Return 1 if a universal claim fails in scope, 0 if all are certified, else 3."""
    conclusions = [c["conclusion"] for c in found["claims"] if c["kind"] == "universal"]
    if Conclusion.REFUTED in conclusions:
        return REFUTED
    certified = bool(conclusions) and all(c == Conclusion.CERTIFIED for c in conclusions)
    return ALL_AS_EXPECTED if certified else UNSETTLED
