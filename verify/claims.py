"""Assumptions and claims: named functions of a trial, whose docstring is the statement.

Written once, with both sides of the inequality: Monte Carlo, Hypothesis, reports and the command
line use the same object.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from verify.errors import TheoremError
from verify.margin import Margin
from verify.space import Point

if TYPE_CHECKING:
    from verify.trial import Trial

Inequality = Callable[["Trial"], Margin]
Quantity = Callable[["Trial"], Any]


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


def statement_of(function: Callable[..., Any]) -> str:
    """Return a function's docstring as one line: the statement that it checks."""
    while isinstance(function, functools.partial) and "__doc__" not in vars(function):
        function = function.func
    return " ".join((function.__doc__ or "").split())


def label_of(function: Quantity) -> str:
    """Return what an axis label says of a quantity: its docstring, or else its name."""
    return statement_of(function).rstrip(".") or getattr(function, "__name__", repr(function))


def name_of(function: Any, name: str = "") -> str:
    """Return `name`, or else the function's. Raises TheoremError if neither is an identifier."""
    found = str(name or getattr(function, "__name__", ""))
    if not callable(function) or not found.isidentifier():
        raise TheoremError(
            f"{function!r} is called {found!r}, expected a function `def its_name(trial): …` (a "
            "claim may also have name='its_name')"
        )
    return found


def require_each(what: str, entries: Any, kind: type) -> None:
    """Raise TheoremError unless `entries` is a tuple of `kind`: a forgotten comma is told apart."""
    example = {"Claim": "Universal", "Measure": "Frequency"}.get(kind.__name__, kind.__name__)
    if not isinstance(entries, tuple):
        raise TheoremError(
            f"{what} is a {type(entries).__name__}, expected a tuple: ({example}(…),) with "
            "its comma"
        )
    for entry in entries:
        if not isinstance(entry, kind):
            name = getattr(entry, "__name__", "")
            hint = f"; write {example}({name})" if name.isidentifier() else ""
            article = "an" if kind.__name__[0] in "AEIOU" else "a"
            held = name or repr(entry)
            raise TheoremError(f"{what} holds {held}, expected {article} {kind.__name__}{hint}")


@dataclass(frozen=True)
class Assumption:
    """What an instance must satisfy to be in a claim's scope, checked on the realised problem.

    status: whose assumption it is; by default the theorem's own mark.
    axes: coordinates that may be moved to break it.
    certificate: whether it is a sufficient condition of ours, which implies what is claimed:
    ablation and frontiers, which ask where claims hold without it, leave it out.
    """

    inequality: Inequality
    status: Status | None = None
    axes: tuple[str, ...] = ()
    certificate: bool = False

    def __post_init__(self) -> None:
        require_each(f"assumption {self.id!r}: axes", self.axes, str)

    @property
    def id(self) -> str:
        """The function's name."""
        return name_of(self.inequality)

    @property
    def statement(self) -> str:
        """The function's docstring."""
        return statement_of(self.inequality)


@dataclass(frozen=True)
class Claim:
    """What a theorem asserts: common to `Universal`, `Probable` and `Rate`.

    given: assumptions that put an instance in scope.   at: the points where it is sampled; by
    default the theorem's cells.   status: whose statement it is, by default the theorem's own.
    rests_on: ids of claims that its proof uses.   name: the id; by default the function's name.
    prediction: what is predicted of how often it holds, (B,) or a number: a heuristic, which a
    frontier draws beside what is measured.
    """

    inequality: Inequality
    given: tuple[Assumption, ...] = field(default=(), kw_only=True)
    at: tuple[Point, ...] = field(default=(), kw_only=True)
    status: Status | None = field(default=None, kw_only=True)
    rests_on: tuple[str, ...] = field(default=(), kw_only=True)
    name: str = field(default="", kw_only=True)
    prediction: Quantity | None = field(default=None, kw_only=True)

    @property
    def id(self) -> str:
        """The claim's name within its theorem."""
        return name_of(self.inequality, self.name)

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
        """What `against` is, for axis labels."""
        return label_of(self.against)

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
    confidence interval of every slope lies within the tolerance, and no cell mean is further from
    the fitted line than a slope within the tolerance can explain; refuted if an interval lies
    wholly outside.
    band: lower and upper bound that figures draw behind the quantity, functions of the trial; a
    slope says nothing about constants, so the bounds need claims of their own.
    quantity: what the function returns, for axis labels.
    """

    inequality: Quantity
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
