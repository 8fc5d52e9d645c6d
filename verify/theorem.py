"""The vocabulary: a theorem as code. Types only; `verify.engine` does the work.

A theorem says how an instance is drawn and what happens on it (`draw`, `simulate`), under
which assumptions, and what it claims. An assumption or a claim is a named function of a
`Trial`, written once: its one-sentence docstring is the statement, its body both sides of the
inequality. Problem and run are the theorem's own types; only its own functions look inside.
"""

from __future__ import annotations

import functools
import json
import math
import numbers
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal

import numpy as np

from verify.arrays import Backend, to_numpy
from verify.engine.blame import blaming
from verify.errors import InputError, TheoremError, UnknownName

Coordinate = int | float | str
Floats = np.ndarray[Any, np.dtype[np.float64]]
Masks = np.ndarray[Any, np.dtype[np.bool_]]


class Status(Enum):
    """Where a statement comes from; its value is the mark that reports print."""

    READ = "V"
    SUMMARY = "A"
    DERIVED = "D"
    HEURISTIC = "H"
    FOLKLORE = "F"
    FALSE = "X"

    @property
    def meaning(self) -> str:
        """The mark spelt out."""
        return {
            "V": "read in the source",
            "A": "the abstract or a published summary only",
            "D": "derived here and checked numerically",
            "H": "our heuristic, with measured evidence",
            "F": "folklore or conjecture, without a source",
            "X": "false on purpose: a control, which must be refuted",
        }[self.value]


@dataclass(frozen=True)
class Axis:
    """One coordinate of a theorem's space.

    low, high: the range, both ends included.   scale: "linear", "log", "integer" or "choice".
    choices: the values, simplest first, for scale "choice".   meaning: what it is, with its unit.
    simplest: the value towards which counterexamples shrink; by default low, or the first choice.
    """

    name: str
    low: float = 0.0
    high: float = 1.0
    scale: Literal["linear", "log", "integer", "choice"] = "linear"
    choices: tuple[Coordinate, ...] = ()
    simplest: Coordinate | None = None
    meaning: str = ""

    def __post_init__(self) -> None:
        if (self.scale == "choice") != bool(self.choices):
            raise TheoremError(
                f"axis {self.name!r}: choices={self.choices!r} with scale={self.scale!r}; give "
                "choices for scale='choice' and for no other"
            )
        if self.scale not in ("linear", "log", "integer", "choice"):
            raise TheoremError(
                f"axis {self.name!r}: scale={self.scale!r}, expected linear, log, integer or choice"
            )
        if self.scale == "choice":
            if self.simplest is not None and self.simplest not in self.choices:
                raise TheoremError(f"axis {self.name!r}: simplest={self.simplest!r} is no choice")
            return
        if not -math.inf < self.low <= self.high < math.inf:
            raise TheoremError(
                f"axis {self.name!r}: low={self.low}, high={self.high}, expected finite numbers "
                "with low <= high"
            )
        if self.scale == "log" and self.low <= 0:
            raise TheoremError(f"axis {self.name!r}: low={self.low}, expected > 0 on a log scale")
        if self.scale == "integer" and (self.low != int(self.low) or self.high != int(self.high)):
            raise TheoremError(
                f"axis {self.name!r}: low={self.low}, high={self.high}, expected whole numbers for "
                "scale='integer'"
            )
        if self.simplest is not None and not (
            isinstance(self.simplest, int | float) and self.low <= self.simplest <= self.high
        ):
            raise TheoremError(
                f"axis {self.name!r}: simplest={self.simplest!r} is not between low={self.low} and "
                f"high={self.high}"
            )


