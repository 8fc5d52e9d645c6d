"""The theorems on a researcher's own matrix: assumptions first, then what gradient descent does."""

from __future__ import annotations

from typing import Any

import numpy as np

from properties.catalogue import MODULES, find_theorem
from properties.lai2026.setting import STABLE_STEP
from reports.exit_codes import ALL_AS_EXPECTED, REFUTED, UNSETTLED, USAGE
from verify.arrays import to_numpy
from verify.counterexample import jsonable
from verify.datasets import pair, read_labels, read_matrix
from verify.engine.evaluate import margin_of
from verify.engine.examine import Examined, Met, examine
from verify.errors import InputError
from verify.relu.descent import CERTIFIED, DIVERGED, Run, descend
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
from verify.theorem import Trial
from verify.tolerances import IDENTITY
from verify.verdict import Conclusion

MAX_STEPS = 20_000

SCHEMA_VERSION = 1


def analyse(
    features: str, labels: str, positive: str | None, relative_step: float, start: float
) -> dict[str, Any]:
    """Return what the theorems of one ReLU neuron say on data read from two files.

    relative_step: c = η·tr(G)/n.   start: every starting prediction, in units of the labels.
    The entry "stopped" says why the comparison could not be made, or is None. Raises
    InputError for files, labels or options that cannot be used.
    """
    if not 1e-9 <= relative_step <= 1e9:
        raise InputError(f"--step {relative_step}, expected c > 0 of order 1, e.g. 0.5")
    if not 1e-50 <= start <= 1e50:
        raise InputError(f"--start {start}, expected a small positive number, e.g. 1e-3")
    X, y = pair(read_matrix(features), read_labels(labels, positive))
    if len(y) < 2:
        raise InputError(f"{features} has n={len(y)} example, expected at least 2 rows")
    for path, values in ((features, X), (labels, y)):
        largest = float(np.abs(values).max())
        if largest == 0:
            raise InputError(f"{path} holds only zeros, expected numbers that are not all zero")
        if not 1e-50 <= largest <= 1e50:
            raise InputError(f"{path} holds numbers of the size {largest:.3g}: rescale them")
    gram = X @ X.T
    trace = float(np.trace(gram)) / len(y)
    stopped = _why_singular(X, gram)
    found: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "features": features,
        "labels": labels,
        "positive": positive,
        "relative_step": relative_step,
        "start": start,
        "step_size": relative_step / trace,
        "stopped": stopped,
    }
    predictions = np.full((1, len(y)), start)
    problem = (
        Problem.from_gram(
            gram, y, starting_predictions=predictions, step_size=relative_step / trace
        )
        if stopped is None
        else _from_zero(gram, y, relative_step / trace)
    )
    found["data"] = _facts(X, problem)
    if stopped is None:
        theorems = [examine(find_theorem(name), problem) for name in MODULES]
        found["assumptions"] = _assumptions([m for met, _ in theorems for m in met], problem)
        run, best = descend(problem, MAX_STEPS), minimum_norm(problem)
        found["descent"] = _descent(run)
        found["comparator"] = _comparator(run, best, trace)
        found["claims"] = [_claim(e) for _, examined in theorems for e in examined]
        found["exit_code"] = _exit_code(found)
    else:
        found["exit_code"] = USAGE
    found["sentence"] = _sentence(found) + _advice(y)
    return dict(jsonable(found))


def _from_zero(gram: np.ndarray, labels: np.ndarray, step_size: float) -> Problem:
    """Return the problem with a start at zero, which every Gram matrix attains."""
    return Problem.from_gram(
        gram, labels, starting_predictions=np.zeros((1, len(labels))), step_size=step_size
    )


def _why_singular(X: np.ndarray, gram: np.ndarray) -> str | None:
    """Say why the Gram matrix is singular, or return None if it is not."""
    values = np.linalg.eigvalsh(gram)
    if values[0] > IDENTITY * values[-1]:
        return None
    n, d = X.shape
    if n > d:
        why = f"there are more examples than features (n={n} > d={d}); use at most d examples"
    elif np.linalg.norm(X.mean(axis=0)) <= 1e-9 * np.sqrt(values[-1] / n):
        why = "the columns are centred, so the rows sum to zero; do not centre them"
    elif len(np.unique(X, axis=0)) < n:
        why = f"{n - len(np.unique(X, axis=0))} rows are duplicates; drop them"
    else:
        why = "its rows are linearly dependent; drop the dependent ones"
    return f"The Gram matrix is singular, so there is no comparator: {why}"


