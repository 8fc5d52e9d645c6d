"""The same trials with the package of another checkout, in turn with this one's.

Each checkout has a process of its own, which is told what to run and answers how long it took.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from benchmarks.tables import Progress, Table
from benchmarks.timing import alternately

_HERE = Path(__file__).parents[1]

_SERVE = """
import sys
here, there = sys.argv[1:3]
sys.path.insert(0, here)
import benchmarks
sys.path[0] = there
from benchmarks.checkouts import serve
serve(there)
"""
"""The benchmarks come from here, whatever they measure from there."""


class Checkout:
    """A process that runs trials with the package found in the folder `root`.

    Use it as a context manager. Raises ValueError where the folder holds no package.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        if not (self.root / "verify" / "__init__.py").is_file():
            raise ValueError(
                f"against={str(root)!r} holds no verify/__init__.py, expected a checkout of this "
                "repository, try git worktree add PATH COMMIT"
            )
        command = [sys.executable, "-P", "-c", _SERVE, str(_HERE), str(self.root)]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)

    def __enter__(self) -> Checkout:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate()

    def seconds(self, law: str, n: int, d: float, batch: int) -> float:
        """Run one batch there and return its seconds. law: "wishart" or "sampled"."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        answer = ""
        with suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps([law, n, d, batch]) + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(
                f"the process of checkout {self.root} ended while it ran law={law!r}, n={n}, "
                f"d={d:g}, batch={batch}; what it printed above says why"
            )
        return float(json.loads(answer))


def serve(root: str) -> None:
    """Answer requests on stdin, with the package found in `root`, until there are no more."""
    import numpy as np

    import verify
    from benchmarks import trial
    from benchmarks.timing import seconds_of

    assert Path(str(verify.__file__)).is_relative_to(root), verify.__file__
    generator = np.random.default_rng(0)
    for line in sys.stdin:
        law, n, d, batch = json.loads(line)
        ensemble = getattr(trial, law)(n, d)
        taken = seconds_of(partial(trial.trial, ensemble, generator, batch))
        print(json.dumps(taken), flush=True)


def against(
    root: Path,
    sizes: Sequence[tuple[str, int, float, int]],
    budget: float,
    progress: Progress,
) -> Table:
    """Measure trials of (law, n, d, batch) with the package in `root` and with this one."""
    rows: list[dict[str, Any]] = []
    with Checkout(root) as other, Checkout(_HERE) as this:
        for law, n, d, batch in sizes:
            progress(f"against {root}: {law}, n = {n}, d = {d:g}, batches of {batch}")
            contenders = {
                "other": lambda size=(law, n, d, batch): other.seconds(*size),
                "this": lambda size=(law, n, d, batch): this.seconds(*size),
            }
            rounds = alternately(contenders, budget, clock=lambda function: function())
            rows.append(
                {
                    "law": law,
                    "n": n,
                    "d": d,
                    "batch": batch,
                    "other": rounds.spread("other", 1e3 / batch),
                    "this": rounds.spread("this", 1e3 / batch),
                    "ratio": rounds.ratio("other", "this"),
                }
            )
    return Table(
        "against",
        "Against another checkout",
        f"The same trials with the package in {root.name}, in turn with this one's; one core.",
        {
            "law": "features",
            "n": "n",
            "d": "d",
            "batch": "batch",
            "other": "other (ms)",
            "this": "this (ms)",
            "ratio": "other ÷ this",
        },
        rows,
    )
