"""The command line: relu-verify run, new, report, diff, list, explain, replay, data."""

from __future__ import annotations

import os
import shlex
import sys
import time
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NoReturn

import click

from reports.exit_codes import INTERRUPTED, TERMINATED, UNAVAILABLE, USAGE
from reports.terminal import ProgressBar, Terminated, steady_streams, stoppable

_EPILOG = """
\b
Examples
  relu-verify run                                  everything, in under a minute
  relu-verify run lai2026.theorem1 --profile full  one theorem, more trials
  relu-verify new my_theorem                       a start for a theorem of your own
  relu-verify run my_theorem.py                    verify it
  relu-verify explain pattern_freezes_after_step_one
  relu-verify report relu-verify-out --format md   a run again, as Markdown
  relu-verify diff old-out new-out                 what changed between two runs
  relu-verify data features.npy labels.csv --positive tumour

\b
Exit codes
  0 all as expected       1 refuted against expectation, or a control not refuted
  2 usage or bad input    3 something inconclusive, undecided or vacuous
  4 backend or data not available
  130 interrupted, 143 terminated: the same command goes on where it was
  report, diff and replay have 0, 1 and 3 mean what their --help says
"""


@click.group(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="relu-verify")
def cli() -> None:
    """Does this theorem really hold, where does it stop, and what is the smallest example that
    breaks it?

    Theorems are written as code: assumptions, claims, and where they were published. This tool
    draws problems, runs gradient descent on them to its exact limit, hunts counterexamples, and
    says of every claim whether it is supported, refuted, vacuous, inconclusive or undecided, at
    a stated confidence. False variants ("controls") are run beside them and must be refuted.
    """


@cli.command()
@click.argument("theorems", nargs=-1, metavar="[THEOREM|FILE]...")
@click.option(
    "--profile",
    type=click.Choice(["quick", "full", "nightly"]),
    default="quick",
    show_default=True,
    help="How much evidence to gather.",
)
@click.option("--seed", default=0, show_default=True, help="Root of all randomness.")
@click.option(
    "--jobs", type=click.IntRange(min=1), default=None, help="Worker processes.  [default: cores]"
)
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
def run(
    theorems: tuple[str, ...],
    profile: str,
    seed: int,
    jobs: int | None,
    backend: str,
    confidence: float,
    out: Path | None,
) -> int:
    """Verify theorems: built-in ids, or Python files that hold one (default: all built-in).

    Prints one line a claim: verdict, id, counts "holds/in scope/trials", bound, worst margin;
    then what the theorem measures, which is not judged.
    An interrupted run goes on when the same command is run again.
    """
    from properties.catalogue import MODULES, distinct, find_theorem
    from reports.journal import begin, finish
    from reports.lines import verdict_line
    from reports.measured_lines import measured_lines
    from reports.running import Settings
    from reports.running import run as run_theorems
    from reports.summary import summarise, told, write

    began = time.perf_counter()
    chosen = [find_theorem(name) for name in distinct(theorems or MODULES)]
    settings = Settings(profile, seed, jobs or _cores(), backend, confidence)
    out = out or _default_folder(theorems)
    command = shlex.join(["relu-verify", *sys.argv[1:]])
    number = begin(out, chosen, settings, command)
    results = []
    stdout = sys.stdout
    with ProgressBar() as bar, redirect_stdout(sys.stderr):  # what theorems print is no verdict
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
    click.echo(f"{report['sentence']}  [{time.perf_counter() - began:.0f} s in all]", err=True)
    click.echo(f"Report: {out / 'report.html'}", err=True)
    return int(report["exit_code"])


@cli.command()
@click.argument("name")
@click.option("--relu", is_flag=True, help="A theorem about a ReLU neuron, with verify.relu.")
@click.option("--force", is_flag=True, help="Replace a file of that name.")
def new(name: str, relu: bool, force: bool) -> int:
    """Write NAME.py: a small theorem with comments, complete, to change into your own.

    NAME may be a path. The file runs as it is; what to type next is printed.
    """
    from reports.new_theorem import next_commands, write_new

    click.echo(next_commands(write_new(name, relu, force)))
    return 0


