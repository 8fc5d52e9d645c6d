"""Whose line it was: errors inside a theorem's own functions, told with file, line and name."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from verify.errors import InputError, ReluVerifyError, TheoremError


@contextmanager
def blaming(role: str, function: Callable[..., Any]) -> Iterator[None]:
    """Turn whatever a theorem's `function` raises into a TheoremError with its line and advice.

    role: "draw", "claim" and so on. This project's own errors keep their class and get the line
    if they name none; interrupts pass unchanged. An exit does not, whose code would say that all
    is well.
    """
    try:
        yield
    except InputError as reason:
        if _NAMES_A_LINE.match(str(reason)):
            raise
        raise type(reason)(f"{whereabouts(role, function, reason)}: {reason}") from reason
    except (ReluVerifyError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as reason:
        raise TheoremError(
            f"{whereabouts(role, function, reason)} raised {type(reason).__name__}: {reason}; "
            f"{_advice(role, reason)}"
        ) from reason


_NAMES_A_LINE = re.compile(r".*?\.py:\d+ in ", re.DOTALL)

_SIGNATURES = {
    "draw": "draw(point, generator, trials)",
    "simulate": "simulate(problem)",
    "claim": "its_name(trial)",
    "assumption": "its_name(trial)",
    "quantity": "its_name(trial)",
    "reference": "its_name(problem, run)",
}


def _advice(role: str, reason: BaseException) -> str:
    """Return what to do about an exception that is no error of this project's."""
    said = str(reason)
    if isinstance(reason, ValueError) and "read-only" in said:
        return (
            "all claims look at the same problem and run, which are read-only: change a copy, "
            "say x.copy() or np.sort(x)"
        )
    if isinstance(reason, TypeError):
        if "positional argument" in said and "() " in said and role in _SIGNATURES:
            return f"it is called as {_SIGNATURES[role]}, so write `def {_SIGNATURES[role]}: …`"
        if "cannot be interpreted as an integer" in said:
            return 'make it one: int(point["n"]), say, for a coordinate that counts'
    if isinstance(reason, TypeError | AttributeError) and "'NoneType'" in said:
        return (
            "correct it; None is what a function without `return …` gives, so look at simulate and "
            "at the references too"
        )
    if isinstance(reason, TypeError | AttributeError | NameError | ImportError | SystemExit):
        return "correct it"
    return "correct it, or, if the instance is at fault, keep such instances out of draw"


def whereabouts(
    role: str, function: Callable[..., Any], reason: BaseException | None = None
) -> str:
    """Return "file:line in role name": where `function` raised `reason`, or is defined."""
    name = getattr(function, "__name__", repr(function))
    called = role if name == role else f"{role} {name}"
    inner = function
    while isinstance(inner, functools.partial):
        inner = inner.func
    code = getattr(inspect.unwrap(inner), "__code__", None)
    if code is None:
        return called
    raised = None if reason is None else line_in(code.co_filename, reason)
    return f"{code.co_filename}:{raised or code.co_firstlineno} in {called}"


def line_in(file: str, reason: BaseException) -> int | None:
    """Return the line of the innermost frame of an exception that lies in `file`, if any does."""
    line = None
    if isinstance(reason, SyntaxError) and reason.filename == file:
        line = reason.lineno
    trace = reason.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
