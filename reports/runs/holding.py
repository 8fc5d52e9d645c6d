"""One command at a time in a run's folder."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from reports.runs.running import COUNTEREXAMPLES, STORE_NAME
from verify.engine.store import Store
from verify.errors import InputError, StoreError

LOCK_NAME = "records.lock"

_PARTIAL = re.compile(r"\.\d+-\d+\.partial")
"""Names of files that `verify.writing.write_text` has not finished."""


@contextmanager
def held(folder: Path, command: str) -> Iterator[None]:
    """Keep a folder, made if missing, to this command until it ends, however it ends.

    The system takes the lock from a process that was killed; what such a one left half written is
    removed. So are folder and records, if they are new, where the command fails and has computed
    nothing.   command: as typed, for whoever finds the folder in use.
    Raises StoreError where another command is at work in the folder, or it cannot be written,
    InputError where it is a file.
    """
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise InputError(f"--out {folder} is a file, expected a folder (it is made if missing)")
    new = [place for place in (folder, *folder.parents) if not os.path.exists(place)]
    is_new = not (folder / STORE_NAME).exists()
    try:
        lock = _taken(folder, command)
    except OSError as reason:
        raise StoreError(
            f"{folder} cannot be written ({reason.strerror or reason}); choose another --out, or "
            "make room there"
        ) from reason
    try:
        for left in (*folder.glob(".*"), *(folder / COUNTEREXAMPLES).glob(".*")):
            if _PARTIAL.fullmatch(left.name):
                left.unlink(missing_ok=True)
        yield
    except (Exception, SystemExit):
        if is_new:
            _remove_empty_records(folder / STORE_NAME)
        raise
    finally:
        _given_up(lock, folder)
        for place in new:
            with suppress(OSError):  # it is not empty
                place.rmdir()


def _remove_empty_records(path: Path) -> None:
    """Remove records in which nothing is that was computed."""
    try:
        with Store(path, reading=True) as store:
            empty = store.is_empty()
    except StoreError:
        return
    for file in path.parent.glob(f"{path.name}*") if empty else ():
        file.unlink(missing_ok=True)


def _taken(folder: Path, command: str) -> TextIO:
    """Return the lock file, open and locked, with who holds it written to it."""
    folder.mkdir(parents=True, exist_ok=True)
    while True:
        lock = (folder / LOCK_NAME).open("a+", encoding="utf-8", errors="backslashreplace")
        try:
            if not _locked(lock):
                lock.seek(0)
                holder = lock.read(1_000).strip() or "another command"
                raise StoreError(
                    f"{folder} is in use by {holder}; wait until it has ended, or choose another "
                    "--out"
                )
            if _is_there(lock, folder):  # and was not removed by its holder in the meantime
                lock.truncate(0)
                since = datetime.now(UTC).isoformat(timespec="seconds")
                lock.write(
                    f"process {os.getpid()} on {platform.node()} since {since} ({command})\n"
                )
                lock.flush()
                return lock
        except BaseException:
            lock.close()
            raise
        lock.close()


def _is_there(lock: TextIO, folder: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(lock.fileno()), (folder / LOCK_NAME).stat())
    except FileNotFoundError:
        return False


def _given_up(lock: TextIO, folder: Path) -> None:
    if os.name != "nt":  # where a file that is open cannot be removed
        (folder / LOCK_NAME).unlink(missing_ok=True)
    lock.close()


def _locked(lock: TextIO) -> bool:
    """Lock an open file, unless another process, or another opening of it here, has it locked."""
    if sys.platform == "win32":
        import msvcrt

        lock.seek(1 << 30)  # far beyond what is written, which others are to read
        try:
            msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
    import fcntl

    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