class Point(Mapping[str, Coordinate]):
    """A value for every coordinate: one law of problems. Immutable and hashable.

    Numbers of numpy become Python's. `canonical` is one spelling for equal points (1 and 1.0 are
    equal), the same in every process.
    """

    def __init__(self, /, **coordinates: Coordinate) -> None:
        self._coordinates = {
            name: _coordinate(name, value) for name, value in sorted(coordinates.items())
        }
        self.canonical = json.dumps(
            {k: _as_float(v) for k, v in self._coordinates.items()}, sort_keys=True
        )

    def __getitem__(self, name: str) -> Any:
        try:
            return self._coordinates[name]
        except KeyError:
            raise TheoremError(f"no coordinate {name!r} in {self!r}") from None

    def get(self, name: str, default: Any = None) -> Any:
        """Return the coordinate `name`, or `default` where the point has none."""
        return self._coordinates.get(name, default)

    def __contains__(self, name: object) -> bool:
        return name in self._coordinates

    def __iter__(self) -> Iterator[str]:
        return iter(self._coordinates)

    def __len__(self) -> int:
        return len(self._coordinates)

    def __hash__(self) -> int:
        return hash(self.canonical)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Point) and self.canonical == other.canonical

    def __repr__(self) -> str:
        return f"Point({', '.join(f'{k}={v!r}' for k, v in self._coordinates.items())})"

    def __str__(self) -> str:
        return ", ".join(f"{k}={_short(v)}" for k, v in self._coordinates.items())

    def moved(self, /, **changes: Coordinate) -> Point:
        """Return this point with some coordinates changed or added."""
        return Point(**{**self._coordinates, **changes})


def _coordinate(name: str, value: Any) -> Coordinate:
    """Return a coordinate as a plain int, float or str. Raises TheoremError for anything else."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value):
        return int(value) if isinstance(value, numbers.Integral) else float(value)
    raise TheoremError(f"{name}={value!r} in a Point, expected a finite number or a string")


def _as_float(value: Coordinate) -> Coordinate:
    """Return a number as the float equal to it, without the sign of zero; integers that no
    float equals, and strings, as they are."""
    return value if isinstance(value, str) or float(value) != value else float(value) + 0.0


def _short(value: Coordinate) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


class Trial:
    """A batch of B instances at a point: the problem, what happened, and references on demand.

    point: None for problems that were not drawn from the theorem's space.
    trials: B.   `reference(name)` computes the theorem's comparator of that name, once.
    """

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
        with blaming("simulate", simulator):
            self.run = simulator(problem)
        self._builders = theorem.references
        self._built: dict[str, Any] = {}

    def reference(self, name: str) -> Any:
        """Return the reference called `name`. Raises TheoremError if the theorem has none."""
        if name not in self._built:
            if name not in self._builders:
                known = ", ".join(self._builders) or "none"
                raise TheoremError(f"reference {name!r} is not in the theorem (it has: {known})")
            with blaming("reference", self._builders[name]):
                self._built[name] = self._builders[name](self.problem, self.run)
        return self._built[name]


@dataclass(frozen=True, eq=False)
class Margin:
    """Both sides of an inequality left ≤ right on B instances, and how exactly they are known.

    left, right: (B,) or numbers.   scale: what a margin of 1 means, > 0.
    rounding: bound on the error of `value`; infinite where the instance decides nothing.
    """

    left: Any
    right: Any
    scale: Any = 1.0
    rounding: Any = 0.0

    @property
    def value(self) -> Floats:
        """(right − left)/scale: dimensionless, negative where violated."""
        left, right = (np.asarray(to_numpy(side), dtype=float) for side in (self.left, self.right))
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            return np.asarray((right - left) / np.asarray(to_numpy(self.scale), dtype=float))

    @property
    def holds(self) -> Masks:
        """Where the inequality holds beyond rounding."""
        return holds_beyond(self.value, self.uncertainty)

    @property
    def violated(self) -> Masks:
        """Where the inequality fails beyond rounding."""
        return fails_beyond(self.value, self.uncertainty)

    @property
    def uncertainty(self) -> Floats:
        """`rounding` as a host array; dimensionless."""
        return np.asarray(to_numpy(self.rounding), dtype=float)

    def undecided_where(self, mask: Any) -> Margin:
        """Return the margin with nothing decided where `mask`, (B,), is set."""
        rounding = np.where(to_numpy(mask), np.inf, self.uncertainty)
        return Margin(self.left, self.right, self.scale, rounding)

    @staticmethod
    def equal(left: Any, right: Any, scale: Any, tolerance: float) -> Margin:
        """Return the margin of |left − right| ≤ tolerance·scale, in multiples of the tolerance."""
        with np.errstate(invalid="ignore"):
            difference = np.abs(
                np.asarray(to_numpy(left), float) - np.asarray(to_numpy(right), float)
            )
        allowed = tolerance * np.asarray(to_numpy(scale), dtype=float)
        return Margin(difference, allowed, np.where(allowed > 0, allowed, 1.0))

    def contradicted_where(self, mask: Any) -> Margin:
        """Return the margin made −1 at most where `mask`, (B,), says that a witness disagrees."""
        return Margin.worst(self, Margin(np.where(to_numpy(mask), 1.0, -np.inf), 0.0))

    @staticmethod
    def worst(*margins: Margin) -> Margin:
        """Return, instance by instance, the margin that is violated most, or else undecided, or
        else smallest: the margin of "all of these hold"."""
        sides = [side for margin in margins for side in (margin.value, margin.uncertainty)]
        full = np.broadcast_arrays(*sides)
        values, rounding = np.stack(full[::2]), np.stack(full[1::2])
        violated = fails_beyond(values, rounding)
        rank = np.where(violated, 0, np.where(holds_beyond(values, rounding), 2, 1))
        order = np.lexsort((values, rank), axis=0)[:1]
        pick = [np.take_along_axis(array, order, axis=0)[0] for array in (values, rounding)]
        return Margin(-pick[0], 0.0, 1.0, pick[1])


def holds_beyond(value: Floats, rounding: Floats) -> Masks:
    """Where a margin is known to be ≥ 0: never where either is NaN or the rounding infinite."""
    return np.asarray((value >= rounding) & (rounding < np.inf))


def fails_beyond(value: Floats, rounding: Floats) -> Masks:
    """Where a margin is known to be < 0: never where either is NaN or the rounding infinite."""
    return np.asarray(value < -rounding)


Inequality = Callable[[Trial], Margin]
Quantity = Callable[[Trial], Any]


def statement_of(function: Callable[..., Any]) -> str:
    """Return a function's docstring as one line: the statement that it checks."""
    while isinstance(function, functools.partial) and "__doc__" not in vars(function):
        function = function.func
    return " ".join((function.__doc__ or "").split())


