"""The analysis of a researcher's own data, as text for a terminal."""

from __future__ import annotations

from typing import Any

from verify.verdict import Conclusion

_STATES = {"holds": "holds", "violated": "fails", "unknown": "cannot be decided"}


def told(found: dict[str, Any]) -> str:
    """Return what `own_data.analyse` found as text."""
    lines = [*_data(found["data"]), ""]
    if found["stopped"] is None:
        lines += [*_assumptions(found), "", *_descent(found), "", *_claims(found), ""]
    return "\n".join([*lines, found["sentence"]])


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
        f"diagonal, conditioning {shown['conditioning']}, coherence "
        f"{shown['coherence']}, δ = ‖G/τ − I‖ = {shown['gram_deviation']}",
        f"Common mean   {mean:.1f}% of the trace{shared if mean > 30 else ''}",
        f"Prediction    H ≈ {shown['regime_index_H']} (for a small start and a stable step, "
        "freezing is likely from about 2 on), P̂ ≈ "
        f"{shown['predicted_freezing_probability']}  [H: our heuristics]",
    ]


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
        f"positives end dead, {descent['active_negatives']} negatives active",
        f"Comparator    minimum norm ‖w⋆‖ = {shown['norm']}, largest KKT residual "
        f"{max(best['kkt']):.1e}",
    ]
    if best["gap"] is None:
        return [*lines, "Gap           none: the run has no certified limit"]
    return [
        *lines,
        f"Gap           ‖w_∞ − w⋆‖ = {shown['gap']} = {shown['relative_gap']} ‖w⋆‖ = "
        f"{shown['gap_over_root_negatives_over_trace']} √(n₋/‖λ‖₁)",
        _bounds(found),
    ]


def _bounds(found: dict[str, Any]) -> str:
    """Return the line on what theory §6 says of the gap, or that it says nothing here."""
    best = found["comparator"]
    shown = _shown(best)
    frozen = any(
        a["id"] == "pattern_is_the_positives_from_step_one" and a["state"] == "holds"
        for a in found["assumptions"]
    )
    if not frozen:
        return "Bounds        none: they need the pattern to be the positives' from step one on"
    return (
        f"Bounds        leading order predicts {shown['leading_order']}; deductive bounds "
        f"[{shown['deductive_low']}, {shown['deductive_high']}]"
    )


def _claims(found: dict[str, Any]) -> list[str]:
    return ["Claims        on these data: verdict, margin, claim", *map(_claim, found["claims"])]


def _claim(claim: dict[str, Any]) -> str:
    """Return a line for a claim: what it comes to here, and what that does not say."""
    state = _STATES[claim["state"]]
    verdict, note = claim["conclusion"], ""
    if verdict is None:
        verdict, note = f"{state} here", "  (about a probability: one data set cannot test it)"
    elif verdict == Conclusion.VACUOUS:
        note = f"  (an assumption is not met; the inequality {state} here)"
    return f"  {verdict:<12} {_number(claim['margin']):>10}  {claim['id']}{note}"


def _shown(values: dict[str, Any]) -> dict[str, str]:
    """Return every single number of `values` as text."""
    single = (int, float, type(None))
    return {name: _number(value) for name, value in values.items() if isinstance(value, single)}


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value + 0.0:.5g}"
