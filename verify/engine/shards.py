"""Shards: which part of a run's work is whose, when several machines share it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from verify.errors import InputError


@dataclass(frozen=True)
class Shard:
    """Part `index` of `count`, from 1 to `count`.

    What is shared out has a hash and numbered pieces: the blocks of a configuration, the parts of
    a search. Its pieces are dealt in turn, to begin with whom the hash says. So each piece has one
    owner, whatever else there is and in which order; shares are about even; and so is each
    configuration's, a configuration of dear blocks included.
    """

    index: int
    count: int

    def __post_init__(self) -> None:
        if not 1 <= self.index <= self.count:
            raise InputError(
                f"shard={self}, expected a shard i/k with i from 1 to k, say 1/{max(self.count, 2)}"
            )

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"

    @staticmethod
    def parse(text: str) -> Shard:
        """Return the shard that is written "i/k", say "2/4". Raises InputError."""
        written = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
        if written is None:
            raise InputError(f"shard={text!r}, expected two whole numbers i/k, say 2/4")
        return Shard(int(written[1]), int(written[2]))

    def owns(self, hash_: str, number: int) -> bool:
        """Whether piece `number` of what has this hash (hexadecimal) is this shard's."""
        return owner(hash_, number, self.count) == self


def owner(hash_: str, number: int, count: int) -> Shard:
    """Return which of `count` shards owns piece `number` of what has this hash (hexadecimal)."""
    return Shard((int(hash_, 16) + number) % count + 1, count)
