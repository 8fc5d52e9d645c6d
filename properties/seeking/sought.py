"""What is sought: violations of one claim in a scope, each confirmed before it counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from properties.search import Look, look_at
from verify.claims import Claim, Rate, Universal
from verify.confirm import Confirmed, confirm
from verify.counterexample import Counterexample, Kind, captured, file_of
from verify.engine.plan import broken_by
from verify.errors import InputError, TheoremError
from verify.theorem import Theorem


@dataclass(frozen=True)
class Sought:
    """Violations of a claim of a theorem, in the scope that is left without some assumptions.

    Raises InputError for a rate, which no single instance violates, and for an assumption that is
    given twice; UnknownName for one that the claim does not have.
    """

    theorem: Theorem
    claim: Claim
    without: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.claim, Rate):
            raise InputError(
                f"claim {self.claim.id!r} is a rate, which no single instance violates; search a "
                "universal claim, or a bound of it"
            )
        self.theorem.scope(self.claim, self.without)
        if twice := [name for name in self.without if self.without.count(name) > 1]:
            raise InputError(f"without: {twice[0]!r} is given twice, expected each assumption once")

    @property
    def universal(self) -> bool:
        """Whether the claim is the theorem's own, no control's, and about every instance."""
        ours = any(claim is self.claim for claim in self.theorem.claims)
        return ours and isinstance(self.claim, Universal)

    @cached_property
    def scoped(self) -> Claim:
        """The claim, given what its scope is made of."""
        return replace(self.claim, given=self.theorem.scope(self.claim, self.without))

    @cached_property
    def control(self) -> str:
        """The id of the control whose broken simulator runs, "" for the theorem's own."""
        return broken_by(self.theorem, self.claim)

    @property
    def has_exact_form(self) -> bool:
        """Whether the claim is stated over the rationals: then only what is violated there is a
        counterexample."""
        exact = self.theorem.exact
        return exact is not None and self.claim.id in exact.statements and not self.control

    def look(self, kind: Kind, recipe: dict[str, Any]) -> Look | None:
        """Evaluate the claim on one instance, None where the recipe makes none.

        A start that no weights attain, or a singular matrix that a comparator needs, is no
        instance: the theorem's functions raise InputError there; nor is one on which the claim
        has no inequality (`Margin.unstated`). Raises TheoremError, which names
        the instance, where one of them misbehaves.
        """
        try:
            found = look_at(self.theorem, self.claim, kind, recipe, self.without)
            return found if found.stated else None
        except TheoremError:
            raise
        except InputError:
            return None

    def judged(self, kind: Kind, recipe: dict[str, Any], margin: float) -> Confirmed:
        """Return what exact arithmetic says of an instance that violates the claim.

        Of a claim that has an exact form, an instance that has none is undecided.
        """
        return self._decided(confirm(self.theorem, self._bare(kind, recipe, margin)))

    def described(
        self, kind: Kind, recipe: dict[str, Any], margin: float, seed: int, judged: Confirmed
    ) -> Counterexample:
        """Return a violation with what helps to read it, its severity, and what is exact of it.

        seed: of the search that found it.   judged: what exact arithmetic said of it.
        Raises TheoremError where exact arithmetic now says something else.
        """
        theorem, claim = self.theorem, self.claim
        example = captured(theorem, claim, kind, recipe, margin, self.control, self.without, seed)
        found = confirm(theorem, example)
        again = self._decided(found)
        if (again.outcome, again.example.exact) != (judged.outcome, judged.example.exact):
            raise self.not_deterministic(recipe, judged.reason, again.reason)
        return found.example

    def not_deterministic(self, recipe: dict[str, Any], first: str, then: str) -> TheoremError:
        """Return the error of an exact form that said two things of one instance."""
        return TheoremError(
            f"the exact form of {self.claim.id!r} is not deterministic: at {dict(recipe)} it first "
            f"says {first!r}, and then {then!r}; let it depend on the problem alone"
        )

    def _decided(self, found: Confirmed) -> Confirmed:
        if found.outcome != "no exact form" or not self.has_exact_form:
            return found
        reason = f"floating point violates it, and the exact form says nothing: {found.reason}"
        return replace(found, outcome="undecided", reason=reason)

    def _bare(self, kind: Kind, recipe: dict[str, Any], margin: float) -> Counterexample:
        return Counterexample(
            self.theorem.address,
            self.claim.id,
            self.claim.statement,
            kind,
            recipe,
            margin,
            self.control,
            theorem_file=file_of(self.theorem),
            without=self.without,
        )
