"""`relu-verify run`: verify theorems, and keep everything in a folder."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reports.commands import options
from reports.progress import Progress
from reports.terminal import stdout_kept, typed

if TYPE_CHECKING:
    from reports.runs.running import Settings
    from verify.engine.shards import Shard
    from verify.theorem import Theorem


@click.command()
@click.argument("theorems", nargs=-1, metavar="[THEOREM|FAMILY|FILE]...")
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
    "--shard",
    metavar="I/K",
    default=None,
    help="Do only the I-th of K shares of the work; relu-verify merge joins them.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=None,
    help="Folder for report.json, report.html, counterexamples/ and the records.  [default: "
    "relu-verify-out, and relu-verify-out/NAME for theorems that are named; in it, shard-I-of-K "
    "for a shard]",
)
@options.junit
@options.summary
@options.quiet
def run(
    theorems: tuple[str, ...],
    profile: str,
    seed: int,
    jobs: int | None,
    executor: str | None,
    backend: str,
    confidence: float,
    shard: str | None,
    out: Path | None,
    junit_file: Path | None,
    summary_file: Path | None,
    quiet: bool,
) -> int:
    """Verify theorems: built-in ids, first parts of ids, which stand for all theorems of that
    paper (lai2026), or Python files that hold one (default: all built-in).

    Prints one line a claim: verdict, id, counts "holds/in scope/trials", bound, worst margin
    and undecided trials; under a refuted claim the file of a counterexample, and the command that
    replays it; then what the theorem measures, which is not judged.
    An interrupted run goes on when the same command is run again, and a finished one is told
    again from its records; one command at a time may work in a folder.

    With --shard, blocks of trials and parts of searches are computed and kept, and no verdict is
    told. Its exit code is 0 when the share is complete, whatever it holds; violations that it has
    met are printed.
    """
    from properties.catalogue import MODULES, distinct, find_theorem
    from reports.runs.ci import ForCI
    from reports.runs.holding import held
    from reports.runs.running import Settings, require_usable
    from reports.runs.running import run as run_theorems
    from reports.runs.summary import require_room
    from reports.runs.whole import carry_out
    from verify.engine.executors import require_executor
    from verify.engine.shards import Shard

    if shard is not None and (junit_file or summary_file):
        raise click.UsageError(
            "--junit and --summary tell verdicts, which a shard has none of: give them to "
            "relu-verify merge"
        )
    share = None if shard is None else Shard.parse(shard)
    for_ci = ForCI(junit_file, summary_file)
    for_ci.prepare()
    with for_ci.telling_errors("relu-verify run"):
        chosen = [find_theorem(name) for name in distinct(theorems or MODULES)]
        options.tell_taken(theorems)
        settings = Settings(
            profile, seed, jobs or options.cores(), backend, confidence, executor, share
        )
        out = out or _default_folder(theorems, share)
        require_usable(settings, out)
        require_executor(executor)
        with held(out, typed()):
            if share is not None:
                return _run_shard(chosen, settings, share, out, quiet)
            require_room(out)
            return carry_out(
                lambda progress: run_theorems(chosen, settings, out, progress),
                chosen,
                settings,
                out,
                typed(),
                for_ci,
                quiet,
            )


def _run_shard(
    theorems: list[Theorem], settings: Settings, shard: Shard, out: Path, quiet: bool
) -> int:
    """Do a shard's share of a run and return the exit code."""
    from reports.runs.journal import begin, finish
    from reports.runs.running import STORE_NAME
    from reports.runs.sharing import outcome, run_shard, share_lines
    from reports.text.times import computing_words, seconds

    began = time.perf_counter()
    number = begin(out, theorems, settings, typed())
    shares = []
    with Progress(quiet=quiet) as bar, stdout_kept() as stdout:
        for share in run_shard(theorems, settings, shard, out, bar.update):
            bar.close()
            shares.append(share)
            for line in share_lines(share, shard):
                click.echo(line, file=stdout)
    told = outcome(shares, shard, time.perf_counter() - began)
    finish(out, number, told)
    computing = computing_words(told["computing"], "now")
    took = f"{seconds(told['wall_time_s'])}; {computing}"
    click.echo(f"{told['sentence']}  [{took}]", err=True)
    click.echo(f"Records: {out / STORE_NAME}", err=True)
    return int(told["exit_code"])


def _default_folder(theorems: tuple[str, ...], shard: Shard | None) -> Path:
    """Return relu-verify-out for everything, a folder of its own in it for named theorems, and for
    a shard one in that."""
    names = [
        Path(name).stem if name.endswith(".py") else name.removesuffix(".*") for name in theorems
    ]
    name = os.fsencode("+".join(dict.fromkeys(names)))[:100]
    folder = Path("relu-verify-out", name.decode(errors="ignore"))
    return folder if shard is None else folder / f"shard-{shard.index}-of-{shard.count}"
