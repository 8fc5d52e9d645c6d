"""One block of trials: draw, simulate, and both sides of every inequality, as plain numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from verify.arrays import Backend, to_numpy
from verify.blame import blaming, whereabouts
from verify.claims import Assumption, Claim, Rate, Sweep, name_of
from verify.engine.plan import Cell
from verify.errors import InputError, StoreError, TheoremError
from verify.margin import Floats, Margin
from verify.measures import Chain, Frequency, Measure
from verify.space import Point
from verify.theorem import Theorem
from verify.trial import Trial
from verify.verdict import IN_SCOPE, OUT_OF_SCOPE, SCOPE_UNKNOWN

BAND = ("band_low", "band_high")

_DAMAGED = "move the file of records away and run again"


@dataclass(frozen=True, eq=False)
class Record:
    """What T trials showed: named series of T numbers each.

    Series are called "claim.value", "claim.rounding", "claim.scope" (see `IN_SCOPE`), for
    rates "claim.quantity", "claim.against.sweep" and with a band "claim.band_low" and
    "claim.band_high", where it has one "claim.prediction"; for assumptions "given.id.value" and
    "given.id.rounding"; for measures "measure.scope", "measure.value" and "measure.rounding" or
    "measure.quantity", and where they have them "measure.against" and "measure.prediction"; for
    links of the chain "chain.link.value" and "chain.link.rounding".
    data: (series, T) in float64.
    """

    series: tuple[str, ...]
    data: Floats

    def __getitem__(self, name: str) -> Floats:
        if name not in self.series:  # whatever is evaluated has all of them
            raise StoreError(f"a stored record lacks the series {name!r}; {_DAMAGED}")
        return np.asarray(self.data[self.series.index(name)])

    def differing(self, other: Record, tolerance: float = 0.0) -> tuple[str, ...]:
        """Return the names of the series that are not the very same numbers in both.

        tolerance: what numbers may differ by, relative to the largest finite one of their series.
        """
        if self.series != other.series or self.data.shape != other.data.shape:
            return tuple(dict.fromkeys((*self.series, *other.series)))
        one, two = self.data, other.data
        same = (one == two) | (np.isnan(one) & np.isnan(two))
        if tolerance:
            finite = np.isfinite(one) & np.isfinite(two)
            a, b = np.where(finite, one, 0.0), np.where(finite, two, 0.0)
            largest = np.maximum(np.abs(a), np.abs(b)).max(axis=1, initial=0.0, keepdims=True)
            with np.errstate(over="ignore"):  # an infinite difference is one
                same |= finite & (np.abs(a - b) <= tolerance * largest)
        return tuple(np.asarray(self.series)[~same.all(axis=1)].tolist())

    @staticmethod
    def joined(blocks: Sequence[Record]) -> Record:
        """Return the trials of several blocks, in their order, as one record.

        Raises StoreError where their series differ, as those of damaged stores may.
        """
        if len({block.series for block in blocks}) > 1:
            raise StoreError(f"the stored blocks of one point have different series; {_DAMAGED}")
        return Record(blocks[0].series, np.concatenate([block.data for block in blocks], axis=1))


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
    """Draw one whole block of a cell; it is simulated when its run is asked for."""
    generator = stream(theorem, cell.point, root_seed, block)
    with blaming("draw", theorem.draw):
        drawn = theorem.draw(cell.point, generator, theorem.block)
        if drawn is None:
            raise TheoremError(
                f"{whereabouts('draw', theorem.draw)} returned nothing; end it with `return …`, "
                "the batch of problems"
            )
    problem = place(theorem, drawn, backend)
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
    with blaming("place", theorem.place):
        return theorem.place(problem, backend)


def simulator(theorem: Theorem, control: str) -> Callable[[Any], Any] | None:
    """Return the broken simulator of the control called `control`, None for the theorem's own."""
    return next((c.simulate for c in theorem.controls if c.id == control), None)


def evaluate_block(
    theorem: Theorem, cell: Cell, root_seed: int, block: int, backend: Backend | None = None
) -> Record:
    """Draw one block of a cell and evaluate whatever the cell has on it, and its assumptions."""
    return evaluate_trial(theorem, cell, draw_trial(theorem, cell, root_seed, block, backend))


