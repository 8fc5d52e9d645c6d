"""What the terminal and the page say of a researcher's own data in the same words."""

from __future__ import annotations

import math
from collections.abc import Callable

from reports.own_data.spelling import plural
from reports.typography import Part
from verify.relu.descent import CERTIFIED, DIVERGED
from verify.verdict import Conclusion

_STATES = {"holds": "holds", "violated": "fails", "unknown": "cannot be decided"}


def is_frozen(found: Part) -> bool:
    """Whether from step one on every neuron is active exactly on its label class, certified."""
    return bool(found["descent"]["pattern_is_the_label_classes_from_step_one"] == "holds")


def is_settled(found: Part) -> bool:
    """Whether the run has a certified limit."""
    return bool(found["descent"]["status"] == CERTIFIED)


def is_about_descent(found: Part) -> bool:
    """Whether gradient descent on ReLU neurons was looked at: not by every theorem, and not where
    the Gram matrix is singular."""
    return found.get("descent") is not None


def is_predicted(found: Part) -> bool:
    """Whether the predictions of what gradient descent does are about anything that was asked."""
    return found["theorem"] is None or is_about_descent(found)


def whose_setting(found: Part) -> str:
    """Say which theorems the warnings are about, where another one was asked for."""
    asked = "" if found["theorem"] is None else found.get("theorems", [""])[0]
    if not asked or asked.startswith("lai2026."):
        return ""
    return "; “the theorems” are lai2026's"


def start_words(found: Part, spell: Callable[[float], str]) -> str:
    """Say which start there is: what was asked for, or the nearest that some weights have."""
    asked = spell(found["start"])
    if found.get("start_had") is None:
        return f"start {asked}"
    low, high = map(spell, found["start_had"])
    had = low if low == high else f"{low} to {high}"
    return f"start {had} (nearest to {asked} that can be attained)"


def own_run_words(found: Part) -> str:
    """Say what the theorem runs, where that is not gradient descent as it is described here."""
    slope = found["own_run"]["slope_below"]
    if slope:
        return f"leaky ReLU descent (γ = {five_digits(slope)})"
    return "the theorem's own descent on ReLU neurons"


def outcome_words(run: Part) -> str:
    """Say how a run ended, and as far as is known why where it has no certified limit."""
    steps = plural(run["steps"], "step", "steps")
    if run["status"] == CERTIFIED:
        return f"certified at step {run['steps']}"
    if run["status"] == DIVERGED:
        return f"diverged within {steps}: the step is too large"
    told = f"undecided: no certificate after {steps}"
    if run["speed"] >= 2:
        return (
            f"{told}, and the step is too large for the last pattern (η·λ_max = "
            f"{five_digits(run['speed'])}, stable below 2)"
        )
    if run["near_ties"]:
        return f"{told}, and rounding hides the sign of a prediction"
    return told


def given_words(found: Part) -> str:
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


def neurons_words(found: Part) -> str:
    """Say how many neurons there are."""
    return {1: "one neuron, output sign +1", 2: "two neurons, output signs +1 and −1"}[
        found["neurons"]
    ]


def freezing_words(data: Part) -> str:
    """Return P̂; what is just below 1 is not printed as 1."""
    value = data["predicted_freezing_probability"]
    just_below = value is not None and 0.9999 <= value < 1
    return "P̂ > 0.9999" if just_below else f"P̂ ≈ {five_digits(value)}"


def second_words(found: Part) -> str:
    """Say what becomes of the second neuron's examples; "" where there is one neuron."""
    descent, data = found["descent"], found["data"]
    if descent["dead_negatives"] is None:
        return ""
    return (
        f"; of the neuron of sign −1, {descent['dead_negatives']} of {data['negatives']} negatives "
        f"{end_words(found)}, {descent['active_positives']} positives active"
    )


def end_words(found: Part) -> str:
    """Say of inactive examples that they stay so, where that is known."""
    return "end dead" if is_settled(found) else "are inactive then"


def bracket_words(found: Part) -> str:
    """Say what is known of the least norm where solving each neuron alone is not certified."""
    best = found["comparator"]
    if best["certified"]:
        return ""
    low, high = map(five_digits, best["bracket"])
    if low == high:
        return "; not certified"
    return f"; not certified: the least norm of a global minimum is within [{low}, {high}]"


def gap_unit(found: Part) -> str:
    """Return the unit that the theorems measure the gap in."""
    return {1: "√(n₋/‖λ‖₁)", 2: "√(n/‖λ‖₁)"}[found["neurons"]]


def claim_words(claim: Part) -> tuple[str, str]:
    """Return the word for a claim, and what the word does not say."""
    state = _STATES[claim["state"]]
    if claim["conclusion"] is None:
        return f"{state} here", "about a probability: one data set cannot test it"
    if claim["conclusion"] == Conclusion.VACUOUS:
        return claim["conclusion"], f"an assumption is not met; the inequality {state} here"
    return claim["conclusion"], ""


def five_digits(value: float | None) -> str:
    """Return a number to five digits, a dash for none."""
    return "–" if value is None else f"{value + 0.0:.5g}"


def or_infinite(value: float | None, spell: Callable[[float], str]) -> str:
    """Return a number as `spell` has it, or ∞, for which JSON has null."""
    return "∞" if value is None or value == math.inf else spell(value)


def index_words(data: Part, spell: Callable[[float], str]) -> str:
    """Return H: ∞ on orthogonal rows, and none there if a label is 0 as well (0·∞)."""
    index = data["regime_index_H"]
    known = index is not None and not math.isnan(index)
    return or_infinite(index, spell) if known or not data["zeros"] else "–"


def margin_words(entry: Part, spell: Callable[[float], str]) -> str:
    """Return the margin of an assumption or claim, a dash where numerics cannot tell its sign. JSON
    has null for ∞, −∞ and none alike, and the state tells them apart."""
    if entry["margin"] is None or entry["state"] == "unknown":
        return {"holds": "∞", "violated": "−∞"}.get(entry["state"], "–")
    return spell(entry["margin"])
