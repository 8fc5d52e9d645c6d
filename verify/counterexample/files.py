"""Counterexample files: written whole or not at all, and read with every entry checked."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from stat import S_ISREG
from typing import Any

import numpy as np

import verify
from verify.counterexample.entries import check_exact, unique
from verify.counterexample.example import EXACT, FLOATING, KINDS, Counterexample
from verify.counterexample.severities import check_severity
from verify.errors import InputError
from verify.writing import json_text, jsonable, write_text

FORMAT = "relu-verify counterexample"
VERSION = 2
"""Version 1 had no `without`, `seed`, `severity`, `exact` and digest; it is still read, as a file
that has none of them: what was known then was known in floating point."""

LARGEST = 16 * 1024 * 1024
"""Bytes of the largest file that is read: our own have at most a few hundred thousand."""


def content_of(example: Counterexample) -> dict[str, Any]:
    """Return what the file of a counterexample holds, its digest included."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": ", ".join(
            (
                f"relu-verify {verify.__version__}",
                f"numpy {np.__version__}",
                f"python-flint {version('python-flint')}",
            )
        ),
        **{name: jsonable(value) for name, value in vars(example).items()},
    }
    if not example.theorem_file:
        del content["theorem_file"]
    return {**content, "digest": digest_of(content)}


def digest_of(content: Mapping[str, Any]) -> str:
    """Return the SHA-256, in hex, of a file's content but for its "digest".

    It is that of the canonical JSON: keys sorted, no spaces, ASCII. Raises ValueError for NaN and
    infinities, which JSON does not have.
    """
    rest = {name: value for name, value in content.items() if name != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def write(example: Counterexample, path: str | Path) -> None:
    """Write a counterexample as JSON, whole or not at all. Raises InputError if it cannot be."""
    write_text(Path(path), json_text(content_of(example)))


def read(path: str | Path) -> Counterexample:
    """Read a counterexample. Raises InputError for anything that is not one, or is damaged."""
    content = _loaded(path)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(f"{path} is not a counterexample file: its format is not {FORMAT!r}")
    stored = content.get("version")
    if type(stored) is not int or stored not in (1, VERSION):
        raise InputError(
            f"{path} has version={_short(stored)}, expected {VERSION} or 1; read it with the "
            "relu-verify that wrote it"
        )
    expected = _ENTRIES if stored == 1 else _ENTRIES | _ENTRIES_OF_VERSION_2
    for name, kinds in expected.items():
        if type(content.get(name, ...)) not in kinds:
            raise InputError(f"{path}: entry {name!r} is missing or of the wrong type")
    if content["kind"] not in KINDS:
        raise InputError(
            f"{path}: kind={_short(content['kind'])}, expected one of {', '.join(KINDS)}"
        )
    if type(content.get("theorem_file", "")) is not str:
        raise InputError(f"{path}: entry 'theorem_file' is of the wrong type")
    for name in ("theorem", "theorem_file"):
        if "\0" in content.get(name, ""):
            raise InputError(f"{path}: {name}={_short(content[name])}, which names no theorem")
    known = {name: content[name] for name in expected if name != "digest"}
    known["margin"] = _margin(path, content["margin"])
    if stored == VERSION:
        _check_version_2(path, content)
    else:
        _check_version_1(path, content)
    return Counterexample(**known, theorem_file=content.get("theorem_file", ""))


_ENTRIES: dict[str, tuple[type, ...]] = {
    "theorem": (str,),
    "claim": (str,),
    "statement": (str,),
    "kind": (str,),
    "recipe": (dict,),
    "margin": (int, float, type(None)),
    "control": (str,),
    "facts": (dict,),
    "evidence": (str,),
}

_ENTRIES_OF_VERSION_2: dict[str, tuple[type, ...]] = {
    "without": (list,),
    "seed": (int, type(None)),
    "severity": (dict,),
    "exact": (dict, type(None)),
    "digest": (str,),
}


def _loaded(path: str | Path) -> Any:
    """Return a file's JSON. Raises InputError where there is none."""
    try:
        status = Path(path).stat()
        if not S_ISREG(status.st_mode):
            raise InputError(f"{path} is not a counterexample file: it is no regular file")
        size = status.st_size
        if size > LARGEST:
            raise InputError(
                f"{path} is not a counterexample file: it has {size} bytes, more than {LARGEST}"
            )
        return json.loads(Path(path).read_text(encoding="utf-8"), object_pairs_hook=unique)
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(
            f"no file {str(path)!r}; counterexamples lie in DIR/counterexamples/"
        ) from None
    except (OSError, ValueError, RecursionError) as reason:
        raise InputError(f"{path} is not a counterexample file ({reason})") from reason


def _check_version_1(path: str | Path, content: Mapping[str, Any]) -> None:
    """Raise InputError where a file of version 1 has what only version 2 has: it would be taken
    for known exactly, or for whole, without being so."""
    later = [name for name in _ENTRIES_OF_VERSION_2 if name in content]
    if later or content["evidence"] == EXACT:
        had = f"has the entry {later[0]!r}" if later else f"has the evidence {EXACT!r}"
        raise InputError(
            f"{path} {had}, which version 1 did not know: the file was changed; take it from where "
            "it was written"
        )


def _check_version_2(path: str | Path, content: Mapping[str, Any]) -> None:
    """Raise InputError where an entry that version 1 had not makes no sense, or the digest says
    that some entry was changed."""
    without = content["without"]
    if not all(type(name) is str for name in without) or len(set(without)) < len(without):
        raise InputError(f"{path}: without={_short(without)}, expected distinct assumptions' ids")
    if content["evidence"] not in (EXACT, FLOATING):
        raise InputError(
            f"{path}: evidence={_short(content['evidence'])}, expected {EXACT!r} or {FLOATING!r}"
        )
    if (content["evidence"] == EXACT) != (content["exact"] is not None):
        raise InputError(
            f"{path}: the evidence is {content['evidence']!r}, but there is "
            f"{'no' if content['exact'] is None else 'an'} exact entry"
        )
    if content["exact"] is not None:
        try:
            check_exact(content["exact"], content["claim"], without)
        except InputError as reason:
            raise InputError(f"{path}: {reason}") from None
    try:
        digest = digest_of(content)
    except (ValueError, RecursionError) as reason:
        raise InputError(f"{path} is not a counterexample file ({reason})") from reason
    if digest != content["digest"]:
        raise InputError(
            f"{path}: its digest is {content['digest'][:64]!r}, expected {digest!r} of what it "
            "holds: the file was changed or damaged; take it from where it was written"
        )
    try:
        check_severity(content["severity"])
    except InputError as reason:
        raise InputError(f"{path}: {reason}") from None


def _margin(path: str | Path, stored: float | None) -> float:
    """Return a stored margin, where null stands for −∞. Raises InputError for other infinities."""
    if stored is None:
        return -math.inf
    try:
        margin = float(stored)
    except OverflowError:
        margin = math.inf
    if not math.isfinite(margin):
        raise InputError(f"{path}: margin={margin}, expected a finite number")
    return margin


def _short(value: Any) -> str:
    """Return a stored value as an error shows it."""
    text = repr(value)
    return text if len(text) <= 80 else text[:80] + "…"
