"""Trials whose features X are sampled, column by column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.floors import sampling
from benchmarks.tables import Progress, Table
from benchmarks.timing import alternately
from benchmarks.trial import sampled, trial, wishart
from verify.relu import Ensemble

MOST_SAMPLED = 1e6
"""Largest dimension at which a benchmark samples features over and over."""


def _times(function: Callable[[], object], count: int) -> Callable[[], None]:
    """Return a function that calls another `count` times."""

    def repeated() -> None:
        for _ in range(count):
            function()

    return repeated


def against_floor(
    sizes: Sequence[tuple[int, int, int]], budget: float, progress: Progress
) -> Table:
    """Measure trials of (n, d, batch) beside drawing X and one SYRK, XXᵀ."""
    rows = []
    for n, d, batch in sizes:
        progress(f"sampled trials, n = {n}, d = {d}, batches of {batch}")
        law, generator = sampled(n, d), np.random.default_rng(n)
        certified: list[float] = []

        def whole(
            law: Any = law, generator: Any = generator, batch: int = batch, seen: Any = certified
        ) -> None:
            seen.append(trial(law, generator, batch).certified.mean())

        draw, multiply = sampling(n, d, np.random.default_rng(n))
        contenders = {
            "trial": whole,
            "sampling": _times(draw, batch),
            "syrk": _times(multiply, batch),
        }
        rounds = alternately(contenders, budget)
        rows.append(
            {
                "n": n,
                "d": d,
                "batch": batch,
                "sampling": rounds.spread("sampling", 1e3 / batch),
                "syrk": rounds.spread("syrk", 1e3 / batch),
                "floor": rounds.total(("sampling", "syrk"), 1e3 / batch),
                "milliseconds": rounds.spread("trial", 1e3 / batch),
                "ratio": rounds.ratio("trial", ("sampling", "syrk")),
                "certified": float(np.mean(certified)),
            }
        )
    return Table(
        "sampled",
        "Trials with sampled features against their floor",
        "One core. The floor draws X, (n, d), into memory that is kept, and forms XXᵀ by one SYRK.",
        {
            "n": "n",
            "d": "d",
            "batch": "batch",
            "sampling": "sampling (ms)",
            "syrk": "SYRK (ms)",
            "milliseconds": "trial (ms)",
            "ratio": "trial ÷ (sampling + SYRK)",
            "certified": "share certified",
        },
        rows,
    )


def by_dimension(n: int, dimensions: Sequence[float], budget: float, progress: Progress) -> Table:
    """Measure single trials at one n over dimensions, as a Wishart draw and with sampled X.

    Features are sampled up to d = `MOST_SAMPLED`.
    """
    rows = []
    for d in dimensions:
        progress(f"cost against d, n = {n}, d = {d:g}")
        laws: dict[str, Ensemble] = {"wishart": wishart(n, d)}
        if d <= MOST_SAMPLED:
            laws["sampled"] = sampled(n, int(d))
        generator = np.random.default_rng(n)
        contenders = {
            name: lambda law=law, g=generator: trial(law, g, 1) for name, law in laws.items()
        }
        rounds = alternately(contenders, budget)
        rows.append({"n": n, "d": d, **{name: rounds.spread(name, 1e3) for name in laws}})
    return Table(
        "dimension",
        "Cost against the dimension",
        f"Single trials at n = {n}, one core.",
        {"n": "n", "d": "d", "wishart": "Wishart (ms)", "sampled": "sampled (ms)"},
        rows,
    )
