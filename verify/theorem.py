"""A theorem as code: how instances are drawn, what happens on them, and what is claimed.

Problem and run are the theorem's own types; only its own functions look inside.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import Any

import numpy as np

from verify.arrays import Backend
from verify.blame import blaming, whereabouts
from verify.claims import Assumption, Claim, Control, Rate, Status, name_of, require_each
from verify.errors import TheoremError, UnknownName
from verify.exact import Exact
from verify.explicit import Explicit
from verify.measures import Chain, Measure
from verify.space import Axis, Coordinate, Point

_BETWEEN_PATHS = "\0"
"""The one character that no path can hold; a line break it can."""


def file_origin(file: str | PathLike[str], given: str) -> str:
    """Return the origin of a theorem in the absolute path `file`, known by the path `given`."""
    return f"file:{fspath(file)}{_BETWEEN_PATHS}{given}"


def paths_of(origin: str | None) -> tuple[str, str]:
    """Return the absolute path and the path as given of a `file_origin`; "" of any other."""
    kind, _, place = (origin or "").partition(":")
    file, _, given = place.partition(_BETWEEN_PATHS)
    return (file, given) if kind == "file" else ("", "")


def _no_references() -> Mapping[str, Callable[[Any, Any], Any]]:
    return {}


@dataclass(frozen=True)
class Theorem:
    """A theorem: where its instances live, what happens on them, and what is claimed.

    draw(point, generator, trials): an i.i.d. batch of problems from a numpy Generator.
    simulate(problem): what happens; computed once a block and shared by all claims.
    references: comparators (problem, run) -> anything, computed on demand.
    measures, chain: what is reported besides the verdicts.
    cells: the points where claims are sampled unless they name their own.
    axes: the space in which counterexamples to the claims are hunted.
    wide_axes: the space in which frontiers are measured and assumptions dropped: beyond what the
    theorem assumes, with what lies `inside` marked; by default axes.
    hypotheses: the theorem's assumptions as its source has them, in checkable form, where the
    claims are given something narrower: what is dropped, one after the other, to see which matter.
    explicit, small: problems of a few exact numbers, within the scope of the claims, and of the
    simplest numbers whatever the scope.   exact: the same over the rationals.
    first_departure(problem, index): the first step at which instance number index is not as the
    theorem says, None if there is none.
    place(problem, backend): the same problem on another array backend, if there is one.
    symbols: what the statements' symbols mean.   defaults: coordinates that a point may leave out.
    method: how the evidence is gathered, where a reader should know.
    copies(point): where all that is drawn at a point is one problem again and again, what the draws
    are, "rescalings" say; "" where they are different problems. Claims are checked there problem by
    problem: the draws are no sample, and nothing is said of a probability.
    describe(problem, index): JSON-able facts that help a person to read instance number index.
    block: trials that share one random stream, and one batch; always drawn whole.
    origin: where workers find it, "module:package.name" or a `file_origin`; set on loading.
    source: digest of the code that defines it, set on loading; whoever builds one in memory and
    wants its records kept must name what decides them.
    """

    id: str
    title: str
    citation: str
    status: Status
    draw: Callable[[Point, np.random.Generator, int], Any]
    simulate: Callable[[Any], Any]
    claims: tuple[Claim, ...]
    cells: tuple[Point, ...] = ()
    axes: tuple[Axis, ...] = ()
    wide_axes: tuple[Axis, ...] = ()
    hypotheses: tuple[Assumption, ...] = ()
    controls: tuple[Control, ...] = ()
    measures: tuple[Measure, ...] = ()
    chain: Chain | None = None
    references: Mapping[str, Callable[[Any, Any], Any]] = field(default_factory=_no_references)
    explicit: Explicit | None = None
    small: Explicit | None = None
    exact: Exact | None = None
    first_departure: Callable[[Any, int], int | None] | None = None
    place: Callable[[Any, Backend], Any] | None = None
    copies: Callable[[Point], str] | None = None
    describe: Callable[[Any, int], Mapping[str, Any]] | None = None
    statement: str = ""
    method: str = ""
    symbols: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, Coordinate] = field(default_factory=dict)
    block: int = 50
    origin: str | None = None
    source: str = ""

    def __post_init__(self) -> None:
        self._require_kinds()
        self._require_distinct()
        if not self.claims:
            raise TheoremError(f"theorem {self.id!r} claims nothing; give it claims=(…, …)")
        if self.block < 1:
            raise TheoremError(f"theorem {self.id!r}: block={self.block}, expected at least 1")
        for stated in (*self.stated, *self.assumptions, *self.hypotheses):
            if not stated.statement:
                raise TheoremError(
                    f"theorem {self.id!r}: {stated.id!r} has no docstring; write one under its "
                    f"`def` ({_defined(stated)}): it is the statement that reports print"
                )
        for entry in self.stated:
            self._require_scope(entry)
        for claim in self.all_claims:
            if unknown := sorted(set(claim.rests_on) - {other.id for other in self.all_claims}):
                raise TheoremError(
                    f"theorem {self.id!r}: claim {claim.id!r} rests on {unknown}, which are none "
                    f"of its claims {', '.join(other.id for other in self.all_claims)}"
                )
        for measure in self.measures:
            self._require_lines(measure)
        if self.chain is not None:
            self._require_sampled("the chain", self.chain)

    def _require_distinct(self) -> None:
        """Raise TheoremError where two things have one name."""
        ids = [entry.id for entry in self.stated]
        for what, names in (
            ("claim ids", [claim.id for claim in self.all_claims]),
            ("ids of claims and measures", ids if self.chain is None else [*ids, self.chain.id]),
            ("axes", [axis.name for axis in self.axes]),
            ("wide axes", [axis.name for axis in self.wide_axes]),
            ("assumption ids, of different functions,", self._assumption_ids()),
        ):
            if twice := sorted({name for name in names if names.count(name) > 1}):
                raise TheoremError(
                    f"theorem {self.id!r}: the {what} {twice} occur twice; give one of them "
                    "another (a claim or measure takes name='another')"
                )

    def _require_scope(self, entry: Claim | Measure) -> None:
        """Raise TheoremError for what is sampled nowhere, or assumes just what it says."""
        what = f"{_word(entry)} {entry.id!r}"
        function = entry.inequality if isinstance(entry, Claim) else entry.function
        for assumption in entry.given:
            if assumption.inequality == function:
                raise TheoremError(
                    f"theorem {self.id!r}: {what} is given {assumption.id!r}: it assumes what it "
                    f"{_word(entry)}s, the same function; leave that out of given=(…)"
                )
        self._require_sampled(what, entry)

    def _require_sampled(self, what: str, entry: Claim | Measure | Chain) -> None:
        if not points_of(self, entry):
            raise TheoremError(
                f"theorem {self.id!r}: {what} is sampled nowhere; give it at=(Point(…), …), or "
                "the theorem cells=(Point(…), …)"
            )

    def _require_lines(self, measure: Measure) -> None:
        """Raise TheoremError unless every point has the coordinate that tells lines apart."""
        for point in points_of(self, measure):
            if measure.by and measure.by not in point:
                raise TheoremError(
                    f"theorem {self.id!r}: measure {measure.id!r}: by={measure.by!r} is no "
                    f"coordinate of {point!r}; try one of {', '.join(point)}"
                )

    def _require_kinds(self) -> None:
        """Raise TheoremError where a tuple holds something else (or its comma was forgotten)."""
        require_each(f"theorem {self.id!r}: claims", self.claims, Claim)
        require_each(f"theorem {self.id!r}: controls", self.controls, Control)
        require_each(f"theorem {self.id!r}: measures", self.measures, Measure)
        if self.chain is not None and not isinstance(self.chain, Chain):
            raise TheoremError(
                f"theorem {self.id!r}: chain={self.chain!r}, expected Chain(links=(first, …))"
            )
        require_each(f"theorem {self.id!r}: cells", self.cells, Point)
        require_each(f"theorem {self.id!r}: axes", self.axes, Axis)
        require_each(f"theorem {self.id!r}: wide_axes", self.wide_axes, Axis)
        require_each(f"theorem {self.id!r}: hypotheses", self.hypotheses, Assumption)
        for entry in self.stated:
            require_each(f"{_word(entry)} {entry.id!r}: at", entry.at, Point)
            require_each(f"{_word(entry)} {entry.id!r}: given", entry.given, Assumption)
        marks: list[tuple[str, Any]] = [
            (f": {entry.id!r}", entry.status)
            for entry in (*self.stated, *self.assumptions)
            if entry.status is not None
        ]
        for whose, status in [("", self.status), *marks]:
            if not isinstance(status, Status):
                raise TheoremError(
                    f"theorem {self.id!r}{whose}: status={status!r}, expected a Status, such as "
                    "Status.FOLKLORE"
                )

    def _assumption_ids(self) -> list[str]:
        """Return the assumptions' ids, one for each different function."""
        everything = (*self.assumptions, *self.hypotheses)
        functions = dict.fromkeys(assumption.inequality for assumption in everything)
        return [name_of(function) for function in functions]

    def status_of(self, entry: Claim | Measure | Assumption) -> Status:
        """Return the mark of a claim, measure or assumption: its own, or else the theorem's."""
        return entry.status or self.status

    @property
    def address(self) -> str:
        """What commands know the theorem by: its id, or the path of a user's file as given."""
        return paths_of(self.origin)[1] or self.id

    def address_of(self, name: str) -> str:
        """What commands know a claim or measure by: `theorem.name`, or `path/to/file.py::name`."""
        separator = "." if self.address == self.id else "::"
        return f"{self.address}{separator}{name}"

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """Every assumption that a claim, control or measure names, in order of first mention."""
        return tuple(dict.fromkeys(a for entry in self.stated for a in entry.given))

    def assumption(self, name: str) -> Assumption:
        """Return the assumption or hypothesis called `name`. Raises UnknownName."""
        known = {a.id: a for a in (*self.assumptions, *self.hypotheses)}
        if name in known:
            return known[name]
        raise UnknownName(
            f"theorem {self.address!r} has no assumption {name!r}; it has "
            f"{', '.join(known) or 'none'}"
        )

    def scope(self, claim: Claim, without: Collection[str] = ()) -> tuple[Assumption, ...]:
        """Return what puts an instance in a claim's scope once the assumptions `without` are
        dropped: of the theorem's hypotheses where one of those is dropped, else of what the claim
        is given. Certificates, which imply the claim, are then left out too.

        Raises UnknownName for an assumption that is neither.
        """
        if not without:
            return claim.given
        hypotheses = {assumption.id: assumption for assumption in self.hypotheses}
        given = {assumption.id: assumption for assumption in claim.given}
        if unknown := [name for name in without if name not in {**hypotheses, **given}]:
            known = ", ".join(dict.fromkeys([*hypotheses, *given])) or "none"
            raise UnknownName(
                f"claim {claim.id!r} of theorem {self.address!r} has no assumption {unknown[0]!r} "
                f"to drop; it has {known}"
            )
        base = hypotheses if any(name in hypotheses for name in without) else given
        return tuple(a for a in base.values() if a.id not in without and not a.certificate)

    def copies_at(self, point: Mapping[str, Coordinate]) -> str:
        """Return what the draws at a point are, where they are one problem; "" where they are not.

        Raises TheoremError where `copies` returns no string.
        """
        if self.copies is None:
            return ""
        with blaming("copies", self.copies):
            found = self.copies(Point(**{**self.defaults, **point}))
        if not isinstance(found, str):
            raise TheoremError(
                f"{whereabouts('copies', self.copies)} returned {found!r}, expected what the draws "
                "of one problem are, 'rescalings' say, or '' where they are different problems"
            )
        return found

    @property
    def space(self) -> tuple[Axis, ...]:
        """The axes along which frontiers and ablation may move: the wide ones, or else axes."""
        return self.wide_axes or self.axes

    def axis(self, name: str) -> Axis:
        """Return the axis of the theorem's space called `name`. Raises UnknownName."""
        known = {axis.name: axis for axis in (*self.axes, *self.wide_axes)}
        if name in known:
            return known[name]
        raise UnknownName(
            f"theorem {self.address!r} has no axis {name!r}; it has {', '.join(known) or 'none'}"
        )

    @property
    def all_claims(self) -> tuple[Claim, ...]:
        """The claims, then those of the controls."""
        return (*self.claims, *(control.claim for control in self.controls))

    @property
    def stated(self) -> tuple[Claim | Measure, ...]:
        """Whatever bounds are printed of: the claims, those of the controls, the measures."""
        return (*self.all_claims, *self.measures)

    @property
    def registered(self) -> int:
        """Number of claims, controls and measures, over which the error budget is split."""
        return len(self.stated)

    def claim(self, name: str) -> Claim:
        """Return the claim, or the control's claim, called `name`. Raises UnknownName."""
        for claim in self.all_claims:
            if claim.id == name:
                return claim
        known = ", ".join(claim.id for claim in self.all_claims)
        raise UnknownName(f"theorem {self.address!r} has no claim {name!r}; it has {known}")

    def entry(self, name: str) -> Claim | Measure | Chain:
        """Return the claim, control's claim, measure or chain called `name`. Raises UnknownName."""
        for entry in self.entries:
            if entry.id == name:
                return entry
        known = ", ".join(entry.id for entry in self.entries)
        raise UnknownName(
            f"theorem {self.address!r} has no claim or measure {name!r}; it has {known}"
        )

    @property
    def entries(self) -> tuple[Claim | Measure | Chain, ...]:
        """Whatever is sampled: the claims, those of the controls, the measures, the chain."""
        return self.stated if self.chain is None else (*self.stated, self.chain)


def _defined(entry: Claim | Measure | Assumption) -> str:
    """Return where the function of a claim, measure or assumption is defined."""
    function = entry.function if isinstance(entry, Measure) else entry.inequality
    return whereabouts(type(entry).__name__.lower(), function)


def _word(entry: Claim | Measure) -> str:
    return "claim" if isinstance(entry, Claim) else "measure"


def points_of(theorem: Theorem, entry: Claim | Measure | Chain) -> tuple[Point, ...]:
    """Return the points where a claim, measure or chain is sampled, each once."""
    if isinstance(entry, Rate):
        return tuple(dict.fromkeys(p for sweep in entry.sweeps for p in sweep.points))
    points = entry.at or theorem.cells
    if isinstance(entry, Chain) and not entry.at:
        unbroken = (c.claim for c in theorem.controls if c.simulate is None)
        points = (*points, *(point for claim in unbroken for point in points_of(theorem, claim)))
    return tuple(dict.fromkeys(points))
