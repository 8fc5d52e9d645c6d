"""The analysis of a researcher's own data, as text for a terminal."""

from __future__ import annotations

from typing import Any

from reports.own_data_words import is_frozen, is_settled
from verify.verdict import Conclusion

_STATES = {"holds": "holds", "violated": "fails", "unknown": "cannot be decided"}


def told(found: dict[str, Any]) -> str:
    """Return what `own_data.analyse` found as text."""
    lines = [*_given(found), *_data(found["data"]), ""]
    if found["stopped"] is None:
        lines += [*_assumptions(found), "", *_descent(found), "", *_claims(found), ""]
    lines += [*_warnings(found), ""] if found["warnings"] else []
    return "\n".join([*lines, found["sentence"]])


def given_words(found: dict[str, Any]) -> str:
    """Say what was done to the features before anything else; "" where nothing was."""
    parts = ["rows scaled to length 1"] if found["normalise_rows"] else []
    lift = found["random_features"]
    if lift:
        kind = {"relu": "ReLU", "fourier": "Fourier"}[lift["kind"]]
        told = f"{lift['number']} random {kind} features of the {lift['of_dimension']} given ones"
        if lift["bandwidth"] is not None:
            is_ = "" if lift["bandwidth_is"] == "given" else f", {lift['bandwidth_is']}"
            told += f", bandwidth {lift['bandwidth']:.5g}{is_}"
        parts.append(f"{told} (seed {lift['seed']})")
    return "; ".join(parts)


def neurons_words(found: dict[str, Any]) -> str:
    """Say how many neurons there are."""
    return {1: "one neuron, output sign +1", 2: "two neurons, output signs +1 and −1"}[
        found["neurons"]
    ]


def _given(found: dict[str, Any]) -> list[str]:
    words = given_words(found)
    lines = [f"Features      {words}"] if words else []
    return lines + ([f"Model         {neurons_words(found)}"] if found["neurons"] > 1 else [])


def _data(data: dict[str, Any]) -> list[str]:
    shown = _shown(data)
    above = "; above d by sampling error" if data["d_2"] > data["dimension"] else ""
    mean = 100 * data["share_of_common_mean"]
    shared = "; the plug-ins assume zero-mean features: this is what makes d_2 small"
    return [
        f"Data          n = {data['examples']} examples, d = {data['dimension']} features; "
        f"{data['positives']} positive, {data['negatives']} negative, {data['zeros']} zero labels",
        f"Dimensions    d_2 ≈ {shown['d_2']} (plug-in{above}), d_∞ ≈ {shown['d_inf_rough']} "
        f"(a rough bound, at most n), trace ‖λ‖₁ ≈ {shown['trace']}",
        f"Gram matrix   λ_max = {shown['largest_eigenvalue_over_mean_diagonal']} × mean "
        f"diagonal, conditioning {_or_infinite(data['conditioning'])}, coherence "
        f"{shown['coherence']}, δ = ‖G/τ − I‖ = {shown['gram_deviation']}",
        f"Common mean   {mean:.1f}% of the trace{shared if mean > 30 else ''}",
        f"Prediction    H ≈ {shown['regime_index_H']} (for a small start and a stable step, "
        "freezing is likely from about 2 on), "
        f"{freezing_words(data)}  [H: our heuristics]",
    ]


def freezing_words(data: dict[str, Any]) -> str:
    """Return P̂; what is just below 1 is not printed as 1."""
    value = data["predicted_freezing_probability"]
    just_below = value is not None and 0.9999 <= value < 1
    return "P̂ > 0.9999" if just_below else f"P̂ ≈ {_number(value)}"


def _assumptions(found: dict[str, Any]) -> list[str]:
    return [
        f"Assumptions   at c = {found['relative_step']:g}, start {found['start']:g}: state, margin "
        "(negative where violated), statement [whose]",
        *(
            f"  {a['state']:<9} {_number(a['margin']):>10}  {a['statement']}  [{a['status']}]"
            for a in found["assumptions"]
        ),
    ]


