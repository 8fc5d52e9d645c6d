"""Counterexamples that earlier searches found: kept in Hypothesis's example database, tried first.

Kept are recipes, not Hypothesis's choices: they stay what they are when a strategy changes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis.database import DirectoryBasedExampleDatabase, ExampleDatabase

from properties.search import VIOLATED, look_at
from verify.claims import Claim
from verify.counterexample import Counterexample, captured
from verify.engine.executors import one_thread
from verify.errors import ReluVerifyError
from verify.theorem import Theorem

_KINDS = ("seeded", "explicit")


def database_in(folder: Path) -> ExampleDatabase:
    """Return the example database of a project's folder: .hypothesis/examples, as Hypothesis's."""
    return DirectoryBasedExampleDatabase(folder / ".hypothesis" / "examples")


def keep(database: ExampleDatabase, theorem: Theorem, example: Counterexample) -> None:
    """Keep a counterexample that a search found."""
    entry = {"kind": example.kind, "recipe": example.recipe}
    database.save(_key(theorem, example.claim), json.dumps(entry, sort_keys=True).encode())


def still_violating(
    database: ExampleDatabase, theorem: Theorem, claim: Claim
) -> Counterexample | None:
    """Return the simplest of the kept counterexamples to a claim that violates it today, or None.

    Those that do not, or cannot be made any more, are forgotten.
    """
    key = _key(theorem, claim.id)
    for content in sorted(database.fetch(key), key=lambda content: (len(content), content)):
        found = _violation(theorem, claim, content)
        if found is not None:
            return found
        database.delete(key, content)
    return None


def _key(theorem: Theorem, claim: str) -> bytes:
    return json.dumps(["relu-verify", theorem.id, claim]).encode()


def _violation(theorem: Theorem, claim: Claim, content: bytes) -> Counterexample | None:
    """Return the counterexample that an entry of the database is of, or None if it is none."""
    try:
        entry: Any = json.loads(content)
        kind, recipe = entry["kind"], dict(entry["recipe"])
        if kind not in _KINDS:
            return None
        with one_thread():
            look = look_at(theorem, claim, kind, recipe)
            if look.outcome != VIOLATED:
                return None
            return captured(theorem, claim, kind, recipe, look.margin)
    except (ValueError, TypeError, KeyError, ReluVerifyError):
        return None
