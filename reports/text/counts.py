"""Counts in words."""

from __future__ import annotations


def count_of(count: int, noun: str, plural: str = "") -> str:
    """Return "1 block", "2 blocks".   plural: of the noun, where it is not with an s."""
    return f"{count} {noun if count == 1 else plural or f'{noun}s'}"


def missing_words(blocks: tuple[int, int], parts: tuple[int, int]) -> str:
    """Say how many of a theorem's blocks and parts of searches are missing, of how many."""
    told = [
        f"{missing} of its {count_of(total, noun, plural)}"
        for (missing, total), noun, plural in (
            (blocks, "block", "blocks"),
            (parts, "part of a search", "parts of searches"),
        )
        if missing
    ]
    return f"{' and '.join(told)} {'is' if blocks[0] + parts[0] == 1 else 'are'} missing"
