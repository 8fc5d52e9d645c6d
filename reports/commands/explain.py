"""`relu-verify explain`: what a claim or theorem says, and how it is tested."""

from __future__ import annotations

import click


@click.command()
@click.argument("claim")
def explain(claim: str) -> int:
    """Explain a claim, control, measure or theorem: statement, assumptions, source, how it is
    tested.

    CLAIM is `theorem.claim`, `path/to/file.py::claim`, a bare claim name where it is unique, or
    a theorem's id or file.
    """
    from properties.catalogue import MODULES, find_entry, find_theorem, full_id
    from reports.text.explanations import explanation, theorem_explanation

    if full_id(claim) in MODULES or (claim.endswith(".py") and "::" not in claim):
        click.echo(theorem_explanation(find_theorem(claim)))
    else:
        click.echo(explanation(*find_entry(claim)))
    return 0
