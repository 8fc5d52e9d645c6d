"""Verdicts: six words that are never folded into one another, and the counts behind them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from verify.computing import Computing
from verify.errors import UnknownName
from verify.findings import ChainFinding, Measured, Realised, json_values
from verify.margin import Floats, Masks, fails_beyond, holds_beyond
from verify.statistics import SlopeFit, binomial_lower_bound, binomial_upper_bound

ENOUGH = 30
"""Trials in scope below which nothing statistical is concluded."""

IN_SCOPE, OUT_OF_SCOPE, SCOPE_UNKNOWN = 1.0, 0.0, 0.5
"""Whether an instance meets a claim's assumptions, as the number that records hold."""


class Conclusion(StrEnum):
    """What the evidence says of a claim."""

    CERTIFIED = "certified"
    SUPPORTED = "supported"
    REFUTED = "refuted"
    VACUOUS = "vacuous"
    INCONCLUSIVE = "inconclusive"
    UNDECIDED = "undecided"

    @property
    def meaning(self) -> str:
        """One sentence for readers of a report."""
        return _MEANINGS[self]


_MEANINGS = {
    Conclusion.CERTIFIED: "holds on every given problem, beyond rounding, for all steps of a run; "
    "no sample, and no probability",
    Conclusion.SUPPORTED: "no evidence against it, and enough for it, at the stated confidence",
    Conclusion.REFUTED: "a counterexample exists, or the stated probability or slope is excluded",
    Conclusion.VACUOUS: "its assumptions were never met, so nothing was tested",
    Conclusion.INCONCLUSIVE: "too few trials in scope, bounds that straddle it, or no power law",
    Conclusion.UNDECIDED: "numerics cannot tell: within rounding, or a run without certificate",
}

_SEVERITY = (
    Conclusion.REFUTED,
    Conclusion.UNDECIDED,
    Conclusion.INCONCLUSIVE,
    Conclusion.VACUOUS,
    Conclusion.SUPPORTED,
    Conclusion.CERTIFIED,
)


def gravest(conclusions: Sequence[Conclusion]) -> Conclusion:
    """Return the conclusion that a claim about all of several cells must carry."""
    return min(conclusions, key=_SEVERITY.index)


def decided(value: Floats, rounding: Floats, scope: Floats) -> tuple[Masks, Masks]:
    """Return where a claim holds and where it is violated, in scope and beyond rounding."""
    inside = scope == IN_SCOPE
    return inside & holds_beyond(value, rounding), inside & fails_beyond(value, rounding)


@dataclass(frozen=True)
class Tally:
    """Counts of trials, and the worst margin in scope (dimensionless, NaN if there is none).

    In-scope trials either hold, violate, or are undecided: in_scope is the sum of the three.
    """

    trials: int
    in_scope: int
    holds: int
    violated: int
    undecided: int
    worst_margin: float

    @staticmethod
    def of(value: Floats, rounding: Floats, scope: Floats) -> Tally:
        """Count T trials. A trial whose scope is unknown counts as undecided."""
        holds, violated = decided(value, rounding, scope)
        in_scope = scope != OUT_OF_SCOPE
        margins = value[holds | violated]
        return Tally(
            trials=int(value.size),
            in_scope=int(in_scope.sum()),
            holds=int(holds.sum()),
            violated=int(violated.sum()),
            undecided=int((in_scope & ~holds & ~violated).sum()),
            worst_margin=float(margins.min()) if margins.size else float("nan"),
        )

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.trials + other.trials,
            self.in_scope + other.in_scope,
            self.holds + other.holds,
            self.violated + other.violated,
            self.undecided + other.undecided,
            float(np.fmin(self.worst_margin, other.worst_margin)),
        )

    def lower_bound(self, error: float) -> float:
        """Lower confidence bound on P(holds | in scope): undecided trials count as failures."""
        return binomial_lower_bound(self.holds, self.in_scope, error)

    def upper_bound(self, error: float) -> float:
        """Upper confidence bound on P(holds | in scope): undecided trials count as holding."""
        return binomial_upper_bound(self.holds + self.undecided, self.in_scope, error)


def at_least(bound: float) -> str:
    """Spell a lower bound on a probability, rounded down, so that what is printed is true."""
    return f"P ≥ {math.floor(bound * 1e4) / 1e4:.4f}"


def at_most(bound: float) -> str:
    """Spell an upper bound on a probability, rounded up."""
    return f"P ≤ {math.ceil(bound * 1e4) / 1e4:.4f}"


