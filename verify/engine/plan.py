"""Which points are sampled how often, for which claims and measures: decided before the first
trial."""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from verify.claims import Claim, Probable, Rate
from verify.errors import InputError, UnknownName
from verify.measures import Chain, Measure
from verify.space import Point
from verify.statistics import ErrorBudget, trials_to_support
from verify.theorem import Theorem, points_of

Entry = Claim | Measure | Chain
"""What a theorem has sampled."""


@dataclass(frozen=True)
class Profile:
    """How much evidence to gather.

    trials: a cell of a universal or with-probability claim, a measure, or a chain.
    sweep_trials: a point of a rate.
    hunted: examples of the counterexample search for each universal claim.
    """

    name: str
    trials: int
    sweep_trials: int
    hunted: int


PROFILES = {
    profile.name: profile
    for profile in (
        Profile("quick", trials=200, sweep_trials=50, hunted=60),
        Profile("full", trials=1_000, sweep_trials=200, hunted=500),
        Profile("nightly", trials=10_000, sweep_trials=1_000, hunted=5_000),
    )
}


def profile_named(name: str) -> Profile:
    """Return the profile called `name`. Raises UnknownName."""
    if name not in PROFILES:
        raise UnknownName(f"profile={name!r} is unknown: use one of {', '.join(PROFILES)}")
    return PROFILES[name]


@dataclass(frozen=True)
class Cell:
    """One law of problems under one simulator, and what is evaluated on it.

    control: id of the control whose broken simulator runs here, "" for the theorem's own.
    claims: ids.   trials: how many are counted (blocks are drawn whole).   measures: ids, with
    "chain" where the theorem's chain is evaluated here.   assumptions: ids of assumptions and
    hypotheses that are evaluated besides those of the claims; where there is nothing else, nothing
    is simulated.
    """

    point: Point
    control: str
    claims: tuple[str, ...]
    trials: int
    measures: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all that is evaluated here."""
        return (*self.claims, *self.measures)


def selected(theorem: Theorem, names: Collection[str] | None) -> tuple[Entry, ...]:
    """Return what is called one of `names`, in the order claims, controls' claims, measures,
    chain; None: all.

    Raises UnknownName for a name that none of them has, InputError if there is no name.
    """
    if names is None:
        return theorem.entries
    wanted = {theorem.entry(name).id for name in ([names] if isinstance(names, str) else names)}
    if not wanted:
        raise InputError("claims is empty, expected the id of at least one claim or control")
    return tuple(entry for entry in theorem.entries if entry.id in wanted)


def plan(
    theorem: Theorem,
    entries: Collection[Entry],
    profile: Profile,
    budget: ErrorBudget,
    trials: int | None = None,
) -> tuple[Cell, ...]:
    """Return the cells of a check of some of a theorem's claims and measures: one for each point
    and simulator, with all of them that are sampled there.

    A with-probability claim gets at least the trials that can support it (`trials_of`).
    """
    wanted: dict[tuple[Point, str], list[Entry]] = {}
    for entry in entries:
        for point in points_of(theorem, entry):
            wanted.setdefault((point, broken_by(theorem, entry)), []).append(entry)
    return tuple(
        Cell(
            point,
            control,
            tuple(entry.id for entry in here if isinstance(entry, Claim)),
            max(trials_of(theorem, entry, profile, budget, trials) for entry in here),
            tuple(entry.id for entry in here if not isinstance(entry, Claim)),
        )
        for (point, control), here in wanted.items()
    )


def broken_by(theorem: Theorem, entry: Entry) -> str:
    """Return the id of the control whose broken simulator a claim is about, "" if none."""
    return next((c.id for c in theorem.controls if c.claim is entry and c.simulate), "")


def trials_of(
    theorem: Theorem,
    entry: Entry,
    profile: Profile,
    budget: ErrorBudget,
    trials: int | None = None,
) -> int:
    """Return how many trials a cell of a claim, measure or chain counts, fixed before sampling.

    Raises InputError for trials that are no whole number from 1.
    """
    if trials is not None:
        return whole("trials", trials, 1)
    if isinstance(entry, Rate):
        return profile.sweep_trials
    if isinstance(entry, Probable):
        cells = len(points_of(theorem, entry))
        enough = trials_to_support(entry.probability, budget.per_side(cells))
        return max(profile.trials, enough + enough // 4)
    return profile.trials


def replace_cells(theorem: Theorem, cells: Iterable[Point]) -> Theorem:
    """Return the theorem with its universal and with-probability claims sampled at `cells`.

    Controls stay where they are known to be false, rates on their sweeps, and measures and the
    chain at the points that their figures are about.
    """
    points = tuple(cells)
    if not points:
        raise InputError("cells is empty, expected at least one Point")
    claims = tuple(c if isinstance(c, Rate) else replace(c, at=points) for c in theorem.claims)
    return replace(theorem, claims=claims)


def whole(name: str, value: int, at_least: int) -> int:
    """Return a whole number as a Python int. Raises InputError for anything else."""
    try:
        number = operator.index(value)
    except TypeError:
        number = at_least - 1
    if number < at_least:
        raise InputError(f"{name}={value!r}, expected a whole number of at least {at_least}")
    return number
