"""Options that several commands have, with the same default and help."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import click

seed = click.option("--seed", default=0, show_default=True, help="Root of all randomness.")
jobs = click.option(
    "--jobs", type=click.IntRange(min=1), default=None, help="Worker processes.  [default: cores]"
)
executor = click.option(
    "--executor",
    metavar="dask[:ADDRESS]",
    default=None,
    help="Dask's workers in place of our own: as many on this machine, or those of the scheduler "
    "at tcp://HOST:PORT.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON in place of text.")
quiet = click.option("--quiet", is_flag=True, help="Do not tell how far it is.")
without = click.option(
    "--without",
    multiple=True,
    metavar="ASSUMPTION",
    help="Drop this assumption from the claim's scope. May be given several times.",
)
junit = click.option(
    "--junit",
    "junit_file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the verdicts to FILE as JUnit XML too, for CI servers; a missing folder is made.",
)
summary = click.option(
    "--summary",
    "summary_file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Append a summary in Markdown to FILE; $GITHUB_STEP_SUMMARY, say.",
)


def tell_taken(names: Iterable[str]) -> None:
    """Say on stderr of each name that several theorems go by which of them it is taken for."""
    from properties.catalogue import full_id, others_called

    for name in dict.fromkeys(names):
        if others := others_called(name):
            click.echo(
                f"relu-verify: {name} is taken for {full_id(name)}; there "
                f"{'is' if len(others) == 1 else 'are'} {' and '.join(others)} too",
                err=True,
            )


def cores() -> int:
    """Return the number of cores that this process may use: one in a worker of pytest-xdist,
    beside which the others run."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        return 1
    available = getattr(os, "sched_getaffinity", None)
    return len(available(0)) if available else os.cpu_count() or 1
