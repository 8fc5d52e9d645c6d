"""The tables of a store: what a row is known by, what it holds, and its seal.

The seal is a checksum of all else in the row, so that a bit that a disk, a copy or a hand has
turned is noticed. It says nothing of who wrote the row.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from hashlib import blake2b

SCHEMA_VERSION = 2
"""1 had no seals, and did not remember how long anything took."""

Cell = str | int | float | bytes | None
"""What SQLite keeps in a column of a row."""


@dataclass(frozen=True)
class Table:
    """A table of a store.

    key, content: the names of its columns, but for the seal, with which each row ends.
    row: what a row is called, with the parts of its key in place of braces.
    """

    name: str
    key: tuple[str, ...]
    content: tuple[str, ...]
    row: str

    def called(self, key: tuple[Cell, ...]) -> str:
        """Return what the row of a key is called."""
        return self.row.format(*key)

    @property
    def columns(self) -> str:
        """All columns, as SQL lists them."""
        return ", ".join((*self.key, *self.content, "seal"))

    @property
    def is_key(self) -> str:
        """The SQL condition that a row has a key."""
        return " AND ".join(f"{name}=?" for name in self.key)


CONFIGURATIONS = Table(
    "configurations", ("hash",), ("description",), "the description of configuration {}"
)
BLOCKS = Table(
    "blocks", ("hash", "block"), ("series", "trials", "data"), "block {1} of configuration {0}"
)
SEARCHES = Table("searches", ("hash",), ("content",), "search {}")
RUNS = Table("runs", ("number",), ("asked", "outcome"), "run {}")
TIMES = Table("times", ("name",), ("seconds",), "the time of {}")
TABLES = (CONFIGURATIONS, BLOCKS, SEARCHES, RUNS, TIMES)

_MADE = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS configurations (
    hash TEXT PRIMARY KEY, description TEXT NOT NULL, seal BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS blocks (
    hash TEXT NOT NULL REFERENCES configurations(hash), block INTEGER NOT NULL,
    series TEXT NOT NULL, trials INTEGER NOT NULL, data BLOB NOT NULL, seal BLOB NOT NULL,
    PRIMARY KEY (hash, block)
);
CREATE TABLE IF NOT EXISTS searches (
    hash TEXT PRIMARY KEY, content TEXT NOT NULL, seal BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT, asked TEXT NOT NULL, outcome TEXT, seal BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS times (
    name TEXT PRIMARY KEY, seconds REAL NOT NULL, seal BLOB NOT NULL
);
"""


def seal(table: Table, row: tuple[Cell, ...]) -> bytes:
    """Return the checksum of a row without its seal: eight bytes of BLAKE2b, of the table's name,
    and of each value its type, its length and its bytes."""
    digest = blake2b(digest_size=8)
    for value in (table.name, *row):
        match value:
            case bytes():
                content = value
            case float():
                content = value.hex().encode()
            case _:
                content = str(value).encode("utf-8", "surrogateescape")
        digest.update(f"{type(value).__name__} {len(content)}\n".encode())
        digest.update(content)
    return digest.digest()


def make(connection: sqlite3.Connection) -> None:
    """Make the tables of a file that has none, unless another process does."""
    connection.executescript(
        f"BEGIN IMMEDIATE;{_MADE}"
        f"INSERT OR IGNORE INTO meta VALUES ('schema_version', '{SCHEMA_VERSION}');COMMIT;"
    )


def version_of(connection: sqlite3.Connection) -> str:
    """Return the schema version that a file names."""
    found = connection.execute("SELECT value FROM meta WHERE name='schema_version'").fetchone()
    return str((found or ("unknown",))[0])


def upgrade(connection: sqlite3.Connection) -> None:
    """Bring a file of schema version 1 up to date: all of it or, after a kill, nothing.

    Its rows are sealed as they are now, for there is nothing to hold them to; how long they took
    is not known.
    """
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        if version_of(connection) != "1":  # another process was quicker
            return
        known = connection.execute("SELECT name FROM sqlite_master WHERE type='table'").fetchall()
        for table in TABLES:
            if (table.name,) in known:
                connection.execute(
                    f"ALTER TABLE {table.name} ADD COLUMN seal BLOB NOT NULL DEFAULT x''"
                )
                _seal_all(connection, table)
        for statement in filter(str.strip, _MADE.split(";")):
            connection.execute(statement)
        connection.execute(
            "UPDATE meta SET value=? WHERE name='schema_version'", (str(SCHEMA_VERSION),)
        )


def _seal_all(connection: sqlite3.Connection, table: Table) -> None:
    for (number,) in connection.execute(f"SELECT rowid FROM {table.name}").fetchall():
        *row, _ = connection.execute(
            f"SELECT {table.columns} FROM {table.name} WHERE rowid=?", (number,)
        ).fetchone()
        connection.execute(
            f"UPDATE {table.name} SET seal=? WHERE rowid=?", (seal(table, tuple(row)), number)
        )
