"""Options that several commands have, with the same default and help."""

from __future__ import annotations

import click

seed = click.option("--seed", default=0, show_default=True, help="Root of all randomness.")
jobs = click.option(
    "--jobs", type=click.IntRange(min=1), default=None, help="Worker processes.  [default: cores]"
)
