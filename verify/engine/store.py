"""The record store: one SQLite file a folder, one row a block, so that a killed run goes on."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO, TypeVar

import numpy as np

from verify.engine.connecting import advice, full, to_read, to_write
from verify.engine.evaluate import Record
from verify.errors import StoreError
from verify.tolerances import RECOMPUTED

SCHEMA_VERSION = 1

_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT OR IGNORE INTO meta VALUES ('schema_version', '{SCHEMA_VERSION}');
CREATE TABLE IF NOT EXISTS configurations (
    hash TEXT PRIMARY KEY, description TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS blocks (
    hash TEXT NOT NULL REFERENCES configurations(hash), block INTEGER NOT NULL,
    series TEXT NOT NULL, trials INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (hash, block)
);
CREATE TABLE IF NOT EXISTS searches (hash TEXT PRIMARY KEY, content TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT, asked TEXT NOT NULL, outcome TEXT
);
COMMIT;
"""
_NEWEST_TABLE = "runs"

_DAMAGE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""What reading a damaged entry may raise."""

_ELSEWHERE = "if it was made on another processor, whose BLAS rounds otherwise, use one of the two"

_Found = TypeVar("_Found")


class RecordsMissing(StoreError):
    """A check was to be told from a store that does not hold all of its blocks.

    keys: configuration hash and block number of each that is missing.   total: blocks in all.
    """

    def __init__(self, message: str, keys: Sequence[tuple[str, int]], total: int) -> None:
        super().__init__(message)
        self.keys, self.total = tuple(keys), total

    @property
    def missing(self) -> int:
        """How many blocks are missing."""
        return len(self.keys)


@dataclass(frozen=True)
class StoredRun:
    """A run that a store remembers: what was asked, and what came of it (None: not finished)."""

    number: int
    asked: dict[str, Any]
    outcome: dict[str, Any] | None


class Store:
    """Records by configuration hash and block number, kept in one SQLite file in WAL mode.

    There is one writer, the parent process. A record that contradicts a stored one of the same
    configuration and block raises StoreError: something is not deterministic.
    """

    def __init__(self, path: str | Path, reading: bool = False) -> None:
        """Open or create the store at `path`.

        reading: open what is there, in a folder that need not be writable, and change nothing.
        Raises StoreError for a file that is not a store, or one of another schema version.
        """
        self.path, self._reading = Path(path), reading
        self._together = False
        try:
            self._connection = (to_read if reading else to_write)(self.path)
        except (sqlite3.Error, OSError) as reason:
            raise self._unusable(reason) from reason
        try:
            self._open()
        except sqlite3.Error as reason:
            self.close()
            raise self._unusable(reason) from reason
        except StoreError:
            self.close()
            raise

    def _open(self) -> None:
        """Make the tables of a new file; leave a file that is no store of ours as it is."""
        known = self._connection.execute("SELECT name FROM sqlite_master WHERE type='table'")
        tables = {name for (name,) in known}
        if tables and "meta" not in tables:
            raise self._unusable("it is another program's database")
        if not tables and self._reading:
            raise self._unusable("it is empty")
        if not tables:
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.executescript(_SCHEMA)
        self._connection.execute("PRAGMA synchronous=NORMAL")
        row = self._connection.execute("SELECT value FROM meta WHERE name='schema_version'")
        version = (row.fetchone() or ("unknown",))[0]
        if version != str(SCHEMA_VERSION):
            raise StoreError(
                f"{self.path} has schema version {version}, expected {SCHEMA_VERSION}; choose "
                "another --out, or read it with the version that wrote it"
            )
        self._older = _NEWEST_TABLE not in tables  # than runs, and otherwise the same
        if tables and self._older and not self._reading:
            self._connection.executescript(_SCHEMA)

    def _unusable(self, reason: object) -> StoreError:
        hint = "choose another --out"
        if isinstance(reason, sqlite3.Error) and full(reason):
            hint = "make room there, or choose another --out"
        if self._reading:
            hint = "choose another folder, or copy this one to where it can be written"
        return StoreError(f"{self.path} cannot be used as a record store ({reason}); {hint}")

    def close(self) -> None:
        """Close the file. Further calls fail."""
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def register(self, hash_: str, description: dict[str, Any]) -> None:
        """Remember what a configuration hash stands for."""
        with self._writing():
            self._connection.execute(
                "INSERT OR IGNORE INTO configurations VALUES (?, ?)",
                (hash_, json.dumps(description, sort_keys=True)),
            )

    def remember(self, hash_: str, content: dict[str, Any]) -> None:
        """Keep what a search found, JSON-able, under the hash of everything that decides it.

        Raises StoreError if something else is kept there already.
        """
        text = json.dumps(content)
        with self._writing():
            kept = self._connection.execute(
                "INSERT OR IGNORE INTO searches VALUES (?, ?)", (hash_, text)
            )
        if not kept.rowcount and self.recall(hash_, json.dumps) != text:
            raise StoreError(
                f"{self.path}: search {hash_} came out differently from the stored one, so "
                f"something is not deterministic; {_ELSEWHERE}"
            )

    def recall(self, hash_: str, told: Callable[[dict[str, Any]], _Found]) -> _Found | None:
        """Return what a search found, made by `told` of what was kept, or None if it has not been
        made.

        Raises StoreError for what cannot be read.
        """
        try:
            row = self._connection.execute(
                "SELECT content FROM searches WHERE hash=?", (hash_,)
            ).fetchone()
            return None if row is None else told(dict(json.loads(row[0])))
        except (sqlite3.Error, *_DAMAGE) as reason:
            raise StoreError(
                f"{self.path}: search {hash_} cannot be read ({reason}); move the file away and "
                "run again"
            ) from reason

    def begin(self, asked: dict[str, Any]) -> int:
        """Remember that a run begins, and what it was asked (JSON-able); return its number."""
        with self._writing():
            row = self._connection.execute(
                "INSERT INTO runs (asked) VALUES (?)", (json.dumps(asked),)
            )
        return int(row.lastrowid or 0)

    def finish(self, number: int, outcome: dict[str, Any]) -> None:
        """Remember what came of a run that has begun (JSON-able)."""
        with self._writing():
            self._connection.execute(
                "UPDATE runs SET outcome=? WHERE number=?", (json.dumps(outcome), number)
            )

    def runs(self) -> tuple[StoredRun, ...]:
        """Return the runs that were begun here, oldest first.

        Raises StoreError for an entry that cannot be read.
        """
        if self._reading and self._older:
            return ()
        try:
            rows = self._connection.execute(
                "SELECT number, asked, outcome FROM runs ORDER BY number"
            ).fetchall()
        except sqlite3.Error as reason:
            raise self._unusable(reason) from reason
        return tuple(self._run(*row) for row in rows)

    def _run(self, number: int, asked: str, outcome: str | None) -> StoredRun:
        try:
            done = None if outcome is None else dict(json.loads(outcome))
            return StoredRun(number, dict(json.loads(asked)), done)
        except _DAMAGE as reason:
            raise StoreError(
                f"{self.path}: run {number} cannot be read ({reason}); move the file away and run "
                "again"
            ) from reason

    def read(self, hash_: str, block: int) -> Record | None:
        """Return the record of a block, or None if it has not been computed.

        Raises StoreError for one that cannot be read.
        """
        try:
            row = self._connection.execute(
                "SELECT series, trials, data FROM blocks WHERE hash=? AND block=?", (hash_, block)
            ).fetchone()
            return None if row is None else _decode(*row)
        except (sqlite3.Error, *_DAMAGE) as reason:
            raise StoreError(
                f"{self.path}: block {block} of configuration {hash_} cannot be read ({reason}); "
                "move the file away and run again"
            ) from reason

    def write(self, hash_: str, block: int, record: Record) -> None:
        """Store the record of a block. Raises StoreError if another one is stored already."""
        data = (json.dumps(record.series), record.data.shape[1], _encode(record))
        with self._writing():
            written = self._connection.execute(
                "INSERT OR IGNORE INTO blocks VALUES (?, ?, ?, ?, ?)", (hash_, block, *data)
            )
        if written.rowcount:
            return
        known = self.read(hash_, block)
        different = known.differing(record) if known is not None else record.series
        if different:
            raise StoreError(
                f"{self.path}: block {block} of configuration {hash_} came out differently from "
                f"the stored record ({', '.join(different)}), so something is not deterministic; "
                f"look for randomness outside the generator that draw() is given, or {_ELSEWHERE}"
            )

    def confirm(self, hash_: str, block: int, record: Record, what: str) -> None:
        """Raise StoreError if `record`, of a block computed again, is not the stored one, but for
        what another processor rounds otherwise (`verify.tolerances.RECOMPUTED`).

        what: the theorem and place, for people.
        """
        known = self.read(hash_, block)
        different = known.differing(record, RECOMPUTED) if known is not None else ()
        if different:
            raise StoreError(
                f"{self.path}: {what} came out differently from the stored record "
                f"({', '.join(different)}), though its source is the same: something that the "
                "theorem reads has changed (a data file, an environment variable, a helper "
                "imported by name), or it is not deterministic; choose another --out"
            )

    @contextmanager
    def together(self) -> Iterator[None]:
        """Let all that is written inside be kept, or nothing of it: after an error, or a kill."""
        with self._writing():
            self._together = True
            try:
                yield
            finally:
                self._together = False

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            with nullcontext() if self._together else self._connection:
                yield
        except sqlite3.Error as reason:
            raise StoreError(
                f"{self.path} cannot be written ({reason}); {advice(reason)}"
            ) from reason

    def blocks(self) -> Iterator[tuple[str, dict[str, Any], int, Record]]:
        """Yield hash and description of the configuration, number and record of every block.

        Raises StoreError for one that cannot be read.
        """
        for hash_, description, block in self._keys():
            record = self.read(hash_, block)
            if record is not None:
                yield hash_, self._described(hash_, description), block, record

    def searches(self) -> tuple[str, ...]:
        """Return the hashes of what `recall` finds. Raises StoreError."""
        try:
            rows = self._connection.execute("SELECT hash FROM searches ORDER BY hash").fetchall()
        except sqlite3.Error as reason:
            raise self._unusable(reason) from reason
        return tuple(hash_ for (hash_,) in rows)

    def export(self, stream: TextIO) -> int:
        """Write every number as CSV rows and return their count.

        Columns: configuration (its hash), theorem, point, control, root_seed, block, trial,
        series, value. Raises StoreError for a record that cannot be read.
        """
        writer = csv.writer(stream, lineterminator="\n")
        columns = ("theorem", "point", "control", "root_seed")
        writer.writerow(["configuration", *columns, "block", "trial", "series", "value"])
        count = 0
        for hash_, known, block, record in self.blocks():
            head = [hash_, *(known.get(name, "") for name in columns), block]
            for name, values in zip(record.series, record.data, strict=True):
                for trial, value in enumerate(values):
                    writer.writerow([*head, trial, name, repr(float(value))])
                    count += 1
        return count

    def _described(self, hash_: str, description: str) -> dict[str, Any]:
        try:
            return dict(json.loads(description))
        except _DAMAGE as reason:
            raise StoreError(
                f"{self.path}: the description of configuration {hash_} cannot be read ({reason}); "
                "move the file away and run again"
            ) from reason

    def _keys(self) -> list[tuple[str, str, int]]:
        """Return hash, description and number of every block."""
        try:
            return self._connection.execute(
                "SELECT hash, description, block FROM blocks JOIN configurations USING (hash) "
                "ORDER BY description, hash, block"
            ).fetchall()
        except sqlite3.Error as reason:
            raise self._unusable(reason) from reason


def _encode(record: Record) -> bytes:
    return np.ascontiguousarray(record.data, dtype="<f8").tobytes()


def _decode(series: str, trials: int, data: bytes) -> Record:
    names = tuple(json.loads(series))
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ValueError("its series are not distinct names")
    values = np.frombuffer(data, dtype="<f8").reshape(len(names), trials)
    return Record(names, values.astype(np.float64))