def evaluate_trial(theorem: Theorem, cell: Cell, trial: Trial) -> Record:
    """Evaluate whatever a cell has, and its assumptions, on a trial."""
    entries = [theorem.entry(name) for name in cell.ids]
    if entries:
        trial.simulate()
    scoped = [entry for entry in entries if not isinstance(entry, Chain)]
    series: dict[str, Floats] = {}
    margins: dict[Assumption, Margin] = {}
    asked = [theorem.assumption(name) for name in cell.assumptions]
    for assumption in dict.fromkeys([*(a for entry in scoped for a in entry.given), *asked]):
        margin = margins[assumption] = margin_of(assumption.inequality, trial, "assumption")
        series |= _both(f"given.{assumption.id}", margin)
    for entry in entries:
        if isinstance(entry, Chain):
            for link in entry.links:
                name = f"{entry.id}.{name_of(link)}"
                series |= _both(name, margin_of(link, trial, "link"))
            continue
        series[f"{entry.id}.scope"] = scope_of(entry, trial, margins)
        if isinstance(entry, Rate):
            series |= _rate_series(entry, trial, cell.point)
        elif isinstance(entry, Measure):
            series |= _measure_series(entry, trial)
        else:
            series |= _both(entry.id, margin_of(entry.inequality, trial))
        if isinstance(entry, Claim) and entry.prediction is not None:
            predicted = quantity_of(entry.prediction, trial, constant=True)
            series[f"{entry.id}.prediction"] = predicted
    full = [np.broadcast_to(values, (trial.trials,)) for values in series.values()]
    return Record(tuple(series), np.asarray(full, dtype=np.float64))


def _both(name: str, margin: Margin) -> dict[str, Floats]:
    return {f"{name}.value": margin.value, f"{name}.rounding": margin.uncertainty}


def _rate_series(claim: Rate, trial: Trial, point: Point) -> dict[str, Floats]:
    series = {f"{claim.id}.quantity": quantity_of(claim.inequality, trial)}
    for sweep in _sweeps_at(claim, point):
        against = quantity_of(sweep.against, trial, constant=True)
        series[f"{claim.id}.against.{sweep.name}"] = against
    for side, bound in zip(BAND, claim.band or (), strict=False):
        series[f"{claim.id}.{side}"] = quantity_of(bound, trial, constant=True)
    return series


def _measure_series(measure: Measure, trial: Trial) -> dict[str, Floats]:
    if isinstance(measure, Frequency):
        series = _both(measure.id, margin_of(measure.inequality, trial, "measure"))
    else:
        series = {f"{measure.id}.quantity": quantity_of(measure.function, trial)}
    for name, function in (("against", measure.against), ("prediction", measure.prediction)):
        if function is not None:
            series[f"{measure.id}.{name}"] = quantity_of(function, trial, constant=True)
    return series


def _sweeps_at(claim: Rate, point: Point) -> list[Sweep]:
    return [sweep for sweep in claim.sweeps if point in sweep.points]


def scope_of(
    claim: Claim | Measure, trial: Trial, margins: Mapping[Assumption, Margin] | None = None
) -> Floats:
    """Return where a claim's or measure's assumptions hold: `IN_SCOPE`, `OUT_OF_SCOPE`,
    `SCOPE_UNKNOWN`.

    margins: those of assumptions that have been evaluated already.
    """
    scope = np.full(trial.trials, IN_SCOPE)
    for assumption in claim.given:
        known = (margins or {}).get(assumption)
        margin = known or margin_of(assumption.inequality, trial, "assumption")
        unknown = np.where(margin.holds, IN_SCOPE, SCOPE_UNKNOWN)
        scope = np.minimum(scope, np.where(margin.violated, OUT_OF_SCOPE, unknown))
    return scope


