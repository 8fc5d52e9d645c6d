"""Theorem files that came with the work, for a machine that does not have them."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import RLock

from verify.errors import InputError

Sources = Mapping[str, bytes]
"""The content of a theorem's file and of those of its folder that it imports, by their names
relative to that folder."""

_copies: dict[Path, tuple[Sources, TemporaryDirectory[str]]] = {}
_providing = RLock()


def provide(files: Mapping[str, Sources]) -> None:
    """Make theorem files loadable here by the absolute path that they have where they come from.

    A file that is here by that path is used, and is to be the same; one that is not is kept in a
    temporary folder until this process ends. Raises InputError for another file of that path.
    """
    with _providing:
        for name, sources in files.items():
            file = Path(name)
            if file.is_file():
                _require_same(file, sources)
            elif file not in _copies or _copies[file][0] != sources:
                _copies[file] = (sources, _written(sources))


def place_of(file: Path) -> Path:
    """Return where the content of a theorem's file is: there, or in the copy that was provided."""
    with _providing:
        if file.is_file() or file not in _copies:
            return file
        return Path(_copies[file][1].name, file.name)


def _require_same(file: Path, sources: Sources) -> None:
    for name, content in sources.items():
        mine = file.parent / name
        if not mine.is_file() or mine.read_bytes() != content:
            raise InputError(
                f"{mine} on {platform.node()} is not the one that is being checked: it was edited "
                "meanwhile, or that machine has a file of its own there; make them the same and "
                "run it again"
            )


def _written(sources: Sources) -> TemporaryDirectory[str]:
    folder = TemporaryDirectory(prefix="relu-verify-")
    for name, content in sources.items():
        path = Path(folder.name, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder
