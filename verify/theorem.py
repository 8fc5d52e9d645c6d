"""A theorem as code: how instances are drawn, what happens on them, and what is claimed.

Problem and run are the theorem's own types; only its own functions look inside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from verify.arrays import Backend
from verify.blame import blaming
from verify.claims import Assumption, Claim, Control, Rate, Status, name_of, require_each
from verify.errors import TheoremError, UnknownName
from verify.explicit import Explicit
from verify.space import Axis, Coordinate, Point


class Trial:
    """A batch of B instances at a point: the problem, what happened, and references on demand.

    point: None for problems that were not drawn from the theorem's space.
    trials: B.   `reference(name)` computes the theorem's comparator of that name, once.
    All claims look at the same trial, so its attributes cannot be set, and the arrays in problem,
    run and references are made read-only: numpy then raises where a function writes into them.
    """

    point: Point | None
    problem: Any
    trials: int
    run: Any

    def __init__(
        self,
        theorem: Theorem,
        point: Point | None,
        problem: Any,
        trials: int,
        simulate: Callable[[Any], Any] | None = None,
    ) -> None:
        self.point = point
        self.problem = problem
        self.trials = trials
        simulator = simulate or theorem.simulate
        freeze(problem)
        with blaming("simulate", simulator):
            self.run = simulator(problem)
        freeze(self.run)
        self._builders = theorem.references
        self._built: dict[str, Any] = {}

    def __setattr__(self, name: str, value: Any) -> None:
        if name in vars(self):
            raise AttributeError(
                f"trial.{name} was set anew, but all claims look at the same trial; use a variable "
                "of your own"
            )
        super().__setattr__(name, value)

    def reference(self, name: str) -> Any:
        """Return the reference called `name`. Raises TheoremError if the theorem has none."""
        if name not in self._built:
            if name not in self._builders:
                known = ", ".join(self._builders) or "none"
                raise TheoremError(f"reference {name!r} is not in the theorem (it has: {known})")
            with blaming("reference", self._builders[name]):
                built = self._builders[name](self.problem, self.run)
            freeze(built)
            self._built[name] = built
        return self._built[name]


def freeze(value: Any) -> list[np.ndarray[Any, Any]]:
    """Make the numpy arrays in `value` read-only, and return those that were not.

    Looks into tuples, lists, sets, mappings and the attributes of objects, whatever their depth.
    """
    frozen, seen, ahead = [], {}, [value]
    while ahead:
        part = ahead.pop()
        if id(part) in seen or isinstance(part, _CLOSED):
            continue
        seen[id(part)] = part  # kept, so that its id stays its own
        if isinstance(part, np.ndarray):
            if part.flags.writeable:
                part.flags.writeable = False
                frozen.append(part)
            continue
        if isinstance(part, Mapping):
            ahead.extend(part.values())
        elif isinstance(part, tuple | list | set | frozenset):
            ahead.extend(part)
        ahead.extend(getattr(part, "__dict__", {}).values())
        for kind in type(part).__mro__:
            slots = vars(kind).get("__slots__", ())
            names = (slots,) if isinstance(slots, str) else slots
            ahead.extend(getattr(part, name, None) for name in names)
    return frozen


_CLOSED = (str, bytes, int, float, complex, type, ModuleType, FunctionType, np.random.Generator)
"""What `freeze` does not look into: no state of a problem, but perhaps everybody's."""


def _no_references() -> Mapping[str, Callable[[Any, Any], Any]]:
    return {}


