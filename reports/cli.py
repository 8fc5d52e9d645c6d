"""The command line `relu-verify`: its commands, and how an error ends them."""

from __future__ import annotations

import sys
from typing import NoReturn

import click

from reports.characters import one_line
from reports.commands.ablate import ablate
from reports.commands.data import data
from reports.commands.diff import diff
from reports.commands.explain import explain
from reports.commands.frontier import frontier
from reports.commands.list import list_
from reports.commands.merge import merge
from reports.commands.new import new
from reports.commands.pin import pin
from reports.commands.replay import replay
from reports.commands.report import report
from reports.commands.run import run
from reports.commands.search import search
from reports.exit_codes import INTERRUPTED, TERMINATED, UNAVAILABLE, USAGE
from reports.terminal import Terminated, steady_streams, stoppable

_EPILOG = """
\b
Examples
  relu-verify run                                  everything, in about two minutes on two cores
  relu-verify run lai2026.theorem1 --profile full  one theorem, more trials
  relu-verify new my_theorem                       a start for a theorem of your own
  relu-verify run my_theorem.py                    verify it
  relu-verify explain pattern_freezes_after_step_one
  relu-verify report relu-verify-out --format md   a run again, as Markdown
  relu-verify diff old-out new-out                 what changed between two runs
  relu-verify data features.npy labels.csv --positive tumour
  relu-verify frontier pattern_freezes_after_step_one --x d --y n:10,20,40 --at c=0.9
  relu-verify search pattern_freezes_after_step_one --without dimension_is_high

\b
Exit codes
  0 all as expected       1 refuted against expectation, or a control not refuted
  2 usage or bad input    3 something inconclusive, undecided or vacuous
  4 backend, data or Dask scheduler not available
  130 interrupted, 143 terminated: the same run goes on where it was, others begin again
  merge, report, diff, replay, frontier and search: 0, 1 and 3 as their --help says
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


for command in (
    run,
    merge,
    new,
    report,
    diff,
    list_,
    explain,
    replay,
    data,
    frontier,
    ablate,
    search,
    pin,
):
    cli.add_command(command)


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code."""
    with steady_streams(), stoppable():
        _main(arguments)


def _main(arguments: list[str] | None) -> NoReturn:
    try:
        code = cli.main(arguments, prog_name="relu-verify", standalone_mode=False)
    except click.exceptions.Abort as reason:
        terminated = isinstance(reason.__cause__, Terminated)
        typed = sys.argv[1:] if arguments is None else arguments
        _fail(
            f"{'terminated' if terminated else 'interrupted'}; {_left(typed)}",
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


def _left(typed: list[str]) -> str:
    """Say what an interrupted command leaves behind, and what it does when it is given again."""
    command = next((word for word in typed if word in cli.commands), "")
    if command in ("run", "frontier", "ablate"):
        return "what was finished is kept: run the same command to go on"
    if command == "search":
        return "nothing was searched yet: the same command begins again"
    if command in ("report", "data", "merge"):
        return "each file is as it was or whole: the same command begins again"
    return "nothing is kept: the same command begins again"


def _fail(message: str, code: int) -> NoReturn:
    click.echo(f"relu-verify: {one_line(message)}", err=True)
    sys.exit(code)
