"""Peak memory of a fresh process that runs one trial with sampled features.

`python -m benchmarks.memory N D` is that process: it prints one JSON object.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.pinning import one_core
from benchmarks.tables import Progress, Table

_STATUS = Path("/proc/self/status")


def peak_megabytes() -> float:
    """Return the most memory that this process has had resident so far, in 10⁶ bytes.

    Linux's VmHWM counts this program alone; elsewhere getrusage says it. On Linux that would
    count the process that started this one too, whose memory a new process shares for a moment.
    """
    if _STATUS.exists():
        lines = _STATUS.read_text(encoding="ascii", errors="replace").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1.024e-3
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1e-6  # bytes on macOS


def measure(n: int, d: int) -> dict[str, float]:
    """Return the peak after a tiny trial has loaded everything, and after one of (n, d)."""
    import numpy as np

    from benchmarks.timing import seconds_of
    from benchmarks.trial import sampled, trial

    generator = np.random.default_rng(n)
    trial(sampled(2, 200), generator, 1)
    loaded = peak_megabytes()
    seconds = seconds_of(lambda: trial(sampled(n, d), generator, 1))
    return {"loaded": loaded, "peak": peak_megabytes(), "seconds": seconds}


def peaks(sizes: Sequence[tuple[int, int]], progress: Progress) -> Table:
    """Measure the peak memory of one trial of each (n, d), in a process of its own."""
    rows = []
    for n, d in sizes:
        progress(f"memory, n = {n}, d = {d}")
        command = [sys.executable, "-m", "benchmarks.memory", str(n), str(d)]
        with one_core():
            done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
        found = json.loads(done.stdout)
        rows.append(
            {
                "n": n,
                "d": d,
                **found,
                "added": found["peak"] - found["loaded"],
                "features": 8e-6 * n * d,
                "gram": 8e-6 * n * n,
            }
        )
    return Table(
        "memory",
        "Peak memory with sampled features",
        "A fresh process, one trial; 1 MB = 10⁶ bytes. The second column of sizes is what the "
        "process needs before the trial, with numpy and scipy loaded.",
        {
            "n": "n",
            "d": "d",
            "peak": "peak (MB)",
            "loaded": "before the trial (MB)",
            "added": "the trial alone (MB)",
            "gram": "one n × n matrix (MB)",
            "features": "X in full would be (MB)",
            "seconds": "seconds",
        },
        rows,
    )


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]), int(sys.argv[2]))))
