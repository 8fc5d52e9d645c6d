"""One block of trials: draw, simulate, and both sides of every inequality, as plain numbers."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from verify.arrays import Backend, to_numpy
from verify.engine.plan import Cell
from verify.errors import InputError, TheoremError
from verify.theorem import Assumption, Claim, Floats, Margin, Point, Rate, Sweep, Theorem, Trial

BAND = ("band_low", "band_high")

IN_SCOPE, OUT_OF_SCOPE, SCOPE_UNKNOWN = 1.0, 0.0, 0.5


@dataclass(frozen=True, eq=False)
class Record:
    """What one block showed: named series of T numbers each.

    Series are called "claim.value", "claim.rounding", "claim.scope" (see `IN_SCOPE`), for
    rates "claim.quantity", "claim.against.sweep" and with a band "claim.band_low" and
    "claim.band_high", for assumptions "given.id.value" and
    "given.id.rounding".   data: (series, T) in float64.
    """

    series: tuple[str, ...]
    data: Floats

    def __getitem__(self, name: str) -> Floats:
        return np.asarray(self.data[self.series.index(name)])

    def same_as(self, other: Record) -> bool:
        """Say whether both hold the very same numbers."""
        return self.series == other.series and np.array_equal(self.data, other.data, equal_nan=True)


def stream(theorem: Theorem, point: Point, root_seed: int, block: int) -> np.random.Generator:
    """Return the random stream of one block.

    It follows from (root seed, theorem id, point, block) alone: not from batch sizes, the
    number of workers, the order of cells or what else is run.
    """
    digest = hashlib.sha256(f"{theorem.id}\n{point.canonical}".encode()).digest()
    words = [int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4)]
    seeds = np.random.SeedSequence(root_seed, spawn_key=(*words, block))
    return np.random.Generator(np.random.PCG64DXSM(seeds))


def draw_trial(
    theorem: Theorem, cell: Cell, root_seed: int, block: int, backend: Backend | None = None
) -> Trial:
    """Draw and simulate one whole block of a cell."""
    generator = stream(theorem, cell.point, root_seed, block)
    problem = place(theorem, theorem.draw(cell.point, generator, theorem.block), backend)
    return Trial(theorem, cell.point, problem, theorem.block, simulator(theorem, cell.control))


def place(theorem: Theorem, problem: Any, backend: Backend | None) -> Any:
    """Move a problem to the backend. Raises InputError if the theorem cannot."""
    if backend is None or backend.name == "numpy":
        return problem
    if theorem.place is None:
        raise InputError(
            f"theorem {theorem.id!r} runs on numpy only: it has no place(problem, backend); "
            "use --backend numpy or give it one"
        )
    return theorem.place(problem, backend)


def simulator(theorem: Theorem, control: str) -> Callable[[Any], Any] | None:
    """Return the broken simulator of the control called `control`, None for the theorem's own."""
    return next((c.simulate for c in theorem.controls if c.id == control), None)


def evaluate_block(
    theorem: Theorem, cell: Cell, root_seed: int, block: int, backend: Backend | None = None
) -> Record:
    """Draw one block of a cell and evaluate all of the cell's claims and assumptions on it."""
    trial = draw_trial(theorem, cell, root_seed, block, backend)
    series: dict[str, Floats] = {}
    margins: dict[Assumption, Margin] = {}
    for name in cell.claims:
        claim = theorem.claim(name)
        for assumption in claim.given:
            if assumption not in margins:
                margin = margin_of(assumption.inequality, trial)
                margins[assumption] = margin
                series[f"given.{assumption.id}.value"] = margin.value
                series[f"given.{assumption.id}.rounding"] = margin.uncertainty
        series[f"{name}.scope"] = scope_of(claim, trial, margins)
        if isinstance(claim, Rate):
            series[f"{name}.quantity"] = quantity_of(claim.inequality, trial)
            for sweep in _sweeps_at(claim, cell.point):
                against = quantity_of(sweep.against, trial)
                series[f"{name}.against.{sweep.name}"] = against
            for side, bound in zip(BAND, claim.band or (), strict=False):
                series[f"{name}.{side}"] = quantity_of(bound, trial)
        else:
            margin = margin_of(claim.inequality, trial)
            series[f"{name}.value"] = margin.value
            series[f"{name}.rounding"] = margin.uncertainty
    full = [np.broadcast_to(values, (trial.trials,)) for values in series.values()]
    return Record(tuple(series), np.asarray(full, dtype=np.float64))


def _sweeps_at(claim: Rate, point: Point) -> list[Sweep]:
    return [sweep for sweep in claim.sweeps if point in sweep.points]


def scope_of(claim: Claim, trial: Trial, margins: dict[Assumption, Margin] | None = None) -> Floats:
    """Return where the claim's assumptions hold: `IN_SCOPE`, `OUT_OF_SCOPE`, `SCOPE_UNKNOWN`."""
    scope = np.full(trial.trials, IN_SCOPE)
    for assumption in claim.given:
        known = (margins or {}).get(assumption)
        margin = known if known is not None else margin_of(assumption.inequality, trial)
        unknown = np.where(margin.holds, IN_SCOPE, SCOPE_UNKNOWN)
        scope = np.minimum(scope, np.where(margin.violated, OUT_OF_SCOPE, unknown))
    return scope


def margin_of(function: Callable[[Trial], Margin], trial: Trial) -> Margin:
    """Evaluate an assumption or claim. Raises TheoremError, naming its line, if it misbehaves."""
    margin = function(trial)
    if not isinstance(margin, Margin):
        raise TheoremError(
            f"{_where(function)}: {function.__name__} returned {type(margin).__name__}, expected "
            "a Margin; write `return Margin(left, right)` for the inequality left <= right"
        )
    full = Margin(0.0, margin.value, 1.0, margin.uncertainty)
    for what, array in (("value", full.value), ("rounding", full.uncertainty)):
        if array.shape not in ((), (1,), (trial.trials,)):
            raise TheoremError(
                f"{_where(function)}: {function.__name__} returned a margin whose {what} has "
                f"shape {array.shape}, expected ({trial.trials},), one number an instance"
            )
    return full


def quantity_of(function: Callable[[Trial], Any], trial: Trial) -> Floats:
    """Evaluate a rate's quantity or abscissa, (B,). Raises TheoremError if it misbehaves."""
    values = np.asarray(to_numpy(function(trial)), dtype=np.float64)
    if values.shape not in ((), (1,), (trial.trials,)):
        raise TheoremError(
            f"{_where(function)}: {function.__name__} returned shape {values.shape}, expected "
            f"({trial.trials},), one positive number an instance"
        )
    return np.broadcast_to(values, (trial.trials,))


def _where(function: Callable[..., Any]) -> str:
    """Return "file:line" of a function's definition."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else repr(function)
