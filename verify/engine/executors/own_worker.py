"""What a Dask worker that we started ourselves does first; Dask loads this by its name."""

from __future__ import annotations

import signal
from typing import Any


def dask_setup(worker: Any) -> None:
    """Leave interrupts to the process that started it, which ends its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