def _name_of(function: Any, name: str = "") -> str:
    """Return `name`, or else the function's. Raises TheoremError if neither is an identifier."""
    found = str(name or getattr(function, "__name__", ""))
    if not callable(function) or not found.isidentifier():
        raise TheoremError(
            f"{function!r} is called {found!r}, expected a function `def its_name(trial): …` (a "
            "claim may also have name='its_name')"
        )
    return found


@dataclass(frozen=True)
class Assumption:
    """What an instance must satisfy to be in a claim's scope, checked on the realised problem.

    status: whose assumption it is.   axes: coordinates that may be moved to break it.
    """

    inequality: Inequality
    status: Status = Status.SUMMARY
    axes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _require_each(f"assumption {self.id!r}: axes", self.axes, str)

    @property
    def id(self) -> str:
        """The function's name."""
        return _name_of(self.inequality)

    @property
    def statement(self) -> str:
        """The function's docstring."""
        return statement_of(self.inequality)


@dataclass(frozen=True)
class Claim:
    """What a theorem asserts: common to `Universal`, `Probable` and `Rate`.

    given: assumptions that put an instance in scope.   at: the points where it is sampled; by
    default the theorem's cells.   status: whose statement it is.
    rests_on: ids of claims that its proof uses.   name: the id; by default the function's name.
    """

    inequality: Inequality
    given: tuple[Assumption, ...] = field(default=(), kw_only=True)
    at: tuple[Point, ...] = field(default=(), kw_only=True)
    status: Status = field(default=Status.SUMMARY, kw_only=True)
    rests_on: tuple[str, ...] = field(default=(), kw_only=True)
    name: str = field(default="", kw_only=True)

    @property
    def id(self) -> str:
        """The claim's name within its theorem."""
        return _name_of(self.inequality, self.name)

    @property
    def statement(self) -> str:
        """The function's docstring."""
        return statement_of(self.inequality)

    @property
    def kind(self) -> str:
        """ "universal", "probable" or "rate"."""
        return type(self).__name__.lower()


