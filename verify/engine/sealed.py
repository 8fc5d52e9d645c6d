"""A store's SQLite file: opened, made, brought up to date; rows that are kept with their seals and
found again only where these fit."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Self

from verify.engine.connecting import advice, full, to_read, to_write
from verify.engine.schema import (
    SCHEMA_VERSION,
    TABLES,
    Cell,
    Table,
    make,
    seal,
    upgrade,
    version_of,
)
from verify.errors import StoreError


class SealedFile:
    """The tables of `verify.engine.schema` in one SQLite file, in WAL mode.

    A row whose seal does not fit counts as lost: it is not found, and gives way to another.
    """

    def __init__(self, path: str | Path, reading: bool = False) -> None:
        """Open or create the file at `path`.

        reading: open what is there, in a folder that need not be writable, and change nothing.
        Raises StoreError for a file that is not a store, or one of another schema version.
        """
        self.path, self._reading = Path(path), reading
        self._together = False
        self._damaged: dict[str, None] = {}
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
        # A byte that makes a text no UTF-8 is for the seal to notice.
        self._connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
        known = self._connection.execute("SELECT name FROM sqlite_master WHERE type='table'")
        tables = {name for (name,) in known}
        if tables and "meta" not in tables:
            raise self._unusable("it is another program's database")
        if not tables and self._reading:
            raise self._unusable("it is empty")
        if not tables:
            self._connection.execute("PRAGMA journal_mode=WAL")
            make(self._connection)
        self._connection.execute("PRAGMA synchronous=NORMAL")
        version = version_of(self._connection)
        if version == "1" and not self._reading:
            upgrade(self._connection)
            version = version_of(self._connection)
        if version != str(SCHEMA_VERSION):
            older = "give its run's command again, which brings it up to date, or " * (
                version == "1"
            )
            raise StoreError(
                f"{self.path} has schema version {version}, expected {SCHEMA_VERSION}; {older}"
                "choose another --out, or read it with the version that wrote it"
            )

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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def damaged(self) -> tuple[str, ...]:
        """What is damaged, of all that was looked for until now: its seal does not fit."""
        return tuple(self._damaged)

    def integrity(self) -> tuple[int, tuple[str, ...]]:
        """Return how many rows there are, and what is wrong with them or with the file: all that
        does not fit its seal, and what SQLite itself finds."""
        wrong, count = [], 0
        try:
            said = self._connection.execute("PRAGMA integrity_check").fetchall()
            wrong += [f"the file: {line}" for (line,) in said if line != "ok"]
        except sqlite3.Error as reason:
            wrong.append(f"the file: {reason}")
        for table in TABLES:
            try:
                for row in self._connection.execute(f"SELECT {table.columns} FROM {table.name}"):
                    count += 1
                    if not _fits(table, row):
                        name = table.called(row[: len(table.key)])
                        wrong.append(f"{name} does not fit its checksum")
            except sqlite3.Error as reason:
                wrong.append(f"the table {table.name}: {reason}")
        return count, tuple(wrong)

    def _found(self, table: Table, key: tuple[Cell, ...]) -> tuple[Cell, ...] | None:
        """Return the content of a row, or None where it is not there or does not fit its seal.

        Raises sqlite3.Error.
        """
        try:
            row = self._connection.execute(
                f"SELECT {table.columns} FROM {table.name} WHERE {table.is_key}", key
            ).fetchone()
        except UnicodeEncodeError:  # the key itself was damaged
            self._damage(table, key)
            return None
        if row is None:
            return None
        if not _fits(table, row):
            self._damage(table, key)
            return None
        return tuple(row[len(table.key) : -1])

    def _damage(self, table: Table, key: tuple[Cell, ...]) -> None:
        """Remember that a row is damaged."""
        self._damaged[table.called(key)] = None

    def _keep(self, table: Table, key: tuple[Cell, ...], content: Sequence[Cell]) -> bool:
        """Keep a row, inside `_writing`, unless one that fits its seal has its key; say whether it
        was kept."""
        row = (*key, *content)
        values = (*row, seal(table, row))
        places = ", ".join("?" * len(values))
        kept = self._connection.execute(
            f"INSERT OR IGNORE INTO {table.name} ({table.columns}) VALUES ({places})", values
        )
        if kept.rowcount:
            return True
        if self._found(table, key) is not None:
            return False
        self._connection.execute(
            f"INSERT OR REPLACE INTO {table.name} ({table.columns}) VALUES ({places})", values
        )
        return True

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


def _fits(table: Table, row: Sequence[Cell]) -> bool:
    return seal(table, tuple(row[:-1])) == row[-1]
