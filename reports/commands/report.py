"""`relu-verify report`: a run told again from its folder, or a report.json in another format."""

from __future__ import annotations

from pathlib import Path

import click

from reports.commands import options
from reports.terminal import stdout_kept


@click.command()
@click.argument("place", metavar="DIR|FILE", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(["html", "md", "json", "csv", "svg"]),
    default="html",
    show_default=True,
    help="html writes DIR/report.html, report.json and counterexamples/; the others print. svg is "
    "the figure of a theorem whose measures share one.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="Write to this file, and nothing else."
)
@click.option("--records", is_flag=True, help="As csv, every number of every trial in DIR.")
@options.junit
@options.summary
@click.option("--run", "number", type=int, help="The run of this number.  [default: the latest]")
@click.option("--list", "listing", is_flag=True, help="List the runs that DIR remembers.")
@click.option(
    "--integrity", is_flag=True, help="Hold every entry of DIR's records to its checksum."
)
def report(
    place: Path,
    form: str,
    out: Path | None,
    records: bool,
    junit_file: Path | None,
    summary_file: Path | None,
    number: int | None,
    listing: bool,
    integrity: bool,
) -> int:
    """Tell a run again from the records in its folder, or show a report.json in another format.

    Nothing is sampled and nothing is searched: the verdicts are those that the run gave (single
    blocks are made again from their seeds, to describe counterexamples and for pictures). If
    records are missing, or were made by another version of the theorem, of numpy or of this
    tool, the theorems that are complete are told and the others named.

    \b
    Exit code 0 if the report is whole, whatever its verdicts are, 3 if theorems are missing in
    it, or entries of the records are damaged (--integrity), 2 if there is nothing to tell.
    """
    from reports.runs import telling
    from reports.runs.ci import ForCI

    of_the_records = records or listing or integrity
    if (records and form != "csv") or (place.is_file() and (of_the_records or number)):
        raise click.UsageError(
            "--records goes with --format csv, and --records, --run, --list and --integrity go "
            "with a folder"
        )
    if of_the_records and (junit_file or summary_file):
        raise click.UsageError(
            "--junit and --summary tell a report, not --records, a --list or --integrity"
        )
    with stdout_kept() as stdout:
        if integrity:
            return telling.integrity(place, stdout)
        if listing:
            return telling.list_runs(place, stdout)
        if records:
            return telling.export(place, out, stdout)
        return telling.tell(place, form, out, number, stdout, ForCI(junit_file, summary_file))
