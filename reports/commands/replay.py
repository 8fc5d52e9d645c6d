"""`relu-verify replay`: a stored counterexample, run again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reports.characters import one_line
from reports.exit_codes import ALL_AS_EXPECTED, REFUTED, UNSETTLED
from reports.terminal import stdout_kept

if TYPE_CHECKING:
    from verify.counterexample import Counterexample, Replayed
    from verify.theorem import Theorem

_MOST_DIFFERENCES = 20


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--theorem", default=None, help="Where the theorem is, if its file has moved.")
@click.option(
    "--exact",
    is_flag=True,
    help="Over the rationals, and compare what is recorded with it.",
)
def replay(file: Path, theorem: str | None, exact: bool) -> int:
    """Run a stored counterexample again: does it still violate its claim?

    Exit code 0 if it does, 1 if it does not (any more). With --exact: 0 if exact arithmetic says
    that it does, and every number under "exact", the statement, and margin, facts and severity in
    floating point come out as they are recorded; 1 if it says that the claim holds or that an
    assumption fails, or if something else comes out; 3 if it cannot tell. The rate and the seed of
    the search are not computed again.
    """
    from reports.counterexamples.publish import theorem_of
    from verify import counterexample

    example = counterexample.read(file)
    with stdout_kept():
        known = theorem_of(example, theorem)
        if exact:
            code, lines, example = _exactly(known, example)
        else:
            replayed = counterexample.replay(known, example)
            code = ALL_AS_EXPECTED if replayed.violated else REFUTED
            lines = list(_told(example, replayed))
    told = [*_heading(example), *lines, *_facts(example)]
    click.echo("\n".join(map(one_line, told)))
    return code


def _exactly(theorem: Theorem, example: Counterexample) -> tuple[int, list[str], Counterexample]:
    """Evaluate a counterexample over the rationals; return the exit code, what to say, and the
    counterexample with what is exact of it."""
    from reports.counterexamples.compare import compared
    from verify.confirm import confirm

    found = confirm(theorem, example)
    reason = f"{found.reason}."
    if found.outcome == "no exact form":
        return UNSETTLED, [f"  Nothing is decided: {reason} Replay it without --exact."], example
    if found.outcome == "undecided":
        code = REFUTED if found.contradicted else UNSETTLED
        said = "is no counterexample" if found.contradicted else "is undecided"
        return code, [f"  The counterexample {said}: {reason}"], example
    lines = [f"  The counterexample still violates the claim: {reason}"]
    if example.exact is None:
        lines.append("  The file records no exact numbers to compare.")
    beside = compared(theorem, example, found)
    if not beside.other:
        lines.append("  Every recorded number that can be computed again is the same.")
        if beside.not_again:
            lines.append(f"  Not computed again: {', '.join(beside.not_again)}.")
        return ALL_AS_EXPECTED, lines, found.example
    more = len(beside.other) - _MOST_DIFFERENCES
    lines += [
        "  But the record differs: the file, the theorem or the library has changed since.",
        *(f"    {line}" for line in beside.other[:_MOST_DIFFERENCES]),
        *([f"    and {more} more"] if more > 0 else []),
    ]
    return REFUTED, lines, found.example


def _heading(example: Counterexample) -> Iterator[str]:
    yield f"{example.theorem}: {example.claim}"
    yield f"  {example.statement}"
    if example.without:
        yield f"  without assuming {', '.join(example.without)}"


def _told(example: Counterexample, replayed: Replayed) -> Iterator[str]:
    """Say what a stored counterexample does today."""
    if replayed.violated:
        said = "still violates the claim"
    elif not replayed.in_scope:
        said = "does not meet the claim's assumptions (any more)"
    else:
        said = "does not violate the claim (any more)"
    yield f"  The counterexample {said}: margin {replayed.margin:.6g}, stored {example.margin:.6g}."
    if not replayed.same:
        yield "  The margins differ: the theorem, the library or numpy has changed since."
    if example.exact is not None:
        yield "  It is known exactly: replay it with --exact to have that computed again."


def _facts(example: Counterexample) -> Iterator[str]:
    """Yield how severe the violation was when it was stored, where it was drawn, and its facts."""
    from verify.severity import words

    yield from (f"  {line}" for line in words(example.severity, example.kind != "drawn"))
    if point := example.recipe.get("point"):
        told = ", ".join(f"{name}={value}" for name, value in point.items())
        yield f"  drawn at: {told}"
    for name, value in example.facts.items():
        text = str(value)
        yield f"  {name}: {text if len(text) <= 300 else text[:300] + ' …'}"
