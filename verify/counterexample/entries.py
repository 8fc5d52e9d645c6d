"""The entry "exact" of a counterexample file: what it must hold, and rationals as they are written.

Whether the numbers are right is not asked here; that takes the arithmetic again, of a checker or
of `verify.confirm`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from verify.errors import InputError

MOST_DIGITS = 4_000
"""Digits of the longest numerator or denominator that is recorded; Python itself reads 4300."""

_RATIONAL = re.compile(r"(0|-?[1-9][0-9]*)(?:/([1-9][0-9]*))?")


def rational(name: str, text: Any) -> Fraction:
    """Return a rational written as "p" or "p/q". Raises InputError for anything else."""
    if type(text) is not str or len(text) > 2 * MOST_DIGITS + 2:
        found = f"a string of {len(text)} characters" if type(text) is str else repr(text)[:80]
        raise InputError(
            f"{name} is {found}, expected a rational as a string, 'p' or 'p/q' of at most "
            f"{MOST_DIGITS} digits each"
        )
    match = _RATIONAL.fullmatch(text)
    if match is None or any(len(part or "") > MOST_DIGITS + 1 for part in match.groups()):
        raise InputError(
            f"{name}={text[:80]!r}, expected a rational, 'p' or 'p/q' in ASCII digits, at most "
            f"{MOST_DIGITS} each, q >= 1"
        )
    return Fraction(text)


def longest(value: Any) -> int:
    """Return the number of digits of the longest numerator or denominator in JSON-able values."""
    if isinstance(value, Mapping):
        return max(map(longest, value.values()), default=0)
    if isinstance(value, list | tuple):
        return max(map(longest, value), default=0)
    return max(map(len, value.split("/"))) if isinstance(value, str) else 0


def unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object's entries. Raises ValueError where one occurs twice."""
    entries = dict(pairs)
    if len(entries) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the entry {twice[:80]!r} occurs twice")
    return entries


def check_exact(entry: Mapping[str, Any], claim: str, without: Sequence[str]) -> None:
    """Raise InputError unless an entry "exact" has the form that `verify.confirm` gives it.

    claim, without: those of the counterexample that it belongs to.
    """
    statements = [_required(entry, "exact", "claim", dict), *_statements(entry)]
    for statement in statements:
        name = f"exact: {_required(statement, 'a statement', 'id', str)[:80]}"
        for side in ("left", "right"):
            rational(f"{name}: {side}", _required(statement, name, side, str))
        _required(statement, name, "strict", bool)
        _required(statement, name, "reads", str)
    told = statements[0]
    if told["id"] != claim or told.get("violated") is not True or _holds(told):
        raise InputError(f"exact: claim is not a violation of {claim[:80]!r}")
    for statement in statements[1:]:
        name = f"exact: assumption {statement['id'][:80]}"
        holds = _required(statement, name, "holds", bool)
        dropped = _required(statement, name, "dropped", bool)
        if holds != _holds(statement):
            raise InputError(f"{name}: holds={holds}, which its sides contradict")
        if dropped != (statement["id"] in without):
            raise InputError(f"{name}: dropped={dropped}, which `without` contradicts")
        if not (holds or dropped):
            raise InputError(f"{name}: it fails and was not dropped: this is no counterexample")
    if not all(type(name) is str for name in _required(entry, "exact", "not_exact", list)):
        raise InputError("exact: not_exact holds something else than assumptions' ids")
    document = {name: entry[name] for name in entry if name not in _OURS}
    for name, value in document.items():
        _check_rationals(f"exact: {name[:80]}", value)


_OURS = ("claim", "assumptions", "not_exact")
"""What is said of a problem; all else documents the problem itself."""


def _statements(entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the assumptions of an entry. Raises InputError where one is no object."""
    assumptions: list[Any] = _required(entry, "exact", "assumptions", list)
    if not all(type(one) is dict for one in assumptions):
        raise InputError("exact: assumptions holds something else than objects")
    ids = [one.get("id") for one in assumptions]
    if any(ids.count(one) > 1 for one in ids):
        raise InputError("exact: an assumption occurs twice")
    return assumptions


def _holds(statement: Mapping[str, Any]) -> bool:
    left, right = Fraction(statement["left"]), Fraction(statement["right"])
    return left < right if statement["strict"] else left <= right


def _required(entry: Mapping[str, Any], where: str, name: str, kind: type) -> Any:
    """Return an entry. Raises InputError where it is missing or of another type."""
    if type(entry.get(name, ...)) is not kind:
        raise InputError(f"{where}: entry {name!r} is missing or of the wrong type")
    return entry[name]


def _check_rationals(name: str, value: Any) -> None:
    """Raise InputError for what a document of a problem does not hold: floating-point numbers, and
    strings that are no rationals, but for entries called "name"."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            if key == "name" and type(part) is str:
                continue
            _check_rationals(f"{name}: {key[:80]}", part)
    elif isinstance(value, list):
        for part in value:
            _check_rationals(name, part)
    elif isinstance(value, float):
        raise InputError(f"{name} is {value!r}, expected a whole number, or a rational as a string")
    elif isinstance(value, str):
        rational(name, value)
