"""`relu-verify explain`: what a claim or theorem says, and how it is tested."""

from __future__ import annotations

import click

from reports.commands import options


@click.command()
@click.argument("claim")
def explain(claim: str) -> int:
    """Explain a claim, control, measure or theorem: statement, assumptions, source, how it is
    tested.

    CLAIM is `theorem.claim`, `path/to/file.py::claim`, a bare claim name where it is unique, or
    a theorem's id or file, or the first part of ids: all theorems of that paper.
    """
    from properties.catalogue import MODULES, distinct, find_entry, find_theorem
    from reports.text.explanations import explanation, theorem_explanation

    names = distinct([claim])
    if names[0] in MODULES or (claim.endswith(".py") and "::" not in claim):
        options.tell_taken([claim])
        click.echo("\n\n\n".join(theorem_explanation(find_theorem(name)) for name in names))
    else:
        click.echo(explanation(*find_entry(claim)))
    return 0
