"""Stores that others have had their hands on."""

import sqlite3
from contextlib import closing

from verify.engine.schema import TABLES, seal

VERSION_1 = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO meta VALUES ('schema_version', '1');
CREATE TABLE configurations (hash TEXT PRIMARY KEY, description TEXT NOT NULL);
CREATE TABLE blocks (
    hash TEXT NOT NULL REFERENCES configurations(hash), block INTEGER NOT NULL,
    series TEXT NOT NULL, trials INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (hash, block)
);
CREATE TABLE searches (hash TEXT PRIMARY KEY, content TEXT NOT NULL);
CREATE TABLE runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT, asked TEXT NOT NULL, outcome TEXT
);
"""
"""How a store was made before its rows were sealed."""


def edited(path, *statements, sealed=True):
    """Change a store by SQL; sealed: as if this program had written it."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
        for statement in statements:
            connection.execute(*([statement] if isinstance(statement, str) else statement))
        for table in TABLES if sealed else ():
            for number, *row, _ in connection.execute(
                f"SELECT rowid, {table.columns} FROM {table.name}"
            ).fetchall():
                connection.execute(
                    f"UPDATE {table.name} SET seal=? WHERE rowid=?", (seal(table, row), number)
                )


def of_version_1(path):
    """Make a store what one of schema version 1 with the same content is."""
    tables = [table for table in TABLES if table.name != "times"]
    with closing(sqlite3.connect(path)) as connection:
        rows = {
            table: connection.execute(
                f"SELECT {', '.join((*table.key, *table.content))} FROM {table.name}"
            ).fetchall()
            for table in tables
        }
    path.unlink()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(VERSION_1)
        connection.execute("PRAGMA journal_mode=WAL")
        for table, found in rows.items():
            places = ", ".join("?" * len((*table.key, *table.content)))
            connection.executemany(f"INSERT INTO {table.name} VALUES ({places})", found)
