"""`relu-verify merge`: the shards of a run joined, and its report."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reports.commands import options
from reports.terminal import typed

if TYPE_CHECKING:
    from reports.runs.ci import ForCI


@click.command()
@click.argument(
    "folders", nargs=-1, required=True, metavar="DIR...", type=click.Path(path_type=Path)
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="Folder for the report, as of relu-verify run, and the joined records.",
)
@options.junit
@options.summary
@options.quiet
def merge(
    folders: tuple[Path, ...],
    out: Path,
    junit_file: Path | None,
    summary_file: Path | None,
    quiet: bool,
) -> int:
    """Join the records of a run's shards, or of any runs with the same settings, and report.

    DIR is the folder of a run; what was asked there last must be the same in all but for --shard,
    --out, --jobs and --executor. The DIRs are only read; --out may be one of them, or hold records
    already. Nothing is sampled and nothing is searched: the report is that of one run without
    --shard, which --out then holds. Where two DIRs contradict each other, nothing is added to
    --out.

    \b
    Exit codes
      0, 1, 3  as of relu-verify run
      3        also if records are missing: no report is written, and it is said whose they are,
               also by --junit (errors) and --summary
      2        for what cannot be joined; --junit and --summary tell why
    """
    from reports.runs.ci import ForCI

    for_ci = ForCI(junit_file, summary_file)
    for_ci.prepare()
    with for_ci.telling_errors("relu-verify merge"):
        return _merge(folders, out, for_ci, quiet)


def _merge(folders: tuple[Path, ...], out: Path, for_ci: ForCI, quiet: bool) -> int:
    """Join, report, and return the exit code."""
    from reports.exit_codes import UNSETTLED
    from reports.runs.holding import held
    from reports.runs.journal import begin
    from reports.runs.merging import (
        join_folders,
        lacking,
        shared,
        told_from_records,
        told_incomplete,
    )
    from reports.runs.running import require_usable
    from reports.runs.summary import require_room
    from reports.runs.whole import carry_out
    from reports.text.counts import count_of

    common = shared(folders)
    require_usable(common.settings, out)
    command = common.command(out)
    with held(out, typed()):
        require_room(out)
        added = join_folders(folders, out)
        if not quiet:
            blocks = count_of(added.blocks, "block")
            parts = count_of(added.searches, "part of a search", "parts of searches")
            click.echo(f"Added to {out}: {blocks}, {parts}.", err=True)
        if lacks := lacking(common, out):
            begin(out, common.theorems, common.settings, command)
            for lack in lacks:
                click.echo(lack.line, err=True)
            here = shlex.quote(str(out))
            click.echo(f"Add what is missing: relu-verify merge {here} DIR --out {here}", err=True)
            click.echo(f"Or compute it here: {command}", err=True)
            if for_ci.asked:
                for_ci.write(told_incomplete(common, lacks, out, command))
            return UNSETTLED
        return carry_out(
            lambda _: told_from_records(common, out),
            common.theorems,
            common.settings,
            out,
            command,
            for_ci,
            quiet,
        )
