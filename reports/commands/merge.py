"""`relu-verify merge`: the shards of a run joined, and its report."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from reports.commands import options
from reports.terminal import typed


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
def merge(
    folders: tuple[Path, ...], out: Path, junit_file: Path | None, summary_file: Path | None
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
      3        also if records are missing: no report is written, and it is said whose they are
      2        for what cannot be joined
    """
    from reports.exit_codes import UNSETTLED
    from reports.runs.ci import ForCI
    from reports.runs.holding import held
    from reports.runs.journal import begin
    from reports.runs.merging import join_folders, lacking, shared, told_from_records
    from reports.runs.running import require_usable
    from reports.runs.summary import require_room
    from reports.runs.whole import carry_out

    for_ci = ForCI(junit_file, summary_file)
    for_ci.prepare()
    common = shared(folders)
    require_usable(common.settings, out)
    command = common.command(out)
    with held(out, typed()):
        require_room(out)
        added = join_folders(folders, out)
        click.echo(
            f"Added to {out}: {added.blocks} blocks, {added.searches} parts of searches.", err=True
        )
        if lacks := lacking(common, out):
            begin(out, common.theorems, common.settings, command)
            for lack in lacks:
                click.echo(lack.line, err=True)
            here = shlex.quote(str(out))
            click.echo(f"Add what is missing: relu-verify merge {here} DIR --out {here}", err=True)
            click.echo(f"Or compute it here: {command}", err=True)
            return UNSETTLED
        return carry_out(
            lambda _: told_from_records(common, out),
            common.theorems,
            common.settings,
            out,
            command,
            for_ci,
        )