@dataclass(frozen=True)
class Universal(Claim):
    """The inequality holds on every instance in scope: one violation refutes it."""


@dataclass(frozen=True)
class Probable(Claim):
    """At every point of `at`, the inequality holds with at least `probability`, given the scope."""

    probability: float = field(default=0.95, kw_only=True)

    def __post_init__(self) -> None:
        if not 0 < self.probability < 1:
            raise TheoremError(f"{self.id}: probability={self.probability}, expected in (0, 1)")


@dataclass(frozen=True)
class Sweep:
    """Points along which a quantity should be a power law.

    against: the abscissa, a function of the trial, (B,) or a number, > 0.
    exponent: the slope of log quantity against log abscissa that is claimed.
    """

    name: str
    points: tuple[Point, ...]
    against: Quantity
    exponent: float

    @property
    def abscissa(self) -> str:
        """What `against` is, for axis labels: the first sentence of its docstring, or its name."""
        return statement_of(self.against).rstrip(".") or self.against.__name__

    def __post_init__(self) -> None:
        if len(set(self.points)) < max(3, len(self.points)):
            raise TheoremError(
                f"sweep {self.name!r}: {len(set(self.points))} different points among "
                f"{len(self.points)}, expected at least 3 and none twice"
            )


@dataclass(frozen=True)
class Rate(Claim):
    """Along every sweep the log–log slope of quantity against abscissa is exponent ± tolerance.

    The function (first argument) returns the quantity, (B,), > 0. Supported only if the whole
    confidence interval of every slope lies within the tolerance.
    band: lower and upper bound that figures draw behind the quantity, functions of the trial; a
    slope says nothing about constants, so the bounds need claims of their own.
    quantity: what the function returns, for axis labels.
    """

    sweeps: tuple[Sweep, ...] = field(default=(), kw_only=True)
    tolerance: float = field(default=0.01, kw_only=True)
    band: tuple[Quantity, Quantity] | None = field(default=None, kw_only=True)
    quantity: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        if not self.sweeps:
            raise TheoremError(f"{self.id}: a Rate needs at least one Sweep in sweeps=(…)")
        if self.at:
            raise TheoremError(f"{self.id}: a Rate is sampled along its sweeps; leave out at=")
        if len({sweep.name for sweep in self.sweeps}) < len(self.sweeps):
            raise TheoremError(f"{self.id}: two sweeps have the same name")
        if not self.tolerance > 0:
            raise TheoremError(f"{self.id}: tolerance={self.tolerance}, expected > 0")


@dataclass(frozen=True)
class Control:
    """A statement known to be false, or a solver known to be broken, that must come out refuted.

    A control that is not refuted means that the evidence for the true claims is worth nothing.
    simulate: a broken simulator, or None for the theorem's own.   because: why it is false.
    """

    claim: Claim
    because: str
    simulate: Callable[[Any], Any] | None = None

    @property
    def id(self) -> str:
        """The id of the false claim."""
        return self.claim.id


@dataclass(frozen=True)
class Field:
    """Entries of a small explicit problem: integers from low to high, over a denominator.

    shape: names of sizes, () for a single number.   nonzero: leave out 0.
    """

    low: int
    high: int
    shape: tuple[str, ...] = ()
    denominator: int = 1
    nonzero: bool = False

    def __post_init__(self) -> None:
        if not self.low <= self.high or (self.nonzero and self.low == self.high == 0):
            raise TheoremError(f"{self}: no integer is allowed, expected low <= high")
        if self.denominator < 1:
            raise TheoremError(f"{self}: expected denominator >= 1")

    def allows(self, integers: Any) -> bool:
        """Say whether all of `integers` are allowed as entries."""
        return bool(
            np.all((integers >= self.low) & (integers <= self.high))
            and not (self.nonzero and np.any(integers == 0))
        )


