"""`relu-verify diff`: what changed between two runs."""

from __future__ import annotations

from pathlib import Path

import click

from reports.commands import options


@click.command()
@click.argument("before", metavar="A", type=click.Path(path_type=Path))
@click.argument("after", metavar="B", type=click.Path(path_type=Path))
@options.as_json
def diff(before: Path, after: Path, as_json: bool) -> int:
    """Say what changed from run A to run B: folders of runs, or their report.json files.

    Verdicts, claims, settings and versions, counterexamples, and frequencies and slopes that
    moved by more than chance.

    \b
    Exit code 0 if no verdict changed, 1 if one changed for the worse, 3 if verdicts changed
    otherwise or claims were added, removed or stated differently, 2 for what is no report.
    """
    from reports.diff.compare import compare
    from reports.diff.lines import told
    from reports.runs.saved import read
    from verify.writing import json_text

    found = compare(read(before), read(after))
    if as_json:
        click.echo(json_text(found), nl=False)
    else:
        click.echo(told(found, [str(before), str(after)]))
    return int(found["exit_code"])