@dataclass(frozen=True)
class Theorem:
    """A theorem: where its instances live, what happens on them, and what is claimed.

    draw(point, generator, trials): an i.i.d. batch of problems from a numpy Generator.
    simulate(problem): what happens; computed once a block and shared by all claims.
    references: comparators (problem, run) -> anything, computed on demand.
    cells: the points where claims are sampled unless they name their own.
    place(problem, backend): the same problem on another array backend, if there is one.
    symbols: what the statements' symbols mean.   defaults: coordinates that a point may leave out.
    method: how the evidence is gathered, where a reader should know.
    describe(problem, index): JSON-able facts that help a person to read instance number index.
    block: trials that share one random stream, and one batch; always drawn whole.
    origin: where workers find it, "module:package.name" or "file:/path.py" with the path as given
    on a second line; set on loading.   source: digest of the code that defines it, set on
    loading; whoever builds one in memory and wants its records kept must name what decides them.
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
    controls: tuple[Control, ...] = ()
    references: Mapping[str, Callable[[Any, Any], Any]] = field(default_factory=_no_references)
    explicit: Explicit | None = None
    place: Callable[[Any, Backend], Any] | None = None
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
        names = [claim.id for claim in self.all_claims]
        for what, ids in (
            ("claim ids", names),
            ("axes", [axis.name for axis in self.axes]),
            ("assumption ids, of different functions,", self._assumption_ids()),
        ):
            if twice := sorted({name for name in ids if ids.count(name) > 1}):
                raise TheoremError(f"theorem {self.id!r}: the {what} {twice} occur twice")
        if not self.claims:
            raise TheoremError(f"theorem {self.id!r} claims nothing; give it claims=(…, …)")
        if self.block < 1:
            raise TheoremError(f"theorem {self.id!r}: block={self.block}, expected at least 1")
        statements: tuple[Claim | Assumption, ...] = (*self.all_claims, *self.assumptions)
        for stated in statements:
            if not stated.statement:
                raise TheoremError(
                    f"theorem {self.id!r}: {stated.id!r} has no docstring; its first sentence is "
                    "the statement that reports print"
                )
        for claim in self.all_claims:
            for assumption in claim.given:
                if assumption.inequality == claim.inequality:
                    raise TheoremError(
                        f"theorem {self.id!r}: claim {claim.id!r} is given {assumption.id!r}: it "
                        "assumes what it claims, the same function; leave that out of given=(…)"
                    )
            if not points_of(self, claim):
                raise TheoremError(
                    f"theorem {self.id!r}: claim {claim.id!r} is sampled nowhere; give the theorem "
                    "cells=(Point(…), …) or the claim at=(Point(…), …)"
                )
            if unknown := sorted(set(claim.rests_on) - set(names)):
                raise TheoremError(
                    f"theorem {self.id!r}: claim {claim.id!r} rests on {unknown}, which are none "
                    f"of its claims {', '.join(names)}"
                )

    def _require_kinds(self) -> None:
        """Raise TheoremError where a tuple holds something else (or its comma was forgotten)."""
        require_each(f"theorem {self.id!r}: claims", self.claims, Claim)
        require_each(f"theorem {self.id!r}: controls", self.controls, Control)
        require_each(f"theorem {self.id!r}: cells", self.cells, Point)
        require_each(f"theorem {self.id!r}: axes", self.axes, Axis)
        for claim in self.all_claims:
            require_each(f"claim {claim.id!r}: at", claim.at, Point)
            require_each(f"claim {claim.id!r}: given", claim.given, Assumption)
        entries: tuple[Claim | Assumption, ...] = (*self.all_claims, *self.assumptions)
        marks: list[tuple[str, Any]] = [
            (f": {entry.id!r}", entry.status) for entry in entries if entry.status is not None
        ]
        for whose, status in [("", self.status), *marks]:
            if not isinstance(status, Status):
                raise TheoremError(
                    f"theorem {self.id!r}{whose}: status={status!r}, expected a Status, such as "
                    "Status.FOLKLORE"
                )

    def _assumption_ids(self) -> list[str]:
        """Return the assumptions' ids, one for each different function."""
        functions = dict.fromkeys(assumption.inequality for assumption in self.assumptions)
        return [name_of(function) for function in functions]

    def status_of(self, entry: Claim | Assumption) -> Status:
        """Return the mark of a claim or assumption: its own, or else the theorem's."""
        return entry.status or self.status

    @property
    def address(self) -> str:
        """What commands know the theorem by: its id, or the path of a user's file as given."""
        kind, _, place = (self.origin or "").partition(":")
        return place.partition("\n")[2] if kind == "file" else self.id

    def address_of(self, claim: str) -> str:
        """What commands know a claim by: `theorem.claim`, or `path/to/file.py::claim`."""
        separator = "." if self.address == self.id else "::"
        return f"{self.address}{separator}{claim}"

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """Every assumption that some claim or control names, in order of first mention."""
        return tuple(dict.fromkeys(a for claim in self.all_claims for a in claim.given))

    @property
    def all_claims(self) -> tuple[Claim, ...]:
        """The claims, then those of the controls."""
        return (*self.claims, *(control.claim for control in self.controls))

    @property
    def registered(self) -> int:
        """Number of claims and controls, over which the error budget is split."""
        return len(self.all_claims)

    def claim(self, name: str) -> Claim:
        """Return the claim, or the control's claim, called `name`. Raises UnknownName."""
        for claim in self.all_claims:
            if claim.id == name:
                return claim
        known = ", ".join(claim.id for claim in self.all_claims)
        raise UnknownName(f"theorem {self.address!r} has no claim {name!r}; it has {known}")


def points_of(theorem: Theorem, claim: Claim) -> tuple[Point, ...]:
    """Return the points where `claim` is sampled, each once."""
    if isinstance(claim, Rate):
        return tuple(dict.fromkeys(p for sweep in claim.sweeps for p in sweep.points))
    return tuple(dict.fromkeys(claim.at or theorem.cells))
