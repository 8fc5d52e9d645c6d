"""Pinned counterexamples: files that the property suite replays for ever.

One of a universal claim in its own scope must not violate it any more: the suite fails as long as
the claim is refuted by it. One of a control, or found without an assumption, must still violate
its claim: the suite fails when the theorem's boundary has moved.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from properties.catalogue import is_built_in
from properties.suite import ClaimFails
from verify.claims import Probable
from verify.confirm import confirm
from verify.counterexample import EXACT, Counterexample, file_of, read, replay
from verify.errors import InputError
from verify.theorem import Theorem

OWN = Path(__file__).parent / "pinned"
"""The folder of those that this project's own suite replays."""

UNDECIDED = "undecided"


@dataclass(frozen=True)
class Pin:
    """A pinned counterexample.

    file: where it is.   example: what it holds.
    """

    file: Path
    example: Counterexample

    @property
    def name(self) -> str:
        """What the test is called by: the file's name."""
        return self.file.stem


def folder_of(theorem: Theorem) -> Path:
    """Return where a theorem's counterexamples are pinned: beside the user's file F.py in
    F.pinned/, and for a built-in theorem in pinned/ of the working folder."""
    file = file_of(theorem)
    return Path(file).with_suffix(".pinned") if file else Path("pinned")


def pins_in(folder: Path) -> list[Path]:
    """Return the files of a folder of pins, in the order of their names."""
    return sorted(folder.glob("*.json"))


def pins_of(theorem: Theorem, folder: Path) -> Iterator[Path]:
    """Yield the files of a folder that are pinned for a theorem.

    In the folder of a user's file all are; in any other, those that name the theorem, and those
    that cannot be read: their test says why.
    """
    for file in pins_in(folder):
        if not is_built_in(theorem) and folder == folder_of(theorem):
            yield file
            continue
        try:
            example = read(file)
        except InputError:
            yield file
            continue
        if example.theorem in (theorem.id, theorem.address):
            yield file


def must_violate(theorem: Theorem, example: Counterexample) -> bool:
    """Say whether a pinned counterexample must violate its claim: of a control, or without an
    assumption; otherwise it must not.

    Raises UnknownName for a claim that the theorem does not have (any more), and InputError for
    one about a probability in its own scope, which no single instance refutes.
    """
    claim = theorem.claim(example.claim)
    if example.without or any(control.claim is claim for control in theorem.controls):
        return True
    if isinstance(claim, Probable):
        raise InputError(
            f"claim {claim.id!r} is about a probability, which no single instance refutes: there "
            "is nothing to pin; pin a counterexample to a universal claim, or to a control"
        )
    return False


def outcome(theorem: Theorem, example: Counterexample) -> tuple[str, str]:
    """Return "violated", "not violated" or "undecided" of a counterexample today, and why.

    Exactly where the file is exact; in floating point otherwise.
    """
    if example.evidence == EXACT:
        found = confirm(theorem, example)
        if found.outcome == "exact":
            return "violated", found.reason
        return ("not violated" if found.contradicted else UNDECIDED), found.reason
    replayed = replay(theorem, example)
    if replayed.violated:
        return "violated", f"in floating point, its margin is {replayed.margin:.6g}"
    why = "" if replayed.in_scope else ", out of scope or perhaps"
    return "not violated", f"in floating point, its margin is {replayed.margin:.6g}{why}"


def require_as_pinned(theorem: Theorem, file: Path) -> None:
    """Replay a pinned counterexample and raise ClaimFails unless it does what it must.

    Skips where one that must not violate its claim is undecided. Raises InputError for a file
    that is no counterexample of the theorem's.
    """
    example = read(file)
    expected = must_violate(theorem, example)
    found, why = outcome(theorem, example)
    if found == ("violated" if expected else "not violated"):
        return
    if not expected and found == UNDECIDED:
        pytest.skip(f"{file.name} is undecided: {why}")
    without = f" without {', '.join(example.without)}" if example.without else ""
    said = "must still violate" if expected else "must not violate (any more)"
    raise ClaimFails(
        f"pinned {file.name} {said} {example.claim}{without}, and is {found}: {why}\n"
        f"{example.statement}\n"
        f"go on: relu-verify replay {shlex.quote(str(file))}"
    )
