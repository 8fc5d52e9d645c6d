"""`relu-verify ablate`: which assumptions of a theorem matter."""

from __future__ import annotations

import os
import time
from pathlib import Path

import click

from reports.commands import options
from reports.progress import Progress
from reports.terminal import stdout_kept, typed


@click.command()
@click.argument("theorem", metavar="THEOREM|FILE")
@click.option(
    "--examples",
    type=click.IntRange(min=1),
    default=150,
    show_default=True,
    help="Points that Hypothesis draws without each assumption, beside the edges: with fewer it "
    "takes less time.",
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
    help="Folder for ablation.json, ablation.csv, ablation.html, counterexamples/ and the "
    "records.  [default: relu-verify-out/ablate-THEOREM]",
)
def ablate(
    theorem: str,
    examples: int,
    seed: int,
    jobs: int | None,
    executor: str | None,
    as_json: bool,
    quiet: bool,
    out: Path | None,
) -> int:
    """Drop each assumption of a theorem in turn, and search for a violation without it.

    An assumption is load-bearing if an instance is found that violates a claim, and this
    assumption alone; not needed, as far as found, if none is; vacuous if no instance was met that
    violates it alone. For a claim about a probability, fresh trials at the point must put that
    below what is stated. The certificates of ours, which imply what is claimed, are left out
    throughout. With nothing dropped it is searched as well. Searched are the theorem's ensembles;
    `relu-verify search CLAIM --without ASSUMPTION` also looks among small problems.

    An interrupted command goes on, and a finished one is told again, when it is given again.

    \b
    Exit codes
      0  no universal claim violated with nothing dropped, no assumption undecided
      1  a universal claim violated with nothing dropped
      3  an assumption came out undecided, or all came out vacuous

    A vacuous assumption is told and counted and does not change the code: often the others imply
    it.
    """
    from properties.ablate import ablate as search
    from properties.catalogue import find_theorem
    from reports.ablation.lines import time_left, told
    from reports.ablation.page import require_room, write
    from reports.ablation.summary import summarise, write_counterexamples
    from reports.runs.damage import telling_damage
    from reports.runs.holding import held
    from reports.runs.running import STORE_NAME
    from verify.engine.executors import open_executor, require_executor
    from verify.engine.store import Store
    from verify.writing import json_text

    chosen = find_theorem(theorem)
    options.tell_taken([theorem])
    out = out or _default_folder(theorem)
    require_executor(executor)
    with held(out, typed()):
        require_room(out)
        with (
            Progress("searches", quiet) as bar,
            stdout_kept(),
            telling_damage(Store(out / STORE_NAME)) as store,
            open_executor(executor, jobs or options.cores()) as workers,
        ):
            began = time.monotonic()

            def progress(done: int, total: int, what: str) -> None:
                bar.update(chosen.address, done, total, what)
                took = time.monotonic() - began
                if done == 1 and executor is None and not quiet:
                    left = time_left(took, total - 1, jobs or options.cores(), examples)
                    if left:
                        click.echo(f"{chosen.address}  {left}", err=True)

            found = search(
                chosen,
                examples=examples,
                root_seed=seed,
                executor=workers,
                store=store,
                progress=progress,
            )
        report, files = summarise(chosen, found, examples, seed, typed())
        write_counterexamples(files, out)
        write(report, out)
        click.echo(json_text(report).rstrip() if as_json else told(report))
        click.echo(f"Page: {out / 'ablation.html'}", err=True)
        return int(report["exit_code"])


def _default_folder(theorem: str) -> Path:
    """Return relu-verify-out/ablate-THEOREM; of a theorem in a file, with the file's name."""
    name = Path(theorem).stem if theorem.endswith(".py") else theorem.removesuffix(".*")
    shortened = os.fsencode(f"ablate-{name}")[:100].decode(errors="ignore")
    return Path("relu-verify-out", shortened)
