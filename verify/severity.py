"""How severe a violation is: its margin, its scope, when it begins and how often it happens."""

from __future__ import annotations

import math
import operator
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from verify.blame import blaming
from verify.claims import Assumption, Claim, Rate
from verify.engine.evaluate import margin_of
from verify.engine.plan import broken_by
from verify.errors import InputError
from verify.findings import json_values
from verify.margin import Margin
from verify.space import Axis, Coordinate, Point
from verify.statistics import binomial_lower_bound, binomial_upper_bound
from verify.theorem import Theorem
from verify.trial import Trial
from verify.verdict import Verdict

State = Literal["holds", "violated", "unknown"]
Role = Literal["scope", "dropped", "hypothesis"]

CONFIDENCE = 0.95
"""Of the interval of a rate."""


@dataclass(frozen=True)
class Assumed:
    """An assumption on the instance that violates a claim.

    margin: in floating point, dimensionless, negative where it is violated.   state: beyond the
    rounding of the margin, or as exact arithmetic decides it (`decided_exactly`).
    role: "scope", what puts an instance in the claim's scope; "dropped", what would too, had it
    not been left out; "hypothesis", what the theorem assumes, and the claim is not given.
    coordinate: what a violated one comes from, "c = 0.02, outside the range tested, 0.25 to 1.2",
    or "" where no coordinate of the point tells. That range (`Axis.inside`) lies within the
    assumption, which may reach farther.
    """

    assumption: str
    margin: float
    state: State
    role: Role = "scope"
    coordinate: str = ""


