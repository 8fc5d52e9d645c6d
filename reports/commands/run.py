"""`relu-verify run`: verify theorems, and keep everything in a folder."""

from __future__ import annotations

import os
import time
from pathlib import Path

import click

from reports.commands import options
from reports.terminal import ProgressBar, stdout_kept, typed


@click.command()
@click.argument("theorems", nargs=-1, metavar="[THEOREM|FILE]...")
@click.option(
    "--profile",
    type=click.Choice(["quick", "full", "nightly"]),
    default="quick",
    show_default=True,
    help="How much evidence to gather.",
)
@options.seed
@options.jobs
@options.executor
@click.option(
    "--backend", default="numpy", show_default=True, help="numpy, torch, cupy, array-api-strict."
)
@click.option(
    "--confidence",
    default=0.95,
    show_default=True,
    help="Probability that nothing the run states is wrong.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=None,
    help="Folder for report.json, report.html, counterexamples/ and the records.  [default: "
    "relu-verify-out, and relu-verify-out/NAME for theorems that are named]",
)
@options.junit
@options.summary
def run(
    theorems: tuple[str, ...],
    profile: str,
    seed: int,
    jobs: int | None,
    executor: str | None,
    backend: str,
    confidence: float,
    out: Path | None,
    junit_file: Path | None,
    summary_file: Path | None,
) -> int:
    """Verify theorems: built-in ids, or Python files that hold one (default: all built-in).

    Prints one line a claim: verdict, id, counts "holds/in scope/trials", bound, worst margin;
    then what the theorem measures, which is not judged.
    An interrupted run goes on when the same command is run again.
    """
    from properties.catalogue import MODULES, distinct, find_theorem
    from reports.runs.ci import ForCI
    from reports.runs.journal import begin, finish, replaced
    from reports.runs.running import Settings
    from reports.runs.running import run as run_theorems
    from reports.runs.summary import summarise, told, write
    from reports.text.measured import measured_lines
    from reports.text.verdicts import verdict_line

    began = time.perf_counter()
    for_ci = ForCI(junit_file, summary_file)
    for_ci.prepare()
    chosen = [find_theorem(name) for name in distinct(theorems or MODULES)]
    settings = Settings(profile, seed, jobs or options.cores(), backend, confidence, executor)
    out = out or _default_folder(theorems)
    command = typed()
    if others := replaced(out, chosen):
        click.echo(
            f"relu-verify: {out} holds a report of {', '.join(others)}; it is replaced (use --out "
            "to keep both)",
            err=True,
        )
    number = begin(out, chosen, settings, command)
    results = []
    with ProgressBar() as bar, stdout_kept() as stdout:
        for result in run_theorems(chosen, settings, out, bar.update):
            bar.close()
            results.append(result)
            for verdict in result.verdicts:
                click.echo(verdict_line(told(result, verdict)), file=stdout)
            for line in measured_lines(result.verdicts):
                click.echo(line, file=stdout)
        report = summarise(results, settings, time.perf_counter() - began, command, out)
        write(report, out)
    finish(out, number, report)
    for_ci.write(report)
    click.echo(f"{report['sentence']}  [{time.perf_counter() - began:.0f} s in all]", err=True)
    click.echo(f"Report: {out / 'report.html'}", err=True)
    return int(report["exit_code"])


def _default_folder(theorems: tuple[str, ...]) -> Path:
    """Return relu-verify-out for everything, a folder of its own in it for named theorems."""
    names = [Path(name).stem if name.endswith(".py") else name for name in theorems]
    name = os.fsencode("+".join(dict.fromkeys(names)))[:100]
    return Path("relu-verify-out", name.decode(errors="ignore"))
