"""The record store: one SQLite file a folder, one row a block, so that a killed run goes on."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from verify.engine.evaluate import Record
from verify.engine.schema import BLOCKS, CONFIGURATIONS, RUNS, SEARCHES, TIMES, seal
from verify.engine.sealed import SealedFile
from verify.errors import StoreError
from verify.tolerances import RECOMPUTED

_DAMAGE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""What reading an entry may raise that is not as we write it."""

_ELSEWHERE = "if it was made on another processor, whose BLAS rounds otherwise, use one of the two"

_Found = TypeVar("_Found")


class RecordsMissing(StoreError):
    """A check was to be told from a store that does not hold all of its blocks.

    keys: configuration hash and block number of each that is missing.   total: blocks in all.
    damaged: how many of the missing are there, and do not fit their checksums.
    """

    def __init__(
        self, message: str, keys: Sequence[tuple[str, int]], total: int, damaged: int = 0
    ) -> None:
        super().__init__(message)
        self.keys, self.total, self.damaged = tuple(keys), total, damaged

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


class Store(SealedFile):
    """Records by configuration hash and block number, kept in one SQLite file in WAL mode.

    There is one writer, the parent process. A record that contradicts a stored one of the same
    configuration and block raises StoreError: something is not deterministic. One that does not fit
    its checksum is lost: it counts as not there, in `damaged` too, and gives way to another.
    """

    def register(self, hash_: str, description: dict[str, Any]) -> None:
        """Remember what a configuration hash stands for."""
        with self._writing():
            self._keep(CONFIGURATIONS, (hash_,), (json.dumps(description, sort_keys=True),))

    def remember(self, hash_: str, content: dict[str, Any], seconds: float = math.nan) -> None:
        """Keep what a search found, JSON-able, under the hash of everything that decides it.

        seconds: that it took, NaN where that is not known.
        Raises StoreError if something else is kept there already.
        """
        text = json.dumps(content)
        with self._writing():
            kept = self._keep(SEARCHES, (hash_,), (text,))
            self._time(SEARCHES.called((hash_,)), seconds, kept)
        if not kept and self.recall(hash_, json.dumps) != text:
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
            row = self._found(SEARCHES, (hash_,))
            return None if row is None else told(dict(json.loads(_text(row[0]))))
        except (sqlite3.Error, *_DAMAGE) as reason:
            raise StoreError(
                f"{self.path}: search {hash_} cannot be read ({reason}); move the file away and "
                "run again"
            ) from reason

    def begin(self, asked: dict[str, Any]) -> int:
        """Remember that a run begins, and what it was asked (JSON-able); return its number."""
        text = json.dumps(asked)
        with self._writing():
            row = self._connection.execute(
                "INSERT INTO runs (asked, seal) VALUES (?, x'')", (text,)
            )
            number = int(row.lastrowid or 0)
            self._seal_run(number, text, None)
        return number

    def finish(self, number: int, outcome: dict[str, Any]) -> None:
        """Remember what came of a run that has begun (JSON-able)."""
        with self._writing():
            (asked,) = self._connection.execute(
                "SELECT asked FROM runs WHERE number=?", (number,)
            ).fetchone()
            self._seal_run(number, asked, json.dumps(outcome))

    def _seal_run(self, number: int, asked: str, outcome: str | None) -> None:
        self._connection.execute(
            "UPDATE runs SET outcome=?, seal=? WHERE number=?",
            (outcome, seal(RUNS, (number, asked, outcome)), number),
        )

    def runs(self) -> tuple[StoredRun, ...]:
        """Return the runs that were begun here, oldest first.

        Raises StoreError for an entry that cannot be read.
        """
        try:
            numbers = self._connection.execute("SELECT number FROM runs ORDER BY number").fetchall()
            rows = [(number, self._found(RUNS, (number,))) for (number,) in numbers]
        except sqlite3.Error as reason:
            raise self._unusable(reason) from reason
        return tuple(self._run(number, *row) for number, row in rows if row is not None)

    def _run(self, number: int, asked: Any, outcome: Any) -> StoredRun:
        try:
            done = None if outcome is None else dict(json.loads(outcome))
            return StoredRun(number, dict(json.loads(asked)), done)
        except _DAMAGE as reason:
            raise StoreError(
                f"{self.path}: run {number} cannot be read ({reason}); move the file away and run "
                "again"
            ) from reason

    def read(self, hash_: str, block: int) -> Record | None:
        """Return the record of a block, or None if it has not been computed, or is damaged.

        Raises StoreError for one that cannot be read.
        """
        try:
            row = self._found(BLOCKS, (hash_, block))
            return None if row is None else _decode(*row)
        except (sqlite3.Error, *_DAMAGE) as reason:
            raise StoreError(
                f"{self.path}: block {block} of configuration {hash_} cannot be read ({reason}); "
                "move the file away and run again"
            ) from reason

    def has_lost(self, hash_: str, block: int) -> bool:
        """Whether a block was looked for, and found to be damaged."""
        return BLOCKS.called((hash_, block)) in self._damaged

    def has_lost_search(self, hash_: str) -> bool:
        """Whether what a search found was looked for, and found to be damaged."""
        return SEARCHES.called((hash_,)) in self._damaged

    def write(self, hash_: str, block: int, record: Record, seconds: float = math.nan) -> None:
        """Store the record of a block. Raises StoreError if another one is stored already.

        seconds: that it took, NaN where that is not known; they are no part of the record.
        """
        data = (json.dumps(record.series), record.data.shape[1], _encode(record))
        with self._writing():
            written = self._keep(BLOCKS, (hash_, block), data)
            self._time(BLOCKS.called((hash_, block)), seconds, written)
        if written:
            return
        known = self.read(hash_, block)
        different = known.differing(record) if known is not None else record.series
        if different:
            raise StoreError(
                f"{self.path}: block {block} of configuration {hash_} came out differently from "
                f"the stored record ({', '.join(different)}), so something is not deterministic; "
                f"look for randomness outside the generator that draw() is given, or {_ELSEWHERE}"
            )

    def seconds_of_block(self, hash_: str, block: int) -> float:
        """Return how many seconds a stored block took, NaN where that is not known."""
        return self._seconds(BLOCKS.called((hash_, block)))

    def seconds_of_search(self, hash_: str) -> float:
        """Return how many seconds a stored search took, NaN where that is not known."""
        return self._seconds(SEARCHES.called((hash_,)))

    def _seconds(self, name: str) -> float:
        try:
            row = self._found(TIMES, (name,))
        except sqlite3.Error as reason:
            raise self._unusable(reason) from reason
        return float(row[0] or 0.0) if row is not None else math.nan

    def _time(self, name: str, seconds: float, new: bool) -> None:
        """Keep, inside `_writing`, how long it took to make what is new."""
        if new:
            self._connection.execute("DELETE FROM times WHERE name=?", (name,))
            if not math.isnan(seconds):
                self._keep(TIMES, (name,), (float(seconds),))

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

    def blocks(self) -> Iterator[tuple[str, dict[str, Any], int, Record]]:
        """Yield hash and description of the configuration, number and record of every block, but
        for what is damaged.

        Raises StoreError for one that cannot be read.
        """
        for hash_, block in self._keys():
            record = self.read(hash_, block)
            if record is None:
                continue
            description = self._description(hash_)
            if description is not None:
                yield hash_, description, block, record

    def searches(self) -> tuple[str, ...]:
        """Return the hashes of what `recall` finds. Raises StoreError."""
        try:
            rows = self._connection.execute("SELECT hash FROM searches ORDER BY hash").fetchall()
        except sqlite3.Error as reason:
            raise self._unusable(reason) from reason
        return tuple(hash_ for (hash_,) in rows)

    def is_empty(self) -> bool:
        """Whether there is no block and no search. Raises StoreError."""
        try:
            found = self._connection.execute(
                "SELECT EXISTS (SELECT 1 FROM blocks) OR EXISTS (SELECT 1 FROM searches)"
            ).fetchone()
        except sqlite3.Error as reason:
            raise self._unusable(reason) from reason
        return bool(found == (0,))

    def _description(self, hash_: str) -> dict[str, Any] | None:
        """Return what a configuration is; None where that is damaged."""
        try:
            row = self._found(CONFIGURATIONS, (hash_,))
            if row is None:
                self._damage(CONFIGURATIONS, (hash_,))
                return None
            return dict(json.loads(_text(row[0])))
        except (sqlite3.Error, *_DAMAGE) as reason:
            raise StoreError(
                f"{self.path}: the description of configuration {hash_} cannot be read ({reason}); "
                "move the file away and run again"
            ) from reason

    def _keys(self) -> list[tuple[str, int]]:
        """Return hash and number of every block."""
        try:
            return self._connection.execute(
                "SELECT blocks.hash, block FROM blocks LEFT JOIN configurations USING (hash) "
                "ORDER BY description, blocks.hash, block"
            ).fetchall()
        except sqlite3.Error as reason:
            raise self._unusable(reason) from reason


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("it is no text")
    return value


def _encode(record: Record) -> bytes:
    return np.ascontiguousarray(record.data, dtype="<f8").tobytes()


def _decode(series: Any, trials: Any, data: Any) -> Record:
    names = tuple(json.loads(series))
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ValueError("its series are not distinct names")
    values = np.frombuffer(data, dtype="<f8").reshape(len(names), trials)
    return Record(names, values.astype(np.float64))
