"""Whose line it was: errors inside a theorem's own functions, told with file, line and name."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from verify.errors import ReluVerifyError, TheoremError


@contextmanager
def blaming(role: str, function: Callable[..., Any]) -> Iterator[None]:
    """Turn whatever a theorem's `function` raises into a TheoremError with its line.

    role: "draw", "claim" and so on. This project's own errors and interrupts pass
    unchanged; an exit does not, whose code would say that all is well.
    """
    try:
        yield
    except (ReluVerifyError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as reason:
        raise TheoremError(
            f"{whereabouts(role, function, reason)} raised {type(reason).__name__}: {reason}; "
            "correct it, or, if the instance is at fault, keep such instances out of draw"
        ) from reason


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
