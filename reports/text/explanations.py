"""Theorems and claims as text: listings, and what they say and how they are tested."""

from __future__ import annotations

from reports.runs.running import error_share
from verify.claims import Claim, Probable, Rate, label_of, name_of, statement_of
from verify.engine.plan import PROFILES, Entry, trials_of
from verify.measures import Chain, Frequency, Measure
from verify.statistics import ErrorBudget
from verify.theorem import Theorem, points_of


def listing(theorem: Theorem) -> str:
    """Return a theorem with its claims, controls and measures, a line each."""
    lines = [f"{theorem.address}  {theorem.title}  [{theorem.status.value}]"]
    lines += [
        f"  {claim.kind:<10}{claim.id}  [{theorem.status_of(claim).value}]"
        for claim in theorem.claims
    ]
    lines += [f"  {'control':<10}{control.id}  (must be refuted)" for control in theorem.controls]
    lines += [
        f"  {measure.kind:<10}{measure.id}  (measured)  [{theorem.status_of(measure).value}]"
        for measure in theorem.measures
    ]
    if theorem.chain is not None:
        lines.append(f"  {'chain':<10}{', '.join(theorem.chain.ids)}")
    return "\n".join(lines)


def theorem_explanation(theorem: Theorem) -> str:
    """Return what a theorem says, where it comes from, and what is claimed."""
    lines = [theorem.title, ""]
    for name, text in (("", theorem.statement), ("Method   ", theorem.method)):
        lines += [f"{name}{text}", ""] if text else []
    lines += [f"  {symbol:<8} {meaning}" for symbol, meaning in theorem.symbols.items()]
    lines += [
        f"Source   {theorem.citation}",
        f"Status   [{theorem.status.value}] {theorem.status.meaning}",
    ]
    for claim in theorem.all_claims:
        control = claim not in theorem.claims
        mark = "must be refuted" if control else theorem.status_of(claim).value
        lines += ["", f"{theorem.address_of(claim.id)}  [{mark}]", f"  {claim.statement}"]
    for measure in theorem.measures:
        mark = f"{theorem.status_of(measure).value}, measured"
        lines += ["", f"{theorem.address_of(measure.id)}  [{mark}]", f"  {measure.statement}"]
    if theorem.chain is not None:
        lines += ["", theorem.address_of(theorem.chain.id), *_links(theorem.chain)]
    return "\n".join(lines)


def explanation(theorem: Theorem, entry: Entry) -> str:
    """Return statement, assumptions, source, status and test of one claim, measure or chain."""
    if isinstance(entry, Claim):
        return _claim_explanation(theorem, entry)
    if isinstance(entry, Measure):
        return _measure_explanation(theorem, entry)
    lines = [theorem.address_of(entry.id), "", "The links of the proof, in order:", *_links(entry)]
    lines += [f"Source    {theorem.citation}", ""]
    rule = "which link is the first to break, counted; no verdict depends on it"
    return "\n".join([*lines, *_sampled(theorem, entry, rule)])


def _links(chain: Chain) -> list[str]:
    return [
        f"  {number}. {statement_of(link)}  [{name_of(link)}]"
        for number, link in enumerate(chain.links, 1)
    ]


def _measure_explanation(theorem: Theorem, measure: Measure) -> str:
    lines = [theorem.address_of(measure.id), "", measure.statement, ""]
    lines += _given_and_source(theorem, measure)
    if measure.against is not None:
        lines.append(f"Against   {measure.abscissa}")
    if measure.by:
        lines.append(f"Lines     one for each {measure.by}")
    if measure.prediction is not None:
        lines.append(f"Predicted {label_of(measure.prediction)}")
    levels = ", ".join(f"{level:g}" for level in measure.levels)
    if isinstance(measure, Frequency):
        rule = "how often it holds, with exact bounds"
        rule += f", and where that passes {levels}" if levels else ""
    else:
        rule = "mean and deviation"
        rule += f", and the quantiles {levels} with intervals" if levels else ""
    rule += "; reported, not judged: no verdict depends on it"
    return "\n".join([*lines, "", *_sampled(theorem, measure, rule)])


def _given_and_source(theorem: Theorem, entry: Claim | Measure) -> list[str]:
    """Return the lines that say what a claim or measure assumes, and whose it is."""
    status = theorem.status_of(entry)
    if entry.given:
        given = [f"  - {a.statement}  [{theorem.status_of(a).value}: {a.id}]" for a in entry.given]
        lines = ["Given that", *given]
    else:
        lines = ["Given     nothing: every instance is in scope"]
    return [
        *lines,
        f"Source    {theorem.citation}",
        f"Status    [{status.value}] {status.meaning}",
    ]


def _sampled(theorem: Theorem, entry: Measure | Chain, rule: str) -> list[str]:
    """Return the lines that say where a measure or chain is sampled."""
    lines = [f"Measured  on random problems, {_trials(theorem, entry)} trials a cell; {rule}:"]
    return lines + [f"  - {point}" for point in points_of(theorem, entry)]


def _trials(theorem: Theorem, entry: Entry) -> str:
    """Say how many trials a cell has in each profile."""
    budget = ErrorBudget(error_share(theorem, 0.95), theorem.registered)
    return ", ".join(
        f"{trials_of(theorem, entry, profile, budget)} ({name})"
        for name, profile in PROFILES.items()
    )


def _claim_explanation(theorem: Theorem, claim: Claim) -> str:
    control = next((c for c in theorem.controls if c.claim is claim), None)
    lines = [theorem.address_of(claim.id), "", claim.statement, ""]
    if control is not None:
        lines += [f"A control: it is false and must be refuted, because {control.because}.", ""]
    lines += _given_and_source(theorem, claim)
    if claim.rests_on:
        lines.append(f"Rests on  {', '.join(claim.rests_on)}")
    return "\n".join([*lines, "", *_how_tested(theorem, claim, hunted=control is None)])


def _how_tested(theorem: Theorem, claim: Claim, hunted: bool) -> list[str]:
    """Return the lines that say what is sampled and what decides the verdict."""
    trials = _trials(theorem, claim)
    if isinstance(claim, Probable):
        trials += "; more at a higher --confidence than 0.95"
    if isinstance(claim, Rate):
        lines = [
            f"Tested    by the log–log slope along {len(claim.sweeps)} sweeps, {trials} trials a "
            f"point; supported if every slope's whole interval is within ±{claim.tolerance:g}:"
        ]
        return lines + [
            f"  - {sweep.name}: slope {sweep.exponent:g} against {sweep.abscissa}"
            for sweep in claim.sweeps
        ]
    rule = (
        f"supported if the lower bound on P(holds | in scope) is ≥ {claim.probability:g} in "
        "every cell, refuted if an upper bound is below it"
        if isinstance(claim, Probable)
        else "one violation in scope refutes it"
    )
    lines = [f"Tested    on random problems, {trials} trials a cell; {rule}:"]
    for point in points_of(theorem, claim):
        copies = theorem.copies_at(point)
        lines.append(f"  - {point}{copies and f': one problem, its {copies}'}")
    if hunted and not isinstance(claim, Probable) and (theorem.axes or theorem.explicit):
        lines.append("          and hunted by Hypothesis over the theorem's axes:")
        lines += [
            f"  - {axis.name}: {axis.choices or (axis.low, axis.high)}  {axis.meaning}"
            for axis in theorem.axes
        ]
        if theorem.explicit is not None:
            lines.append("  - and over small explicit problems of integers")
    return lines
