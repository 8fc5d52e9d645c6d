"""What `relu-verify search` prints: what was searched, what was found, and what it is worth."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from properties.seeking import Effort, Found, Sought
from properties.seeking.smallest import Place, places
from reports.counterexamples.checker import checker_of
from reports.counterexamples.readable import readable
from reports.searching.entries import entry
from reports.searching.files import effort_at, published
from verify.claims import Probable
from verify.counterexample import Counterexample
from verify.severity import words
from verify.theorem import Theorem

_FOUND = {
    "smallest": "the fewest examples, dimensions and so on, then the simplest numbers",
    "worst": "the lowest margin of all that was met",
}


_NO_SMALLEST = (
    "smallest: none, since the theorem has no small problems to seek it among: give it "
    "small=Explicit(…) or explicit=Explicit(…)"
)


def lines(theorem: Theorem, found: Found) -> Iterator[str]:
    """Yield the lines on a search: the claim, the effort, what was found, in one line each."""
    yield theorem.address_of(found.claim)
    yield f"  {found.statement}"
    if found.without:
        yield f"  without: {', '.join(found.without)}"
    yield f"  in the scope of: {', '.join(found.scope) or 'no assumption'}"
    yield ""
    yield f"Searched (seed {found.seed}):"
    yield from (f"  {line}" for line in _efforts(found.efforts))
    yield from _not_searched(theorem, found)
    if found.ended:
        yield _ENDED[found.ended]
    yield ""
    yield from _outcome(theorem, found)


def blocks(theorem: Theorem, found: Found, folder: Path) -> Iterator[str]:
    """Yield the readable block of the smallest counterexample, or else of the worst."""
    for stem, example in published(found)[:1]:
        source, _ = checker_of(theorem, example)
        checker = str(folder / f"{stem}_check.py") if source else ""
        yield ""
        record = str(folder / f"{stem}.json")
        yield from readable(example, record, checker, theorem).splitlines()
    yield ""


_ENDED = {
    "time": "The time was over first: what was found depends on the clock.",
    "interrupted": "Interrupted: this is what was found so far.",
    "terminated": "Terminated: this is what was found so far.",
}


def _not_searched(theorem: Theorem, found: Found) -> Iterator[str]:
    """Yield which sizes were not searched, and why; nothing where all were."""
    known = places(Sought(theorem, theorem.claim(found.claim), found.without))
    met = {(effort.kind, effort.where) for effort in found.efforts}
    end = _number_of(found.smallest, known)
    left: dict[str, dict[str, None]] = {}
    for place in known:
        if (place.kind, place.where) not in met:
            why = "a smaller one has a counterexample" if place.number > end else "it ended first"
            left.setdefault(why, {})[place.where] = None
    for why, where in left.items():
        names = list(where)
        few = ", ".join(names) if len(names) <= _MOST_SIZES else f"{names[0]} to {names[-1]}"
        yield f"  not searched, since {why}: {few}"


def _number_of(example: Counterexample | None, known: list[Place]) -> float:
    """Return the number of the place that an example is of; infinite where it is of none."""
    if example is None:
        return math.inf
    for place in known:
        values = example.recipe["values"]
        sizes = {name: values[name] for name in place.sizes}
        if place.kind == example.kind and sizes == place.sizes:
            return place.number
    return math.inf


_MOST_SIZES = 3
"""Sizes that are told one by one."""


def _efforts(efforts: tuple[Effort, ...]) -> list[str]:
    """Return a table of what was looked at, columns that are zero throughout left out."""
    if not efforts:
        return ["nothing"]
    names = (
        "examples",
        "in_scope",
        "violated",
        "undecided",
        "settled",
        "no_instance",
        "unconfirmed",
    )
    kept = [n for n in names if n in names[:3] or any(getattr(effort, n) for effort in efforts)]
    rows = [["", *(name.replace("_", " ") for name in kept)]]
    rows += [[effort.where, *(str(getattr(effort, name)) for name in kept)] for effort in efforts]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    ]


def _outcome(theorem: Theorem, found: Found) -> Iterator[str]:
    if found.examples and theorem.small is None and theorem.explicit is None:
        yield _NO_SMALLEST
        if found.universal and not found.without:
            yield "  relu-verify run shrinks one that is drawn"
    for name, meaning in _FOUND.items():
        example = getattr(found, name)
        if example is None:
            continue
        if name == "worst" and len(found.examples) == 1 and found.smallest is not None:
            yield "worst: the same"
            continue
        yield f"{name}: {entry(theorem, example)}"
        yield f"  {meaning}"
        yield from (f"  {line}" for line in _severity(found, example))
    if found.unconfirmed is not None:
        name = "numerically undecided" if found.contradicted else "unconfirmed"
        yield f"{name}: {entry(theorem, found.unconfirmed)}"
        yield f"  no counterexample: {found.why}"
    yield from _worth(theorem, found)


def _severity(found: Found, example: Counterexample) -> Iterator[str]:
    """Yield what is known of a counterexample's scope, first step and rate."""
    yield from words(example.severity)
    if example.severity.get("rate"):
        return
    effort = effort_at(found, example)
    if effort is not None:
        told = f"{effort.violated} of the {effort.in_scope} examples in scope"
        led = "" if effort.violated else "; steps from others led to this one"
        yield f"{told} ({effort.where}) violate it: no probability{led}"


def _worth(theorem: Theorem, found: Found) -> Iterator[str]:
    """Yield what follows from what was found."""
    claim = theorem.claim(found.claim)
    control = next((c for c in theorem.controls if c.id == found.claim), None)
    if not found.examples:
        if not any(effort.in_scope for effort in found.efforts):
            yield "No example was in scope: nothing was tested."
        elif found.unconfirmed is None and found.nothing_decided:
            yield "Every example in scope is undecided: nothing was tested."
        elif found.unconfirmed is None:
            yield "No counterexample was found. Finding nothing proves nothing."
        else:
            yield "Nothing is refuted: floating point alone violates the claim."
        return
    if control is not None:
        yield f"The claim is a control, known to be false: {control.because}."
    elif found.without and not found.refuted:
        yield f"Without {', '.join(found.without)} the claim is false."
    elif isinstance(claim, Probable):
        yield (
            f"The claim is one about a probability (at least {claim.probability:g}), which no "
            "single instance refutes; the rate says how often it fails there."
        )
    else:
        exact = found.conclusion == "counterexample"
        yield "The claim is refuted." if exact else "The claim is refuted (floating point)."
