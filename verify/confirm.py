"""A violation in floating point, looked at again over the rationals: only there it is certain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from flint import fmpq, fmpz

from verify.blame import blaming, whereabouts
from verify.claims import Assumption
from verify.counterexample import EXACT, Counterexample, realise
from verify.counterexample.entries import MOST_DIGITS, check_exact, longest
from verify.counterexample.replaying import explicit_of
from verify.engine.evaluate import margin_of
from verify.errors import InputError, TheoremError
from verify.exact import Exact, ExactMargin, NotDecided
from verify.margin import holds_beyond
from verify.severity import decided_exactly
from verify.theorem import Theorem
from verify.tolerances import IDENTITY
from verify.writing import jsonable

Outcome = Literal["exact", "undecided", "no exact form"]


@dataclass(frozen=True)
class Confirmed:
    """What exact arithmetic says of a counterexample found in floating point.

    outcome: "exact" — the claim is violated and every assumption of the scope that has an exact
    form holds; "undecided" — exact arithmetic says that the claim holds, or that an assumption
    fails, or cannot tell: no counterexample; "no exact form" — nothing was computed.
    example: with `exact` filled, the evidence "exact" and its severity's scope as that decides it,
    where that is the outcome, otherwise as it was given.   reason: the outcome in words.
    contradicted: where it is "undecided", whether exact arithmetic contradicts the violation;
    otherwise it cannot tell.
    """

    outcome: Outcome
    example: Counterexample
    reason: str
    contradicted: bool = False


class _Contradicted(NotDecided):
    """Raised where exact arithmetic says that there is no violation in scope."""


def confirm(theorem: Theorem, example: Counterexample) -> Confirmed:
    """Evaluate a counterexample's claim, its scope and what was dropped, over the rationals.

    Small and explicit problems are built of their integers; drawn ones are the floating-point
    numbers that were drawn, which are rationals. An assumption without an exact form must hold in
    floating point, beyond rounding, and is listed in `exact["not_exact"]`.

    Raises InputError where the recipe does not fit the theorem, TheoremError where a function of
    the theorem misbehaves, or where the claim fails exactly and holds in floating point by more
    than rounding: then the two forms do not say the same.
    """
    exact = theorem.exact
    if exact is None:
        return _without_form(example, f"theorem {theorem.address!r} has no exact form")
    if example.control:
        return _without_form(example, f"{example.claim!r} is about a broken simulator")
    if example.claim not in exact.statements:
        return _without_form(example, f"{example.claim!r} has no exact form")
    if example.kind in ("drawn", "seeded") and exact.from_floats is None:
        return _without_form(example, "drawn problems have no exact form")
    scope = theorem.scope(theorem.claim(example.claim), example.without)
    try:
        problem = _problem(theorem, exact, example)
        assumptions, unknown = _assumptions(theorem, exact, example, scope, problem)
        claim = _sides(exact, example.claim, problem)
        if claim.holds:
            raise _Contradicted(f"exactly the claim holds: {told(claim)}")
        _require_agreement(theorem, example, claim)
        if unknown is not None:
            raise unknown
        entry = _document(exact, problem) | {
            "claim": _statement(example.claim, claim) | {"violated": True},
            "assumptions": assumptions,
            "not_exact": [a.id for a in scope if a.id not in exact.statements],
        }
    except NotDecided as reason:
        return Confirmed("undecided", example, str(reason), isinstance(reason, _Contradicted))
    try:
        check_exact(entry, example.claim, example.without)
    except InputError as reason:
        raise TheoremError(f"{whereabouts('exact form', exact.document)}: {reason}") from reason
    severity = decided_exactly(example.severity, entry)
    confirmed = replace(example, exact=entry, evidence=EXACT, severity=severity)
    return Confirmed("exact", confirmed, f"exactly the claim fails: {told(claim)} is false")


def told(margin: ExactMargin) -> str:
    """Return an exact inequality as it is compared, with its sides to six significant digits."""
    sign = "<" if margin.strict else "≤"
    sides = f"{decimal(margin.left)} {sign} {decimal(margin.right)}"
    return f"{margin.reads}, that is {sides}" if margin.reads else sides


def decimal(number: Any) -> str:
    """Return a rational to six significant digits, in scientific notation beyond six places."""
    with localcontext() as context:
        context.prec = 30
        value = Decimal(_text(number).partition("/")[0])
        value /= Decimal(_text(number).partition("/")[2] or 1)
    mantissa, e, power = f"{value:.6g}".partition("e")
    shown = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{shown}{e}{power}" if value else "0"


def _without_form(example: Counterexample, reason: str) -> Confirmed:
    return Confirmed("no exact form", example, reason)


def _problem(theorem: Theorem, exact: Exact, example: Counterexample) -> Any:
    """Return the example's problem over the rationals. Raises NotDecided where it is none there."""
    trial, position = realise(theorem, example)
    try:
        if example.kind in ("small", "explicit"):
            values = explicit_of(theorem, example).exact_values(example.recipe["values"])
            return _called(exact.build, values)
        return _called(exact.from_floats, trial.problem, position)
    except TheoremError:
        raise
    except InputError as reason:
        raise NotDecided(f"over the rationals there is no such problem: {reason}") from reason


