"""What a search found, and with how much effort."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from verify.counterexample import EXACT, Counterexample
from verify.verdict import Conclusion

FORMAT = "relu-verify search"
SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Effort:
    """What was looked at in one place. The counts are no probabilities: they are not i.i.d.

    where: sizes, as "n=2, d=3", or "structured ensembles".   examples: in_scope (or perhaps), out
    of scope, and no_instance, where the recipe made none, or the claim has no inequality.
    violated: in scope, beyond rounding.   undecided: in scope or perhaps, and within rounding or
    not certified, in floating point.
    unconfirmed: of the violated ones that were looked at exactly, those that are none there, or
    that exact arithmetic could not decide.   settled: of the undecided ones that were looked at
    exactly, each once, those that exact arithmetic decided.
    """

    kind: str
    where: str
    examples: int
    in_scope: int
    violated: int
    undecided: int
    no_instance: int
    unconfirmed: int = 0
    settled: int = 0

    @property
    def decided(self) -> int:
        """Examples in scope of which it is known whether they violate the claim."""
        return self.in_scope - self.undecided + self.settled

    def __add__(self, other: Effort) -> Effort:
        return Effort(
            self.kind,
            self.where,
            self.examples + other.examples,
            self.in_scope + other.in_scope,
            self.violated + other.violated,
            self.undecided + other.undecided,
            self.no_instance + other.no_instance,
            self.unconfirmed + other.unconfirmed,
            self.settled + other.settled,
        )


NOTHING = Effort("", "", 0, 0, 0, 0, 0)
"""No effort."""


@dataclass(frozen=True)
class Found:
    """What a search found.

    universal: whether the claim is one of the theorem's that one violation in scope refutes.
    smallest: the simplest counterexample of the fewest examples, dimensions and so on, of small or
    explicit problems, None where none was found.   worst: that of the lowest margin of any kind.
    unconfirmed: one that violates the claim in floating point, and exactly does not, or not as far
    as can be decided: no counterexample.   why: the reason, in words.   contradicted: whether it is
    that exact arithmetic says that there is no violation; otherwise it cannot tell.
    ended: "" where the search did all that it was asked; "time" where its time was over first, so
    that what it found depends on the clock; "interrupted".
    """

    theorem: str
    claim: str
    statement: str
    without: tuple[str, ...]
    scope: tuple[str, ...]
    universal: bool
    seed: int
    efforts: tuple[Effort, ...]
    smallest: Counterexample | None = None
    worst: Counterexample | None = None
    unconfirmed: Counterexample | None = None
    why: str = ""
    contradicted: bool = False
    ended: str = ""

    @property
    def examples(self) -> tuple[Counterexample, ...]:
        """The counterexamples, each once."""
        both = [one for one in (self.smallest, self.worst) if one is not None]
        return tuple(both[:1] if len(both) == 2 and _same(*both) else both)

    @property
    def conclusion(self) -> str:
        """ "counterexample", "counterexample in floating point", "undecided" or "nothing"."""
        if self.examples:
            exact = any(one.evidence == EXACT for one in self.examples)
            return "counterexample" if exact else "counterexample in floating point"
        return str(Conclusion.UNDECIDED) if self.unconfirmed is not None else "nothing"

    @property
    def nothing_decided(self) -> bool:
        """Whether no example in scope was decided, if any was in scope."""
        return not any(effort.decided for effort in self.efforts)

    @property
    def refuted(self) -> bool:
        """Whether the theorem's claim is refuted: by a counterexample in scope, which meets what
        was dropped too."""
        return self.universal and any(
            not self.without or one.severity.get("in_scope") is True for one in self.examples
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-able values, the counterexamples by their recipes."""
        named = {name: _told(getattr(self, name)) for name in ("smallest", "worst", "unconfirmed")}
        return {
            "format": FORMAT,
            "schema_version": SCHEMA_VERSION,
            **{name: value for name, value in vars(self).items() if name not in named},
            "efforts": [vars(effort) for effort in self.efforts],
            "conclusion": self.conclusion,
            "refuted": self.refuted,
            **named,
        }


def _same(one: Counterexample, other: Counterexample) -> bool:
    return (one.kind, one.recipe) == (other.kind, other.recipe)


def _told(example: Counterexample | None) -> Mapping[str, Any] | None:
    if example is None:
        return None
    names = ("kind", "recipe", "margin", "evidence", "severity")
    return {name: getattr(example, name) for name in names}
