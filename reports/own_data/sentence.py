"""The one plain sentence on a researcher's own data: what was found, and what is to blame."""

from __future__ import annotations

from collections import Counter
from typing import Any

from reports.own_data.words import (
    claim_words,
    index_words,
    is_about_descent,
    is_frozen,
    is_settled,
    or_infinite,
    outcome_words,
    own_run_words,
)
from verify.relu.descent import CERTIFIED, DIVERGED, UNDECIDED
from verify.verdict import Conclusion

_FROZEN = {
    1: "the active examples are those of positive label, as stated",
    2: "each neuron is active exactly on the examples whose label has its sign, as stated",
}

_PLURAL = {"holds here": "hold here", "fails here": "fail here"}


def sentence(found: dict[str, Any]) -> str:
    """Say in one plain sentence what `analyse` found, and what a user may try."""
    if found["stopped"]:
        told = f"{found['stopped']}."
    else:
        told = _regime(found) if found["theorem"] is None else _of_the_theorem(found)
    if found["data"]["only_0_and_1"]:
        told += " Labels 0 and 1 are targets here, not classes: name one with --positive 1."
    return told


def _of_the_theorem(found: dict[str, Any]) -> str:
    """Say what the claims of a theorem that was asked for come to, and what its descent did."""
    claims, (name,) = found["claims"], found["theorems"]
    if not claims:
        return f"No claim of {name} is about single problems."
    counts = Counter(claim_words(claim)[0] for claim in claims)
    told_first = sorted(counts, key=lambda word: word != Conclusion.REFUTED)
    (word, count), *others = [
        (word if counts[word] == 1 else _PLURAL.get(word, word), counts[word])
        for word in told_first
    ]
    noun = "claim" if len(claims) == 1 else "claims"
    told = f"On these data: {count} of {len(claims)} {noun} of {name} {word}"
    told += "".join(f", {count} {word}" for word, count in others)
    violated = [a["id"] for a in found["assumptions"] if a["state"] == "violated"]
    told += f" (violated: {', '.join(violated)})" if violated else ""
    if is_about_descent(found):
        return f"{told}; {_did(found)}."
    if found["own_run"]:
        return f"{told}; {own_run_words(found)} {_ended(found['own_run'])}."
    return f"{told}."


def _regime(found: dict[str, Any]) -> str:
    violated = {a["id"] for a in found["assumptions"] if a["state"] == "violated"}
    did = _did(found)
    if not (is_frozen(found) and is_settled(found)):
        blame = _blame(found, violated)
        return f"{blame[0].upper()}{blame[1:]}: {did}."
    told = f"From step one on {_FROZEN[found['neurons']]}, and {did}."
    if "certified_from_step_one" in violated:
        told += (
            " (The step-one certificate could not tell this beforehand, so the claims that assume "
            "it are vacuous; the run itself is certified.)"
        )
    return told


def _dead(found: dict[str, Any]) -> str:
    """Say how many examples of which sign end inactive for the neuron of their sign; "" if none."""
    descent, data = found["descent"], found["data"]
    parts = [
        f"{descent[f'dead_{sign}s']} of {data[f'{sign}s']} {sign}"
        for sign in ("positive", "negative")
        if descent[f"dead_{sign}s"]
    ]
    return f"{' and '.join(parts)} examples end dead" if parts else ""


def _did(found: dict[str, Any]) -> str:
    """Say what gradient descent did."""
    descent = found["descent"]
    if is_settled(found):
        where = "at a global minimum"
        if not descent["global_minimum"]:
            missed = f"predictions miss by up to {descent['largest_misfit']:.3g}"
            where = f"not at a global minimum: {_dead(found) or missed}"
        return f"gradient descent settles (certified at step {descent['steps']}), {where}"
    if descent["status"] == DIVERGED:
        return f"gradient descent diverges within {descent['steps']} steps"
    told = f"gradient descent has not settled after {descent['steps']} steps"
    if descent["near_ties"]:
        told += ", where rounding hides the sign of a prediction: more steps would not tell"
    elif descent["steps"] < descent["most_steps"]:
        told += ", by when rounding errors may have grown too large: more steps would not tell"
    return told


def _ended(run: dict[str, Any]) -> str:
    """Say how a run of the theorem's own ended."""
    if run["status"] == CERTIFIED:
        return f"settles ({outcome_words(run)})"
    return f"is {outcome_words(run)}" if run["status"] == UNDECIDED else outcome_words(run)


def _blame(found: dict[str, Any], violated: set[str]) -> str:
    """Say which of labels, start, step and data takes the problem out of the theorems' regime."""
    data, c, start = found["data"], found["relative_step"], found["start"]
    if data["zeros"]:
        return "zero labels are outside the theorems"
    if not (data["positives"] and data["negatives"]):
        return "the theorems compare positive with negative labels, and there is one sign only"
    if c * (data["y_min"] + start) <= start:
        return f"the start {start:g} is not small against c·y_min = {c * data['y_min']:.3g}"
    if "step_is_stable" in violated and data["regime_index_H"] >= 1:
        block = {1: "G₊₊", 2: "G₊₊ or G₋₋"}[found["neurons"]]
        return f"the step c = {c:g} is too large (η·λ_max({block}) ≥ 2)"
    d_2, index = or_infinite(data["d_2"], "{:.3g}".format), index_words(data, "{:.2g}".format)
    return (
        f"these data are outside the theorems' regime (d_2 ≈ {d_2} for n = {data['examples']}, "
        f"H ≈ {index})"
    )
