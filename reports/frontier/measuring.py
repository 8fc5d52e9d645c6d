"""From what is asked to the content of frontier.json, with the records kept in a folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reports.exit_codes import ALL_AS_EXPECTED, UNSETTLED
from reports.frontier.request import Asked
from reports.frontier.sentence import sentence
from reports.runs.damage import telling_damage
from reports.runs.running import STORE_NAME
from reports.runs.summary import versions
from reports.typography import Part
from verify import __version__
from verify.engine.executors import AnyExecutor
from verify.engine.frontier import measure_frontier
from verify.engine.store import Store
from verify.errors import InputError
from verify.writing import jsonable

Progress = Callable[[str, int, int, str], None]
"""Called with (claim, trials done, budget, what was done last)."""


def measure(
    asked: Asked,
    folder: Path,
    executor: AnyExecutor | None,
    command: str,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Return the content of frontier.json (`reports.frontier.schema`); records go to `folder`.

    Asking the same again goes on where an interrupted measurement stopped.   command: as typed.
    Raises InputError where `folder` is a file, StoreError where its records cannot be used.
    """
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise InputError(f"--out {folder} is a file, expected a folder (it is made if missing)")
    name = asked.claim.id

    def step(done: int, total: int, what: str) -> None:
        if progress is not None:
            progress(name, done, total, what)

    with telling_damage(Store(folder / STORE_NAME)) as store:
        frontier = measure_frontier(
            asked.theorem, asked.claim, asked.request, executor=executor, store=store, progress=step
        )
    measured = {**jsonable(frontier.to_json()), "defaults": jsonable(dict(asked.defaults))}
    return complete(measured, command)


def complete(measured: dict[str, Any], command: str, created: str = "") -> dict[str, Any]:
    """Return what the engine measured with the answer, and with what it was made by.

    created: ISO 8601, UTC; by default now.
    """
    return {
        "tool": {"name": "relu-verify", "version": __version__},
        "command": command,
        "created": created or datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions(),
        "exit_code": exit_code(measured),
        "sentence": sentence(measured),
        **measured,
    }


def exit_code(found: Part) -> int:
    """Return 0 if every row is settled, else 3."""
    settled = all(row["settled"] for row in found["rows"])
    return ALL_AS_EXPECTED if settled else UNSETTLED
