"""What a check is asked, decided before the first trial: entries, cells, trials, error budget."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from verify.engine.executors import AnyExecutor, Pool
from verify.engine.plan import (
    Cell,
    Entry,
    plan,
    profile_named,
    replace_cells,
    selected,
    trials_of,
    whole,
)
from verify.engine.store import Store
from verify.errors import InputError
from verify.loading import load_origin
from verify.space import Point
from verify.statistics import ErrorBudget
from verify.theorem import Theorem


@dataclass(frozen=True)
class Asked:
    """A check that can begin.

    theorem: with the cells that replace its own.   entries: the claims, controls, measures and
    chain wanted.   planned: the cells that they are sampled in.   trials: those that a cell of
    each entry counts, by its id.   budget: of errors, for all that the theorem registers.
    """

    theorem: Theorem
    entries: tuple[Entry, ...]
    planned: tuple[Cell, ...]
    trials: Mapping[str, int]
    budget: ErrorBudget
    root_seed: int


def ask(
    theorem: Theorem,
    *,
    claims: Collection[str] | None,
    profile: str,
    cells: Iterable[Point] | None,
    trials: int | None,
    confidence: float,
    root_seed: int,
    executor: AnyExecutor | None,
    store: Store | None,
) -> Asked:
    """Return what these arguments of `verify.check` ask for.

    Raises InputError if they are unusable.
    """
    if not 0 < confidence < 1:
        raise InputError(f"confidence={confidence!r}, expected between 0 and 1, try 0.95")
    root_seed = whole("root_seed", root_seed, 0)
    _require_traceable(theorem, executor, store)
    if cells is not None:
        theorem = replace_cells(theorem, cells)
    budget = ErrorBudget(1.0 - confidence, theorem.registered)
    chosen, wanted = profile_named(profile), selected(theorem, claims)
    if cells is not None and claims is None:
        wanted = theorem.all_claims
    counts = {entry.id: trials_of(theorem, entry, chosen, budget, trials) for entry in wanted}
    planned = plan(theorem, wanted, chosen, budget, trials)
    return Asked(theorem, wanted, planned, counts, budget, root_seed)


def _require_traceable(theorem: Theorem, executor: AnyExecutor | None, store: Store | None) -> None:
    """Raise InputError where workers would run, or records come from, another theorem."""
    if theorem.origin is None:
        if isinstance(executor, Pool | ProcessPoolExecutor):
            raise InputError(
                f"theorem {theorem.id!r} was not loaded from a file, so worker processes cannot "
                "find it; run it with executor=None, or save it and use verify.load_file(path)"
            )
        if store is not None and not theorem.source:
            raise InputError(
                f"theorem {theorem.id!r} was not loaded from a file, so its records could not be "
                "told from those of another definition; run it with store=None, or save it and "
                "use verify.load_file(path)"
            )
    elif executor is None and store is None:
        return
    elif load_origin(theorem.origin) != theorem:
        raise InputError(
            f"theorem {theorem.address!r} is not (or no more) the one in its file, which workers "
            "would run and the store knows it by; load it again, or run it with executor=None "
            "and store=None"
        )