def counted(found: Tally | Verdict) -> str:
    """Spell the counts of drawn trials."""
    undecided = f", {found.undecided} undecided" if found.undecided else ""
    return f"{found.holds}/{found.in_scope} in scope hold ({found.trials} trials){undecided}"


def searched_violations(violated: int | str, in_scope: int | str) -> str:
    """Spell what refutes a claim that a search alone refutes: examples, no sample of anything."""
    return f"{violated} of {in_scope} searched examples in scope violate it"


def problems_checked(cells: Sequence[CellVerdict]) -> str:
    """Say on how many of the problems that have a cell each a claim holds, or is violated if it is,
    and what was drawn of each; "" where no cell is of one problem."""
    listed = [cell for cell in cells if cell.copies]
    if not listed:
        return ""
    violated = sum(bool(cell.tally.violated) for cell in listed)
    holds = sum(0 < cell.tally.in_scope == cell.tally.holds for cell in listed)
    found = f"violated on {violated}" if violated else f"holds on {holds}"
    names = {cell.copies for cell in listed}
    draws = f"{listed[0].tally.trials} {names.pop() if len(names) == 1 else 'copies'}"
    if len(listed) == 1:
        return f"{found} of 1 problem ({draws} of it)"
    return f"{found} of {len(listed)} problems ({draws} of each)"


def conclude_universal(tally: Tally, listed: bool = False) -> Conclusion:
    """Judge a claim about every instance in scope: one violation refutes, all must be decided.

    listed: whether the instances are copies of all the problems that the claim is about, so that
    nothing is left to be inferred.
    """
    if tally.violated:
        return Conclusion.REFUTED
    if tally.in_scope == 0:
        return Conclusion.VACUOUS
    if tally.undecided:
        return Conclusion.UNDECIDED
    if listed:
        return Conclusion.CERTIFIED
    return Conclusion.SUPPORTED if tally.in_scope >= ENOUGH else Conclusion.INCONCLUSIVE


def conclude_probable(tally: Tally, probability: float, error: float) -> Conclusion:
    """Judge P(holds | in scope) ≥ probability by exact one-sided bounds, each wrong with
    probability at most `error`.

    Where the bounds straddle it, the claim is undecided if its undecided trials could tip it,
    all going one way, and inconclusive if more trials are what it takes.
    """
    if tally.in_scope == 0:
        return Conclusion.VACUOUS
    if tally.in_scope < ENOUGH:
        return Conclusion.INCONCLUSIVE
    if tally.upper_bound(error) < probability:
        return Conclusion.REFUTED
    if tally.lower_bound(error) >= probability:
        return Conclusion.SUPPORTED
    all_hold = binomial_lower_bound(tally.holds + tally.undecided, tally.in_scope, error)
    none_hold = binomial_upper_bound(tally.holds, tally.in_scope, error)
    tipped = all_hold >= probability or none_hold < probability
    return Conclusion.UNDECIDED if tipped else Conclusion.INCONCLUSIVE


def allowed_deviation(fit: SlopeFit, tolerance: float) -> float:
    """Return how far from its line a mean may be, in log units: tolerance·span/2."""
    return tolerance * fit.span / 2


def conclude_slope(fit: SlopeFit, exponent: float, tolerance: float) -> Conclusion:
    """Judge that a quantity is a power law whose slope is exponent ± tolerance.

    Supported, if the whole interval of the slope lies inside, and every mean within
    tolerance·span/2 of the fitted line beyond sampling error (`SlopeFit.deviation`): as far as
    the tolerance lets the line itself move at the ends of the sweep. A parabola has a slope, but
    is no power law. Refuted, if the interval lies outside. A lack of fit does not refute, since
    the interval has spent the error that may go into that: the claim is inconclusive.
    """
    low, high = exponent - tolerance, exponent + tolerance
    if low <= fit.low and fit.high <= high:
        straight = fit.deviation <= allowed_deviation(fit, tolerance)
        return Conclusion.SUPPORTED if straight else Conclusion.INCONCLUSIVE
    if fit.high < low or fit.low > high:
        return Conclusion.REFUTED
    return Conclusion.INCONCLUSIVE


@dataclass(frozen=True)
class Instance:
    """Where a drawn instance is found again: trial number `trial` of a block at a point."""

    point: dict[str, Any]
    block: int
    trial: int
    control: str
    margin: float


@dataclass(frozen=True)
class CellVerdict:
    """The verdict at one point, its counts, and bounds on P(holds | in scope).

    The bounds are NaN for a universal claim, which states them for all its cells together, and
    where the trials are no sample: copies says what they are of one problem, "" where they are.
    margins: `findings.seven_numbers` of those that are decided in scope; None if there are none.
    """

    point: dict[str, Any]
    verdict: Conclusion
    tally: Tally
    lower_bound: float
    upper_bound: float
    margins: tuple[float, ...] | None = None
    copies: str = ""