@cli.command()
@click.argument("place", metavar="DIR|FILE", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(["html", "md", "json", "csv"]),
    default="html",
    show_default=True,
    help="html writes DIR/report.html, report.json and counterexamples/; the others print.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="Write to this file, and nothing else."
)
@click.option("--records", is_flag=True, help="As csv, every number of every trial in DIR.")
@click.option("--run", "number", type=int, help="The run of this number.  [default: the latest]")
@click.option("--list", "listing", is_flag=True, help="List the runs that DIR remembers.")
def report(
    place: Path, form: str, out: Path | None, records: bool, number: int | None, listing: bool
) -> int:
    """Tell a run again from the records in its folder, or show a report.json in another format.

    Nothing is sampled and nothing is searched: the verdicts are those that the run gave (single
    blocks are made again from their seeds, to describe counterexamples and for pictures). If
    records are missing, or were made by another version of the theorem, of numpy or of this
    tool, the theorems that are complete are told and the others named.

    \b
    Exit code 0 if the report is whole, whatever its verdicts are, 3 if theorems are missing in
    it, 2 if there is nothing to tell.
    """
    from reports.telling import export, list_runs, tell

    if (records and form != "csv") or (place.is_file() and (records or listing or number)):
        raise click.UsageError(
            "--records goes with --format csv, and --records, --run and --list go with a folder"
        )
    stdout = sys.stdout
    with redirect_stdout(sys.stderr):  # what theorems print is no report
        if listing:
            return list_runs(place, stdout)
        return export(place, out, stdout) if records else tell(place, form, out, number, stdout)


