"""How a store's SQLite file is opened: to be written, or to be read without leaving a trace; and
what to do about its errors."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

_PATIENCE = 60.0
"""Seconds to wait for another process that writes."""


def to_write(path: Path) -> sqlite3.Connection:
    """Open or create the file and its folder. Raises OSError or sqlite3.Error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return sqlite3.connect(path, timeout=_PATIENCE)


def to_read(path: Path) -> sqlite3.Connection:
    """Open a file that is there, in a folder that need not be writable. Raises sqlite3.Error.

    SQLite reads a file in WAL mode through two files beside it. Where a writer has left them, a
    connection that may not write leaves them as they are; where they must be made, only one that
    may write removes them again; and where they cannot be, nobody writes, and the file is read by
    itself.
    """
    if _left_open(path):
        mode = "mode=ro"
    elif os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        mode = "mode=rw"
    else:
        mode = "mode=ro&immutable=1"
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", timeout=_PATIENCE, uri=True)
    connection.execute("PRAGMA query_only=ON")
    return connection


def _left_open(path: Path) -> bool:
    """Whether a writer is at work, or was killed, so that not all is in the file itself."""
    log = path.with_name(f"{path.name}-wal")
    return log.exists() and log.stat().st_size > 0


def full(reason: sqlite3.Error) -> bool:
    """Whether SQLite could not write for want of room, as far as it knows."""
    code = getattr(reason, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


def advice(reason: sqlite3.Error) -> str:
    """Say what to do about a file that is not written."""
    code = getattr(reason, "sqlite_errorcode", 0) & 0xFF
    if full(reason):
        return "make room there and give the same command again: what was stored is kept"
    if code == sqlite3.SQLITE_READONLY:
        return "choose another --out, or make file and folder writable"
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return "another process is writing to it: wait for that one, or choose another --out"
    return "choose another --out; what was stored is kept"
