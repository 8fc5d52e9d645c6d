"""Measures and chains: what a theorem reports besides its verdicts.

A measure is a quantity that is reported, not judged; a chain says which link of a proof gives way
first. Neither has a say in any verdict, or in an exit code.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from verify.claims import (
    Assumption,
    Inequality,
    Quantity,
    Status,
    label_of,
    name_of,
    require_each,
    statement_of,
)
from verify.errors import TheoremError
from verify.space import Point


@dataclass(frozen=True)
class Measure:
    """What a theorem measures: common to `Frequency` and `Quantiles`.

    given: assumptions that put a trial in scope.   at: the points where it is measured; by
    default the theorem's cells.   against: the figure's abscissa, a function of the trial, (B,)
    or a number; a point's mean over its trials in scope is drawn.   by: the coordinate that tells
    the figure's lines apart.   figure: the name of a figure that shows this measure above or below
    the others that name it, over one abscissa.   prediction: what a formula predicts, (B,) or a
    number, whose mean is drawn beside.   levels: strictly between 0 and 1.   axis: the ordinate's
    label; by default the id in words.   status: whose statement it is, by default the theorem's
    own.   name: the id; by default the function's name.
    """

    given: tuple[Assumption, ...] = field(default=(), kw_only=True)
    at: tuple[Point, ...] = field(default=(), kw_only=True)
    against: Quantity | None = field(default=None, kw_only=True)
    by: str = field(default="", kw_only=True)
    figure: str = field(default="", kw_only=True)
    prediction: Quantity | None = field(default=None, kw_only=True)
    levels: tuple[float, ...] = field(default=(), kw_only=True)
    axis: str = field(default="", kw_only=True)
    status: Status | None = field(default=None, kw_only=True)
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        require_each(f"measure {self.id!r}: levels", self.levels, float)
        if not all(0 < level < 1 for level in self.levels):
            raise TheoremError(f"{self.id}: levels={self.levels}, expected each in (0, 1)")
        if self.figure and self.against is None:
            raise TheoremError(
                f"{self.id}: figure={self.figure!r} without an abscissa; say with against=… over "
                "what it is drawn"
            )
        if len(set(self.levels)) < len(self.levels):
            raise TheoremError(f"{self.id}: levels={self.levels}, expected none twice")
        for what, function in (("against", self.against), ("prediction", self.prediction)):
            if function is not None and not callable(function):
                raise TheoremError(
                    f"{self.id}: {what}={function!r}, expected a function of the trial; try "
                    f"{what}=lambda trial: …, or `def its_name(trial): …`"
                )

    @property
    def function(self) -> Quantity:
        """The function of the trial that is measured."""
        raise NotImplementedError

    @property
    def id(self) -> str:
        """The measure's name within its theorem."""
        return name_of(self.function, self.name)

    @property
    def statement(self) -> str:
        """The function's docstring."""
        return statement_of(self.function)

    @property
    def kind(self) -> str:
        """ "frequency" or "quantiles"."""
        return type(self).__name__.lower()

    @property
    def unit(self) -> str:
        """The unit of what is measured."""
        return "dimensionless"

    @property
    def ordinate(self) -> str:
        """The label of the ordinate: `axis`, or the id in words."""
        return self.axis or self.id.replace("_", " ")

    @property
    def abscissa(self) -> str:
        """What `against` is, for axis labels; "" without one."""
        return "" if self.against is None else label_of(self.against)

    def line_of(self, point: Point) -> Any:
        """Return the value of the coordinate `by` at a point; None without one."""
        return point[self.by] if self.by else None


@dataclass(frozen=True)
class Frequency(Measure):
    """How often an inequality holds among the trials in scope, with exact bounds.

    Undecided trials count as failures in the lower bound and as holding in the upper one.
    levels: for each line of the figure, report the interval of abscissae between which the
    frequency passes the level, assuming that it does not fall along the abscissa.
    """

    inequality: Inequality

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.levels and self.against is None:
            raise TheoremError(
                f"{self.id}: levels={self.levels} without an abscissa; say with against=… along "
                "what the frequency passes them"
            )

    @property
    def function(self) -> Quantity:
        """The inequality."""
        return self.inequality


@dataclass(frozen=True)
class Quantiles(Measure):
    """Mean, standard deviation and quantiles of a quantity among the trials in scope.

    quantity: a function of the trial, (B,); NaN where it was not measured.   levels: of the
    quantiles, each with an interval that assumes nothing of the law.   unit: of the quantity.
    """

    quantity: Quantity
    levels: tuple[float, ...] = field(default=(0.05, 0.5, 0.95), kw_only=True)
    unit: str = field(default="dimensionless", kw_only=True)

    @property
    def function(self) -> Quantity:
        """The quantity."""
        return self.quantity


@dataclass(frozen=True)
class Chain:
    """The links of a proof in order: inequalities, each a named function with a docstring.

    Reported is, for each point, how many trials each link is the first to break in.
    at: by default the theorem's cells, and the points of its controls that break no simulator.
    """

    links: tuple[Inequality, ...]
    at: tuple[Point, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.links, tuple) or not self.links:
            raise TheoremError(
                f"chain: links={self.links!r}, expected a tuple of functions: (first, second, …)"
            )
        require_each("chain: at", self.at, Point)
        ids = self.ids
        if twice := sorted({name for name in ids if ids.count(name) > 1}):
            raise TheoremError(f"chain: the links {twice} occur twice")
        for link in self.links:
            if not statement_of(link):
                raise TheoremError(
                    f"chain: link {name_of(link)!r} has no docstring; its first sentence is the "
                    "statement that reports print"
                )

    @property
    def id(self) -> str:
        """Its name within its theorem, which has one at most."""
        return CHAIN

    @property
    def ids(self) -> tuple[str, ...]:
        """The links' names."""
        return tuple(name_of(link) for link in self.links)


CHAIN = "chain"
"""What a theorem's chain is called, where claims and measures have ids."""
