"""A counterexample as a text that one can read, paste and check by hand."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reports.characters import escaped
from reports.counterexamples.instances import family_of, instance
from reports.counterexamples.network import Network, network_of
from reports.counterexamples.numbers import Rational, both, by_how_much, equal, exactly, grid
from reports.counterexamples.sides import sides_in_floating_point, sides_of
from verify.counterexample import SIDES, Counterexample
from verify.severity import words
from verify.space import Point
from verify.theorem import Theorem

WIDTH = 100
"""Characters of the longest line."""

_LONGEST_FACT = 300


def readable(
    example: Counterexample, record: str, checker: str = "", theorem: Theorem | None = None
) -> str:
    """Return a counterexample as plain text, lines of at most 100 characters.

    record, checker: paths of its files, for the commands that check it; checker "" if none is.
    theorem: the example's, which knows what the integers of a small problem stand for; without it
    they are told as they are recorded.
    """
    body = [*_body(example, theorem), "", *_commands(example, record, checker)]
    lines = [*_heading(example), "", *body]
    return escaped("\n".join(lines)) + "\n"


def _heading(example: Counterexample) -> Iterator[str]:
    yield from _wrapped(f"Counterexample to {example.claim} ({example.theorem})")
    yield from _wrapped(f"Claim: {example.statement}", "  ")
    yield from _wrapped(f"Known: {example.evidence}; margin {example.margin:.6g}", "  ")
    if example.without:
        yield from _wrapped(f"Dropped: {', '.join(example.without)}", "  ")
    for line in (*words(_severity(example)), *_no_rate(example)):
        yield from _wrapped(line[:1].upper() + line[1:], "  ")


def _severity(example: Counterexample) -> Mapping[str, Any]:
    """Return the severity, without the margins of assumptions where their sides are told."""
    severity = example.severity
    if example.exact is None or not severity:
        return severity
    assumed = [{**one, "margin": None} for one in severity["assumptions"]]
    return {**severity, "assumptions": assumed}


def _no_rate(example: Counterexample) -> Iterator[str]:
    """Say why there is no rate, and what was tried instead, where it was searched for."""
    if not example.severity or example.severity["rate"] is not None or example.kind == "drawn":
        return
    if example.kind == "seeded":
        yield "searched, so no rate"
        return
    yield f"small problem: no law, so no rate{_tried(example.facts.get(TRIED))}"


def _tried(tried: Any) -> str:
    """Say how many problems of the example's size violate the claim; "" where that is unknown."""
    if not isinstance(tried, Mapping) or not {"violated", "in_scope", "where"} <= set(tried):
        return ""
    count, of = tried["violated"], tried["in_scope"]
    led = "" if count else " beyond rounding, but steps from others led to this one"
    size = f"problems of this size ({tried['where']}) that were tried in scope"
    return f"; {count} of the {of} {size} violate it{led}"


TRIED = "tried"
"""The fact that tells how many problems of an example's size a search tried."""


def _body(example: Counterexample, theorem: Theorem | None) -> Iterator[str]:
    """Yield the instance, in exact numbers where they are known, and what holds on it."""
    exact = example.exact
    if exact is None:
        yield from _recipe(example, theorem)
        for name, value in example.facts.items():
            if name in (TRIED, SIDES):
                continue
            text = str(value)
            short = text if len(text) <= _LONGEST_FACT else text[:_LONGEST_FACT] + " …"
            yield from _wrapped(f"{name}: {short}", "  ")
        if (sides := sides_in_floating_point(example)) is not None:
            yield ""
            yield "Violated in floating point: left ≤ right"
            yield f"  {sides[0]}  >  {sides[1]}"
        return
    network = network_of(exact)
    yield from _problem(exact) if network is None else _drawn_up(network)
    yield from ("", *_violated(exact["claim"]))
    yield from ("", *_assumptions(example, exact))


def _recipe(example: Counterexample, theorem: Theorem | None) -> Iterator[str]:
    """Yield the numbers that a problem is made of, or where and from what seed it was drawn."""
    recipe = {**example.recipe}
    if theorem is not None and family_of(theorem, example) is not None:
        yield from _wrapped(f"Of the numbers {instance(theorem, example)}")
    elif (point := recipe.pop("point", None)) is not None:
        yield from _wrapped(f"Drawn at {Point(**point)}, {_named(recipe)}")
    else:
        yield from _wrapped(f"Of the integers {_named(recipe.get('values', recipe))}")