@dataclass(frozen=True)
class ViolationRate:
    """How often a claim is violated at one point, of i.i.d. trials in scope.

    in_scope: or perhaps in scope; undecided trials are among them.   low, high: exact bounds on
    the probability of a violation in scope, two-sided, at `confidence` for all cells of the claim
    together, so that it does no harm to look at the one where a violation was found. They are no
    part of a run's error budget.   where: the point.   copies: what the trials are where they are
    of one problem: no sample, so that the probability is 0 or 1, as far as that is decided.
    """

    violated: int
    undecided: int
    in_scope: int
    trials: int
    low: float
    high: float
    confidence: float
    where: Mapping[str, Coordinate]
    copies: str = ""

    @staticmethod
    def of(
        violated: int,
        undecided: int,
        in_scope: int,
        trials: int,
        where: Mapping[str, Coordinate],
        cells: int = 1,
        copies: str = "",
    ) -> ViolationRate:
        """Return the rate of these counts, by Clopper and Pearson: undecided trials count for the
        upper bound as violations and for the lower one as none.

        in_scope: at least 1.   cells: of the claim, over which the error is split evenly.
        """
        if copies:
            low, high = float(violated > 0), float(violated + undecided > 0)
            return ViolationRate(
                violated, undecided, in_scope, trials, low, high, CONFIDENCE, dict(where), copies
            )
        error = (1.0 - CONFIDENCE) / (2 * cells)
        low = binomial_lower_bound(violated, in_scope, error)
        high = binomial_upper_bound(violated + undecided, in_scope, error)
        return ViolationRate(
            violated, undecided, in_scope, trials, low, high, CONFIDENCE, dict(where)
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-able values; of a sample without `copies`."""
        told = json_values(self)
        return told if self.copies else {k: v for k, v in told.items() if k != "copies"}


@dataclass(frozen=True)
class Severity:
    """How severe a violation is.

    margin: of the claim, in units of its quantity's scale: dimensionless, negative.
    in_scope: whether all that the claim is given holds on the instance, what was dropped too;
    None where that is not decided.   assumptions: those, and the theorem's hypotheses beside.
    first_step: after which the instance first is not as the theorem says; None where there is no
    such step, or the theorem does not tell.   rate: None of what was searched and not sampled.
    """

    margin: float
    in_scope: bool | None
    assumptions: tuple[Assumed, ...] = ()
    first_step: int | None = None
    rate: ViolationRate | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-able values (NaN and infinities as null)."""
        return json_values(self)

    @property
    def scope(self) -> tuple[Assumed, ...]:
        """What puts an instance in the claim's scope, nothing being dropped."""
        return tuple(one for one in self.assumptions if one.role != "hypothesis")


def severity_of(
    theorem: Theorem, claim: Claim, trial: Trial, position: int, without: Collection[str] = ()
) -> Severity:
    """Return how severe the violation of a claim on one instance of a trial is, without rate.

    without: assumptions that were dropped (`Theorem.scope`).   Where it is the solver that is
    broken, hypotheses about the problem explain nothing and are left out, and there is no first
    step: `Theorem.first_departure` knows the problem alone.
    Raises InputError for a rate, UnknownName for a dropped assumption that the claim does not
    have, TheoremError for functions of the theorem that misbehave.
    """
    if isinstance(claim, Rate):
        raise InputError(f"claim {claim.id!r} is a rate: no single instance violates it")
    assumed = tuple(
        _assumed(theorem, assumption, role, trial, position)
        for assumption, role in _roles(theorem, claim, without)
    )
    margin = _at(margin_of(claim.inequality, trial), trial, position)
    found = Severity(float(margin.value), None, assumed)
    in_scope = _in_scope(one.state for one in found.scope)
    first = None if broken_by(theorem, claim) else _first_step(theorem, trial.problem, position)
    return replace(found, in_scope=in_scope, first_step=first)


def _in_scope(states: Iterable[str]) -> bool | None:
    """Say whether all of an instance's scope holds; None where that is not decided."""
    met = set(states)
    return False if "violated" in met else None if "unknown" in met else True


def decided_exactly(severity: Mapping[str, Any], exact: Mapping[str, Any]) -> dict[str, Any]:
    """Return a severity in which exact arithmetic says what it decides of the scope.

    severity: as `Severity.to_json` tells it; an empty one stays empty.   exact: what is exact of
    the same instance, as `Counterexample.exact`.
    """
    if not severity:
        return {}
    decided = {one["id"]: "holds" if one["holds"] else "violated" for one in exact["assumptions"]}
    assumed = [
        {**one, "state": decided.get(one["assumption"], one["state"])}
        for one in severity["assumptions"]
    ]
    in_scope = _in_scope(one["state"] for one in assumed if one["role"] != "hypothesis")
    return {**severity, "assumptions": assumed, "in_scope": in_scope}


def _roles(
    theorem: Theorem, claim: Claim, without: Collection[str]
) -> Iterator[tuple[Assumption, Role]]:
    """Yield what the claim is given, what was dropped, and the theorem's other hypotheses."""
    scope = theorem.scope(claim, without)
    dropped = tuple(theorem.assumption(name) for name in dict.fromkeys(without))
    yield from ((assumption, "scope") for assumption in scope)
    yield from ((assumption, "dropped") for assumption in dropped)
    told = {assumption.id for assumption in (*scope, *dropped)}
    if broken_by(theorem, claim):
        return
    yield from ((one, "hypothesis") for one in theorem.hypotheses if one.id not in told)


def _assumed(
    theorem: Theorem, assumption: Assumption, role: Role, trial: Trial, position: int
) -> Assumed:
    margin = _at(margin_of(assumption.inequality, trial, "assumption"), trial, position)
    state: State = "holds" if margin.holds else "violated" if margin.violated else "unknown"
    why = _coordinate(theorem, assumption, trial.point) if state == "violated" else ""
    return Assumed(assumption.id, float(margin.value), state, role, why)


def _at(margin: Margin, trial: Trial, position: int) -> Margin:
    """Return the margin of one instance of a trial."""
    value, rounding = (
        np.broadcast_to(side, (trial.trials,))[position]
        for side in (margin.value, margin.uncertainty)
    )
    return Margin(0.0, value, 1.0, rounding)


def _first_step(theorem: Theorem, problem: Any, position: int) -> int | None:
    if theorem.first_departure is None:
        return None
    with blaming("first_departure", theorem.first_departure):
        step = theorem.first_departure(problem, position)
        return None if step is None else operator.index(step)


def _coordinate(theorem: Theorem, assumption: Assumption, point: Point | None) -> str:
    """Say which coordinate of a point lies outside an assumption; "" if none is known to."""
    axes = {axis.name: axis for axis in (*theorem.axes, *theorem.wide_axes)}
    if point is None:
        return ""
    for name in assumption.axes:
        for axis in axes.values():
            if axis.instead_of == name and axis.name in point:
                return f"{axis.name} = {_short(point[axis.name])}"
        value = point.get(name, theorem.defaults.get(name))
        told = _outside(axes[name], value) if name in axes and value is not None else ""
        if told:
            return told
    return ""


def _outside(axis: Axis, value: Coordinate) -> str:
    """Say that a value lies outside the part of its axis that is tested within the assumptions;
    "" if it does not."""
    if not axis.inside:
        return f"{axis.name} = {_short(value)}"
    if axis.scale == "choice" or isinstance(value, str):
        within = value in axis.inside
        *others, last = (_short(choice) for choice in axis.inside)
        tested = f"{', '.join(others)} or {last}" if others else last
    else:
        low, high = (float(end) for end in axis.inside)
        within = low <= value <= high
        tested = _short(low) if low == high else f"{_short(low)} to {_short(high)}"
    return "" if within else f"{axis.name} = {_short(value)}, outside the range tested, {tested}"


def _short(value: Coordinate) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def violation_rate(verdict: Verdict, point: Mapping[str, Coordinate]) -> ViolationRate | None:
    """Return how often the trials of a verdict violate its claim at one of its cells.

    None where there is no such cell, or no violation in it.
    """
    here = Point(**point)
    cell = next((cell for cell in verdict.cells if Point(**cell.point) == here), None)
    if cell is None or not cell.tally.violated:
        return None
    tally = cell.tally
    return ViolationRate.of(
        tally.violated,
        tally.undecided,
        tally.in_scope,
        tally.trials,
        cell.point,
        cells=len(verdict.cells),
        copies=cell.copies,
    )


def scope_words(severity: Mapping[str, Any]) -> str:
    """Say whether an instance is in scope, and which assumptions it violates by how much.

    severity: as `Severity.to_json` tells it.
    """
    assumed = severity["assumptions"]
    own = [one for one in assumed if one["role"] != "hypothesis"]
    beside = [one for one in assumed if one["role"] == "hypothesis" and one["state"] == "violated"]
    if severity["in_scope"]:
        if not beside:
            return "in scope"
        return f"in scope of the claim, outside the theorem's: {_listed(beside)}"
    state = "unknown" if severity["in_scope"] is None else "violated"
    failing = [one for one in own if one["state"] == state]
    if state == "unknown":
        return f"scope not decided: {', '.join(one['assumption'] for one in failing)}"
    return f"out of scope: {_listed([*failing, *beside])}"


def _listed(violated: list[Mapping[str, Any]]) -> str:
    return "; ".join(map(_violated, violated))


def _violated(one: Mapping[str, Any]) -> str:
    known = one["margin"] is not None and one["margin"] < 0
    by = f", by {-one['margin']:.3g}" if known else ""
    why = one["coordinate"]
    return f"{why} ({one['assumption']}{by})" if why else f"{one['assumption']}{by}"


def rate_words(rate: Mapping[str, Any]) -> str:
    """Say how often a claim is violated; the bounds are rounded outwards.

    rate: as `ViolationRate.to_json` tells it.
    """
    low, high = math.floor(rate["low"] * 1e3) / 1e3, math.ceil(rate["high"] * 1e3) / 1e3
    undecided = f", {rate['undecided']} undecided" if rate["undecided"] else ""
    where = ", ".join(f"{name} = {_short(value)}" for name, value in rate["where"].items())
    if rate.get("copies"):
        return (
            f"violated in {rate['violated']} of {rate['in_scope']} in scope{undecided} at {where}, "
            f"{rate['copies']} of one problem: no sample, no probability"
        )
    return (
        f"violated in {rate['violated']} of {rate['in_scope']} in scope{undecided} at {where}: "
        f"probability {low:.3f} to {high:.3f} at confidence {rate['confidence']:g}"
    )


def words(severity: Mapping[str, Any], searched: bool = False) -> list[str]:
    """Return lines on a violation: its scope, its first step and its rate, as far as known.

    severity: as `Severity.to_json` tells it; nothing is said of an empty one.   searched: that
    the instance was searched for, and so has no rate.
    """
    if not severity:
        return []
    lines = [scope_words(severity)]
    if severity["first_step"] is not None:
        lines.append(f"first departs from the theorem at step {severity['first_step']}")
    if severity["rate"] is not None:
        lines.append(rate_words(severity["rate"]))
    elif searched:
        lines.append("searched, no rate")
    return lines
