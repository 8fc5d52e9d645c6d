"""`relu-verify replay`: a stored counterexample, run again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reports.terminal import stdout_kept

if TYPE_CHECKING:
    from verify.counterexample import Counterexample, Replayed


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--theorem", default=None, help="Where the theorem is, if its file has moved.")
def replay(file: Path, theorem: str | None) -> int:
    """Run a stored counterexample again: does it still violate its claim?

    Exit code 0 if it does, 1 if it does not (any more).
    """
    from properties.catalogue import find_theorem
    from verify import counterexample

    example = counterexample.read(file)
    place = theorem or example.theorem
    moved = place.endswith(".py") and not os.path.isfile(place)
    if theorem is None and moved and os.path.isfile(example.theorem_file):
        place = example.theorem_file
    with stdout_kept():
        replayed = counterexample.replay(find_theorem(place), example)
    click.echo(_told(example, replayed))
    return 0 if replayed.violated else 1


def _told(example: Counterexample, replayed: Replayed) -> str:
    """Say what a stored counterexample does today."""
    if replayed.violated:
        said = "still violates the claim"
    elif not replayed.in_scope:
        said = "does not meet the claim's assumptions (any more)"
    else:
        said = "does not violate the claim (any more)"
    lines = [
        f"{example.theorem}: {example.claim}",
        f"  {example.statement}",
        f"  The counterexample {said}: margin {replayed.margin:.6g}, stored {example.margin:.6g}.",
    ]
    if not replayed.same:
        lines.append("  The margins differ: the theorem, the library or numpy has changed since.")
    if point := example.recipe.get("point"):
        told = ", ".join(f"{name}={value}" for name, value in point.items())
        lines.append(f"  drawn at: {told}")
    for name, value in example.facts.items():
        text = str(value)
        lines.append(f"  {name}: {text if len(text) <= 300 else text[:300] + ' …'}")
    return "\n".join(lines)