def _drawn_up(network: Network) -> Iterator[str]:
    """Yield the data of a network, and its first steps."""
    if network.features is not None:
        yield from _matrix("X", network.features)
    else:
        yield from _matrix("G = XXᵀ", network.gram)
    yield from _matrix("y", [network.labels])
    for name, start in zip(network.neurons, network.start, strict=True):
        yield from _matrix(f"β{name}⁰ = Xw{name}⁰", [start])
    yield f"η = {both(network.step_size)}    φ'(0) = {network.slope_at_zero}"
    if any(entry != "0" for row in network.outside for entry in row):
        yield from _matrix("inner products of the starts' parts outside the span", network.outside)
    yield from _ends(network)
    for place, name in enumerate(network.neurons):
        yield ""
        yield f"Predictions β{name} = Xw{name} after each step:"
        table = [[exactly(entry) for entry in step[place]] for step in network.steps]
        names = [f"{number}:" for number in range(len(table))]
        yield from (f"  {line}" for line in grid(table, WIDTH - 2, names))


def _ends(network: Network) -> Iterator[str]:
    """Yield where descent ends and what it is compared with, as weights or as predictions."""
    if network.comparator_duals is None:
        return
    best = "w{}⋆" if network.comparator == "minimum_norm" else "w̃{}"
    known = {"w{}_∞": network.limit_duals, best: network.comparator_duals}
    if network.comparator == "nearest_minimum":
        known = {"w{}_0": network.starting_duals, **known}
    yield ""
    for symbol, duals in known.items():
        for name, row in zip(
            network.neurons, network.vectors(duals) if duals else (), strict=False
        ):
            yield from _matrix(f"{'' if network.has_weights else 'X'}{symbol.format(name)}", [row])


def _matrix(name: str, rows: Sequence[Sequence[Rational]]) -> Iterator[str]:
    """Yield a matrix, beside its name where it has room there."""
    shown = [[exactly(entry) for entry in row] for row in rows]
    lines = grid(shown, WIDTH - 4)
    head = f"{name} = "
    if len(lines) == len(rows) and len(head) + len(lines[0]) <= WIDTH:
        yield head + lines[0]
        yield from (" " * len(head) + line for line in lines[1:])
    else:
        yield f"{name} ="
        yield from (f"    {line}" for line in lines)


def _problem(exact: Mapping[str, Any]) -> Iterator[str]:
    """Yield whatever documents a problem of another kind."""
    for name, value in exact.items():
        if name not in ("claim", "assumptions", "not_exact"):
            yield from _wrapped(f"{name}: {value}", "  ")


def _violated(claim: Mapping[str, Any]) -> Iterator[str]:
    unlike = "≥" if claim["strict"] else ">"
    yield from _wrapped(f"Violated: {claim['reads'] or 'left ' + _sign(claim) + ' right'}")
    yield from _wrapped(f"{both(claim['left'])}  {unlike}  {both(claim['right'])}", "  ", "  ")
    yield f"  It fails by {by_how_much(claim['left'], claim['right'])}."


def _sign(statement: Mapping[str, Any]) -> str:
    return "<" if statement["strict"] else "≤"


def _assumptions(example: Counterexample, exact: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each assumption: what holds, and what was dropped."""
    told = {False: "Assumptions, which hold:", True: "Dropped:"}
    for dropped, heading in told.items():
        entries = [one for one in exact["assumptions"] if one["dropped"] is dropped]
        if entries:
            yield heading
        for one in entries:
            yield from _wrapped(f"{one['id']}: {_told(one)}", "  ", "  ")
    recorded = {one["id"] for one in exact["assumptions"]}
    if exact["not_exact"]:
        names = ", ".join(exact["not_exact"])
        yield from _wrapped(f"Without exact form, held in floating point: {names}")
    if others := [name for name in example.without if name not in recorded]:
        yield from _wrapped(f"Dropped, without exact value: {', '.join(others)}")


def _told(one: Mapping[str, Any]) -> str:
    """Return both sides of an assumption: "d = 2 where ≥ 5000 n = 10000 is required"."""
    sides = sides_of(one)
    quantity, bound = (
        equal(name, number) if name else exactly(number)
        for name, number in (
            (sides.quantity_name, sides.quantity),
            (sides.bound_name, sides.bound),
        )
    )
    when = f" {sides.when}" if sides.when else ""
    if not one["holds"]:
        return f"{quantity} where {sides.relation} {bound} is required{when}"
    dropped = ", holds all the same" if one["dropped"] else ""
    return f"{quantity} {sides.relation} {bound}{when}{dropped}"


def _commands(example: Counterexample, record: str, checker: str) -> Iterator[str]:
    yield "Check it:"
    flag = " --exact" if example.exact is not None else ""
    yield f"  relu-verify replay {_quoted(record)}{flag}"
    if checker:
        yield f"  python3 -I -S {_quoted(checker)}"
    if example.seed is not None:
        yield f"Found by a search with seed {example.seed}."


def _quoted(path: str) -> str:
    return shlex.quote(f"./{path}" if path.startswith("-") else path)


def _named(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())


def _wrapped(text: str, indent: str = "", further: str = "    ") -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + further,
        break_on_hyphens=False,
    ) or [""]