def _document(exact: Exact, problem: Any) -> dict[str, Any]:
    """Return what documents a problem. Raises NotDecided where it is too long to be recorded."""
    document = _called(exact.document, problem)
    if not isinstance(document, Mapping):
        raise TheoremError(
            f"{whereabouts('exact form', exact.document)} returned {type(document).__name__}, "
            "expected a dict"
        )
    entry = {str(name): jsonable(value) for name, value in document.items()}
    if longest(entry) > MOST_DIGITS:
        raise NotDecided(_TOO_LONG)
    return entry


_TOO_LONG = f"its exact numbers have more than {MOST_DIGITS} digits"


def _called(function: Callable[..., Any] | None, *arguments: Any) -> Any:
    """Call a function of the theorem's exact form. Raises NotDecided where it does so, and a
    TheoremError with its line where it misbehaves."""
    assert function is not None
    with blaming("exact form", function):
        try:
            return function(*arguments)
        except NotDecided as reason:
            undecided = reason
    raise undecided


def _sides(exact: Exact, name: str, problem: Any) -> ExactMargin:
    """Return both sides of a statement. Raises NotDecided where it cannot tell."""
    function = exact.statements[name]
    try:
        found = _called(function, problem)
    except NotDecided as reason:
        raise NotDecided(f"{name} is not decided: {reason}") from reason
    where = whereabouts("exact form", function)
    if not isinstance(found, ExactMargin):
        raise TheoremError(
            f"{where} returned {type(found).__name__}, expected an ExactMargin; write `return "
            "ExactMargin(left, right)` for the inequality left <= right"
        )
    for side in ("left", "right"):
        number = getattr(found, side)
        if type(number) not in _EXACT_NUMBERS:
            raise TheoremError(
                f"{where} returned {side}={_shown(number)} of type {type(number).__name__}, "
                "expected a Fraction, an int, or flint's fmpq or fmpz; compute it of the exact "
                "problem's numbers alone"
            )
    for word, kind in (("strict", bool), ("reads", str)):
        value = getattr(found, word)
        if type(value) is not kind:
            raise TheoremError(f"{where} returned {word}={_shown(value)}, expected {kind.__name__}")
    return found


_EXACT_NUMBERS = (Fraction, int, fmpq, fmpz)
"""What an exact side is: numbers whose arithmetic does not round."""


def _shown(value: Any) -> str:
    return repr(value)[:80]


def _require_agreement(theorem: Theorem, example: Counterexample, claim: ExactMargin) -> None:
    """Raise TheoremError where a claim that fails exactly holds in floating point, by more than
    its rounding and by more than `IDENTITY` of its scale: rounding explains no such thing."""
    trial, position = realise(theorem, example)
    known = theorem.claim(example.claim)
    margin = margin_of(known.inequality, trial)
    value, rounding = (
        float(np.broadcast_to(side, (trial.trials,))[position])
        for side in (margin.value, margin.uncertainty)
    )
    if value > IDENTITY and bool(holds_beyond(np.asarray(value), np.asarray(rounding))):
        raise TheoremError(
            f"the exact form and the floating-point form of {example.claim!r} disagree at "
            f"{dict(example.recipe)}: exactly {told(claim)} is false, and in floating point the "
            f"margin is {value:.6g} at a rounding of {rounding:.3g}; correct one of them"
        )


def _assumptions(
    theorem: Theorem,
    exact: Exact,
    example: Counterexample,
    scope: Sequence[Assumption],
    problem: Any,
) -> tuple[list[dict[str, Any]], NotDecided | None]:
    """Return both sides of the assumptions of the scope and of those that were dropped, and why
    one of the scope is not decided, if one is not. A dropped one that is not is left out.

    Raises NotDecided where one of the scope fails.
    """
    entries: list[dict[str, Any]] = []
    unknown: NotDecided | None = None
    for assumption in scope:
        try:
            if assumption.id not in exact.statements:
                _require_in_floating_point(theorem, example, assumption)
                continue
            margin = _sides(exact, assumption.id, problem)
        except NotDecided as reason:
            unknown = unknown or reason
            continue
        if not margin.holds:
            raise _Contradicted(f"exactly the assumption {assumption.id} fails: {told(margin)}")
        entries.append(_statement(assumption.id, margin) | {"holds": True, "dropped": False})
    for name in example.without:
        if name not in exact.statements:
            continue
        try:
            margin = _sides(exact, name, problem)
        except NotDecided:
            continue
        entries.append(_statement(name, margin) | {"holds": margin.holds, "dropped": True})
    return entries, unknown


def _require_in_floating_point(
    theorem: Theorem, example: Counterexample, assumption: Assumption
) -> None:
    """Raise NotDecided unless an assumption without exact form holds beyond rounding."""
    trial, position = realise(theorem, example)
    margin = margin_of(assumption.inequality, trial, "assumption")
    if not np.broadcast_to(margin.holds, (trial.trials,))[position]:
        raise NotDecided(
            f"the assumption {assumption.id}, which has no exact form, does not hold beyond "
            "rounding"
        )


def _statement(name: str, margin: ExactMargin) -> dict[str, Any]:
    return {
        "id": name,
        "left": _text(margin.left),
        "right": _text(margin.right),
        "strict": margin.strict,
        "reads": margin.reads,
    }


def _text(number: Any) -> str:
    """Return a rational as "p" or "p/q". Raises NotDecided where it is too long to be recorded."""
    try:
        text = str(number)
    except ValueError as reason:  # more digits than Python converts
        raise NotDecided(_TOO_LONG) from reason
    if longest(text) > MOST_DIGITS:
        raise NotDecided(_TOO_LONG)
    return text