@cli.command()
@click.argument("before", metavar="A", type=click.Path(path_type=Path))
@click.argument("after", metavar="B", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON in place of text.")
def diff(before: Path, after: Path, as_json: bool) -> int:
    """Say what changed from run A to run B: folders of runs, or their report.json files.

    Verdicts, claims, settings and versions, counterexamples, and frequencies and slopes that
    moved by more than chance.

    \b
    Exit code 0 if no verdict changed, 1 if one changed for the worse, 3 if verdicts changed
    otherwise or claims were added, removed or stated differently, 2 for what is no report.
    """
    import json

    from reports.diff import compare
    from reports.diff_lines import told
    from reports.saved import read

    found = compare(read(before), read(after))
    text = told(found, [str(before), str(after)])
    click.echo(json.dumps(found, indent=1, ensure_ascii=False) if as_json else text)
    return int(found["exit_code"])


@cli.command("list")
@click.argument("theorems", nargs=-1, metavar="[THEOREM|FILE]...")
def list_(theorems: tuple[str, ...]) -> int:
    """List theorems with their claims, controls and measures (default: all built-in)."""
    from properties.catalogue import MODULES, distinct, find_theorem
    from reports.lines import listing

    for name in distinct(theorems or MODULES):
        click.echo(listing(find_theorem(name)))
    return 0


@cli.command()
@click.argument("claim")
def explain(claim: str) -> int:
    """Explain a claim, control, measure or theorem: statement, assumptions, source, how it is
    tested.

    CLAIM is `theorem.claim`, `path/to/file.py::claim`, a bare claim name where it is unique, or
    a theorem's id or file.
    """
    from properties.catalogue import MODULES, find_entry, find_theorem, full_id
    from reports.lines import explanation, theorem_explanation

    if full_id(claim) in MODULES or (claim.endswith(".py") and "::" not in claim):
        click.echo(theorem_explanation(find_theorem(claim)))
    else:
        click.echo(explanation(*find_entry(claim)))
    return 0


@cli.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--theorem", default=None, help="Where the theorem is, if its file has moved.")
def replay(file: Path, theorem: str | None) -> int:
    """Run a stored counterexample again: does it still violate its claim?

    Exit code 0 if it does, 1 if it does not (any more).
    """
    from properties.catalogue import find_theorem
    from reports.lines import replay_lines
    from verify import counterexample

    example = counterexample.read(file)
    place = theorem or example.theorem
    moved = place.endswith(".py") and not os.path.isfile(place)
    if theorem is None and moved and os.path.isfile(example.theorem_file):
        place = example.theorem_file
    with redirect_stdout(sys.stderr):
        replayed = counterexample.replay(find_theorem(place), example)
    click.echo(replay_lines(example, replayed))
    return 0 if replayed.violated else 1


@cli.command()
@click.argument("features", type=click.Path(path_type=str))
@click.argument("labels", type=click.Path(path_type=str), required=False)
@click.option(
    "--label-column",
    default=None,
    metavar="NAME",
    help="The column (by name, or number from 1) or array with the labels: of LABELS, or of "
    "FEATURES without LABELS.",
)
@click.option("--positive", default=None, metavar="LEVEL", help="This level is +1, all others −1.")
@click.option(
    "--step", default=0.5, show_default=True, metavar="C", help="Relative step c = η·tr(G)/n."
)
@click.option(
    "--start", default=1e-3, show_default=True, metavar="EPS", help="All starting predictions."
)
@click.option("--normalise-rows", is_flag=True, help="Scale every example to length 1.")
@click.option(
    "--features",
    "lift",
    default=None,
    metavar="relu:D|fourier:D[:BANDWIDTH]",
    help="D random features in place of the given ones.  [bandwidth: the median distance]",
)
@click.option("--seed", default=0, show_default=True, help="Of the random features.")
@click.option(
    "--neurons",
    type=click.IntRange(1, 2),
    default=1,
    show_default=True,
    help="One neuron of sign +1, or two of opposite sign.",
)
@click.option(
    "--theorem", default=None, metavar="FILE", help="A theorem to examine, not the built-in ones."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON in place of text.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=None,
    help="Folder for data.json and data.html, a page with figures.",
)
def data(
    features: str, labels: str | None, step: float, as_json: bool, out: Path | None, **options: Any
) -> int:
    """Check the theorems on your own data: a matrix (rows are examples) and one label a row.

    Says which assumptions hold and by what margin, then what gradient descent does on one ReLU
    neuron (or two), the minimum-norm solution and the gap between them; and warns of what in the
    data speaks against it. Reads .npy, .npz, .csv, .tsv, .mat, .mtx, svmlight, .parquet and .h5ad
    (the last two need extras); labels also .txt. FILE::NAME picks an array of a file of several.
    Files are never unpickled.
    """
    import json

    from reports.own_data import analyse
    from reports.own_data_input import Request
    from reports.own_data_lines import told

    request = Request(features, labels, relative_step=step, **options)
    with redirect_stdout(sys.stderr):  # what a theorem prints is no finding
        found = analyse(request)
    if out is not None:
        from reports.own_data_page import write

        write(found, out, shlex.join(["relu-verify", *sys.argv[1:]]))
    click.echo(json.dumps(found, indent=1, ensure_ascii=False) if as_json else told(found))
    if out is not None:
        click.echo(f"Page: {out / 'data.html'}", err=True)
    return int(found["exit_code"])


def _default_folder(theorems: tuple[str, ...]) -> Path:
    """Return relu-verify-out for everything, a folder of its own in it for named theorems."""
    names = [Path(name).stem if name.endswith(".py") else name for name in theorems]
    name = os.fsencode("+".join(dict.fromkeys(names)))[:100]
    return Path("relu-verify-out", name.decode(errors="ignore"))


def _cores() -> int:
    """Return the number of cores that this process may use."""
    available = getattr(os, "sched_getaffinity", None)
    return len(available(0)) if available else os.cpu_count() or 1


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code."""
    with steady_streams(), stoppable():
        _main(arguments)


def _main(arguments: list[str] | None) -> NoReturn:
    try:
        code = cli.main(arguments, prog_name="relu-verify", standalone_mode=False)
    except click.exceptions.Abort as reason:
        terminated = isinstance(reason.__cause__, Terminated)
        _fail(
            f"{'terminated' if terminated else 'interrupted'}; what was finished is kept: run the "
            "same command to go on",
            TERMINATED if terminated else INTERRUPTED,
        )
    except click.ClickException as problem:
        problem.show()
        sys.exit(problem.exit_code)
    except SystemExit as ended:
        _fail(f"the theorem's code called exit({ended.code!r}); take it out", USAGE)
    except OSError as problem:
        where = f"{problem.filename}: " if problem.filename else ""
        _fail(f"{where}{problem.strerror or problem}", USAGE)
    except Exception as problem:
        from verify.errors import BackendUnavailable, ReluVerifyError

        if isinstance(problem, UnicodeEncodeError):  # half a surrogate, of an argument or an id
            _fail(f"a name is not Unicode: {problem.object!r}", USAGE)
        if not isinstance(problem, ReluVerifyError):
            raise
        _fail(str(problem), UNAVAILABLE if isinstance(problem, BackendUnavailable) else USAGE)
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str, code: int) -> NoReturn:
    click.echo(f"relu-verify: {message}", err=True)
    sys.exit(code)
