"""Counts and lists of numbers in sentences about a researcher's data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

LISTED = 5
"""Entries of a list that are named; the others are counted."""


def plural(count: int, one: str, more: str) -> str:
    """Return a count with what it counts: "1 row", "2 rows"."""
    return f"{count} {one if count == 1 else more}"


def counted(
    entries: Sequence[Any] | np.ndarray[Any, Any], last: str, joint: str = ", ", noun: str = ""
) -> str:
    """Return the first entries of a list, and how many more there are.

    last: what stands before their number.   noun: what they are, behind it.
    """
    listed = joint.join(str(entry) for entry in list(entries)[:LISTED])
    more = len(entries) - LISTED
    return listed + (f" {last} {more} more{noun}" if more > 0 else "")
