"""What was measured on: processor, array libraries, and the versions that matter."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path

from benchmarks.pinning import can_choose_cores

LIBRARIES = ("numpy", "scipy", "torch", "cvxpy", "osqp", "jax")


def describe() -> dict[str, str]:
    """Return the machine and the software, by name."""
    from threadpoolctl import threadpool_info

    import verify

    found = {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        "relu-verify": verify.__version__,
    }
    for library in threadpool_info():
        if library["user_api"] == "blas":
            parts = (library["internal_api"], library["version"], library.get("architecture"))
            found["BLAS"] = " ".join(part for part in parts if part)
            break
    for name in LIBRARIES:
        version = _version(name)
        if version is not None:
            found[name] = version
    if hasattr(os, "getloadavg"):
        found["load before"] = f"{os.getloadavg()[0]:.2f} processes"
    found["cores used"] = "one, where not said otherwise" if can_choose_cores() else "not chosen"
    return found


def _processor() -> str:
    """Return the processor's model as the system tells it."""
    listing = Path("/proc/cpuinfo")
    if listing.exists():
        lines = listing.read_text(encoding="utf-8", errors="replace").splitlines()
        models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
        if models:
            return models[0]
    return platform.processor() or platform.machine()


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
