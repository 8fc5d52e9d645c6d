"""What a command that tells verdicts does with them as they come, and at the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import click

from reports.progress import Progress
from reports.runs.ci import ForCI
from reports.runs.journal import begin, finish, replaced
from reports.runs.running import Progress as Step
from reports.runs.running import Result, Settings
from reports.runs.summary import summarise, told, write
from reports.terminal import stdout_kept
from reports.text.measured import measured_lines
from reports.text.times import computing_words, seconds
from reports.text.verdicts import counterexample_lines, verdict_line
from verify.theorem import Theorem


def carry_out(
    results_of: Callable[[Step], Iterator[Result]],
    theorems: Sequence[Theorem],
    settings: Settings,
    out: Path,
    command: str,
    for_ci: ForCI,
    quiet: bool = False,
) -> int:
    """Print verdicts as they come, write the report to `out`, and return the exit code.

    results_of: each theorem's result, when it is complete.   command: what gives the same report.
    quiet: whether nothing is told of how far it is.
    The folder's journal has the run as begun until the report is written.
    """
    began = time.perf_counter()
    if others := replaced(out, theorems):
        click.echo(
            f"relu-verify: {out} holds a report of {', '.join(others)}; it is replaced (use --out "
            "to keep both)",
            err=True,
        )
    number = begin(out, theorems, settings, command)
    results = []
    with Progress(quiet=quiet) as bar, stdout_kept() as stdout:
        for result in results_of(bar.update):
            bar.close()
            results.append(result)
            for verdict in result.verdicts:
                part = told(result, verdict)
                for line in (verdict_line(part), *counterexample_lines(part, str(out))):
                    click.echo(line, file=stdout)
            for line in measured_lines(result.verdicts):
                click.echo(line, file=stdout)
        report = summarise(results, settings, time.perf_counter() - began, command, out)
        write(report, out)
    finish(out, number, report)
    for_ci.write(report)
    computing = computing_words(report["computing"], "now")
    took = f"{seconds(report['wall_time_s'])}; {computing}"
    click.echo(f"{report['sentence']}  [{took}]", err=True)
    click.echo(f"Report: {out / 'report.html'}", err=True)
    return int(report["exit_code"])
