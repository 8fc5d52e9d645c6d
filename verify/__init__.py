"""Theorems as code: the vocabulary, the engine that checks them, and the numerics they need.

Everything public is imported on first use, so that the command line starts quickly.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "verify.claims": (
        "Assumption",
        "Control",
        "Probable",
        "Rate",
        "Status",
        "Sweep",
        "Universal",
    ),
    "verify.engine.check": ("check",),
    "verify.engine.executors": ("DaskPool", "ProcessPool"),
    "verify.engine.plan": ("PROFILES",),
    "verify.engine.store": ("Store",),
    "verify.errors": (
        "BackendUnavailable",
        "InputError",
        "ReluVerifyError",
        "StoreError",
        "TheoremError",
        "UnknownName",
    ),
    "verify.explicit": ("Explicit", "Field"),
    "verify.loading": ("load_file", "load_module"),
    "verify.margin": ("Margin",),
    "verify.measures": ("Chain", "Frequency", "Quantiles"),
    "verify.space": ("Axis", "Point", "geometric"),
    "verify.theorem": ("Theorem",),
    "verify.trial": ("Trial",),
    "verify.verdict": ("Conclusion", "Verdict", "Verdicts"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)  # noqa: PLE0605 (a test holds it to the names below)

if TYPE_CHECKING:
    from verify.claims import Assumption as Assumption
    from verify.claims import Control as Control
    from verify.claims import Probable as Probable
    from verify.claims import Rate as Rate
    from verify.claims import Status as Status
    from verify.claims import Sweep as Sweep
    from verify.claims import Universal as Universal
    from verify.engine.check import check as check
    from verify.engine.executors import DaskPool as DaskPool
    from verify.engine.executors import ProcessPool as ProcessPool
    from verify.engine.plan import PROFILES as PROFILES
    from verify.engine.store import Store as Store
    from verify.errors import BackendUnavailable as BackendUnavailable
    from verify.errors import InputError as InputError
    from verify.errors import ReluVerifyError as ReluVerifyError
    from verify.errors import StoreError as StoreError
    from verify.errors import TheoremError as TheoremError
    from verify.errors import UnknownName as UnknownName
    from verify.explicit import Explicit as Explicit
    from verify.explicit import Field as Field
    from verify.loading import load_file as load_file
    from verify.loading import load_module as load_module
    from verify.margin import Margin as Margin
    from verify.measures import Chain as Chain
    from verify.measures import Frequency as Frequency
    from verify.measures import Quantiles as Quantiles
    from verify.space import Axis as Axis
    from verify.space import Point as Point
    from verify.space import geometric as geometric
    from verify.theorem import Theorem as Theorem
    from verify.trial import Trial as Trial
    from verify.verdict import Conclusion as Conclusion
    from verify.verdict import Verdict as Verdict
    from verify.verdict import Verdicts as Verdicts


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'verify' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME_OF[name]), name)
