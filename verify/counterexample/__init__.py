"""Counterexamples: instances that violate a claim, as files that are written once, read by people
and replayed by anyone."""

from verify.counterexample.example import EXACT, FLOATING, KINDS, Counterexample, Kind
from verify.counterexample.facts import SIDES, captured, facts_of, file_of
from verify.counterexample.files import FORMAT, VERSION, content_of, digest_of, read, write
from verify.counterexample.replaying import Replayed, realise, replay

__all__ = [
    "EXACT",
    "FLOATING",
    "FORMAT",
    "KINDS",
    "SIDES",
    "VERSION",
    "Counterexample",
    "Kind",
    "Replayed",
    "captured",
    "content_of",
    "digest_of",
    "facts_of",
    "file_of",
    "read",
    "realise",
    "replay",
    "write",
]