@dataclass(frozen=True)
class Explicit:
    """Small problems of exact numbers that a person can read, and that shrink.

    sizes: (low, high) of each dimension.   fields: the entries.
    build: from {name: int for sizes, float64 array for fields} to a problem with B = 1.
    """

    sizes: Mapping[str, tuple[int, int]]
    fields: Mapping[str, Field]
    build: Callable[[Mapping[str, Any]], Any]

    def __post_init__(self) -> None:
        used = {size for entry in self.fields.values() for size in entry.shape}
        if unknown := sorted(used - set(self.sizes)):
            raise TheoremError(f"explicit problem: the shapes name {unknown}, which are no sizes")

    def values(self, integers: Mapping[str, Any]) -> dict[str, Any]:
        """Return what `build` takes from the integers that stand in a counterexample file.

        Raises InputError where a name, a shape or a range does not fit.
        """
        missing = (set(self.sizes) | set(self.fields)) ^ set(integers)
        if missing:
            raise InputError(f"explicit problem: names {sorted(missing)} are missing or unknown")
        found: dict[str, Any] = {}
        for name, (low, high) in self.sizes.items():
            size = integers[name]
            if isinstance(size, bool) or not isinstance(size, int) or not low <= size <= high:
                raise InputError(f"explicit problem: {name}={size!r}, expected {low} to {high}")
            found[name] = size
        for name, entry in self.fields.items():
            array = np.asarray(integers[name], dtype=object)
            shape = tuple(found[size] for size in entry.shape)
            if array.shape != shape or not all(type(entry) is int for entry in array.flat):
                raise InputError(f"explicit problem: {name} is not an integer array of {shape}")
            if not entry.allows(array):
                raise InputError(
                    f"explicit problem: {name}={integers[name]!r} has entries outside {entry.low} "
                    f"to {entry.high}" + (" without 0" if entry.nonzero else "")
                )
            found[name] = np.asarray(array, dtype=float) / entry.denominator
        return found


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
        _require_each(f"theorem {self.id!r}: claims", self.claims, Claim)
        _require_each(f"theorem {self.id!r}: controls", self.controls, Control)
        _require_each(f"theorem {self.id!r}: cells", self.cells, Point)
        _require_each(f"theorem {self.id!r}: axes", self.axes, Axis)
        for claim in self.all_claims:
            _require_each(f"claim {claim.id!r}: at", claim.at, Point)
            _require_each(f"claim {claim.id!r}: given", claim.given, Assumption)

    def _assumption_ids(self) -> list[str]:
        """Return the assumptions' ids, one for each different function."""
        functions = dict.fromkeys(assumption.inequality for assumption in self.assumptions)
        return [_name_of(function) for function in functions]

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


def _require_each(what: str, entries: Iterable[Any], kind: type) -> None:
    if not isinstance(entries, tuple):
        raise TheoremError(
            f"{what} is a {type(entries).__name__}, expected a tuple: ({kind.__name__}(…),) with "
            "its comma"
        )
    for entry in entries:
        if not isinstance(entry, kind):
            raise TheoremError(f"{what} holds {entry!r}, expected a {kind.__name__}")


def points_of(theorem: Theorem, claim: Claim) -> tuple[Point, ...]:
    """Return the points where `claim` is sampled, each once."""
    if isinstance(claim, Rate):
        return tuple(dict.fromkeys(p for sweep in claim.sweeps for p in sweep.points))
    return tuple(dict.fromkeys(claim.at or theorem.cells))


def geometric(low: float, high: float, count: int) -> Sequence[float]:
    """Return `count` values from low to high, equally spaced on a log scale."""
    if count < 2 or low <= 0 or high <= low:
        raise InputError(f"geometric({low}, {high}, {count}): expected 0 < low < high, count >= 2")
    step = math.log(high / low) / (count - 1)
    return [low * math.exp(step * i) for i in range(count)]
