"""The analysis of a researcher's own data, as text for a terminal."""

from __future__ import annotations

import math
from typing import Any

from reports.own_data.spelling import plural
from reports.own_data.words import (
    bracket_words,
    claim_words,
    end_words,
    five_digits,
    freezing_words,
    gap_unit,
    given_words,
    index_words,
    is_about_descent,
    is_frozen,
    is_predicted,
    margin_words,
    neurons_words,
    or_infinite,
    outcome_words,
    own_run_words,
    second_words,
    start_words,
    whose_setting,
)


def told(found: dict[str, Any]) -> str:
    """Return what `analyse` found as text."""
    lines = [*_given(found), *_data(found["data"])]
    lines += [*([_prediction(found["data"])] if is_predicted(found) else []), ""]
    if found["stopped"] is None:
        lines += [*_assumptions(found), ""]
        lines += [*_descent(found), ""] if is_about_descent(found) else []
        lines += [_own_run(found), ""] if found["own_run"] else []
        lines += [*_claims(found), ""]
    lines += [*_warnings(found), ""] if found["warnings"] else []
    return "\n".join([*lines, found["sentence"]])


def _given(found: dict[str, Any]) -> list[str]:
    words = given_words(found)
    lines = [f"Features      {words}"] if words else []
    return lines + ([f"Model         {neurons_words(found)}"] if found["neurons"] > 1 else [])


def _data(data: dict[str, Any]) -> list[str]:
    shown = _shown(data)
    above = "; above d by sampling error" if (data["d_2"] or math.inf) > data["dimension"] else ""
    mean = 100 * data["share_of_common_mean"]
    shared = "; the plug-ins assume zero-mean features: this is what makes d_2 small"
    return [
        f"Data          n = {data['examples']} examples, d = "
        f"{plural(data['dimension'], 'feature', 'features')}; {data['positives']} positive, "
        f"{data['negatives']} negative, {plural(data['zeros'], 'zero label', 'zero labels')}",
        f"Dimensions    d_2 ≈ {or_infinite(data['d_2'], five_digits)} (plug-in{above}), "
        f"d_∞ ≈ {shown['d_inf_rough']} (a rough bound, at most n), trace ‖λ‖₁ ≈ {shown['trace']}",
        f"Gram matrix   λ_max = {shown['largest_eigenvalue_over_mean_diagonal']} × mean "
        f"diagonal, conditioning {or_infinite(data['conditioning'], five_digits)}, coherence "
        f"{shown['coherence']}, δ = ‖G/τ − I‖ = {shown['gram_deviation']}",
        f"Common mean   {mean:.1f}% of the trace{shared if mean > 30 else ''}",
    ]


def _prediction(data: dict[str, Any]) -> str:
    """Return the line on what our heuristics say of gradient descent."""
    return (
        f"Prediction    H ≈ {index_words(data, five_digits)} (for a small start and a stable step, "
        f"freezing is likely from about 2 on), {freezing_words(data)}  [H: our heuristics]"
    )


def _assumptions(found: dict[str, Any]) -> list[str]:
    if not found["assumptions"]:
        return ["Assumptions   none"]
    return [
        f"Assumptions   at c = {found['relative_step']:g}, {start_words(found, _six)}: state, "
        "margin (negative where violated), statement [whose]",
        *(
            f"  {a['state']:<9} {margin_words(a, five_digits):>10}  {a['statement']}  "
            f"[{a['status']}]"
            for a in found["assumptions"]
        ),
    ]


def _descent(found: dict[str, Any]) -> list[str]:
    descent, best, data = found["descent"], found["comparator"], found["data"]
    lines = [
        f"Descent       {descent['status']} at step {descent['steps']}, last change of pattern at "
        f"step {descent['last_flip']}; {descent['dead_positives']} of {data['positives']} "
        f"positives {end_words(found)}, {descent['active_negatives']} negatives active"
        + second_words(found)
    ]
    if best is None:
        return [*lines, "Comparator    none: the Gram matrix is singular"]
    shown = _shown(best)
    lines = [
        *lines,
        f"Comparator    minimum norm ‖w⋆‖ = {shown['norm']}, largest KKT residual "
        f"{max(best['kkt']):.1e}{bracket_words(found)}",
    ]
    if best["gap"] is None:
        return [*lines, "Gap           none: the run has no certified limit"]
    return [
        *lines,
        f"Gap           ‖w_∞ − w⋆‖ = {shown['gap']} = {shown['relative_gap']} ‖w⋆‖ = "
        f"{shown['gap_over_root_off_class_over_trace']} {gap_unit(found)}",
        _bounds(found),
    ]


def _own_run(found: dict[str, Any]) -> str:
    """Return the line on a run of the theorem's own."""
    run = found["own_run"]
    return (
        f"Descent       {own_run_words(found)}: {outcome_words(run)}; last change of pattern at "
        f"step {run['last_flip']}"
    )


def _bounds(found: dict[str, Any]) -> str:
    """Return the line on what theory §6 says of the gap, or that it says nothing here."""
    shown = _shown(found["comparator"])
    if not is_frozen(found):
        classes = "the positives'" if found["neurons"] == 1 else "that of the label classes"
        return f"Bounds        none: they need the pattern to be {classes} from step one on"
    high = or_infinite(found["comparator"]["deductive_high"], five_digits)
    return (
        f"Bounds        leading order predicts {shown['leading_order']}; deductive bounds "
        f"[{shown['deductive_low']}, {high}]"
    )


def _claims(found: dict[str, Any]) -> list[str]:
    return ["Claims        on these data: verdict, margin, claim", *map(_claim, found["claims"])]


def _claim(claim: dict[str, Any]) -> str:
    """Return a line for a claim: what it comes to here, and what that does not say."""
    verdict, note = claim_words(claim)
    noted = f"  ({note})" if note else ""
    return f"  {verdict:<12} {margin_words(claim, five_digits):>10}  {claim['id']}{noted}"


def _warnings(found: dict[str, Any]) -> list[str]:
    return [
        "Warnings      beside the verdicts, which they do not change  [H: thresholds are ours]"
        + whose_setting(found),
        *(f"  {w['kind']}: {w['reason']}; try {w['try']}" for w in found["warnings"]),
    ]


def _six(value: float) -> str:
    return f"{value:g}"


def _shown(values: dict[str, Any]) -> dict[str, str]:
    """Return every single number of `values` as text."""
    single = (int, float, type(None))
    return {name: five_digits(value) for name, value in values.items() if isinstance(value, single)}
