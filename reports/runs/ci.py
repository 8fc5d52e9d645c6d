"""What a run leaves for the CI server that it ran on: JUnit XML, and a summary of the job."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports.text.job_summary import LIMIT, job_summary, summary_of_error
from reports.text.junit import junit, junit_of_error
from verify.errors import InputError, ReluVerifyError
from verify.writing import require_appendable, require_writable, write_text


@dataclass(frozen=True)
class ForCI:
    """The files that a CI server reads, None for what is not asked for.

    junit: written whole or not at all.   summary: appended to, as $GITHUB_STEP_SUMMARY wants.
    """

    junit: Path | None = None
    summary: Path | None = None

    def prepare(self) -> None:
        """Remove an earlier run's JUnit XML, so that it is not taken for that of a run that fails.

        Only a file is removed, no link and no device: /dev/stdout is both.   Raises InputError
        where a file cannot be written, before anything is removed.
        """
        if self.junit is not None:
            require_writable(self.junit)
        if self.summary is not None:
            require_appendable(self.summary)
        if self.junit is not None and self.junit.is_file() and not self.junit.is_symlink():
            try:
                self.junit.unlink()
            except OSError as reason:
                raise _unwritable(self.junit, reason) from reason

    @property
    def asked(self) -> bool:
        """Whether anything is asked for."""
        return self.junit is not None or self.summary is not None

    @contextmanager
    def telling_errors(self, command: str) -> Iterator[None]:
        """Tell the CI server too of an error that ends a command ("relu-verify run", say)."""
        try:
            yield
        except Exception as reason:
            ours = isinstance(reason, ReluVerifyError)
            message = str(reason) if ours else f"{type(reason).__name__}: {reason}"
            with suppress(InputError):  # what cannot be written hides no error
                self._write_error(command, message)
            raise

    def write(self, report: dict[str, Any]) -> None:
        """Write what is asked for of a report. Raises InputError where that cannot be."""
        if self.junit is not None:
            write_text(self.junit, junit(report))
        if self.summary is not None:
            append_summary(report, self.summary)

    def _write_error(self, command: str, message: str) -> None:
        if self.junit is not None:
            write_text(self.junit, junit_of_error(command, message))
        if self.summary is not None:
            _append(self.summary, lambda room: summary_of_error(command, message, room))


def append_summary(report: dict[str, Any], file: Path) -> None:
    """Append the summary of a report to a file; with what is there it stays within `LIMIT`.

    Raises InputError where it cannot be written.
    """
    _append(file, lambda room: job_summary(report, room))


def _append(file: Path, told_within: Callable[[int], str]) -> None:
    """Append to a file what is told within so many bytes. Raises InputError."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("ab") as stream:
            before = stream.tell() if stream.seekable() else 0
            gap = "\n" if before else ""  # what is there may not end with a line end
            if told := told_within(LIMIT - before - len(gap)):
                stream.write(f"{gap}{told}".encode("utf-8", "backslashreplace"))
    except OSError as reason:
        raise _unwritable(file, reason) from reason


def _unwritable(file: Path, reason: OSError) -> InputError:
    return InputError(
        f"{file} cannot be written ({reason.strerror or reason}); give a file in a folder that "
        "can be written"
    )
