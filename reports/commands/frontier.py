"""`relu-verify frontier`: where a claim stops holding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from reports.commands import options
from reports.progress import Progress
from reports.terminal import stdout_kept, typed


@click.command()
@click.argument("claim")
@click.option(
    "--x",
    required=True,
    metavar="AXIS[:LO:HI]",
    help="The axis along which the claim stops, of numbers, or a part of it.",
)
@click.option(
    "--y",
    default=None,
    metavar="AXIS[:V1,V2,…]",
    help="Another axis: a boundary for each of its values.  [values: five, or every choice]",
)
@click.option(
    "--at", multiple=True, metavar="NAME=VALUE", help="A coordinate everywhere; repeatable."
)
@options.without
@click.option(
    "--level",
    default="0.5",
    show_default=True,
    metavar="P1,P2,…",
    help="Probabilities that the claim holds at which the boundary is sought.",
)
@click.option(
    "--budget",
    default=20_000,
    show_default=True,
    help="Trials to spend, at most; no more than 2000000. A coarse grid, of up to 13 blocks of "
    "trials a row, is sampled whole whatever the budget.",
)
@click.option(
    "--confidence",
    default=0.95,
    show_default=True,
    help="Probability that every interval contains its boundary.",
)
@options.seed
@options.jobs
@options.executor
@options.as_json
@options.quiet
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=None,
    help="Folder for frontier.json, frontier.csv, cells.csv, frontier.html and the records.  "
    "[default: relu-verify-out/frontier-CLAIM-X-by-Y, numbered where it holds another frontier]",
)
def frontier(
    claim: str,
    jobs: int | None,
    executor: str | None,
    as_json: bool,
    quiet: bool,
    out: Path | None,
    **asked: Any,
) -> int:
    """Find where a claim stops: the boundary of the probability that it holds, along one axis.

    CLAIM is `theorem.claim`, `path/to/file.py::claim`, or a bare claim name where it is unique;
    `relu-verify explain THEOREM` lists the axes. Trials go where the answer is uncertain, to a
    coarse grid first. Every boundary has an interval that holds whenever one stops; with --y, a
    law boundary = a·y^p·(log y)^q is fitted for q = 0 and q = 1. Our own certificates, which imply
    what is claimed, are left out of the scope, and shown as lines to compare with. Without an
    assumption, the scope is what is left of the theorem's hypotheses, or of what the claim is
    given.

    An interrupted command goes on, and a finished one is told again, when it is given again.

    \b
    Exit code 0 if every row has its boundary, or certainly none in the range, 3 if an interval is
    still open within the budget, 2 for bad input.
    """
    from reports.frontier.folders import default_folder, replaced
    from reports.frontier.lines import told
    from reports.frontier.measuring import measure
    from reports.frontier.page import require_room, write
    from reports.frontier.request import read
    from reports.runs.holding import held
    from verify.engine.executors import open_executor, require_executor
    from verify.writing import json_text

    asked_for = read(claim, asked.pop("x"), asked.pop("y"), asked.pop("at"), **asked)
    out = out or default_folder(claim, asked_for)
    require_executor(executor)
    with held(out, typed()):
        require_room(out)
        if other := replaced(asked_for, out):
            click.echo(
                f"relu-verify: {out} holds the frontier of {other}; it is replaced, its records "
                "are kept (use --out to keep both)",
                err=True,
            )
        with (
            Progress("trials", quiet) as bar,
            stdout_kept(),
            open_executor(executor, jobs or options.cores()) as workers,
        ):
            found = measure(asked_for, out, workers, typed(), bar.update)
        write(found, out)
        click.echo(json_text(found).rstrip() if as_json else told(found))
        click.echo(f"Page: {out / 'frontier.html'}", err=True)
        return int(found["exit_code"])
