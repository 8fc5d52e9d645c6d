"""A record of exact numbers beside the same numbers computed again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def differences(stored: Any, today: Any, where: str = "") -> Iterator[str]:
    """Yield a line for every number, truth value or name that is not the same in both.

    Words on an inequality ("reads") may change. Lists of statements are compared by their ids.
    """
    if isinstance(stored, Mapping) and isinstance(today, Mapping):
        for name in [*stored, *(name for name in today if name not in stored)]:
            if name != "reads":
                inside = f"{where}.{name}" if where else str(name)
                yield from differences(stored.get(name), today.get(name), inside)
    elif isinstance(stored, list) and isinstance(today, list):
        if _named(stored) and _named(today):
            by_id = ({one["id"]: one for one in entries} for entries in (stored, today))
            yield from differences(*by_id, where)
        elif len(stored) != len(today):
            yield f"{where}: {len(stored)} entries stored, {len(today)} today"
        else:
            for place, (one, other) in enumerate(zip(stored, today, strict=True)):
                yield from differences(one, other, f"{where}[{place}]")
    elif type(stored) is not type(today) or stored != today:
        yield f"{where}: stored {_short(stored)}, today {_short(today)}"


def _named(entries: list[Any]) -> bool:
    return all(isinstance(one, Mapping) and "id" in one for one in entries)


def _short(value: Any) -> str:
    if value is None:
        return "nothing"
    text = str(value)
    return text if len(text) <= 40 else f"{text[:40]}… ({len(text)} characters)"
