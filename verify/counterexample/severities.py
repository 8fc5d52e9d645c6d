"""The entry "severity" of a counterexample file: what it must hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, get_args

from verify.errors import InputError
from verify.severity import Role, State

_ENTRIES = ("margin", "in_scope", "assumptions", "first_step", "rate")
_ASSUMED = ("assumption", "margin", "state", "role", "coordinate")
_COUNTS = ("violated", "undecided", "in_scope", "trials")
_PROBABILITIES = ("low", "high", "confidence")


def check_severity(severity: Mapping[str, Any]) -> None:
    """Raise InputError unless an entry "severity" is empty, or of the form that
    `Severity.to_json` gives it."""
    if not severity:
        return
    _check_names("severity", severity, _ENTRIES)
    _check(_is_number(severity["margin"]), "margin", severity["margin"], "a number or null")
    known = type(severity["in_scope"]) in (bool, type(None))
    _check(known, "in_scope", severity["in_scope"], "true, false or null")
    step = severity["first_step"]
    _check(step is None or _is_count(step), "first_step", step, "a step or null")
    assumed = severity["assumptions"]
    _check(type(assumed) is list, "assumptions", assumed, "a list")
    for one in assumed:
        _check_assumed(one)
    if severity["rate"] is not None:
        _check_rate(severity["rate"])


def _check_assumed(one: Any) -> None:
    _check_names("an assumption", one, _ASSUMED)
    for name in ("assumption", "coordinate"):
        _check(type(one[name]) is str, name, one[name], "a text")
    _check(_is_number(one["margin"]), "margin", one["margin"], "a number or null")
    for name, words in (("state", get_args(State)), ("role", get_args(Role))):
        _check(one[name] in words, name, one[name], f"one of {', '.join(words)}")


def _check_rate(rate: Any) -> None:
    copies = ("copies",) if type(rate) is dict and "copies" in rate else ()
    _check_names("rate", rate, (*_COUNTS, *_PROBABILITIES, "where", *copies))
    _check(type(rate.get("copies", "")) is str, "copies", rate.get("copies"), "a text")
    for name in _COUNTS:
        _check(_is_count(rate[name]), name, rate[name], "a number of trials")
    for name in _PROBABILITIES:
        known = type(rate[name]) in (int, float) and 0 <= rate[name] <= 1
        _check(known, name, rate[name], "a probability")
    where = rate["where"]
    known = type(where) is dict and all(type(at) in (int, float, str) for at in where.values())
    _check(known, "where", where, "a point")


def _check_names(what: str, entry: Any, names: tuple[str, ...]) -> None:
    if type(entry) is not dict or set(entry) != set(names):
        raise InputError(f"severity: {what} has not just the entries {', '.join(names)}")


def _check(holds: bool, name: str, value: Any, expected: str) -> None:
    if not holds:
        raise InputError(f"severity: {name}={repr(value)[:80]}, expected {expected}")


def _is_number(value: Any) -> bool:
    return value is None or (type(value) is float and math.isfinite(value)) or _is_whole(value)


def _is_whole(value: Any) -> bool:
    """Say whether it is a whole number that floating point can hold."""
    return type(value) is int and abs(value) < 2**63


def _is_count(value: Any) -> bool:
    return _is_whole(value) and value >= 0
