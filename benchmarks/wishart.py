"""Trials whose Gram matrix is drawn as a Wishart matrix, at a cost that is free of d."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.floors import bartlett
from benchmarks.tables import Progress, Table
from benchmarks.timing import alternately
from benchmarks.trial import STAGES, draw_and_compare, stages, trial, wishart

FAR = 1e12
"""A dimension that no features could be drawn in."""

MEASURED = "d = 1000 n"

ROUNDS = 9
"""How often the stages are timed."""


def against_floor(sizes: Sequence[tuple[int, int]], budget: float, progress: Progress) -> Table:
    """Measure trials of (n, batch) at d = 1000n beside a Bartlett draw and one SYRK."""
    rows = []
    for n, batch in sizes:
        progress(f"Wishart trials, n = {n}, batches of {batch}")
        law, generator = wishart(n, 1000 * n), np.random.default_rng(n)
        certified: list[float] = []

        def whole(
            law: Any = law, generator: Any = generator, batch: int = batch, seen: Any = certified
        ) -> None:
            seen.append(trial(law, generator, batch).certified.mean())

        floor = bartlett(n, 1000 * n, np.random.default_rng(n), batch)
        rounds = alternately({"trial": whole, "floor": floor}, budget)
        rows.append(
            {
                "n": n,
                "batch": batch,
                "rate": rounds.rate("trial", batch),
                "milliseconds": rounds.spread("trial", 1e3 / batch),
                "floor": rounds.spread("floor", 1e3 / batch),
                "ratio": rounds.ratio("trial", "floor"),
                "certified": float(np.mean(certified)),
            }
        )
    return Table(
        "wishart",
        "Wishart trials against their floor",
        f"At {MEASURED}, one core. The floor is the Bartlett draw of a factor L and one SYRK, LLᵀ.",
        {
            "n": "n",
            "batch": "batch",
            "rate": "trials/s",
            "milliseconds": "trial (ms)",
            "floor": "floor (ms)",
            "ratio": "trial ÷ floor",
            "certified": "share certified",
        },
        rows,
    )


def by_stage(sizes: Sequence[tuple[int, int]], progress: Progress) -> Table:
    """Measure how the time of a trial of (n, batch) divides into its stages."""
    rows = []
    for n, batch in sizes:
        progress(f"stages of a trial, n = {n}")
        law, generator = wishart(n, 1000 * n), np.random.default_rng(n)
        stages(law, generator, batch)
        parts = [stages(law, generator, batch) for _ in range(ROUNDS)]
        medians = {s: 1e3 / batch * float(np.median([p[s] for p in parts])) for s in STAGES}
        rows.append({"n": n, "batch": batch, **medians})
    return Table(
        "stages",
        "Where a Wishart trial's time goes",
        f"At {MEASURED}: medians, in milliseconds a trial.",
        {"n": "n", "batch": "batch", **{stage: f"{stage} (ms)" for stage in STAGES}},
        rows,
    )


def flatness(sizes: Sequence[tuple[int, int]], budget: float, progress: Progress) -> Table:
    """Measure whether d = 10¹² costs what d = 1000n does, and without descent what d = 20n does."""
    rows = []
    for n, batch in sizes:
        progress(f"flatness in d, n = {n}")
        for what, function, near in (
            ("whole trial", trial, 1000 * n),
            ("draw and minimum norm", draw_and_compare, 20 * n),
        ):
            generator = np.random.default_rng(n)
            laws = {"near": wishart(n, near), "far": wishart(n, FAR)}
            contenders = {
                name: lambda f=function, law=law, g=generator, b=batch: f(law, g, b)
                for name, law in laws.items()
            }
            rounds = alternately(contenders, budget)
            rows.append(
                {
                    "what": what,
                    "n": n,
                    "batch": batch,
                    "dimension": near,
                    "near": rounds.spread("near", 1e3 / batch),
                    "far": rounds.spread("far", 1e3 / batch),
                    "ratio": rounds.ratio("far", "near"),
                }
            )
    return Table(
        "flatness",
        "Wishart trials are flat in d",
        "The same at d and at 10¹²; without descent already from d = 20 n.",
        {
            "what": "what",
            "n": "n",
            "batch": "batch",
            "dimension": "d",
            "near": "at d (ms)",
            "far": "at 10¹² (ms)",
            "ratio": "10¹² ÷ d",
        },
        rows,
    )
