"""Which points are sampled how often, for which claims: decided before the first trial."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from verify.errors import InputError, UnknownName
from verify.statistics import ErrorBudget, trials_to_support
from verify.theorem import Claim, Point, Probable, Rate, Theorem, points_of


@dataclass(frozen=True)
class Profile:
    """How much evidence to gather.

    trials: a cell of a universal or with-probability claim.   sweep_trials: a point of a rate.
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
    """One law of problems under one simulator, and the claims that are evaluated on it.

    control: id of the control whose broken simulator runs here, "" for the theorem's own.
    claims: ids.   trials: how many are counted (blocks are drawn whole).
    """

    point: Point
    control: str
    claims: tuple[str, ...]
    trials: int


def plan(
    theorem: Theorem,
    profile: Profile,
    budget: ErrorBudget,
    trials: int | None = None,
) -> tuple[Cell, ...]:
    """Return the cells of a check: one for each point and simulator, with all claims sampled there.

    A with-probability claim gets at least the trials that can support it (`trials_of`).
    """
    controlled = [(c.id if c.simulate else "", c.claim) for c in theorem.controls]
    wanted: dict[tuple[Point, str], list[Claim]] = {}
    for control, claim in [*(("", c) for c in theorem.claims), *controlled]:
        for point in points_of(theorem, claim):
            wanted.setdefault((point, control), []).append(claim)
    return tuple(
        Cell(
            point,
            control,
            tuple(claim.id for claim in claims),
            max(trials_of(theorem, claim, profile, budget, trials) for claim in claims),
        )
        for (point, control), claims in wanted.items()
    )


def trials_of(
    theorem: Theorem,
    claim: Claim,
    profile: Profile,
    budget: ErrorBudget,
    trials: int | None = None,
) -> int:
    """Return how many trials a cell of `claim` counts, fixed before sampling.

    Raises InputError for trials below 1.
    """
    if trials is not None:
        if trials < 1:
            raise InputError(f"trials={trials}, expected at least 1")
        return trials
    if isinstance(claim, Rate):
        return profile.sweep_trials
    if isinstance(claim, Probable):
        cells = len(points_of(theorem, claim))
        enough = trials_to_support(claim.probability, budget.per_cell(cells))
        return max(profile.trials, enough + enough // 4)
    return profile.trials


def replace_cells(theorem: Theorem, cells: Iterable[Point]) -> Theorem:
    """Return the theorem with its universal and with-probability claims sampled at `cells`."""
    from dataclasses import replace

    points = tuple(cells)
    if not points:
        raise InputError("cells is empty, expected at least one Point")
    claims = tuple(c if isinstance(c, Rate) else replace(c, at=points) for c in theorem.claims)
    return replace(theorem, cells=points, claims=claims)
