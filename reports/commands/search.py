"""`relu-verify search`: the smallest and the worst counterexample to a claim."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reports.characters import one_line
from reports.commands import options
from reports.exit_codes import ALL_AS_EXPECTED, INTERRUPTED, REFUTED, TERMINATED, UNSETTLED
from reports.progress import Progress
from reports.terminal import stdout_kept, stop_again, typed

if TYPE_CHECKING:
    from properties.seeking import Found


@click.command()
@click.argument("claim")
@options.without
@click.option(
    "--examples",
    type=click.IntRange(min=1),
    default=None,
    help="Examples of each size and kind.  [default: 300]",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=None,
    help="Stop when the time is over and, without --examples, go on until then, in this process: "
    "what is found depends on the clock. A theorem's function that does not return is not stopped.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@options.jobs
@options.executor
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=None,
    help="Folder for the counterexamples.  [default: relu-verify-out/search-CLAIM]",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
@options.quiet
def search(
    claim: str,
    without: tuple[str, ...],
    examples: int | None,
    seconds: float | None,
    seed: int,
    jobs: int | None,
    executor: str | None,
    out: Path | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Search the smallest and the worst counterexample to a claim, or to a control's.

    CLAIM is as in `explain`. The smallest has the fewest examples, then dimensions, then neurons,
    then the simplest numbers; the worst has the lowest margin of all that is met, in the theorem's
    ensembles too. Where the claim has an exact form, a violation in floating point is a
    counterexample only if exact rational arithmetic confirms it: one that it contradicts is
    numerically undecided, one that it cannot decide (a drawn problem that is too large, or of a
    form that says nothing of drawn ones) is unconfirmed, and neither refutes anything. Without
    --seconds the same command finds the same.

    Without an assumption, the scope is what is left of the theorem's hypotheses, or of what the
    claim is given; our own certificates, which imply the claim, are left out of it.

    Writes of each counterexample a record (for `replay` and `pin`), a text, a LaTeX block and,
    where it is exact, a checker that stands alone.

    \b
    Exit codes
      0  nothing was found, which proves nothing; or what was searched is a control,
         or was searched without an assumption, and need not hold
      1  a counterexample in scope of a claim that is to hold: what was dropped, if
         anything was, holds on it too
      3  nothing but what is numerically undecided or unconfirmed, or no example in scope
         that is decided
      130, 143  interrupted, terminated: what was found until then is told and kept
    """
    from properties.catalogue import find_entry
    from properties.seeking import Sought, seek
    from reports.counterexamples.checker import require_checker
    from reports.searching.files import require_room, written
    from reports.searching.lines import blocks, lines
    from verify.claims import Claim
    from verify.engine.executors import open_executor
    from verify.errors import InputError
    from verify.writing import json_text, jsonable

    theorem, entry = find_entry(claim)
    if not isinstance(entry, Claim):
        raise InputError(f"{claim!r} is measured and claims nothing; search a claim or a control")
    folder = out or _default_folder(entry.id, without)
    sought = Sought(theorem, entry, without)
    if seconds is not None:
        jobs = jobs or 1
    require_checker(theorem)
    require_room(folder)
    with (
        Progress("examples", quiet) as bar,
        stdout_kept() as stdout,
        open_executor(executor, jobs or options.cores()) as workers,
    ):
        name = theorem.address_of(entry.id)

        def progress(done: int, total: int, where: str) -> None:
            stop_again()
            bar.update(name, done, total, where)

        found = seek(sought, examples, seconds, seed, progress, executor=workers)
        bar.close()
        if not as_json:  # before anything is written, which may fail
            for line in (*lines(theorem, found), *blocks(theorem, found, folder)):
                click.echo(one_line(line), file=stdout)
        files: list[Path] = []
        try:
            files = written(theorem, found, folder, typed())
        finally:
            if as_json:
                told: dict[str, Any] = {**found.to_json(), "files": [str(file) for file in files]}
                click.echo(json_text(jsonable(told)), file=stdout, nl=False)
        for file in [] if as_json else files:
            click.echo(one_line(f"Written: {file}"), file=stdout)
    return exit_code(found)


def _default_folder(claim: str, without: tuple[str, ...]) -> Path:
    return Path("relu-verify-out", "-without-".join([f"search-{claim}", *without]))


def exit_code(found: Found) -> int:
    """Return how the command ends."""
    if found.ended in ("interrupted", "terminated"):
        return INTERRUPTED if found.ended == "interrupted" else TERMINATED
    if found.refuted:
        return REFUTED
    undecided = found.unconfirmed is not None or found.nothing_decided
    return UNSETTLED if undecided and not found.examples else ALL_AS_EXPECTED
