"""`relu-verify list`: theorems with what they claim, control and measure."""

from __future__ import annotations

import click

from reports.commands import options


@click.command("list")
@click.argument("theorems", nargs=-1, metavar="[THEOREM|FAMILY|FILE]...")
def list_(theorems: tuple[str, ...]) -> int:
    """List theorems with their claims, controls and measures (default: all built-in).

    FAMILY is the first part of an id, and stands for a paper's theorems: lai2026.
    """
    from properties.catalogue import MODULES, distinct, find_theorem
    from reports.text.explanations import listing

    options.tell_taken(theorems)
    for name in distinct(theorems or MODULES):
        click.echo(listing(find_theorem(name)))
    return 0
