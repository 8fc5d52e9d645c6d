"""Ids on the page: what links within it, and links to it from elsewhere, point at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import quote


def anchor(kind: str, name: str) -> str:
    """Return the id of a theorem, claim or assumption on the page: "theorem-lai2026.theorem1".

    Safe in URLs and different for different names: whatever a fragment may not hold is written
    ~XX, by byte.
    """
    return f"{kind}-{plain(name)}"


def plain(name: str) -> str:
    """Return a name as a fragment may hold it: "lai2026.theorem1" stays as it is."""
    return quote(name, safe="/:@").replace("~", "~7E").replace("%", "~")


def aliases(names: Iterable[str], taken: Iterable[str]) -> Mapping[str, str]:
    """Return second ids, names without their kind, so that report.html#lai2026.theorem1 opens.

    A name that is the id of something else on the page, or that comes twice, opens that.
    """
    found: dict[str, str] = {}
    used = set(taken)
    for name in names:
        wanted = plain(name)
        if wanted and wanted not in used:
            found[name] = wanted
            used.add(wanted)
    return found
