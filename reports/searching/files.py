"""The files of a search: what was found, and each counterexample as one publishes it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from properties.seeking import Effort, Found
from properties.seeking.found import FORMAT
from reports.counterexamples.publish import names, publish
from reports.counterexamples.readable import TRIED
from verify.counterexample import Counterexample, write
from verify.errors import InputError
from verify.theorem import Theorem
from verify.writing import json_text, jsonable, require_writable, write_text

SUMMARY = "search.json"
UNCONFIRMED = "unconfirmed.json"

NAMES = (SUMMARY, *names("smallest"), *names("worst"), UNCONFIRMED)
"""Every file that a search may write."""


def require_room(folder: Path) -> None:
    """Raise InputError where a search could not write to a folder (see `require_free`, too)."""
    require_free(folder)
    require_writable(*(folder / name for name in NAMES))


def require_free(folder: Path) -> None:
    """Raise InputError where a file that a search may write is there and is not a search's own:
    DIR/search.json tells that a folder is one of a search."""
    if _is_ours(folder):
        return
    for name in NAMES:
        if (folder / name).exists() or (folder / name).is_symlink():
            raise InputError(
                f"{folder / name} is there and was not written by a search: {folder / SUMMARY} "
                f"{'is another file' if (folder / SUMMARY).exists() else 'is missing'}; choose "
                "another --out"
            )


def written(theorem: Theorem, found: Found, folder: Path, command: str) -> list[Path]:
    """Write search.json and the files of what was found; return their paths.

    What an earlier search wrote here and this one does not is removed at the end, so that all in
    the folder belong together; nothing else is touched. What is unconfirmed is no counterexample:
    of it the record alone is written.
    Raises InputError where a file cannot be written, or is not a search's own (`require_free`).
    """
    require_free(folder)
    summary = folder / SUMMARY
    write_text(summary, json_text(jsonable({**found.to_json(), "command": command})))
    files = [summary]
    for stem, example in published(found):
        files += publish(example, folder, stem, theorem).paths
    if found.unconfirmed is not None:
        write(found.unconfirmed, folder / UNCONFIRMED)
        files.append(folder / UNCONFIRMED)
    _remove([folder / name for name in NAMES if folder / name not in files])
    return files


def published(found: Found) -> list[tuple[str, Counterexample]]:
    """Return the counterexamples with the stems of their files, each once, and with the fact how
    many problems of their size were tried."""
    stems = ["smallest"] if found.smallest is not None else []
    if found.worst is not None and len(stems) < len(found.examples):
        stems.append("worst")
    examples = [_with_effort(found, example) for example in found.examples]
    return list(zip(stems, examples, strict=True))


def _with_effort(found: Found, example: Counterexample) -> Counterexample:
    """Return a small problem with what was tried of its size as a fact; any other as it is."""
    effort = effort_at(found, example)
    if "values" not in example.recipe or effort is None:
        return example
    tried = {name: getattr(effort, name) for name in ("where", "in_scope", "violated")}
    return replace(example, facts={**example.facts, TRIED: tried})


def effort_at(found: Found, example: Counterexample) -> Effort | None:
    """Return what was looked at where an example is from: its size of small problems, or the
    structured ensembles. None where nothing was, as of a size that only steps led to."""
    values = example.recipe.get("values", {})
    for effort in found.efforts:
        sizes = dict(part.split("=") for part in effort.where.split(", ") if "=" in part)
        if effort.kind == example.kind and all(str(values[n]) == m for n, m in sizes.items()):
            return effort
    return None


def _is_ours(folder: Path) -> bool:
    """Say whether DIR/search.json is what a search writes."""
    try:
        if not (folder / SUMMARY).is_file():
            return False
        known = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(known, dict) and known.get("format") == FORMAT


def _remove(stale: list[Path]) -> None:
    for path in stale:
        try:
            path.unlink(missing_ok=True)
        except OSError as reason:
            raise InputError(
                f"{path} is of an earlier search and cannot be removed "
                f"({reason.strerror or reason}); remove it, or choose another --out"
            ) from reason
