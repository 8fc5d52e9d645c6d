"""Stores joined: what several hold, in one, unless they contradict each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from verify.engine.store import Store
from verify.errors import StoreError

_WHY = (
    "something that the theorem reads differs (a data file, an environment variable), it is not "
    "deterministic, or the processors are others, whose BLAS rounds otherwise; leave one of the "
    "two out"
)


@dataclass(frozen=True)
class Joined:
    """What was added to a store: blocks, and what searches found."""

    blocks: int
    searches: int


def join(target: Store, sources: Sequence[Store]) -> Joined:
    """Add all blocks and searches of some stores to another, but for what is damaged; all of them,
    or after an error or a kill none. The sources are only read.

    Raises StoreError where two hold different numbers for the same block, or different findings of
    the same search.
    """
    with target.together():
        blocks = _join_blocks(target, sources)
        searches = _join_searches(target, sources)
    return Joined(blocks, searches)


def _join_blocks(target: Store, sources: Sequence[Store]) -> int:
    come_from: dict[tuple[str, int], Path] = {}
    for source in sources:
        for hash_, description, block, record in source.blocks():
            known = target.read(hash_, block)
            if known is None:
                target.register(hash_, description)
                target.write(hash_, block, record, source.seconds_of_block(hash_, block))
                come_from[hash_, block] = source.path
            elif different := known.differing(record):
                other = come_from.get((hash_, block), target.path)
                raise StoreError(
                    f"block {block} of theorem {description.get('theorem')!r} at "
                    f"{description.get('point')} is one in {other} and another in {source.path} "
                    f"({', '.join(different)}): {_WHY}"
                )
    return len(come_from)


def _join_searches(target: Store, sources: Sequence[Store]) -> int:
    come_from: dict[str, Path] = {}
    for source in sources:
        for hash_ in source.searches():
            content = source.recall(hash_, dict)
            known = target.recall(hash_, dict)
            if content is None:
                continue
            if known is None:
                target.remember(hash_, content, source.seconds_of_search(hash_))
                come_from[hash_] = source.path
            elif repr(known) != repr(content):  # which takes NaN for equal
                other = come_from.get(hash_, target.path)
                claim = content.get("claim", hash_)
                raise StoreError(
                    f"the search of {claim!r} found one thing in {other} and another in "
                    f"{source.path}: {_WHY}"
                )
    return len(come_from)
