"""Theorem files that came with the work, for a machine that does not have them."""

from __future__ import annotations

import atexit
import platform
import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import mkdtemp
from threading import RLock

from verify.errors import InputError

Sources = Mapping[str, bytes]
"""The content of a theorem's file and of those of its folder that it imports, by their names
relative to that folder."""

_provided: dict[Path, Sources] = {}
_copies: dict[Path, tuple[Sources, Path]] = {}
_providing = RLock()


def provide(files: Mapping[str, Sources]) -> None:
    """Say what theorem files hold where the work comes from, by their absolute paths there."""
    with _providing:
        _provided.update({Path(name): sources for name, sources in files.items()})


def place_of(file: Path) -> Path:
    """Return where the content of a theorem's file is: there, or, where this machine has no such
    file, in a copy of what was provided, which stays until the process ends.

    Raises InputError for a file that is here and holds something else than was provided.
    """
    with _providing:
        sources = _provided.get(file)
        if sources is None:
            return file
        if file.is_file():
            _require_same(file, sources)
            return file
        if file not in _copies or _copies[file][0] != sources:
            _copies[file] = sources, _written(sources)
        return _copies[file][1] / file.name


def _require_same(file: Path, sources: Sources) -> None:
    for name, content in sources.items():
        mine = file.parent / name
        if not mine.is_file() or mine.read_bytes() != content:
            raise InputError(
                f"{mine} on {platform.node()} is not the one that is being checked: it was edited "
                "meanwhile, or that machine has a file of its own there; make them the same and "
                "run it again"
            )


def _written(sources: Sources) -> Path:
    """Write files to a temporary folder, which goes when the process ends."""
    folder = Path(mkdtemp(prefix="relu-verify-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name, content in sources.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder
