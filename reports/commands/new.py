"""`relu-verify new`: a theorem in a file, to start from."""

from __future__ import annotations

import click


@click.command()
@click.argument("name")
@click.option("--relu", is_flag=True, help="A theorem about a ReLU neuron, with verify.relu.")
@click.option("--force", is_flag=True, help="Replace a file of that name.")
def new(name: str, relu: bool, force: bool) -> int:
    """Write NAME.py: a small theorem with comments, complete, to change into your own.

    NAME may be a path. The file runs as it is; what to type next is printed.
    """
    from reports.new_theorem import next_commands, write_new

    click.echo(next_commands(write_new(name, relu, force)))
    return 0
