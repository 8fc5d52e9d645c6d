"""`relu-verify replay`: a stored counterexample, run again."""

from __future__ import annotations

import os
from pathlib import Path

import click

from reports.terminal import stdout_kept


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--theorem", default=None, help="Where the theorem is, if its file has moved.")
def replay(file: Path, theorem: str | None) -> int:
    """Run a stored counterexample again: does it still violate its claim?

    Exit code 0 if it does, 1 if it does not (any more).
    """
    from properties.catalogue import find_theorem
    from reports.lines import replay_lines
    from verify import counterexample

    example = counterexample.read(file)
    place = theorem or example.theorem
    moved = place.endswith(".py") and not os.path.isfile(place)
    if theorem is None and moved and os.path.isfile(example.theorem_file):
        place = example.theorem_file
    with stdout_kept():
        replayed = counterexample.replay(find_theorem(place), example)
    click.echo(replay_lines(example, replayed))
    return 0 if replayed.violated else 1
