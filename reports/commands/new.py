"""`relu-verify new`: a theorem in a file, to start from."""

from __future__ import annotations

import click


@click.command()
@click.argument("name")
@click.option("--relu", "kind", flag_value="relu", help="About a ReLU neuron, with verify.relu.")
@click.option("--leaky", "kind", flag_value="leaky", help="About a leaky ReLU neuron.")
@click.option("--flow", "kind", flag_value="flow", help="About gradient flow of a ReLU neuron.")
@click.option(
    "--both-layers",
    "kind",
    flag_value="both_layers",
    help="About gradient flow of both layers of a ReLU network.",
)
@click.option("--force", is_flag=True, help="Replace a file of that name.")
def new(name: str, kind: str | None, force: bool) -> int:
    """Write NAME.py: a small theorem with comments, complete, to change into your own.

    NAME may be a path. The file runs as it is; what to type next is printed. By default it is about
    n numbers; the last of --relu, --leaky, --flow and --both-layers says otherwise.
    """
    from reports.new_theorem import PLAIN, next_commands, write_new

    click.echo(next_commands(write_new(name, kind or PLAIN, force)))
    return 0
