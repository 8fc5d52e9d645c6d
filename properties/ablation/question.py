"""What is asked when an assumption is dropped: of which claims, in what scope, and where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from verify.claims import Assumption, Claim, Rate
from verify.errors import InputError
from verify.space import Axis
from verify.theorem import Theorem


def ablated_claims(theorem: Theorem) -> list[Claim]:
    """Return the claims that an ablation judges: all but rates, which are about sweeps and not
    about instances, and the controls', which are false as they are."""
    return [claim for claim in theorem.claims if not isinstance(claim, Rate)]


def droppable(theorem: Theorem) -> list[Assumption]:
    """Return the assumptions that are dropped, one after the other: the theorem's hypotheses, or
    else whatever its claims are given. Certificates, which imply the claims, are not among them.

    Raises InputError for a theorem without axes, along which alone assumptions can be broken.
    """
    if not theorem.space:
        raise InputError(
            f"theorem {theorem.address!r} has no axes, so its assumptions cannot be dropped; give "
            "it axes=(Axis(…), …)"
        )
    return [assumption for assumption in _assumed(theorem) if not assumption.certificate]


def certificates(theorem: Theorem) -> list[Assumption]:
    """Return the sufficient conditions of ours that claims are given: left out throughout."""
    given = (a for claim in ablated_claims(theorem) for a in claim.given)
    everything = dict.fromkeys((*theorem.hypotheses, *given))
    dropped = {assumption.id for assumption in droppable(theorem)}
    return [a for a in everything if a.certificate and a.id not in dropped]


def replaced(theorem: Theorem) -> dict[Assumption, list[Claim]]:
    """Return what claims are given that is neither a hypothesis nor a certificate, with the claims:
    it is left out throughout, for the theorem's hypotheses stand in its place."""
    found: dict[Assumption, list[Claim]] = {}
    for claim in ablated_claims(theorem) if theorem.hypotheses else ():
        for one in claim.given:
            if not one.certificate and one not in theorem.hypotheses:
                found.setdefault(one, []).append(claim)
    return found


def _assumed(theorem: Theorem) -> list[Assumption]:
    given = (a for claim in ablated_claims(theorem) for a in claim.given)
    return list(dict.fromkeys(theorem.hypotheses or given))


@dataclass(frozen=True)
class Question:
    """Which claims of a theorem hold where one assumption is violated and the others hold.

    dropped: that assumption, or None at the baseline, where nothing is dropped and all must hold.
    failing: ids of claims that are not asked about, for they fail at the baseline.
    """

    theorem: Theorem
    dropped: Assumption | None = None
    failing: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The id of the assumption that is dropped, "" at the baseline."""
        return "" if self.dropped is None else self.dropped.id

    @property
    def without(self) -> tuple[str, ...]:
        """The assumptions that counterexamples are found without; none at the baseline."""
        return () if self.dropped is None else (self.dropped.id,)

    def recorded_without(self, claim: Claim) -> tuple[str, ...]:
        """Return what the file of a counterexample leaves out of a claim's scope, so that it has
        what is assumed here: at the baseline, where a claim may be given a certificate in place of
        the theorem's hypotheses, the first of these, which the instance meets, or the certificates.
        """
        if self.dropped is not None:
            return self.without
        if self.theorem.hypotheses:
            return (self.theorem.hypotheses[0].id,)
        return tuple(assumption.id for assumption in claim.given if assumption.certificate)

    @cached_property
    def scopes(self) -> dict[Claim, tuple[Assumption, ...]]:
        """What must hold, besides the assumption that is dropped, by claim; claims that do not
        assume it are left out."""
        return dict(self._scopes())

    def _scopes(self) -> Iterator[tuple[Claim, tuple[Assumption, ...]]]:
        for claim in ablated_claims(self.theorem):
            if claim.id in self.failing:
                continue
            assumed = self.theorem.hypotheses or claim.given
            if self.dropped is None:
                yield claim, tuple(a for a in assumed if not a.certificate)
            elif self.dropped in assumed:
                yield claim, self.theorem.scope(claim, self.without)

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Where it is searched: the theorem's space cut to what it assumes, but for the axes that
        the dropped assumption names, whose whole range is searched. What takes the place of
        another axis is left out."""
        moved = () if self.dropped is None else self.dropped.axes
        return tuple(
            axis if axis.name in moved else axis.within
            for axis in self.theorem.space
            if not axis.instead_of
        )

    @property
    def moved(self) -> tuple[Axis, ...]:
        """The axes of the space that may break the dropped assumption, with all of their range."""
        named = () if self.dropped is None else self.dropped.axes
        return tuple(axis for axis in self.axes if axis.name in named)
