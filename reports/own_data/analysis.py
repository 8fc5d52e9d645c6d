"""The theorems on a researcher's own matrix: assumptions first, then what gradient descent does."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from properties.catalogue import find_theorem, full_id, is_built_in
from properties.lai2026.setting import STABLE_STEP
from reports.exit_codes import ALL_AS_EXPECTED, REFUTED, UNSETTLED, USAGE
from reports.own_data.described import described
from reports.own_data.request import Given, Request, read, told_options
from reports.own_data.sentence import sentence
from reports.own_data.warnings import duplicates, is_centred, warnings_of
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
from verify.tolerances import IDENTITY
from verify.trial import Trial
from verify.verdict import Conclusion
from verify.writing import jsonable

MAX_STEPS = 20_000

SCHEMA_VERSION = 1

THEOREMS = {
    1: ("lai2026.theorem1", "lai2026.theorem2"),
    2: ("lai2026.theorem3", "lai2026.theorem4"),
}
"""The built-in theorems about one neuron, and about two of opposite sign."""

NEURONS = {
    1: (
        *THEOREMS[1],
        "between.road",
        "boursier2022.fixed_signs",
        "vardi_shamir2021.theorem8",
        "vardi_shamir2021.theorem8_flow",
    ),
    2: THEOREMS[2],
}
"""The built-in theorems that are about so many neurons and no others."""

FEWEST_DRAWN, MOST_DRAWN = 12, 240
"""Steps after the last change of pattern that are kept for figures, and steps at most."""


def analyse(request: Request) -> dict[str, Any]:
    """Return what the theorems say on a researcher's data, in JSON values.

    The entry "stopped" says why the comparison could not be made, or is None. Gradient descent on
    ReLU neurons, its patterns and its gap are left out where a theorem that is asked for is about
    something else: what its claims and assumptions look at is no such run. Raises InputError
    for files, labels or options that cannot be used, BackendUnavailable where a file needs a
    library that is missing, TheoremError for a theorem that is not about such problems.
    """
    given = read(request)
    theorems = [find_theorem(name) for name in _names(request)]
    found: dict[str, Any] = {"schema_version": SCHEMA_VERSION, **told_options(request, given)}
    found["stopped"] = _why_singular(given)
    # Every Gram matrix attains predictions of zero, a singular one perhaps no others.
    problem = given.problem(request, request.start if found["stopped"] is None else 0.0)
    found["data"] = _facts(given, problem)
    found["warnings"] = warnings_of(given, found["data"])
    found["eigenvalues"] = to_numpy(problem.eigenvalues)[0, ::-1]
    if found["stopped"] is None:
        with _about_these_problems(request, theorems[0]):
            examined = [examine_with_run(theorem, problem) for theorem in theorems]
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
            found["comparator"] = _comparator(run, minimum_norm(problem), given.trace)
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


def _names(request: Request) -> tuple[str, ...]:
    """Return the theorems to examine. Raises InputError for one about other neurons."""
    if request.theorem is None:
        return THEOREMS[request.neurons]
    for neurons, names in NEURONS.items():
        if neurons != request.neurons and full_id(request.theorem) in names:
            raise InputError(
                f"--theorem {request.theorem} with --neurons {request.neurons}, expected "
                f"--neurons {neurons}, which that theorem is about"
            )
    return (request.theorem,)


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


def _why_singular(given: Given) -> str | None:
    """Say why the Gram matrix is singular, or return None if it is not."""
    values = np.linalg.eigvalsh(given.gram)
    if values[0] > IDENTITY * values[-1]:
        return None
    n, d = len(given.labels), given.dimension
    equal = sum(len(rows) - 1 for rows in duplicates(given.examples))
    used = int((given.examples != 0).any(axis=0).sum()) if given.lift is None else d
    if n > d:
        why = f"there are more examples than features (n={n} > d={d}); use at most d examples"
    elif n > used:
        why = f"only {used} features are not zero in all {n} examples; use at most {used} examples"
    elif given.lift is None and is_centred({"examples": n, **_common_mean(given)}):
        why = "the columns are centred, so the rows sum to zero; do not centre them"
    elif equal:
        why = f"{equal} rows are duplicates; drop them"
    else:
        why = "its rows are linearly dependent; drop the dependent ones"
    return f"The Gram matrix is singular, so there is no comparator: {why}"


def _common_mean(given: Given) -> dict[str, float]:
    """Return the share of the features' mean in the trace, n‖x̄‖²/tr(G), from the Gram matrix."""
    n = len(given.labels)
    return {"share_of_common_mean": float(given.gram.sum() / (n * np.trace(given.gram)))}


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
        **_common_mean(given),
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