def _descent(found: dict[str, Any]) -> list[str]:
    descent, best, data = found["descent"], found["comparator"], found["data"]
    shown = _shown(best)
    lines = [
        f"Descent       {descent['status']} at step {descent['steps']}, last change of pattern at "
        f"step {descent['last_flip']}; {descent['dead_positives']} of {data['positives']} "
        f"positives {_end(found)}, {descent['active_negatives']} negatives active"
        + second_words(found),
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


def second_words(found: dict[str, Any]) -> str:
    """Say what becomes of the second neuron's examples; "" where there is one neuron."""
    descent, data = found["descent"], found["data"]
    if descent["dead_negatives"] is None:
        return ""
    return (
        f"; of the neuron of sign −1, {descent['dead_negatives']} of {data['negatives']} negatives "
        f"{_end(found)}, {descent['active_positives']} positives active"
    )


def _end(found: dict[str, Any]) -> str:
    """Say of inactive examples that they stay so, where that is known."""
    return "end dead" if is_settled(found) else "are inactive then"


def bracket_words(found: dict[str, Any]) -> str:
    """Say what is known of the least norm where solving each neuron alone is not certified."""
    best = found["comparator"]
    if best["certified"]:
        return ""
    low, high = map(_number, best["bracket"])
    if low == high:
        return "; not certified"
    return f"; not certified: the least norm of a global minimum is within [{low}, {high}]"


def gap_unit(found: dict[str, Any]) -> str:
    """Return the unit that the theorems measure the gap in."""
    return {1: "√(n₋/‖λ‖₁)", 2: "√(n/‖λ‖₁)"}[found["neurons"]]


def _bounds(found: dict[str, Any]) -> str:
    """Return the line on what theory §6 says of the gap, or that it says nothing here."""
    shown = _shown(found["comparator"])
    if not is_frozen(found):
        classes = "the positives'" if found["neurons"] == 1 else "that of the label classes"
        return f"Bounds        none: they need the pattern to be {classes} from step one on"
    return (
        f"Bounds        leading order predicts {shown['leading_order']}; deductive bounds "
        f"[{shown['deductive_low']}, {_or_infinite(found['comparator']['deductive_high'])}]"
    )


def _claims(found: dict[str, Any]) -> list[str]:
    return ["Claims        on these data: verdict, margin, claim", *map(_claim, found["claims"])]


def _claim(claim: dict[str, Any]) -> str:
    """Return a line for a claim: what it comes to here, and what that does not say."""
    verdict, note = claim_words(claim)
    noted = f"  ({note})" if note else ""
    return f"  {verdict:<12} {_number(claim['margin']):>10}  {claim['id']}{noted}"


def claim_words(claim: dict[str, Any]) -> tuple[str, str]:
    """Return the word for a claim, and what the word does not say."""
    state = _STATES[claim["state"]]
    if claim["conclusion"] is None:
        return f"{state} here", "about a probability: one data set cannot test it"
    if claim["conclusion"] == Conclusion.VACUOUS:
        return claim["conclusion"], f"an assumption is not met; the inequality {state} here"
    return claim["conclusion"], ""


def _warnings(found: dict[str, Any]) -> list[str]:
    return [
        "Warnings      beside the verdicts, which they do not change  [H: thresholds are ours]",
        *(f"  {w['kind']}: {w['reason']}; try {w['try']}" for w in found["warnings"]),
    ]


def _shown(values: dict[str, Any]) -> dict[str, str]:
    """Return every single number of `values` as text."""
    single = (int, float, type(None))
    return {name: _number(value) for name, value in values.items() if isinstance(value, single)}


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value + 0.0:.5g}"


def _or_infinite(value: float | None) -> str:
    """Return a number that JSON has no word for where it is infinite."""
    return "∞" if value is None else _number(value)
