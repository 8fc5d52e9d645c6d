"""The command line `relu-verify`: its commands, and how an error ends them."""

from __future__ import annotations

import errno
import sys
import traceback
from typing import Any, NoReturn

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
from reports.exit_codes import (
    ALL_AS_EXPECTED,
    INTERNAL,
    INTERRUPTED,
    TERMINATED,
    UNAVAILABLE,
    USAGE,
)
from reports.terminal import Terminated, steady_streams, stoppable

_EPILOG = """
\b
Examples
  relu-verify run                                  everything, in a minute and a half on two cores
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
  70 an error of relu-verify's own, or memory ran out, or workers died: nothing is said of
     any theorem
  130 interrupted, 143 terminated: the same run goes on where it was, others begin again
  merge, report, diff, replay, frontier and search: 0, 1 and 3 as their --help says
"""


class _Ended(Exception):
    """What ended a command, of whatever class, on its way past Click.

    Click would end the process with 1 where a pipe breaks, and take the end of a file for an
    interrupt.
    """

    def __init__(self, reason: BaseException) -> None:
        super().__init__(reason)
        self.reason = reason


class _Commands(click.Group):
    """The commands; what they raise is left to `main`."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit):
            raise
        except BaseException as reason:
            raise _Ended(reason) from reason


@click.group(
    cls=_Commands, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]}
)
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
    """Run the command line and exit with its code: one of `reports.exit_codes`, come what may."""
    typed = sys.argv[1:] if arguments is None else arguments
    try:
        with steady_streams(), stoppable():
            code = _carried_out(typed)
    except KeyboardInterrupt as late:  # after the command's end, or while it was told
        code = TERMINATED if isinstance(late, Terminated) else INTERRUPTED
    sys.exit(code)


def _carried_out(typed: list[str]) -> int:
    """Carry out a command and return its exit code; tell what it raises."""
    try:
        code = cli.main(typed, prog_name="relu-verify", standalone_mode=False)
    except click.ClickException as problem:
        problem.show()
        return USAGE
    except (_Ended, click.exceptions.Abort) as ended:
        return _told(ended.reason if isinstance(ended, _Ended) else ended.__cause__, typed)
    except BaseException as problem:
        return _told(problem, typed)
    return code if isinstance(code, int) else ALL_AS_EXPECTED


def _told(problem: BaseException | None, typed: list[str]) -> int:
    """Tell what ended a command, in a line where it is not this program's fault; return the exit
    code."""
    from verify.errors import BackendUnavailable, ReluVerifyError, WorkersLost

    code = USAGE
    match problem:
        case KeyboardInterrupt():
            terminated = isinstance(problem, Terminated)
            message = f"{'terminated' if terminated else 'interrupted'}; {_left(typed)}"
            code = TERMINATED if terminated else INTERRUPTED
        case SystemExit():
            message = f"the theorem's code called exit({problem.code!r}); take it out"
        case WorkersLost():
            message, code = str(problem), INTERNAL
        case ReluVerifyError():
            message = str(problem)
            code = UNAVAILABLE if isinstance(problem, BackendUnavailable) else USAGE
        case UnicodeEncodeError():  # half a surrogate, of an argument or an id
            message = f"a name is not Unicode: {problem.object!r}"
        case OSError() if problem.filename or problem.errno in _NO_ROOM:
            where = f"{problem.filename}: " if problem.filename else ""
            message = f"{where}{problem.strerror or problem}"
        case MemoryError():
            said = f" ({problem})" if str(problem) else ""
            message = f"memory ran out{said}; use fewer --jobs, or smaller problems; {_left(typed)}"
            code = INTERNAL
        case _:
            traceback.print_exception(problem)
            message = (
                f"this is an error of relu-verify's own ({type(problem).__name__}: {problem}), and "
                f"says nothing of any theorem; report it with the lines above; {_left(typed)}"
            )
            code = INTERNAL
    click.echo(f"relu-verify: {one_line(message)}", err=True)
    return code


_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)


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