def _facts(X: np.ndarray, problem: Problem) -> dict[str, Any]:
    """Return the realised dimensions and what they predict."""
    y = to_numpy(problem.labels)[0]
    known, values = realised(problem), to_numpy(problem.eigenvalues)[0]
    trace = float(np.ravel(known.trace)[0])
    positive_start = bool((to_numpy(problem.starting_predictions) > 0).all())
    return {
        "examples": len(y),
        "dimension": X.shape[1],
        "positives": int((y > 0).sum()),
        "negatives": int((y < 0).sum()),
        "zeros": int((y == 0).sum()),
        "y_min": float(np.abs(y).min()),
        "y_max": float(np.abs(y).max()),
        "trace": trace,
        "d_2": float(np.ravel(known.d_2)[0]),
        "d_inf_rough": float(np.ravel(known.d_inf)[0]),
        "largest_eigenvalue_over_mean_diagonal": float(values[-1]) / trace,
        "share_of_common_mean": float(len(y) * (X.mean(axis=0) ** 2).sum() / (trace * len(y))),
        "coherence": float(coherence(problem)[0]),
        "conditioning": float(conditioning(problem)[0]),
        "gram_deviation": float(gram_deviation(problem)[0]),
        "regime_index_H": float(regime_index(problem)[0]),
        "predicted_freezing_probability": (
            float(freezing_probability(problem)[0]) if positive_start else None
        ),
    }


def _assumptions(met: list[Met], problem: Problem) -> list[dict[str, Any]]:
    """Return the distinct assumptions of the theorems, with the stability of the step."""
    stable = margin_of(
        STABLE_STEP.inequality, Trial(find_theorem("lai2026.theorem1"), None, problem, 1)
    )
    extra = Met(STABLE_STEP, "holds" if stable.holds.all() else "violated", float(stable.value[0]))
    distinct = {each.assumption.id: each for each in [*met, extra]}
    return [
        {
            "id": name,
            "statement": each.assumption.statement,
            "status": each.assumption.status.value,
            "state": each.state,
            "margin": each.margin,
        }
        for name, each in distinct.items()
    ]


def _descent(run: Run) -> dict[str, Any]:
    """Return what gradient descent does."""
    y, active = to_numpy(run.problem.labels)[0], to_numpy(run.final_pattern)[0, 0]
    predictions = to_numpy(run.predictions)[0, 0]
    misfit = np.abs(np.maximum(predictions, 0.0) - np.maximum(y, 0.0))
    return {
        "status": str(run.status[0]),
        "steps": int(run.steps[0]),
        "last_flip": int(run.last_flip[0]),
        "near_ties": int(run.near_ties[0]),
        "dead_positives": int((~active & (y > 0)).sum()),
        "active_negatives": int((active & (y < 0)).sum()),
        "global_minimum": bool(run.certified[0] and misfit.max() <= 1e-8 * np.abs(y).max()),
        "largest_misfit": float(misfit.max()),
        "loss": float(0.5 * ((np.maximum(predictions, 0.0) - y) ** 2).sum()),
    }


def _comparator(run: Run, best: MinimumNorm, trace: float) -> dict[str, Any]:
    """Return the minimum-norm global minimum and the gap against its bounds."""
    problem = run.problem
    gap, norm = float(implicit_bias_gap(run, best)[0]), float(best.norm[0])
    tau = np.asarray([trace])
    low, high = deductive_bounds(problem, tau)
    y = to_numpy(problem.labels)[0]
    settled = bool(run.certified[0])
    return {
        "norm": norm,
        "kkt": to_numpy(best.kkt)[0],
        "certified": bool(best.certified[0]),
        "gap": gap if settled else None,
        "relative_gap": gap / norm if settled and norm > 0 else None,
        "gap_over_root_negatives_over_trace": (
            gap / np.sqrt((y < 0).sum() / trace) if settled and (y < 0).any() else None
        ),
        "leading_order": float(leading_order(problem, tau)[0]),
        "deductive_low": float(low[0]),
        "deductive_high": float(high[0]),
    }


