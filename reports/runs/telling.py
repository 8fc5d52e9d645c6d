"""What `relu-verify report` does: a run's report in the format that is asked for, to the place
that is asked for. Each function returns the exit code; messages go to stderr."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

import click

from reports.exit_codes import ALL_AS_EXPECTED, UNSETTLED
from reports.html.render import render
from reports.html.single_figure import single_figure
from reports.runs.ci import ForCI
from reports.runs.damage import tell_integrity, telling_damage
from reports.runs.holding import held
from reports.runs.journal import open_store, run_line, runs_of
from reports.runs.rebuild import Rebuilt, missing_lines, rebuild, restore, told_to_ci
from reports.runs.saved import read
from reports.terminal import typed
from reports.text.markdown import markdown
from reports.text.table import table
from verify.engine.exporting import export as export_to
from verify.errors import InputError, ReluVerifyError
from verify.writing import json_text, require_writable, write_text, writing

FORMATS: dict[str, Callable[[dict[str, Any]], str]] = {
    "html": render,
    "md": markdown,
    "json": json_text,
    "csv": table,
    "svg": single_figure,
}

_NOTHING = ForCI()


def tell(
    place: Path,
    form: str,
    out: Path | None,
    number: int | None,
    stdout: TextIO,
    for_ci: ForCI = _NOTHING,
) -> int:
    """Tell a run from its folder's records, or show a report.json, in one of FORMATS.

    Without `out`, html goes to the run's folder, with all that belongs to it, or beside the
    report.json; the other formats to `stdout`.   for_ci: what else is written.
    """
    if form == "html" and out is None:
        _require_writable(place.parent if place.is_file() else place)
    if out is not None:
        require_writable(out)
    for_ci.prepare()
    with for_ci.telling_errors("relu-verify report"):
        return _tell(place, form, out, number, stdout, for_ci)


def _tell(
    place: Path, form: str, out: Path | None, number: int | None, stdout: TextIO, for_ci: ForCI
) -> int:
    if place.is_file():
        report = read(place)
        shown = _shown(report, form, place)
        if form == "html" and out is None:
            out = place.with_suffix(".html")
        _put(shown, out, stdout)
        for_ci.write(report)
        return UNSETTLED if report.get("missing") else ALL_AS_EXPECTED
    rebuilt = rebuild(place, number, pictures=form in ("html", "json"))
    for line in (*_later(rebuilt), *missing_lines(rebuilt)):
        click.echo(line, err=True)
    if rebuilt.report is not None:
        if form == "html" and out is None:
            _restore(rebuilt)
        else:
            _put(FORMATS[form](rebuilt.report), out, stdout)
    if for_ci.asked:
        for_ci.write(told_to_ci(rebuilt))
    return UNSETTLED if rebuilt.missing else ALL_AS_EXPECTED


def list_runs(folder: Path, stdout: TextIO) -> int:
    """List the runs that a folder remembers."""
    with telling_damage(open_store(folder)) as store:
        for run in runs_of(store):
            click.echo(run_line(run), file=stdout)
    return ALL_AS_EXPECTED


def integrity(folder: Path, stdout: TextIO) -> int:
    """Hold every entry of a folder's records to its checksum, and say which are damaged."""
    with open_store(folder) as store:
        return tell_integrity(store, stdout)


def export(folder: Path, out: Path | None, stdout: TextIO) -> int:
    """Write every number in a folder's records as CSV; see `verify.engine.exporting`."""
    if out is not None:
        require_writable(out)
    with open_store(folder) as store:
        if out is None:
            export_to(store, stdout)
            return ALL_AS_EXPECTED
        with writing(out) as stream:
            export_to(store, stream)
    click.echo(f"Records: {out}", err=True)
    return ALL_AS_EXPECTED


def _restore(rebuilt: Rebuilt) -> None:
    """Write all that belongs to a run's folder, unless that would leave less there."""
    written = rebuilt.folder / "report.json"
    if rebuilt.missing and written.exists():
        click.echo(
            f"{written} is left as it is, since it may hold more; write what can be told "
            "elsewhere with --out FILE",
            err=True,
        )
        return
    with held(rebuilt.folder, typed()):
        restore(rebuilt)
    click.echo(f"Report: {rebuilt.folder / 'report.html'}", err=True)


def _require_writable(folder: Path) -> None:
    """Raise InputError where a page cannot be put beside the run that it is of."""
    if folder.is_dir() and not os.access(folder, os.W_OK):
        raise InputError(
            f"{folder} cannot be written, and html goes there; write it elsewhere with --out FILE, "
            "or print another --format (md, json, csv, svg)"
        )


def _shown(report: dict[str, Any], form: str, place: Path) -> str:
    """Return a report that was read in a format. Raises InputError for one that was edited so
    that it cannot be shown."""
    try:
        return FORMATS[form](report)
    except ReluVerifyError:
        raise
    except Exception as reason:  # there are more ways to edit a file than to check it
        raise InputError(
            f"{place} cannot be shown as {form} ({type(reason).__name__}: {reason}), so it is not "
            f"as it was written; rebuild it with relu-verify report {place.parent}"
        ) from reason


def _put(text: str, out: Path | None, stdout: TextIO) -> None:
    """Write a text to a file, whole or not at all, or to `stdout`."""
    if out is None:
        click.echo(text, nl=False, file=stdout)
        return
    write_text(out, text)
    click.echo(f"Report: {out}", err=True)


def _later(rebuilt: Rebuilt) -> list[str]:
    if rebuilt.later is None:
        return []
    return [
        f"Run {rebuilt.later} is later and was not finished; this is run {rebuilt.run.number} "
        f"(--run {rebuilt.later} tells what there is of the later one)."
    ]
