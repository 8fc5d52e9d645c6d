"""Hypothesis profiles of the property suite: ci, dev and nightly, with every field stated.

Hypothesis has a profile `ci` of its own and loads it when the variable CI is set; fields left
out here would be taken from it.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, Verbosity, settings
from hypothesis.database import DirectoryBasedExampleDatabase

from properties.plugin import ClaimItem, shard_of
from verify.engine.shards import owner

PHASES = (Phase.explicit, Phase.reuse, Phase.generate, Phase.target, Phase.shrink)


def _profile(name: str, max_examples: int, **fields: Any) -> None:
    stated = {
        "database": None,
        "derandomize": False,
        "phases": PHASES,
        "verbosity": Verbosity.normal,
        "deadline": None,
        "print_blob": True,
        "report_multiple_bugs": False,
        "stateful_step_count": 50,
        "suppress_health_check": (),
        "backend": "hypothesis",
    }
    settings.register_profile(name, max_examples=max_examples, **{**stated, **fields})


_profile("ci", 60, derandomize=True)  # the same commit gives the same result
_profile("dev", 100, database=DirectoryBasedExampleDatabase(".hypothesis/examples"))
_profile("nightly", 5_000)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of other shards; those of `--theorem` share out themselves."""
    shard = shard_of(config)
    if shard is None:
        return
    kept: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for number, item in enumerate(items):
        mine = isinstance(item, ClaimItem) or owner("0", number, shard.count) == shard
        (kept if mine else left).append(item)
    config.hook.pytest_deselected(items=left)
    items[:] = kept