def _claim(examined: Examined) -> dict[str, Any]:
    """Return a claim on these data; its conclusion is null for one about a probability."""
    conclusion = examined.conclusion
    return {
        "id": examined.claim.id,
        "kind": examined.claim.kind,
        "statement": examined.claim.statement,
        "conclusion": None if conclusion is None else str(conclusion),
        "state": examined.state,
        "margin": examined.margin,
    }


def _exit_code(found: dict[str, Any]) -> int:
    """Return 1 if a universal claim fails in scope, 3 if one is vacuous or undecided, else 0."""
    conclusions = [c["conclusion"] for c in found["claims"] if c["kind"] == "universal"]
    if Conclusion.REFUTED in conclusions:
        return REFUTED
    return ALL_AS_EXPECTED if all(c == Conclusion.CERTIFIED for c in conclusions) else UNSETTLED


def _sentence(found: dict[str, Any]) -> str:
    """Say in one plain sentence what was found."""
    if found["stopped"]:
        return f"{found['stopped']}."
    states = {a["id"]: a["state"] for a in found["assumptions"]}
    violated = {name for name, state in states.items() if state == "violated"}
    did = _did(found)
    if states["pattern_is_the_positives_from_step_one"] != "holds" or not _settled(found):
        blame = _blame(found, violated)
        return f"{blame[0].upper()}{blame[1:]}: {did}."
    told = (
        f"From step one on the active examples are those of positive label, as stated, and {did}."
    )
    if "certified_from_step_one" in violated:
        told += (
            " (The step-one certificate could not tell this beforehand, so the claims that assume "
            "it are vacuous; the run itself is certified.)"
        )
    return told


def _settled(found: dict[str, Any]) -> bool:
    return bool(found["descent"]["status"] == CERTIFIED)


def _did(found: dict[str, Any]) -> str:
    """Say what gradient descent did."""
    descent, data = found["descent"], found["data"]
    if _settled(found):
        where = "at a global minimum"
        if not descent["global_minimum"]:
            where = (
                f"not at a global minimum: {descent['dead_positives']} of {data['positives']} "
                "positive examples end dead"
                if descent["dead_positives"]
                else f"not at a global minimum: predictions miss by up to "
                f"{descent['largest_misfit']:.3g}"
            )
        return f"gradient descent settles (certified at step {descent['steps']}), {where}"
    if descent["status"] == DIVERGED:
        return f"gradient descent diverges within {descent['steps']} steps"
    told = f"gradient descent has not settled after {descent['steps']} steps"
    if descent["near_ties"]:
        told += ", where rounding hides the sign of a prediction: more steps would not tell"
    return told


def _blame(found: dict[str, Any], violated: set[str]) -> str:
    """Say which of labels, start, step and data takes the problem out of the theorems' regime."""
    data, c, start = found["data"], found["relative_step"], found["start"]
    if "labels_are_nonzero" in violated:
        return "zero labels are outside the theorems"
    if "both_signs_occur" in violated:
        return "the theorems compare positive with negative labels, and there is one sign only"
    if c * (data["y_min"] + start) <= start:
        return f"the start {start:g} is not small against c·y_min = {c * data['y_min']:.3g}"
    if "step_is_stable" in violated and data["regime_index_H"] >= 1:
        return f"the step c = {c:g} is too large (η·λ_max(G₊₊) ≥ 2)"
    return (
        f"these data are outside the theorems' regime (d_2 ≈ {data['d_2']:.3g} for "
        f"n = {data['examples']}, H ≈ {data['regime_index_H']:.2g})"
    )


def _advice(labels: np.ndarray) -> str:
    """Return what a user whose labels are 0 and 1 should do, or nothing."""
    if set(np.unique(labels)) == {0.0, 1.0}:
        return " Labels 0 and 1 are targets here, not classes: name one with --positive 1."
    return ""
