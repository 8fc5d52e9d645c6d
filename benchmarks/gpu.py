"""A GPU against numpy: the same answers, and trials a second against one CPU core.

    python -m benchmarks.gpu [--backend cupy|torch:cuda|torch] [--json FILE]

Takes less than five minutes. Ends with exit code 1 where the answers differ, and with 4 where
there is no such backend. `--backend torch` runs the same on the CPU, which is how it is tested.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import describe
from benchmarks.pinning import one_blas_thread, one_core
from benchmarks.tables import Progress, Table, as_json, as_text
from benchmarks.timing import alternately
from benchmarks.trial import answers, trial, wishart
from verify.arrays import Backend, backend, to_numpy
from verify.engine.executors import one_thread
from verify.errors import BackendUnavailable
from verify.relu import Problem, descend, implicit_bias_gap, minimum_norm
from verify.relu.effective_dimensions import solve_error
from verify.tolerances import IDENTITY, KKT

DIFFERENT, UNAVAILABLE = 1, 4
"""Exit codes, as `relu-verify` has them."""

CHECKED = ((20, 512), (100, 64), (500, 4))
"""(n, batch) of what is compared with numpy."""

MEASURED = (
    *((20, batch) for batch in (64, 1024, 4096, 16_384)),
    *((100, batch) for batch in (16, 128, 512)),
    *((500, batch) for batch in (1, 8, 32)),
)
"""(n, batch) of what is timed."""


def differences(problem: Problem, chosen: Backend) -> dict[str, Any]:
    """Return how the answers on a backend differ from numpy's, over the problems of a batch.

    compared: how many were away from ties all along.   patterns: how many of those have another
    pattern after step one or in the end, another status or last flip.   moving: how many flip
    after step one.   limit, norm, gap: largest relative difference where both are certified.
    kkt: largest residual on the backend.   allowed: `IDENTITY`, or the rounding error of a solve
    where that is larger.
    """
    host, there = problem, problem.to(chosen)
    runs = [descend(p) for p in (host, there)]
    bests = [minimum_norm(p) for p in (host, there)]
    gaps = [to_numpy(implicit_bias_gap(r, b)) for r, b in zip(runs, bests, strict=True)]
    clear = np.logical_and(*(to_numpy(run.near_ties) == 0 for run in runs))
    same = np.logical_and.reduce(
        [
            (to_numpy(getattr(runs[0], name)) == to_numpy(getattr(runs[1], name)))
            .reshape(problem.batch, -1)
            .all(axis=-1)
            for name in ("pattern_after_first_step", "final_pattern", "status", "last_flip")
        ]
    )
    certified = clear & np.logical_and(*(to_numpy(run.certified) for run in runs))

    def relative(pair: Sequence[Any]) -> float:
        mine, theirs = (to_numpy(a).reshape(problem.batch, -1)[certified] for a in pair)
        size = np.linalg.norm(mine, axis=-1)
        return float(np.max(np.linalg.norm(mine - theirs, axis=-1) / size, initial=0.0))

    return {
        "compared": int(clear.sum()),
        "certified": int(certified.sum()),
        "moving": int((to_numpy(runs[0].last_flip) > 1).sum()),
        "patterns": int((clear & ~same).sum()),
        "limit": relative([run.duals for run in runs]),
        "norm": relative([best.norm for best in bests]),
        "gap": relative(gaps),
        "kkt": float(to_numpy(bests[1].kkt).max()),
        "allowed": float(max(IDENTITY, np.max(solve_error(problem)))),
    }


def agreement(sizes: Sequence[tuple[int, int]], chosen: Backend, progress: Progress) -> Table:
    """Compare answers on a backend with numpy's, for problems of (n, batch).

    One neuron at d = 4n, where most patterns go on changing after step one, and two of opposite
    sign at d = 1000n, because near n they come to rest at the kink of an example, which is a tie.
    """
    rows = []
    for (n, batch), (signs, ratio) in product(sizes, (((1,), 4), ((1, -1), 1000))):
        progress(f"agreement with numpy, n = {n}, output signs {signs}")
        law = replace(wishart(n, ratio * n), signs=signs)
        found = differences(law.draw(np.random.default_rng(n), batch), chosen)
        worst = max(found["limit"], found["norm"], found["gap"])
        agrees = found["patterns"] == 0 and worst <= found["allowed"] and found["kkt"] <= KKT
        row = {"n": n, "d": ratio * n, "neurons": len(signs), "batch": batch, **found}
        rows.append({**row, "agrees": agrees and found["certified"] > 0})
    return Table(
        "agreement",
        f"{chosen.name} against numpy: answers",
        "Differences are relative, over the problems that are certified on both.",
        {
            "n": "n",
            "d": "d",
            "neurons": "neurons",
            "batch": "problems",
            "compared": "away from ties",
            "certified": "certified",
            "moving": "flips after step one",
            "patterns": "other patterns",
            "limit": "limit differs",
            "norm": "norm differs",
            "gap": "gap differs",
            "allowed": "allowed",
            "kkt": "largest KKT residual",
            "agrees": "agrees",
        },
        rows,
    )


def _answers_there(problem: Problem, chosen: Backend) -> object:
    return answers(problem.to(chosen))


def speed(
    sizes: Sequence[tuple[int, int]], chosen: Backend, budget: float, progress: Progress
) -> Table:
    """Measure trials of (n, batch) at d = 1000n on a backend and on one core, in turn."""
    rows = []
    for n, batch in sizes:
        progress(f"speed, n = {n}, batches of {batch}")
        law, generator = wishart(n, 1000 * n), np.random.default_rng(n)
        drawn = law.draw(generator, batch)
        contenders: dict[str, Callable[[], object]] = {
            "core": partial(trial, law, generator, batch),
            "there": partial(trial, law, generator, batch, chosen),
            "draw": partial(law.draw, generator, batch),
            "answers": partial(_answers_there, drawn, chosen),
        }
        rounds = alternately(contenders, budget)
        rows.append(
            {
                "n": n,
                "batch": batch,
                "core": rounds.rate("core", batch),
                "there": rounds.rate("there", batch),
                "ratio": rounds.ratio("core", "there"),
                "draw": rounds.spread("draw", 1e3 / batch),
                "answers": rounds.spread("answers", 1e3 / batch),
            }
        )
    return Table(
        "speed",
        f"{chosen.name} against one core: trials a second",
        "Whole Wishart trials, drawn on the host. The last columns are milliseconds a trial: the "
        "draw on the host alone, and what follows it on the backend.",
        {
            "n": "n",
            "batch": "batch",
            "core": "one core (trials/s)",
            "there": f"{chosen.name} (trials/s)",
            "ratio": "one core ÷ backend, time",
            "draw": "draw (ms)",
            "answers": "after the draw (ms)",
        },
        rows,
    )


def main(
    arguments: Sequence[str] | None = None,
    checked: Sequence[tuple[int, int]] = CHECKED,
    measured: Sequence[tuple[int, int]] = MEASURED,
    budget: float = 3.0,
) -> int:
    """Run what the command line asks for; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("--backend", default="cupy", help="cupy, torch:cuda, torch: default cupy")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was measured")
    asked = parser.parse_args(arguments)
    try:
        chosen = backend(asked.backend)
    except BackendUnavailable as reason:
        print(reason, file=sys.stderr)
        return UNAVAILABLE
    machine = {**describe(), "backend": f"{chosen.name} {chosen.version}", "device": device(chosen)}
    print("\n".join(f"{name}: {value}" for name, value in machine.items()), flush=True)

    def progress(what: str) -> None:
        print(f"… {what}", file=sys.stderr, flush=True)

    with one_core(), one_thread():
        answered = agreement(checked, chosen, progress)
        print("\n" + as_text(answered), flush=True)
        timed = speed(measured, chosen, budget, progress)
        print("\n" + as_text(timed), flush=True)
    if asked.json:
        told = {"machine": machine, "tables": [as_json(table) for table in (answered, timed)]}
        text = json.dumps(told, indent=1, ensure_ascii=False)
        asked.json.write_text(text + "\n", encoding="utf-8")
    return 0 if all(row["agrees"] for row in answered.rows) else DIFFERENT


def device(chosen: Backend) -> str:
    """Return the name of the device that a backend computes on."""
    if chosen.name == "cupy":
        import cupy

        return str(cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"].decode())
    if chosen.name.startswith("torch:cuda"):
        import torch

        return str(torch.cuda.get_device_name(chosen.device))
    return "CPU"


if __name__ == "__main__":
    one_blas_thread()
    sys.exit(main())
