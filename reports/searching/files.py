"""The files of a search: what was found, and each counterexample as one publishes it."""

from __future__ import annotations

from pathlib import Path

from properties.seeking import Found
from reports.counterexamples.publish import publish
from verify.counterexample import Counterexample, write
from verify.theorem import Theorem
from verify.writing import json_text, jsonable, write_text

STEMS = ("smallest", "worst", "unconfirmed")


def written(theorem: Theorem, found: Found, folder: Path, command: str) -> list[Path]:
    """Write search.json and the files of what was found; return their paths.

    Files of an earlier search are removed, so that all in the folder belong together. What is
    unconfirmed is no counterexample: of it the record alone is written.
    Raises InputError where a file cannot be written.
    """
    for stem in STEMS:
        for old in (*folder.glob(f"{stem}.*"), folder / f"{stem}_check.py"):
            old.unlink(missing_ok=True)
    summary = folder / "search.json"
    write_text(summary, json_text(jsonable({**found.to_json(), "command": command})))
    files = [summary]
    for stem, example in published(found):
        files += publish(example, folder, stem, theorem).paths
    if found.unconfirmed is not None:
        write(found.unconfirmed, folder / "unconfirmed.json")
        files.append(folder / "unconfirmed.json")
    return files


def published(found: Found) -> list[tuple[str, Counterexample]]:
    """Return the counterexamples with the stems of their files, each once."""
    stems = ["smallest"] if found.smallest is not None else []
    if found.worst is not None and len(stems) < len(found.examples):
        stems.append("worst")
    return list(zip(stems, found.examples, strict=True))
