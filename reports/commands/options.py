"""Options that several commands have, with the same default and help."""

from __future__ import annotations

import os

import click

seed = click.option("--seed", default=0, show_default=True, help="Root of all randomness.")
jobs = click.option(
    "--jobs", type=click.IntRange(min=1), default=None, help="Worker processes.  [default: cores]"
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON in place of text.")
without = click.option(
    "--without",
    multiple=True,
    metavar="ASSUMPTION",
    help="Drop this assumption from the claim's scope. May be given several times.",
)


def cores() -> int:
    """Return the number of cores that this process may use."""
    available = getattr(os, "sched_getaffinity", None)
    return len(available(0)) if available else os.cpu_count() or 1