def margin_of(function: Callable[[Trial], Margin], trial: Trial, role: str = "claim") -> Margin:
    """Evaluate an assumption or claim as a margin of scale 1, on the host.

    Raises TheoremError, naming its line, if it misbehaves.
    """
    with blaming(role, function):
        margin = function(trial)
        if not isinstance(margin, Margin):
            raise TheoremError(
                f"{whereabouts(role, function)} returned {type(margin).__name__}, expected a "
                "Margin; write `return Margin(left, right)` for the inequality left <= right"
            )
        for name in ("left", "right", "scale", "rounding"):
            _require_real(to_numpy(getattr(margin, name)), f"margin's {name}", role, function)
        _require_sides(margin, trial, role, function)
        full = Margin(0.0, margin.value, 1.0, margin.uncertainty)
        scale = np.asarray(to_numpy(margin.scale), dtype=float)
    number = full.value.ndim == 0 and margin.constant
    _require_one_each(full.value, "margin", trial, role, function, number)
    _require_one_each(full.uncertainty, "margin's rounding", trial, role, function, True)
    if (scale < 0).any() or (scale.ndim == 0 and not 0 < scale < np.inf):
        odd = scale if scale.ndim == 0 else scale[scale < 0].flat[0]
        raise TheoremError(
            f"{whereabouts(role, function)} returned a margin with scale={odd:g}, expected a "
            "finite positive number, the size of what is compared, try leaving it out"
        )
    if (full.uncertainty < 0).any():
        odd = full.uncertainty[full.uncertainty < 0].flat[0]
        raise TheoremError(
            f"{whereabouts(role, function)} returned a margin with rounding={odd:g}, expected a "
            "positive number"
        )
    return full


def quantity_of(function: Callable[[Trial], Any], trial: Trial, constant: bool = False) -> Floats:
    """Evaluate a quantity or an abscissa, (B,). Raises TheoremError if it misbehaves.

    constant: whether it may be one number that was computed, as a quantity may not.
    """
    with blaming("quantity", function):
        returned = function(trial)
        values = to_numpy(returned)
    _require_real(values, "quantity", "quantity", function)
    number = constant or type(returned) in (bool, int, float)
    _require_one_each(values, "quantity", trial, "quantity", function, number)
    return np.broadcast_to(np.asarray(values, dtype=np.float64), (trial.trials,))


def _require_real(array: Any, what: str, role: str, function: Callable[..., Any]) -> None:
    if array.dtype.kind not in "biuf":
        raise TheoremError(
            f"{whereabouts(role, function)}: its {what} is of type {array.dtype}, expected real "
            "numbers"
        )


def _require_one_each(
    array: Any,
    what: str,
    trial: Trial,
    role: str,
    function: Callable[..., Any],
    constant: bool = False,
) -> None:
    """Raise TheoremError unless there is a number an instance, or one that was not drawn.

    constant: whether one number will do. Where it is computed from the batch it will not:
    counted for every instance, it would be that many independent trials of which there is one.
    """
    if array.shape == (trial.trials,) or (array.ndim == 0 and (constant or trial.trials == 1)):
        return
    raise TheoremError(
        f"{whereabouts(role, function)}: its {what} has shape {array.shape}, expected "
        f"({trial.trials},), one number an instance; {_shape_advice(array.shape)}"
    )


def _require_sides(margin: Margin, trial: Trial, role: str, function: Callable[..., Any]) -> None:
    """Raise TheoremError where the sides of a margin do not fit together, or cannot differ."""
    sides = {
        name: np.asarray(to_numpy(getattr(margin, name)))
        for name in ("left", "right", "scale", "rounding")
    }
    try:
        np.broadcast_shapes(*(side.shape for side in sides.values()))
    except ValueError as reason:
        odd, shape = next(
            (name, side.shape)
            for name, side in sides.items()
            if side.shape not in ((), (trial.trials,))
        )
        told = ", ".join(f"{name} {side.shape}" for name, side in sides.items() if side.ndim)
        raise TheoremError(
            f"{whereabouts(role, function)} returned a margin whose parts do not fit together "
            f"({told}): its {odd} is expected to have shape ({trial.trials},), one number an "
            f"instance; {_shape_advice(shape)}"
        ) from reason
    right = sides["right"]
    if sides["left"].dtype == right.dtype == bool and right.ndim == 0 and right:
        raise TheoremError(
            f"{whereabouts(role, function)} returned Margin(left, True) of truth values, which "
            "holds whatever left is; give both sides of the inequality as numbers, or "
            "Margin(1, left) for `left is true`"
        )


def _shape_advice(shape: tuple[int, ...]) -> str:
    """Return what to do about a shape that is not one number an instance."""
    if not shape:
        return "if it is a statement about the point alone, make both sides plain with float()"
    if len(shape) > 1:
        return "axis 0 counts the instances: reduce the other axes, say with .max(axis=-1)"
    return (
        "axis 0 counts the instances: reduce the others, say with .max(axis=-1), and see that draw "
        "makes `trials` of them"
    )