@dataclass(frozen=True)
class SlopeVerdict:
    """The verdict along one sweep: slope with interval, claimed exponent, and the cell means.

    against, quantity: what abscissa and ordinate are.   copies: what the trials are, where those of
    each point are of one problem: then the interval says nothing.
    Per point of the sweep: coordinates, abscissa, geometric mean of the quantity, standard
    deviation of its logarithm, and the geometric means of the claim's band where it has one.
    """

    sweep: str
    against: str
    quantity: str
    verdict: Conclusion
    exponent: float
    tolerance: float
    slope: float
    low: float
    high: float
    curvature: float
    abscissa: tuple[float, ...]
    mean: tuple[float, ...]
    spread: tuple[float, ...]
    points: tuple[dict[str, Any], ...] = ()
    band_low: tuple[float, ...] = ()
    band_high: tuple[float, ...] = ()
    copies: str = ""


@dataclass(frozen=True)
class Hunted:
    """What the search for counterexamples met besides the random trials; its counts are not
    probabilities. worst_margin: the least that was decided in scope; NaN if there was none."""

    examples: int
    in_scope: int
    violated: int
    undecided: int
    worst_margin: float = math.nan


@dataclass(frozen=True)
class Verdict:
    """What the evidence says of one claim, with everything needed to read it.

    lower_bound, upper_bound: on P(holds | in scope), for a universal claim averaged over its
    cells, for a with-probability claim at its worst cell; NaN for rates, and where no cell is
    a sample. confidence: of each bound, after the error budget is split; NaN where there is none.
    checked: in words, on how many of the cells that are of one problem each the claim holds.
    expected: "supported", or "refuted" for controls.   instance: the worst violation.
    closest: the least decided margin in scope, violated or not.
    """

    theorem: str
    claim: str
    full_id: str
    kind: str
    verdict: Conclusion
    expected: Conclusion
    statement: str
    status: str
    trials: int
    in_scope: int
    holds: int
    violated: int
    undecided: int
    lower_bound: float
    upper_bound: float
    confidence: float
    worst_margin: float
    detail: str
    cells: tuple[CellVerdict, ...] = ()
    slopes: tuple[SlopeVerdict, ...] = ()
    instance: Instance | None = None
    closest: Instance | None = None
    hunted: Hunted | None = None
    probability: float | None = None
    given: tuple[str, ...] = ()
    rests_on: tuple[str, ...] = ()
    because: str = ""
    checked: str = ""

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the expected one; certified is more than supported."""
        if self.expected is Conclusion.SUPPORTED:
            return self.verdict in (Conclusion.SUPPORTED, Conclusion.CERTIFIED)
        return self.verdict is self.expected

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as JSON-able values (NaN and infinities as null)."""
        return json_values(self)

    def __repr__(self) -> str:
        return f"Verdict({self.verdict}: {self.full_id}  {self.detail})"

    def _repr_html_(self) -> str:
        from verify.notebook import verdict_html

        return verdict_html(self)


@dataclass(frozen=True)
class Verdicts(Sequence[Verdict]):
    """The verdicts of one theorem, claims first, then controls, and what was measured beside.

    error: the share of the error budget that this theorem's verdicts and measures use together.
    measured, chain: what its measures and its chain came to.   realised: how often each of its
    assumptions was met, where its claims are sampled.   computing: how long the trials took.
    """

    items: tuple[Verdict, ...]
    error: float
    seconds: float = field(default=0.0, compare=False)
    measured: tuple[Measured, ...] = ()
    chain: ChainFinding | None = None
    realised: tuple[Realised, ...] = ()
    computing: Computing = field(default_factory=Computing, compare=False)

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Verdict]:
        return iter(self.items)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            for verdict in self.items:
                if key in (verdict.claim, verdict.full_id):
                    return verdict
            names = ", ".join(verdict.claim for verdict in self.items)
            raise UnknownName(f"no claim {key!r} here, only {names}")
        return self.items[key]

    @property
    def as_expected(self) -> bool:
        """Whether every verdict is the expected one."""
        return all(verdict.as_expected for verdict in self.items)

    def __str__(self) -> str:
        return "\n".join(f"{v.verdict:<13}{v.full_id}  {v.detail}" for v in self.items)

    def __repr__(self) -> str:
        return f"Verdicts at confidence {1 - self.error:g}\n{self}"

    def _repr_html_(self) -> str:
        from verify.notebook import verdicts_html

        return verdicts_html(self)
